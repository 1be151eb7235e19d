"""Log-likelihood of released estimates, of one family or against others, bounded row by row.

See docs/theory/intervals.md#log-likelihood and docs/theory/intervals.md#choice-of-a-distribution.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import on_scale, response, weights_of
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import predictor
from dpstats.curator.statistics.base import Statistic, each_row
from dpstats.families import Family, GlmFamily


def of_time(
    family: Family, block: Block, eta: np.ndarray, sigma: float, log: bool, scratch: Scratch
) -> np.ndarray:
    """Log-likelihood of times or, if `log`, their logarithms, each by itself.

    Of a row that failed between two times it is the logarithm of the chance of that.
    """
    z = (response(block, log, scratch("y", len(block.ok))) - eta) / sigma
    failed, hazard = block.event > 0.5, family.cumulative_hazard(z)
    found = np.asarray(failed * (family.log_hazard(z) - np.log(sigma)) - hazard)
    if block.ends is None:
        return found
    lower, upper = ((on_scale(end, log, np.empty(len(end))) - eta) / sigma for end in block.ends)
    first = np.where(np.isneginf(lower), 0.0, family.cumulative_hazard(lower))
    chance = -np.expm1(first - np.where(np.isposinf(upper), np.inf, family.cumulative_hazard(upper)))
    return np.where(lower < upper, np.log(chance) - first, found)


class LogLikelihood(Statistic):
    """The sum of clip(l - usual, low, high), l the log-likelihood of a row; shape (1,).

    Of a time l = event (log h(z) - log sigma) - H(z), z = (y - x'b) / sigma, where y is the time or its
    logarithm: whichever the family is of; of a row that failed between two residuals a and b,
    log(e^-H(a) - e^-H(b)). Of a mean it is what the record of its family has. A row of weight v adds v times
    its own.

    Parameters
    ----------
    design : PublicDesign
    params : array_like, shape (p,)
        Released; on the scale of the design's columns.
    low, high : float
        Not above and not below 0.
    family : Family or GlmFamily
        One of means must have a log-likelihood.
    sigma : float, optional
        Released; of a time.
    log : bool
        Whether the family is of the logarithm of the time.
    usual : float, optional
        Public, or released.

    Notes
    -----
    Sensitivity: high - low. A row adds a number between low and high, one that weighs nothing adds 0, which
    lies between them, and a prior weight, at most 1, keeps a row between; attained by two rows at the ends.
    """

    name = "log_likelihood"
    flat = True

    def __init__(  # noqa: PLR0913 - a line, its family and how a row of it is bounded
        self,
        design: PublicDesign,
        *,
        params: np.ndarray,
        low: float,
        high: float,
        family: Family | GlmFamily,
        sigma: float = 1.0,
        log: bool = False,
        usual: float = 0.0,
    ) -> None:
        self._params, self._usual = np.asarray(params, dtype=float), usual
        if self._params.shape != (len(design.names),) or not np.isfinite(self._params).all():
            raise ValueError(f"params must be {len(design.names)} finite numbers")
        if not (-np.inf < low <= 0 <= high < np.inf and low < high and 0 < sigma < np.inf):
            raise ValueError("low must not be above 0, nor high below it, and sigma positive")
        if isinstance(family, GlmFamily) and family.log_likelihood is None:
            raise ValueError(f"the record of {family.name} has no log-likelihood")
        self._weighted, self._offset = design.weights is not None, design.offset_bounds != (0.0, 0.0)
        self._ends, self._family, self._sigma, self._log = (low, high), family, sigma, log
        self.parts = (Part(np.ones(1), np.array([max(-low, high)])),)
        self.sensitivity = high - low

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        eta = predictor(self._params, block.exog.T, scratch)
        if self._offset:
            eta = eta + block.offset
        if isinstance(self._family, Family):
            rows = of_time(self._family, block, eta, self._sigma, self._log, scratch)
        else:
            assert isinstance(self._family, GlmFamily) and self._family.log_likelihood
            rows = self._family.log_likelihood(response(block, self._log, scratch("y", len(block.ok))), eta)
        ones = scratch("ones", 1, len(rows))
        ones[0] = weights_of(block, self._weighted)
        return (Factor(ones.T, np.clip(rows - self._usual, *self._ends)[:, None]),)


class LikelihoodContrasts(Statistic):
    """The sums of clip(l_j - l_0, -limit, limit), l_j the log-likelihood of a row under family j; shape (m,).

    Of a time l = event (log h(z) - log sigma) - H(z), z = (y - x'b) / sigma, with b, sigma, h and H those of
    the family; of a row that failed between two residuals it is as in
    :class:`dpstats.curator.statistics.loglik.LogLikelihood`.

    Parameters
    ----------
    design : PublicDesign
    params : array_like, shape (m + 1, p)
        Released, of each family; on the scale of the design's columns.
    sigmas : array_like, shape (m + 1,)
        Released.
    families : sequence of Family, length m + 1
        The first is the one with which the others are compared.
    log : bool
        Whether they are families of the logarithm of the time.
    limit : float

    Notes
    -----
    Sensitivity: 2 limit sqrt m. A row adds to each of the m sums a number between -limit and limit, one that
    weighs nothing adds 0, which lies between. Attained by two rows of which one is less likely under all
    other families, by the limit or more, and the other more likely under all.
    """

    name = "likelihood_contrasts"
    flat = True

    def __init__(
        self,
        design: PublicDesign,
        *,
        params: np.ndarray,
        sigmas: np.ndarray,
        families: Sequence[Family],
        log: bool,
        limit: float,
    ) -> None:
        self._params, self._sigmas = np.asarray(params, dtype=float), np.asarray(sigmas, dtype=float)
        self._families, self._log, self._limit = tuple(families), log, limit
        count = len(self._families)
        if count < 2 or self._params.shape != (count, len(design.names)):
            raise ValueError(f"params must be {len(design.names)} numbers for each of two families or more")
        if self._sigmas.shape != (count,) or not (self._sigmas > 0).all():
            raise ValueError("sigmas must be a positive number for each family")
        if not (np.isfinite(self._params).all() and np.isfinite(self._sigmas).all() and 0 < limit < np.inf):
            raise ValueError("params and sigmas must be finite, and limit a positive number")
        self._offset = design.offset_bounds != (0.0, 0.0)
        self.parts = (Part(np.ones(1), np.full(count - 1, limit)),)
        self.sensitivity = 2 * limit * math.sqrt(count - 1)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        out = scratch("contrasts", len(self._families) - 1, len(block.ok))
        first, *others = (self._likelihood(j, block, scratch) for j in range(len(self._families)))
        for row, other in zip(out, others, strict=True):
            np.clip(np.nan_to_num(other - first), -self._limit, self._limit, out=row)
        return (each_row(out),)

    def _likelihood(self, j: int, block: Block, scratch: Scratch) -> np.ndarray:
        eta = predictor(self._params[j], block.exog.T, scratch)
        if self._offset:
            eta = eta + block.offset
        return of_time(self._families[j], block, eta, float(self._sigmas[j]), self._log, scratch)

"""Log-likelihood of released estimates, bounded row by row.

See docs/theory/intervals.md#log-likelihood.
"""

from __future__ import annotations

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import on_scale, response
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import predictor
from dpstats.curator.statistics.base import Statistic
from dpstats.families import Family, GlmFamily

_FARTHEST = 300.0  # exp() beyond says nothing more


def of_time(
    family: Family, block: Block, eta: np.ndarray, sigma: float, log: bool, scratch: Scratch
) -> np.ndarray:
    """Log-likelihood of times or, if `log`, their logarithms, each by itself.

    Of a row that failed between two times it is the logarithm of the chance of that.
    """
    z = (response(block, log, scratch("y", len(block.ok))) - eta) / sigma
    seen, hazard = block.event > 0.5, _hazard(family, z)
    found = np.asarray(seen * (family.log_hazard(z) - np.log(sigma)) - hazard)
    if block.ends is None:
        return found
    lower, upper = ((on_scale(end, log, np.empty(len(end))) - eta) / sigma for end in block.ends)
    first = np.where(np.isneginf(lower), 0.0, _hazard(family, lower))
    chance = -np.expm1(first - np.where(np.isposinf(upper), np.inf, _hazard(family, upper)))
    return np.where(lower < upper, np.log(chance) - first, found)


def _hazard(family: Family, z: np.ndarray) -> np.ndarray:
    return np.exp(np.minimum(family.log_cumulative_hazard(z), _FARTHEST))


class LogLikelihood(Statistic):
    """The sum of clip(l, low, high), l the log-likelihood of a row; shape (1,).

    Of a time l = event (log h(z) - log sigma) - H(z), z = (y - x'b) / sigma, where y is the time or its
    logarithm: whichever the family is of; of a row that failed between two residuals a and b,
    log(e^-H(a) - e^-H(b)). Of a mean it is what the record of its family has.

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

    Notes
    -----
    Sensitivity: high - low. A row adds a number between low and high, one that weighs nothing adds 0, which
    lies between them; attained by two rows at the ends.
    """

    name = "log_likelihood"

    def __init__(
        self,
        design: PublicDesign,
        *,
        params: np.ndarray,
        low: float,
        high: float,
        family: Family | GlmFamily,
        sigma: float = 1.0,
        log: bool = False,
    ) -> None:
        self._params = np.asarray(params, dtype=float)
        if self._params.shape != (len(design.names),) or not np.isfinite(self._params).all():
            raise ValueError(f"params must be {len(design.names)} finite numbers")
        if not (-np.inf < low <= 0 <= high < np.inf and low < high and 0 < sigma < np.inf):
            raise ValueError("low must not be above 0, nor high below it, and sigma positive")
        if isinstance(family, GlmFamily) and family.log_likelihood is None:
            raise ValueError(f"the record of {family.name} has no log-likelihood")
        self._offset = design.offset_bounds != (0.0, 0.0)
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
            rows = self._of_mean(response(block, self._log, scratch("y", len(block.ok))), eta)
        ones = scratch("ones", 1, len(rows))
        ones[0] = block.ok
        return (Factor(ones.T, np.clip(rows, *self._ends)[:, None]),)

    def _of_mean(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        assert isinstance(self._family, GlmFamily) and self._family.log_likelihood
        return self._family.log_likelihood(y, eta)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)

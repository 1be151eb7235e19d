"""How much more likely rows are under other families than under one, bounded row by row.

See docs/theory/intervals.md#choice-of-a-distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import predictor
from dpstats.curator.statistics.base import Statistic
from dpstats.curator.statistics.loglik import of_time
from dpstats.families import Family


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
        size = len(block.ok)
        out = scratch("contrasts", len(self._families) - 1, size)
        first, *others = (self._likelihood(j, block, scratch) for j in range(len(self._families)))
        for row, other in zip(out, others, strict=True):
            np.clip(np.nan_to_num(other - first), -self._limit, self._limit, out=row)
        ones = scratch("ones", 1, size)
        ones[0] = block.ok
        return (Factor(ones.T, out.T),)

    def _likelihood(self, j: int, block: Block, scratch: Scratch) -> np.ndarray:
        eta = predictor(self._params[j], block.exog.T, scratch)
        if self._offset:
            eta = eta + block.offset
        return of_time(self._families[j], block, eta, float(self._sigmas[j]), self._log, scratch)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)

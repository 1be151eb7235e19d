"""Parts of the martingale score one by one: under pure epsilon every number released costs noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import predictor, squared_norms
from dpstats.curator.statistics.martingale import MartingaleScore
from dpstats.families.score_bounds import LOG_SIGMA_SHARE, score_bounds

# of a matrix that is not released
_MATRIX_SHARE = 1.0


class ScoreAlone(MartingaleScore):
    """The scores w x psi (k,) and kappa w chi (1,) of :class:`MartingaleScore`, without the information.

    Parameters
    ----------
    design : PublicDesign
    **score
        As of :class:`MartingaleScore`, but for matrix_share.

    Notes
    -----
    Sensitivity, by the proof there: location scores, the head, differ by at most R (|psi| + |psi'|) <= 2 R P,
    P the largest |psi|; kappa w chi by at most kappa times the range of chi, 0 included, because w is between
    0 and 1. kappa is chosen such that this is LOG_SIGMA_SHARE R P. So the differences lie in a cylinder
    (docs/theory/survival.md#pure-epsilon).
    """

    name = "score_alone"

    def __init__(self, design: PublicDesign, **score: Any) -> None:
        super().__init__(design, matrix_share=_MATRIX_SHARE, **score)
        self.parts = self.parts[:2]
        size = self._radius * score_bounds(self._where, _MATRIX_SHARE).psi
        self.sensitivity_head, last = 2 * size, LOG_SIGMA_SHARE * size
        self.ranges = np.append(np.full(self._map.k, math.inf), last)
        self.sensitivity = math.hypot(2 * size, last)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        return super().factors(block, scratch)[:2]


class InformationSizes(MartingaleScore):
    """What the information of :class:`MartingaleScore` amounts to; three numbers, shape (3,).

    With u = kv / R and h = 1 + rho h1*, a row gives w g event times h1*^2 |x|^2 / R^2, which adds up to the
    trace of the information on the location; u^2 h^2, that on log sigma; and u h1* h, what an intercept
    shares with log sigma.

    Parameters
    ----------
    design : PublicDesign
    **score
        As of :class:`MartingaleScore`, but for matrix_share.

    Notes
    -----
    With s the largest h1* (1, or that at the floor), the first lies between 0 and s^2, because
    w |x|^2 <= R^2, g <= 1 and h1* <= s; the second between 0 and the square of the largest column entry of
    `score_bounds`.
    h1* h = h1* + rho h1*^2 with 0 < h1* <= s and rho within its limits lies between min(0, s + low s^2) and
    s + max(0, high) s^2: for rho < 0 it is concave in h1*, 0 at 0 and s + rho s^2 at s, and at most h1*.
    The row that weighs nothing gives 0, which all ranges contain; the L2 norm is at most that of the ranges.
    All three are clipped to these ranges, as rounding of W x moves them.
    An entry changes none of the three, and a row between two residuals gives means of the first two
    (:mod:`dpstats.families.between`); the third is clipped as are all.
    """

    name = "information_sizes"

    def __init__(self, design: PublicDesign, **score: Any) -> None:
        super().__init__(design, matrix_share=_MATRIX_SHARE, **score)
        bounds, (low, high) = score_bounds(self._where, _MATRIX_SHARE), self._where.limits
        s = bounds.slope
        unit = s * bounds.log_sigma_unit
        down, up = max(0.0, -1 - low * s) * unit, (1 + max(0.0, high) * s) * unit
        first, second = s**2, bounds.column**2
        self.parts = (Part(np.ones(1), np.array([first, second, max(down, up)])),)
        self._lowest, self._highest = np.array([0.0, 0.0, -down]), np.array([first, second, up])
        self.ranges = self._highest - self._lowest
        self.sensitivity = float(np.linalg.norm(self.ranges))
        self._to_slope = np.linalg.inv(score["whitening"])[0]

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        columns = super().factors(block, scratch)[2].left.T
        sizes = scratch("sizes", 3, columns.shape[1])
        sizes[0] = squared_norms(columns[:-1], scratch)
        np.multiply(columns[-1], columns[-1], out=sizes[1])
        shared = predictor(self._to_slope, columns[:-1], scratch)
        np.multiply(shared, columns[-1] * self._radius, out=sizes[2])
        np.divide(sizes, (self._root * self._radius) ** 2, out=sizes)
        np.clip(sizes, self._lowest[:, None], self._highest[:, None], out=sizes)
        return (Factor(block.ok[:, None].astype(float), sizes.T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)

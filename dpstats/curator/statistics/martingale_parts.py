"""Parts of the martingale score one by one: under pure epsilon every number released costs noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.martingale import MartingaleScore
from dpstats.families.score_bounds import LOG_SIGMA_SHARE, score_bounds

__all__ = ["InformationSizes", "ScoreAlone"]

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
    (spec/survreg_derivations.md C).
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
    """What the information of :class:`MartingaleScore` amounts to; two numbers, shape (2,).

    A row gives w g event h1*^2 |x|^2 / R^2, which adds up to the trace of the information on the location,
    and w g event (kv / R)^2 (1 + rho h1*)^2, that on log sigma.

    Parameters
    ----------
    design : PublicDesign
    **score
        As of :class:`MartingaleScore`, but for matrix_share.

    Notes
    -----
    Neither is negative. The first is at most 1, because w |x|^2 <= R^2, g <= 1 and h1* <= 1; the second at
    most the square of the largest column entry of `score_bounds`. Ranges and the L2 norm follow, the row that
    weighs nothing included.
    """

    name = "information_sizes"

    def __init__(self, design: PublicDesign, **score: Any) -> None:
        super().__init__(design, matrix_share=_MATRIX_SHARE, **score)
        self.ranges = np.array([1.0, score_bounds(self._where, _MATRIX_SHARE).column ** 2])
        self.parts = (Part(np.ones(1), self.ranges),)
        self.sensitivity = float(np.linalg.norm(self.ranges))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        columns = super().factors(block, scratch)[2].left.T
        squares = np.multiply(columns, columns, out=scratch("squares", *columns.shape))
        sizes = scratch("sizes", 2, columns.shape[1])
        np.add.reduce(squares[:-1], axis=0, out=sizes[0])
        sizes[1] = squares[-1]
        np.divide(sizes, (self._root * self._radius) ** 2, out=sizes)
        return (Factor(block.ok[:, None].astype(float), sizes.T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)

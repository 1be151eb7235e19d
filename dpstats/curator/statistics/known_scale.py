"""Scores of the location alone, where sigma is known: nothing is released of log sigma.

See docs/theory/survival.md#a-known-scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import squared_norms
from dpstats.curator.statistics.martingale import MartingaleScore
from dpstats.families.score_bounds import ScoreBounds, score_bounds

_MATRIX_SHARE = 1.0  # of a matrix that is not released


class KnownScaleScore(MartingaleScore):
    """The scores of the location of :class:`MartingaleScore`, and their information.

    A row gives w x psi (k,) and tau w g event h1*^2 x x' (k, k).

    Parameters
    ----------
    design : PublicDesign
    **score
        As of :class:`MartingaleScore`; `where` is of a known scale.

    Notes
    -----
    Sensitivity: R D, by the proof of :class:`MartingaleScore` without log sigma. The location blocks of two
    rows differ by at most R (|psi| + |psi'|). The matrices are positive semidefinite, so that
    |M - M'|_F^2 <= |M|_F^2 + |M'|_F^2, and |w g h1*^2 x x'|_F = w |x|^2 g h1*^2 <= R^2 q with q = g h1*^2.
    With tau = tau_1 / R the squares add up to R^2 [(|psi| + |psi'|)^2 + tau_1^2 (q^2 + q'^2)], which
    `score_bounds` bounds over all pairs of cells of z; kappa_1 and u are 0 there.
    """

    name = "known_scale_score"
    known_scale = True

    def _parts(self, bounds: ScoreBounds) -> tuple[Part, ...]:
        k, radius = self._width, self._radius
        return (
            Part(np.full(k, radius), np.array([bounds.psi])),
            Part(np.full(k, self._root * radius * bounds.slope)),
        )

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        location, _, information = super().factors(block, scratch)
        return location, Factor(information.left[:, :-1])


class KnownScaleAlone(KnownScaleScore):
    """The scores w x psi (k,) of :class:`KnownScaleScore`, without the information.

    Parameters
    ----------
    design : PublicDesign
    **score
        As of :class:`KnownScaleScore`, but for matrix_share.

    Notes
    -----
    Sensitivity: 2 R P, P the largest |psi| of `score_bounds`: a row gives a vector no longer than
    w |x| |psi| <= R P, and one that weighs nothing gives 0.
    """

    name = "known_scale_alone"

    def __init__(self, design: PublicDesign, **score: Any) -> None:
        super().__init__(design, matrix_share=_MATRIX_SHARE, **score)
        self.parts = self.parts[:1]
        self.sensitivity = 2 * self._radius * score_bounds(self._where, _MATRIX_SHARE).psi

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        return super().factors(block, scratch)[:1]


class KnownScaleSize(KnownScaleScore):
    """Trace of the information of :class:`KnownScaleScore`, as w g event h1*^2 |x|^2 / R^2; one number.

    Parameters
    ----------
    design : PublicDesign
    **score
        As of :class:`KnownScaleScore`, but for matrix_share.

    Notes
    -----
    Sensitivity: s^2, s the largest h1* (1, or that at the floor). A row gives a number between 0 and s^2,
    because w |x|^2 <= R^2, g <= 1 and h1* <= s, and one that weighs nothing gives 0. It is clipped there, as
    rounding of W x moves it. Attained by an early event as long as R against a row without one.
    """

    name = "known_scale_size"

    def __init__(self, design: PublicDesign, **score: Any) -> None:
        super().__init__(design, matrix_share=_MATRIX_SHARE, **score)
        self._most = score_bounds(self._where, _MATRIX_SHARE).slope ** 2
        self.parts = (Part(np.ones(1), np.array([self._most])),)
        self.sensitivity = self._most

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        columns = super().factors(block, scratch)[1].left.T
        size = scratch("sizes", 1, columns.shape[1])
        np.divide(squared_norms(columns, scratch), (self._root * self._radius) ** 2, out=size[0])
        np.clip(size, 0.0, self._most, out=size)
        return (Factor(block.ok[:, None].astype(float), size.T),)

"""What a wider limit adds to the scores of a generalised linear model."""

from __future__ import annotations

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import predictor
from dpstats.curator.statistics.base import Statistic
from dpstats.families.bounded_score import BoundedScore

__all__ = ["ScoreTails"]


class ScoreTails(Statistic):
    """Sum of what a wider limit adds to the scores of rows.

    With the scores psi and psi_w of two limits, L and L_w, a row gives v = psi_w - psi, clipped to
    [least, L_w - L]. Both scores have mean 0 under the family; where its tail is longer, v holds what is
    clipped from psi.

    Parameters
    ----------
    design : PublicDesign
    center, scale, beta : array_like, shape (k,)
        As of :class:`dpstats.curator.statistics.glm.LogisticScore`.
    score, wider : BoundedScore
        Of one family; the second of the larger limit.

    Notes
    -----
    Sensitivity: L_w - L - least, which is how far two values lie apart at most; `least` is at most 0, so that
    a row that weighs nothing, v = 0, is one of them, and a prior weight, at most 1, keeps a row between. It
    is L - L_w, or where no score lies below -L what v is of rows below both limits: the difference of what
    is put back for clipping. Attained by a row beyond the wider limit and one below both. See
    docs/theory/glm.md#what-lies-beyond-the-limit.
    """

    name = "score_tails"

    def __init__(
        self,
        design: PublicDesign,
        *,
        score: BoundedScore,
        wider: BoundedScore,
        center: np.ndarray,
        scale: np.ndarray,
        beta: np.ndarray,
    ) -> None:
        center, scale, beta = (np.asarray(row, dtype=float) for row in (center, scale, beta))
        if not center.shape == scale.shape == beta.shape == (len(design.names),):
            raise ValueError(f"center, scale and beta must hold {len(design.names)} numbers each")
        self._center, self._beta, self._score, self._wider = center, beta / scale, score, wider
        self._range = score.gain(wider)
        self._weighted, self._offset = design.weights is not None, design.offset_bounds != (0.0, 0.0)
        least, most = self._range
        self.parts = (Part(np.ones(1), np.array([max(-least, most)])),)
        self.sensitivity = most - least

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        size = len(block.ok)
        centred = np.subtract(
            block.exog.T, self._center[:, None], out=scratch("centred", len(self._center), size)
        )
        eta = predictor(self._beta, centred, scratch)
        if self._offset:
            np.add(eta, block.offset, out=eta)
        v = np.clip(self._wider(block.time, eta)[0] - self._score(block.time, eta)[0], *self._range)
        if self._weighted:
            np.multiply(v, block.weight, out=v)
        return (Factor(np.ones((size, 1)), v[:, None]),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)

"""What a wider limit adds to the scores of a generalised linear model."""

from __future__ import annotations

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.at_line import AtLine
from dpstats.families.bounded_score import BoundedScore


class ScoreTails(AtLine):
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
        **row: np.ndarray,
    ) -> None:
        super().__init__(design, **row)
        self._score, self._wider, self._range = score, wider, score.gain(wider)
        least, most = self._range
        self.parts = (Part(np.ones(1), np.array([max(-least, most)])),)
        self.sensitivity = most - least

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        eta = self.eta(block, scratch)
        v = np.clip(self._wider(block.time, eta)[0] - self._score(block.time, eta)[0], *self._range)
        if self._weighted:
            np.multiply(v, block.weight, out=v)
        return (Factor(np.ones((len(v), 1)), v[:, None]),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)

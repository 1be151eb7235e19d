"""Scores of a location-scale model whose strata have a sigma each (docs/theory/survival.md#strata)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.martingale import MartingaleScore
from dpstats.families.score_bounds import ScoreBounds


class StrataScore(MartingaleScore):
    """The scores of :class:`MartingaleScore` for G strata, with a log sigma and a pivot each.

    A row of stratum g has the residual z and the scores of sigma_g and of the pivot m_g, x = s_g W x~ in the
    place of W x~, and gives, e_g the g-th unit vector,

        w x psi (k,),   kappa chi e_g (G,),   tau g event v v' (k + G, k + G),
        v = (sqrt(w) h1* x, kv (1 + rho h1*) e_g).

    Log sigma is not weighted by w: rows of a rare stratum, or of a small sigma_g, are long, and would hardly
    count in a log sigma that they alone tell of.

    Parameters
    ----------
    design : PublicDesign
        With strata.
    sigma, pivot, stretch : array_like, shape (G,)
        sigma_g, m_g and s_g, by which a step of the location is longer in a stratum: a typical sigma over its
        own.
    **score
        As of :class:`MartingaleScore`; `where` is of strata.

    Notes
    -----
    Sensitivity: R D, D the bound of `score_bounds` for rows of length 1 and strata. Sigma, pivot and s are
    public numbers of the stratum of a row, so that its psi, chi and q lie in the same cells as those of any
    row of :class:`MartingaleScore`, whose proof goes through with two additions.

    *Log sigma.* Two rows of one stratum differ there by |chi - chi'|; two of different strata by
    chi e_g - chi' e_h, whose square is chi^2 + chi'^2. So the squared distance is at most the larger of
    (chi - chi')^2 and chi^2 + chi'^2, which are what `score_bounds` has for strata. A row that weighs nothing
    is chi' = 0 in any stratum.
    *Location and information.* w |x| <= R and w |x|^2 <= R^2 whatever s_g, as the weight is made of this x.
    The matrices are positive semidefinite, so that |M - M'|_F^2 <= |M|_F^2 + |M'|_F^2, and because |e_g| = 1
    |g v v'|_F = g (h1*^2 w |x|^2 + R^2 u^2 (1 + rho h1*)^2) <= R^2 q, with q as there, whichever strata the
    rows are of.

    A row that enters late, or that stands for several units, adds nothing to this, as it does not there.
    Attained, as far as the cells let it, by a failure at z -> -inf and one beyond the cut, of two strata.
    """

    name = "strata_score"
    strata = True

    def __init__(self, design: PublicDesign, *, stretch: np.ndarray, **score: Any) -> None:
        self._groups, self._stretch = design.strata, np.asarray(stretch, dtype=float)
        shapes = (np.shape(score[name]) for name in ("sigma", "pivot"))
        if {self._stretch.shape, *shapes} != {(self._groups,)} or not (self._stretch > 0).all():
            raise ValueError("sigma, pivot and stretch must hold a number for each stratum, positive ones")
        super().__init__(design, **score)

    def _pivots(self, pivot: np.ndarray) -> np.ndarray:
        return np.asarray(pivot, dtype=float)

    def _parts(self, bounds: ScoreBounds) -> tuple[Part, ...]:
        k, groups, root = self._width, self._groups, self._root * self._radius
        return (
            Part(np.full(k, self._radius), np.array([bounds.psi])),
            Part(np.array([self._kappa * bounds.chi]), np.ones(groups)),
            Part(np.concatenate([np.full(k, root * bounds.slope), np.full(groups, root * bounds.column)])),
        )

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        location, (weight, chi), information = super().factors(block, scratch)
        k, groups = self._width, self._groups
        row = scratch("by stratum", k + groups, len(block.ok))
        row[:k] = information.left.T[:k]
        np.equal(np.arange(groups)[:, None], block.stratum, out=row[k:], casting="unsafe")
        np.multiply(row[k:], information.left.T[k] / np.sqrt(weight[:, 0]), out=row[k:])
        assert chi is not None
        return location, Factor(chi, block.stratum), Factor(row.T)

    def _pivot_of(self, centred: np.ndarray, block: Block, scratch: Scratch) -> np.ndarray:
        return self._pivot[block.stratum]

    def _row_of(self, centred: np.ndarray, out: np.ndarray, block: Block, scratch: Scratch) -> np.ndarray:
        x = super()._row_of(centred, out, block, scratch)
        return np.multiply(x, self._stretch[block.stratum], out=x)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        location, log_sigma, matrix = super().unpack(vector)
        return location, log_sigma.ravel(), matrix

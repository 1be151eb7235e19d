"""What comes of the martingale score where less, or more, than all of it is released.

Under pure epsilon its parts are released one by one, as every number released costs noise. Where sigma is
known, nothing is released of log sigma (docs/theory/survival.md#a-known-scale). Where strata have a sigma
each, so do the scores (docs/theory/survival.md#strata).
"""

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import ROUNDED, predictor, squared_norms
from dpstats.curator.statistics.base import each_row
from dpstats.curator.statistics.martingale import MartingaleScore
from dpstats.families.score_bounds import LOG_SIGMA_SHARE, ScoreBounds, score_bounds

# of a matrix that is not released
_MATRIX_SHARE = 1.0


class ScoreAlone(MartingaleScore):
    """The scores w x psi (k,) and, of an unknown sigma, kappa w chi (1,), without the information.

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
    (docs/theory/survival.md#pure-epsilon), or where sigma is known in its ball.
    """

    name = "score_alone"

    def __init__(self, design: PublicDesign, **score: Any) -> None:
        super().__init__(design, matrix_share=_MATRIX_SHARE, **score)
        self.parts = self.parts[:-1]
        size = self._radius * score_bounds(self._where, _MATRIX_SHARE).psi
        self.sensitivity, last = 2 * size, LOG_SIGMA_SHARE * size
        if not self._where.known_scale:
            self.sensitivity_head, self.sensitivity = 2 * size, math.hypot(2 * size, last)
            self.ranges = np.append(np.full(self._map.k, math.inf), last)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        return super().factors(block, scratch)[:-1]


class InformationSizes(MartingaleScore):
    """What the information of :class:`MartingaleScore` amounts to; three numbers, or one of a known sigma.

    With u = kv / R and h = 1 + rho h1*, a row gives w g event times h1*^2 |x|^2 / R^2, which adds up to the
    trace of the information on the location; u^2 h^2, that on log sigma; and u h1* h, what an intercept
    shares with log sigma. Where sigma is known the first alone is released.

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
    flat = True

    def __init__(self, design: PublicDesign, **score: Any) -> None:
        super().__init__(design, matrix_share=_MATRIX_SHARE, **score)
        bounds, (low, high) = score_bounds(self._where, _MATRIX_SHARE), self._where.limits
        s = bounds.slope
        unit = s * bounds.log_sigma_unit
        down, up = max(0.0, -1 - low * s) * unit, (1 + max(0.0, high) * s) * unit
        first, second, shown = s**2, bounds.column**2, slice(1 if self._where.known_scale else 3)
        self.parts = (Part(np.ones(1), np.array([first, second, max(down, up)])[shown]),)
        self._lowest = np.array([0.0, 0.0, -down])[shown]
        self._highest = np.array([first, second, up])[shown]
        self.ranges = self._highest - self._lowest
        self.sensitivity = float(np.linalg.norm(self.ranges))
        self._to_slope = np.linalg.inv(score["whitening"])[0]

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        columns = super().factors(block, scratch)[-1].left.T
        sizes = scratch("sizes", len(self._lowest), columns.shape[1])
        sizes[0] = squared_norms(columns[: self._width], scratch)
        if not self._where.known_scale:
            np.multiply(columns[-1], columns[-1], out=sizes[1])
            shared = predictor(self._to_slope, columns[:-1], scratch)
            np.multiply(shared, columns[-1] * self._radius, out=sizes[2])
        np.divide(sizes, (self._root * self._radius) ** 2, out=sizes)
        np.clip(sizes, self._lowest[:, None], self._highest[:, None], out=sizes)
        return (each_row(sizes),)


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

    def _directions(self, whitening: np.ndarray) -> np.ndarray:
        return whitening

    def _parts(self, bounds: ScoreBounds) -> tuple[Part, ...]:
        k, groups, root = self._width, self._groups, self._root * self._radius
        return (
            Part(np.full(k, self._radius), np.array([bounds.psi])),
            Part(np.array([self._kappa * bounds.chi]), np.ones(groups)),
            Part(np.concatenate([np.full(k, root * bounds.slope), np.full(groups, root * bounds.column)])),
        )

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        location, (weight, chi, _), information = super().factors(block, scratch)
        k, groups = self._width, self._groups
        row = scratch("by stratum", k + groups, len(block.ok))
        row[:k] = information.left.T[:k]
        np.equal(np.arange(groups)[:, None], block.stratum, out=row[k:], casting="unsafe")
        np.multiply(row[k:], information.left.T[k] / np.sqrt(weight[:, 0]), out=row[k:])
        assert chi is not None
        return location, Factor(chi, block.stratum), Factor(row.T)

    def _read(
        self, centred: np.ndarray, row: np.ndarray, block: Block, scratch: Scratch
    ) -> tuple[np.ndarray, np.ndarray]:
        x = row[: self._width]
        most = self._map.filled(self._products, centred, block, x, scratch)
        np.multiply(x, self._stretch[block.stratum], out=x)
        return self._pivot[block.stratum], most * (self._stretch.max() * ROUNDED)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        location, log_sigma, matrix = super().unpack(vector)
        return location, log_sigma.ravel(), matrix

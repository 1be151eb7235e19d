"""Scores and information of a censored location-scale model (docs/theory/survival.md), whole and in parts.

Under pure epsilon its parts are released one by one, as every number released costs noise. Where sigma is
known, nothing is released of log sigma (docs/theory/survival.md#a-known-scale). Where strata have a sigma
each, so do the scores (docs/theory/survival.md#strata).
"""

import math
from typing import Any, ClassVar

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import ROUNDED, RowProducts, predictor, squared_norms
from dpstats.curator.statistics.at_residuals import AtResiduals
from dpstats.curator.statistics.base import check_positive, each_row
from dpstats.families import Family
from dpstats.families.martingale import scores, taper
from dpstats.families.score_bounds import LOG_SIGMA_SHARE, ScoreBounds, Truncation, score_bounds

_MATRIX_SHARE = 1.0  # of a matrix that is not released


class LocationScore(AtResiduals):
    """Sum of the location scores psi = A1 - event g h1*, without covariates; one number, shape (1,).

    A1 is the compensator since the row's entry, where the design has one.

    Parameters
    ----------
    design : PublicDesign
    **row
        The public map of rows: center, scale, y_center, y_scale and log of
        :class:`dpstats.curator.geometry.Map`.
    family : Family
    c : float
        Cumulative hazard at which a row stops being observed.
    gamma : array_like, shape (k,)
        Location coefficients on the mapped scale.
    sigma : float
    floor : float
        z below which h1* is frozen; the normal needs one.

    Notes
    -----
    Sensitivity: s + A1(c), s the largest h1* (1, or that at the floor). A row gives A1 - g h1* with
    0 <= A1 <= A1(c) and 0 <= g h1* <= s, and one that weighs nothing gives 0: all within [-s, A1(c)]. So it
    is for a row that enters late, as A1 never falls: 0 <= A1(z) - A1(entry) <= A1(c), and for one that failed
    between two residuals, whose psi is a mean of those (:mod:`dpstats.families.between`). Attained by an
    event at z -> -inf against any row beyond the cut.
    """

    name = "location_score"

    def __init__(
        self,
        design: PublicDesign,
        *,
        family: Family,
        c: float,
        floor: float = -math.inf,
        **point: Any,
    ) -> None:
        super().__init__(design, family=family, **point)
        self._cut = taper(family, c, floor)
        top = float(self._cut.integrals(np.array([np.inf])).location[0])
        self.parts = (Part(np.ones(1), np.array([max(self._cut.steepest, top)])),)
        self.sensitivity = self._cut.steepest + top

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        _, psi = self._scored(block, scratch)
        return (each_row(psi[None]),)

    def _scored(self, block: Block, scratch: Scratch) -> tuple[np.ndarray, np.ndarray]:
        """Rows as of :meth:`Map.centred`, and their psi."""
        centred, (z, event, entry, known) = self.watched(block, scratch)
        g, slope, (_, first, _) = self._cut.at(z)
        psi = first - event * g * slope
        if entry is not None:
            psi -= self._cut.integrals(np.minimum(entry, z)).location
        if known is not None:
            psi -= (self._cut.integrals(known.upper).location - first) * known.odds
        return centred, psi


class MartingaleScore(AtResiduals):
    """Weighted scores of location and log sigma, and the information matrix of the events.

    With x = W x~, weight w = min(1, (radius / |x|)^2), and the scores and limits of
    :mod:`dpstats.families.martingale`, a row gives jointly

        w x psi (k,),   kappa w chi (1,),   tau w g event v v' (k+1, k+1),   v = (h1* x, kv (1 + rho h1*)).

    The weights kappa, kv = radius * unit and tau = weight / radius are public, see
    :func:`dpstats.families.score_bounds.score_bounds`; the values released carry them. Where sigma is known
    nothing is released of log sigma: a row gives w x psi (k,) and tau w g event h1*^2 x x' (k, k).

    Parameters
    ----------
    design : PublicDesign
    **row
        The public map of rows: center, scale, y_center, y_scale and log of
        :class:`dpstats.curator.geometry.Map`.
    where : Truncation
        Cut, range of the pivots, limits of rho; delayed if the design has entries; whether sigma is known.
    gamma, pivot : array_like, shape (k,)
        Location coefficients, and coefficients of the pivot m = pivot'x~, clipped to its range.
    sigma : float
    whitening : array_like, shape (k, k)
        W.
    radius : float
        R: no row counts as longer.
    matrix_share : float
        Of :func:`score_bounds`.

    Notes
    -----
    Sensitivity: R D, D the bound of `score_bounds` for rows of length 1. For two rows, marked ' and not:

    *Location.* w |x| <= R (w |x| is |x| below R and R^2 / |x| beyond), so the blocks differ by at most
    R (|psi| + |psi'|).
    *Log sigma.* w chi and w' chi' with w, w' in [0, 1]: their difference is convex in (w, w'), hence largest
    at a corner: max(|chi - chi'|, |chi|, |chi'|, 0), times kappa.
    *Information.* The matrices are positive semidefinite, so the trace of their product is not negative and
    |M - M'|_F^2 <= |M|_F^2 + |M'|_F^2. With kv = R u,
    |w g v v'|_F = w g (h1*^2 |x|^2 + R^2 u^2 (1 + rho h1*)^2) <= R^2 q, q = g (h1*^2 + u^2 (1 + rho h1*)^2),
    because w |x|^2 <= R^2.

    With kappa = R kappa_1 and tau = tau_1 / R, kappa_1 and tau_1 those of rows of length 1, the three squares
    add up to R^2 [(|psi| + |psi'|)^2 + kappa_1^2 max(...)^2 + tau_1^2 (q^2 + q'^2)], which `score_bounds`
    bounds over all pairs of cells of z, the censored row and the one that weighs nothing included. Residuals,
    pivots and rows are clipped to the public ranges used there, so no row lies outside. With entries psi and
    chi are those since the entry; `score_bounds` covers every entry before z, and nothing else here changes.

    *Between two residuals.* A row that failed between a and b gives psi and chi in their mean over failures
    there, and in the place of g v v' a matrix m m', w |m|^2 at most R^2 in the mean of q over the same law:
    both are proved in :mod:`dpstats.families.between`. The sum of squares above is convex in (psi, chi, q)
    and rises with q >= 0, so that by Jensen's inequality two rows are no farther apart than two that fail, or
    are censored, at some residuals: D holds for them as it is.

    *A known sigma.* The same without log sigma: |w g h1*^2 x x'|_F = w |x|^2 g h1*^2 <= R^2 q with
    q = g h1*^2, and in `score_bounds` kappa_1 and u are 0.
    """

    name = "martingale_score"
    strata: ClassVar[bool] = False

    def __init__(  # noqa: PLR0913 - the public parameters of the statistic
        self,
        design: PublicDesign,
        *,
        where: Truncation,
        sigma: float | np.ndarray,
        pivot: np.ndarray,
        whitening: np.ndarray,
        radius: float,
        matrix_share: float,
        **point: Any,
    ) -> None:
        check_positive(radius=radius, sigma=sigma)
        if (design.delayed and not where.delayed) or (design.intervals and not where.intervals):
            raise ValueError(
                "the bounds of the scores must allow for the entries and intervals of the design"
            )
        if where.strata != self.strata or (where.strata and where.known_scale):
            raise ValueError("the bounds of the scores must be those of strata, or of rows of one sigma")
        super().__init__(design, family=where.family, sigma=sigma, **point)
        self._where, self._cut = where, where.cut
        self._pivot, self._radius = np.asarray(pivot, dtype=float), radius
        self._products = RowProducts(self._directions(whitening) / self._map.unit, self._map.unit)
        bounds = score_bounds(where, matrix_share)
        self._width = len(whitening)
        self._unit = radius * bounds.log_sigma_unit
        self._kappa = radius * bounds.log_sigma_weight
        self._root = math.sqrt(bounds.matrix_weight / radius)
        self.parts = self._parts(bounds)
        self.sensitivity = radius * bounds.sensitivity

    def _directions(self, whitening: np.ndarray) -> np.ndarray:
        """What rows are multiplied with: W and, last, the coefficients of the pivot."""
        return np.vstack([whitening, self._pivot])

    def _parts(self, bounds: ScoreBounds) -> tuple[Part, ...]:
        k, radius, root = self._width, self._radius, self._root * self._radius
        location, slopes = Part(np.full(k, radius), np.array([bounds.psi])), np.full(k, root * bounds.slope)
        if self._where.known_scale:
            return location, Part(slopes)
        log_sigma = Part(np.ones(1), np.array([self._kappa * bounds.chi]))
        return location, log_sigma, Part(np.append(slopes, root * bounds.column))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        centred, at = self.watched(block, scratch)
        k, size = self._width, len(block.ok)
        row, curved = scratch("row", k + 1, size), scratch("curved", k + 1, size)
        pivot, most = self._read(centred, row, block, scratch)
        x, pivot = row[:k], np.clip(pivot, *self._where.pivots)
        found = scores(self._cut, at.z, at.event, pivot, self._where.limits, at.entry, at.known)
        weight, long = np.ones(size), not most @ most <= self._radius**2
        if long:  # as some rows may be
            np.minimum(1.0, self._radius**2 / squared_norms(x, scratch), out=weight)
        root = self._root * np.sqrt(weight * found.kept)
        slope = root * found.location
        np.multiply(x, slope, out=curved[:k])
        if long:
            np.multiply(x, weight, out=x)
        location, steepest = Factor(x.T, found.psi[:, None], most), most * (np.abs(slope).max() * ROUNDED)
        if self._where.known_scale:
            return location, Factor(curved[:k].T, most=steepest)
        np.multiply(root, self._unit * found.log_sigma, out=curved[k])
        information = Factor(curved.T, most=np.append(steepest, np.abs(curved[k]).max()))
        return location, Factor(weight[:, None], (self._kappa * found.chi)[:, None]), information

    def _read(
        self, centred: np.ndarray, row: np.ndarray, block: Block, scratch: Scratch
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fill the first k of `row` by W x~ of each row; m of each, not yet clipped; how large W x~ is."""
        most = self._map.filled(self._products, centred, block, row, scratch)
        return row[-1], most[:-1]


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

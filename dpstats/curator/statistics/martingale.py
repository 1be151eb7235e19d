"""Scores and information of a censored location-scale model (docs/theory/survival.md)."""

import math
from typing import Any, ClassVar

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import ROUNDED, RowProducts, squared_norms
from dpstats.curator.statistics.at_residuals import AtResiduals
from dpstats.curator.statistics.base import check_positive, each_row
from dpstats.families import Family
from dpstats.families.martingale import scores, taper
from dpstats.families.score_bounds import ScoreBounds, Truncation, score_bounds


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

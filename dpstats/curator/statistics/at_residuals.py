"""Statistics of rows at released residuals of a location-scale model: check of its law, scores by signs.

Failures seen are counted against failures expected, by the cumulative hazard at which they happen
(docs/theory/survival.md#check-of-the-law). Of scores of the slopes by the signs of residuals one row says
little, but noise is small (docs/theory/survival.md#slopes-by-the-signs-of-residuals).
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, Watched, shorten
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import RowProducts, squared_norms
from dpstats.curator.statistics.base import Statistic, check_positive, each_row
from dpstats.families import Family
from dpstats.families.signs import SignScores, largest_slope, signs


class AtResiduals(Statistic):
    """Knows between which residuals a row was watched.

    Parameters
    ----------
    design : PublicDesign
    **row
        The public map of rows: center, scale, y_center, y_scale and log of
        :class:`dpstats.curator.geometry.Map`.
    family : Family
    gamma : array_like, shape (k,)
        Location coefficients on the mapped scale.
    sigma : float or array_like, shape (G,)
        One number for all rows, or one for each stratum.
    """

    by_unit = True

    def __init__(
        self,
        design: PublicDesign,
        *,
        family: Family,
        gamma: np.ndarray,
        sigma: float | np.ndarray,
        **row: Any,
    ) -> None:
        self._map, self._family = Map(design, **row), family
        self._gamma, self._sigma = np.asarray(gamma, dtype=float), np.asarray(sigma, dtype=float)
        if self._sigma.ndim and self._sigma.shape != (design.strata,):
            raise ValueError("sigma must be one number, or one for each stratum")

    def watched(self, block: Block, scratch: Scratch) -> tuple[np.ndarray, Watched]:
        """Rows as of :meth:`Map.centred`, shape (k, B), and their residuals."""
        centred = self._map.centred(block, scratch)
        sigma = self._sigma[block.stratum] if self._sigma.ndim else float(self._sigma)
        return centred, self._map.watched(centred, block, scratch, self._gamma, sigma, self._family)


class HazardContrasts(AtResiduals):
    """Contrasts between zones of cumulative hazard of the events seen and expected, one array of shape (K,).

    A row with cumulative hazard H = H(z) at the end of its observation, and H_0 at its entry (0 without one),
    gives, for the step function a that is a_j in the zone (u_{j-1}, u_j] and 0 beyond the last,

        event a(H) - (A(H) - A(H_0)),    A(H) = integral of a from 0 to H.

    At the truth its mean is 0, whatever the covariates and the (independent) censoring: a check of the error
    law. With a whitening the last contrast stands for j numbers: it is multiplied by t = w W x~ / radius, no
    longer than 1, w = min(1, radius / |W x~|). These are 0 at the truth, too, and where another spread of the
    errors goes with x they are not.

    Parameters
    ----------
    design : PublicDesign
    **row
        The public map of rows: center, scale, y_center, y_scale and log of
        :class:`dpstats.curator.geometry.Map`.
    family : Family
    gamma : array_like, shape (k,)
        Location coefficients on the mapped scale.
    sigma : float
    edges : sequence of float
        0 < u_1 < ... < u_J; the first zone begins at 0.
    contrasts : array_like, shape (K, J)
        a_j of each contrast.
    whitening : array_like, shape (j, k), optional
        W.
    radius : float
        Beyond it a row counts no more.

    Notes
    -----
    Sensitivity: the largest distance between two of the values that rows have at the edges of zones. Let H
    lie in one zone and H_0 <= H in another or the same, with an event or without. There A is linear, so the
    values of rows are an affine image of a polygon of pairs (H_0, H), whose corners are pairs of edges: they
    lie in the convex hull of the values at those corners, the event counted with the a of the zone of H on
    both its edges. Beyond the last edge nothing changes any more, and an event there is a row without one.
    The row that weighs nothing is one without an event that leaves as it enters. A norm of a difference is
    convex, so that it is largest at corners of both hulls; likewise for each range. A row that failed between
    two residuals gives a mean of what failures there give, which lies in the hull of all corners
    (:mod:`dpstats.families.between`). With a whitening let (v, u) be such values, u of the last contrast: two
    rows differ by (v - v', u t - u' t'). For fixed t and t' this is affine in both rows' values, so that its
    length is largest at corners; there it is at most the root of |v - v'|^2 + (|u| + |u'|)^2, as |t| <= 1,
    and an entry of u t - u' t' at most twice the largest |u|.
    Attained or, where a zone leaves its lower edge out, approached by the rows of the two farthest corners
    that lie opposite each other, at the radius, where both u have one sign.
    """

    name = "hazard_contrasts"
    flat = True

    def __init__(
        self,
        design: PublicDesign,
        *,
        edges: Sequence[float],
        contrasts: np.ndarray,
        whitening: np.ndarray | None = None,
        radius: float = 1.0,
        **point: Any,
    ) -> None:
        super().__init__(design, **point)
        self._upper, steps = np.asarray(edges, dtype=float), np.asarray(contrasts, dtype=float)
        self._begins = np.append(0.0, self._upper)  # of zones, and of what lies beyond the last
        widths = np.diff(self._begins)
        if not (widths > 0).all():
            raise ValueError("the edges of the zones must be positive and increase")
        self._rates = np.pad(steps, ((0, 0), (0, 1)))
        self._areas = np.pad(np.cumsum(steps * widths, axis=1), ((0, 0), (1, 0)))
        corners = np.array(list(self._corners(design.delayed)))
        apart = corners[:, None] - corners
        most, self.ranges = np.abs(corners).max(axis=0), np.ptp(corners, axis=0)
        self._whitened, self._radius = None, radius
        if whitening is not None:
            self._whitened = RowProducts(whitening / self._map.unit, self._map.unit)
            sizes, alike = np.abs(corners[:, -1]), np.ones(len(whitening))
            apart[..., -1] = sizes[:, None] + sizes
            self.ranges = np.append(self.ranges[:-1], 2 * most[-1] * alike)
            most = np.append(most[:-1], most[-1] * alike)
        self.parts = (Part(np.ones(1), most),)
        self.sensitivity = float(np.linalg.norm(apart, axis=2).max())

    def _corners(self, delayed: bool) -> Iterator[np.ndarray]:
        """Values of rows that enter and leave at edges, without an event and with one on either side."""
        steps, sums = self._rates.T, self._areas.T
        for end in range(len(sums)):
            for start in range(end + 1) if delayed else (0,):
                without = sums[start] - sums[end]
                yield without
                yield from (without + step for step in steps[max(end - 1, 0) : end + 1])

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        centred, (z, event, entry, known) = self.watched(block, scratch)
        hazard = self._family.cumulative_hazard(z)
        rate, area = self._until(hazard)
        right = np.subtract(rate * event, area, out=scratch("contrasts", *area.shape))
        if entry is not None:
            right += self._until(self._family.cumulative_hazard(np.minimum(entry, z)))[1]
        if known is not None:
            right += (self._until(self._family.cumulative_hazard(known.upper))[1] - area) * known.odds
        if self._whitened is not None:
            x = scratch("row", self.parts[0].size - len(right) + 1, len(z))
            self._map.filled(self._whitened, centred, block, x, scratch)
            np.multiply(x, shorten(x, self._radius, scratch) / self._radius * right[-1], out=x)
            right = np.vstack([right[:-1], x])
        return (each_row(right),)

    def _until(self, hazard: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """a(H) and A(H) of each contrast and row, shape (K, B)."""
        zone = np.zeros(len(hazard), dtype=np.int16)
        for upper in self._upper:
            zone += hazard > upper
        rate, area = (np.take(each, zone, axis=1) for each in (self._rates, self._areas))
        return rate, area + rate * (np.minimum(hazard, self._upper[-1]) - self._begins.take(zone))


# an event before the median weighs its h, which is at most exp(log 2), once or squared
_LARGEST = 2.0


class SignScore(AtResiduals):
    """Sum of w x psi, psi the score of :mod:`dpstats.families.signs`; shape (j,).

    x = W x~, and w = min(1, radius / |x|) shortens it to the radius.

    Parameters
    ----------
    design : PublicDesign
    **row
        The public map of rows: center, scale, y_center, y_scale and log of
        :class:`dpstats.curator.geometry.Map`.
    family : Family
    gamma : array_like, shape (k,)
        Location coefficients on the mapped scale.
    sigma : float
    whitening : array_like, shape (j, k)
        W.
    radius : float
        R: no row is longer.

    Notes
    -----
    Sensitivity: 2 R. A row gives a vector no longer than |w x| |psi| <= R, because psi lies in [-1, 1]; one
    that weighs nothing gives 0. Attained by a row of length R that fails early, against the opposite row
    that does, or the same row still watched at its median.
    """

    name = "sign_score"

    def __init__(
        self,
        design: PublicDesign,
        *,
        sigma: float,
        whitening: np.ndarray,
        radius: float,
        **point: Any,
    ) -> None:
        check_positive(radius=radius, sigma=sigma)
        if design.intervals:
            raise ValueError("signs are those of failures at known times")
        super().__init__(design, sigma=sigma, **point)
        self._radius, self._width = radius, len(whitening)
        self._whitened = RowProducts(whitening / self._map.unit, self._map.unit)
        self.parts = (Part(np.full(self._width, radius), np.ones(1)),)
        self.sensitivity = 2 * radius

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        x, _, found = self._read(block, scratch)
        np.multiply(x, shorten(x, self._radius, scratch), out=x)
        return (Factor(x.T, found.score[:, None]),)

    def _read(self, block: Block, scratch: Scratch) -> tuple[np.ndarray, np.ndarray, SignScores]:
        """W x~, the residual and the score of each row."""
        centred, watched = self.watched(block, scratch)
        z, found = watched.z, signs(self._family, watched.z, watched.event, watched.entry)
        x = scratch("row", self._width, len(z))
        self._map.filled(self._whitened, centred, block, x, scratch)
        return x, z, found


class SignSizes(SignScore):
    """What slope and variance of :class:`SignScore` amount to; two numbers, shape (2,).

    With h and h1* of an event before the median (:mod:`dpstats.families.signs`), l = |x| and w l = min(l, R),
    a row gives

        min(h h1*, s) w l min(l, longest) / (s R longest)    and    h^2 (w l)^2 / (2 R)^2,

    s the bound of the family. Summed, the first is the trace of the slope -dE[sum w x psi] / d location (in
    sigmas), and the second that of the variance of the score, both over what they are divided by.

    Parameters
    ----------
    design : PublicDesign
    longest : float
        Beyond it a row adds no more.
    **score
        As of :class:`SignScore`.

    Notes
    -----
    Both numbers lie in [0, 1]: h <= 2, and each factor is at most what it is divided by. So two rows, or a
    row and one that weighs nothing, differ by at most 1 in each, and by sqrt 2 in length. Attained by an
    event just before its median, of length `longest`, where the family has its largest h h1* there, as SEV.
    """

    name = "sign_sizes"
    flat = True

    def __init__(self, design: PublicDesign, *, longest: float, **score: Any) -> None:
        super().__init__(design, **score)
        if not self._radius <= longest < math.inf:
            raise ValueError("longest must be finite and at least the radius")
        self._longest = longest
        self.parts = (Part(np.ones(1), np.ones(2)),)
        self.ranges = np.ones(2)
        self.sensitivity = math.sqrt(2)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        x, z, found = self._read(block, scratch)
        length = np.sqrt(squared_norms(x, scratch))
        kept = np.minimum(length / self._radius, 1.0)
        most = largest_slope(self._family)
        slope = np.minimum(found.integrand * self._family.log_hazard_slope(z), most) / most
        sizes = scratch("sizes", 2, len(z))
        np.multiply(slope * kept, np.minimum(length / self._longest, 1.0), out=sizes[0])
        np.square(found.integrand / _LARGEST * kept, out=sizes[1])
        return (each_row(sizes),)

"""The second moments of the events: where the information is, the line through them, and what whitens them.

See docs/theory/survival.md, and of whitening docs/theory/survival.md#releases-and-shares.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.engine.route import LONGEST, capped
from dpstats.estimators.known.level_shares import of_levels
from dpstats.estimators.known.structure import Structure
from dpstats.estimators.known.unrelated import NoiseLeft
from dpstats.estimators.location_scale.event_expectations import expected
from dpstats.estimators.location_scale.problem import LOG_SIGMA_RANGE, SurvivalProblem, sigma_of
from dpstats.estimators.matrices import SMALLEST, by_precision, symmetric_power
from dpstats.estimators.row_scale import (
    STRETCH,
    RowScale,
    categories,
    shortened,
    unstretched,
    with_levels,
)
from dpstats.moments.design import DesignMoments, of_matrix
from dpstats.moments.roots import with_floor
from dpstats.moments.solution import not_noise

_LEAST_TRACE = 0.7  # of the moments per event, k on the scale of the events
# Least eigenvalue of a change of the released event matrix by re-whitening. No random design reaches it, but
# without it a fit of one row and little budget has a matrix that is not finite.
_LEAST_CHANGE = 0.4


@dataclass(frozen=True)
class EventSquares:
    """Second moments, per row, of the events (1, x~).

    Attributes
    ----------
    fraction : float
        Events per row.
    floored : array, shape (k, k)
        As released, with no eigenvalue below the noise.
    """

    fraction: float
    floored: np.ndarray


@dataclass(frozen=True)
class Events(EventSquares):
    """Those of (1, x~, y~), with the line through the events.

    Attributes
    ----------
    square : array, shape (k, k)
        Of (1, x~), as released.
    noise : float
        sd of a diagonal entry of `square`.
    line : array, shape (k,)
        Least squares of y~ on (1, x~) over the events.
    residual : float
        Mean square, per row, about the line.
    spread : float
        operator-norm size of the noise per event, at most 1.
    way : array, shape (k, k)
        The noise of `square` is way N way', of N with an sd of `noise` on the diagonal.
    shrunk : bool
        Whether `square` and `line` were shrunk by what noise alone makes of them.
    left : NoiseLeft, optional
        Of N, where some was taken off.
    """

    square: np.ndarray
    noise: float
    line: np.ndarray
    residual: float
    spread: float
    way: np.ndarray
    shrunk: bool = False
    left: NoiseLeft | None = None

    def noise_along(self, vectors: np.ndarray) -> np.ndarray:
        """Variance of what noise adds to `square` along these vectors, in columns; shape (m,)."""
        return self.noise**2 * self._noise_left.along(self.way.T @ vectors)

    def covariance_by_noise(self, vector: np.ndarray) -> np.ndarray:
        """Covariance of the product of that with a vector, shape (k, k)."""
        moved = self.way.T @ vector
        found = self._noise_left.of_product(np.outer(moved, moved))
        return self.noise**2 * self.way @ found @ self.way.T

    @property
    def _noise_left(self) -> NoiseLeft:
        return self.left or NoiseLeft(np.ones_like(self.square), None)

    @property
    def slope_noise(self) -> float:
        """sd of what noise adds to a slope of the line, where columns are not correlated."""
        return self.noise / math.sqrt(2) / self.fraction * math.sqrt(1 + float(self.line @ self.line))

    def unwhitened(self, whitening: np.ndarray) -> Self:
        """Those of (1, x~), if these are of W (1, x~), W symmetric."""
        back = np.linalg.inv(whitening)
        square, floored = (back @ each @ back.T for each in (self.square, self.floored))
        return replace(self, square=square, floored=floored, line=whitening @ self.line, way=back)

    def above_noise(self, whitening: np.ndarray) -> Self:
        """With eigenvalues raised to the noise where that is alike in all directions, of W (1, x~)."""
        back = np.linalg.inv(whitening)
        floored = with_floor(whitening @ self.square @ whitening, self.spread * self.fraction)
        return replace(self, floored=back @ floored @ back)

    @property
    def residual_noise(self) -> float:
        """sd of what noise adds to the mean square about the line."""
        return max(self.noise, 1e-12) * (1 + float(self.line @ self.line))


def release_events(curator: Curator, mu: float, scale: RowScale, shrunk: bool, alone: np.ndarray) -> Events:
    """Release the event matrix and clean it of the worst of its noise; `shrunk` if it may be all noise."""
    k = len(scale.center) + 1
    # rows as long as the noise can afford, at least 1.5 times the expected square length
    affordable = 0.1 * curator.n * scale.fraction * curator.cost_per_row(mu) / math.sqrt(4 * k) - 4
    farthest = 1 + float(np.sum(np.maximum(scale.lower[:-1] ** 2, scale.upper[:-1] ** 2)))
    radius_square = max(1.5 * k, min(farthest, affordable))
    release = curator.release(
        "event_matrix",
        mu,
        **scale.public(),
        radius=math.sqrt(radius_square),
        limit=math.sqrt(radius_square + 6),
    )
    matrix, noise = release.values[0] / release.n, release.sd / release.n
    structure, ratio, left = Structure.of(scale.alike), np.ones(k), 1.0
    if structure is not None:
        fraction = _fraction(matrix[0, 0], noise, scale, release.n)
        matrix, ratio = levelled(matrix, noise, scale, structure, scale.binary & ~alone, fraction)
        left = structure.numbers / (k * (k + 1) / 2)
    if shrunk:
        matrix, left = _shrunk(matrix, noise, _fraction(matrix[0, 0], noise, scale, release.n))
    events = replace(
        events_of(matrix, noise, scale, release.n, left), way=np.diag(np.sqrt(ratio)), shrunk=shrunk
    )
    return in_full(events, scale, alone, radius_square)


def levelled(
    matrix: np.ndarray,
    noise: float,
    scale: RowScale,
    structure: Structure,
    wanted: np.ndarray,
    fraction: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Moments that obey what is public of levels, and how noise of the diagonal falls.

    What the first stage says of how many events the `wanted` columns of levels have counts by its precision,
    and moves all that errs together with it: a reference level, of which one column alone tells nothing, has
    as many events as the matrix found.
    """
    k, way, alike, found = len(scale.center) + 1, of_levels(scale), scale.alike, matrix.copy()
    back, places = np.linalg.inv(way), np.flatnonzero(wanted & (alike[0, 1:] == np.diag(alike)[1:]))
    square = structure.nearest(matrix[:k, :k], way)
    asked = [np.outer(back[0], back[1 + j]) for j in places]
    told = np.array([structure.nearest((one + one.T) / 2, way) for one in asked]).reshape(-1, k, k)
    seen = np.einsum("i,mij,nj->mn", back[0], told, back[1 + places])
    # of the first stage, over that of the matrix; where either is all noise, or has none, rounding is less
    sds = np.clip(fraction * (scale.middle_error * scale.scale)[places] / max(noise, 1e-12), 1e-6, 1e6)
    gain = np.linalg.solve(seen + np.diag(sds**2), told.reshape(-1, k * k))
    news = fraction * scale.center[places] - back[1 + places] @ square @ back[0]
    found[:k, :k] = square + (news @ gain).reshape(k, k)
    known = np.einsum("mjj,mjj->j", told, gain.reshape(-1, k, k))
    return found, np.sqrt(np.maximum(1 - known, SMALLEST))


def _shrunk(matrix: np.ndarray, noise: float, fraction: float) -> tuple[np.ndarray, float]:
    """Second moments and line, shrunk by what noise alone makes of them; and what is left of the moments.

    The scale gives each covariate the mean 0 and the sd 1 over the events, so that without correlations the
    moments are a multiple of the identity.
    """
    k = len(matrix) - 1
    matrix = matrix.copy()
    plain = np.eye(k) * max(float(np.trace(matrix[:k, :k])) / k, _LEAST_TRACE * fraction)
    plain[0, 0] = fraction
    rest = matrix[:k, :k] - plain
    left = not_noise(np.sum(rest**2), k * (k + 1) / 2 * noise**2)
    matrix[:k, :k] = plain + left * rest
    slopes = matrix[1:k, k]
    matrix[1:k, k] = matrix[k, 1:k] = slopes * not_noise(np.sum(slopes**2), (k - 1) / 2 * noise**2)
    return matrix, left


def events_of(matrix: np.ndarray, noise: float, scale: RowScale, n: int, left: float = 1.0) -> Events:
    """What the noisy second moments per row, of noise sd `noise` on the diagonal, say of the events.

    `left` is the share of them that was not taken for noise.
    """
    k = len(matrix) - 1
    square, cross, y_square = matrix[:k, :k], matrix[:k, k], matrix[k, k]
    size = noise * math.sqrt(2 * k * left)
    floored = with_floor(square, size)
    fraction = _fraction(square[0, 0], noise, scale, n)
    line = np.linalg.solve(floored + size / 2 * np.eye(k), cross)
    residual = float(max(y_square - 2 * line @ cross + line @ floored @ line, 0.02 * fraction))
    spread = min(size / fraction, 1.0)
    return Events(fraction, floored, square, noise, line, residual, spread, np.eye(k))


def in_full(events: Events, scale: RowScale, alone: np.ndarray, radius_square: float) -> Events:
    """With the moments of columns of rare values as they are, not as shortened rows of these have them.

    What is left of typical rows of both values, the longer of which is shortened more, says how many there
    are of each. The first stage, which shortens nothing, knows as much again of their variance. `alone` tells
    which columns are neither levels of one category nor in a product. What a diagonal entry lacks are rows
    (:func:`_rows_of`), which have all columns: two that nearly repeat each other are not told apart by it.
    """
    near, far = scale.ends**2
    near_left, far_left = (np.minimum(1.0, radius_square / (len(near) + end)) * end for end in (near, far))
    rare = alone & (far_left < far) & (far_left > near_left)
    growth = np.where(rare, (far - near) / np.where(rare, far_left - near_left, 1.0), 1.0)
    found = np.diag(events.square)[1:] / events.fraction
    full = near + growth * (found - near_left)
    # how much noisier that is than what the first stage knows
    noisier = (growth * events.noise / events.fraction / np.maximum(scale.error * scale.ratio, 1e-12)) ** 2
    full = (full + noisier * scale.ratio) / (1 + noisier)
    rows, lacking = _rows_of(np.flatnonzero(rare), events, scale), np.maximum(full - found, 0.0)[rare]
    # of columns that repeat each other each has a part of what all of them lack
    more = lacking / np.sum(rows[:, 1:][:, rare] ** 2, axis=1)
    square = events.square + events.fraction * (rows.T * more) @ rows
    return replace(
        events,
        square=square,
        floored=with_floor(square, events.spread * events.fraction),
        way=np.sqrt(np.append(1.0, np.where(rare, growth / np.sqrt(1 + noisier), 1.0)))[:, None] * events.way,
    )


def _rows_of(chosen: np.ndarray, events: Events, scale: RowScale) -> np.ndarray:
    """Rows (1, x~) where each of the `chosen` columns has its rarer value, over that value; shape (m, k).

    Means over such rows follow from the moments, shrunk by twice what noise makes of none. A direction along
    which the moments are 0 is one along which the row is 0, too.
    """
    places, near = (np.arange(len(chosen)), 1 + chosen), scale.ends[0, chosen]
    cubes = np.sum(scale.shares * scale.places**3, axis=1)
    tells = np.zeros((len(chosen), len(events.square)))
    tells[places] = np.sign(np.where(scale.binary, scale.lower[:-1] + scale.upper[:-1], cubes)[chosen])
    tells[:, 0] = near
    sums = tells @ events.square
    by_noise = 2 * (near[:, None] ** 2 + 1) * (events.noise / np.maximum(np.abs(sums), SMALLEST)) ** 2
    rows = sums * np.maximum(0.0, 1 - by_noise)
    rows /= np.where(rows[places] == 0, math.inf, sums[places])[:, None]
    rows[places] = 1.0
    return rows


def levels_in_full(events: Events, scale: RowScale, levels: np.ndarray, radius_square: float) -> Events:
    """With the moments of levels of categories as they are, not as shortened rows of a rare level have them.

    What a category's columns hold at each of its levels is public, so that their moments tell how often each
    level was counted, and how long its rows are by how much each was shortened. All entries of a level grow
    alike, and correlations with other columns stay.
    """
    k, growth, whitening = len(events.square), np.eye(len(events.square)), np.linalg.inv(events.way)
    for columns, of_category in categories(levels):
        own = np.append(True, columns)
        rows = scale.typical(levels[of_category])[:, own]
        if len(rows) != own.sum():
            continue
        squares = np.sum((rows @ whitening[np.ix_(own, own)]) ** 2, axis=1) + np.sum(scale.ratio[~columns])
        longer = np.sqrt(np.maximum(1.0, squares / radius_square))
        block = np.eye(k)
        block[np.ix_(own, own)] = np.linalg.solve(rows, longer[:, None] * rows).T
        growth = block @ growth
    square = growth @ events.square @ growth.T
    return replace(
        events,
        square=square,
        floored=with_floor(square, events.spread * events.fraction),
        way=growth @ events.way,
    )


def _fraction(entry: float, noise: float, scale: RowScale, n: int) -> float:
    """Precision-weighted mean of two released event fractions, never below the noise of the first."""
    mean = by_precision(entry, noise, scale.fraction, scale.fraction_sd)
    return float(min(max(mean, 2 * scale.fraction_sd, 1 / n), 1.0))


def with_correlations(columns: DesignMoments | None, events: Events) -> DesignMoments | None:
    """With those of the events' matrix, unless they were shrunk."""
    if columns is None or events.shrunk:
        return columns
    told = of_matrix(columns.of, columns.count, events.square, events.noise, np.eye(len(events.square)))
    found = replace(columns, corr=told.corr, corr_noise=told.corr_noise)
    return found.clipped(np.zeros(len(columns.mean), bool))


def starting_values(events: Events, problem: SurvivalProblem) -> np.ndarray:
    """(gamma, log sigma) from the line through the events."""
    variance = float(np.clip(events.residual / events.fraction + 0.5 * events.spread**2, 0.01, 1.5))
    gamma, sigma = expected(problem.family, events.fraction).start(events.line, variance)
    return np.append(gamma, math.log(sigma))


def located(
    curator: Curator,
    problem: SurvivalProblem,
    costs: tuple[float, ...],
    scale: RowScale,
    point: np.ndarray,
    fraction: float,
) -> np.ndarray:
    """The point after the location steps: exact in one step for a pure shift where the hazard is low."""
    point, usual = point.copy(), expected(problem.family, fraction)
    for mu in costs:
        release = curator.release(
            "location_score",
            mu,
            **scale.public(),
            family=problem.family,
            c=2.0,
            gamma=point[:-1],
            sigma=sigma_of(point),
            floor=usual.first_floor,
        )
        excess = float(release.values[0].item()) / release.n / fraction / usual.slope
        point[0] += sigma_of(point) * float(np.clip(math.log(max(1 + excess, 0.22)) / usual.slope, -1.5, 3.0))
    return point


@dataclass(frozen=True)
class Whitening:
    """W, symmetric, and the first W, from which it may not stray far.

    Attributes
    ----------
    matrix, first : array, shape (k, k)
    """

    matrix: np.ndarray
    first: np.ndarray

    @classmethod
    def of_events(cls, events: Events, scale: RowScale, square: float = 0.0) -> "Whitening":
        """(S / f)^(-1/2) of the event matrix.

        Rows of levels that it counts in full are no longer than the root of `square`, if that is more than
        is usual. Raising the moments of single columns of a category would hide what its levels share.
        """
        radius_square, rows = 1.5 * len(events.square), scale.typical(scale.levels)
        own = replace(scale, binary=scale.binary & np.isnan(scale.levels).all(axis=0))
        relative = unstretched(events.floored / events.fraction, math.sqrt(radius_square), own)
        least, in_full = STRETCH**2 * radius_square, np.sum(rows**2, axis=1) <= radius_square
        relative = shortened(relative, rows, np.where(in_full, max(square, least), least))
        matrix = symmetric_power(relative, -0.5)
        return cls(matrix, matrix)

    def improved(self, information: np.ndarray, radius: float, scale: RowScale) -> "Whitening":
        """W that also whitens `information`, given in today's whitened coordinates and per event."""
        back = np.linalg.inv(self.matrix)
        metric = np.linalg.inv(with_levels(back @ information @ back, radius**2, scale))
        undo = np.linalg.inv(self.first)
        values, vectors = np.linalg.eigh(undo @ metric @ undo)
        change = (vectors * np.clip(values, _LEAST_CHANGE, 1 / SMALLEST)) @ vectors.T
        return Whitening(symmetric_power(self.first @ change @ self.first, 0.5), self.first)

    def moved(
        self, point: np.ndarray, step: np.ndarray, pivot: np.ndarray, largest: float, damping: float = 1.0
    ) -> tuple[np.ndarray, bool]:
        """The point (gamma, log sigma) after a step, no longer than the caps, and whether one was binding.

        Log sigma moves by at most `largest`, and with the location of the events held; where it is known the
        step has none.
        """
        k = len(self.matrix)
        location, short = capped(step[:k], LONGEST)
        if len(step) == k:
            return np.append(
                point[:-1] + sigma_of(point) * (self.matrix @ (damping * location)), point[-1]
            ), short
        log_sigma = damping * float(np.clip(step[-1], -largest, largest))
        gamma = point[:-1] + sigma_of(point) * (self.matrix @ (damping * location) - pivot * log_sigma)
        point = np.append(gamma, float(np.clip(point[-1] + log_sigma, *LOG_SIGMA_RANGE)))
        return point, bool(short or abs(step[-1]) > largest)

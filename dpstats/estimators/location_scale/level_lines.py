"""Levels and flags of a survival fit, by what their scores say, which is not in proportion to them.

See docs/theory/levels.md.
"""

import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpstats._codes import OPEN_ENDED, problems_at
from dpstats.estimators.engine.finish import WEAK_SHARE, E, to_user
from dpstats.estimators.engine.information import Information
from dpstats.estimators.level_scores import (
    FEWEST_EVENTS,
    OPEN,
    REACH,
    SHIFTS,
    LevelScores,
    LevelShift,
    level,
    slope_in_middle,
)
from dpstats.estimators.location_scale.bounds import Bounding
from dpstats.estimators.location_scale.event_law import POINTS
from dpstats.estimators.location_scale.placement import Placement
from dpstats.estimators.matrices import ROUNDING, by_precision
from dpstats.estimators.row_scale import RowScale, sums_of_levels, sums_of_values
from dpstats.families import Family
from dpstats.families.quantiles import EARLIEST, MOST_FAILED
from dpstats.families.tapers import Taper
from dpstats.moments.roots import variance_along

_FARTHEST = 1e3  # sigmas; of a level that lies further off, no more is to be said
_LATEST = 8.0  # end of watching, whatever noise makes of a coefficient
_END = 0.1  # steps of the residual at which watching ends, so that a curve serves many levels


class LevelRows(NamedTuple):
    """Rows of one level of a category, or a flag; arrays of shape (k,).

    Attributes
    ----------
    row : array
        What takes coefficients to the line of rows of a level, other columns being as they are where rows
        fail, or to what a flag does.
    way : array
        What a change by 1 of that alone makes of the coefficients. Of a flag rows of both values move, about
        where the failures are.
    apart : array
        What takes coefficients to how far such rows lie from the middle of all.
    share : float
        Of the failures for which others make up: those at a flag, and none at a level.
    """

    row: np.ndarray
    way: np.ndarray
    apart: np.ndarray
    share: float


class Reader(NamedTuple):
    """Where scores of rows of a level were read.

    Attributes
    ----------
    placement : Placement
    cut : Taper
        Of the scores.
    sigma : float
        Of the response, on the user's scale.
    """

    placement: Placement
    cut: Taper
    sigma: float

    def read(
        self, line: LevelRows, params: np.ndarray, scores: LevelScores, hidden: np.ndarray
    ) -> LevelShift:
        """What scores say of a line beyond the step, and a factor of the sd of its error.

        Nothing, where noise hides it: `hidden` is the part of the errors that is a guess of that.
        """
        points, step, sd, sampling = scores.along(line.row)
        if variance_along(hidden, line.row) > WEAK_SHARE / (1 - WEAK_SHARE) * sd**2:
            return LevelShift(0.0, 1.0)
        sizes = np.array([line.apart @ params, step, sd, sampling]) / self.sigma
        moved, *linear = np.clip(sizes, -_FARTHEST, _FARTHEST)
        fraction = self.placement.events.fraction
        curve = level_curve(self.placement.problem.family, self.cut, fraction, float(moved))
        found = level(curve, line.share, points / self.sigma, *linear)
        return LevelShift(found.shift * self.sigma - step, found.factor)


def lines(placement: Placement) -> Iterator[LevelRows]:
    """Each level of a category, a reference among them, and each flag."""
    scale, flags = placement.scale, placement.problem.box.binary.copy()
    middle, back = np.append(1.0, scale.center), to_user(scale.center, scale.scale, True)
    for places, levels, sums in sums_of_levels(scale):
        flags[places - 1] = False
        for values, way in zip(levels, (back @ sums).T, strict=True):
            row = middle.copy()
            row[places] = values
            yield LevelRows(row, np.where(np.abs(way) < ROUNDING, 0.0, way), row - middle, 0.0)
    for j in np.flatnonzero(flags):
        axis, width = np.eye(len(middle))[j + 1], widths(placement)[j]
        # of the failures at the upper of two values, were all at either
        share = float(np.clip((scale.center[j] - placement.problem.box.lower[j]) / width, 0.0, 1.0))
        way = (axis - scale.center[j] * np.eye(len(middle))[0]) / width
        yield LevelRows(width * axis, way, (1 - share) * width * axis, share)


def read_levels(
    result: E,
    moved: Iterable[LevelRows],
    scores: LevelScores,
    hidden: np.ndarray,
    at: Reader,
    blind: np.ndarray,
    few: np.ndarray,
) -> E:
    """A fit with lines of levels and coefficients of flags by what their scores say.

    Of their errors noise hides the part `hidden`, and where that is most, scores say nothing. Nothing bounds
    lines of columns that are `blind`, shape (k,), but an end of effects of levels. What :func:`few_events`
    found may go as far, and so may a line of which scores leave an end open.
    """
    params, added, k = result.params.copy(), 0.0 * result.cov, len(few)
    reaching = few.any(axis=1) & (np.arange(k) > 0)
    added[:k, :k] = OPEN * at.sigma**2 * few @ few.T
    for line in moved:
        own, way = np.append(False, np.abs(line.way[1:]) > ROUNDING), line.way
        counted = np.isclose(few, way[:, None]).all(axis=0) if line.share == 0 else np.any(few[own], axis=0)
        gone, unknown = bool(counted.any()), bool(blind[own].all())
        open_ended, found = gone or unknown, LevelShift(0.0, math.inf)
        if not open_ended:
            found = at.read(line, params[:k], scores, hidden)
            open_ended = math.isinf(found.factor)
        params[:k] += way * found.shift
        if open_ended:  # the estimate is where effects of levels are
            reaching |= own
            far = float(line.apart @ params[:k])
            params[:k] += way * (np.clip(far, -REACH * at.sigma, REACH * at.sigma) - far)
        more = (found.factor**2 - 1) * variance_along(scores.cov, line.row)
        added[:k, :k] += (0.0 if gone else OPEN * at.sigma**2 if open_ended else more) * np.outer(way, way)
    named = np.flatnonzero(reaching & np.isfinite(np.diag(result.cov)[:k]))
    return replace(result, params=params).noisier(added, *problems_at(OPEN_ENDED, named))


def widths(placement: Placement) -> np.ndarray:
    """Of the bounds of the columns, 1 where they are the same; shape (d,)."""
    problem = placement.problem
    return np.where(problem.box.upper > problem.box.lower, problem.box.upper - problem.box.lower, 1.0)[:-1]


def few_events(
    bounding: Bounding[Placement], released: Information | None, whitening: np.ndarray
) -> np.ndarray:
    """What moves the line of rows of one level, one value of a flag, or with a dose alone; shape (k, m).

    Of the m of these of which there may be hardly an event, as far as noise tells; a dose is a number that
    most rows lack. Without any there is no estimate: steps towards infinity stop anywhere, and so would an
    interval. Of a reference level that is the intercept among others, and none of these is known. Events are
    those that placed the columns and those that the information is of as far as it was `released`, weighted
    by their precision.
    """
    scale, events = bounding.placement.scale, bounding.n * bounding.placement.events.fraction
    sums = np.hstack([*sums_of_values(scale), _sums_of_doses(scale)])
    counted, sd = sums[0], np.maximum(np.sqrt(scale.middle_error**2 @ sums[1:] ** 2), 1e-150)
    if released is not None:
        parts = (released.vectors[: len(whitening)].T @ np.linalg.solve(whitening, sums)) ** 2
        own = np.maximum(released.sds @ parts, 1e-150)
        counted, sd = by_precision(counted, sd, released.values @ parts, own), 1 / np.hypot(1 / sd, 1 / own)
    ways = to_user(scale.center, scale.scale, True) @ sums[:, events * (counted - 2 * sd) < FEWEST_EVENTS]
    return np.where(np.abs(ways) < ROUNDING, 0.0, ways)


def _sums_of_doses(scale: RowScale) -> np.ndarray:
    """Sums of a row x~ that are 0 at the end of a number where most rows are, and 1 in typical others."""
    doses = np.flatnonzero((scale.away > 0) & ~scale.binary)
    lower, upper, away = (each[doses] for each in (scale.lower, scale.upper, scale.away))
    below = np.abs(lower) < np.abs(upper)
    near, far = np.where(below, lower, upper), np.where(below, away, -away)
    sums = np.zeros((1 + len(scale.center), len(doses)))
    sums[0], sums[1 + doses, np.arange(len(doses))] = -near / (far - near), 1 / (far - near)
    return sums


def level_curve(family: Family, cut: Taper, fraction: float, slope: float) -> np.ndarray:
    """Newton steps of a level if lives are longer than predicted by `SHIFTS`, in sigmas.

    Parameters
    ----------
    family : Family
    cut : Taper
        Of the scores, with their floor.
    fraction : float
        Of all rows that fail; those of a level are taken to be watched to the same times.
    slope : float
        Coefficient of the level, in sigmas.
    """
    end = np.clip(family.quantile(min(fraction, MOST_FAILED)) - slope, -_LATEST, _LATEST)
    return _curve(family, cut, round(float(end) / _END))


@functools.lru_cache(maxsize=256)
def _curve(family: Family, cut: Taper, end: int) -> np.ndarray:
    """Expected score over the information of the events, rows watched to the same residual.

    The score is the integral of h1 (hazard - true hazard) over those that live. The information is known by
    all rows together, of the events' own as much as the cut leaves of rows that are well predicted, and by
    what the cut leaves where these rows fail: it is taken for the larger of the two.
    """
    z = np.linspace(EARLIEST, end * _END, POINTS)
    true = z - SHIFTS[:, None]
    living, hazard = family.sf(true), family.hazard(true)
    h1 = np.prod(cut.at(z)[:2], axis=0)
    score = np.trapezoid(living * h1 * (family.hazard(z) - hazard), z, axis=1)
    events = np.trapezoid(living * hazard * family.log_hazard_slope(true) ** 2, z, axis=1)
    left = slope_in_middle(score) / events[len(events) // 2]
    known = events * left
    if family.bounded:
        known = np.maximum(known, np.trapezoid(living * hazard * h1 * family.log_hazard_slope(z), z, axis=1))
    return np.maximum.accumulate(score / known)

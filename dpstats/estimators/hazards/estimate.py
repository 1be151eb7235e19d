"""The estimate, its covariance and its flags, from the averaged steps (docs/theory/coxph.md#covariance)."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from dpstats._codes import BURST, CONSTANT, OPEN_ENDED, UNSETTLED, WEAK, problems_at
from dpstats.estimators.alike import alike
from dpstats.estimators.engine.average import Steps, averaged_covariances
from dpstats.estimators.engine.finish import Estimate, guessed, to_user, told_beside, weak
from dpstats.estimators.engine.information import ANY, Information
from dpstats.estimators.hazards.bounds import Bounds
from dpstats.estimators.hazards.failing import MOST_LOST
from dpstats.estimators.hazards.grid import Grid
from dpstats.estimators.hazards.level_steps import read_levels
from dpstats.estimators.level_scores import OPEN
from dpstats.estimators.matrices import SMALLEST
from dpstats.estimators.row_scale import SURE, Box, RowScale
from dpstats.moments import Quantity
from dpstats.moments.baseline import Baseline, Trend
from dpstats.moments.noisy import lacking

_PRIOR = 1.0  # variance of the linear predictor along a direction that is not seen
_CELL = 0.1  # 2 / 12 over the root of 3

Parts: TypeAlias = tuple[RowScale, Grid, Bounds]


@dataclass(frozen=True, kw_only=True)
class HazardEstimate(Estimate):
    """A fit on the user's scale: `params` are the coefficients of the covariates.

    Attributes
    ----------
    baseline : Baseline
    events : Quantity
        Number of failures, with the noise of the release that counted them.
    trend : Trend, optional
        By what the coefficients change as time goes by, where there are failures enough to tell.
    """

    baseline: Baseline
    events: Quantity
    trend: Trend | None = None

    def through(self, way: np.ndarray) -> "HazardEstimate":
        found, k = super().through(way), way.shape[1]
        if found is self:
            return self
        trend = None if self.trend is None else self.trend.through(way[:k])
        return replace(found, baseline=self.baseline.through(self.params, way), trend=trend)


def estimate(
    steps: Steps, axes: np.ndarray, parts: Parts, n: int, few: np.ndarray, box: Box
) -> tuple[HazardEstimate, np.ndarray]:
    """One Newton step from the mean point; inverse information, and the noise of the scores.

    And the covariance of all by lines that may be anywhere, which the first leaves out: of levels of `few`
    failures, shape (m,), or whose scores leave an end open. What moves with these is not estimable where it
    is not declared in the `box` to hold two values. Points are log hazards of pieces and coefficients of
    standardised columns, shape (T, J + d); scores and information are in the coordinates of `axes`, shape
    (J + d, J + d).
    """
    scale, grid, bounds = parts
    j, two_values = grid.count, box.binary
    vague, user = scale.hardly_varies & ~two_values, to_user(scale.center, scale.scale, j)
    sampling, noise, hidden, unsettled = _uncertain(steps, axes, vague, n)
    hidden += _within_levels(steps.information, np.linalg.inv(user @ axes), box.slopes_within, j)
    # along which effects may be larger than the guess
    cancelled = steps.information.cancelled(axes, slice(j, None), two_values, len(vague))
    larger = steps.information.blind(_PRIOR * cancelled)
    mean = np.linalg.solve(axes, steps.points.mean(axis=0))
    turned = axes @ followed(steps.information, mean[j:], grid.follows)
    point, factors, levels = _read(steps, turned, scale, (sampling + noise, sampling), few)
    to_slopes = (user @ axes)[j:]
    guess, before = to_slopes @ hidden @ to_slopes.T, np.diag(_PRIOR * np.sum(to_slopes**2, axis=1))
    wide = np.diag(np.append(np.ones(j), factors)) @ user
    wide = wide @ told_beside(*levels)
    # what is not seen tells nothing of the clock
    ways = ((sampling, turned), (noise, turned), (hidden, axes), (larger, axes))
    sampling, noise, hidden, larger = (wide @ way @ part @ way.T @ wide.T for part, way in ways)
    wrong, slopes = _wrong(grid, point[:j], bounds.c), user @ np.append(np.zeros(j), point[j:])
    whole, point = _by_the_clock(sampling, noise + hidden, larger, slopes, wrong, grid), user @ point
    open_ended = OPEN * user @ levels[0] @ levels[0].T @ user.T
    strata = {"strata": grid.strata} if grid.strata > 1 else {}
    problems = [UNSETTLED] * unsettled + [CONSTANT] * grid.constant + [BURST] * whole.burst
    resting = weak(whole.guess[j:, j:], (whole.cov + open_ended)[j:, j:])
    reaching = levels[0, j:].any(axis=1)
    problems += [*problems_at(WEAK, resting), *lacking(*scale.usable)]
    problems += problems_at(OPEN_ENDED, np.flatnonzero(reaching & two_values))
    found = HazardEstimate(
        point[j:],
        whole.cov[j:, j:].copy(),
        whole.privacy[j:, j:].copy(),
        tuple(problems),
        {"cut c": bounds.c, "R": bounds.radius, "pieces": j, **strata},
        baseline=_baseline(grid, point[:j], whole.cov, whole.privacy),
        events=Quantity(float(grid.events.sum()), grid.noise, grid.noise),
        columns=replace(scale, constant=True).moments(n),
        bias=whole.bias[j:, j:],
    )
    found = guessed(found, guess, before, constant=False, levels_alone=bool(two_values.all()))
    return found.lost(np.flatnonzero(reaching & ~two_values)), open_ended


class _Whole(NamedTuple):
    """Covariances of log hazards and coefficients, with what a wrong clock may do to slopes.

    Attributes
    ----------
    cov, privacy, bias : array, shape (J + d, J + d)
        Of all uncertainty, and its parts by noise and by what is possible.
    guess : array, shape (J + d, J + d)
        The part that rests on how large effects may be, and on where in cells rows lie that turn the clock.
    burst : bool
        Whether failures that come at once may move a slope by more than its error.
    """

    cov: np.ndarray
    privacy: np.ndarray
    bias: np.ndarray
    guess: np.ndarray
    burst: bool


def _by_the_clock(
    sampling: np.ndarray,
    privacy: np.ndarray,
    larger: np.ndarray,
    slopes: np.ndarray,
    wrong: np.ndarray,
    grid: Grid,
) -> _Whole:
    """Covariances with what a clock that is `wrong`, as `_wrong` has it, makes of slopes; 0 of pieces."""
    j, (by_noise, by_cells, by_clock, by_bursts) = grid.count, wrong
    # squares of the true slopes, of which an estimate that is drawn to 0 has the less
    drawn = min(SURE * math.hypot(by_noise, by_cells, by_clock), MOST_LOST)
    squares = np.outer(slopes, slopes) / (1 - drawn) ** 2
    privacy = privacy + squares * by_noise**2
    known = sampling + privacy + squares * (by_cells**2 + by_clock**2)
    # of a slope that is drawn towards 0 errors are as much too short
    wider = np.append(np.ones(j), np.full(len(slopes) - j, 1 + by_bursts))
    sampling, privacy, larger = (np.outer(wider, wider) * part for part in (sampling, privacy, larger))
    # a burst is the most that a slope may be off, and no sd whose square would be added
    bias = squares * ((by_cells + by_bursts) ** 2 + ((1 + by_bursts) * by_clock) ** 2)
    cov = sampling + privacy + bias
    burst = bool((np.diag(cov)[j:] > 2 * np.diag(known)[j:]).any())
    misplaced = squares * (grid.follows * grid.misplaced / (1 - grid.follows)) ** 2
    return _Whole(cov, privacy, bias, larger + misplaced, burst)


def _baseline(grid: Grid, log_hazards: np.ndarray, cov: np.ndarray, cov_privacy: np.ndarray) -> Baseline:
    return Baseline(
        edges=grid.edges,
        clock=grid.clock,
        variances=grid.variances,
        pieces=grid.pieces,
        log_hazards=log_hazards,
        cov=cov,
        cov_privacy=cov_privacy,
        strata=grid.strata,
        failures=grid.seen,
        until=grid.until,
    )


def _read(
    steps: Steps,
    axes: np.ndarray,
    scale: RowScale,
    errors: tuple[np.ndarray, np.ndarray],
    few: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log hazards and coefficients of standardised columns, factors of the sds of the latter; what is open.

    `errors` are covariances of a step in the coordinates of `axes`: of what is seen, and of sampling alone.
    """
    step, d = axes @ steps.step, len(scale.center)
    error, sampling = ((axes @ part @ axes.T)[-d:, -d:] for part in errors)
    beyond, factors, levels = read_levels(scale, steps.points[:, -d:], step[-d:], error, sampling, few)
    point = steps.points.mean(axis=0) + step
    point[-d:] += beyond
    rows = np.append(np.zeros(len(point) - d, dtype=int), np.arange(1, d + 1))
    return point, factors, levels[:, rows]


def _uncertain(
    steps: Steps, axes: np.ndarray, vague: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Covariances by sampling, by noise, and by what is not seen; if it moves."""
    information, j = steps.information, len(axes) - len(vague)
    # a piece that still moves has few events
    sampling, privacy, unsettled = averaged_covariances(steps, axes, information.inverse, n, slice(j, None))
    guess = information.blind(_PRIOR) + information.unbounded(np.linalg.inv(axes)[:, j:], vague)
    privacy += information.error_of(steps.step) + information.error_across(steps.step)
    return sampling, privacy, guess, unsettled


def _within_levels(information: Information, back: np.ndarray, slopes: np.ndarray, pieces: int) -> np.ndarray:
    """Next to any variance of slopes in levels of which it is not seen that the number varies there.

    `back` takes log hazards of pieces, those of the reference level, and coefficients to whitened ones.
    """
    axes = np.column_stack([back[:, :pieces].sum(axis=1), back[:, pieces:]])
    still = alike(information, axes, slopes)
    return np.asarray(ANY * still @ still.T)


def followed(information: Information, slopes: np.ndarray, share: float) -> np.ndarray:
    """From a step that takes the clock for known to one that it follows, in whitened coordinates.

    Where slopes are longer by a share of themselves, the clock that turns with them makes them longer by
    `share` of that once more, and so on; log hazards of pieces go with them.
    """
    inverse, d = information.inverse, len(slopes)
    within = np.linalg.solve(inverse[-d:, -d:], slopes)
    along = np.append(np.zeros(len(inverse) - d), within / max(float(slopes @ within), SMALLEST))
    return np.asarray(np.eye(len(inverse)) + np.outer(inverse[:, -d:] @ within, along) * share / (1 - share))


def _wrong(grid: Grid, log_hazards: np.ndarray, c: float) -> np.ndarray:
    """By what a wrong clock, that follows them, may move slopes, as shares of them; shape (4,).

    By what a larger budget tells, which has more pieces and sees rows at risk for longer; by hazards that
    change within cells; by sampling and noise in the clock; and by failures that come at once.
    """
    moved = grid.moved(log_hazards, c)
    noise = math.hypot(grid.within(log_hazards), grid.unknown(moved))
    by_cells = math.hypot(_in_cells(grid, c), grid.follows * grid.misplaced)
    return np.array([noise, by_cells, grid.clock_error(moved), _bursts(grid, c)]) / (1 - grid.follows)


def _in_cells(grid: Grid, c: float) -> float:
    """Relative bias of slopes where hazards change within cells, and in runs of them that noise hides.

    There hazards, which are positive, change by twice their mean at most, if evenly: with any such change as
    likely, it is `_CELL`. Rows are seen for a cumulative hazard of c of it.
    """
    return _CELL * float(np.minimum(grid.even, c) @ grid.seen) / float(grid.seen.sum())


def _bursts(grid: Grid, c: float) -> float:
    """By what share of itself a slope may lie beyond its estimate, if failures come at once.

    Of rows of which the share F fails in a cell, rows of a higher linear predictor fail with a probability
    that is higher by (1 - F) times their hazard -log(1 - F). Where all fail at its very end, their hazard is
    taken for F, and a slope by these failures alone is (1 - F) / F times that hazard as large as it should
    be. Others that count, before a cumulative hazard of c, hold against it.
    """
    shares, hazard = grid.bunches
    fails = np.clip(-np.expm1(-hazard), 1e-9, 1 - 1e-9)
    lost = shares / (1 - grid.lost(c, 0.0)) * (1 + (1 - fails) * np.log1p(-fails) / fails)
    runs, firsts = np.split(lost, [-grid.strata])
    most = min(max(float(runs.max()), float(firsts.sum())), 1 - 1e-9)
    return most / (1 - most)

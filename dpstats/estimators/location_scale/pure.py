"""Location-scale regression under pure epsilon: one matrix, then scores alone.

Noise of pure epsilon grows with the number of coordinates. The information matrix is not released with the
scores: its shape is that of the event matrix, which is released once, and its size two numbers. The error of
the shape enters only by what the last step moves. See docs/theory/survival.md#pure-epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from dpstats.curator import Curator
from dpstats.estimators.columns import find_columns
from dpstats.estimators.engine.information import Information
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.location_scale.bounds import Choice
from dpstats.estimators.location_scale.estimate import Estimate, Found, estimate
from dpstats.estimators.location_scale.events import (
    Events,
    events_of,
    in_full,
    levels_in_full,
    starting_values,
)
from dpstats.estimators.location_scale.hazard_calibration import checked
from dpstats.estimators.location_scale.information import Known, estimated
from dpstats.estimators.location_scale.newton import located
from dpstats.estimators.location_scale.placement import PlacedByLine
from dpstats.estimators.location_scale.problem import LARGEST_LOG_SIGMA, Problem, sigma_of
from dpstats.estimators.location_scale.pure_bounds import PureBounding
from dpstats.estimators.location_scale.whitening import Whitening
from dpstats.estimators.matrices import by_precision, noise_of_product, not_noise
from dpstats.estimators.row_scale import RowScale
from dpstats.families.score_bounds import score_bounds

Array = np.ndarray

# mean squared residual of the events, in sds of its noise, at least
_LEAST_RESIDUAL = 1.5
# relative sd of what the model says of the information on log sigma
_SQUARE_SD = 0.18
# the least that is believed of it, against what the model says: noise can make it negative
_LEAST_SQUARE = 0.1
# sd of the correlations of coefficients and log sigma, once that of the intercept is known; and the one with
# which they enter the information, so that its own guess, which is none at all, hardly counts
_CROSS_SD, _CROSS_ENTERS = 0.1, 0.03
# noise of the eigenvalues of the events' matrix, per event, up to which rows may be longer than is expected;
# and the square that a response adds
_AFFORDABLE, _RESPONSE = 0.03, 6.0
_UNTOLD = 1e150  # sd of what was not released
# share of the pivot's slopes that is too much once rows are cut and weighted, as the events' line is not:
# 0.28 to 0.49 of them with 30 and 60 % censored, in all families
_PIVOT_EXCESS = 0.35
# event fraction below which intervals widen, and the noise, in sampling sds, from which they do in full;
# chosen on the drives, where 6 % are events, at epsilon 3
_RARE, _NOISY = 0.2, 0.3
# share of fits in which noise alone makes the last two steps differ by more than is taken for its work
_CHANCE = 0.05


@dataclass(frozen=True)
class _Frame:
    """What stays as the iteration moves: released and public numbers only."""

    bounding: PureBounding
    whitening: Whitening
    choice: Choice

    def public(self, point: Array) -> dict[str, Any]:
        """Parameters of the releases at a point."""
        return self.bounding.public(self.choice, self.whitening.matrix, point)

    def pivot(self, point: Array) -> Array:
        return self.bounding.placement.pivot(point)


class _Length(NamedTuple):
    """Of covariates, and of rows with their response, to which the event matrix shortens longer ones."""

    radius: float
    limit: float


@dataclass(frozen=True)
class _Step:
    """One release of the scores per row: where, what, and the noise sds."""

    point: Array
    scores: Array
    noise: Array


def fit_location_scale_pure(curator: Curator, problem: Problem, plan: Plan) -> Estimate:
    """Fit a right-censored location-scale regression under pure epsilon.

    Parameters
    ----------
    curator : Curator
        Of a pure budget; its design has an intercept.
    problem : Problem
    plan : Plan

    Returns
    -------
    Estimate
    """
    scale = find_columns(curator, plan.columns, problem.box, problem.log)
    events = _events(curator, plan.cost("matrix"), scale, problem)
    point = problem.held(starting_values(events, problem), scale)
    if problem.family.bounded:
        # slopes of that line are about f of the model's, f the fraction of events, in simulations of 30 and
        # 60 % censored, and f^0.4 for the drives, of which 6 % fail
        point[1:-1] = events.line[1:] * (2 - events.fraction)
    point = located(curator, problem, plan["location"], scale, point, events.fraction)
    steps, sizes = (*plan["early"], *plan["last"]), plan["sizes"]
    bounding = PureBounding(
        PlacedByLine(problem, scale, events),
        1.0,
        # of one step with the noise of the last two, combined by their precision
        curator.cost_per_row(math.hypot(*steps[-2:])) / problem.units,
        curator.n * problem.units,
        curator.cost_per_row(sizes[-1]) / problem.units,
    )
    whitening = _whitening(bounding, point)
    *early, before_last, last = steps
    for cost, sizes_cost in zip(early, sizes[:-1], strict=True):
        frame = _chosen(bounding, whitening, point)
        information, bounding = _information(curator, sizes_cost, frame, point)
        step = _step(curator, cost, frame, point)
        point, _ = _moved(frame, step, information.shrunk(step.scores, step.noise))
    frame = _chosen(bounding, whitening, point)
    information, _ = _information(curator, sizes[-1], frame, point)
    first = _step(curator, before_last, frame, point)
    middle, _ = _moved(frame, first, information.shrunk(first.scores, first.noise))
    second = _step(curator, last, frame, middle)
    end, capped = _moved(frame, second, np.linalg.solve(information.matrix, second.scores))
    found = _combined([first, second], frame, information, capped)
    far = _far_start(events.fraction, frame.choice.location_noise)
    result = estimate(replace(found, widening=far), bounding, frame.choice, whitening.matrix)
    return checked(curator, plan.cost("check"), bounding.placement, end, result)


def _whitening(bounding: PureBounding, point: Array) -> Whitening:
    """By the events; rows of levels no longer than the radius can be, or the information would take in rows
    that weigh less, and be too large where they alone tell.
    """
    levels = bounding.placement.problem.levels
    if not len(levels):
        return Whitening.of_events(bounding.placement.events, bounding.placement.scale)
    square = bounding.affordable_square(point)
    return Whitening.of_levels(bounding.placement.events, bounding.placement.scale, levels, square)


def _events(curator: Curator, cost: float, scale: RowScale, problem: Problem) -> Events:
    """The event matrix; correlations, if they may be none, are shrunk by what noise makes of none."""
    k, public = len(scale.center) + 1, scale.public()
    length = _event_length(curator, cost, scale)
    release = curator.release("event_matrix", cost, **public, radius=length.radius, limit=length.limit)
    matrix, noise = release.values[0] / release.n, release.sd / release.n
    off = ~np.eye(k + 1, dtype=bool)
    off[k, :] = off[:, k] = False
    if problem.shrinks:
        matrix[off] *= not_noise(np.sum(matrix[off] ** 2), off.sum() * noise**2 / 2)
    events = events_of(matrix, noise, scale, release.n)
    least = _LEAST_RESIDUAL * noise * (1 + float(events.line @ events.line))
    events = replace(events, residual=max(events.residual, least))
    events = levels_in_full(events, scale, problem.levels, length.radius**2)
    return in_full(events, scale, problem.alone, length.radius**2)


def _event_length(curator: Curator, cost: float, scale: RowScale) -> _Length:
    """As long as noise can afford, so that few rows are shortened; at least as long as rows are expected."""
    k = len(scale.center) + 1
    one = curator.noise("event_matrix", cost, **scale.public(), radius=1.0, limit=1.0)[1][0][0, 0]
    room = _AFFORDABLE * curator.n * scale.fraction / (float(one) * math.sqrt(2 * k))
    farthest = 1 + float(np.sum(np.maximum(scale.lower[:-1] ** 2, scale.upper[:-1] ** 2)))
    square = max(k, min(farthest, room - _RESPONSE))
    return _Length(math.sqrt(square), math.sqrt(max(k + 1, min(square + _RESPONSE, room))))


def _far_start(fraction: float, noise: float) -> float:
    """Factor of variances: few steps from a start that rare events leave far off do not always arrive."""
    return 1 + max(_RARE / fraction - 1, 0.0) * min(noise / _NOISY, 1.0)


def _chosen(bounding: PureBounding, whitening: Whitening, point: Array) -> _Frame:
    return _Frame(bounding, whitening, bounding.choose(whitening, point))


def _information(
    curator: Curator, cost: float, frame: _Frame, point: Array
) -> tuple[Information, PureBounding]:
    """Shape of the event matrix, times released sizes; and bounds by the residuals that these tell of."""
    if frame.bounding.placement.problem.known_scale:
        return _location_information(curator, cost, frame, point), frame.bounding
    release = curator.release("information_sizes", cost, **frame.public(point))
    where = frame.bounding.truncation(frame.choice, point)
    unit = score_bounds(where, 1.0).log_sigma_unit
    events = frame.bounding.placement.events
    (trace, square, cross), (trace_sd, square_sd, cross_sd) = release.values[0], release.sds[0]
    share = _location_share(frame, trace, trace_sd, release.n)
    usual = frame.bounding.placement.expected
    square, square_sd = square / release.n / unit**2, square_sd / release.n / unit**2
    guess = events.fraction * frame.bounding.log_sigma_square(where)
    square = max(by_precision(square, square_sd, guess, _SQUARE_SD * guess), _LEAST_SQUARE * guess)
    cross, cross_sd = cross / release.n / unit, cross_sd / release.n / unit
    size = math.sqrt(share * events.fraction * square)
    guess, guess_sd = frame.bounding.correlation(where)
    cross = by_precision(cross, cross_sd, guess * size, guess_sd * size)
    known = replace(events, residual=usual.spread(square, share) * math.exp(2 * point[-1]))
    excess = -_PIVOT_EXCESS * share * frame.pivot(point)[1:]
    shape = _crossed(frame, np.append(cross / events.fraction, excess), size)
    bounding = replace(frame.bounding, placement=replace(frame.bounding.placement, events=known))
    return estimated(shape, events, frame.whitening, square, share), bounding


def _location_information(curator: Curator, cost: float, frame: _Frame, point: Array) -> Information:
    """The same where sigma is known: one size."""
    release, k = curator.release("known_scale_size", cost, **frame.public(point)), frame.bounding.k
    share = _location_share(frame, release.values[0].item(), release.sd, release.n)
    nothing = Known(np.zeros((k, k)), np.linalg.eigh(frame.whitening.matrix)[1], np.full((k, k), _UNTOLD))
    return estimated(nothing, frame.bounding.placement.events, frame.whitening, None, share)


def _location_share(frame: _Frame, trace: float, sd: float, n: int) -> float:
    """E[h1*^2] of the events, from the trace of the information over R^2 and its noise sd."""
    events, w, usual = (
        frame.bounding.placement.events,
        frame.whitening.matrix,
        frame.bounding.placement.expected,
    )
    trace = max(trace, 2 * sd) / n * frame.choice.radius**2
    return float(np.clip(trace / np.trace(w @ events.floored @ w), 0.1, usual.largest_share))


def _crossed(frame: _Frame, cross: Array, size: float) -> Known:
    """What location and log sigma share: an event at x gives x (cross'x)."""
    events, k = frame.bounding.placement.events, len(frame.whitening.matrix)
    matrix, sds = np.zeros((k + 1, k + 1)), np.full((k + 1, k + 1), _UNTOLD)
    matrix[:k, k] = matrix[k, :k] = frame.whitening.matrix @ events.floored @ cross
    sds[:k, k] = sds[k, :k] = _CROSS_ENTERS * size
    axes = np.eye(k + 1)
    axes[:k, :k] = np.linalg.eigh(frame.whitening.matrix)[1]
    return Known(matrix, axes, sds)


def _step(curator: Curator, cost: float, frame: _Frame, point: Array) -> _Step:
    public = frame.public(point)
    if frame.bounding.placement.problem.known_scale:
        release = curator.release("known_scale_alone", cost, **public)
        return _Step(point, release.values[0].ravel() / release.n, release.sds[0].ravel() / release.n)
    release = curator.release("score_alone", cost, **public)
    kappa = frame.choice.radius * score_bounds(public["where"], 1.0).log_sigma_weight
    unit = release.n * np.append(np.ones(len(point) - 1), kappa)
    scores, noise = (
        np.concatenate([part.ravel() for part in parts]) for parts in (release.values, release.sds)
    )
    return _Step(point, scores / unit, noise / unit)


def _moved(frame: _Frame, step: _Step, move: Array) -> tuple[Array, bool]:
    """The point after a step, no longer than the caps; whether one was binding."""
    return frame.whitening.moved(step.point, move, frame.pivot(step.point), LARGEST_LOG_SIGMA)


def _combined(steps: list[_Step], frame: _Frame, information: Information, capped: bool) -> Found:
    """The last steps, weighted by precision."""
    first, last = steps
    # the change of the point in whitened coordinates, as `_moved` made it
    sigma = sigma_of(first.point)
    change = last.point - first.point
    pivot = frame.pivot(first.point)
    location = np.linalg.solve(frame.whitening.matrix, change[:-1] / sigma + pivot * change[-1])
    moved = np.append(location, change[-1])[: len(first.scores)]
    noise = first.noise**2 + last.noise**2 + _shape_error(frame, information, moved, sigma)
    spread = float(np.mean((last.scores - first.scores + information.matrix @ moved) ** 2 / noise))
    weight = first.noise[0] ** -2 / (first.noise[0] ** -2 + last.noise[0] ** -2)
    weights = np.array([weight, 1 - weight])
    step = np.linalg.solve(information.matrix, last.scores)
    by_shape = _shape_error(frame, information, step, sigma)
    return Found(
        np.array([weights @ [first.point, last.point]]),
        np.linalg.inv(information.matrix) @ (weights @ [first.scores, last.scores]),
        weights[0] ** 2 * first.noise**2 + weights[1] ** 2 * last.noise**2 + by_shape,
        information,
        max(1.0, spread / float(scipy.stats.chi2.isf(_CHANCE, len(noise)) / len(noise))),
        capped,
    )


def _shape_error(frame: _Frame, information: Information, step: Array, sigma: float) -> Array:
    """Variance of the scores that an error of the information makes of a step."""
    events, w, k = frame.bounding.placement.events, frame.whitening.matrix, frame.bounding.k
    noise = information.unit[0] ** 2 / events.fraction * events.noise
    sds = np.full((k, k), noise / math.sqrt(2))
    np.fill_diagonal(sds, noise * events.noise_ratio)
    location = np.diag(w @ noise_of_product(sds, w @ step[:k]) @ w)
    if len(step) == k:
        return location
    # an error of the line is one of the pivot, which no longer takes the scores' correlation away
    line = np.linalg.norm(w, axis=1) * noise * math.sqrt((1 + float(events.line @ events.line)) / 2) / sigma
    pivot = line**2 + _CROSS_SD**2 * information.matrix[0, 0] * information.matrix[-1, -1]
    return np.append(location + pivot * float(step[-1]) ** 2, pivot @ step[:k] ** 2)

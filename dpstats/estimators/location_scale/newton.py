"""The iteration: early steps find the neighbourhood, damped tail steps are averaged.

Every step releases the scores and the information matrix jointly (MartingaleScore). A step solves with the
best information matrix known so far. The number of steps is public; nothing stops early.
See docs/theory/survival.md#steps-and-covariance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.columns import find_columns
from dpstats.estimators.engine.information import Information
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.engine.step import CHOOSE, DAMPING
from dpstats.estimators.location_scale.bounds import Bounding, Choice
from dpstats.estimators.location_scale.delayed_expectations import late_information
from dpstats.estimators.location_scale.estimate import (
    Estimate,
    Found,
    averaged,
    estimate,
    needed,
    step_to_params,
)
from dpstats.estimators.location_scale.event_expectations import expected
from dpstats.estimators.location_scale.event_law import LEAST_SAID
from dpstats.estimators.location_scale.events import (
    Events,
    release_events,
    starting_values,
    with_correlations,
)
from dpstats.estimators.location_scale.hazard_calibration import checked
from dpstats.estimators.location_scale.information import Known, Late, Released, estimated
from dpstats.estimators.location_scale.inspections import PlacedByInspections, placed
from dpstats.estimators.location_scale.placement import PlacedByLine
from dpstats.estimators.location_scale.plan import after_columns
from dpstats.estimators.location_scale.problem import LARGEST_LOG_SIGMA, Problem, sigma_of
from dpstats.estimators.location_scale.score_release import Reading, release_scores
from dpstats.estimators.location_scale.sign_plan import make_sign_plan
from dpstats.estimators.location_scale.sign_score import fit_by_sign_score
from dpstats.estimators.location_scale.whitening import Whitening
from dpstats.estimators.matrices import by_precision
from dpstats.estimators.row_scale import RowScale

Array = np.ndarray

# Of the early steps where noise is below this many sampling sds, and bounds therefore wide: if the model does
# not hold there, the events' matrix may be less than half the slope of the scores, and full steps would go to
# and fro. Where there is more noise, half steps would not arrive.
_EARLY_DAMPING, _QUIET = 0.5, 0.3
# relative sd of the spread of residuals about the events' line that the family expects: in simulations it was
# .9 to 2 times as large, and up to 3 times with all but 5 % censored at random
_SPREAD_SD = 0.5
# Newton needs this many times k^2 events times mu, and this many for any k. With less, and if more than this
# share of rows fails, the slopes follow the signs of residuals, which say little of fewer failures.
_NEWTON, _LEAST_SIGNAL, _LEAST_FRACTION = 10.0, 500.0, 0.2
# Where signs are no way out, this many times k^2 leave intervals as they are: they have the error of the
# matrix. With 1.9 and 2.6 times k^2, of 50 and 30 levels, slopes held, and log sigma in 81 and 71 % of fits.
MATRIX_SEEN = 4.0
_INSPECTED = 0.15  # relative sd of what inspections say of E[h1*^2]
_UNTOLD = 0.5  # sd of log sigma, a factor of e at two, that tells too little of it
_LEAST_VARIED = 1e-3  # of the information on log sigma, where inspections tell nothing of it


@dataclass
class _State:
    """Where the iteration stands: released and public numbers only."""

    point: Array
    whitening: Whitening
    choice: Choice
    released: Released = field(default_factory=Released)


def fit_location_scale(curator: Curator, problem: Problem, plan: Plan) -> Estimate:
    """Fit a right-censored location-scale regression from noisy releases.

    Parameters
    ----------
    curator : Curator
        Its design has an intercept; `plan.total`, a mu, must be left of its total.
    problem : Problem
    plan : Plan

    Returns
    -------
    Estimate
    """
    scale = find_columns(curator, plan.columns, problem.box, problem.log)
    signal = curator.n * curator.cost_per_row(plan.total)
    noisy = problem.shrinks and is_noisy(signal, scale)
    if noisy and scale.fraction > _LEAST_FRACTION and len(scale.center):
        return fit_by_sign_score(
            curator, problem, make_sign_plan(after_columns(plan), len(scale.center) + 1), scale
        )
    events = release_events(curator, plan.cost("matrix"), scale, noisy, problem.alone)
    point = located(
        curator,
        problem,
        plan["location"],
        scale,
        problem.held(starting_values(events, problem), scale),
        events.fraction,
    )
    # a matrix is worth more in a step where noise is small
    certain = signal * events.fraction * curator.cost_per_row(plan.total)
    share = float(np.clip(0.5 * math.sqrt(certain / 1000), 0.4, 1.0))
    inspections = plan["inspections"]
    placement = placed(curator, inspections[0], problem, scale, events, point)
    tail, units = curator.cost_per_row(plan.cost("tail")), problem.units
    bounding = Bounding(placement, share, tail / units, curator.n * units)
    whitening = Whitening.of_events(events, scale)
    state = _State(point, whitening, bounding.first(point))
    bounding = _early(curator, plan, bounding, state)
    found = _tail(curator, plan, bounding, state)
    need = _need(state.choice, bounding, signal)
    result = _with_its_scale(estimate(found, bounding, state.choice, state.whitening.matrix, need), problem)
    point = found.points.mean(axis=0)
    result = checked(curator, plan.cost("check"), bounding.placement, point, result)
    return replace(result, columns=with_correlations(result.columns, events))


def _with_its_scale(result: Estimate, problem: Problem) -> Estimate:
    """Nothing is known where inspections do not tell log sigma, as of all rows at one time they do not.

    All coefficients over sigma may be known then, and none of them is.
    """
    if problem.intervals and result.cov[-1, -1] > _UNTOLD**2:
        return replace(result, problems=()).lost(np.arange(len(result.params)))
    return result


def is_noisy(signal: float, scale: RowScale) -> bool:
    """Whether a matrix of k^2 entries would be mostly noise, or not be arrived at, where n mu is `signal`."""
    return signal * scale.fraction < max(_NEWTON * (len(scale.center) + 1) ** 2, _LEAST_SIGNAL)


def _need(choice: Choice, bounding: Bounding[PlacedByLine], signal: float) -> float:
    """How far noise is beyond what can be used; also that of matrices, where they cannot be done without."""
    need = needed(choice, bounding)
    if bounding.placement.problem.shrinks:
        return need
    k, scale = bounding.k, bounding.placement.scale
    return max(need, k * math.sqrt(MATRIX_SEEN / max(signal * scale.fraction, 1e-300)))


def located(
    curator: Curator,
    problem: Problem,
    costs: tuple[float, ...],
    scale: RowScale,
    point: Array,
    fraction: float,
) -> Array:
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


def _early(
    curator: Curator, plan: Plan, bounding: Bounding[PlacedByLine], state: _State
) -> Bounding[PlacedByLine]:
    """Steps towards the root, each shrunk by what noise alone would have made of it."""
    _, before, after = plan["inspections"]
    for t, mu in enumerate(plan["early"]):
        if t == CHOOSE:
            bounding = _placed_again(curator, before, bounding, state)
            state.choice = bounding.choose(state.whitening, state.point)
            # narrow bounds gave a smaller matrix; mixed with the wide ones' it would make steps too long
            state.released = Released()
        read, information = _step(curator, mu, bounding, state, forget=True)
        damping = _EARLY_DAMPING if state.choice.location_noise < _QUIET else 1.0
        step = information.shrunk(read.scores, read.noise)
        state.point, _ = state.whitening.moved(state.point, step, read.pivot, LARGEST_LOG_SIGMA, damping)
        if t > 0:
            _rewhiten(bounding, state, information)
    bounding = _placed_again(curator, after, bounding, state)
    state.choice = bounding.choose(state.whitening, state.point)
    return bounding


def _placed_again(
    curator: Curator, mu: float, bounding: Bounding[PlacedByLine], state: _State
) -> Bounding[PlacedByLine]:
    """With what inspections say where the steps have come to; a matrix about another pivot is forgotten."""
    old = bounding.placement
    if not old.problem.intervals:
        return bounding
    new = placed(curator, mu, old.problem, old.scale, old.events, state.point)
    state.released = Released()
    return replace(bounding, placement=new)


def _tail(curator: Curator, plan: Plan, bounding: Bounding[PlacedByLine], state: _State) -> Found:
    points, scores, noise, capped = [], [], [], []
    for mu in plan["tail"]:
        read, information = _step(curator, mu, bounding, state, forget=False)
        points.append(state.point)
        scores.append(read.scores)
        noise.append(read.noise)
        step = DAMPING * np.linalg.solve(information.matrix, read.scores)
        state.point, short = state.whitening.moved(state.point, step, read.pivot, LARGEST_LOG_SIGMA)
        capped.append(short)
    last = np.mean(points[len(points) // 2 :], axis=0)
    to_params = step_to_params(last, bounding.placement.pivot(last), state.whitening.matrix)
    found = np.array(points), np.array(scores), np.array(noise)
    return averaged(*found, information, to_params, np.array(capped))


def _step(
    curator: Curator, mu: float, bounding: Bounding[PlacedByLine], state: _State, forget: bool
) -> tuple[Reading, Information]:
    read = release_scores(curator, mu, bounding, state.choice, state.whitening.matrix, state.point)
    state.released.add(read.matrix, read.matrix_sd, state.whitening.matrix, forget)
    return read, _information(bounding, state)


def _information(bounding: Bounding[PlacedByLine], state: _State) -> Information:
    events, f = bounding.placement.events, bounding.placement.events.fraction
    usual, known = bounding.placement.expected, state.released.known(state.whitening.matrix, events)
    if bounding.placement.problem.delayed:
        return _delayed_information(bounding, state, known)
    if bounding.placement.problem.intervals:
        return _inspected_information(bounding, state, known)
    share = usual.location_share
    if not bounding.placement.problem.family.proportional:
        share = _location_share(
            bounding, state, known, share, 0.15 * usual.slope**2, 0.2, usual.largest_share
        )
    if bounding.placement.problem.known_scale:
        return estimated(known, events, state.whitening, None, share)
    spread = _spread(events, usual.residual_square, sigma_of(state.point))
    square = f * float(np.clip(usual.log_sigma_square(spread, share), 0.6, 4.0))
    return estimated(known, events, state.whitening, square, share, _pivot_error(events, state.point))


def _pivot_error(events: Events, point: Array) -> float:
    """sd of a slope of the line through the events, in sigmas."""
    return events.slope_noise / sigma_of(point)


def _spread(events: Events, usual: float, sigma: float) -> float:
    """Variance of the events' residuals: as measured, and as the family has it where noise made that up.

    With a response that is well explained noise is several times what is left of it, and more information on
    log sigma than there is would give it a short interval about a place where the steps do not arrive.
    """
    unit = events.fraction * sigma**2
    measured, noise = events.residual / unit, events.residual_noise / unit
    return float(by_precision(measured, noise, usual, _SPREAD_SD * usual))


def _delayed_information(bounding: Bounding[PlacedByLine], state: _State, known: Known) -> Information:
    """Where rows enter late, f does not tell how much events say, nor in which directions."""
    late = late_information(bounding.placement, state.whitening, state.choice, state.point)
    events, bounded = bounding.placement.events, bounding.placement.problem.family.bounded
    largest = 1.0 if bounded else max(1.0, 1.5 * late.share)
    share = _location_share(bounding, state, known, late.share, 0.3 * late.share, LEAST_SAID, largest)
    k, told = bounding.k, bounding.placement.problem.known_scale
    beyond = late.beyond(share, events.fraction)
    return estimated(
        known,
        events,
        state.whitening,
        None if told else late.log_sigma * events.fraction,
        share,
        _pivot_error(events, state.point),
        Late(beyond[:k, :k] if told else beyond, late.error(events.spread)),
    )


def _inspected_information(bounding: Bounding[PlacedByLine], state: _State, known: Known) -> Information:
    """Where failures lie between two times, what is said follows from between which residuals they do."""
    placement, events = bounding.placement, bounding.placement.events
    law = placement.law(state.point)
    left = law.left(law.cut(state.choice.c, state.choice.floor))
    most = max(1.0, 1.5 * left.location)
    share = _location_share(
        bounding, state, known, left.location, _INSPECTED * left.location, LEAST_SAID, most
    )
    square = events.fraction * max(left.log_sigma, LEAST_SAID)
    if isinstance(placement, PlacedByInspections):
        square *= max(placement.varied(state.point), _LEAST_VARIED)
    told, error = placement.problem.known_scale, _pivot_error(events, state.point)
    return estimated(known, events, state.whitening, None if told else square, share, error)


def _location_share(
    bounding: Bounding[PlacedByLine],
    state: _State,
    known: Known,
    guess: float,
    sd: float,
    least: float,
    largest: float,
) -> float:
    """E[h1*^2] of the events: what is expected, with the sd of that, corrected by the releases."""
    w, k, events = state.whitening.matrix, len(state.whitening.matrix), bounding.placement.events
    size = float(np.trace(w @ events.floored @ w))
    seen = float(np.trace(known.mean[:k, :k])) / size
    seen_sd = max(float(np.linalg.norm(np.diag(known.sds)[:k])) / size, 1e-9)
    return float(np.clip((guess / sd**2 + seen / seen_sd**2) / (sd**-2 + seen_sd**-2), least, largest))


def _rewhiten(bounding: Bounding[PlacedByLine], state: _State, information: Information) -> None:
    k = bounding.k
    location = information.matrix[:k, :k] / information.unit[0] ** 2
    state.whitening = state.whitening.improved(location, state.choice.radius, bounding.placement.scale)

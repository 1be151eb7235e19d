"""The iteration: early steps find the neighbourhood, damped tail steps are averaged.

Every step releases the scores and the information matrix jointly (MartingaleScore). A step solves with the
best information matrix known so far. The number of steps is public; nothing stops early.
See docs/theory/survival.md#steps-and-covariance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.columns import RowScale, find_columns
from dpstats.estimators.location_scale.check import checked
from dpstats.estimators.location_scale.delayed_expectations import late_information
from dpstats.estimators.location_scale.estimate import Averaged, Estimate, estimate, needed
from dpstats.estimators.location_scale.event_expectations import expected
from dpstats.estimators.location_scale.event_law import LEAST_SAID
from dpstats.estimators.location_scale.events import Events, release_events, starting_values
from dpstats.estimators.location_scale.information import Accumulator, Information
from dpstats.estimators.location_scale.plan import Plan
from dpstats.estimators.location_scale.problem import LOG_SIGMA_RANGE, Problem
from dpstats.estimators.location_scale.score_release import per_row
from dpstats.estimators.location_scale.sign_score import fit_by_sign_score
from dpstats.estimators.location_scale.signs_plan import make_signs_plan
from dpstats.estimators.location_scale.truncation import Bounding, Choice
from dpstats.estimators.location_scale.whitening import Whitening
from dpstats.estimators.matrices import by_precision, not_noise

Array = np.ndarray

_DAMPING = 0.35  # of the tail steps; their average is unchanged by it, their scatter is smaller
# Of the early steps where noise is below this many sampling sds, and bounds therefore wide: if the model does
# not hold there, the events' matrix may be less than half the slope of the scores, and full steps would go to
# and fro. Where there is more noise, half steps would not arrive.
_EARLY_DAMPING, _QUIET = 0.5, 0.3
_LONGEST, _LARGEST_LOG_SIGMA = 2.0, 0.5  # caps of one step
# relative sd of the spread of residuals about the events' line that the family expects: in simulations it was
# .9 to 2 times as large, and up to 3 times with all but 5 % censored at random
_SPREAD_SD = 0.5
_CHOOSE = 4  # early step before which bounds are chosen from the releases so far
# Newton needs this many times k^2 events times mu, and this many for any k. With less, and if more than this
# share of rows fails, the slopes follow the signs of residuals, which say little of fewer failures.
_NEWTON, _LEAST_SIGNAL, _LEAST_FRACTION = 10.0, 500.0, 0.2
# Where signs are no way out, this many times k^2 leave intervals as they are: they have the error of the
# matrix. With 1.9 and 2.6 times k^2, of 50 and 30 levels, slopes held, and log sigma in 81 and 71 % of fits.
_MATRIX = 4.0


@dataclass
class _State:
    """Where the iteration stands: released and public numbers only."""

    gamma: Array
    log_sigma: float
    whitening: Whitening
    choice: Choice
    released: Accumulator = field(default_factory=Accumulator)

    @property
    def sigma(self) -> float:
        return math.exp(self.log_sigma)

    def move(self, pivot: Array, location: Array, log_sigma: float) -> None:
        """A step in whitened coordinates; log sigma moves with the location of the events held."""
        sigma = self.sigma
        self.gamma = self.gamma + sigma * (self.whitening.matrix @ location) - sigma * pivot * log_sigma
        self.log_sigma = float(np.clip(self.log_sigma + log_sigma, *LOG_SIGMA_RANGE))


@dataclass(frozen=True)
class _Step:
    """One release on the scale of sums per row: scores, their noise, and the pivot they were read at."""

    scores: Array
    noise: Array
    information: Information
    pivot: Array


def fit_location_scale(curator: Curator, problem: Problem, plan: Plan) -> Estimate:
    """Fit a right-censored location-scale regression from noisy releases.

    Parameters
    ----------
    curator : Curator
        Its design has an intercept; `plan.mu` must be left of its total.
    problem : Problem
    plan : Plan

    Returns
    -------
    Estimate
    """
    scale = find_columns(curator, plan.columns, problem.box, problem.log)
    signal = curator.n * curator.cost_per_row(plan.mu)
    noisy = problem.shrinks and is_noisy(signal, scale)
    if noisy and scale.fraction > _LEAST_FRACTION and len(scale.center):
        return fit_by_sign_score(curator, problem, make_signs_plan(plan.rest, len(scale.center) + 1), scale)
    events = release_events(curator, plan.matrix, scale, noisy, problem.alone)
    gamma, sigma = starting_values(events, problem)
    gamma[0] = located(curator, problem, plan.location, scale, events, gamma, sigma)
    share = _matrix_share(curator.n * events.fraction * curator.cost_per_row(plan.mu) ** 2)
    bounding = Bounding(problem, scale, events, share, curator.cost_per_row(plan.tail_total), curator.n)
    whitening = Whitening.of_events(events, scale)
    state = _State(gamma, math.log(sigma), whitening, bounding.first(gamma, sigma))
    _early(curator, plan, bounding, state)
    averaged = _tail(curator, plan, bounding, state)
    need = _need(state.choice, bounding, signal)
    result = estimate(averaged, bounding, state.choice, state.whitening, need=need)
    point = averaged.points.mean(axis=0)
    return checked(curator, plan.check, problem, scale, bounding.hazard(point), point, result)


def is_noisy(signal: float, scale: RowScale) -> bool:
    """Whether a matrix of k^2 entries would be mostly noise, or not be arrived at, where n mu is `signal`."""
    return signal * scale.fraction < max(_NEWTON * (len(scale.center) + 1) ** 2, _LEAST_SIGNAL)


def _need(choice: Choice, bounding: Bounding, signal: float) -> float:
    """How far noise is beyond what can be used; also that of matrices, where they cannot be done without."""
    need = needed(choice, bounding)
    if bounding.problem.shrinks:
        return need
    k, scale = len(bounding.events.square), bounding.scale
    return max(need, k * math.sqrt(_MATRIX / max(signal * scale.fraction, 1e-300)))


def _matrix_share(signal: float) -> float:
    """Weight of the information matrix in a step: it is worth more when noise is small."""
    return float(np.clip(0.5 * math.sqrt(signal / 1000), 0.4, 1.0))


def located(
    curator: Curator,
    problem: Problem,
    costs: tuple[float, ...],
    scale: RowScale,
    events: Events,
    gamma: Array,
    sigma: float,
) -> float:
    """Intercept after the location steps: exact in one step for a pure shift where the hazard is low."""
    gamma, usual = gamma.copy(), expected(problem.family, events.fraction)
    for mu in costs:
        release = curator.release(
            "location_score",
            mu,
            **scale.public(),
            family=problem.family,
            c=2.0,
            gamma=gamma,
            sigma=sigma,
            floor=usual.first_floor,
        )
        excess = float(release.values[0].item()) / release.n / events.fraction / usual.slope
        gamma[0] += sigma * float(np.clip(math.log(max(1 + excess, 0.22)) / usual.slope, -1.5, 3.0))
    return float(gamma[0])


def _early(curator: Curator, plan: Plan, bounding: Bounding, state: _State) -> None:
    """Steps towards the root, each shrunk by what noise alone would have made of it."""
    for t, mu in enumerate(plan.early):
        if t == _CHOOSE:
            state.choice = bounding.choose(state.whitening, state.gamma, state.sigma)
            # narrow bounds gave a smaller matrix; mixed with the wide ones' it would make steps too long
            state.released = Accumulator()
        step = _step(curator, mu, bounding, state, forget=True)
        inverse = np.linalg.inv(step.information.matrix)
        move = inverse @ step.scores
        by_noise = float(np.diag(inverse) @ step.noise**2)
        move = move * not_noise(step.scores @ move, by_noise)
        _move(state, step, move, _EARLY_DAMPING if state.choice.location_noise < _QUIET else 1.0)
        if t > 0:
            _rewhiten(bounding, state, step.information)
    state.choice = bounding.choose(state.whitening, state.gamma, state.sigma)


def _tail(curator: Curator, plan: Plan, bounding: Bounding, state: _State) -> Averaged:
    points, scores, noise, capped = [], [], [], False
    for mu in plan.tail:
        step = _step(curator, mu, bounding, state, forget=False)
        points.append(np.append(state.gamma, state.log_sigma))
        scores.append(step.scores)
        noise.append(step.noise**2)
        move = np.linalg.solve(step.information.matrix, step.scores)
        capped |= _move(state, step, _DAMPING * move)
    return Averaged(
        np.array(points),
        np.array(scores),
        np.sqrt(np.mean(noise, axis=0)),
        step.information,
        capped,
    )


def _step(curator: Curator, mu: float, bounding: Bounding, state: _State, forget: bool) -> _Step:
    choice, sigma = state.choice, state.sigma
    where = bounding.truncation(choice, state.gamma, sigma)
    bounds, pivot = bounding.bounds(where), bounding.pivot(state.gamma, sigma)
    release = curator.release(
        "martingale_score",
        mu,
        **bounding.scale.public(),
        where=where,
        gamma=state.gamma,
        sigma=sigma,
        pivot=pivot,
        whitening=state.whitening.matrix,
        radius=choice.radius,
        matrix_share=bounding.matrix_share,
    )
    read = per_row(release, bounds, choice.radius)
    state.released.add(read.matrix, read.matrix_sd, forget)
    return _Step(read.scores, read.noise, _information(bounding, state), pivot)


def _information(bounding: Bounding, state: _State) -> Information:
    events, f = bounding.events, bounding.events.fraction
    usual = bounding.expected
    if bounding.problem.delayed:
        return _delayed_information(bounding, state)
    share = usual.location_share
    if not bounding.problem.family.proportional:
        share = _location_share(bounding, state, share, 0.15 * usual.slope**2, 0.2, usual.largest_share)
    spread = _spread(events, usual.residual_square, state.sigma)
    square = f * float(np.clip(usual.log_sigma_square(spread, share), 0.6, 4.0))
    return state.released.estimate(events, state.whitening, square, share)


def _spread(events: Events, usual: float, sigma: float) -> float:
    """Variance of the events' residuals: as measured, and as the family has it where noise made that up.

    With a response that is well explained noise is several times what is left of it, and more information on
    log sigma than there is would give it a short interval about a place where the steps do not arrive.
    """
    unit = events.fraction * sigma**2
    measured, noise = events.residual / unit, events.residual_noise / unit
    return float(by_precision(measured, noise, usual, _SPREAD_SD * usual))


def _delayed_information(bounding: Bounding, state: _State) -> Information:
    """As above; where rows enter late, f does not tell how much events say, nor in which directions."""
    late = late_information(bounding, state.whitening, state.choice, state.gamma, state.sigma)
    events, bounded = bounding.events, bounding.problem.family.bounded
    largest = 1.0 if bounded else max(1.0, 1.5 * late.share)
    share = _location_share(bounding, state, late.share, 0.3 * late.share, LEAST_SAID, largest)
    return state.released.estimate(
        events,
        state.whitening,
        late.log_sigma * events.fraction,
        share,
        late.error(events.spread),
        late.beyond(share, events.fraction),
    )


def _location_share(
    bounding: Bounding, state: _State, guess: float, sd: float, least: float, largest: float
) -> float:
    """E[h1*^2] of the events: what is expected, with the sd of that, corrected by the releases."""
    w, k, events = state.whitening.matrix, len(state.gamma), bounding.events
    size = float(np.trace(w @ events.floored @ w)) / k
    seen = float(np.trace(state.released.mean[:k, :k])) / k / size
    seen_sd = max(state.released.precision[0, 0] ** -0.5 / math.sqrt(k) / size, 1e-9)
    return float(np.clip((guess / sd**2 + seen / seen_sd**2) / (sd**-2 + seen_sd**-2), least, largest))


def _move(state: _State, step: _Step, move: Array, damping: float = 1.0) -> bool:
    """Take a step, no longer than the caps, then damped; returns whether a cap was binding."""
    location, log_sigma = move[:-1], float(move[-1])
    length = float(np.linalg.norm(location))
    capped = length > _LONGEST or abs(log_sigma) > _LARGEST_LOG_SIGMA
    if length > _LONGEST:
        location = location * (_LONGEST / length)
    log_sigma = float(np.clip(log_sigma, -_LARGEST_LOG_SIGMA, _LARGEST_LOG_SIGMA))
    state.move(step.pivot, damping * location, damping * log_sigma)
    return capped


def _rewhiten(bounding: Bounding, state: _State, information: Information) -> None:
    location = information.matrix[:-1, :-1] / information.unit[0] ** 2
    better = state.whitening.improved(location, state.choice.radius, bounding.scale)
    state.released.turn(better.matrix @ np.linalg.inv(state.whitening.matrix))
    state.whitening = better

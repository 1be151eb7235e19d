"""The iteration: early steps find the neighbourhood, damped tail steps are averaged.

Every step releases scores and information jointly; a step solves with the best information known so far.
The number of steps is public; nothing stops early. See docs/theory/glm.md#steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.gram.bounds import mean_weight
from dpstats.estimators.matrices import not_noise
from dpstats.estimators.newton.bounds import Bounds, Chooser
from dpstats.estimators.newton.check import Read, check_bends
from dpstats.estimators.newton.estimate import Averaged, Estimate, estimate
from dpstats.estimators.newton.information import (
    FORGET,
    Accumulator,
    Information,
    dispersion,
    past,
    usable,
)
from dpstats.estimators.newton.located import Located, locate
from dpstats.estimators.newton.plan import Plan
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.newton.whitening import Whitening
from dpstats.families.bounded_score import logistic_information_weight

Array = np.ndarray

_DAMPING = 0.4  # of the tail steps; their average is unchanged by it, their scatter is smaller
_LONGEST = 2.0  # cap of one step, in sds of the linear predictor
_STEEPEST = 3.0  # cap of what a step may add to the log mean of any row that counts in full
_CHOOSE = 4  # early step before which bounds are chosen from the releases so far
_LEVEL_SD = 0.3  # of its relative change between steps
_DISPERSION_SD = 0.5  # relative, of what is known of the dispersion before any release
_LEVELS = (1 / 15, 1.5)  # mean curvature against that at the mean response
_ALIKE = 1.25  # bounds that differ by no more give matrices that may be mixed
_LOST = 1 / 16  # share of weight that rows of large means may have lost where scores are limited


@dataclass
class _State:
    """Where the iteration stands: released and public numbers only."""

    beta: Array
    whitening: Whitening
    bounds: Bounds
    level: float
    dispersion: float
    information: Accumulator = field(default_factory=Accumulator)
    variability: Accumulator = field(default_factory=Accumulator)


@dataclass(frozen=True)
class _Step:
    """Scores per row in whitened coordinates, their noise, and the information."""

    scores: Array
    noise: float
    information: Information


def fit_newton(curator: Curator, problem: Problem, plan: Plan) -> Estimate:
    """Fit a generalised linear model from noisy releases.

    Parameters
    ----------
    curator : Curator
        `plan.mu` must be left of its total.
    problem : Problem
    plan : Plan

    Returns
    -------
    Estimate
    """
    located = locate(curator, plan.first, plan.octaves, problem, _usual_noise(curator, problem, plan))
    chooser = Chooser(problem, located, curator.n, curator.cost_per_row(plan.tail_total))
    whitening = Whitening.none(problem.k)
    start = _start(problem, located, curator.n)
    state = _State(
        start,
        whitening,
        chooser.first(whitening),
        chooser.start_level,
        chooser.start_dispersion,
    )
    _early(curator, plan, chooser, state)
    averaged = _tail(curator, plan, chooser, state, start)
    found = estimate(averaged, problem, located, state.bounds, curator.n)
    read = _read(problem, located, state, found)
    moved, told = check_bends(curator, plan.check, problem, located, read, found)
    return replace(found, cov=found.cov + moved, problems=found.problems + told)


def _read(problem: Problem, located: Located, state: _State, found: Estimate) -> Read:
    """How rows were read at the end: where none is long, none has lost weight."""
    bounds, longest = state.bounds, state.whitening.longest_square(located)
    lost = max(1 - mean_weight(problem.k, bounds.radius), _LOST * problem.family.unlimited)
    phi = 1.0 if found.dispersion is None else found.dispersion.value
    all_count = bounds.radius**2 >= longest * (1 - 1e-9)
    return Read(state.whitening.matrix, 0.0 if all_count else lost, bounds.score, phi)


def _usual_noise(curator: Curator, problem: Problem, plan: Plan) -> float:
    """Privacy noise of a coefficient in sampling sds, if scores were limited to 4 sds."""
    return 2 * 4 * math.sqrt(1.25 * problem.k / curator.n) / curator.cost_per_row(plan.tail_total)


def _start(problem: Problem, located: Located, n: int) -> Array:
    """The mean response in the intercept, nothing elsewhere."""
    beta = np.zeros(problem.k)
    if problem.intercept:
        mean, family = located.mean, problem.family
        least = 1e-6 if family.unlimited else min(max(2 / n, 1e-4), 0.5)
        mean = min(max(mean, family.support[0] + least), family.support[1] - least)
        beta[0] = float(family.link(np.array(mean))) - located.offset
    return beta


def _early(curator: Curator, plan: Plan, chooser: Chooser, state: _State) -> None:
    """Steps towards the root, each shrunk by what noise alone would have made of it."""
    for t, mu in enumerate(plan.early):
        if t == _CHOOSE:
            _choose(chooser, state)
        step = _step(curator, mu, chooser, state)
        move = step.information.solve(step.scores)
        by_noise = step.noise**2 * float(np.sum(step.information.seen / step.information.used))
        _move(state, move * not_noise(step.scores @ move, by_noise))
        _rewhiten(chooser, state, step.information)
        curved = not chooser.problem.family.free_dispersion
        state.information.forget(
            past(state.information, step.information, state.whitening.matrix) if curved else FORGET
        )
        state.variability.forget(FORGET)
    _choose(chooser, state)


def _choose(chooser: Chooser, state: _State) -> None:
    before = state.bounds
    state.bounds = chooser.choose(state.whitening, state.level, state.dispersion)
    if _changed(before, state.bounds):
        # matrices under narrower bounds are smaller, and less noisy: they would outweigh what counts now
        state.information, state.variability = Accumulator(), Accumulator()


def _changed(before: Bounds, after: Bounds) -> bool:
    pairs = [(before.radius, after.radius)]
    if before.score is not None and after.score is not None:
        pairs.append((before.score.limit, after.score.limit))
        pairs.append((before.score.curvature_limit, after.score.curvature_limit))
    return any(not 1 / _ALIKE < new / old < _ALIKE for old, new in pairs)


def _tail(curator: Curator, plan: Plan, chooser: Chooser, state: _State, start: Array) -> Averaged:
    points, scores, matrices, noise, capped = [], [], [], [], False
    step = None
    for mu in plan.tail:
        step = _step(curator, mu, chooser, state)
        points.append(state.beta.copy())
        scores.append(step.scores)
        matrices.append(state.information.releases[-1].matrix)
        noise.append(step.noise**2)
        capped |= _move(state, _DAMPING * step.information.solve(step.scores))
    assert step is not None
    return Averaged(
        np.array(points),
        np.array(scores),
        np.array(matrices),
        math.sqrt(np.mean(noise)),
        step.information,
        state.whitening.matrix,
        state.variability,
        capped,
        start,
    )


def _step(curator: Curator, mu: float, chooser: Chooser, state: _State) -> _Step:
    """Release, and take the matrices into account."""
    bounds = state.bounds
    public = dict(
        **chooser.located.public(), beta=state.beta, whitening=state.whitening.matrix, radius=bounds.radius
    )
    if bounds.score is None:
        release = curator.release("logistic_score", mu, **public)
        tau = logistic_information_weight(bounds.radius)
    else:
        release = curator.release("glm_score", mu, **public, score=bounds.score)
        tau, kappa = bounds.score.matrix_weights(bounds.radius)
        per_row = release.n * kappa
        state.variability.add(release.values[2] / per_row, release.sd / per_row, state.whitening.matrix)
    n, sd = release.n, release.sd / release.n
    state.information.add(release.values[1] / n / tau, sd / tau, state.whitening.matrix)
    information = usable(state.information, state.whitening.matrix)
    state.level = _level(chooser, state, information)
    if bounds.score is not None:
        state.dispersion = _dispersion(chooser, state, information)
    return _Step(release.values[0].ravel() / n, sd, information)


def _level(chooser: Chooser, state: _State, information: Information) -> float:
    """Mean curvature: the information on the intercept alone, or the mean of the eigenvalues."""
    k, start = len(information.values), chooser.start_level
    squares = np.full(k, 1 / k)
    if chooser.problem.intercept:
        squares = (information.vectors.T @ np.linalg.solve(state.whitening.matrix, np.eye(k)[0])) ** 2
    seen, noise = float(squares @ information.values), float(np.linalg.norm(squares * information.sds))
    prior = _LEVEL_SD * state.level
    weight = prior**2 / (prior**2 + noise**2)
    level = weight * seen + (1 - weight) * state.level
    return float(np.clip(level, start * _LEVELS[0], start * _LEVELS[1]))


def _dispersion(chooser: Chooser, state: _State, information: Information) -> float:
    """Variability over information, both by their traces."""
    seen, noise = dispersion(state.variability, information, state.whitening.matrix)
    expected = chooser.start_dispersion
    prior = _DISPERSION_SD * expected
    weight = prior**2 / (prior**2 + noise**2)
    return float(max(weight * seen + (1 - weight) * expected, 0.05 * expected))


def _move(state: _State, move: Array) -> bool:
    """Take a step, no longer than the cap; returns whether it was binding."""
    length, longest = float(np.linalg.norm(move)), _LONGEST
    if state.bounds.score is not None and math.isinf(state.bounds.score.family.most_curved):
        longest = min(longest, _STEEPEST / state.bounds.radius)
    capped = length > longest
    if capped:
        move = move * (longest / length)
    state.beta = state.beta + state.whitening.matrix @ move
    return capped


def _rewhiten(chooser: Chooser, state: _State, information: Information) -> None:
    expected = information.expected(state.level) / state.level
    state.whitening = state.whitening.improved(expected, chooser.located)

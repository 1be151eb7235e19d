"""The iteration: early steps find the neighbourhood, damped tail steps are averaged.

Every step releases scores and information jointly; a step solves with the best information known so far.
The number of steps is public; nothing stops early. See docs/theory/glm.md#steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.engine.information import FORGET, Information
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.engine.some import some_rows
from dpstats.estimators.engine.step import CHOOSE, DAMPING, LONGEST
from dpstats.estimators.gram.bounds import mean_weight
from dpstats.estimators.matrices import longest_image, not_noise
from dpstats.estimators.newton.bounds import Bounds, Chooser
from dpstats.estimators.newton.check import Read, by_one_pass, checked, explained, set_apart, tailed
from dpstats.estimators.newton.estimate import Averaged, Estimate, estimate
from dpstats.estimators.newton.far import long_rows
from dpstats.estimators.newton.information import dispersion, drawn, past
from dpstats.estimators.newton.located import Located, locate
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.newton.steps import State, averaged_steps
from dpstats.estimators.newton.unlike import unlike
from dpstats.estimators.newton.whitening import rewhitened

Array = np.ndarray

_STEEPEST = 3.0  # cap of what a step may add to the log mean of any row that counts in full
_LEVEL_SD = 0.3  # of its relative change between steps
_DISPERSION_SD = 0.5  # relative, of what is known of the dispersion before any release
_ALIKE = 1.25  # bounds that differ by no more give matrices that may be mixed
# Sampling sds: where noise is less, one early step of all rows would not take back what some rows are off by
_QUIET = 0.1
_LOST = 1 / 16  # share of weight that rows of large means may have lost where scores are limited


@dataclass
class _State(State):
    """With the mean curvature per row, and the dispersion of the responses, as far as they are known."""

    level: float = 1.0
    dispersion: float = 1.0


def fit_newton(curator: Curator, problem: Problem, plan: Plan) -> Estimate:
    """Fit a generalised linear model from noisy releases.

    Parameters
    ----------
    curator : Curator
        `plan.total`, a mu, must be left of its total.
    problem : Problem
    plan : Plan

    Returns
    -------
    Estimate
    """
    some = some_rows(curator, plan.total, problem.k)
    noise = _usual_noise(curator, problem, plan)
    located = locate(some, plan.columns, plan.cost("octaves"), problem, noise)
    plan = located.found(problem).spent(plan, "tail")
    chooser = Chooser(problem, located, curator.n, curator.cost_per_row(plan.cost("tail")))
    whitening, start = np.eye(problem.k), _start(problem, located, curator.n)
    state = _State(
        located,
        start,
        whitening,
        chooser.first(whitening),
        level=chooser.start_level,
        dispersion=chooser.start_dispersion,
    )
    steps, last = list(enumerate(plan["early"])), 1 + (noise < _QUIET)
    chooser = _early(some, steps[:-last], chooser, state)
    del some  # lest both are in memory
    chooser = _choose(_early(curator, steps[-last:], chooser, state), state)
    problem, lost = chooser.problem, _lost(chooser.problem, state)
    if not lost:  # nothing is asked of long rows
        plan = plan.given("far", to="tail").given("check", to="tail")
    averaged = averaged_steps(curator, plan["tail"], state, start, _longest(state.bounds), DAMPING)
    found = estimate(averaged, problem, located, state.bounds, curator.n)
    read = _read(lost, problem, state, averaged, found, curator.n)
    checks = (
        tailed(plan.cost("beyond"), located, read, found),
        long_rows(plan.cost("far"), problem, located, read, found),
        checked(plan.cost("check"), problem, located, read, found),
        explained(plan.cost("told"), problem, located, read, found),
        set_apart(plan.cost("apart"), problem, located, found),
    )
    return replace(by_one_pass(curator, checks, found), columns=located.columns)


def _lost(problem: Problem, state: State) -> float:
    """Share of their weight that rows have lost which are long, or of large means; none if none is long."""
    bounds, located = state.bounds, state.located
    if bounds.radius**2 >= longest_image(state.whitening, located.lower, located.upper) * (1 - 1e-9):
        return 0.0
    return max(1 - mean_weight(problem.k, bounds.radius), _LOST * problem.family.unlimited)


def _read(lost: float, problem: Problem, state: State, averaged: Averaged, found: Estimate, n: int) -> Read:
    """How rows were read at the end."""
    bounds, located = state.bounds, state.located
    phi = (1.0, 0.0) if found.dispersion is None else (found.dispersion.value, found.dispersion.se)
    read = Read(state.whitening, lost, bounds.score, *phi, bounds.radius, averaged.information.matrix)
    if not problem.family.free_dispersion or bounds.score is None:
        return read
    return replace(read, unlike=unlike(averaged, problem, located, bounds.score.limit, n))


def _usual_noise(curator: Curator, problem: Problem, plan: Plan) -> float:
    """Privacy noise of a coefficient in sampling sds, if scores were limited to 4 sds."""
    return 2 * 4 * math.sqrt(1.25 * problem.k / curator.n) / curator.cost_per_row(plan.cost("tail"))


def _start(problem: Problem, located: Located, n: int) -> Array:
    """The mean response in the intercept, nothing elsewhere."""
    beta = np.zeros(problem.k)
    if problem.intercept:
        mean, family = located.mean, problem.family
        least = min(max(2 / n, 1e-4), 0.5) if family.two_valued else 1e-6
        mean = min(max(mean, family.support[0] + least), family.support[1] - least)
        beta[0] = float(family.link(np.array(mean))) - located.offset
    return beta


def _early(curator: Curator, steps: Iterable[tuple[int, float]], chooser: Chooser, state: _State) -> Chooser:
    """Steps towards the root, numbers and costs, each shrunk by what noise alone would have made of it.

    Returns the chooser of a family whose alpha was found, where one was sought.
    """
    for t, mu in steps:
        if t == CHOOSE:
            chooser = _choose(chooser, state)
        scores, noise = state.release(curator, mu)
        information = state.usable
        state.level = _level(chooser, state, information)
        if state.bounds.score is not None:
            state.dispersion = _dispersion(chooser, state, information)
        move = information.solve(scores)
        by_noise = noise**2 * float(np.sum(information.seen / information.used))
        state.move(move * not_noise(scores @ move, by_noise), _longest(state.bounds))
        expected = drawn(information, state.level) / state.level
        state.whitening = rewhitened(state.whitening, expected, chooser.located)
        curved = not chooser.problem.family.free_dispersion
        state.information.forget(past(state.information, information, state.whitening) if curved else FORGET)
        state.variability.forget(FORGET)
    return chooser


def _choose(chooser: Chooser, state: _State) -> Chooser:
    chooser = _sought(chooser, state)
    before = state.bounds
    state.bounds = chooser.choose(state.whitening, state.level, state.dispersion)
    if _changed(before, state.bounds):
        # matrices under narrower bounds are smaller, and less noisy: they would outweigh what counts now
        state.forget()
    return chooser


def _sought(chooser: Chooser, state: _State) -> Chooser:
    """The chooser for the family whose alpha releases tell, if one is sought, and the state in its terms."""
    found, level = chooser.sought(state.level, state.dispersion)
    if found is not chooser:
        if not 1 / _ALIKE < level / state.level < _ALIKE:
            state.forget()
        state.level, state.dispersion = level, 1.0
    return found


def _changed(before: Bounds, after: Bounds) -> bool:
    pairs = [(before.radius, after.radius)]
    if before.score is not None and after.score is not None:
        pairs.append((before.score.limit, after.score.limit))
        pairs.append((before.score.curvature_limit, after.score.curvature_limit))
    return any(not 1 / _ALIKE < new / old < _ALIKE for old, new in pairs)


def _longest(bounds: Bounds) -> float:
    """Cap of a step, in sds of the linear predictor."""
    if bounds.score is None or not bounds.score.family.counts:
        return LONGEST
    return min(LONGEST, _STEEPEST / bounds.radius)


def _level(chooser: Chooser, state: _State, information: Information) -> float:
    """Mean curvature: the information on the intercept alone, or the mean of the eigenvalues."""
    k = len(information.values)
    squares = np.full(k, 1 / k)
    if chooser.problem.intercept:
        squares = (information.vectors.T @ np.linalg.solve(state.whitening, np.eye(k)[0])) ** 2
    seen, noise = float(squares @ information.values), float(np.linalg.norm(squares * information.sds))
    prior = _LEVEL_SD * state.level
    weight = prior**2 / (prior**2 + noise**2)
    level = weight * seen + (1 - weight) * state.level
    return max(level, chooser.least_level)


def _dispersion(chooser: Chooser, state: _State, information: Information) -> float:
    """Variability over information, both by their traces."""
    seen, noise = dispersion(state.variability, information, state.whitening)
    expected = chooser.start_dispersion
    prior = _DISPERSION_SD * expected
    weight = prior**2 / (prior**2 + noise**2)
    return float(max(weight * seen + (1 - weight) * expected, 0.05 * expected))

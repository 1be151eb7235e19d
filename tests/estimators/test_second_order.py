"""Averaged steps from scattered points: what the curvature of scores would leave, and what scatter says."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.engine.average import Steps
from dpstats.estimators.engine.information import Accumulator
from dpstats.estimators.newton.bounds import Bounds
from dpstats.estimators.newton.estimate import Averaged, GlmEstimate, _second_order, estimate
from dpstats.estimators.newton.information import floored
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.families.glm import BINOMIAL
from dpstats.moments.solution import believed

STRAIGHT, CURVED = np.diag([1.0, 0.5]), np.array([0.3, 0.2])


def averaged(points: np.ndarray) -> Averaged:
    """Scores -A x - x^2 b / 2 of each column, with information A + b x; the root is at 0."""
    scores = -(points @ STRAIGHT + points**2 * CURVED / 2)
    matrices = np.array([STRAIGHT + np.diag(CURVED * point) for point in points])
    releases = Accumulator()
    for matrix in matrices:
        releases.add(matrix, 1e-9, np.eye(2))
    whole = np.full(len(points), 1e-9), np.zeros(len(points), dtype=bool), floored(releases, np.eye(2))
    return Averaged(Steps(points, scores, *whole), matrices, np.eye(2), Accumulator(), np.zeros(2))


@pytest.mark.parametrize("seed", range(3))
def test_scatter_of_points_leaves_a_bias_of_third_order(seed: int) -> None:
    points = 0.2 * np.random.default_rng(seed).normal(size=(8, 2))
    found = averaged(points)
    information = found.steps.information
    step = information.solve(found.steps.scores.mean(axis=0))
    straight = points.mean(axis=0) + step
    bent = straight + information.solve(_second_order(found, step))
    assert np.linalg.norm(bent) < 0.3 * np.linalg.norm(straight)


def test_nothing_bends_where_information_is_the_same_everywhere() -> None:
    found = averaged(0.2 * np.random.default_rng(3).normal(size=(8, 2)))
    found.matrices[:] = STRAIGHT
    assert _second_order(found, np.ones(2)) == pytest.approx(np.zeros(2))


SD, ROWS, STEPS = 0.02, 10_000, 8
ALTERNATING = np.column_stack([np.tile([1.0, -1.0], 4), np.tile([1.0, 1.0, -1.0, -1.0], 2)])


def released(scatter: float = 1.0, mean: float = 0.0) -> Averaged:
    """Scores at one point, in noise sds: how far each lies from their mean, and that from 0."""
    scores = SD * (scatter * ALTERNATING + mean)
    points, matrices = np.zeros((STEPS, 2)), np.array([STRAIGHT] * STEPS)
    found = averaged(points)
    steps = found.steps._replace(scores=scores, noise=np.full(STEPS, SD))
    return replace(found, steps=steps, matrices=matrices)


def fitted(steps: Averaged, dim: bool = False) -> GlmEstimate:
    """What 10,000 rows of two standardised columns say; `dim`: of the second the spread is not known."""
    zeros, ones = np.zeros(2), np.ones(2)
    problem = Problem(BINOMIAL, -ones, ones, (0.0, 1.0), intercept=False)
    located = Located(
        zeros,
        ones,
        zeros,
        -ones,
        ones,
        squares=ones,
        rare=(),
        mean=0.5,
        sd=0.5,
        offset=0.0,
        noise=0.0,
        prior=ones,
        dim=np.array([False, dim]),
    )
    return estimate(steps, problem, located, Bounds(3.0, None), ROWS)


def test_scores_that_scatter_as_their_noise_does_are_settled() -> None:
    found, inverse = fitted(released()), np.linalg.inv(STRAIGHT)
    assert found.problems == ()
    expected = inverse @ inverse * SD**2 / STEPS * STEPS / (STEPS - 1)
    assert found.cov_privacy == pytest.approx(expected)
    assert found.cov - found.cov_privacy == pytest.approx(inverse / ROWS)


def test_scores_that_scatter_beyond_their_noise_widen_intervals_and_say_so() -> None:
    found = fitted(released(scatter=3.0))
    assert found.problems == ("unsettled",)
    assert found.cov_privacy == pytest.approx(9 * fitted(released()).cov_privacy)


@pytest.mark.parametrize("mean, told", [(2.0, ()), (40.0, ("unsettled",))])
def test_a_step_that_has_not_arrived_counts_as_error_and_a_long_one_says_so(mean: float, told: tuple) -> None:
    found, step = fitted(released(mean=mean)), np.linalg.solve(STRAIGHT, np.full(2, mean * SD))
    assert found.params == pytest.approx(step)
    assert found.problems == told
    assert found.cov_privacy - fitted(released()).cov_privacy == pytest.approx(np.outer(step, step))


def test_a_long_step_counts_as_error_though_noise_explains_it() -> None:
    quiet = released(mean=20.0)
    noisy = replace(quiet, steps=quiet.steps._replace(noise=np.full(STEPS, 20 * SD)))
    found, step = fitted(noisy), np.linalg.solve(STRAIGHT, np.full(2, 20 * SD))
    assert found.problems == () and np.all(np.diag(found.cov_privacy) > step**2)


@pytest.mark.parametrize("steps, told", [(2, False), (8, True)])
def test_scatter_of_few_steps_may_be_chance(steps: int, told: bool) -> None:
    """Three times the variance of noise: one fit in 20 has it in two numbers, one in 8,000 in fourteen."""
    alone = steps == 2  # the second column does not alternate so soon
    found = released(scatter=math.sqrt(3 * (1 + alone) * (steps - 1) / steps))
    some = found.steps.after(STEPS - steps)
    some = some._replace(scores=found.steps.scores[:steps] * [1, 1 - alone])
    short = replace(found, steps=some, matrices=found.matrices[:steps])
    assert ("unsettled" in fitted(short).problems) == told


@pytest.mark.parametrize("dim", [False, True])
def test_nothing_bounds_the_coefficient_of_a_column_of_unknown_spread(dim: bool) -> None:
    """Half of what the second column says is seen: of the rest it has the variance of the prior, 1."""
    size, releases = 0.5, Accumulator()
    releases.add(STRAIGHT, size / believed(np.ones(1))[0], np.eye(2))  # noise is alike along all directions
    steps = released()
    steps = replace(steps, steps=steps.steps._replace(information=floored(releases, np.eye(2))))
    assert steps.steps.information.seen == pytest.approx([0.5, 1.0])  # the lesser eigenvalue first
    hidden = fitted(steps, dim).cov_privacy[1, 1] - fitted(released()).cov_privacy[1, 1]
    assert hidden > 1e9 if dim else 0.25 <= hidden < 0.3

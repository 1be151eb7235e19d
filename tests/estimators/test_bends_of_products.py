"""What a bend of counts and amounts may move a line by, and how far errors of the line may feign it."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpstats.estimators.bends import NEAR, ReleasedLine, judged
from dpstats.estimators.engine.finish import Estimate
from dpstats.estimators.newton.check import _moved
from dpstats.estimators.newton.far import _between
from dpstats.families.bounded_score import square_weight
from dpstats.families.glm import BINOMIAL, POISSON
from dpstats.moments.spread import Z95


def line(**more: tuple[int, ...]) -> ReleasedLine:
    """Slopes of 3 and 4 along numbers of sds 1 and 1/2, and of 12 along a flag: 3, 2 and 6 of a predictor."""
    none, one, variances = np.zeros(4), np.ones(4), np.array([1.0, 1.0, 0.25, 0.25])
    beta, error = np.array([1.0, 3.0, 4.0, 12.0]), np.eye(4)
    return ReleasedLine(none, one, beta, np.diag(variances), error, error, None, 1.0, 0.1, variances, **more)


def test_a_product_moves_each_number_as_far_as_the_other_acts() -> None:
    """Beside what a square moves all by, 2 of the predictor's 7 sds the first number, and 3 the second."""
    for family in (POISSON, BINOMIAL):
        problem = SimpleNamespace(family=family, usual=np.array([False, False, True]))
        more = _moved(line(), problem) - line().moved
        expected = np.array([0, 4, 9 / 0.25, 0]) / 49 * (family is POISSON)
        np.testing.assert_allclose(more, np.diag(expected), atol=1e-12)


def test_a_number_alone_makes_no_product() -> None:
    problem = SimpleNamespace(family=POISSON, usual=np.array([False, True, True]))
    np.testing.assert_array_equal(_moved(line(), problem), line().moved)


def test_half_of_a_centred_square_is_a_line_but_of_two_values_all() -> None:
    assert line().held == pytest.approx(0.5)
    assert line(levels=(3,)).held == pytest.approx((1 + 36 / 49) / 2)
    assert line(levels=(1, 2, 3)).held == pytest.approx(1.0)


def test_half_of_a_centred_square_of_numbers_at_most_is_a_line() -> None:
    """Of rows that count by their means, up to log-normal predictors of an sd of .6."""
    g = np.random.default_rng(0)
    for x in (g.normal(size=20_000), g.exponential(size=20_000), np.exp(1.2 * g.normal(size=20_000))):
        t = (x - x.mean()) / x.std()
        h = np.exp(np.minimum(0.6 * t, 4))
        weight = h * np.minimum(1, 3.75 / (1 + t**2))
        t -= np.average(t, weights=weight)
        t /= np.sqrt(np.average(t**2, weights=weight))
        q, rows = np.minimum(t**2, 1) - 0.5, np.column_stack([np.ones(len(t)), t])
        mean = (h * q) @ rows
        assert mean @ np.linalg.solve((rows.T * h) @ rows, mean) < 0.53 * (h @ q**2)


def test_a_level_rises_by_what_it_does_where_slopes_are_half_as_steep() -> None:
    """By half the square of half a slope of .4, along a column of variance 1; both moves count as error."""
    found = Estimate(np.array([1.0, 0.4]), np.zeros((2, 2)), np.zeros((2, 2)))
    problem, located = SimpleNamespace(intercept=True), SimpleNamespace(squares=np.ones(2))
    moved = _between(found, problem, located, np.array([0.08, 0.4]), np.eye(2))
    np.testing.assert_allclose(moved.params, [1.0 + 0.2**2 / 2, 0.2])
    np.testing.assert_allclose(moved.cov, np.diag([0.02**2, 0.2**2]) / Z95**2)


def test_an_error_of_the_line_hides_less_of_a_bend_along_numbers() -> None:
    """A sum of 400 has an sd of 173 along numbers and of 224 along flags, if noise of the line is large."""
    release = SimpleNamespace(values=(400.0, square_weight(0.5) * 1e4), sds=(0.0, 0.0), law="gaussian")
    error = {"cov": 1e-4 * np.eye(4), "cov_privacy": 0.8e-4 * np.eye(4)}
    numbers, flags = (
        judged(release, replace(line(levels=levels), **error), 1.0, NEAR, 1.0) for levels in ((), (1, 2, 3))
    )
    for bend, sd in (numbers, math.sqrt(3e4)), (flags, math.sqrt(5e4)):
        more = max(400 - 2 * sd, 0.0)
        assert bend.square == pytest.approx((more * (800 - more)) / (2.4 * 1e4) ** 2, rel=0.1)

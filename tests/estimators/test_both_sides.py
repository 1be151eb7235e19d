"""Effects on a yes or no that bend far out on both sides of a number, by what long rows say."""

import numpy as np
import pytest
from scipy import special

import dpstats as dps
from dpstats.estimators.newton.both_sides import on_both_sides
from dpstats.estimators.newton.check import Read
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.families.glm import BINOMIAL
from dpstats.testing import SeededNoise, noise

PLACES = 2.0 ** np.arange(2, -4, -1)  # octaves, in sds
TAILED = np.array([0.01, 0.05, 0.28, 0.33, 0.2, 0.13])
SHORT = np.array([0.0, 0.0, 0.4, 0.35, 0.15, 0.1])
SD = 0.03


def moved(shares: np.ndarray, step: float, far: float = 9.0, sure: bool = False) -> tuple[float, float]:
    """By which a slope of .5 is moved, and the sd of that, of a column whose bounds are so many sds away."""
    k, one = 2, np.ones(2)
    squares = PLACES**2 / float(shares @ PLACES**2)
    located = Located(
        *(0 * one, one, 0 * one, -far * one, far * one, one, (), 0.5, 0.5, 0.0, 1e-3, one, one < 0),
        tails={0: (shares, squares)},
        away=0 * one,
    )
    problem = Problem(BINOMIAL, -far * one[1:], far * one[1:], (0.0, 1.0))
    read = Read(np.eye(k), 0.03, None, radius=2.0, information=np.eye(k))
    steps = np.array([0.0, step]), np.full(k, SD)
    found = on_both_sides(
        problem, located, read, np.array([0.0, 0.5]), steps, np.array([False, sure]), reach=1.0
    )
    return float(found.shift[1]), float(np.sqrt(found.cov[1, 1]))


def test_a_step_that_may_be_chance_is_heard_of_a_column_with_far_rows_alone() -> None:
    none, doubtful = (moved(TAILED, step) for step in (0.0, -1.5 * SD))
    assert abs(none[0]) < 1e-9 and doubtful[0] < -0.015
    assert doubtful[1] > 0.04 > 1.5 * none[1]
    assert moved(SHORT, -1.5 * SD)[1] < 1e-9  # where all rows count in full both lines are one
    assert moved(TAILED, -1.5 * SD, far=2.0) == (0.0, 0.0)  # bounds leave no room far out


def test_a_step_that_is_no_chance_moves_the_line_as_what_bends_so_does() -> None:
    sure, doubtful = (moved(TAILED, -3 * SD, sure=each) for each in (True, False))
    assert sure[0] < doubtful[0] < -0.07
    assert sure[1] < -sure[0]
    assert moved(TAILED, 3 * SD, sure=True) == pytest.approx((-sure[0], sure[1]))


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_rows_with_a_covariate_that_says_nothing_leave_no_confident_slope(seed: int) -> None:
    """The line of all rows is .32, that of weighted ones .44, whose interval was .39 to .49."""
    rng, n = np.random.default_rng([seed, 4]), 10_000
    junk = rng.random(n) < 0.04
    x = np.where(junk, rng.normal(0, 4, n), rng.normal(size=n)).clip(-20, 20)
    y = 1 * (rng.random(n) < special.expit(0.5 * np.where(junk, 0.0, x)))
    schema = dps.Schema(x=dps.bounded(-20, 20), y=dps.flag())
    with noise(SeededNoise(seed)):
        fit = dps.logit("y ~ x", dict(x=x, y=y), schema).fit(dps.approx(1, 1e-6))
    low, high = fit.conf_int().loc["x"]
    assert abs(fit.params["x"] - 0.32) < high - low

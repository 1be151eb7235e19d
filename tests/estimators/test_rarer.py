"""A yes or no of which one answer is rare: how many a line may expect, and what few of them leave open."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dpstats.estimators.engine.finish import Estimate
from dpstats.estimators.level_scores import OPEN, LevelScores
from dpstats.estimators.newton.level_coefficients import read_levels
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.newton.rarer import expecting_no_more
from dpstats.estimators.newton.slopes import Doubt, read_slopes, said
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import BINOMIAL, PROBIT
from tests.estimators.test_rare_levels import LOCATED

PLACE = replace(LOCATED, center=np.zeros(3), mean=0.004, noise=0.002)
COLUMNS = Problem(PROBIT, lower=-np.ones(2), upper=np.ones(2), response=(0.0, 1.0))


@pytest.mark.parametrize("rarer", ["yes", "no"])
def test_a_steeper_line_expects_no_more_rare_answers_than_there_surely_are(rarer: str) -> None:
    """The share of yes of a probit and a normal predictor is that of its middle over (1 + s^2)^(1/2)."""
    side = 1.0 if rarer == "yes" else -1.0
    place = replace(PLACE, mean=0.5 - side * 0.496)
    point = np.array([-2.6 * side, 3.0, -1.0])
    found = expecting_no_more(point, place, PROBIT)
    assert side * found[0] == pytest.approx(float(ndtri(0.006)) * np.sqrt(11.0), rel=0.02)
    assert found[1:] == pytest.approx(point[1:])
    assert ndtr(side * point[0] / np.sqrt(11.0)) > 0.2


def test_a_line_that_expects_no_more_of_them_stays_where_it_is() -> None:
    point = np.array([-2.6, 0.2, -0.1])
    assert expecting_no_more(point, PLACE, PROBIT) == pytest.approx(point)


@pytest.mark.parametrize("rare", [True, False])
def test_the_level_of_all_rows_is_open_where_noise_hides_how_few_say_yes(rare: bool) -> None:
    """As that of a level of a category is."""
    params, axes = np.array([-2.7, 0.2, 0.0]), np.eye(3)
    found = Estimate(params, axes, axes)
    scores = LevelScores(
        params[None], 0 * params, axes, 0.01 * axes, moments=axes, rarer=1.5 if rare else 2.5
    )
    read = read_levels(COLUMNS, PLACE, found, scores)
    assert np.diag(read.cov)[1:] == pytest.approx(1.0)
    assert read.cov[0, 0] == pytest.approx(OPEN if rare else 1.0, rel=0.03)
    assert read.params == pytest.approx(params)


ROWS = np.array([-1.5, -0.5, 0.5, 1.5]), np.full(4, 0.25)


def test_scores_of_a_slope_level_off_the_sooner_the_fewer_rows_may_say_yes() -> None:
    """At the end all yes are at its far end: with half as many the step is half as long."""
    params, score = np.array([-5.0, 0.0, 0.0]), BoundedScore.unclipped(BINOMIAL)
    shifts = np.array([0.0, 4.0, 40.0])
    whole, _ = said(1, ROWS, PLACE, params, score, shifts)
    half, _ = said(1, ROWS, PLACE, params, score, shifts, Doubt(level=-0.5))
    none, _ = said(1, ROWS, PLACE, params, score, shifts, Doubt(level=-2.0))
    assert whole[-1] == pytest.approx(1.5 / 1.25, rel=0.02)
    assert half == pytest.approx(whole / 2, rel=0.02)
    assert none == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(("rarer", "closed"), [(0.5, False), (1.5, True), (2.5, True)])
def test_a_slope_is_open_where_the_rarer_answer_may_be_rarer_still(rarer: float, closed: bool) -> None:
    """A step of .5 is half of what all yes at one end make; of half as many yes it is more."""
    params, axes = np.array([-5.0, 0.0, 0.0]), np.eye(3)
    place = replace(PLACE, tails={0: (ROWS[1][::2], np.array([1.5, 0.5]) ** 2)}, lower=-2 * np.ones(3))
    place = replace(place, upper=2 * np.ones(3))
    cov = 0.25 * axes
    found = Estimate(params, cov, cov)
    scores = LevelScores(params[None], 0 * params, cov, 0.01 * axes, moments=axes, rarer=rarer)
    problem = replace(COLUMNS, family=BINOMIAL)
    read = read_slopes(problem, place, found, scores, None, lambda: np.zeros(3))
    assert (read.cov[1, 1] < 1) == closed

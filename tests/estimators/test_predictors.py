"""Linear predictors of the rows, and the baseline that the hazard of those at risk belongs to."""

import numpy as np
import pytest

from dpstats.estimators.engine.average import Steps
from dpstats.estimators.engine.information import Information
from dpstats.estimators.hazards.estimate import _followed
from dpstats.estimators.hazards.grid import Grid
from dpstats.estimators.hazards.predictors import predictors
from dpstats.estimators.row_scale import RowScale

EFFECT, SHARE = 3.0, 0.05


def flag(share: float) -> RowScale:
    """Rows of a flag and of a normal column, on the scale of rows of which this share has a 1."""
    sd = np.sqrt(share * (1 - share))
    return RowScale(
        center=np.array([share, 0.0]),
        scale=np.array([sd, 1.0]),
        y_center=0.0,
        y_scale=1.0,
        log=False,
        fraction=1.0,
        fraction_sd=0.0,
        binary=np.array([True, False]),
        lower=np.array([-share / sd, -9.0, -1.0]),
        upper=np.array([(1 - share) / sd, 9.0, 1.0]),
        ratio=np.ones(2),
        error=np.zeros(2),
        shares=np.zeros((2, 1)),
        places=np.zeros((2, 1)),
    )


def test_a_flag_keeps_its_two_values() -> None:
    scale = flag(SHARE)
    values, weights = predictors(
        scale, np.array([EFFECT * scale.scale[0], 0.0]), np.full(2, 9.0), (EFFECT * scale.scale[0]) ** 2, 1.0
    )
    high = values > EFFECT / 2
    assert weights[high].sum() == pytest.approx(SHARE, rel=1e-3)
    apart = np.average(values[high], weights=weights[high]) - np.average(
        values[~high], weights=weights[~high]
    )
    assert apart == pytest.approx(EFFECT, rel=1e-3)


@pytest.mark.parametrize("effect", [1e9, np.nan])
def test_slopes_that_noise_makes_of_any_size_leave_some_law(effect: float) -> None:
    values, weights = predictors(flag(SHARE), np.full(2, effect), np.full(2, 9.0), 1e30, 0.5)
    assert np.isfinite(values).all() and weights.sum() == pytest.approx(1)


def test_rows_that_count_less_are_as_far_from_the_others() -> None:
    """The variance that is released counts rows beyond 2 sds as if they lay there."""
    scale, longest = flag(SHARE), np.full(2, 2.0)
    beta = np.array([EFFECT * scale.scale[0], 0.0])
    counted = np.minimum([scale.lower[0] ** 2, scale.upper[0] ** 2], 4.0)
    values, weights = predictors(scale, beta, longest, beta[0] ** 2 * ([1 - SHARE, SHARE] @ counted), 1.0)
    assert values @ weights == pytest.approx(0, abs=1e-6)
    assert weights @ values**2 == pytest.approx(beta[0] ** 2, rel=0.01)


def test_a_step_along_slopes_counts_again_what_the_clock_makes_of_it() -> None:
    matrix = np.array([[1.0, 0.2, 0.1], [0.2, 0.9, 0.3], [0.1, 0.3, 0.8]])
    values, vectors = np.linalg.eigh(matrix)
    information = Information.of(values, vectors, np.full(3, 1e-6))
    slopes = np.array([0.7, -0.2])
    steps = Steps(np.append(0.5, slopes)[None], np.zeros((1, 3)), np.ones((1, 3)), np.zeros(1), information)
    follows = _followed(steps, np.eye(3), 1, 0.5)
    twice = follows @ np.append(0.0, slopes)
    assert twice[1:] == pytest.approx(2 * slopes)
    # the log hazard goes along, so that its own score stays 0
    assert matrix[0] @ (twice - np.append(0.0, slopes)) == pytest.approx(0, abs=1e-9)
    within = np.linalg.inv(np.linalg.inv(matrix)[1:, 1:]) @ slopes
    across = np.array([0.0, -within[1], within[0]])
    assert follows @ across == pytest.approx(across)


def test_what_flags_do_not_explain_is_normal() -> None:
    scale = flag(SHARE)
    beta = np.array([0.5, 0.4])
    values, weights = predictors(scale, beta, np.full(2, 9.0), 0.5**2 + 0.4**2, 1.0)
    assert weights @ values == pytest.approx(0, abs=1e-6)
    assert weights @ values**2 == pytest.approx(0.5**2 + 0.4**2, rel=0.02)
    less, few = predictors(scale, beta, np.full(2, 9.0), 0.04, 1.0)
    assert few @ less**2 == pytest.approx(0.04, rel=0.1)


def test_rows_that_fail_are_more_often_those_of_high_hazard() -> None:
    """Rows are watched until a baseline of 1/4; of those that fail the flag has a larger share."""
    fails = 1 - np.exp(-0.25 * np.exp([0.0, EFFECT]))
    failed = float(np.array([1 - SHARE, SHARE]) @ fails)
    scale = flag(SHARE * fails[1] / failed)
    values, weights = predictors(
        scale,
        np.array([EFFECT * scale.scale[0], 0.0]),
        np.full(2, 9.0),
        (EFFECT * scale.scale[0]) ** 2,
        failed,
    )
    assert weights[values > EFFECT / 3].sum() == pytest.approx(SHARE, rel=0.01)


def test_the_clock_of_a_constant_baseline_is_even() -> None:
    values, weights = np.array([-EFFECT * SHARE, EFFECT * (1 - SHARE)]), np.array([1 - SHARE, SHARE])
    edges = np.linspace(0, 2, 41)
    survival = np.exp(-np.outer(edges, np.exp(values))) @ weights
    rates, ones = -np.diff(np.log(survival)), np.ones(40)
    found = Grid(
        edges=edges,
        rates=rates,
        pieces=np.zeros(40, dtype=int),
        events=ones,
        runs=np.arange(40),
        entries=np.array([0]),
        entered=np.ones((40, 1)),
        seen=ones,
        visible=4.0,
        noise=0.0,
        variances=ones,
        until=np.array([2.0]),
        at_risk=ones,
        counted=0 * ones,
        even=ones,
        shifts=np.zeros((2, 40)),
        bunches=np.zeros((2, 1)),
    ).of_baseline(values, weights)
    assert rates[0] > 1.5 * rates[-1]
    assert found.rates == pytest.approx(np.full(40, rates.sum() / 40), rel=1e-2)

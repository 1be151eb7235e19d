"""Linear predictors of the rows, and the baseline that the hazard of those at risk belongs to."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.engine.information import Information
from dpstats.estimators.hazards.estimate import followed
from dpstats.estimators.hazards.grid import Grid
from dpstats.estimators.hazards.predictors import misplaced, predictors
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
        shares=np.zeros((2, 2)),
        places=np.zeros((2, 2)),
    )


def test_a_flag_keeps_its_two_values() -> None:
    scale = flag(SHARE)
    values, weights = predictors(
        scale, np.array([EFFECT * scale.scale[0], 0.0]), np.full(2, 9.0), np.eye(2), 1.0
    )
    high = values > EFFECT / 2
    assert weights[high].sum() == pytest.approx(SHARE, rel=1e-3)
    apart = np.average(values[high], weights=weights[high]) - np.average(
        values[~high], weights=weights[~high]
    )
    assert apart == pytest.approx(EFFECT, rel=1e-3)


@pytest.mark.parametrize("effect", [1e9, np.nan])
def test_slopes_that_noise_makes_of_any_size_leave_some_law(effect: float) -> None:
    values, weights = predictors(flag(SHARE), np.full(2, effect), np.full(2, 9.0), 1e30 * np.eye(2), 0.5)
    assert np.isfinite(values).all() and weights.sum() == pytest.approx(1)


def test_rows_that_count_less_are_as_far_from_the_others() -> None:
    """The variance that is released counts rows beyond 2 sds as if they lay there."""
    scale, longest = flag(SHARE), np.full(2, 2.0)
    beta = np.array([EFFECT * scale.scale[0], 0.0])
    counted = np.minimum([scale.lower[0] ** 2, scale.upper[0] ** 2], 4.0)
    covariance = np.diag([[1 - SHARE, SHARE] @ counted + 0.5, 1.0])
    values, weights = predictors(scale, beta, longest, covariance, 1.0)
    assert values @ weights == pytest.approx(0, abs=1e-6)
    # beyond what they count for, half as much is normal
    assert weights @ values**2 == pytest.approx(1.5 * beta[0] ** 2, rel=0.01)


def test_a_step_along_slopes_counts_again_what_the_clock_makes_of_it() -> None:
    matrix = np.array([[1.0, 0.2, 0.1], [0.2, 0.9, 0.3], [0.1, 0.3, 0.8]])
    values, vectors = np.linalg.eigh(matrix)
    information = Information.of(values, vectors, np.full(3, 1e-6))
    slopes = np.array([0.7, -0.2])
    follows = followed(information, slopes, 0.5)
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
    values, weights = predictors(scale, beta, np.full(2, 9.0), np.eye(2), 1.0)
    assert weights @ values == pytest.approx(0, abs=1e-6)
    assert weights @ values**2 == pytest.approx(0.5**2 + 0.4**2, rel=0.02)
    together = (0.04 - 0.5**2 - 0.4**2) / (2 * 0.5 * 0.4)
    covariance = np.array([[1.0, together], [together, 1.0]])
    values, weights = predictors(scale, beta, np.full(2, 9.0), covariance, 1.0)
    assert weights @ values**2 == pytest.approx(0.04, rel=0.1)


def test_rows_that_fail_are_more_often_those_of_high_hazard() -> None:
    """Rows are watched until a baseline of 1/4; of those that fail the flag has a larger share."""
    fails = 1 - np.exp(-0.25 * np.exp([0.0, EFFECT]))
    failed = float(np.array([1 - SHARE, SHARE]) @ fails)
    scale = flag(SHARE * fails[1] / failed)
    values, weights = predictors(
        scale,
        np.array([EFFECT * scale.scale[0], 0.0]),
        np.full(2, 9.0),
        np.eye(2),
        failed,
    )
    assert weights[values > EFFECT / 3].sum() == pytest.approx(SHARE, rel=0.01)


def number(places: list[float], shares: list[float]) -> RowScale:
    """A column that was seen in cells of all rows, and one that was not."""
    return replace(
        flag(0.5),
        binary=np.zeros(2, dtype=bool),
        places=np.array([places, [0.0] * len(places)]),
        shares=np.array([shares, [0.0] * len(places)]),
    )


def test_rows_of_a_number_that_hardly_ever_fail_are_no_more_for_it() -> None:
    """Cells count all rows, of which those of low hazard do not fail."""
    shares, places = np.array([SHARE, 1 - 2 * SHARE, SHARE]), np.array([-6.0, 0.0, 6.0])
    fails = 1 - np.exp(-0.25 * np.exp(places))
    fail = shares * fails / (shares @ fails)
    middle = fail @ places
    sd = np.sqrt(fail @ (places - middle) ** 2)
    scale = number([*(places - middle) / sd], [*shares])
    values, weights = predictors(
        scale, np.array([sd, 0.0]), np.full(2, 99.0), np.diag([1.0, 1.0]), float(shares @ fails)
    )
    for low, high, share in zip([-99, -3, 3], [-3, 3, 99], shares, strict=True):
        inside = (values > low) & (values < high)
        assert weights[inside].sum() == pytest.approx(share, abs=1e-3)


def test_where_in_an_octave_rows_of_one_value_lie_their_variance_tells() -> None:
    """They lie at 4 and their cell at 5, which is the root mean square of the octave from 3.3 to 6.6."""
    share = 1 / 17
    scale = number([-4 / 16, 5.0], [1 - share, share])
    law = predictors(scale, np.array([1.0, 0.0]), np.full(2, 99.0), np.eye(2), 1.0)
    assert law[0][law[1] > 1e-3].max() == pytest.approx(4, abs=0.2)
    assert misplaced(scale, np.array([1.0, 0.0]), 1.0) < 0.07
    several = number([-0.25, 3.0, 6.0], [1 - 2 * share, share, share])
    assert misplaced(several, np.array([1.0, 0.0]), 1.0) > 0.1
    assert misplaced(flag(SHARE), np.ones(2), 1.0) == 0


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
        steep=ones,
        even=ones,
        shifts=np.zeros((2, 40)),
        bunches=np.zeros((2, 1)),
    ).of_baseline(values, weights)
    assert rates[0] > 1.5 * rates[-1]
    assert found.rates == pytest.approx(np.full(40, rates.sum() / 40), rel=1e-2)

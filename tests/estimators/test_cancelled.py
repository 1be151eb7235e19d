"""Which directions that noise hides are of columns that cancel each other, of which survival models tell."""

import numpy as np
import pytest

from dpstats.estimators.engine.information import Information
from dpstats.estimators.location_scale.information import SEEN, floored

HALF = np.sqrt(0.5)
DIFFERENCE = np.array([[0, 1, 0, 0], [HALF, 0, HALF, 0], [-HALF, 0, HALF, 0], [0, 0, 0, 1]])


def of_difference(used: float, other: float, seen: float = 0.0, binary: bool = False) -> bool:
    """Whether two columns cancel whose difference and whose sum have this much information."""
    values, known = np.array([used, 1.0, other, 1.0]), np.array([seen, 1.0, 1.0, 1.0])
    information = Information(values, DIFFERENCE, values, values / SEEN[0], known, np.ones(4))
    return bool(information.cancelled(np.eye(4), slice(1, 3), np.array([False, binary]), 4, 0.0)[0])


@pytest.mark.parametrize("binary", [False, True])
def test_columns_cancel_where_their_difference_has_less_than_noise_leaves_of_uncorrelated_ones(
    binary: bool,
) -> None:
    """With an intercept and log sigma there are four directions, and noise leaves .36."""
    assert [of_difference(used, 2 - used, binary=binary) for used in (0.01, 0.3, 0.42, 0.9)] == [1, 1, 0, 0]


def test_columns_that_all_have_little_information_do_not_cancel() -> None:
    assert not of_difference(0.1, 0.1)


def test_columns_whose_difference_noise_alone_did_not_make_do_not_cancel() -> None:
    assert of_difference(0.1, 1.9) and not of_difference(0.1, 1.9, seen=0.01)


def found(correlation: float, d: int, sd: float, seed: int) -> bool:
    """Whether of these many columns any seem to cancel, of which the first two are correlated."""
    draw, k = np.random.default_rng(seed), d + 2
    truth = np.eye(k)
    truth[1, 2] = truth[2, 1] = correlation
    error = draw.normal(size=(k, k)) * sd
    sds = np.full((k, k), sd / np.sqrt(2))
    np.fill_diagonal(sds, sd)
    information = floored(truth + (error + error.T) / 2, sds, np.eye(k), np.ones(k))
    return bool(information.cancelled(np.eye(k), slice(1, 1 + d), np.zeros(d, dtype=bool), k, 0.0).any())


@pytest.mark.parametrize("d", [2, 5, 10, 25])
def test_noise_makes_no_columns_that_cancel_of_uncorrelated_ones(d: int) -> None:
    """Where half of what they have was asked for, they seemed to in most such fits of 10 and more."""
    for sd in (0.1, 0.15, 0.2, 0.3):
        assert sum(found(0.0, d, sd, seed) for seed in range(100)) <= 10


@pytest.mark.parametrize("d", [2, 5, 10])
def test_columns_that_repeat_each_other_cancel_whatever_else_there_is(d: int) -> None:
    assert sum(found(0.9999, d, 0.05, seed) for seed in range(100)) > 80

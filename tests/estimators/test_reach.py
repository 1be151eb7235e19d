"""What counts of residuals beyond their bulk tell, and what limits make of it."""

from dataclasses import asdict

import numpy as np
import pytest

from dpstats.estimators.gram.bounds import Residuals, choose_bounds, pilot_bounds
from dpstats.estimators.gram.far import missing
from dpstats.estimators.gram.reach import _seen
from dpstats.estimators.gram.tail import NO_TAIL, Tail
from dpstats.moments.parts import Clipping

N, MU, K, ALLOWED = 20_000, 0.2, 4, (1e3, 1e3)
# 2 % of the rows at seven sds
SPIKE = Tail(np.array([0.02]), np.array([6.5]), np.array([7.5]), 1e-4, np.zeros(3))


def test_a_cell_that_holds_rows_is_seen_and_its_neighbours_are_not() -> None:
    assert _seen(np.array([3.0, -8, 70, 2, 9]), "gaussian", 10.0).tolist() == [
        False,
        False,
        True,
        False,
        False,
    ]


def test_cells_that_hold_rows_together_are_seen() -> None:
    assert _seen(np.array([0.0, 30, 30, 2, -9]), "gaussian", 10.0)[1:3].all()
    near = _seen(np.array([22.0, 24, 19, 23, 21, 20, -8, 1, 4]), "gaussian", 10.0)
    assert near[:4].all() and not near[6:].any()


def test_the_nearest_cells_are_seen_if_they_stand_out_most_together() -> None:
    """One of them stood out alone, and nobody asked for the others."""
    assert _seen(np.array([23.0, 24, 19, 35, 21, 20, -8, 1, 4]), "gaussian", 10.0)[:6].all()
    # of a cell that stands out more alone nothing follows for those before
    assert not _seen(np.array([9.0, 8, 9, 60, 2, -9]), "gaussian", 10.0)[:3].any()


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_noise_alone_is_seldom_taken_for_rows(law: str) -> None:
    """One release in 50 at most, by the bound on all sums."""
    rng, draws = np.random.default_rng(1), 4000
    noise = rng.normal(size=(draws, 12)) if law == "gaussian" else rng.laplace(size=(draws, 12)) / np.sqrt(2)
    assert np.mean([_seen(counts, law, 1.0).any() for counts in noise]) < 0.025


def test_moments_of_a_tail_are_those_of_its_rows() -> None:
    half = SPIKE.over(2.0)
    assert half.square == pytest.approx(SPIKE.square / 4) and half.hidden == SPIKE.hidden
    assert SPIKE.beyond(3.0) == pytest.approx(0.02 * (6.5 * 7.5 - 9))
    assert SPIKE.beyond(8.0) == 0 and SPIKE.lost(np.array([3.0, 8.0])).tolist() == pytest.approx([0.09, 0])
    # a mean square of 1 of which this is .975: about 1 / 0.02
    assert 40 < SPIKE.kurtosis(100.0) < 60
    assert NO_TAIL.kurtosis(5.0) == pytest.approx(3) and asdict(NO_TAIL.known(5.0)) == asdict(
        Clipping(limit=5.0)
    )


def test_a_limit_that_leaves_less_than_half_of_what_is_told_has_clipped_the_rest() -> None:
    tail = NO_TAIL.clipped(0.1, 0.05, 3.0, (0.9, 12.0))
    assert (tail.lower, tail.upper) == (3.0, 12.0) and tail.beyond(3.0) == pytest.approx(0.9)
    for square, error, limit, told in (
        (0.6, 0.05, 3.0, (0.9, 12.0)),  # more than half is left
        (0.1, 0.30, 3.0, (0.4, 12.0)),  # noise may have made the difference
        (0.1, 0.05, 12.0, (0.9, 12.0)),  # no limit was farther
    ):
        assert NO_TAIL.clipped(square, error, limit, told) is NO_TAIL


def test_noise_that_makes_a_mean_square_negative_tells_of_no_rows() -> None:
    """Nothing was told of residuals, which may reach anywhere: a share of 0 there had no mean square."""
    assert SPIKE.clipped(-0.9, 0.8, 3.0, (0.0, np.inf)) is SPIKE


def test_a_line_may_explain_a_tail() -> None:
    assert not SPIKE.clipped(0.2, 0.05, 8.0, (0.0, 12.0)).any
    assert SPIKE.clipped(0.8, 0.05, 8.0, (0.0, 12.0)) is SPIKE is SPIKE.clipped(0.2, 0.05, 3.0, (0.0, 12.0))


def test_limits_hold_what_was_counted() -> None:
    """Those of normal residuals are as they were; a pilot clips no tail that is most of the spread."""
    usual, wide = (choose_bounds(N, MU, K, ALLOWED, residuals=Residuals(tail)) for tail in (NO_TAIL, SPIKE))
    assert usual.limit < 5 and wide.limit == pytest.approx(7.5, abs=0.1) and wide.radius == usual.radius
    assert pilot_bounds(N, MU, K, ALLOWED).limit == 3
    assert pilot_bounds(N, MU, K, ALLOWED, SPIKE).limit == pytest.approx(7.5)
    assert pilot_bounds(N, MU, K, ALLOWED, SPIKE.over(2.0)).limit == 3


def test_a_limit_is_not_so_wide_that_noise_costs_more_than_what_is_clipped() -> None:
    few = Tail(np.array([1e-4]), np.array([80.0]), np.array([90.0]), 1e-4, np.zeros(3))
    assert choose_bounds(2000, 0.05, K, ALLOWED, residuals=Residuals(few)).limit < 10


def test_limits_are_nearer_where_far_rows_are_told_and_farther_the_less_noise_there_is() -> None:
    """What is missing of a mean then is less than what a limit takes, most of all far out."""
    told = [choose_bounds(N, mu, K, ALLOWED, residuals=Residuals(missing=missing)).limit for mu in (0.05, 1)]
    clipped = [choose_bounds(N, mu, K, ALLOWED).limit for mu in (0.05, 1)]
    assert told[0] < clipped[0] - 0.4 and told[1] < clipped[1] - 0.4 and told[0] < told[1] - 1

"""Rows that hold a column's variance: what counts tell of them, and what a line counts for them."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.estimators.gram.bounds import choose_bounds
from dpstats.estimators.gram.lengths import LongRows, _likely, likely_squares
from dpstats.testing import SeededNoise, noise

N = 20_000


def likely(counts: list[float], usual: float = 0.0) -> list[float]:
    """With 10 sds of noise, and 40 for sure, about so many rows in the first cell."""
    found, noisy = np.array(counts), np.full(len(counts), 10.0)
    return _likely(found, found - usual * np.eye(len(counts))[0], noisy, 4 * noisy).tolist()


def test_rows_that_stand_out_are_counted_and_noise_is_not() -> None:
    assert likely([1e4, 500, 9, -80], usual=1e4) == [0, pytest.approx(500 - 100 / 500), 0, 0]


def test_rows_that_may_be_noise_are_no_more_than_go_with_those_before() -> None:
    assert likely([400, 60, 39, 39]) == pytest.approx(
        [399.75, 60 - 100 / 60, (60 - 100 / 60) / 4, 3.6], abs=0.1
    )
    assert likely([8, 30]) == [0, 2]


TURN = np.array([[0.6, 0.8], [-0.8, 0.6]])


def counted(
    axes: np.ndarray,
    shares: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    noise: float = 0.0,
    largest: float = 4.0,
) -> LongRows:
    """Of rows that are white where shortened to this length."""
    return LongRows(axes, shares, lower, upper, noise, largest, N, 1.0, 1.0)


def levelled(
    radius: float,
    slope: float,
    largest: float = 4.0,
    moved: float = 0.0,
    together: float = 0.0,
    unseen: float = 0.0,
) -> np.ndarray:
    """Of an axis of which rows of length 4 are 3 of the mean square, and others 1; and of one without any."""
    shares, at = np.array([[0.25], [0.0]]), np.array([4.0])
    rows = counted(TURN, shares, at, at, largest=largest)
    moves = TURN @ [moved, 0.0]
    gram = TURN @ np.array([[1.0 + (together != 0), together], [together, 1.0]]) @ TURN.T
    found, parts = rows.levelled(radius, gram, 0.05, TURN @ [slope, 5.0], moves, unseen)
    assert parts.tolist() == [[float(radius < 4), 0]]
    return np.asarray(TURN.T @ found @ found.T @ TURN)


def test_a_line_may_lose_what_long_rows_hold_of_a_slope() -> None:
    np.testing.assert_allclose(levelled(2.0, 0.4), [[(0.75 * 0.4) ** 2, 0], [0, 0]], atol=1e-12)
    assert not levelled(4.0, 0.4).any()


def test_a_slope_levels_off_no_farther_than_residuals_reach() -> None:
    assert levelled(2.0, 30.0)[0, 0] == pytest.approx(levelled(2.0, 1.0)[0, 0])
    assert levelled(2.0, 30.0, 12.0)[0, 0] == pytest.approx(9 * levelled(2.0, 1.0)[0, 0])


def test_nor_does_one_of_rows_whose_residuals_were_seen() -> None:
    """Of the others it may level off altogether."""
    np.testing.assert_allclose(levelled(2.0, 30.0, unseen=1.0)[0, 0], (0.75 * 30) ** 2)
    seen, half = (np.sqrt(levelled(2.0, 30.0, unseen=share)[0, 0]) for share in (0.0, 0.5))
    assert half == pytest.approx((seen + 0.75 * 30) / 2)


def test_rows_that_are_long_along_two_axes_level_off_along_both() -> None:
    """They add 1 and .4 to second moments: what levels off is of .4 of the other slope of 5, too."""
    pull = 3 * np.hypot(0.4, 0.4 * 5)
    by = np.linalg.solve([[2 + 3, 0.4], [0.4, 1.0]], [pull, 0.0])
    np.testing.assert_allclose(levelled(2.0, 0.4, 100.0, together=0.4), np.outer(by, by), rtol=1e-9)


@pytest.mark.parametrize("size", [0.3, 2.0, 30.0])
def test_intervals_hold_95_per_cent_of_lines_half_of_which_are_others_in_long_rows(size: float) -> None:
    """From either of two lengths on, where errors of the line are 1, and no axis without long rows widens."""
    parts = np.array([[1.0, 0.0], [0.25, 0.0]])
    square, none = likely_squares(np.array([size, 0.0]), parts)
    draw, m = np.random.default_rng(1), 400_000
    moves = size * draw.uniform(-1, 1, m) * draw.choice([1.0, 0.25], m) * (draw.random(m) < 0.5)
    half = 1.96 * np.sqrt(1 + size**2 * square)
    assert np.mean(np.abs(moves + draw.normal(size=m)) < half) == pytest.approx(0.95, abs=0.003)
    assert none == 0


def test_unless_noise_may_be_what_they_add() -> None:
    np.testing.assert_allclose(
        levelled(2.0, 0.4, 100.0, together=0.08), [[(3 / 5 * 0.4) ** 2, 0], [0, 0]], atol=1e-12
    )


def test_weight_is_lost_by_rows_beyond_a_radius() -> None:
    """A tenth of the rows has length 4, a twentieth 8: at a radius of 4 the second lose three quarters."""
    at = np.array([4.0, 8.0])
    rows = counted(TURN, np.array([[0.1, 0.0], [0.0, 0.05]]), at, at)
    assert rows.lost(4.0) == pytest.approx(0.05 * 0.75)
    assert rows.lost(2.0) == pytest.approx(0.1 * 0.75 + 0.05 * 15 / 16)
    assert rows.lost(8.0) == 0


@pytest.mark.parametrize("degree", [2, 3])
def test_a_column_that_goes_with_none_that_bends_is_known_as_well_as_beside_a_line(degree: int) -> None:
    """Powers within bounds that lie off centre are long, and one pilot does not whiten them."""
    draw, rows = np.random.default_rng(17), 100_000
    x, coin = draw.normal(size=rows), draw.integers(0, 2, rows)
    y = 0.3 * x - 0.1 * x**2 + 0.4 * coin + draw.normal(size=rows)
    schema = dps.Schema(x=dps.bounded(-4.75, 7.25), coin=dps.flag(), y=dps.bounded(-20, 20))
    model = dps.ols(f"y ~ coin + poly(x, {degree})", dict(x=x, coin=coin, y=y), schema)
    times = []
    for seed in range(9):
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(2, 1e-6))
        times.append(fit.bse["coin"] / (2 / np.sqrt(rows)))
        assert abs(fit.params["coin"] - 0.4) < 2 * fit.bse["coin"]
    # 1.1 beside a line; 14 and 17 where all directions counted alike. One noise in twenty gives more than 2.2
    assert np.median(times) < 2.2


def test_rows_are_kept_longer_where_they_hold_a_variance_and_noise_lets_them() -> None:
    """An axis of which rows of length 4 are 3 of the mean square, others 1; the other has none."""
    shares, ends = np.array([[0.25], [0.0]]), (np.array([2.0]), np.array([8.0]))
    rows = counted(np.eye(2), shares, *ends)
    line = dict(slopes=np.array([0.4, 5.0]), moved=np.zeros(2))
    short, long = (rows.variances(radius, 0.5, **line) for radius in (2.0, 4.0))
    assert long == pytest.approx([(4 + 0.25) / 16, 1.25])
    assert short == pytest.approx([1.25 + N * (0.5 * 0.75 * 0.4) ** 2, 1.25])
    allowed, bent = (99.0, 99.0), partial(rows.variances, **line)
    assert choose_bounds(N, 0.2, 2, allowed, bent).radius > 1.5 * choose_bounds(N, 0.2, 2, allowed).radius
    assert choose_bounds(N, 0.001, 2, allowed, bent) == choose_bounds(N, 0.001, 2, allowed)


def test_rows_of_which_long_ones_weigh_more_or_less_than_before_have_other_squares() -> None:
    """A tenth has length 4, which shortened to 3 had nine of the square of 1 along the first axis."""
    ends = np.array([3.0]), np.array([16 / 3])
    rows = counted(np.eye(2), np.array([[0.1], [0.0]]), *ends)
    assert rows.heard(3.0) == pytest.approx([1, 1])
    assert rows.heard(9.0) == pytest.approx([1 + 0.1 * (16 - 9), 1])
    assert rows.heard(2.0) == pytest.approx([1 - 0.1 * (9 - 4), 1])
    more = counted(np.eye(2), np.array([[0.2], [0.0]]), *ends)
    assert more.heard(0.3) == pytest.approx([0.1**2, 1]), "no less than of rows that are all as long"


def test_what_longer_rows_moved_a_line_by_others_may_too() -> None:
    """Beyond two sds."""
    at, step, known = np.array([4.0]), TURN @ [0.4, 0.1], np.eye(2) * 0.06**2
    rows = counted(TURN, np.array([[0.01], [0.0]]), at, at)
    found = TURN.T @ rows.followed(step, known) @ TURN
    np.testing.assert_allclose(found, np.diag([0.4**2 - 0.12**2, 0]), atol=1e-12)
    lost = TURN.T @ rows.lost_squares(2.0) @ TURN
    np.testing.assert_allclose(lost, np.diag([0.01 * (4**2 - 2**2), 0]), atol=1e-12)


@pytest.mark.parametrize("law", ["exponential", "lognormal"])
def test_an_exact_line_of_a_skewed_column_is_known_about_as_well_as_by_least_squares(law: str) -> None:
    """100,000 rows at epsilon 2; 16 and 41 times, where residuals were counted about no line."""
    draw, rows = np.random.default_rng(5), 100_000
    x = draw.exponential(4, rows) if law == "exponential" else draw.lognormal(1.2, 0.7, rows)
    y = 1000 + 640 * x + draw.normal(0, 1131, rows)
    model = dps.ols(
        "y ~ x", dict(x=x, y=y), dps.Schema(x=dps.bounded(0, 365), y=dps.bounded(-10_000, 300_000))
    )
    with noise(SeededNoise(1)):
        fit = model.fit(dps.approx(2, 1e-6))
    error = 1131 / np.sqrt(rows) / x.std()
    assert fit.bse["x"] < 2.2 * error
    assert abs(fit.params["x"] - 640) < 2.5 * fit.bse["x"]
    assert not fit.flags


def test_residuals_were_seen_about_a_line_that_has_moved_since() -> None:
    assert levelled(2.0, 30.0, moved=-2.0)[0, 0] == pytest.approx(9 * levelled(2.0, 1.0)[0, 0])


def fits(x: np.ndarray, mean: np.ndarray, budget: Budget, seeds: range) -> tuple[np.ndarray, np.ndarray]:
    """Errors against least squares of a slope, in standard errors, and these, in those of least squares."""
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(dict(x=x, y=mean + 0.5 * rng.normal(size=N)))
    design = np.column_stack([np.ones(N), x])
    truth = np.linalg.lstsq(design, rows.y, rcond=None)[0]
    error = np.std(rows.y - design @ truth) / np.std(x) / np.sqrt(N)
    model = dps.ols("y ~ x", rows, dps.Schema(x=dps.bounded(-500, 500), y=dps.bounded(-50, 50)))
    found = []
    for seed in seeds:
        with noise(SeededNoise(seed)):
            fit = model.fit(budget)
        found.append(((fit.params["x"] - truth[1]) / fit.bse["x"], fit.bse["x"] / error))
    return tuple(np.transpose(found))


@pytest.mark.parametrize("budget", [dps.gdp(0.5), dps.pure(3)])
def test_effects_that_level_off_do_not_make_a_line_confidently_wrong(budget: Budget) -> None:
    """Under pure epsilon 5 % of such slopes still are: of twelve one, by 2.1 half-lengths."""
    x = np.random.default_rng(1).lognormal(1, 1.2, N).clip(0, 400)
    errors, _ = fits(x, np.log1p(x), budget, range(12))
    assert np.sum(np.abs(errors) > 2 * 1.96) <= budget.pure and np.abs(errors).max() < 2.5 * 1.96


def test_a_skewed_column_is_known_better_where_its_long_rows_count_under_pure_epsilon() -> None:
    """28 times as well by least squares, where they did not."""
    found = []
    for seed in range(12):
        x = np.random.default_rng(100 + seed).lognormal(size=N)
        found.append(fits(x, x / x.std(), dps.pure(1), range(seed, seed + 1)))
    errors, widths = np.concatenate(found, axis=1)
    assert np.median(widths) < 10 and np.abs(errors).max() < 1.5 * 1.96


def test_a_line_of_normal_rows_pays_next_to_nothing() -> None:
    x = np.random.default_rng(1).normal(size=N)
    errors, widths = fits(x, 2.0 * x, dps.gdp(0.5), range(8))
    assert np.median(widths) < 1.5 and np.abs(errors).max() < 4


@pytest.mark.parametrize("declared", [True, False])
def test_a_column_at_one_end_of_its_bounds_has_no_coefficient(declared: bool) -> None:
    """Unless it is declared to hold the two ends: then rare rows at the other one may be told."""
    rng = np.random.default_rng(5)
    x = (rng.uniform(size=500) < 0.5) * 1.0 if declared else rng.uniform(0, 0.01, 500)
    rows = pd.DataFrame(dict(x=x, y=100 * x + rng.normal(size=500)))
    kind = dps.flag() if declared else dps.bounded(0, 1)
    model = dps.ols("y ~ x", rows, dps.Schema(x=kind, y=dps.bounded(-150, 150)))
    for seed in range(5):
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(1.3, 1e-6))
        assert np.isfinite(fit.bse["x"]) == declared

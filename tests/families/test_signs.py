"""The score by signs: within [-1, 1], of mean 0 at the truth, as variable and as steep as its events say."""

import numpy as np
import pytest

from dpstats.families import Family
from dpstats.families.signs import largest_slope, signs, sizes
from tests.families.laws import EVERY_LAW

Array = np.ndarray

ROWS = 200_000


def far(rows: Array) -> float:
    """The mean of rows, in its standard errors."""
    return float(abs(rows.mean()) / (rows.std() / np.sqrt(len(rows))))


def watched(family: Family, censored: float, late: bool) -> tuple[Array, Array, Array | None]:
    """z, event and entry of rows at the truth; limits and entries are random, and of no row's own doing."""
    generator = np.random.default_rng(int(10 * censored) + 100 * late)
    life = family.quantile(generator.uniform(size=ROWS))
    limit = np.inf
    if censored:
        limit = family.quantile(1 - censored) + generator.normal(0, 0.5, ROWS)
    z, event = np.minimum(life, limit), (life <= limit).astype(float)
    if not late:
        return z, event, None
    entry = family.quantile(0.3) + generator.normal(0, 1, ROWS)
    seen = entry < z
    return z[seen], event[seen], entry[seen]


@EVERY_LAW
@pytest.mark.parametrize("late", [False, True], ids=["from the start", "late"])
@pytest.mark.parametrize("censored", [0.0, 0.3, 0.6])
def test_a_martingale_whose_events_give_its_variance_and_slope(
    family: Family, censored: float, late: bool
) -> None:
    """Eighteen cases of three means: 4 standard errors are passed once in 300 runs of other seeds."""
    z, event, entry = watched(family, censored, late)
    found = signs(family, z, event, entry)
    assert ((found.score >= -1) & (found.score <= 1)).all()
    assert far(found.score) < 4
    assert far(found.score**2 - event * found.integrand**2) < 4
    step = 0.05
    after, before = (
        signs(family, z + change, event, None if entry is None else entry + change).score
        for change in (step, -step)
    )
    assert far((after - before) / (2 * step) - event * found.integrand * family.log_hazard_slope(z)) < 4


@EVERY_LAW
def test_without_censoring_it_is_the_sign_about_the_median(family: Family) -> None:
    z = np.linspace(-30, 30, 1001) + 1e-6
    score = signs(family, z, np.ones_like(z)).score
    assert (score == np.sign(z - family.quantile(0.5))).all()


@EVERY_LAW
def test_a_row_that_enters_late_is_judged_by_what_is_left_to_it(family: Family) -> None:
    """Its median is that of lives beyond its entry; beyond all hazards, or with no stay, it is finite."""
    entry = np.array([-60.0, -1.0, 0.5, 2.0])
    median = family.quantile(1 - 0.5 * family.sf(entry))
    for shift, score in ((-1e-6, -1.0), (1e-6, 1.0)):
        assert signs(family, median + shift, np.ones(4), entry).score == pytest.approx(score)
    censored = signs(family, median - 1e-6, np.zeros(4), entry)
    assert censored.score == pytest.approx(np.ones(4), abs=1e-4) and (censored.integrand == 0).all()
    assert signs(family, entry, np.zeros(4), entry).score == pytest.approx(np.zeros(4))
    beyond = signs(family, np.array([1e6, np.inf]), np.ones(2), np.array([-1e6, 1e6]))
    assert np.isfinite(beyond.score).all()


@EVERY_LAW
@pytest.mark.parametrize("fraction", [1.0, 0.7, 0.4, 0.2])
def test_sizes_of_rows_watched_to_one_hazard(family: Family, fraction: float) -> None:
    """Per event: the slope of the mean score by finite differences, and its mean square, on a fine grid."""
    life = family.quantile((np.arange(1_000_000) + 0.5) / 1_000_000)
    limit = family.quantile(fraction)
    z, event, step = np.minimum(life, limit), (life <= limit).astype(float), 0.01
    after, before = (signs(family, z + change, event).score.mean() for change in (step, -step))
    expected = sizes(family, fraction)
    assert expected.slope == pytest.approx((after - before) / (2 * step) / fraction, rel=2e-3)
    square = np.mean(signs(family, z, event).score ** 2)
    assert expected.square == pytest.approx(square / fraction, rel=1e-3)


@EVERY_LAW
def test_the_largest_slope_bounds_all_but_the_earliest_events(family: Family) -> None:
    z = family.quantile(np.linspace(1e-4, 0.5, 2000)[:-1])
    slope = signs(family, z, np.ones_like(z)).integrand * family.log_hazard_slope(z)
    assert 0.99 * largest_slope(family) <= slope.max() <= largest_slope(family) * (1 + 1e-12)

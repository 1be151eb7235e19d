"""The check of the error law tells a wrong one and is silent at the right one."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpstats as dps
from dpstats.budget import Budget
from dpstats.estimators.location_scale.checks import _contrasts, _shortened, _tilted
from dpstats.estimators.location_scale.event_expectations import MOST_SEEN
from dpstats.estimators.location_scale.strata_layout import Layout
from dpstats.estimators.matrices import symmetric_power
from dpstats.families import SEV, Family
from dpstats.results import SurvivalFit
from dpstats.testing import SeededNoise, noise
from tests.families.laws import EVERY_LAW

SCHEMA = dps.Schema(x=dps.bounded(-4, 4), t=dps.bounded(-6, 6), e=dps.event())


def frame(seed: int, law: str) -> pd.DataFrame:
    """10,000 rows, 30% of them censored at random."""
    generator = np.random.default_rng(seed)
    n = 10_000
    x = generator.normal(size=n).clip(-4, 4)
    errors = np.log(generator.exponential(size=n)) if law == "sev" else generator.normal(size=n)
    failure = 0.7 * x + 0.5 * errors
    censoring = generator.normal(0.7, 1.0, size=n)
    return pd.DataFrame({"x": x, "t": np.minimum(failure, censoring), "e": (failure <= censoring) * 1})


@pytest.mark.parametrize("fits", [3, pytest.param(6, marks=pytest.mark.long)])
@pytest.mark.parametrize("law", ["sev", "normal"])
@pytest.mark.parametrize("dist", ["sev", "gaussian"])
def test_only_the_wrong_law_is_doubted(law: str, dist: str, fits: int) -> None:
    doubted = []
    for seed in range(fits):
        model = dps.survreg("Surv(t, e) ~ x", frame(seed, law), SCHEMA, dist=dist)
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(1, 1e-6))
        doubted.append("law" in dict(fit.flags))
    # a sound law is doubted once in a thousand fits at most, and the wrong one was in every fit tried
    assert sum(doubted) == (0 if (law == "sev") == (dist == "sev") else fits)


def watched_until(family: Family, fraction: float) -> np.ndarray:
    """The residual by which so many have failed; and all if none is said to be censored."""
    return family.quantile(fraction if fraction < MOST_SEEN else 1 - 1e-6)


@EVERY_LAW
@pytest.mark.parametrize("fraction", [0.05, 0.4, 0.95])
def test_shift_and_spread_are_not_taken_for_another_law(family: Family, fraction: float) -> None:
    """Rows whose residuals are a tenth off, and those of another law, watched to the same hazard."""
    z = family.quantile((np.arange(200_000) + 0.5) / 200_000)
    end = watched_until(family, fraction)

    def seen(times: np.ndarray, known: bool = False) -> np.ndarray:
        """Contrasts, in shares of the events."""
        found = _contrasts(family, fraction, known)
        hazard = np.exp(family.log_cumulative_hazard(np.minimum(times, end)))
        edges = np.append(0.0, found.edges)
        stays = np.diff(np.clip(hazard[:, None], edges[0], edges), axis=1).sum(axis=0)
        events = np.histogram(hazard[times <= end], edges)[0]
        return found.steps @ (events - stays) / (fraction * len(times))

    away = [seen(times) for times in (z + 0.1, z - 0.1, 1.1 * z, z / 1.1)]
    assert np.abs(away).max() < 0.02
    heavy = stats.t(2).ppf((np.arange(200_000) + 0.5) / 200_000)
    assert np.abs(seen(heavy)).max() > 0.05
    shifted = [seen(times, known=True) for times in (z + 0.1, z - 0.1)]
    spread = [seen(end + ratio * (z - end), known=True) for ratio in (0.5, 2)]  # as many fail
    assert np.abs(shifted).max() < 0.02
    assert np.abs(spread).max(axis=1).min() > 0.05


@pytest.mark.parametrize(
    ("n", "few", "budget"),
    [(10_000, 0.02, dps.approx(1, 1e-6)), (10_000, 0.02, dps.pure(5)), (20_000, 0.005, dps.approx(4, 1e-6))],
)
def test_a_few_lives_far_too_long_are_told(n: int, few: float, budget: Budget) -> None:
    """They are twenty times as long: fits were those of the others without a word."""
    schema = dps.Schema(x=dps.bounded(0, 10), t=dps.bounded(0.05, 20_000))
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.uniform(0, 10, n)
        lives = np.exp(5 + 0.1 * x + 0.5 * np.log(rng.exponential(size=n)))
        slipped = np.where(rng.random(n) < few, 20, 1)
        with noise(SeededNoise(seed)):
            wrong, right = (
                dps.survreg("Surv(t) ~ x", {"x": x, "t": times}, schema).fit(budget)
                for times in (lives * slipped, lives)
            )
        assert "law" in dict(wrong.flags) and "law" not in dict(right.flags)


@EVERY_LAW
@pytest.mark.parametrize("fraction", [0.4, 0.95])
def test_a_line_that_is_off_moves_contrasts_by_no_more_than_is_no_news(
    family: Family, fraction: float
) -> None:
    """Rows of the right law whose line is off: evenly to both sides, by a skewed column, by a rare flag."""
    n, rng, off = 200_000, np.random.default_rng(3), 0.5
    z = family.quantile(rng.permutation((np.arange(n) + 0.5) / n))
    end, found = watched_until(family, fraction), _contrasts(family, fraction)
    edges = np.append(0.0, found.edges)
    most = off * (found.by_line + off * _contrasts(family, fraction, True).by_line[0])

    def moved(way: np.ndarray, off: float) -> np.ndarray:
        times = z + np.sqrt(off) * way
        hazard = np.exp(family.log_cumulative_hazard(np.minimum(times, end)))
        stays = np.diff(np.clip(hazard[:, None], edges[0], edges), axis=1).sum(axis=0)
        events = np.histogram(hazard[times <= end], edges)[0]
        return np.abs(found.steps @ (events - stays)) / events.sum()

    even = rng.choice([-1, 1], n)
    for way in (even, rng.exponential(size=n) - 1, np.sqrt(50) * (rng.uniform(size=n) < 0.02)):
        assert (moved(way, off) < most).all()
    if (family, fraction) == (SEV, 0.95):  # where the second order is most of it
        np.testing.assert_allclose(moved(even, 0.1)[:2], 0.1 * found.by_line[:2], rtol=0.2)


@EVERY_LAW
@pytest.mark.parametrize("fraction", [0.05, 0.4, 0.95])
def test_along_rows_no_row_has_more_than_1_and_a_spread_moves_most_of_it(
    family: Family, fraction: float
) -> None:
    z = family.quantile((np.arange(200_000) + 0.5) / 200_000)
    end, found = family.quantile(fraction), _tilted(family, fraction)
    edges = np.append(0.0, found.edges)

    def added(times: np.ndarray) -> np.ndarray:
        """What each row gives."""
        hazard = np.exp(family.log_cumulative_hazard(np.minimum(times, end)))
        stays = np.diff(np.clip(hazard[:, None], edges[0], edges), axis=1)
        zone = np.minimum(np.searchsorted(found.edges, hazard), len(found.edges) - 1)
        return (times <= end) * found.steps[0][zone] - stays @ found.steps[0]

    assert 0.97 < np.abs(added(z)).max() <= 1 + 1e-6
    assert abs(added(z + 0.05).mean()) < 0.01 * fraction
    moved = added(end + np.exp(0.05) * (z - end)).mean() - added(end + np.exp(-0.05) * (z - end)).mean()
    assert abs(moved) / 0.1 > 0.6 * fraction
    steep = _contrasts(family, fraction, True)
    assert found.by_spread > 1.15 * steep.by_spread


@pytest.mark.parametrize("k", [1, 4, 12])
def test_of_normal_rows_as_much_is_left_as_is_taken_for_it(k: int) -> None:
    rows = np.random.default_rng(k).normal(size=(200_000, k))
    radius, once, twice = _shortened(k)
    short = rows * np.minimum(1.0, radius / np.linalg.norm(rows, axis=1))[:, None] / radius
    assert np.mean(short * rows) == pytest.approx(once, rel=0.02)
    assert np.mean(short**2) == pytest.approx(twice, rel=0.02)


def test_doubts_that_are_no_caution_yet_widen_intervals() -> None:
    """Errors of a t with 4 degrees of freedom, and too few rows to tell: log sigma was off in all of them."""
    schema = dps.Schema(x=dps.bounded(-4, 4), t=dps.bounded(-12, 12))
    held, doubted = [], []
    for seed in range(100, 112):
        generator = np.random.default_rng(seed)
        x = generator.normal(size=3000).clip(-4, 4)
        rows = {"x": x, "t": 0.5 * x + 0.5 * generator.standard_t(4, 3000)}
        with noise(SeededNoise(seed)):
            fit = dps.survreg("Surv(t) ~ x", rows, schema, dist="gaussian").fit(dps.approx(1, 1e-6))
        low, high = fit.conf_int().loc["Log(scale)"]
        doubted.append("law" in dict(fit.flags))
        held.append(low <= np.log(0.5 * np.sqrt(2)) <= high)
    assert not all(doubted)
    assert np.mean(np.array(held)[~np.array(doubted)]) >= 0.6


def test_bounds_are_wider_where_a_law_is_found_wrong() -> None:
    """Log sigma was off by .06 by what usual bounds do to normal errors, and its standard error as large."""
    data = frame(1, "normal")
    exact = dps.survreg("Surv(t, e) ~ x", data, SCHEMA, dist="sev").fit(dps.approx(1e6, 1e-6))
    held, errors, doubts = [], [], []
    for seed in range(4):
        wrong, right = (fitted(law, seed) for law in ("normal", "sev"))
        assert "law" in dict(wrong.flags) and "law" not in dict(right.flags)
        assert wrong.record.settings["cut c"] > 1.5 * right.record.settings["cut c"]
        held.append(abs(wrong.params - exact.params) < 1.96 * wrong.bse)
        errors.append(wrong.bse["Log(scale)"])
        doubts.append(right.bias_share.max())
    assert np.sum(held) >= 11 and np.median(errors) < 0.06  # of 12
    # what rows far out may say is a tenth of the variance of a right line
    assert np.median(doubts) < 0.11 and exact.bias_share.max() < 0.9


def fitted(law: str, seed: int) -> SurvivalFit:
    with noise(SeededNoise(seed)):
        return dps.survreg("Surv(t, e) ~ x", frame(1, law), SCHEMA, dist="sev").fit(dps.approx(1, 1e-6))


@pytest.mark.parametrize("budget", [dps.approx(1, 1e-6), dps.pure(2)])
def test_spreads_that_go_with_a_covariate_are_told_and_slopes_hold(budget: Budget) -> None:
    """Means over all rows hardly see them, and slopes were 6 standard errors off without a word."""
    rng, schema = np.random.default_rng(8), dps.Schema(x=dps.bounded(-4, 4), t=dps.bounded(-9, 5))
    x = rng.normal(size=10_000).clip(-4, 4)
    rows = {
        "x": x,
        "t": 0.5 * x + 0.5 * np.exp(0.35 * x.clip(-2.5, 2.5)) * np.log(rng.exponential(size=10_000)),
    }
    exact = dps.survreg("Surv(t) ~ x", rows, schema, dist="sev").fit(dps.approx(1e6, 1e-6))
    for seed in range(4):
        with noise(SeededNoise(seed)):
            fit = dps.survreg("Surv(t) ~ x", rows, schema, dist="sev").fit(budget)
        assert "law" in dict(fit.flags)
        assert abs(fit.params - exact.params)["x"] < 2.5 * fit.bse["x"]


@pytest.mark.parametrize("fits", [4, pytest.param(12, marks=pytest.mark.long)])
def test_doubt_of_the_law_does_not_depend_on_where_a_scale_begins(fits: int) -> None:
    """Slopes that another law moves turn about the rows: life at the mean of kelvins was 50 times vaguer."""
    data, moved = frame(3, "normal"), dps.Schema(x=dps.bounded(296, 304), t=dps.bounded(-6, 6), e=dps.event())
    turn = np.array([[1.0, -300.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    for seed in range(fits):
        with noise(SeededNoise(seed)):
            near = dps.survreg("Surv(t, e) ~ x", data, SCHEMA, dist="sev").fit(dps.approx(0.5, 1e-6))
        with noise(SeededNoise(seed)):
            far = dps.survreg("Surv(t, e) ~ x", data.assign(x=data.x + 300), moved, dist="sev")
            far = far.fit(dps.approx(0.5, 1e-6))
        cov, found = near.cov_params().to_numpy(), far.cov_params().to_numpy()
        assert found == pytest.approx(turn @ cov @ turn.T, rel=1e-3)
        assert abs(near.law.estimate) > 1.5 * near.law.std_error  # else nothing was added


def test_along_rows_of_strata_no_level_tells_of_another_law() -> None:
    """Each stratum has a sigma of its own, whose error made rows of its level look unlike others."""
    rng = np.random.default_rng(3)
    stratum = rng.choice(3, 20_000, p=[0.55, 0.35, 0.1])
    inside = np.eye(3, 5)
    rows = np.column_stack([np.eye(3)[stratum], rng.normal(size=(20_000, 2)) + 2.0 * stratum[:, None]])
    shares = np.bincount(stratum) / len(stratum)
    means = np.array([rows[stratum == g].mean(axis=0) for g in range(3)])
    square = rows.T @ rows / len(rows)
    layout = Layout(inside, np.eye(5), np.eye(5), shares, means, square)
    ways = layout.ways_within(symmetric_power(square, -0.5))
    assert ways.shape == (2, 5)
    np.testing.assert_allclose(ways @ means.T, 0.0, atol=1e-9)
    np.testing.assert_allclose(np.cov(ways @ rows.T), np.eye(2), atol=1e-3)

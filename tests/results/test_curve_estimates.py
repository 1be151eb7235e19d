"""What follows from survival curves: statsmodels' numbers without noise, derivatives, and honesty with it."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.duration.survfunc import SurvfuncRight, survdiff

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.moments.interval_counts import comparison, cumulative_hazard
from dpstats.results import CurveFit
from dpstats.results.curve_estimates import restricted_mean
from dpstats.testing import SeededNoise, noise
from tests.models.test_kaplan_meier import SCHEMA, TIMES, curve, rows

FINE = np.arange(1.25, 100.1, 0.25)


def made(counts: np.ndarray, sd: float = 0.5, budget: dps.budget.Budget | None = None) -> CurveFit:
    counts = np.atleast_2d(counts)
    return CurveFit(
        formula="Surv(t, e) ~ 1" if len(counts) == 1 else "Surv(t, e) ~ g",
        times=np.arange(1.0, counts.shape[1] // 3 + 1) * 10,
        groups=("",) if len(counts) == 1 else tuple("abcd"[: len(counts)]),
        counts=counts,
        sds=np.full(counts.shape, sd),
        nobs=1000,
        budget=budget or dps.zcdp(1),
        method="",
        adjacency="",
        unit="",
    )


def test_quantiles_are_those_of_the_curve() -> None:
    """On a fine grid, to its steps, with the limits of statsmodels on the log scale, to the next time."""
    data = rows(5000)
    theirs = SurvfuncRight(data["time"], data["failed"])
    found = curve(data, times=FINE).quantile([0.1, 0.25, 0.5])
    for p, row in zip([0.1, 0.25, 0.5], found.itertuples(), strict=True):
        low, high = theirs.quantile_ci(p, method="log")
        wanted = [theirs.quantile(p), low, high]
        assert [row.estimate, row.conf_low, row.conf_high] == pytest.approx(wanted, abs=1.0)
    median = curve(data, times=FINE).median()
    assert median.iloc[0].tolist() == found.iloc[2].tolist()


def test_the_curve_passes_through_its_quantiles() -> None:
    fit = curve(rows(2000), "maker")
    found = fit.quantile([0.05, 0.2, 0.4])
    for row in found.itertuples():
        there = fit.predict(row.estimate).set_index("group").loc[row.group]
        assert there["survival"] == pytest.approx(1 - row.failed)
    table = fit.table().groupby("group")
    for row in found.itertuples():  # limits are the last time before which, and the first at which it may be
        block, left = table.get_group(row.group), 1 - row.failed
        before, until = (block["time"] <= limit for limit in (row.conf_low, row.conf_high))
        assert (block["conf_low"] >= left).equals(before)
        assert block["conf_high"][until].iloc[-1] <= left < block["conf_high"][until].iloc[-2]


def test_what_is_not_reached_is_beyond_the_end() -> None:
    row = made([100.0, 100, 100, 0, 0, 0, 0, 0, 700]).quantile(0.5).iloc[0]
    assert np.isnan(row["estimate"]) and row["conf_low"] == 30 and row["conf_high"] == np.inf
    hidden = made([1.0, 1, 1, 0, 0, 0, 0, 0, 1], sd=50).median().iloc[0]
    assert np.isnan(hidden["estimate"]) and hidden["conf_high"] == np.inf
    assert made([1.0, 1, 1, 0, 0, 0, 0, 0, 1], sd=50).predict([0, 5]).loc[1:, "survival"].isna().all()


def test_predictions_are_the_table_at_its_times_and_lines_of_the_hazard_between() -> None:
    fit = curve(rows(2000), times=TIMES, budget=dps.zcdp(0.1))
    at_times, table = fit.predict(TIMES), fit.table()
    for name in ("survival", "conf_low", "conf_high", "cumulative_hazard"):
        assert at_times[name].to_numpy() == pytest.approx(table[name].to_numpy())
    fit = replace(fit, named=None)
    table, j = fit.table(), int(np.searchsorted(fit.times, 15.0))
    middle = fit.times[j - 1 : j + 1].mean()
    between = fit.predict([0, fit.times[0] / 2, middle, 99])
    hazards = np.append(0.0, table["cumulative_hazard"])
    wanted = [0.0, hazards[1] / 2, hazards[j : j + 2].mean()]
    assert between["cumulative_hazard"].to_numpy()[:3] == pytest.approx(wanted)
    assert between["survival"][0] == 1 and np.isnan(between["survival"][3])
    low, high = table["conf_low"], table["conf_high"]
    around = [[low[0], 1.0], [low[0], 1.0], [low[j], high[j - 1]]]
    assert between[["conf_low", "conf_high"]].to_numpy()[:3] == pytest.approx(np.array(around))


@pytest.mark.parametrize("until", [20.0, 47.3, 80.0])
def test_the_restricted_mean_is_the_area_below_the_curve(until: float) -> None:
    data = rows(20_000)
    theirs = SurvfuncRight(data["time"], data["failed"])
    ends = np.append(theirs.surv_times[theirs.surv_times < until], until)
    heights = np.append(1.0, theirs.surv_prob[: len(ends) - 1])
    area = float(heights @ np.diff(ends, prepend=0.0))
    later = np.array([heights[j:] @ np.diff(ends, prepend=0.0)[j:] for j in range(1, len(ends))])
    at_risk, events = theirs.n_risk[: len(ends) - 1], theirs.n_events[: len(ends) - 1]
    greenwood = float(np.sqrt((later**2 * events / (at_risk * (at_risk - events))).sum()))
    found = curve(data, times=FINE).rmst(until).iloc[0]
    assert found["estimate"] == pytest.approx(area, abs=0.01)
    assert found["std_error"] == pytest.approx(greenwood, rel=0.01)
    length = 2 * 1.959964 * found["std_error"] + 0.25 * (1 - heights[-1])  # a step
    assert found["conf_high"] - found["conf_low"] == pytest.approx(length, rel=0.05)


@pytest.mark.parametrize("first", [-1.0, 0.0])
def test_a_grid_that_does_not_begin_after_0_has_no_restricted_mean(first: float) -> None:
    hazards = cumulative_hazard(np.array([30.0, 20, 0, 0, 40, 900]), np.full(6, 0.5))
    with np.errstate(all="raise"):
        areas, weights = restricted_mean(np.array([first, 20.0]), hazards, 15.0)
    assert np.isnan(areas).all() and not weights.any()


@pytest.mark.parametrize("until", [4.0, 10.0, 17.0, 30.0])
def test_derivatives_of_the_restricted_mean(until: float) -> None:
    counts, times = np.array([30.0, 20, 25, 0, 0, 0, 40, 11, 900]), np.array([10.0, 20, 30])
    sds = np.full(9, 0.5)

    def areas(moved: np.ndarray) -> np.ndarray:
        return restricted_mean(times, cumulative_hazard(moved, sds), until)[0]

    gradients = np.array([(areas(counts + step) - areas(counts - step)) / 2e-4 for step in 1e-4 * np.eye(9)])
    hazards = cumulative_hazard(counts, sds)
    weights = restricted_mean(times, hazards, until)[1]
    assert weights @ hazards.gradient == pytest.approx(gradients.T, rel=1e-4, abs=1e-6)
    gradient = gradients[:, 0]
    found = made(counts).rmst(until).iloc[0]
    privacy = 0.25 * (gradient**2).sum()
    assert found["privacy_share"] * found["std_error"] ** 2 == pytest.approx(privacy, rel=1e-4)
    errors = 1.959964 * found["std_error"]  # by sampling, noise and the grid
    assert found["conf_low"] <= max(found["estimate"] - errors, 0.0)
    assert found["conf_high"] >= min(found["estimate"] + errors, until)
    fine = np.linspace(0, until, 200_001)
    assert found["estimate"] == pytest.approx(np.trapezoid(made(counts).predict(fine)["survival"], fine))


def test_the_log_rank_test_is_that_of_statsmodels() -> None:
    data = rows(4000, seed=3)
    rng = np.random.default_rng(0)
    longer = np.where(data["maker"] == "A", rng.uniform(1, 1.25, len(data)), 1.0)
    data = data.assign(time=np.minimum(data["time"] * longer, 100))
    for right, kept in (("maker", ["A", "B", "C"]), ("maker", ["A", "B"])):
        some = data[data["maker"].isin(kept)]
        statistic, p = survdiff(some["time"], some["failed"], some["maker"])
        test = curve(some, right, times=FINE).logrank()
        if len(kept) == 3:
            assert test.df == 2 and test.statistic == pytest.approx(statistic, rel=0.03)
            assert test.pvalue == pytest.approx(stats.chi2.sf(test.statistic, 2))
            assert test.pvalue == pytest.approx(p, rel=0.2)
        assert test.frame["events"].sum() == pytest.approx(test.frame["expected"].sum())
        assert f"chi2({test.df})" in str(test)


def test_noise_in_the_log_rank_scores_is_their_derivative_in_the_counts() -> None:
    counts = np.array([[30.0, 20, 25, 4, 9, 6, 40, 11, 900], [50.0, 35, 20, 8, 3, 6, 10, 31, 700]] * 2)
    counts[2] *= 0.3

    def score(moved: np.ndarray) -> np.ndarray:
        found = comparison(moved, np.full(moved.shape, 0.5))
        return found.events - found.expected

    gradient = []
    for j in range(counts.size):
        step = np.zeros(counts.size)
        step[j] = 1e-4
        step = step.reshape(counts.shape)
        gradient.append((score(counts + step) - score(counts - step)) / 2e-4)
    noisy = (
        comparison(counts, np.full(counts.shape, 3.0)).cov - comparison(counts, np.zeros(counts.shape)).cov
    )
    assert noisy == pytest.approx(9 * np.array(gradient).T @ np.array(gradient), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("budget", [dps.approx(0.5, 1e-6), dps.pure(0.5)], ids=["gaussian", "pure"])
def test_the_log_rank_test_keeps_its_level_under_noise(budget: dps.budget.Budget) -> None:
    """150 tables of three equal groups, of which noise is most of the variance: chi-square with 2 degrees."""
    rejected, statistics = 0, []
    for rep in range(150):
        with noise(SeededNoise(rep)):
            model = dps.kaplan_meier("Surv(time, failed) ~ maker", rows(1500, rep), SCHEMA, times=TIMES)
            test = model.fit(budget).logrank()
        rejected += test.pvalue < 0.05
        statistics.append(test.statistic)
    assert stats.binomtest(rejected, 150, 0.05).pvalue > 1e-3
    assert stats.kstest(statistics, stats.chi2(2).cdf).pvalue > 1e-3


def test_groups_that_differ_are_told_apart() -> None:
    data = rows(6000, seed=2)
    data = data.assign(time=np.where(data["maker"] == "A", np.maximum(data["time"] * 0.8, 1), data["time"]))
    with noise(SeededNoise(1)):
        model = dps.kaplan_meier("Surv(time, failed) ~ maker", data, SCHEMA, times=TIMES)
        assert model.fit(dps.approx(1, 1e-6)).logrank().pvalue < 1e-3


@pytest.mark.parametrize("curves", [20, pytest.param(60, marks=pytest.mark.long)])
def test_intervals_of_quantiles_and_restricted_means_cover(curves: int) -> None:
    """Of 5,000 rows at a usual grid: four intervals each, which go together by curve."""
    grid = [5.0, 10, 15, 20, 30, 40, 50, 60, 80]
    law = stats.weibull_min(1.3, loc=1, scale=40)
    failed = [0.1, 0.25, 0.5]
    inside = []
    for rep in range(curves):
        with noise(SeededNoise(rep)):
            model = dps.kaplan_meier("Surv(time, failed) ~ 1", rows(5000, rep), SCHEMA, times=grid)
            fit = model.fit(dps.approx(1, 1e-6))
        found = fit.quantile(failed)
        inside += [*((found["conf_low"] <= law.ppf(failed)) & (law.ppf(failed) <= found["conf_high"]))]
        mean = fit.rmst(60).iloc[0]
        inside.append(mean["conf_low"] <= law.expect(lambda t: np.minimum(t, 60)) <= mean["conf_high"])
    assert 0.88 <= np.mean(inside) <= 1.0


@pytest.mark.parametrize("law", ["early", "late", "halfway"])
def test_limits_hold_wherever_between_two_times_units_fail(law: str) -> None:
    """A fifth of 20,000 rows fails between 20 and 80, at either end or in the middle, on a coarse grid."""
    n, rng = 20_000, np.random.default_rng(7)
    begin = {"early": 20.0, "late": 78.0, "halfway": 49.0}[law]
    life = np.where(rng.random(n) < 0.2, rng.uniform(begin, begin + 2, n), 1000.0)
    data = pd.DataFrame({"time": np.minimum(life, 100), "failed": (life <= 100).astype(int), "maker": "A"})
    with noise(SeededNoise(3)):
        model = dps.kaplan_meier("Surv(time, failed) ~ 1", data, SCHEMA, times=[20.0, 80, 100])
        fit = model.fit(dps.approx(1, 1e-6))
    b10 = fit.quantile(0.1).iloc[0]
    assert b10["conf_low"] <= begin + 1 <= b10["conf_high"] and b10["conf_high"] < np.inf
    found = fit.predict([30.0, 50, 70])
    share = np.clip((np.array([30.0, 50, 70]) - begin) / 2, 0, 1)
    assert (found["conf_low"] <= 1 - 0.2 * share).all() and (1 - 0.2 * share <= found["conf_high"]).all()
    mean = fit.rmst(80).iloc[0]
    assert mean["conf_low"] <= 80 - 0.2 * (79 - begin) <= mean["conf_high"]


def test_a_mean_that_the_curve_does_not_reach_says_how_far_that_is_known() -> None:
    counts = [[100.0, 30, 0, 0, 0, 0, 0, 20, 0], [100, 50, 40, 0, 0, 0, 0, 0, 20]]
    with pytest.warns(
        UserWarning, match="rmst: the curve of a is known until 20; a mean until then is"
    ) as told:
        missing = made(counts).rmst(30)
    assert np.isnan(missing["estimate"]).tolist() == [True, False] and len(told) == 1
    assert made(counts).rmst(20)["estimate"].notna().all()
    with warnings.catch_warnings(action="error"):  # from 0 on nothing is known until any time
        assert replace(made(counts), times=np.array([0.0, 20, 30])).rmst(30)["estimate"].isna().all()


def test_limits_between_two_times_are_those_about_them() -> None:
    """Units may all fail right after the time before, or right before the time after."""
    found = made([100.0, 100, 100, 0, 0, 0, 0, 0, 700]).predict([10, 12.5, 20])
    assert found["conf_high"][1] == found["conf_high"][0] and found["conf_low"][1] == found["conf_low"][2]


def test_bands_are_drawn_from_time_to_time() -> None:
    fit = made([100.0, 100, 100, 0, 0, 0, 0, 0, 700])
    table = fit.table()
    path = fit.plot(of="survival").collections[0].get_paths()[0].vertices
    for time in (5.0, 15.0, 25.0):
        j = int(time // 10)
        at = path[(path[:, 0] > time - 5.1) & (path[:, 0] < time + 5.1), 1]
        assert at.min() <= table["conf_low"][j] and at.max() >= ([1.0, *table["conf_high"]])[j] - 1e-12


def test_limits_of_a_median_and_a_mean_have_the_level_that_is_asked_for() -> None:
    fit = curve(rows(2000), times=FINE)
    pd.testing.assert_frame_equal(fit.median(level=0.5), fit.quantile(0.5, level=0.5))
    for found in (fit.median, lambda level: fit.rmst(50, level)):
        wide, narrow = (found(level).iloc[0] for level in (0.95, 0.5))
        assert wide["conf_low"] < narrow["conf_low"] < narrow["conf_high"] < wide["conf_high"]


def test_laplace_noise_has_longer_limits() -> None:
    counts = np.array([[500.0] * 3 + [0] * 5 + [1e6]])
    fits = [made(counts, 400, budget) for budget in (dps.pure(1), dps.zcdp(1))]
    least = fits[0].predict([10, 20, 30])["survival"].sum() * 10  # were all to fail right after each time
    one, other = (least - fit.rmst(30, level=0.999)["conf_low"][0] for fit in fits)
    assert 1.05 < one / other < 1.5


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda fit: fit.predict(), "predict needs finite times"),
        (lambda fit: fit.quantile(1.0), "failed fractions are between 0 and 1"),
        (lambda fit: fit.rmst(0), "rmst: until needs finite times above 0"),
        (lambda fit: fit.rmst(31), "until must be at most 30, the last time of the grid"),
        (lambda fit: fit.rmst("soon"), "until must be a number"),
        (lambda fit: fit.logrank(), "logrank compares groups"),
        (lambda fit: fit.median(0.05), "alpha"),
    ],
)
def test_mistakes_are_named(ask, words: str) -> None:
    with pytest.raises(SpecificationError, match=words):
        ask(made([30.0, 20, 25, 4, 9, 6, 40, 11, 900]))


def test_groups_are_offered_to_be_compared_where_there_are_several() -> None:
    counts = [30.0, 20, 25, 4, 9, 6, 40, 11, 900]
    assert "logrank" not in dir(made(counts)) and "quantile" in dir(made(counts))
    assert "logrank" in dir(made([counts, counts]))


def test_frames_have_a_row_for_each_group() -> None:
    fit = curve(rows(2000), "maker", times=TIMES)
    for found, per_group in (
        (fit.median(), 1),
        (fit.quantile(), 3),
        (fit.predict([1, 2]), 2),
        (fit.rmst(50), 1),
    ):
        assert isinstance(found, pd.DataFrame)
        assert found["group"].tolist() == [group for group in "ABC" for _ in range(per_group)]

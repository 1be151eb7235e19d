"""Private Kaplan-Meier curves: exact without noise, honest with it, and refused where they make no sense."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.duration.survfunc import SurvfuncRight

import dpstats as dps
from dpstats.errors import BudgetError, FormulaError, SpecificationError
from dpstats.estimators.exit_times import _passed, public_times
from dpstats.moments.interval_counts import cumulative_hazard, how_many
from dpstats.moments.mixture import Tails
from dpstats.results import CurveFit
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.results.test_record import reachable

SCHEMA = dps.Schema(
    time=dps.bounded(1, 100, unit="days"),
    failed=dps.event(),
    maker=dps.levels("A", "B", "C"),
    temp=dps.bounded(0, 1),
)
TIMES = [5.0, 10, 20, 30, 50, 80]
LARGE = dps.zcdp(1e6)


def rows(n: int = 2000, seed: int = 1, censored: bool = True) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    time, end = rng.weibull(1.3, n) * 40 + 1, rng.uniform(0, 120, n) if censored else np.full(n, np.inf)
    end = np.minimum(end, 100.0)
    return pd.DataFrame(
        {
            "time": np.minimum(time, end),
            "failed": (time <= end).astype(int),
            "maker": rng.choice(["A", "B", "C"], n),
            "temp": 0.5,
        }
    )


def curve(data: pd.DataFrame, right: str = "1", budget: dps.budget.Budget = LARGE, **more) -> CurveFit:
    with noise(NoNoise()):
        return dps.kaplan_meier(f"Surv(time, failed) ~ {right}", data, SCHEMA, **more).fit(budget)


def test_without_censoring_it_is_the_share_that_survives() -> None:
    data = rows(censored=False)
    frame = curve(data, times=TIMES).frame
    share = np.array([(data["time"] > time).mean() for time in TIMES])
    assert frame["survival"].to_numpy() == pytest.approx(share, rel=1e-12)
    n = len(data)  # Greenwood
    assert frame["std_error"].to_numpy() == pytest.approx(np.sqrt(share * (1 - share) / n), rel=1e-3)


def test_a_weight_counts_units() -> None:
    data = rows(500)
    data["units"] = np.random.default_rng(3).integers(0, 6, len(data))
    schema = SCHEMA | dps.Schema(units=dps.count(8))
    each = data.loc[data.index.repeat(data["units"])]
    with noise(NoNoise()):
        weighted = dps.kaplan_meier("Surv(time, failed) ~ maker", data, schema, TIMES, weights="units").fit(
            LARGE
        )
    same = curve(each, "maker", times=TIMES).frame
    known = ["group", "time", "at_risk", "events", "survival"]
    pd.testing.assert_frame_equal(weighted.frame[known], same[known], rtol=1e-9)
    np.testing.assert_allclose(
        weighted.frame["std_error"], same["std_error"], rtol=1e-4
    )  # noise is as good as none
    again = CurveFit.from_dict(weighted.to_dict())
    assert again.weights == "units" and "Weights    units" in str(again)


def test_noise_grows_with_the_largest_weight() -> None:
    """Times are as many as the first look finds: .4 times as many, by its noise .27 to .6 in one of 60."""
    data = rows(500).assign(units=2)
    found: dict[int, list[CurveFit]] = {2: [], 8: []}
    for most, fits in found.items():
        schema = SCHEMA | dps.Schema(units=dps.count(most))
        model = dps.kaplan_meier("Surv(time, failed) ~ 1", data, schema, weights="units")
        fits += [model.fit(dps.zcdp(1)) for _ in range(12)]
    assert found[8][0].sds.max() == pytest.approx(4 * found[2][0].sds.max())
    few, many = (np.mean([len(fit.times) for fit in found[most]]) for most in (8, 2))
    assert few < 0.5 * many, "of the noise that its rows are worth"


def test_with_censoring_it_is_near_to_kaplan_and_meier() -> None:
    data = rows(20_000)
    theirs = SurvfuncRight(data["time"], data["failed"])

    def wanted(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = np.searchsorted(theirs.surv_times, times, side="right") - 1
        return theirs.surv_prob[at], theirs.surv_prob_se[at]

    coarse, fine = (curve(data, times=times).frame for times in (TIMES, np.arange(1.5, 100.1, 0.25)))
    assert coarse["survival"].to_numpy() == pytest.approx(wanted(np.array(TIMES))[0], abs=2e-3)
    survival, error = wanted(fine["time"].to_numpy())
    assert fine["survival"].to_numpy() == pytest.approx(survival, abs=5e-4)
    assert fine["std_error"].to_numpy() == pytest.approx(error, rel=0.01)


def test_rows_censored_at_a_time_of_the_grid_are_at_risk_through_it() -> None:
    """As in R: with all censoring at times of the grid the curve is Kaplan and Meier's, to the last digit."""
    data, ends = rows(5000, censored=False), np.random.default_rng(2).choice(TIMES, 5000)
    data = data.assign(failed=(data["time"] <= ends).astype(int), time=np.minimum(data["time"], ends))
    theirs = SurvfuncRight(data["time"], data["failed"])
    at = np.searchsorted(theirs.surv_times, TIMES, side="right") - 1
    frame = curve(data, times=TIMES).frame
    known = frame["survival"].notna().to_numpy()
    assert known.sum() >= 5
    assert frame["survival"].to_numpy()[known] == pytest.approx(theirs.surv_prob[at][known], rel=1e-9)
    assert frame["std_error"].to_numpy()[known] == pytest.approx(theirs.surv_prob_se[at][known], rel=2e-3)


def test_counts_are_of_exits_and_a_row_at_a_time_of_the_grid_has_its_place() -> None:
    data = pd.DataFrame(
        {"time": [5, 5, 5.5, 80, 80, 99, 0.2, np.nan, 29.9], "failed": [1, 0, 1, 1, 0, 1, 1, 1, 0]}
    )
    recording = Recording(NoNoise())
    with noise(recording):
        dps.kaplan_meier("Surv(time, failed) ~ 1", data, SCHEMA, times=TIMES).fit(dps.zcdp(1))
    look, counts = recording.records
    assert len(look.exact) == 3 * len(public_times(1, TIMES[-1]))
    events, censored, at_end, beyond = np.split(counts.exact, [6, 12, 17])
    assert list(events) == [2, 1, 0, 0, 0, 1] and list(censored) == [0, 0, 0, 1, 0, 0]
    assert list(at_end) == [1, 0, 0, 0, 0] and beyond == [2]


@pytest.mark.parametrize("high", [200.0, 1e6])
def test_times_are_found_where_rows_leave_whatever_the_bounds(high: float) -> None:
    """Of 5,000 rows: between two times no more than a tenth fails, from a bound of 0 on too."""
    data = rows(5000, censored=False)
    schema = dps.Schema(time=dps.bounded(0, high), failed=dps.event())
    with noise(SeededNoise(5)):
        fit = dps.kaplan_meier("Surv(time, failed) ~ 1", data, schema).fit(dps.approx(1, 1e-6))
    left = [(data["time"] > time).mean() for time in [0.0, *fit.times]]
    assert 25 <= len(fit.times) <= 40 and -np.diff(left).min() < 0.1
    found, truth = fit.quantile([0.1, 0.5]), data["time"].quantile([0.1, 0.5]).to_numpy()
    assert (found["conf_low"] <= truth).all() and (truth <= found["conf_high"]).all()
    assert (found["conf_high"] < 1.6 * found["conf_low"]).all()


def test_times_follow_from_public_bounds_and_from_what_is_released_alone() -> None:
    recording = Recording(SeededNoise(5))
    with noise(recording):
        model = dps.kaplan_meier("Surv(time, failed) ~ maker", rows(), SCHEMA)
        fit = model.fit(dps.approx(1, 1e-6))
    look, counts = recording.records
    assert model.times is None and len(look.exact) == 9 * len(public_times(1, 100))
    assert len(counts.exact) == 9 * len(fit.times)
    assert 8 <= len(fit.times) <= how_many(2000 / 3, fit.sds.max()) + 1
    no_rows = curve(rows().assign(time=np.nan))
    assert np.diff(no_rows.times).max() < 1.01 * np.diff(no_rows.times).min()


@pytest.mark.parametrize("subset", [None, "maker == 'B'"])
def test_times_of_few_rows_do_not_cluster_where_noise_stands_out(subset: str | None) -> None:
    """Of 400 rows, by themselves or in a table of 4,000: cells above 2 sds of noise had all times."""
    failed, last = [], []
    for seed in range(8):
        data = rows(4000, seed).assign(maker=np.repeat(["B", "A"], [400, 3600]))
        with noise(SeededNoise(seed)):
            fit = dps.kaplan_meier(
                "Surv(time, failed) ~ 1", data if subset else data[:400], SCHEMA, subset=subset
            ).fit(dps.approx(1, 1e-6))
        seen = fit.frame.dropna()
        last.append(seen["survival"].min() if len(seen) else 1.0)
        left = np.append(1.0, np.exp(-(((fit.times - 1) / 40) ** 1.3)))
        failed.append(-np.diff(left).min())
        assert len(fit.times) < 16, "of the rows that weigh, not of n"
    assert np.median(last) < 0.9 and np.median(failed) < 0.5


def test_times_are_even_where_a_look_tells_nothing_and_found_where_it_tells_much() -> None:
    """Noise of 30 in each of 75 cells: of 200 failures nothing is seen, of 20,000 in one cell all."""
    ends, rng = np.append(0.0, public_times(0.0, 100.0)), np.random.default_rng(1)
    noisy, variances = rng.normal(0, 30, len(ends) - 1), np.arange(len(ends)) * 900.0
    hidden = _passed(ends, np.append(0.0, np.cumsum(noisy + 200 / len(noisy))), variances)
    assert np.abs(hidden - ends / 100).max() < 0.2
    cell = int(np.searchsorted(ends, 1e-3))
    noisy[cell] += 20_000
    told = _passed(ends, np.append(0.0, np.cumsum(noisy)), variances)
    assert told[cell + 1] - told[cell] > 0.9 and (np.diff(told) >= 0).all()


def test_a_curve_that_few_rows_cut_short_advises_to_name_fewer_times() -> None:
    advice = "fewer and early times, named by times="
    advised = []
    for n, times in ((300, None), (300, [10.0, 30.0]), (20_000, None)):
        model, texts = dps.kaplan_meier("Surv(time, failed) ~ 1", rows(n), SCHEMA, times), []
        for seed in range(5):
            with noise(SeededNoise(seed)):
                texts.append(" ".join(str(model.fit(dps.approx(1, 1e-6))).split()))
        advised.append(any(advice in text for text in texts))
    assert advised == [True, False, False]


def test_no_times_are_advised_where_noise_hides_nearly_all_rows_at_any() -> None:
    """Of 20 rows noise hides all at any times, of 200 those that are left at the first of many."""
    advised = {20: 0, 200: 0}
    for n in advised:
        for seed in range(15):
            with noise(SeededNoise(seed)):
                model = dps.kaplan_meier("Surv(time, failed) ~ 1", rows(n, seed), SCHEMA)
                fit = model.fit(dps.approx(1, 1e-6), force=True)
            assert fit.frame["survival"].isna().mean() >= 0.5
            advised[n] += "named by times=" in " ".join(str(fit).split())
    assert advised[20] <= 5 and advised[200] >= 10


@pytest.mark.parametrize("censored", [False, True])
def test_a_curve_without_a_failure_asks_for_the_code_of_the_event(censored: bool) -> None:
    """Where no row has the declared code, whether others are censored or no row is at risk at all."""
    schema = dps.Schema(time=SCHEMA["time"], failed=dps.event(failed="Failed", censored="ok"))
    asked = {"Failed": 0, "failed": 0}
    for code in asked:
        for seed in range(10):
            data = rows(2000, seed, censored)
            data["failed"] = np.where(data["failed"] == 1, code, "ok")
            with noise(SeededNoise(seed)):
                fit = dps.kaplan_meier("Surv(time, failed) ~ 1", data, schema, TIMES).fit(dps.approx(1, 1e-6))
            asked[code] += "does the code of the event say what failed" in " ".join(str(fit).split())
    assert asked["Failed"] == 0 and asked["failed"] >= 8


def test_limits_hold_where_times_are_rounded_up_and_times_of_the_grid_are_others() -> None:
    """Times in months, a grid between them: R's curve of all rows, without noise, is within the limits."""
    data = rows(50_000)
    data["time"] = np.ceil(data["time"] / 10) * 10
    theirs = SurvfuncRight(data["time"], data["failed"])
    grid = np.arange(15.0, 76, 10)
    at = np.searchsorted(theirs.surv_times, grid, side="right") - 1
    frame = curve(data, times=grid).frame
    assert (
        frame["conf_low"].le(theirs.surv_prob[at]).all() and frame["conf_high"].ge(theirs.surv_prob[at]).all()
    )


def test_named_times_are_met_and_have_limits_as_near_as_a_grid_that_is_found() -> None:
    """Of 20,000 rows most are censored between the three times, which alone leave open when."""
    data, named = rows(20_000), [30.0, 60.0, 90.0]
    half = {}
    for times in (named, None):
        with noise(SeededNoise(5)):
            fit = dps.kaplan_meier("Surv(time, failed) ~ 1", data, SCHEMA, times).fit(dps.approx(1, 1e-6))
        limits = fit.predict(named) if times is None else fit.table()
        half[times is None] = (limits["conf_high"] - limits["conf_low"]).to_numpy()
        mean = fit.rmst(90).iloc[0]
        assert mean["conf_high"] - mean["conf_low"] < 6
        if times is not None:
            assert list(limits["time"]) == named == fit.named.tolist() and len(fit.times) > 10
            risk = [(data["time"] > time).sum() for time in [0.0, *named[:-1]]]
            failed = np.histogram(data["time"][data["failed"] == 1], [0.0, *named])[0]
            noise_of_sums = 5 * fit.sds.max() * np.sqrt(3 * len(fit.times))
            assert np.abs(limits["at_risk"] - risk).max() < noise_of_sums
            assert np.abs(limits["events"] - failed).max() < noise_of_sums
            assert CurveFit.from_dict(fit.to_dict()).table().equals(limits)
            assert CurveFit.from_dict(fit.to_dict()).named.tolist() == named
    assert (half[False] < 1.2 * half[True]).all()


def test_where_nothing_is_left_open_named_times_are_all() -> None:
    fit = curve(rows(censored=False), times=[50.0, 100.0], budget=dps.approx(0.3, 1e-6))
    assert len(fit.times) < 8


def test_groups_are_curves_of_their_own() -> None:
    data = rows()
    frame = curve(data, "maker", times=TIMES).frame
    for level, block in frame.groupby("group"):
        alone = curve(data[data["maker"] == level], times=TIMES).frame
        assert block["survival"].to_numpy() == pytest.approx(alone["survival"].to_numpy(), abs=5e-3)
        assert block["events"].to_numpy() == pytest.approx(alone["events"].to_numpy(), rel=1e-12)
    assert list(frame["group"].unique()) == ["A", "B", "C"]


def test_hazards_that_change_within_a_wide_interval_widen_it() -> None:
    """Rows enter over two years and end on one day, so that few are left in the last interval."""
    rng, covered = np.random.default_rng(4), []
    times = [10.0, 30, 60, 99]
    truth = np.exp(-((np.array(times) / 40) ** 2))
    for _ in range(20):
        time, end = rng.weibull(2.0, 100_000) * 40, rng.uniform(0, 100, 100_000)
        data = pd.DataFrame({"time": np.minimum(time, end), "failed": (time <= end).astype(int)})
        frame = curve(data, times=times).frame
        covered.append(frame["conf_low"].le(truth) & frame["conf_high"].ge(truth) | frame["survival"].isna())
    assert np.mean(covered) > 0.85
    rich = curve(data, times=times)  # no budget says where in an interval rows leave
    assert (rich.table()["privacy_share"] < 0.01).all() and rich.table()["grid_share"].iloc[2] > 0.5
    assert rich.rmst(60)["grid_share"][0] > 0.5 > rich.rmst(60)["privacy_share"][0]


counts = st.lists(st.floats(-30, 500), min_size=18, max_size=18)


@settings(max_examples=50, deadline=None)
@given(counts, st.floats(0.01, 40), st.floats(0.5, 0.999))
def test_curves_stay_in_range_and_never_rise(noisy: list[float], sd: float, level: float) -> None:
    made = CurveFit(
        formula="Surv(t, e) ~ 1",
        times=np.arange(1.0, 7),
        groups=("",),
        counts=[noisy],
        sds=np.full((1, 18), sd),
        nobs=100,
        budget=dps.pure(1),
        method="",
        adjacency="",
        unit="",
    )
    frame = made.table(level).dropna()
    for name in ("survival", "conf_low", "conf_high"):
        assert frame[name].between(0, 1).all()
    assert (frame["conf_low"] <= frame["survival"]).all() and (frame["survival"] <= frame["conf_high"]).all()
    assert (np.diff(frame["survival"]) <= 0).all() and (frame["std_error"] >= 0).all()
    assert len(made.as_text().splitlines()) > 5 and max(map(len, made.as_text().splitlines())) <= 79


def test_the_delta_method_is_the_derivative() -> None:
    noisy = np.array([30.0, 20, 25, 4, 9, 6, 40, 11, 900])
    sds = np.full(9, 0.5)
    base = cumulative_hazard(noisy, sds)
    moved = np.array([cumulative_hazard(noisy + step, sds).value for step in 1e-5 * np.eye(9)])
    gradient = (moved - base.value).T / 1e-5
    changing = 12**-0.5 * noisy[:3] * noisy[3:6] / (np.array([1045, 971, 931]) * np.array([1011, 942, 900]))
    privacy, between = 0.25 * (gradient**2).sum(axis=1), np.cumsum(changing)
    assert base.each.se_privacy == pytest.approx(np.sqrt(privacy), rel=1e-4)
    assert base.each.se_grid == pytest.approx(between, rel=1e-4)
    assert base.each.se == pytest.approx(np.sqrt(gradient**2 @ noisy + privacy + between**2), rel=1e-4)


@pytest.mark.parametrize(("left", "said"), [(4.9, False), (5.1, True)])
def test_where_few_are_left_nothing_is_said(left: float, said: bool) -> None:
    """Fewer than five sds of the noise on their number."""
    found = cumulative_hazard(np.array([500.0, 0.0, 10 * left]), np.full(3, 10.0))
    assert np.isfinite([found.value[0], found.each.se[0], found.each.se_privacy[0]]).tolist() == [said] * 3


def test_a_curve_ends_where_noise_leaves_nobody_at_risk() -> None:
    """Errors of the times before were no numbers, as those of later ones were."""
    found = cumulative_hazard(np.array([100.0, -50.0, 0.0, 0.0, 40.0, 40.0]), np.ones(6))
    assert found.at_risk[1] < 0 and np.isnan(found.value).tolist() == [False, True]
    assert found.each.se[0] > 0 and np.isnan(found.each.se[1])


def test_both_scales_have_errors_of_sampling_and_noise() -> None:
    frame = curve(rows(), times=TIMES, budget=dps.zcdp(0.1)).frame
    assert list(frame["hazard_error"] * frame["survival"]) == pytest.approx(list(frame["std_error"]))
    assert (frame["privacy_share"] < 0.9).all()


def test_limits_under_pure_epsilon_count_the_tails_of_its_noise() -> None:
    """Few fail of very many, so that noise is all; at the first time that of one count, later of more."""
    fields = dict(
        formula="Surv(time, failed) ~ 1",
        times=np.arange(1.0, 41),
        groups=("",),
        nobs=10**9,
        counts=np.append(np.full(40, 500.0), np.append(np.zeros(79), 10**9))[None],
        sds=np.full((1, 120), 400.0),
        method="noisy counts of exits",
        adjacency="replace one row",
        unit="one row",
    )
    half = {}
    for budget in dps.pure(1), dps.zcdp(1):
        table = CurveFit(budget=budget, **fields).table(level=0.999)
        half[budget] = (-np.log(table["conf_low"]) - table["cumulative_hazard"]) / table["hazard_error"]
    laplace, normal = -np.log(0.001) / np.sqrt(2), 3.2905
    assert half[dps.zcdp(1)].to_numpy() == pytest.approx(normal, rel=1e-3)
    found = half[dps.pure(1)].to_numpy()
    assert found[0] == pytest.approx(laplace, rel=0.01)
    assert (np.diff(found) < 0).all() and normal < found[-1] < 1.15 * normal


def test_the_tails_are_those_of_sums_of_laplace_noise() -> None:
    """At 3 times of uneven counts, quantiles of the noise of each hazard by simulation."""
    rng, counts = np.random.default_rng(0), np.array([5e5, 2e5, 9e5, 0, 0, 0, 1e5, 2e5, 4e5])
    sds = np.full(9, 3e3)
    drawn = counts + rng.laplace(scale=3e3 / np.sqrt(2), size=(40_000, 9))
    values = np.array([cumulative_hazard(noisy, sds).value for noisy in drawn[:20_000]])
    found = cumulative_hazard(counts, sds)
    error = np.abs(values - found.value) / found.each.se_privacy
    tails = Tails("laplace", 1, found.each.one)
    half = tails.half_widths(0.99, np.diag(found.each.se_privacy**2)) / found.each.se_privacy
    beyond = (error > half).mean(axis=0)
    assert (beyond < 0.0135).all() and (beyond > 0.0075).all()
    assert (error > 2.576).mean(axis=0)[0] > 0.0135, "normal limits would not do"


@pytest.mark.parametrize("budget", [dps.approx(1, 1e-6), dps.pure(1)], ids=["gaussian", "pure"])
def test_intervals_cover(budget: dps.budget.Budget) -> None:
    """30 curves of 10,000 rows: about 600 intervals; full size in benchmarks/kaplan_meier_coverage.py."""
    inside = []
    model_times = [10.0, 20, 30, 40, 50, 60, 80]
    truth = np.exp(-(((np.array(model_times) - 1) / 40) ** 1.3))
    for rep in range(30):
        with noise(SeededNoise(rep)):
            fit = dps.kaplan_meier(
                "Surv(time, failed) ~ 1", rows(10_000, rep), SCHEMA, times=model_times
            ).fit(budget)
        inside.append(fit.frame["conf_low"].le(truth) & fit.frame["conf_high"].ge(truth))
    # intervals of one curve go together: 210 of them are worth fewer
    assert 0.88 <= np.mean(inside) <= 1.0


@pytest.mark.parametrize(
    ("formula", "times", "error"),
    [
        ("temp ~ 1", None, FormulaError),
        ("Surv(time, failed) ~ temp", None, FormulaError),
        ("Surv(time, failed) ~ maker + temp", None, FormulaError),
        ("Surv(time, failed) ~ 0 + maker", None, FormulaError),
        ("Surv(temp, time, failed) ~ 1", None, FormulaError),
        ("Surv(time, failed) ~ 1", [3.0, 2], SpecificationError),
        ("Surv(time, failed) ~ 1", [], SpecificationError),
        ("Surv(time, failed) ~ 1", [50.0, 200], SpecificationError),
    ],
)
def test_mistakes_are_named(formula: str, times: list[float] | None, error: type[Exception]) -> None:
    with pytest.raises(error):
        dps.kaplan_meier(formula, rows(10), SCHEMA, times=times)


def test_what_makes_no_groups_is_named() -> None:
    with pytest.raises(FormulaError, match=r"and not '~ temp'; for groups by numbers"):
        dps.kaplan_meier("Surv(time, failed) ~ temp", rows(), SCHEMA)


def test_it_is_charged_and_a_refusal_costs_nothing(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "a.ledger", total=dps.approx(1, 1e-6))
    model = dps.kaplan_meier("Surv(time, failed) ~ maker", rows(), SCHEMA)
    with pytest.raises(BudgetError, match="would fit"):
        model.fit(dps.approx(2, 1e-6), ledger=ledger)
    assert ledger.spent is None
    found = model.fit(dps.approx(1, 1e-6), ledger=ledger)
    assert "1.00 of 1.00 spent" in str(found) and not found.not_private
    assert "epsilon = 1, delta = 1e-06" in str(found) and "NOT PRIVATE" not in str(found)


def test_a_curve_is_saved_and_holds_nothing_else(tmp_path: Path) -> None:
    data = rows(1201)
    data.loc[:50, "time"] = 23.456789012
    found = dps.kaplan_meier("Surv(time, failed) ~ maker", data, SCHEMA).fit(dps.pure(1))
    found.save(tmp_path / "curve.json")
    with pytest.raises(SpecificationError, match=r"curve\.json exists.*overwrite=True"):
        found.save(tmp_path / "curve.json")
    found.save(tmp_path / "curve.json", overwrite=True)
    back = CurveFit.load(tmp_path / "curve.json")
    assert back.to_dict() == found.to_dict() == pickle.loads(pickle.dumps(found)).to_dict()
    assert back.frame.equals(found.frame) and repr(back) == repr(found)
    assert "23.4567" not in json.dumps(found.to_dict())
    for item in reachable(found):
        assert not (isinstance(item, np.ndarray) and 1201 in item.shape)
    with pytest.raises(SpecificationError, match="not a saved curve"):
        CurveFit.from_dict({"format": "dpstats.fit/1"})
    saved = back.to_dict()
    negative = [[-1.0] * len(row) for row in saved["sds"]]
    nested = {"times": [[time] for time in saved["times"]]}
    for edited in ({"nobs": -1}, {"times": saved["times"][::-1]}, nested, {"sds": negative}):
        with pytest.raises(SpecificationError, match="nobs must be|times must increase"):
            CurveFit.from_dict(saved | edited)
    for text in ("a\x1b[2K", "a\r", "\x9b2K", "\u202ea"):
        with pytest.raises(SpecificationError, match="incomplete|edited") as refused:
            CurveFit.from_dict(saved | {"groups": [text, *saved["groups"][1:]]})
        assert str(refused.value).isprintable()
    for some in ([[]], [], saved["times"][1::-1], [0.5 * saved["times"][0]]):
        with pytest.raises(SpecificationError, match="named must be some of the times, in their order"):
            CurveFit.from_dict(saved | {"named": some})


def test_a_curve_without_noise_says_so_everywhere() -> None:
    found = curve(rows(), "maker")
    assert "NOT PRIVATE" in str(found) and "Private" not in str(found)
    assert found.plot().get_title().startswith("NOT PRIVATE")


def test_a_flag_has_a_curve_for_each_of_its_codes() -> None:
    data = rows(3000)
    data["hot"] = np.where(np.random.default_rng(1).random(3000) < 0.3, "yes", "no")
    schema = dps.Schema(dict(SCHEMA) | {"hot": dps.flag(true="yes", false="no")})
    with noise(NoNoise()):
        found = dps.kaplan_meier("Surv(time, failed) ~ hot", data, schema, times=TIMES).fit(LARGE)
    assert found.groups == ("hot = no", "hot = yes") and found.factor == "hot"
    for code, block in zip(("no", "yes"), (b for _, b in found.frame.groupby("group")), strict=True):
        alone = curve(data[data["hot"] == code], times=TIMES).frame
        assert block["survival"].to_numpy() == pytest.approx(alone["survival"].to_numpy(), abs=5e-3)
        assert block["events"].to_numpy() == pytest.approx(alone["events"].to_numpy(), rel=1e-12)


CODED = dps.Schema(time=dps.bounded(1, 100), failed=dps.event(), maker=dps.levels("A", "B", "C"))


@pytest.mark.parametrize("budget", [dps.approx(1, 1e-6), dps.pure(2)])
def test_rows_without_weight_are_told_and_others_are_not(budget: dps.budget.Budget) -> None:
    """R's codes 1 and 2 are read as failed and unknown: what fails is left out, and the curve is wrong."""
    for seed in range(8):
        data = rows(4000, seed)
        told = []
        for codes in ((0, 1), (1, 2)):
            coded = data.assign(failed=np.array(codes)[data["failed"]])
            with noise(SeededNoise(seed)):
                told.append(dps.kaplan_meier("Surv(time, failed) ~ maker", coded, CODED).fit(budget))
        right, wrong = told
        lost = 100 * data["failed"].mean()
        assert right.flags == () and "Caution" not in str(right)
        ((code, message),) = wrong.flags
        assert code == "unusable" and "% of the rows that no subset or max_rows leaves out" in message
        sd = 100 * np.sqrt((wrong.sds**2).sum()) / 4000
        assert float(message.split()[1]) == pytest.approx(lost, abs=1 + 4 * sd)
        assert "Caution" in str(wrong) and CurveFit.from_dict(wrong.to_dict()).flags == wrong.flags


def test_rows_that_are_left_out_on_purpose_are_no_caution() -> None:
    data = rows(4000).assign(weight=0.5, id=np.arange(4000) // 2)
    for schema, more in (
        (CODED, {"subset": "maker == 'A'"}),
        (dps.Schema(**CODED, weight=dps.bounded(0, 1)), {"weights": "weight"}),
        (CODED.unit("id", max_rows=1), {}),
    ):
        with noise(SeededNoise(1)):
            fit = dps.kaplan_meier("Surv(time, failed) ~ 1", data, schema, **more).fit(dps.zcdp(1))
        assert fit.flags == ()


def test_numbers_of_rows_are_none_beyond_those_of_the_table() -> None:
    data = rows(300)
    seen = []
    for seed in range(30):
        with noise(SeededNoise(seed)):
            fit = dps.kaplan_meier("Surv(time, failed) ~ 1", data, SCHEMA, times=TIMES).fit(dps.pure(0.3))
        table = fit.table()
        assert table[["at_risk", "events"]].min().min() >= 0 and table["at_risk"].max() <= 300
        seen.append(table["at_risk"][0])
    assert 5 < sum(value == 300 for value in seen) < 25, "noise is on both sides"


def test_a_curve_says_how_two_groups_are_compared() -> None:
    data = rows(600)
    fit = curve(data, "maker", times=[10.0, 40.0])
    with pytest.raises(AttributeError, match="fit.logrank.* of two that of another fit.* of a coxph fit$"):
        fit.pairwise()
    with noise(NoNoise()):
        schema = SCHEMA.replace(maker=dps.levels("A", "B"))
        two = dps.kaplan_meier("Surv(time, failed) ~ maker", data, schema, times=[10.0, 40.0]).fit(LARGE)
    assert two.logrank().df == 1 and two.groups == ("A", "B")
    pair = data[data["maker"] != "C"]
    alone = curve(pair, "maker", times=[10.0, 40.0]).table()
    assert two.table()["survival"].to_numpy() == pytest.approx(alone["survival"].to_numpy()[:4])

"""A scale for each stratum: what is told of it, what is refused, and what results know."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.results import survival_quantities as quantities
from dpstats.results.newdata import points
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.luck import fewest, most

SCHEMA = dps.Schema(
    time=dps.bounded(1e-3, 1e4),
    failed=dps.event(),
    load=dps.bounded(-1, 1),
    maker=dps.levels("a", "b", "c"),
    start=dps.bounded(0, 1e4),
)
FORMULA = "Surv(time, failed) ~ maker + load + strata(maker)"
SIGMAS, SHARES = np.array([0.5, 1.2, 0.8]), (0.5, 0.3, 0.2)
TRUTH = np.array([3.0, 0.3, 0.6, 0.5, *np.log(SIGMAS)])
BUDGET = dps.approx(4, 1e-6)
AT = [{"load": 0.3, "maker": maker} for maker in "abc"]


def made(n: int, seed: int) -> dict[str, Any]:
    """Weibull times of three makers, a third of them censored."""
    draw = np.random.default_rng(seed)
    group, load = draw.choice(3, n, p=SHARES), draw.uniform(-1, 1, n)
    life = np.exp(3 + 0.3 * group + 0.5 * load + SIGMAS[group] * np.log(draw.exponential(size=n)))
    end = np.exp(3.5 + 0.5 * draw.normal(size=n))
    maker = np.array(list("abc"), dtype=object)[group]
    return {"time": np.minimum(life, end), "failed": 1 * (life <= end), "load": load, "maker": maker}


def fitted(data: dict[str, Any], formula: str = FORMULA, seed: int = 1, **how: Any) -> Any:
    with noise(SeededNoise(seed)):
        return dps.survreg(formula, data, SCHEMA, **how).fit(BUDGET)


@pytest.fixture(scope="module")
def fit() -> Any:
    return fitted(made(8000, 3))


def test_intervals_hold_slopes_and_each_scale() -> None:
    held = []
    for seed in range(8):
        low, high = fitted(made(4000, seed), seed=seed).conf_int().to_numpy().T
        held.append((low <= TRUTH) & (high >= TRUTH))
    assert np.mean(held) > 0.86  # of 56; .95 less three standard errors
    assert np.mean(np.array(held)[:, -3:]) > 0.8


@pytest.mark.parametrize("right", ["load + strata(maker)", "strata(maker)"])
def test_strata_need_no_column_of_their_own(right: str) -> None:
    """Such a fit was paid for and then failed, when fits began to keep the moments of their columns."""
    found = fitted(made(4000, 5), f"Surv(time, failed) ~ {right}")
    assert len(found.params) == 4 + ("load" in right) and found.record.columns is None


def test_a_small_stratum_far_from_the_others_has_its_own_scale() -> None:
    """A tenth of the units wears in a far narrower time than the rest."""
    truth, held = np.log(0.2), []
    for seed in range(6):
        draw = np.random.default_rng(seed)
        narrow, load = draw.uniform(size=6000) < 0.1, draw.uniform(-1, 1, 6000)
        scale = np.where(narrow, 0.2, 1.2)
        life = np.exp(3 + 0.3 * narrow + 0.5 * load + scale * np.log(draw.exponential(size=6000)))
        end = np.exp(3.5 + 0.5 * draw.normal(size=6000))
        maker = np.where(narrow, "b", np.where(draw.uniform(size=6000) < 0.5, "a", "c")).astype(object)
        rows = {"time": np.minimum(life, end), "failed": 1 * (life <= end), "load": load, "maker": maker}
        low, high = fitted(rows, seed=seed).conf_int().loc["Log(scale)[b]"]
        held.append((low <= truth <= high) and high - low < 1)
    assert np.mean(held) > 0.8


@pytest.mark.long
@pytest.mark.parametrize("dist", ["loglogistic", "lognormal"])
def test_strata_that_are_alike_have_the_scale_of_all(dist: str) -> None:
    data = made(20_000, 5)
    data["maker"] = np.random.default_rng(1).permutation(data["maker"])
    strata = fitted(data, dist=dist)
    one = fitted(data, "Surv(time, failed) ~ maker + load", dist=dist)
    away = (strata.params.to_numpy()[-3:] - one.params.to_numpy()[-1]) / strata.bse.to_numpy()[-3:]
    assert np.abs(away).max() < 4


def test_a_rare_stratum_is_never_told_with_confidence() -> None:
    """Of 6,000 rows 12 are of the last stratum, and hardly any of them fails."""
    for seed in range(3):
        data = made(6000, seed)
        data["maker"] = np.where(data["maker"] == "c", "b", data["maker"])
        data["maker"][:12] = "c"
        low, high = fitted(data, seed=seed).conf_int().loc["Log(scale)[c]"]
        assert high - low > 1


def asked(data: dict[str, Any], formula: str = FORMULA) -> list[Any]:
    recording = Recording(NoNoise())
    with noise(recording):
        dps.survreg(formula, data, SCHEMA).fit(BUDGET)
    return recording.records


def first(data: dict[str, Any]) -> np.ndarray:
    """Scores of log sigmas, and their part of the information, of the first step."""
    record = next(record for record in asked(data) if record.name == "strata_score")
    k = 4
    scores, matrix = record.exact[k : k + 3], record.exact[k + 3 :]
    return np.append(scores, matrix[-6:])


def test_rows_without_a_declared_stratum_weigh_nothing() -> None:
    data = made(3000, 1)
    lacking = {name: np.append(values, values[:50]) for name, values in data.items()}
    lacking["maker"][3000:] = "z"
    censored = dict(lacking, time=np.append(data["time"], np.full(50, 1e-3)), failed=lacking["failed"].copy())
    assert np.allclose(first(lacking), first(censored))
    missing = dict(lacking, maker=np.append(data["maker"], np.full(50, None, dtype=object)))
    assert np.allclose(first(lacking), first(missing))


def test_a_row_is_of_its_own_stratum_alone() -> None:
    """With every row of the last stratum gone, its score and its information are nothing."""
    data = made(3000, 1)
    data["maker"] = np.where(data["maker"] == "c", "z", data["maker"])
    scores, information = np.split(first(data), [3])
    assert scores[2] == 0 and (scores[:2] != 0).all()
    between = information[[1, 2, 4]]  # the upper triangle: aa, ab, ac, bb, bc, cc
    assert (between == 0).all() and information[5] == 0 and (information[[0, 3]] > 0).all()


@pytest.fixture(scope="module")
def late() -> dict[str, Any]:
    """Rows half of which enter late."""
    draw, data = np.random.default_rng(0), made(12_000, 2)
    entry = np.where(draw.uniform(size=12_000) < 0.5, 0.0, draw.uniform(0, 15, 12_000))
    return {name: values[entry < data["time"]] for name, values in (data | {"start": entry}).items()}


def test_late_entries_are_counted(late: dict[str, Any]) -> None:
    fit = fitted(late, "Surv(start, time, failed) ~ maker + load + strata(maker)")
    assert np.abs((fit.params - TRUTH) / fit.bse).max() < 3.5


def test_late_entries_leave_intervals_as_long_as_failures_have_them(late: dict[str, Any]) -> None:
    """What is expected of the information once counted for so little that noise hid slopes and scales."""
    model = dps.survreg("Surv(start, time, failed) ~ maker + load + strata(maker)", late, SCHEMA)
    errors = []
    for seed in range(5):
        with noise(SeededNoise(seed)):
            errors.append(model.fit(dps.approx(1, 1e-6)).bse.to_numpy()[-4:])
    events = np.array([late["failed"][late["maker"] == maker].sum() for maker in "abc"])
    assert (np.median(errors, axis=0) * np.sqrt([events.sum(), *events]) < 5).all(), errors


def test_units_count_as_rows_of_one() -> None:
    data = made(20_000, 2)
    schema = dps.Schema({**SCHEMA, "units": dps.bounded(0, 4)})
    with noise(SeededNoise(3)):
        model = dps.survreg(FORMULA, data | {"units": np.full(20_000, 2.0)}, schema, weights="units")
        fit = model.fit(dps.gdp(3))
    assert np.abs((fit.params - TRUTH) / fit.bse).max() < 6


@pytest.mark.parametrize(
    ("how", "budget", "says"),
    [
        (dict(), dps.pure(1), "no pure epsilon; give approx, zcdp or gdp"),
        (dict(method="functional"), dps.pure(1), "method='functional' estimates one scale for all strata"),
        (dict(release=["loglik"]), BUDGET, "is of fits with one scale for all rows; leave it out"),
    ],
)
def test_what_a_scale_for_each_has_not_is_refused(how: Any, budget: Any, says: str) -> None:
    with pytest.raises(dps.SpecificationError, match=says):
        dps.survreg(FORMULA, made(500, 1), SCHEMA).fit(budget, **how)


def test_a_known_scale_and_inspections_are_refused() -> None:
    with pytest.raises(dps.SpecificationError, match=r"take strata\(\) out, or scale="):
        dps.survreg(FORMULA, None, SCHEMA, dist="exponential")
    with pytest.raises(dps.FormulaError, match="failures are known between two times alone; take"):
        dps.survreg("Surv(start, time, type='interval2') ~ strata(maker)", None, SCHEMA)


def test_results_know_the_stratum_of_a_row(fit: Any) -> None:
    lives = fit.life(AT, failed=0.1).frame.query("quantity == 'B10'")["estimate"].to_numpy()
    sigma = np.exp(fit.params.to_numpy()[-3:])
    line = fit.predict(AT, type="lp").to_numpy()
    assert np.allclose(lives, np.exp(line + sigma * np.log(-np.log(0.9))))
    mean = fit.mttf(AT).frame["estimate"].to_numpy()
    drawn = fit.simulate(AT, nsim=4000, seed=1).to_numpy()
    assert np.allclose(np.std(np.log(drawn), axis=1), sigma * np.pi / np.sqrt(6), rtol=0.1)
    assert np.allclose(drawn.mean(axis=1), mean, rtol=0.15)
    survival = fit.predict(AT, type="survival", times=10).to_numpy()
    assert np.allclose(survival, fit.reliability(AT, 10).frame["estimate"])
    assert np.allclose(survival, np.exp(-np.exp((np.log(10) - line) / sigma)))
    assert fit.forecast([row | {"age": 2.0} for row in AT], horizon=5).frame["expected"].gt(0).all()


def test_gradients_are_those_of_the_stratum(fit: Any) -> None:
    at, record, times = points(fit.record, AT, "life"), fit.record, np.array([3.0, 10.0, 30.0])
    for of in (
        lambda r: quantities.log_hazard(r, at, times),
        lambda r: quantities.mean(r, at),
        lambda r: quantities.quantile(r, at, np.array([0.1, 0.5, 0.9])),
        lambda r: quantities.log_conditional_hazard(r, at, times, times),
    ):
        gradient = of(record)[1]
        for j in range(len(record.params)):
            step = 1e-6 * np.eye(len(record.params))[j]
            up, down = (of(dps_with(record, record.params + sign * step))[0] for sign in (1, -1))
            assert np.allclose((up - down) / 2e-6, gradient[:, j], atol=1e-6)


def dps_with(record: Any, params: np.ndarray) -> Any:
    return replace(record, params=params)


def test_a_row_of_new_data_needs_its_stratum() -> None:
    common = fitted(made(8000, 3), "Surv(time, failed) ~ load + strata(maker)")
    assert list(common.params.index)[:2] == ["Intercept", "load"] and len(common.params) == 5
    with pytest.raises(dps.SpecificationError, match="newdata lacks 'maker'"):
        common.life({"load": 0.2})
    alone = fitted(made(8000, 3), "Surv(time, failed) ~ strata(maker)")
    with pytest.raises(dps.NotReleased, match="Pass newdata: values of maker"):
        alone.life()


def test_the_summary_shows_a_scale_and_a_shape_for_each(fit: Any) -> None:
    lines = fit.summary().as_text().splitlines()
    assert all(any(line.split()[-4:-3] == [f"sigma[{maker}]"] for line in lines) for maker in "abc")
    assert all(any(f"beta[{maker}]" in line for line in lines) for maker in "abc")
    terms = fit.parameters().frame["term"].tolist()
    assert terms[-3:] == ["shape[a]", "shape[b]", "shape[c]"]
    assert fit.parameters("sev").frame["term"].tolist()[-3:] == ["sigma[a]", "sigma[b]", "sigma[c]"]
    assert fit.tidy()["component"].tolist() == ["location"] * 4 + ["scale"] * 3
    for name in ("sigma", "shape", "hazard_ratios"):
        assert not hasattr(fit, name)
    assert fit.wald_test("Log(scale)[a] = Log(scale)[b]").pvalue < 1e-6


def test_a_fit_is_kept(fit: Any, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    fit.save(path)
    assert dps.load(path).life(AT).frame.equals(fit.life(AT).frame)


@pytest.mark.long
def test_a_fit_is_planned(fit: Any) -> None:
    ahead = dps.survreg(FORMULA, None, SCHEMA).plan(BUDGET, n=8000, scale=0.8, events=0.6)
    assert ahead.table()["term"].tolist() == list(fit.params.index)


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_a_rare_reference_count_in_full(seed: int) -> None:
    """Its level is no column, and whitening stretched its rows: log sigma was 5 standard errors off."""
    draw, n, sigmas = np.random.default_rng(5), 8000, np.array([0.8, 0.5, 0.7])
    group, load = draw.choice(3, n, p=(0.04, 0.46, 0.5)), draw.uniform(-1, 1, n)
    life = np.exp(3 + 0.5 * load + sigmas[group] * np.log(draw.exponential(size=n)))
    end = np.exp(3.5 + 0.5 * draw.normal(size=n))
    maker = np.array(list("abc"), dtype=object)[group]
    data = {"time": np.minimum(life, end), "failed": 1 * (life <= end), "load": load, "maker": maker}
    model = dps.survreg("Surv(time, failed) ~ load + strata(maker)", data, SCHEMA)
    with noise(SeededNoise(seed)):
        fit = model.fit(dps.approx(2, 1e-6))
    errors = (fit.params.to_numpy()[-3:] - np.log(sigmas)) / fit.bse.to_numpy()[-3:]
    assert np.abs(errors).max() < 3.3


@pytest.mark.parametrize(("effect", "share"), [(2.0, 0.1), pytest.param(-2.0, 0.87, marks=pytest.mark.long)])
def test_a_flag_of_hardly_a_failure_is_not_estimable(effect: float, share: float) -> None:
    """One row in 150, four in five of all censored: without a caution 12 of 20 intervals missed."""
    draw, n = np.random.default_rng(9), 43_000
    group, load = 1 * (draw.uniform(size=n) < 0.77), draw.uniform(-1, 1, n)
    flag, sigma = 1 * (draw.uniform(size=n) < 0.0067), np.array([0.5, 1.0])[group]
    life = np.exp(3 + 0.3 * load + effect * flag + sigma * np.log(draw.exponential(size=n)))
    end = np.quantile(life, 0.2) * draw.uniform(0.4, 1.8, n)
    data = {"time": np.minimum(life, end), "failed": 1 * (life <= end), "load": load, "flag": flag}
    schema = dps.Schema({**SCHEMA, "flag": dps.flag(), "group": dps.flag()})
    model = dps.survreg("Surv(time, failed) ~ load + flag + strata(group)", data | {"group": group}, schema)
    told = []
    for seed in range(12):
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.zcdp(0.014))
        assert np.isfinite(fit.bse["load"])
        if np.isfinite(fit.bse["flag"]):
            told.append((fit.params["flag"] - effect) / fit.bse["flag"])
    assert np.abs(told).max(initial=0.0) < 3.3 and fewest(12, share) <= len(told) <= most(12, share)


def test_steps_of_a_rare_flag_arrive() -> None:
    """They were as short as those of columns on which rows say as much as on most, and left a bse of 5.6."""
    draw, n = np.random.default_rng(1), 20_000
    flag, group = 1 * (draw.uniform(size=n) < 0.01), draw.integers(0, 2, n)
    log = 3 - 2 * flag + np.array([0.9, 0.6])[group] * np.log(draw.exponential(size=n))
    end = np.quantile(log, 0.5)
    rows = {"time": np.exp(np.minimum(log, end)), "failed": 1 * (log <= end), "flag": flag, "group": group}
    schema = dps.Schema(time=dps.bounded(1e-4, 1e3), failed=dps.event(), flag=dps.flag(), group=dps.flag())
    with noise(NoNoise()):
        fit = dps.survreg("Surv(time, failed) ~ flag + strata(group)", rows, schema).fit(dps.approx(2, 1e-6))
    assert abs(fit.params["flag"] + 2) < 2 * fit.bse["flag"] < 0.5


def test_what_noise_hides_of_columns_that_nearly_repeat_each_other_is_told() -> None:
    """What is expected of strata had no noise of the events' matrix: 4.5 half-lengths off, no caution."""
    schema = dps.Schema(
        time=dps.bounded(0.1, 3000),
        failed=dps.event(),
        x=dps.bounded(-5, 5),
        z=dps.bounded(-5, 5),
        group=dps.levels("a", "b"),
    )
    n, off = 3000, []
    for seed in (1, 6, 8, 20, 21):
        draw = np.random.default_rng(5000 + seed)
        group, x = draw.choice(["a", "b"], n), draw.normal(size=n)
        z = 0.99 * x + math.sqrt(1 - 0.99**2) * draw.normal(size=n)
        line = 5 + 0.5 * (group == "b") + 0.4 * x - 0.3 * z
        life, end = np.exp(line + 0.5 * np.log(draw.exponential(size=n))), np.exp(draw.uniform(3, 8, n))
        rows = {"time": np.minimum(life, end), "failed": 1 * (life <= end), "x": x, "z": z, "group": group}
        with noise(SeededNoise(5000 + seed)):
            model = dps.survreg("Surv(time, failed) ~ x + z + group + strata(group)", rows, schema)
            fit = model.fit(dps.approx(1, 1e-6))
        off += [abs(fit.params["x"] - 0.4) / fit.bse["x"], abs(fit.params["z"] + 0.3) / fit.bse["z"]]
    assert np.max(off) < 4  # standard errors; it was 9

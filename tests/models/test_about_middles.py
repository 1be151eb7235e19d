"""Products and powers of numbers far from 0, in all regressions: known as well as those of numbers near 0."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.curator import Curator
from dpstats.estimators.engine.finish import Estimate
from dpstats.formula import Design
from dpstats.models.skeleton import MIDDLES, costs_of_middles, found_middles
from dpstats.results.intervals import errors_of_sums
from dpstats.testing import NoNoise, SeededNoise, noise
from tests.luck import most

N, FAR = 20_000, 350.0
GAUSSIAN, PURE = dps.approx(3, 1e-6), dps.pure(6)


def rows(far: float, seed: int = 1) -> tuple[dict[str, Any], dps.Schema]:
    """A number of sd 1 about `far`, a flag, and responses that follow their product."""
    rng = np.random.default_rng(seed)
    z, u = rng.normal(size=N), rng.integers(0, 2, N)
    eta = 0.3 * z + u * (0.4 + 0.3 * z) - 0.15 * z**2
    watched = rng.uniform(0, 4, N)
    time = np.exp(eta + 0.6 * np.log(rng.exponential(size=N)))
    data = dict(
        x=far + z,
        u=u,
        y=eta + rng.normal(size=N),
        yes=rng.uniform(size=N) < 1 / (1 + np.exp(-eta)),
        amount=np.exp(eta) * rng.gamma(2, 0.5, N) + 1e-9,
        t=np.minimum(time, watched),
        e=time <= watched,
    )
    schema = dps.Schema(
        x=dps.bounded(far - 5, far + 6),
        u=dps.flag(),
        y=dps.bounded(-20, 20),
        yes=dps.flag(),
        amount=dps.bounded(1e-6, 200),
        t=dps.bounded(1e-3, 10),
        e=dps.event(),
    )
    return data, schema


def survival(dist: str) -> Callable[..., Any]:
    return lambda right, data, schema: dps.survreg(f"Surv(t, e) ~ {right}", data, schema, dist=dist)


MODELS: dict[str, Callable[..., Any]] = {
    "ols": lambda right, *given: dps.ols(f"y ~ {right}", *given),
    "logit": lambda right, *given: dps.logit(f"yes ~ {right}", *given),
    "gamma": lambda right, *given: dps.glm(f"amount ~ {right}", *given, family="gamma"),
    "weibull": survival("weibull"),
    "lognormal": survival("lognormal"),
    "coxph": lambda right, *given: dps.coxph(f"Surv(t, e) ~ {right}", *given),
}
NO_PURE = ("gamma", "coxph")
CASES = [
    pytest.param(model, budget, marks=[pytest.mark.long] * ((model, budget) == ("lognormal", PURE)))
    for model in MODELS
    for budget in (GAUSSIAN, PURE)
    if not (budget is PURE and model in NO_PURE)
]
# of x, of its square, of u and of its product, about 0
TRUTH = {"x": 0.3 + 0.3 * FAR, "I(x ** 2)": -0.15, "u": 0.4 - 0.3 * FAR, "x:u": 0.3}


@pytest.mark.parametrize(("model", "budget"), CASES)
def test_intervals_hold_and_are_short(model: str, budget: Budget) -> None:
    """Before, x:u came out as 0 with a short interval, and predictions at the mean were off by e^50."""
    data, schema = rows(FAR)
    with noise(SeededNoise(4)):
        fit = MODELS[model]("x*u + I(x**2)", data, schema).fit(budget)
    factor = -1 / 0.6 if model == "coxph" else 1.0
    half = 1.96 * fit.bse[[*TRUTH]]
    assert (np.abs(fit.params[[*TRUTH]] - factor * np.array([*TRUTH.values()])) < 1.5 * half).all()
    assert half["x:u"] < 0.25 and half["I(x ** 2)"] < 0.25


@pytest.mark.parametrize("model", ["ols", "survreg"])
def test_of_numbers_of_few_values_it_is_not_the_commonest_alone_that_counts(model: str) -> None:
    """Its cell may stand out alone: all was lost, or intervals were 500 times as long, by false cautions."""
    draw, n = np.random.default_rng(3), 6_000
    c = np.minimum(draw.geometric(0.35, n) - 1, 10)
    s = draw.choice(np.arange(1, 6), n, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    eta = -0.05 * c - 0.1 * s - 0.06 * c * s
    life, watched = np.exp(5 + eta + 0.5 * np.log(draw.exponential(size=n))), draw.uniform(10, 200, n)
    data = dict(c=c, s=s, y=eta + 0.5 * draw.normal(size=n), t=np.minimum(life, watched), e=life <= watched)
    schema = dps.Schema(
        c=dps.count(10), s=dps.bounded(1, 5), y=dps.bounded(-10, 5), t=dps.bounded(0.1, 400), e=dps.event()
    )
    asked = MODELS["ols"] if model == "ols" else survival("weibull")
    with noise(SeededNoise(4)):
        fit = asked("c*s", data, schema).fit(dps.pure(2))
    low, high = fit.conf_int().loc["c:s"]
    assert low < -0.06 < high and high - low < 0.2
    assert not {"law", "apart", "not_estimable"} & set(dict(fit.flags))


@pytest.mark.parametrize("model", MODELS)
def test_without_noise_it_is_the_fit_of_a_number_that_the_user_centred(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both begin with the declared bounds here: where a number that the user centred lies is not told."""
    monkeypatch.setattr(Design, "likely", property(lambda design: design.bounds))
    data, schema = rows(FAR)
    with noise(NoNoise()):
        far = MODELS[model]("x*u", data, schema)
        curator = Curator(far._rows, far.design, GAUSSIAN)
        costs = costs_of_middles(far.design, GAUSSIAN)
        curator.pay(None, formula="", method="", costs=costs)
        middle = found_middles(curator, far.design, GAUSSIAN)["x"][0]
        assert abs(middle - FAR) < 0.2
        near = MODELS[model](f"center(x, {middle!r})*u", data, schema)
        one, other = far.fit(GAUSSIAN), near.fit(GAUSSIAN)
    code = f"center(x, {middle!r})"
    for name in ("params", "bse"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert ours["x:u"] == pytest.approx(theirs[f"{code}:u"], rel=1e-6)
        assert ours["x"] == pytest.approx(theirs[code], rel=1e-6)
    assert one.params["u"] == pytest.approx(other.params["u"] - middle * other.params[f"{code}:u"], rel=1e-6)
    at = {"x": [FAR - 1, FAR + 2], "u": [1, 0]}
    told = [
        (fit.survival(at, [1.0, 2.0]).frame if model == "coxph" else fit.get_prediction(at).summary_frame())
        for fit in (one, other)
    ]
    ours, theirs = (each.select_dtypes("number").to_numpy() for each in told)
    # what a look for bends of amounts adds to an error follows the effect of u, here that at another x
    assert ours == pytest.approx(theirs, rel=2e-4)
    if one.moments is not None:
        told = one.moments.frame.set_index(["term", "quantity"])["estimate"]
        assert told["x:u", "mean"] == pytest.approx(FAR / 2, rel=0.25)  # of failures, for survival fits
        assert told["x:u", "sd"] == pytest.approx(FAR / 2, rel=0.1)


@pytest.mark.parametrize(("epsilon", "most"), [(1, 1e-3), (10, 4e-4)])
def test_a_square_is_known_in_bounds_a_hundred_times_too_wide(epsilon: float, most: float) -> None:
    """It was lost in half of such fits, or, with more budget, errors were far longer."""
    schema = dps.Schema(year=dps.bounded(0, 3000), x=dps.bounded(-5, 5), y=dps.bounded(-100, 200))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        year, x = rng.integers(1990, 2021, N), rng.normal(size=N)
        y = 10 + x + 0.1 * (year - 2000) + 0.01 * (year - 2000) ** 2 + 2 * rng.normal(size=N)
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x + year + I(year**2)", dict(x=x, year=year, y=y), schema).fit(
                dps.approx(epsilon, 1e-6)
            )
        assert not fit.flags and fit.bse["I(year ** 2)"] < most and fit.bse["x"] < 0.05
        assert abs(fit.params["I(year ** 2)"] - 0.01) < 3.5 * fit.bse["I(year ** 2)"]


@pytest.mark.parametrize("model", ["logit", "gamma", "weibull", "coxph"])
def test_a_covariate_does_not_take_over_a_square_in_bounds_far_too_wide(model: str) -> None:
    """Number and square were lost in half of such fits, and of a line without effect 0 was far off."""
    for seed in (0, 5):
        data, schema = rows(0.0, seed)
        rng = np.random.default_rng(seed + 100)
        beside = -0.9 * data["x"] + 0.436 * rng.normal(size=N)
        wide = dps.Schema({**schema, "x": dps.bounded(-450, 450), "z": dps.bounded(-5, 40)})
        with noise(SeededNoise(seed)):
            fit = MODELS[model]("z + x*u + I(x**2)", {**data, "z": beside}, wide).fit(dps.approx(1.5, 1e-6))
        assert np.isfinite(fit.bse).all() and abs(fit.params["z"]) < 3.5 * fit.bse["z"] < 0.5


@pytest.mark.parametrize("model", ["ols", "logit", "weibull", "coxph"])
def test_lines_beside_a_number_that_is_lost_are_named(model: str) -> None:
    """They take its effect over, and intervals do not know; those beside a rare level that is lost do not."""
    data, schema = rows(0.0)
    rng = np.random.default_rng(0)
    more = dict(z=-0.9 * data["x"] + 0.436 * rng.normal(size=N), rare=np.arange(N) < 2)
    wide = dps.Schema({**schema, "x": dps.bounded(0, 1e9), "z": dps.bounded(-5, 40), "rare": dps.flag()})
    lost = rare = 0
    for seed in range(7 if model == "ols" else 2):
        with noise(SeededNoise(seed)):
            fit = MODELS[model]("z + x", {**data, **more}, wide).fit(dps.approx(3, 1e-6))
            level = MODELS[model]("z + rare", {**data, **more}, wide).fit(dps.approx(3, 1e-6))
        assert np.isfinite(fit.bse["z"]) and abs(fit.params["z"]) > 3 * fit.bse["z"]
        named = dict(fit.flags).get("beside", "")
        assert bool(named) == np.isinf(fit.bse["x"]) and ("Log(scale)" in named) == (model == "weibull")
        assert not named or "z" in named.split(":")[1]
        rare += "beside" in dict(level.flags)
        lost += bool(named)
    assert lost >= (1 if model == "ols" else 2)  # of lines six in seven are
    assert rare <= (most(7, 0.05) if model == "ols" else 0)


def test_a_response_is_found_in_bounds_a_thousand_times_too_wide_where_a_number_is() -> None:
    """It fell into one octave and seemed constant: the error of `w` was 100 times as long, and more."""
    schema = dps.Schema(x=dps.bounded(-2e3, 8e3), w=dps.bounded(-4, 4), y=dps.bounded(-6e3, 1.4e4))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x, w = rng.normal(3, 1, 5000), rng.normal(size=5000)
        y = 1 + 0.5 * x + 0.1 * x**2 + w + rng.normal(size=5000)
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x + I(x**2) + w", dict(x=x, w=w, y=y), schema).fit(dps.pure(2))
        assert abs(fit.params["w"] - 1) < 3.5 * fit.bse["w"] < 20


def test_a_variance_that_rounding_hides_is_no_smaller_than_that() -> None:
    """Of a cube at 350 sds a prediction had a standard error of 0, or ten times its own."""
    row = np.array([[1.0, FAR, FAR**2, FAR**3]])
    way = np.array(
        [[1, -FAR, FAR**2, -(FAR**3)], [0, 1, -2 * FAR, 3 * FAR**2], [0, 0, 1, -3 * FAR], [0, 0, 0, 1]]
    )
    for small in (1e-3, 1e-4):
        cov = small**2 * (way @ way.T)
        assert errors_of_sums(row, cov, None)[0] > small  # of way' row, the middle itself
    plain = np.array([[1.0, -2.0]])
    assert errors_of_sums(plain, np.eye(2), None)[0] == np.sqrt(5)
    assert errors_of_sums(plain, np.ones((2, 2)), None)[0] == 1


def test_what_rests_on_a_lost_coefficient_is_lost() -> None:
    """Of 1, x, u, x:u about 10 and log sigma the product is lost, and with it u; a weak u is weak alone."""
    way = np.eye(4)
    way[2, 3] = -10.0
    found = Estimate(np.arange(5.0), np.eye(5), np.eye(5) / 2, ("weak:2", "unsettled", "range:3"))
    whole = found.through(way)
    assert whole.params.tolist() == [0, 1, -28, 3, 4] and whole.cov[2, 2] == 101 and whole.cov[2, 3] == -10
    assert whole.cov_privacy[2, 2] == 50.5 and set(whole.problems) == {*found.problems}
    lost = found.lost(np.array([3])).through(way)
    assert np.flatnonzero(np.isinf(np.diag(lost.cov))).tolist() == [2, 3]
    assert set(lost.problems) == {"unsettled", "range:3", "not_estimable:2", "not_estimable:3"}
    assert lost.cov[2, 2] == lost.cov_privacy[2, 2] == np.inf and found.through(np.eye(4)) is found


def test_what_shows_the_effect_of_a_lost_coefficient_is_lost() -> None:
    partners = np.array([[False, True, False], [False, False, True], [False, False, False]])
    found = Estimate(np.arange(4.0), np.eye(4), np.eye(4) / 2, ("weak:1", "weak:0"))
    assert found.beside(partners) is found and found.hopeless().beside(partners).problems == ("hopeless",)
    beside = found.lost(np.array([2])).beside(partners)
    assert np.isinf(np.diag(beside.cov)).tolist() == [False, True, True, False]  # and none of these in turn
    assert set(beside.problems) == {"weak:0", "not_estimable:2", "not_estimable:1"}


def test_the_ledger_and_the_fit_name_what_was_released(tmp_path: Any) -> None:
    data, schema = rows(FAR)
    ledger = dps.Ledger(tmp_path / "ledger.json", total=dps.approx(5, 1e-5))
    fit = dps.logit("yes ~ x*u", data, schema).fit(GAUSSIAN, ledger=ledger)
    assert MIDDLES in fit.record.released
    plain = dps.logit("yes ~ x + u", data, schema).fit(GAUSSIAN, ledger=ledger)
    assert MIDDLES not in plain.record.released


FAR_MODELS: dict[str, Any] = {
    "ols": partial(dps.ols, "y ~ x + I(x**2)"),
    "poisson": partial(dps.glm, "k ~ x + I(x**2)", family="poisson"),
    "survreg": partial(dps.survreg, "Surv(t) ~ x + I(x**2)"),
    "coxph": partial(dps.coxph, "Surv(t) ~ x + I(x**2)"),
}


@pytest.mark.parametrize("model", FAR_MODELS)
def test_errors_are_the_same_however_far_a_column_with_its_square_lies_from_0(
    model: str, tmp_path: Path
) -> None:
    draw, far = np.random.default_rng(0), 5_400_000  # as a northing of a town, in metres
    u = draw.uniform(0, 800, 3000)
    eta = u / 1000 - (u / 1000) ** 2
    rows = {"y": draw.normal(eta), "k": draw.poisson(np.exp(eta)), "t": draw.exponential(np.exp(-eta))}
    errors, joint = [], []
    for low in (far, 0):
        bounds = {"x": dps.bounded(low, low + 800), "y": dps.bounded(-6, 6), "k": dps.count(20)}
        schema = dps.Schema(bounds | {"t": dps.bounded(1e-4, 20)})
        with noise(SeededNoise(1)):
            fit = FAR_MODELS[model](data=rows | {"x": low + u}, schema=schema).fit(dps.gdp(2))
        at = {"x": [low + 100.0, low + 700.0]}
        fit.save(tmp_path / "fit.json", overwrite=True)
        for each in (fit, dps.load(tmp_path / "fit.json")):
            if model == "coxph":
                frame = each.survival(at, times=[0.5]).frame
                errors.append((frame["conf_high"] - frame["conf_low"]).to_numpy())
            else:
                errors.append(each.predict(at, "lp", se_fit=True)["se_fit"].to_numpy())
            joint.append(each.wald_test("x = 0, I(x**2) = 0").statistic)
    np.testing.assert_allclose(errors, np.tile(errors[-1], (4, 1)), rtol=0.01)
    np.testing.assert_allclose(joint, joint[-1], rtol=0.01)

"""A plan says what fits come to, reads no row, charges no ledger and keeps no fit."""

import io
import itertools
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats import running, testing
from dpstats.errors import BudgetError, SpecificationError
from dpstats.planning.knowledge import read_known
from dpstats.planning.printed import _doubts
from dpstats.planning.trials import Outlook, Trial
from dpstats.results import Fit
from dpstats.rows import Rows
from dpstats.testing import SeededNoise, noise
from tests.planning.few import few_fits
from tests.results.test_record import reachable

BUDGET, AMPLE = dps.approx(1, 1e-6), dps.approx(20, 1e-6)  # with little noise few fits tell all
SCHEMA = dps.Schema(
    x=dps.bounded(0, 60),
    z=dps.bounded(-5, 5),
    g=dps.levels("a", "b"),
    smokes=dps.flag("yes", "no"),
    y=dps.bounded(-100, 300),
    sick=dps.flag(),
    visits=dps.count(40),
    cost=dps.bounded(0.01, 1e4),
    time=dps.bounded(0.1, 4000),
    failed=dps.event(failed="dead", censored="alive"),
    before=dps.bounded(0.1, 4000),
    after=dps.bounded(0.1, 4000),
)
KNOWN = {"x": (25, 6), "z": (0.5, 1.0), ("x", "z"): 0.5, "g": {"a": 0.7, "b": 0.3}}
RIGHT = "x + z + g"
MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "ols": (dps.ols(f"y ~ {RIGHT}", None, SCHEMA), {"coef": {"Intercept": 50, "x": 1.0}, "scale": 20}),
    "ridge": (dps.ridge(f"y ~ {RIGHT}", None, SCHEMA, alpha=0.1), {"coef": {"x": 1.0}, "scale": 20}),
    "logit": (dps.logit(f"sick ~ {RIGHT}", None, SCHEMA), {"coef": {"z": 0.3}, "events": 0.2}),
    "poisson": (dps.glm(f"visits ~ {RIGHT}", None, SCHEMA, "poisson"), {"coef": {"Intercept": 1, "z": 0.2}}),
    "gamma": (
        dps.glm(f"cost ~ {RIGHT}", None, SCHEMA, "gamma"),
        {"coef": {"Intercept": 4, "z": 0.2}, "scale": 0.7},
    ),
    "survreg": (
        dps.survreg(f"Surv(time, failed) ~ {RIGHT}", None, SCHEMA, dist="lognormal"),
        {"coef": {"Intercept": 5, "z": 0.2}, "scale": 0.5, "events": 0.4},
    ),
}
LIFE = {"coef": {"Intercept": 5, "z": 0.2}, "scale": 0.5, "events": 0.4}
MODELS["inspected"] = (
    dps.survreg(f"Surv(before, after, type='interval2') ~ {RIGHT}", None, SCHEMA, dist="lognormal"),
    LIFE | {"inspections": 30},
)
MODELS["coxph"] = (
    dps.coxph(f"Surv(time, failed) ~ {RIGHT}", None, SCHEMA),
    {"coef": {"z": 0.4}, "scale": 0.5, "events": 0.4},
)
N = 10_000
# of survreg, whose plans are the slowest, pages of the documentation show two, which each run compares
LONG = ("survreg", "inspected", "ridge", "poisson", "gamma")
BY_MODEL = [pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in MODELS]


def covariates(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Rows of which KNOWN tells."""
    z = rng.normal(size=n)
    x = 25 + 6 * (0.5 * z + 0.75**0.5 * rng.normal(size=n))
    return {"x": x, "z": 0.5 + z, "g": rng.choice(["a", "b"], n, p=[0.7, 0.3])}


def responses(name: str, made: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    n, x, z = len(made["x"]), made["x"], made["z"]
    if name in ("ols", "ridge"):
        return {"y": 50 + x * (name == "ols") + rng.normal(0, 20, n)}
    if name == "logit":
        eta = 0.3 * z
        a = -1.575
        return {"sick": (rng.uniform(size=n) < 1 / (1 + np.exp(-a - eta))).astype(int)}
    if name == "poisson":
        return {"visits": rng.poisson(np.exp(1 + 0.2 * z))}
    if name == "gamma":
        return {"cost": np.exp(4 + 0.2 * z) * rng.gamma(1 / 0.49, 0.49, n)}
    error = np.log(rng.exponential(size=n)) if name == "coxph" else rng.normal(size=n)
    life, end = 5 + 0.2 * z * (-1 if name == "coxph" else 1) + 0.5 * error, np.log(rng.uniform(0, 1, n))
    end += np.quantile(life - end, 0.4)
    if (
        name == "coxph"
    ):  # its clock is seen in parts of the declared range, all of which a plan takes for watched
        life, end = (each + np.log(SCHEMA["time"].bounds[1]) - end.max() for each in (life, end))
    if name == "inspected":
        life, end = np.exp(life), np.exp(end)
        low = np.where(life < end, 30 * np.floor(life / 30), end)
        high = np.where(life < end, np.minimum(30 * np.ceil(life / 30), end), np.nan)
        return {"before": low, "after": high}
    failed = np.where(life <= end, "dead", "alive")
    return {"time": np.exp(np.minimum(life, end)), "failed": failed}


def fits(name: str, model: Any, number: int) -> list[Fit]:
    """Of rows that the plan has not seen."""
    formula, found = model.design.formula, []
    makers = {
        "ols": lambda data: dps.ols(formula, data, SCHEMA),
        "ridge": lambda data: dps.ridge(formula, data, SCHEMA, alpha=0.1),
        "logit": lambda data: dps.logit(formula, data, SCHEMA),
        "poisson": lambda data: dps.glm(formula, data, SCHEMA, "poisson"),
        "gamma": lambda data: dps.glm(formula, data, SCHEMA, "gamma"),
        "survreg": lambda data: dps.survreg(formula, data, SCHEMA, dist="lognormal"),
        "inspected": lambda data: dps.survreg(formula, data, SCHEMA, dist="lognormal"),
        "coxph": lambda data: dps.coxph(formula, data, SCHEMA),
    }
    for seed in range(number):
        rng = np.random.default_rng([9, seed])
        made = covariates(rng, N)
        with testing.noise(testing.SeededNoise(100 + seed)):
            found.append(makers[name](made | responses(name, made, rng)).fit(BUDGET))
    return found


@pytest.mark.parametrize("name", BY_MODEL)
def test_a_plan_says_what_fits_come_to(name: str) -> None:
    """Standard errors, and their parts, within 15 % of the median over fits of other rows."""
    model, law = MODELS[name]
    table = dps.plan(model, BUDGET, N, covariates=KNOWN, **law).table().set_index("term")
    found = fits(name, model, 5)
    bse = np.median([fit.bse for fit in found], axis=0)
    np.testing.assert_allclose(table["std_error"], bse, rtol=0.15)
    np.testing.assert_allclose(table["half_width"], 1.96 * bse, rtol=0.16)
    assert (table["not_estimable"] == 0).all()
    if name != "ridge":  # of which z is shrunk to nothing
        assert table["std_error"]["z"] > 4 * table["std_error"]["x"]  # z has an sd of 1, x of 6


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    few_fits(monkeypatch)


def test_a_plan_repeats_itself_and_changes_with_what_is_said() -> None:
    model, law = MODELS["ols"]
    first, second = (dps.plan(model, AMPLE, 2000, covariates=KNOWN, **law).table() for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    more = dps.plan(model, AMPLE, 8000, covariates=KNOWN, **law).table()
    np.testing.assert_allclose(more["sampling"], first["sampling"] / 2, rtol=0.15)
    wider = dps.plan(model, AMPLE, 2000, covariates=KNOWN | {"x": (25, 12)}, **law).table()
    assert wider["half_width"][2] < 0.7 * first["half_width"][2]


@pytest.mark.usefixtures("few")
def test_a_plan_charges_no_ledger_and_leaves_the_default_as_it_was(tmp_path: Path) -> None:
    model, law = MODELS["ols"]
    with dps.Ledger(tmp_path / "a.ledger", total=BUDGET) as ledger:
        ahead = dps.plan(model, AMPLE, 1000, covariates=KNOWN, **law)
        ahead.power({"x": 0.1}), ahead.n_for({"x": 0.5}), ahead.summary()
        assert ledger.entries() == []
        made = covariates(np.random.default_rng(0), 500)
        data = made | responses("ols", made, np.random.default_rng(1))
        dps.ols(model.design.formula, data, SCHEMA).fit(BUDGET)
        assert len(ledger.entries()) == 1


@pytest.mark.usefixtures("few")
def test_a_plan_reads_no_row_and_leads_to_none(monkeypatch: pytest.MonkeyPatch) -> None:
    made = covariates(np.random.default_rng(0), 500)
    data = pd.DataFrame(made | responses("ols", made, np.random.default_rng(1)))
    model = dps.ols(f"y ~ {RIGHT}", data, SCHEMA)
    own = model._rows
    read = Rows._read

    def only_made(rows: Rows) -> None:
        assert rows is not own
        read(rows)

    monkeypatch.setattr(Rows, "_read", only_made)
    ahead = dps.plan(model, AMPLE, 500, covariates=KNOWN, scale=20)
    everything = reachable(ahead)
    assert not any(item is own or item is data for item in everything)
    assert not any(isinstance(item, Fit) for item in everything)
    other = dps.plan(dps.ols(f"y ~ {RIGHT}", None, SCHEMA), AMPLE, 500, covariates=KNOWN, scale=20)
    pd.testing.assert_frame_equal(ahead.table(), other.table())


@pytest.mark.usefixtures("few")
def test_real_fits_after_a_plan_have_secure_noise() -> None:
    model, law = MODELS["ols"]
    dps.plan(model, AMPLE, 500, covariates=KNOWN, **law)
    made = covariates(np.random.default_rng(0), 500)
    data = made | responses("ols", made, np.random.default_rng(1))
    assert not dps.ols(model.design.formula, data, SCHEMA).fit(BUDGET).not_private


@pytest.mark.long
def test_budgets_and_rows_reach_what_is_asked() -> None:
    model, law = MODELS["logit"]
    ahead = dps.plan(model, BUDGET, 5000, covariates=KNOWN, **law)
    width = float(ahead.table()["half_width"][3])
    less = ahead.budget_for({"z": 1.3 * width})
    assert less.epsilon < 1 and less.delta == 1e-6
    again = dps.plan(model, less, 5000, covariates=KNOWN, **law).table()
    assert 0.9 * width < again["half_width"][3] < 1.3 * 1.1 * width
    rows = ahead.n_for({"z": 0.6 * width})
    again = dps.plan(model, BUDGET, rows, covariates=KNOWN, **law).table()
    assert 0.45 * width < again["half_width"][3] < 0.6 * 1.1 * width


@pytest.mark.usefixtures("few")
def test_a_width_that_no_budget_reaches_is_said() -> None:
    model, law = MODELS["logit"]
    ahead = dps.plan(model, BUDGET, 5000, covariates=KNOWN, **law)
    with pytest.raises(dps.BudgetError, match=r"no budget reaches this half width with n = 5000.*n_for"):
        ahead.budget_for({"z": 0.01})
    with pytest.raises(dps.BudgetError, match="more than 10000 rows .* delta = 0.0001 .* such as 1e-06"):
        dps.plan(model, dps.approx(1, 1e-4), 5000, covariates=KNOWN, **law).n_for({"z": 0.01})


@pytest.mark.long
def test_power_is_how_often_fits_find_an_effect() -> None:
    model, law = MODELS["ols"]
    ahead = dps.plan(model, BUDGET, N, covariates=KNOWN, coef={"Intercept": 50, "x": 1.0}, scale=20)
    effect = float(ahead.table().set_index("term")["found_80"]["z"])
    power = ahead.power({"z": effect})
    assert 0.75 < power["z"] < 0.85
    found = []
    for seed in range(60):
        rng = np.random.default_rng([4, seed])
        made = covariates(rng, N)
        made["y"] = 50 + made["x"] + effect * made["z"] + rng.normal(0, 20, N)
        with testing.noise(testing.SeededNoise(seed)):
            found.append(dps.ols(model.design.formula, made, SCHEMA).fit(BUDGET).pvalues["z"] < 0.05)
    assert abs(np.mean(found) - power["z"]) < 3 * (0.16 / 60) ** 0.5 + 0.05


@pytest.mark.long
def test_rows_that_are_asked_for_reach_the_width_far_from_the_plan() -> None:
    model, law = MODELS["ols"]
    ahead = dps.plan(model, BUDGET, 2000, covariates=KNOWN, **law)
    wanted = float(ahead.table().set_index("term")["half_width"]["z"]) / 8
    rows = ahead.n_for({"z": wanted})
    then = dps.plan(model, BUDGET, rows, covariates=KNOWN, **law).table().set_index("term")["half_width"]["z"]
    assert rows > 8000 and 0.9 < then / wanted < 1.06


def test_half_of_intervals_are_no_longer_than_the_half_width_where_some_are_infinite() -> None:
    one = np.ones(1)
    found = Outlook(np.array([[1.0], [2.0], [3.0], [np.inf], [np.inf]]), 0 * one, one, np.eye(1), 1.0)
    assert found.half_width == pytest.approx(1.96 * 3, rel=1e-3)
    assert np.isinf(replace(found, errors=found.errors[1:]).half_width).all()


def test_power_counts_that_estimates_scatter_less_than_their_errors() -> None:
    errors = np.array([[1.0], [2.0], [np.inf]])
    one = np.ones(1)
    usual = Outlook(errors, 0 * one, one, np.eye(1), 1.0)
    exact = Outlook(errors, 0 * one, one, np.eye(1), 0.1)
    assert usual.rejects(one * 1.5)[0] == pytest.approx((0.3229 + 0.1165) / 3, abs=0.002)
    assert exact.rejects(one * 1.5)[0] < 1e-5 and exact.rejects(one * 2.5)[0] == pytest.approx(1 / 3)


def test_a_plan_says_so_where_its_fits_have_no_middle() -> None:
    """Of standard errors of which half are four times as long, a median says little."""
    one, alike, apart = np.ones(2), np.linspace(0.98, 1.02, 20), np.tile([0.5, 2.0], 10)
    found = Outlook(np.column_stack([alike, apart]), 0 * one, one, np.eye(2), 1.0)
    assert found.unsure[0] < 0.01 and 0.2 < found.unsure[1] < 0.4
    assert found.longest[1] == pytest.approx(2.0 / 1.25)
    told = {"term": ["x", "z"], "half_width": one, "unsure": found.unsure, "longest": found.longest}
    table = pd.DataFrame(told)
    assert not _doubts(table[:1]) and "of z one fit in ten has one 1.6 times as long" in _doubts(table)[0]
    assert "of x one fit in ten has one 2.3 times" in _doubts(table[:1].assign(longest=2.3))[0]
    lost = replace(found, errors=np.where(np.arange(20)[:, None] % 4, found.errors, np.inf))
    assert np.isinf(lost.longest).all() and np.isfinite(lost.unsure).all()


@pytest.mark.usefixtures("few")
def test_hopeless_fits_are_planned_as_such() -> None:
    ahead = dps.plan(dps.ols(f"y ~ {RIGHT}", None, SCHEMA), dps.approx(0.01, 1e-6), 300, covariates=KNOWN)
    table = ahead.table()
    assert (table["not_estimable"] > 0.9).all() and np.isinf(table["half_width"]).all()
    text = " ".join(str(ahead).split())
    share = f"{100 * table['not_estimable'].iloc[0]:.0f} %"
    assert f"Intercept not estimable in {share} of fits" in text
    assert f"Most fits lose {len(table)} of {len(table)} coefficients: table() has" in text
    assert "first look" not in text
    assert ahead.power({"x": 5.0})["x"] < 0.1


def test_what_is_not_known_is_said_with_a_band() -> None:
    model = dps.ols("y ~ x + z", None, SCHEMA)
    ahead = dps.plan(model, BUDGET, 5000, covariates={"z": (0, 1)})
    table, text = ahead.table().set_index("term"), str(ahead).replace("\n", " ")
    assert "Nothing is known of x" in text and "middle of its bounds" in text
    assert table["half_low"]["x"] < 0.8 * table["half_width"]["x"] < table["half_high"]["x"] * 0.7
    assert table["half_tied"]["x"] > 1.05 * table["half_width"]["x"] and "where all of them are .5" in text
    assert "half_tied" not in dps.plan(model, AMPLE, 500, covariates={("x", "z"): 0.1}).table()
    told = dps.plan(model, BUDGET, 5000, covariates={"z": (0, 1), "x": (30, 60 / 12**0.5)}, scale=20)
    assert "half_low" not in told.table()
    assert "Nothing is known" not in str(told)


@pytest.mark.usefixtures("few")
def test_a_plot_has_a_line_and_a_floor_for_each_term() -> None:
    model, law = MODELS["ols"]
    ahead = dps.plan(model, AMPLE, 1000, covariates=KNOWN, **law)
    for against, at in (("budget", ahead.budget.amount), ("rows", 1000)):
        ax = ahead.plot(against=against)
        assert len(ax.lines) == 2 * 3 + 1
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["g[T.b]", "x", "z"]
        places, half = ax.lines[0].get_data()
        floor = ax.lines[1].get_ydata()
        assert places[3] == at and (half >= floor).all()
        assert floor[0] / floor[-1] == pytest.approx(8 if against == "rows" else 1)
        assert half[0] > half[2] > half[-1]  # from the budget of the fit on they are as without noise
    with pytest.raises(SpecificationError, match="against= is 'budget' or 'rows', not 'time'"):
        ahead.plot(against="time")


@pytest.mark.usefixtures("few")
def test_a_plot_of_many_terms_has_the_widest_and_says_how_to_choose() -> None:
    names = [f"u{j}" for j in range(30)]
    schema = dps.Schema(maker=dps.levels(*names), y=dps.bounded(0, 100))
    shares = {name: 0.003 if name in names[5:15] else 0.04 for name in names}
    shares["u0"] += 1 - sum(shares.values())
    model = dps.ols("y ~ maker", None, schema)
    ahead = dps.plan(model, dps.gdp(20), 20_000, covariates={"maker": shares}, scale=10)
    ax = ahead.plot()
    assert [line.get_label() for line in ax.lines[:20:2]] == [f"maker[T.{name}]" for name in names[5:15]]
    assert (
        len(ax.lines) == 21 and "the 10 of 29 terms" in ax.get_title() and "terms= chooses" in ax.get_title()
    )
    chosen = ahead.plot(terms=[f"maker[T.{name}]" for name in names[1:]])
    assert len(chosen.lines) == 59 and "terms=" not in chosen.get_title()
    for each in (ax, chosen):
        each.figure.canvas.draw()
        legend, label = each.get_legend().get_window_extent(), each.yaxis.label.get_window_extent()
        assert not legend.overlaps(each.get_window_extent())
        assert legend.y0 >= 0 and label.y0 >= 0 and label.y1 <= each.figure.bbox.y1


@pytest.mark.parametrize("dist", ["weibull", pytest.param("gaussian", marks=pytest.mark.long)])
def test_lives_are_planned_as_fits_tell_them(dist: str) -> None:
    """The law that was told, within intervals as wide as those of fits of other rows are in the middle.

    What rows far out may say makes intervals of single fits up to a quarter longer or shorter.
    """
    log = dist == "weibull"
    schema = dps.Schema(z=dps.bounded(-5, 5), time=dps.bounded(0.1, 4000))
    model = dps.survreg("Surv(time) ~ z", None, schema, dist=dist)
    coef, scale = ({"Intercept": 5, "z": 0.2}, 0.5) if log else ({"Intercept": 900, "z": 40}, 60)
    ahead = dps.plan(model, AMPLE, 4000, covariates={"z": (0.5, 1)}, coef=coef, scale=scale)
    rng, fits = np.random.default_rng(5), []
    for seed in range(7):
        z = rng.normal(0.5, 1, 4000)
        life = coef["Intercept"] + coef["z"] * z
        life = np.exp(life + 0.5 * np.log(rng.exponential(size=4000))) if log else rng.normal(life, scale)
        with testing.noise(testing.SeededNoise(seed)):
            fits.append(dps.survreg("Surv(time) ~ z", {"z": z, "time": life}, schema, dist=dist).fit(AMPLE))
    told, *found = (each.life({"z": 1}, failed=[0.1, 0.5]).frame for each in (ahead, *fits))
    centre = coef["Intercept"] + coef["z"]
    b10 = np.exp(centre + 0.5 * np.log(-np.log(0.9))) if log else centre - 1.2816 * scale
    assert told["estimate"][0] == pytest.approx(b10, rel=1e-4)
    width, *widths = (np.log(each["conf_high"] / each["conf_low"]) for each in (told, *found))
    np.testing.assert_allclose(width, np.median(widths, axis=0), rtol=0.15)
    if log:
        assert ahead.shape.estimate == pytest.approx(2)
        shapes = [fit.shape.std_error for fit in fits]
        assert ahead.shape.std_error == pytest.approx(np.median(shapes), rel=0.15)


@pytest.mark.usefixtures("few")
def test_lives_are_of_survreg_alone_and_not_estimable_where_the_line_is_not() -> None:
    model, law = MODELS["ols"]
    with pytest.raises(SpecificationError, match="lives and their shape are told by plans of survreg"):
        dps.plan(model, AMPLE, 500, covariates=KNOWN, **law).life({"x": 1})
    hopeless = dps.plan(MODELS["survreg"][0], dps.approx(0.01, 1e-6), 300, covariates=KNOWN, **LIFE)
    lives = hopeless.life({"x": 25, "z": 0, "g": "a"}).frame
    assert not np.isfinite(lives["conf_high"] - lives["conf_low"]).any()


def test_a_scale_that_is_known_has_no_error() -> None:
    schema = dps.Schema(time=dps.bounded(0.1, 4000))
    model = dps.survreg("Surv(time) ~ 1", None, schema, scale=0.5)
    ahead = dps.plan(model, AMPLE, 2000, coef={"Intercept": 5})
    assert ahead.table()["half_width"].tolist()[1] == 0 and ahead.shape.std_error == 0
    assert np.isfinite(ahead.life(failed=0.1).frame["conf_high"]).all()


def test_counts_are_made_whole() -> None:
    model = dps.ols("y ~ visits", None, SCHEMA)
    trial = dps.plan(model, AMPLE, 300, covariates={"visits": (2, 1.4, 0.7)}, scale=20)._trial
    visits = trial._drawn(np.random.default_rng(0), 9000).columns["visits"]
    assert (visits == np.rint(visits)).all() and 0 <= visits.min() < visits.max() > 5
    assert abs(visits.mean() - 2) < 0.1 and abs(visits.std() - 1.4) < 0.1


def test_units_of_privacy_and_weights_are_planned() -> None:
    plain = dps.plan(dps.ols("y ~ z", None, SCHEMA), BUDGET, 5000, covariates={"z": (0, 1)}, scale=20)
    unit = SCHEMA.unit("person", max_rows=3)
    units = dps.plan(dps.ols("y ~ z", None, unit), BUDGET, 5000, covariates={"z": (0, 1)}, scale=20)
    assert units.table()["privacy"][1] > 1.5 * plain.table()["privacy"][1]
    shown = " ".join(str(units).split())
    assert "Unit one person, of which at most 3 rows have weight" in shown and "Unit" not in str(plain)
    assert "All 5000 rows are taken for rows that weigh" in shown and "at most 3 for each person" in shown
    assert "rows that weigh" not in str(plain)
    weighted = dps.ols("y ~ z", None, dps.Schema(SCHEMA, w=dps.bounded(0, 2)), weights="w")
    known = {"z": (0, 1), "w": (1, 0.4)}
    assert dps.plan(weighted, BUDGET, 5000, covariates=known, scale=20).table()["sampling"][1] > 0


def test_a_table_beside_private_rows_is_refused() -> None:
    """It may be those rows, whose every change would move the plan."""
    rows = pd.DataFrame({"x": np.linspace(0, 1, 50), "y": np.linspace(0, 2, 50)})
    schema = dps.Schema(x=dps.bounded(0, 1), y=dps.bounded(0, 2))
    moments = dps.public_moments("y ~ x", rows, schema)
    for table in (rows, rows.copy(), moments):
        with pytest.raises(SpecificationError, match="covariates= is a table.* plan a model without data"):
            dps.plan(dps.ols("y ~ x", rows, schema), dps.zcdp(0.5), n=50, covariates=table, scale=1)


@pytest.mark.usefixtures("few")
def test_a_model_plans_for_the_rows_that_it_has() -> None:
    given = {"covariates": KNOWN, "coef": {"x": 1.0}, "scale": 20}
    data = pd.DataFrame(covariates(np.random.default_rng(1), 700)).assign(y=1.0)
    own = dps.ols(f"y ~ {RIGHT}", data, SCHEMA).plan(AMPLE, **given)
    other = dps.ols(f"y ~ {RIGHT}", None, SCHEMA)
    pd.testing.assert_frame_equal(own.table(), other.plan(AMPLE, 700, **given).table())
    pd.testing.assert_frame_equal(own.table(), dps.plan(other, AMPLE, 700, **given).table())
    with pytest.raises(SpecificationError, match="n must be given"):
        other.plan(BUDGET, **given)


def test_shares_name_the_levels_that_have_none() -> None:
    schema = dps.Schema(y=dps.bounded(0, 10), maker=dps.levels("WDC", "HGST"))
    shares = {"maker": {"WDC": 0.5, "HSGT": 0.5}}
    with pytest.raises(SpecificationError, match="'HGST' has no share; did you mean 'HGST'") as refused:
        dps.plan(dps.ols("y ~ maker", None, schema), dps.zcdp(0.5), 1000, covariates=shares)
    assert "1 name(s) that are no level of 'maker'" in str(refused.value)
    assert "HSGT" not in str(refused.value)  # which may be a cell


def test_a_curve_cannot_be_planned() -> None:
    drives = dps.datasets.load("hdfail")
    model = dps.kaplan_meier("Surv(time, status) ~ 1", drives.data, drives.schema)
    with pytest.raises(AttributeError, match="only fits of ols, ridge, logit, glm, survreg and coxph"):
        model.plan(dps.zcdp(0.5))
    with pytest.raises(SpecificationError, match="curves and support vectors cannot be planned"):
        dps.plan(model, dps.zcdp(0.5), 1000)
    with pytest.raises(SpecificationError, match="are planned without data, others need them"):
        dps.kaplan_meier("Surv(time, status) ~ 1", None, drives.schema)


def test_a_misspelt_variable_is_answered_with_the_one_it_is_like() -> None:
    model = dps.ols("y ~ load", None, dps.Schema(y=dps.bounded(0, 10), load=dps.bounded(0, 10)))
    with pytest.raises(SpecificationError, match="did you mean 'load'") as refused:
        dps.plan(model, dps.zcdp(0.5), 1000, covariates={"laod": (5, 2)})
    assert "laod" not in str(refused.value)  # which may be a cell
    with pytest.raises(SpecificationError) as refused:
        dps.plan(model, dps.zcdp(0.5), 1000, covariates={"humidity": (5, 2), 7: 1})
    assert "did you mean" not in str(refused.value)


@pytest.mark.parametrize("name", ["y", "log(y)"])
def test_a_transformed_response_is_told_by_its_scale(name: str) -> None:
    model = dps.ols("log(y) ~ load", None, dps.Schema(y=dps.bounded(1, 10), load=dps.bounded(0, 10)))
    with pytest.raises(SpecificationError, match=r"give scale=, the sd of residuals of 'log\(y\)'"):
        dps.plan(model, dps.zcdp(0.5), 1000, covariates={name: (5, 2)})


@pytest.mark.long
def test_looks_at_a_unit_are_told() -> None:
    inspected, law = MODELS["inspected"]
    often, seldom = (
        dps.plan(inspected, AMPLE, 2000, covariates=KNOWN, **law | {"inspections": each}).table()
        for each in (5, [250, 700])
    )
    more = seldom["sampling"] / often["sampling"]  # of a line two looks tell nearly as much as many
    assert more.iloc[-1] > 1.5 and (more > 0.9).all()
    assert (seldom["privacy"] > 1.2 * often["privacy"]).all()


def test_looks_that_cannot_be_are_refused() -> None:
    inspected, _ = MODELS["inspected"]
    with pytest.raises(SpecificationError, match=r"inspections= is of Surv\(lower, upper"):
        dps.plan(inspected, BUDGET, 4000)
    with pytest.raises(SpecificationError, match=r"inspections= is of Surv\(lower, upper"):
        dps.plan(MODELS["survreg"][0], BUDGET, 4000, inspections=30)
    with pytest.raises(SpecificationError, match="positive and increase"):
        dps.plan(inspected, BUDGET, 4000, inspections=[30, 20])
    with pytest.raises(SpecificationError, match="longer step"):
        dps.plan(inspected, BUDGET, 4000, inspections=1e-4)
    left = dps.survreg("Surv(time, failed, type='left') ~ x", None, SCHEMA)
    with pytest.raises(SpecificationError, match="plan knows no type='left'"):
        dps.plan(left, BUDGET, 4000, inspections=30)


def test_watches_are_told_of_times_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the rows that a plan would fit, which are looked at here."""
    monkeypatch.setattr(Trial, "run", lambda *asked: None)
    laws = {name: LIFE for name in ("equal", "even")}
    follows, level = LIFE | {"events": None}, LIFE | {"coef": {"z": 0.2}}
    asked = [*laws.items(), ([100, 200], follows), ([100, 200, 300, 300], level), (250, level)]
    ends = []
    for watches, law in asked:
        ahead = dps.plan(MODELS["survreg"][0], AMPLE, 500, covariates=KNOWN, watches=watches, **law)
        rng = np.random.default_rng(1)
        made = ahead._trial._of.columns(ahead._trial.law, ahead._trial._drawn(rng, 500), rng)
        assert watches == [100, 200] or 0.3 < np.mean(made["failed"] == "dead") < 0.5
        assert not (law is follows and "watches up to" in str(ahead._trial.law.assumed))
        ends.append(np.unique(made["time"][made["failed"] == "alive"]))
    assert len(ends[0]) == 1 and len(ends[1]) > 100
    for found, known in zip(ends[2:], ([100, 200], [100, 200, 300], [250]), strict=True):
        np.testing.assert_allclose(found, known)
    with pytest.raises(SpecificationError, match="watches= is of times to failure"):
        dps.plan(MODELS["ols"][0], BUDGET, N, watches="equal")
    with pytest.raises(SpecificationError, match="watches= is 'even'.*got 'end'"):
        dps.plan(MODELS["survreg"][0], BUDGET, N, watches="end")
    for wrong, words in (
        ([1, -2], "as frequent as each other"),
        (["even", "365"], "as frequent as each other"),
        ([9000], "at most the upper bound of the time, 4000"),
    ):
        with pytest.raises(SpecificationError, match=words):
            dps.plan(MODELS["survreg"][0], BUDGET, N, watches=wrong)
    with pytest.raises(SpecificationError, match="the share of failures follows from lengths"):
        dps.plan(MODELS["survreg"][0], BUDGET, N, watches=[100], **LIFE)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("response", ["Surv(time, failed)", "Surv(x, time, failed)"])
def test_failures_that_the_bounds_of_the_time_exclude_are_refused(response: str) -> None:
    model = dps.survreg(f"{response} ~ z", None, SCHEMA)
    known = {"z": (0.5, 1.0)} | ({"x": (25, 6)} if "x" in response else {})
    law = {"scale": 0.6, "events": 0.2, "covariates": known}
    with pytest.raises(SpecificationError, match="events=0.2 cannot be reached: .*bound of the time, 4000"):
        dps.plan(model, AMPLE, 500, coef={"Intercept": 11}, **law)
    dps.plan(model, AMPLE, 500, coef={"Intercept": 7}, **law)


def test_watches_of_late_entries_begin_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trial, "run", lambda *asked: None)
    model = dps.survreg("Surv(x, time, failed) ~ z", None, SCHEMA)
    law = {"coef": {"Intercept": 5.0}, "scale": 0.5, "watches": [100, 200]}
    ahead = dps.plan(model, AMPLE, 500, covariates={"x": (25, 6), "z": (0.5, 1.0)}, **law)
    rng = np.random.default_rng(1)
    made = ahead._trial._of.columns(ahead._trial.law, drawn := ahead._trial._drawn(rng, 500), rng)
    watched = (made["time"] - drawn.columns["x"])[made["failed"] == "alive"]
    np.testing.assert_allclose(np.unique(np.round(watched, 6)), [100, 200])


@pytest.mark.usefixtures("few")
def test_hazards_are_planned_by_their_coefficients() -> None:
    model, law = MODELS["coxph"]
    ahead = dps.plan(model, BUDGET, N, covariates=KNOWN, **law)
    assert ahead.names == ("g[T.b]", "x", "z")
    np.testing.assert_allclose(ahead.table()["coef"], [0, 0, 0.4], atol=1e-12)
    assert ahead.power({"z": 0.4})["z"] > 0.99
    with pytest.raises(BudgetError, match="no pure epsilon"):
        dps.plan(model, dps.pure(1), N)


@pytest.mark.usefixtures("few")
def test_what_was_released_may_be_given_to_a_model_with_data() -> None:
    plant = dps.datasets.load("ccpp")
    model = dps.ols("PE ~ AT", plant.data, plant.schema)
    found = dps.describe(plant.data, plant.schema, BUDGET, columns=["AT", "PE"])
    for told in (found, model.fit(BUDGET).moments):
        assert model.plan(BUDGET, covariates=told).table()["term"].tolist() == ["Intercept", "AT"]
    with pytest.raises(SpecificationError, match="a table, whose rows nothing protects"):
        model.plan(BUDGET, covariates=plant.data)


@pytest.mark.usefixtures("few")
def test_what_is_told_of_the_response_is_planned_with() -> None:
    """By a description, by public rows, by public moments and by those of a fit."""
    rng, n = np.random.default_rng(0), 2000
    schema = dps.Schema(x=dps.bounded(0, 10), y=dps.bounded(0, 1000), t=dps.bounded(1, 500), out=dps.event())
    rows = pd.DataFrame(
        {"x": rng.normal(5, 1, n), "t": rng.uniform(1, 500, n), "out": rng.uniform(size=n) < 0.2}
    )
    rows["y"] = 215 + 20 * (rows["x"] - 5) + rng.normal(0, 50, n)
    rows["out"] = rows["out"].astype(int)
    line, private = dps.ols("y ~ x", None, schema), dps.gdp(20)
    found = dps.describe(rows, schema, private)
    moments = dps.ols("y ~ x", rows, schema).fit(private).moments
    for told in (found, rows, dps.public_moments("y ~ x", rows, schema), moments):
        ahead = dps.plan(line, private, n, covariates=told)
        assert "Assumed" not in str(ahead.summary())
        assert abs(ahead._trial.law.scale / rows["y"].std() - 1) < 0.05
    for model in (dps.survreg, dps.coxph):
        lives = model("Surv(t, out) ~ x", None, schema)
        for told in (found, rows, {"x": (5, 1), "out": 0.2}):
            ahead = dps.plan(lives, private, n, covariates=told, scale=1)
            assert "Assumed" not in str(ahead.summary()) and abs(ahead._setting.asked.events - 0.2) < 0.03
        assert dps.plan(lives, private, n, covariates=found, scale=1, events=0.5)._setting.asked.events == 0.5
    censored = dps.survreg("Surv(t, censored=gone) ~ x", None, dps.Schema(schema, gone=dps.flag()))
    assert dps.plan(censored, private, n, {"gone": 0.3}, scale=1)._setting.asked.events == 0.7


def test_rows_that_a_description_found_unusable_do_not_count() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"z": rng.normal(size=N), "y": rng.normal(size=N)})
    rows[rng.uniform(size=rows.shape) < [0.3, 0.2]] = np.nan
    with testing.noise(testing.SeededNoise(1)):
        found = dps.describe(rows, SCHEMA, dps.zcdp(0.5), columns=["z", "y"])
        fit = dps.ols("y ~ z", rows, SCHEMA).fit(dps.zcdp(0.5))
    model = dps.ols("y ~ z", None, SCHEMA)
    ahead = dps.plan(model, dps.zcdp(0.5), N, covariates=found, scale=1)
    np.testing.assert_allclose(ahead.table()["std_error"], fit.bse, rtol=0.1)
    assert "44 % of the rows lack a value" in " ".join(str(ahead.summary()).split())
    whole = dps.plan(model, dps.zcdp(0.5), N, covariates={"z": (0, 1)}, scale=1).table()
    assert (whole["std_error"] < 0.85 * fit.bse.to_numpy()).all()


def test_what_was_described_of_a_subset_is_planned_for_the_rows_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fit of the same subset has so many rows; for any other the plan says whose numbers it took."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"z": rng.normal(size=N), "m": rng.choice(["a", "b"], N, p=[0.7, 0.3])})
    rows["y"] = rng.normal(size=N)
    schema = dps.Schema(z=SCHEMA["z"], y=SCHEMA["y"], m=dps.levels("a", "b"))
    with testing.noise(testing.SeededNoise(1)):
        found = dps.describe(rows, schema, dps.zcdp(0.5), columns=["z", "y"], subset="m == 'b'")
        paid = dps.ols("y ~ z", rows, schema, subset="m=='b'")
        fits = [paid.fit(dps.zcdp(0.5)) for _ in range(9)]
    for told in (found, fits[0].moments):
        model = dps.ols("y ~ z", None, schema, subset='"b" == m')
        ahead = model.plan(dps.zcdp(0.5), N, covariates=told, scale=1)
        np.testing.assert_allclose(
            ahead.table()["std_error"], np.median([fit.bse for fit in fits], axis=0), rtol=0.1
        )
        said = re.search(r"(\d+) % of the rows are in the subset", " ".join(str(ahead.summary()).split()))
        assert said and abs(int(said[1]) - 30) <= 3  # the noise of the description
    few_fits(monkeypatch)
    for told, other in itertools.product((found, fits[0].moments), (None, "m == 'a'")):
        ahead = dps.plan(dps.ols("y ~ z", None, schema, subset=other), dps.zcdp(0.5), N, told, scale=1)
        assert told.subset is not None
        assert f"is of the rows with {told.subset}" in " ".join(str(ahead.summary()).split())
    assert "Subset" in str(fits[0].moments) and "m=='b'" in str(fits[0].moments)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_counts_whose_alpha_is_sought_are_planned_as_they_scatter(
    alpha: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the root of their dispersion, or by an sd that is told; of a Poisson law where nothing is."""
    rng, mean, n = np.random.default_rng(73), 4.0, 7000
    rates = rng.gamma(1 / alpha, alpha * mean, n) if alpha else np.full(n, mean)
    rows = pd.DataFrame({"z": rng.normal(0.5, 1, n), "visits": np.minimum(rng.poisson(rates), 40)})
    with noise(SeededNoise(5)):
        bse = np.median(
            [
                dps.glm("visits ~ z", rows, SCHEMA, "negativebinomial").fit(BUDGET).bse.to_numpy()
                for _ in range(5)
            ],
            axis=0,
        )
    model, known = dps.glm("visits ~ z", None, SCHEMA, "negativebinomial"), {"z": (0.5, 1.0)}
    scale, sd = (1 + alpha * mean) ** 0.5, (mean + alpha * mean**2) ** 0.5
    told = [
        dps.plan(model, BUDGET, n, known | {"visits": mean}, scale=scale),
        dps.plan(model, BUDGET, n, known | {"visits": (mean, sd)}),
    ]
    for ahead in told:
        np.testing.assert_allclose(ahead.table()["std_error"], bse, rtol=0.15)
        assert "Assumed" not in str(ahead)
    few_fits(monkeypatch)
    silent = dps.plan(model, BUDGET, n, known | {"visits": mean})
    assert silent._trial.law.scale == 1 and "under a Poisson law" in " ".join(str(silent).split())


@pytest.mark.usefixtures("few")
def test_a_plan_without_the_effects_that_were_described_says_so() -> None:
    model, said = dps.ols("y ~ x + z", None, SCHEMA), "Effects are taken for 0, and the response goes along"
    known = {"x": (25, 6), "z": (0.5, 1.0), "y": (50, 20)}
    for rho, coef, holds in (
        (0.6, None, True),
        (-0.6, None, True),
        (0.1, None, False),
        (0.6, {"x": 2}, False),
    ):
        ahead = dps.plan(model, AMPLE, 500, known | {("x", "y"): rho}, coef=coef)
        assert (said in " ".join(str(ahead.summary()).split())) is holds
    assert said not in " ".join(str(dps.plan(model, AMPLE, 500, known | {("x", "z"): 0.6})).split())


@pytest.mark.usefixtures("few")
def test_a_plan_of_a_penalty_without_effects_says_so() -> None:
    """Half of x's effect of 48 an sd of x is left to residuals, whose sd is 20: hypot(24, 20) is 31."""
    known = {"x": (25, 6), "z": (0.5, 1.0)}
    half = []
    for model, coef, holds in (
        (dps.ridge("y ~ x + z", None, SCHEMA, alpha=36.0), None, True),
        (dps.ridge("y ~ x + z", None, SCHEMA, alpha=36.0), {"x": 8.0}, False),
        (dps.ols("y ~ x + z", None, SCHEMA), None, False),
    ):
        ahead = dps.plan(model, AMPLE, 2000, known, coef=coef, scale=20)
        assert ("the penalty makes intervals depend on them" in " ".join(str(ahead).split())) is holds
        half.append(ahead.table()["half_width"][1])
    assert half[1] > 1.3 * half[0]


def test_open_ends_of_intervals_are_no_rows_that_lack_a_value() -> None:
    """Units that still work have no upper end, and count."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"before": rng.uniform(1, 100, N), "x": rng.normal(25, 6, N)})
    rows["after"] = np.where(rng.uniform(size=N) < 0.6, np.nan, rows["before"] + 30)
    with testing.noise(testing.SeededNoise(1)):
        found = dps.describe(rows, SCHEMA, dps.zcdp(0.5), columns=["before", "after", "x"])
    model = dps.survreg("Surv(before, after, type='interval2') ~ x", None, SCHEMA)
    assert read_known(found, model.design, None).lacking[0] < 0.02


def test_moments_of_a_fit_may_be_of_more_than_the_formula_reads() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.normal(25, 6, N), "z": rng.normal(size=N), "y": rng.normal(size=N)})
    with testing.noise(testing.SeededNoise(1)):
        told = dps.ols("y ~ x + z", rows, SCHEMA).fit(dps.zcdp(0.5)).moments
    known = read_known(told, dps.ols("y ~ x", None, SCHEMA).design, "y")
    assert [*known.spreads] == ["x"] and known.assumed == () and known.response is not None


def test_the_share_of_rows_that_lack_a_value_has_limits_where_noise_is_in_it() -> None:
    """A gap of a variable may be less than none by noise, so that many of them do not add up to one."""
    rng = np.random.default_rng(0)
    names = [f"z{i}" for i in range(6)]
    schema = dps.Schema({**dict.fromkeys(names, SCHEMA["z"]), "y": SCHEMA["y"]})
    rows = pd.DataFrame(rng.normal(size=(400, 7)), columns=[*names, "y"])
    lacking = []
    for seed in range(20):
        with testing.noise(testing.SeededNoise(seed)):
            found = dps.describe(rows, schema, dps.gdp(0.5))
        lacking.append(found._lacking([*names, "y"]))
    share, low, high = np.array(lacking).T
    assert (low == 0).all() and high.max() > 0.2 and np.median(share) < 0.03
    ahead = dps.plan(dps.ols(f"y ~ {' + '.join(names)}", None, schema), dps.gdp(5), 400, found, scale=1)
    assert f"0 % to {100 * high[-1]:.0f} %" in " ".join(str(ahead.summary()).split())


@pytest.mark.parametrize("precise", [True, False])
def test_weights_are_planned_as_sigma_of_a_fit_or_a_described_sd_has_them(precise: bool) -> None:
    """By sigma, standard errors are those of inverse variances; by an sd of all rows, those of rows alike."""
    rng = np.random.default_rng(0)
    schema = dps.Schema(z=SCHEMA["z"], y=dps.bounded(-40, 40), w=dps.bounded(0, 20))
    rows = pd.DataFrame({"z": rng.normal(size=N), "w": rng.gamma(2, 3, N).clip(0.1, 20)})
    rows["y"] = 4 * rng.normal(size=N) / (np.sqrt(rows["w"]) if precise else 1)
    model = dps.ols("y ~ z", rows, schema, weights="w")
    with testing.noise(testing.SeededNoise(1)):
        fit = model.fit(AMPLE)
    known = {"z": (0, 1), "w": (rows["w"].mean(), rows["w"].std(), rows["w"].skew())}
    law = {"scale": fit.sigma.estimate} if precise else {"covariates": known | {"y": (0.0, rows["y"].std())}}
    ahead = model.plan(AMPLE, **({"covariates": known} | law))
    np.testing.assert_allclose(ahead.table()["std_error"], fit.bse, rtol=0.1)
    told = "as sigma of a fit tells it" if precise else "whatever their weight"
    assert told in " ".join(str(ahead.summary()).split())


def test_public_rows_with_gaps_are_planned_as_a_fit_counts_them() -> None:
    rows = pd.DataFrame({"z": [0.1, None, 0.3, -0.5, 0.2] * 200, "y": [1.0, 2.0, None, 1.5, None] * 200})
    model = dps.ols("y ~ z", None, SCHEMA)
    ahead = dps.plan(model, dps.gdp(5), 5000, covariates=rows, scale=1)
    assert "60 % of the rows lack a value, and do not count" in " ".join(str(ahead.summary()).split())
    whole = dps.plan(model, dps.gdp(5), 2000, covariates=rows.dropna(), scale=1)
    np.testing.assert_array_equal(ahead.table()["std_error"], whole.table()["std_error"])
    with pytest.raises(SpecificationError, match="without a row that has z, y as"):
        dps.plan(model, dps.gdp(5), 5000, covariates=rows[rows["z"].isna()], scale=1)


@pytest.mark.long
def test_rows_that_enter_late_are_planned() -> None:
    """Units of any age come under watch, which is of any length up to the longest.

    At this budget standard errors are much the same under any noise: at epsilon = 1 they differ tenfold.
    """
    schema = dps.Schema(dict(SCHEMA) | {"start": dps.bounded(0, 4000)})
    formula, budget, n = "Surv(start, time, failed) ~ z", dps.approx(20, 1e-6), 4000
    rng = np.random.default_rng(11)
    start, z = rng.gamma(4, 30, 3 * n), rng.normal(0.5, 1, 3 * n)
    life = np.exp(5 + 0.2 * z + 0.5 * rng.normal(size=3 * n))
    rows = pd.DataFrame({"start": start, "z": z, "life": life})[life > start].iloc[:n]
    watch = rng.uniform(0, 1, n)
    ends = rows["start"] + watch * np.quantile((rows["life"] - rows["start"]) / watch, 0.4)
    rows["failed"] = np.where(rows["life"] <= ends, "dead", "alive")
    rows["time"] = np.minimum(rows["life"], ends)
    told = {"z": (rows["z"].mean(), rows["z"].std())}
    told["start"] = (rows["start"].mean(), rows["start"].std(), rows["start"].skew())
    law = {"coef": {"Intercept": 5, "z": 0.2}, "scale": 0.5, "events": 0.4}
    model = dps.survreg(formula, None, schema, dist="lognormal")
    errors = []
    for seed in range(4):
        with testing.noise(testing.SeededNoise(seed)):
            errors.append(dps.survreg(formula, rows, schema, dist="lognormal").fit(budget).bse)
    table = dps.plan(model, budget, n, covariates=told, **law).table()
    np.testing.assert_allclose(table["std_error"], np.median(errors, axis=0), rtol=0.15)


def test_names_that_are_no_words_are_planned_as_any() -> None:
    """Of the response, of covariates and of the moments of a fit, which say Q('...') in their columns."""
    draw = np.random.default_rng(1)
    load, site = draw.normal(50, 8, 4000), draw.choice(["a", "b"], 4000)
    rows = {"load": load, "site": site, "cost": np.clip(3 * load + draw.normal(0, 20, 4000), 0, 1000)}
    schema = dps.Schema(load=dps.bounded(0, 100), site=dps.levels("a", "b"), cost=dps.bounded(0, 1000))
    names = {"load": "load %", "site": "site.type", "cost": "fix cost"}
    odd = dps.Schema({names[name]: schema[name] for name in schema})
    odd_rows = {names[name]: rows[name] for name in rows}
    budget, odd_formula = dps.approx(2, 1e-6), "Q('fix cost') ~ Q('load %') + Q('site.type')"
    with noise(SeededNoise(1)):
        plain = dps.ols("cost ~ load + site", rows, schema).fit(budget).moments
    with noise(SeededNoise(1)):
        fit = dps.ols(odd_formula, odd_rows, odd).fit(budget)
    want = dps.plan(dps.ols("cost ~ load + site", None, schema), budget, 4000, covariates=plain).table()
    model = dps.ols(odd_formula, None, odd)
    for told in (fit.moments, pd.DataFrame(odd_rows)):
        got = dps.plan(model, budget, 4000, covariates=told).table()
        assert np.allclose(got["half_width"], want["half_width"], rtol=0.3)
    assert fit.marginal_effects(at="mean") is not None
    assert "load % (per 10)" in fit.tidy(units={"load %": 10})["term"].tolist()


@pytest.mark.parametrize(("wanted", "shown"), [(None, False), (True, True)])
def test_a_plan_shows_how_many_fits_it_has_made(
    wanted: bool | None, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One bar for all laws of a call; a stream that is no terminal shows none by itself."""
    monkeypatch.setattr(running, "_DELAY", 0)
    monkeypatch.setattr(sys, "stderr", (said := io.StringIO()))
    with dps.options(progress=wanted):
        ahead = dps.plan(dps.ols("y ~ x", None, SCHEMA), AMPLE, 500)
        first = said.tell()
        ahead.power({"x": 1.0})
    for text in (said.getvalue()[:first], said.getvalue()[first:]):
        assert text.count("made-up fits: 0 fits") == shown


def test_plans_of_two_threads_show_a_bar_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_DELAY", 0)
    monkeypatch.setattr(sys, "stderr", (said := io.StringIO()))
    begun, other, fit = threading.Event(), threading.Event(), Trial._fit

    def until_the_other(trial: Trial, budget: Any, rows: int, seed: int) -> Any:
        begun.set()
        assert other.wait(60)
        return fit(trial, budget, rows, seed)

    model = dps.ols("y ~ x", None, SCHEMA)
    with dps.options(progress=True), ThreadPoolExecutor(1) as thread:
        monkeypatch.setattr(Trial, "_fit", until_the_other)
        first = thread.submit(dps.plan, model, AMPLE, 500)
        assert begun.wait(60)
        monkeypatch.setattr(Trial, "_fit", fit)
        dps.plan(model, AMPLE, 600)
        other.set()
        first.result()
    assert said.getvalue().count("made-up fits: 0 fits") == 2


def test_power_takes_a_few_fits_more_than_the_plan_and_nothing_is_fitted_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, fit = list[Any](), Trial._fit

    def told(trial: Trial, budget: Any, rows: int, seed: int) -> Any:
        asked.append((id(trial), budget, rows, seed))
        return fit(trial, budget, rows, seed)

    monkeypatch.setattr(Trial, "_fit", told)
    model, known = MODELS["logit"]
    ahead = dps.plan(model, AMPLE, 3000, KNOWN, **known)
    before = len(asked)
    ahead.power({"z": 0.5})
    assert before >= 12 and len(asked) - before == 3 and len(set(asked)) == len(asked)


def test_a_few_fits_tell_what_effects_do_only_where_their_ratios_agree() -> None:
    none, other = np.ones((3, 3)), np.array([[1.2, 2.0, 1.0], [1.2, 0.5, 1.0], [1.2, 1.0, np.inf]])
    few, same = (Outlook(errors, np.zeros(3), np.ones(3), np.eye(3), 1.0) for errors in (other, none))
    ratio = few.over(same)
    assert ratio[0] == pytest.approx(1.2) and np.isnan(ratio[1:]).all()


@pytest.mark.usefixtures("few")
def test_a_plan_that_most_fits_lose_says_what_would_do() -> None:
    """Lives are short against watches that are even, so that most units fail before the first look."""
    schema = dps.Schema(x=dps.bounded(20, 110), lo=dps.bounded(1, 3000), hi=dps.bounded(1, 3000))
    model = dps.survreg("Surv(lo, hi, type='interval2') ~ arrhenius(x)", None, schema)
    told = dict(n=800, covariates={"x": (80, 16)}, events=0.95, scale=0.5, inspections=200)
    even, equal = (
        dps.plan(model, dps.approx(1, 1e-5), watches=watches, **told) for watches in ("even", "equal")
    )
    lost = not np.isfinite(even.table()["half_width"]).any()
    assert lost and "most of them do before the first look" in " ".join(str(even).split())
    assert np.isfinite(equal.table()["half_width"]).all() and "Most fits lose" not in str(equal)

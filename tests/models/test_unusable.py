"""Fits that released how many rows have weight say so where many have none."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.testing import SeededNoise, noise

N, BUDGET = 20_000, dps.approx(1, 1e-6)
SCHEMA = dps.Schema(
    x=dps.bounded(0, 100),
    y=dps.bounded(-50, 150),
    sick=dps.flag(),
    visits=dps.count(50),
    time=dps.bounded(1e-3, 100),
)
MODELS = {
    "ols": lambda rows, **more: dps.ols("y ~ x", rows, SCHEMA, **more),
    "logit": lambda rows, **more: dps.logit("sick ~ x", rows, SCHEMA, **more),
    "poisson": lambda rows, **more: dps.glm("visits ~ x", rows, SCHEMA, family="poisson", **more),
    "survreg": lambda rows, **more: dps.survreg("Surv(time, sick) ~ x", rows, SCHEMA, **more),
    "coxph": lambda rows, **more: dps.coxph("Surv(time, sick) ~ x", rows, SCHEMA, **more),
}


def table(missing: float) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    x = rng.normal(40, 10, N)
    sick = (rng.uniform(size=N) < 1 / (1 + np.exp((40 - x) / 10))).astype(int)
    rows = pd.DataFrame({"x": x, "y": x / 2 + rng.normal(0, 8, N), "sick": sick, "visits": rng.poisson(3, N)})
    rows.loc[rng.uniform(size=N) < missing, "x"] = np.nan
    rows["time"] = rng.exponential(10.0, N)
    return rows


def flags(model: Any, budget: Budget = BUDGET) -> dict[str, str]:
    with noise(SeededNoise(3)):
        return dict(model.fit(budget).flags)


@pytest.mark.parametrize("name", MODELS)
def test_many_rows_without_weight_are_told(name: str) -> None:
    said = flags(MODELS[name](table(0.17)))["unusable"]
    assert 15 <= int(said.split()[1]) <= 19 and "dps.check(data, schema, formula)" in said


@pytest.mark.parametrize("name", MODELS)
def test_none_or_few_are_not(name: str) -> None:
    assert "unusable" not in flags(MODELS[name](table(0.0)))
    assert "unusable" not in flags(MODELS[name](table(0.03)))


def test_rows_outside_a_subset_are_meant() -> None:
    assert "unusable" not in flags(MODELS["ols"](table(0.0), subset="x > 45"))


@pytest.mark.parametrize("budget", [BUDGET, dps.pure(2)], ids=["mu", "epsilon"])
def test_codes_of_events_that_are_not_as_declared_are_told(budget: Budget) -> None:
    """Of 1 for censored and 2 for failed only the censored rows can be used, and count as failed."""
    rows = table(0.0)
    rows["sick"] += 1
    for name in ("survreg", "coxph")[: 2 - budget.pure]:
        said = flags(MODELS[name](rows), budget)["unusable"]
        # within five sds of the noise of what is said
        assert abs(int(said.split()[1]) - 100 * np.mean(rows["sick"] == 2)) < (12 if budget.pure else 7)


TIMES = {name: model for name, model in MODELS.items() if name in ("survreg", "coxph")}


def of_units(rows: pd.DataFrame, name: str, max_rows: int, subset: str | None) -> Any:
    """Of units of one row to eight, of which so many weigh, if any are declared."""
    rng, schema = np.random.default_rng(6), SCHEMA.unit("who", max_rows) if max_rows else SCHEMA
    sizes = rng.integers(1, 9, N)
    rows["who"] = np.repeat(np.arange(N), sizes)[:N]
    model = {"survreg": dps.survreg, "coxph": dps.coxph}[name]
    return model("Surv(time, sick) ~ x", rows, schema, subset=subset)


LEFT_OUT = [(1, None), (3, None), (0, "visits > 2"), (2, "visits > 2")]


@pytest.mark.parametrize(("max_rows", "subset"), LEFT_OUT)
@pytest.mark.parametrize("name", TIMES)
def test_rows_of_long_units_and_outside_a_subset_are_meant_and_others_are_told(
    name: str, max_rows: int, subset: str | None
) -> None:
    """A half to nine tenths of the rows are left out; of the others a part lacks a cell or is miscoded."""
    assert "unusable" not in flags(of_units(table(0.0), name, max_rows, subset))
    assert "unusable" not in flags(of_units(table(0.03), name, max_rows, subset))
    said = flags(of_units(table(0.3), name, max_rows, subset))["unusable"]
    assert 24 <= int(said.split()[1]) <= 36
    rows = table(0.0)
    rows["sick"] += 1
    assert "unusable" in flags(of_units(rows, name, max_rows, subset))


def test_of_levels_alone_rows_of_a_unit_are_counted_too() -> None:
    rows = table(0.0)
    rows["maker"], rows["who"] = np.where(rows["x"] > 40, "A", "B"), np.arange(N) // 3
    schema = (SCHEMA | dps.Schema(maker=dps.levels("A", "B"))).unit("who", 1)
    assert "unusable" not in flags(dps.survreg("Surv(time, sick) ~ maker", rows, schema))
    rows.loc[::4, "maker"] = "a"
    assert "unusable" in flags(dps.survreg("Surv(time, sick) ~ maker", rows, schema))


def test_a_missing_cell_of_a_subset_leaves_its_row_out() -> None:
    """Nobody knows whether it is inside."""
    rows = table(0.0)
    rows["visits"] = rows["visits"].where(np.arange(N) % 3 > 0)
    assert "unusable" not in flags(dps.survreg("Surv(time, sick) ~ x", rows, SCHEMA, subset="visits >= 0"))


def test_rows_whose_entry_is_within_their_life_can_be_used() -> None:
    """A late entry is no missing cell."""
    rows = table(0.0)
    rows["entry"] = rows["time"] * 0.6
    schema = SCHEMA | dps.Schema(entry=dps.bounded(0, 100))
    assert "unusable" not in flags(dps.survreg("Surv(entry, time, sick) ~ x", rows, schema))


@pytest.mark.parametrize("name", ["ols", "logit"])
def test_more_units_are_advised_where_further_rows_of_one_do_not_count(name: str) -> None:
    rows = table(0.0)[:400]
    rows["who"] = np.arange(400) // 10
    formula = "y ~ x" if name == "ols" else "sick ~ x"
    model = getattr(dps, name)(formula, rows, SCHEMA.unit("who", 1))
    with noise(SeededNoise(3)):
        fit = model.fit(dps.approx(0.2, 1e-6), force=True)
    for found in (fit, fit.at_alpha(0.1)) if name == "ols" else (fit,):
        said = dict(found.flags)["not_estimable"]
        assert "more of who (of each at most 1 row(s) count)" in said and "more rows" not in said

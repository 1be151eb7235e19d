"""T1, T2, T8 and T9 on whole fits: what one row, the order of rows or their types can change, is noise."""

from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.curator import Curator
from dpstats.estimators.location_scale import Problem, fit_location_scale, make_plan
from dpstats.families import DISTS as ALL
from dpstats.families import SEV
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import Recording, Replay, SeededNoise, noise
from tests.models.drives import FORMULA, drives
from tests.models.drives import SCHEMA as DRIVES
from tests.privacy.harness import SCHEMA, Data, neighbours, rows, trace, violation

DISTS = st.sampled_from(sorted(ALL))
BUDGETS = st.sampled_from([dps.zcdp(0.02), dps.approx(1, 1e-6), dps.gdp(8.0), dps.gdp(1e5), dps.pure(1)])
FORMULAS = st.sampled_from(["Surv(time, failed) ~ temp + maker", "Surv(time, failed) ~ 1"])


def fitting(formula: str, dist: str, budget: dps.budget.Budget) -> Callable[[Data], dps.Fit]:
    def fit(data: Data) -> dps.Fit:
        columns = {name: np.array(values, dtype=object) for name, values in data.items()}
        return dps.survreg(formula, columns, SCHEMA, dist).fit(budget)

    return fit


@settings(max_examples=45, deadline=None)
@given(neighbours(), FORMULAS, DISTS, BUDGETS)
def test_fits_of_a_few_wild_rows(pair: tuple[Data, Data], formula: str, dist: str, budget: Any) -> None:
    assert violation(fitting(formula, dist, budget), *pair) is None


def as_data(columns: dict[str, Any]) -> Data:
    """On the harness's schema, whose times end at 100."""
    columns = columns | {"time": columns["time"] / 20}
    return {name: list(column) for name, column in columns.items() if name in SCHEMA}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), rows, st.integers(0, 299), DISTS, BUDGETS)
def test_one_wild_row_among_many(seed: int, row: dict[str, Any], index: int, dist: str, budget: Any) -> None:
    """The row is judged by bounds that the other rows led to, through noise: the released ones."""
    data = as_data(drives(300, seed, censored=0.5))
    changed = {name: [*column[:index], row[name], *column[index + 1 :]] for name, column in data.items()}
    assert violation(fitting("Surv(time, failed) ~ temp + maker", dist, budget), data, changed) is None


def test_given_the_same_answers_fits_are_the_same() -> None:
    """With other data and the same answers a fit is the same to the bit: nothing else enters it."""
    fit = fitting("Surv(time, failed) ~ temp + maker", "weibull", dps.approx(1, 1e-6))
    recording = Recording(SeededNoise(4))
    with noise(recording):
        first = fit(as_data(drives(300, 1)))
    with noise(Replay(recording.answers)):
        second = fit(as_data(drives(300, 2, censored=0.9)))
    assert first.to_dict() == second.to_dict()
    assert first.summary().as_html() == second.summary().as_html()


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 7.0])
def test_a_fit_of_pure_epsilon_spends_its_budget_and_no_more(epsilon: float) -> None:
    fit = fitting("Surv(time, failed) ~ temp + maker", "weibull", dps.pure(epsilon))
    records, _, said = trace(fit, as_data(drives(300, 5)), SeededNoise(1))
    assert not said and "gaussian" not in {record.law.name for record in records}
    spent, total = sum(Fraction(record.cost) for record in records), Fraction(epsilon)
    assert total * (1 - Fraction(1, 10**8)) < spent <= total


@pytest.mark.parametrize("budget", [dps.approx(1, 1e-6), dps.zcdp(0.3), dps.gdp(1 / 3), dps.zcdp(7e-5)])
def test_a_fit_spends_its_budget_and_no_more(budget: Any) -> None:
    fit = fitting("Surv(time, failed) ~ temp + maker", "weibull", budget)
    records, _, said = trace(fit, as_data(drives(300, 5)), SeededNoise(1))
    assert not said
    spent, total = sum(Fraction(record.cost) ** 2 for record in records), Fraction(budget.mu) ** 2
    assert total * (1 - Fraction(1, 10**8)) < spent <= total


class FaultyBound(Curator):
    """Reads the data's own largest time as a bound."""

    def release(self, name: str, cost: float, **public: Any) -> Any:
        if name == "event_moments":
            exact = max(block["time"].max() for block in self._rows.blocks())
            public["half"] = public["half"] * max(1.0, exact / 1000)
        return super().release(name, cost, **public)


def test_the_harness_sees_a_bound_from_the_data_in_a_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    fit, data = fitting("Surv(time, failed) ~ temp", "weibull", dps.gdp(8.0)), as_data(drives(200, 3))
    changed = {**data, "time": [1e6, *data["time"][1:]]}
    assert violation(fit, data, changed) is None
    monkeypatch.setattr(import_module("dpstats.models.survreg"), "Curator", FaultyBound)
    assert violation(fit, data, changed) is not None


COLUMNS = drives(700, 9)
COLUMNS = {name: np.round(column) if name == "time" else column for name, column in COLUMNS.items()}
COLUMNS |= {"temp": np.round(COLUMNS["temp"]), "load": np.round(COLUMNS["load"] * 8) / 8}


def released(data: Any) -> dict[str, Any]:
    with noise(SeededNoise(2)):
        return dps.survreg(FORMULA, data, DRIVES).fit(dps.approx(2, 1e-6)).to_dict()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32))
def test_order_of_rows(seed: int) -> None:
    order = np.random.default_rng(seed).permutation(700)
    assert released({name: column[order] for name, column in COLUMNS.items()}) == released(COLUMNS)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: {name: c.astype(np.float32) if c.dtype == float else c for name, c in data.items()},
        lambda data: {name: column.astype(object) for name, column in data.items()},
        lambda data: {**data, "failed": data["failed"].astype(bool), "time": data["time"].astype(np.int64)},
        lambda data: pd.DataFrame(data).astype({"maker": "category"}),
    ],
    ids=["float32", "object", "integers", "category"],
)
def test_types_and_containers(change: Callable[[dict[str, Any]], Any]) -> None:
    assert released(change(COLUMNS)) == released(COLUMNS)


@pytest.mark.parametrize("block_rows", [1, 37, 700])
def test_blocks(block_rows: int) -> None:
    """Every answer of every step, bit for bit."""
    design = build_design(FORMULA, DRIVES)
    opened = open_rows(COLUMNS, DRIVES, design.variables)
    time = np.log(design.response.time_bounds)
    bounds = np.vstack([design.bounds[1:], time])
    problem = Problem(SEV, True, bounds[:, 0], bounds[:, 1])
    answers = []
    for size in (block_rows, 8192):
        source = Recording(SeededNoise(3))
        curator = Curator(opened, design, dps.gdp(2), source, source.record, size)
        fit_location_scale(curator, problem, make_plan(2.0, early_steps=3, tail_steps=2))
        answers.append(np.concatenate(source.answers))
    assert answers[0].tobytes() == answers[1].tobytes()

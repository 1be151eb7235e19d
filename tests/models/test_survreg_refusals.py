"""Mistakes are said before any budget is spent, with the argument and the remedy; a fit is charged first."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise
from tests.models.drives import FORMULA, SCHEMA, drives

DATA = drives(500, 1)


def schema(**changes: Any) -> dps.Schema:
    return dps.Schema({**SCHEMA, **changes})


def test_a_fit_of_intervals_in_the_wrong_order_says_what_the_order_is() -> None:
    """The message follows from the formula and from the total failure alone."""
    ends = dps.Schema(a=dps.bounded(1, 1000), b=dps.bounded(1, 1000))
    lower = np.linspace(2, 400, 5000)
    data = {"first": lower + 50, "last": lower}
    told = {}
    for first, last in (("first", "last"), ("last", "first")):
        rows = {"a": data[first], "b": data[last]}
        with noise(SeededNoise(1)):
            fit = dps.survreg("Surv(a, b, type='interval2') ~ 1", rows, ends).fit(dps.approx(1, 1e-6))
        told[first] = dict(fit.flags).get("not_estimable", "")
    assert "Rows whose first end is the larger weigh nothing" in told["first"]
    assert "dps.check(data, schema, formula)" in told["first"] and told["last"] == ""


@pytest.mark.parametrize("model", [dps.survreg, dps.coxph, dps.kaplan_meier])
def test_an_event_that_the_formula_forgets_is_told(model: Any) -> None:
    no_event = {name: one for name, one in SCHEMA.items() if name != "failed"}
    right = "1" if model is dps.kaplan_meier else "temp"
    with pytest.warns(UserWarning, match=r"event 'failed' is not used: is it Surv\(time, failed\)"):
        model(f"Surv(time) ~ {right}", DATA, SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model(f"Surv(time, failed) ~ {right}", DATA, SCHEMA)
        model(f"Surv(time) ~ {right}", DATA, no_event)


DESCRIBING = {
    "R's name": (dict(dist="lnorm"), "got 'lnorm'; it is 'lognormal' here"),
    "distribution": (dict(dist="normal"), "dist must be one of weibull, exponential, loglogistic"),
    "misspelt": (dict(dist="weibul"), "got 'weibul'; did you mean 'weibull'"),
    "of two meanings": (dict(dist="gumbel"), "gumbel_l, is 'sev', and of greatest, gumbel_r, 'sev' of -y"),
    "scale of 0": (dict(scale=0), "scale is sigma where it is known, a positive number, got 0"),
    "scale in words": (dict(scale="known"), "scale must be a number, not a text"),
    "another exponential": (
        dict(dist="exponential", scale=2),
        "has a scale of 1, got scale=2; dist='weibull'",
    ),
    "no intercept": (dict(formula=FORMULA + " - 1"), "take '- 1' or '\\+ 0' out"),
    "no survival response": (dict(formula="time ~ temp"), "needs Surv\\(time, event\\) left of ~"),
    "times from 0": (dict(schema=schema(time=dps.bounded(0, 4000))), "above 0.*declare the shortest time"),
    "times from below 0": (dict(schema=schema(time=dps.bounded(-1, 4000)), dist="loglogistic"), "above 0"),
    "missing column": (dict(data={k: v for k, v in DATA.items() if k != "temp"}), "temp"),
    "undeclared variable": (dict(formula="Surv(time, failed) ~ temp + age"), "age"),
    "unbounded expression": (dict(formula="Surv(time, failed) ~ np.log(load)"), "load"),
    "no failures declared": (dict(formula="Surv(time, temp) ~ load"), "temp"),
}


@pytest.mark.parametrize("case", DESCRIBING)
def test_describing_a_model(case: str) -> None:
    changes, message = DESCRIBING[case]
    arguments = dict(formula=FORMULA, data=DATA, schema=SCHEMA) | changes
    with pytest.raises(dps.SpecificationError, match=message):
        dps.survreg(**arguments)


FITTING = {
    "no budget": (dict(budget=1.0), "budget must be a budget such as approx\\(1, 1e-6\\)"),
    "large delta": (dict(budget=dps.approx(1, 0.003)), "delta = 0.003 must not exceed 1/n = 0.002"),
    "method": (dict(budget=dps.zcdp(1), method="mle"), "must be 'auto', 'newton' or 'functional', got 'mle'"),
}


@pytest.mark.parametrize("case", FITTING)
def test_fitting_leaves_the_ledger_uncharged(case: str, tmp_path: Path) -> None:
    arguments, message = FITTING[case]
    ledger = dps.Ledger(tmp_path / "drives.ledger", total=dps.approx(10, 1e-2))
    with pytest.raises(dps.SpecificationError, match=message):
        dps.survreg(FORMULA, DATA, SCHEMA).fit(**arguments, ledger=ledger)
    assert ledger.spent is None and ledger.entries() == []


def test_pure_epsilon_has_no_late_entries(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "drives.ledger", total=dps.pure(10))
    with pytest.raises(dps.BudgetError, match="watched from 'temp' on; give approx, zcdp or gdp"):
        dps.survreg("Surv(temp, time, failed) ~ load", DATA, SCHEMA).fit(dps.pure(1), ledger=ledger)
    assert ledger.spent is None


def test_what_the_ledger_has_not_left_is_refused_and_reads_no_row(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "drives.ledger", total=dps.zcdp(0.5))
    model = dps.survreg(FORMULA, DATA, SCHEMA)
    with noise(Crash()), pytest.raises(dps.BudgetError, match="0.5 is left"):
        model.fit(dps.zcdp(0.6), ledger=ledger)
    assert ledger.spent is None


class Down(Exception):
    """The machine goes down."""


class Crash:
    """When the first noise is asked for."""

    def gaussian(self, value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray:
        raise Down

    def pure(self, value: np.ndarray, law: str, axes: np.ndarray, epsilon: float) -> np.ndarray:
        raise Down


CHARGED: dict[str, tuple[str, dict[str, Any]]] = {
    "late entries": ("Surv(temp, time, failed) ~ load", dict(budget=dps.approx(1, 1e-6))),
    "log-likelihood": (FORMULA, dict(budget=dps.gdp(0.5), release=["loglik"])),
    "pure epsilon": (FORMULA, dict(budget=dps.pure(1))),
    "functional": ("Surv(time) ~ load", dict(budget=dps.pure(1), method="functional")),
    "as published": ("Surv(time) ~ load", dict(budget=dps.pure(1), method="functional", compat="paper")),
}


@pytest.mark.parametrize("case", CHARGED)
def test_every_method_is_charged_whole_before_its_first_noise(case: str, tmp_path: Path) -> None:
    formula, how = CHARGED[case]
    ledger = dps.Ledger(tmp_path / "drives.ledger", total=dps.approx(10, 1e-3))
    model = dps.survreg(formula, DATA, SCHEMA)
    with noise(Crash()), pytest.raises(Down):
        model.fit(**how, ledger=ledger)
    assert [entry.budget for entry in ledger.entries()] == [how["budget"]]


def test_a_fit_is_charged_once_before_its_first_release(tmp_path: Path) -> None:
    path = tmp_path / "drives.ledger"
    ledger = dps.Ledger(path, total=dps.zcdp(1.0))
    model = dps.survreg(FORMULA, DATA, SCHEMA)
    with noise(Crash()), pytest.raises(Down):
        model.fit(dps.zcdp(0.25), ledger=ledger)
    assert ledger.spent == dps.zcdp(0.25), "there is no refund for a crash"
    with noise(SeededNoise(1)):
        fit = model.fit(dps.zcdp(0.25), ledger=path)
    assert dps.Ledger(path).spent == dps.zcdp(0.5) and len(ledger.entries()) == 2
    entry = ledger.entries()[-1]
    assert entry.formula == FORMULA and entry.budget == dps.zcdp(0.25) and entry.gaussian
    assert "0.50 of 1.00 spent on 'drives'" in str(fit.summary())


def test_a_model_may_be_fitted_again_and_says_what_it_is() -> None:
    model = dps.survreg(FORMULA, DATA, SCHEMA, dist="loglogistic")
    assert "loglogistic" in repr(model) and "No row was read" in repr(model.design)
    with noise(SeededNoise(1)):
        fits = [model.fit(dps.zcdp(0.5)) for _ in range(2)]
    assert (np.asarray(fits[0].params) != np.asarray(fits[1].params)).all()
    assert fits[0].names == (*model.design.names, "Log(scale)")


@pytest.mark.parametrize(
    ("response", "remedy"),
    [
        ("Surv(a, b, type='interval2')", "a lower end of 0 in the data says that the failure came before"),
        ("Surv(b, e)", "half to whole months in service"),
    ],
)
def test_times_from_0_on_are_refused_with_what_helps_these_times(response: str, remedy: str) -> None:
    ends = dps.Schema(a=dps.bounded(0, 9), b=dps.bounded(0, 9), e=dps.event())
    with pytest.raises(dps.SpecificationError, match=f"shortest time that is told apart.*{remedy}"):
        dps.survreg(f"{response} ~ 1", None, ends)

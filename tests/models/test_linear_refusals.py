"""Mistakes are said before any budget is spent, with the argument and the remedy; a fit is charged first."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise

N = 500
GENERATOR = np.random.default_rng(2)
DATA = {
    "x": GENERATOR.uniform(0, 1, N),
    "y": GENERATOR.uniform(-2, 2, N),
    "w": GENERATOR.uniform(0, 3, N),
    "time": GENERATOR.uniform(1, 9, N),
    "died": np.ones(N),
    "g": np.array(["a", "b"] * (N // 2)),
}
SCHEMA = dps.Schema(
    x=dps.bounded(0, 1),
    y=dps.bounded(-2, 2),
    w=dps.bounded(0, 3),
    time=dps.bounded(1, 9),
    died=dps.event(),
    g=dps.levels("a", "b"),
)
FORMULA = "y ~ x"
ROWS = {name: column[:100].copy() for name, column in DATA.items()}
OTHER = dps.public_moments("y ~ x + g", ROWS, SCHEMA)
SAME_COLUMNS = dps.public_moments("time ~ x", ROWS, SCHEMA)

DESCRIBING: dict[str, tuple[dict[str, Any], str]] = {
    "a level as response": (dict(formula="g ~ x"), "'g' is a category, so it cannot be used as a number"),
    "survival response": (dict(formula="Surv(time, died) ~ x"), "number left of ~.*use survreg"),
    "missing column": (dict(data={"y": DATA["y"]}), "no column 'x'.*Rename"),
    "undeclared variable": (dict(formula="y ~ x + age"), "'age' has no public bounds: declare it"),
    "unbounded expression": (dict(formula="y ~ np.log(x)"), "np.log\\(x\\).*Declare narrower bounds"),
    "weights below 0": (dict(weights="y"), "weights='y' may be -2.*declare a lower bound of 0"),
    "weights of no number": (dict(weights="g"), "'g' is a category"),
    "weights not declared": (dict(weights="size"), "'size' has no public bounds: declare it"),
    "public moments of other columns": (dict(public=OTHER), "public=.*g\\[T.b\\].*public_moments\\('y ~ x'"),
    "public moments of another response": (dict(public=SAME_COLUMNS), "public=.*another response.*compute"),
    "public rows without a column": (dict(public={"y": np.zeros(9)}), "public=.*no column 'x'"),
    "public rows that are none": (dict(public=3), "public=: data must be a frame"),
    "too few public rows": (dict(public={"x": [0.1, 0.2], "y": [1, 2]}), "more than 3 rows.*without public="),
    "public rows all alike": (dict(public={"x": [0.5] * 9, "y": np.ones(9)}), "x apart.*without public="),
}


@pytest.mark.parametrize("case", DESCRIBING)
@pytest.mark.parametrize("describe", [dps.ols, partial(dps.ridge, alpha=1)], ids=["ols", "ridge"])
def test_describing_a_model(case: str, describe: Any) -> None:
    changes, message = DESCRIBING[case]
    arguments = dict(formula=FORMULA, data=DATA, schema=SCHEMA) | changes
    with pytest.raises(dps.SpecificationError, match=message):
        describe(**arguments)


@pytest.mark.parametrize("alpha", [-1, -1e-300, np.nan, np.inf, "1", None, [1.0], 1 + 0j])
def test_penalties_that_make_no_sense(alpha: Any) -> None:
    with pytest.raises(dps.SpecificationError, match="alpha must be a finite number of at least 0, got"):
        dps.ridge(FORMULA, DATA, SCHEMA, alpha)


@pytest.mark.parametrize("alpha", [0, 1, np.float64(0.5), np.int64(2), np.float32(0.5)])
def test_numbers_of_numpy_are_penalties(alpha: Any) -> None:
    assert dps.ridge(FORMULA, DATA, SCHEMA, alpha).alpha == float(alpha)


def test_shrinkage_is_left_to_the_noise_by_ols() -> None:
    fits = []
    for model in (dps.ridge(FORMULA, DATA, SCHEMA, "auto"), dps.ols(FORMULA, DATA, SCHEMA)):
        with noise(SeededNoise(3)):
            fits.append(model.fit(dps.approx(1, 1e-6)))
    assert fits[0].params.equals(fits[1].params) and fits[0].alpha == 0.0


FITTING: dict[str, tuple[dict[str, Any], str]] = {
    "no budget": (dict(budget=1.0), "budget must be a budget such as approx\\(1, 1e-6\\)"),
    "large delta": (dict(budget=dps.approx(1, 0.003)), "delta = 0.003 must not exceed 1/n = 0.002"),
    "method": (dict(method="qr"), "method must be 'auto', 'gram' or 'pmt', got 'qr'"),
    "compat": (dict(method="pmt", compat="matlab"), "compat must be None or 'paper', got 'matlab'"),
    "compat without pmt": (dict(compat="paper"), "compat='paper' goes with method='pmt'"),
    "pmt without public": (dict(method="pmt"), "method='pmt' needs public=, moments of public rows or such"),
    "pmt and pure": (dict(method="pmt", public=ROWS, budget=dps.pure(1)), "Gaussian noise.*; give zcdp"),
}


@pytest.mark.parametrize("case", FITTING)
def test_fitting_leaves_the_ledger_uncharged(case: str, tmp_path: Path) -> None:
    changes, message = FITTING[case]
    arguments = {"budget": dps.zcdp(1)} | changes
    model = dps.ols(FORMULA, DATA, SCHEMA, public=arguments.pop("public", None))
    ledger = dps.Ledger(tmp_path / "trial.ledger", total=dps.approx(10, 1e-2))
    with pytest.raises(dps.SpecificationError, match=message):
        model.fit(**arguments, ledger=ledger)
    assert ledger.spent is None and ledger.entries() == []


@pytest.mark.parametrize("budget", [dps.zcdp(1), dps.pure(1)], ids=str)
def test_there_must_be_a_row(budget: Any) -> None:
    """n is public, so that this may be said."""
    model = dps.ols(FORMULA, {name: [] for name in DATA}, SCHEMA)
    with pytest.raises(dps.SpecificationError, match="no rows"):
        model.fit(budget)


class Down(Exception):
    """The machine goes down."""


class Crash:
    """When the first noise is asked for."""

    def gaussian(self, *_: Any) -> np.ndarray:
        raise Down

    pure = gaussian


@pytest.mark.parametrize("budget", [dps.zcdp(0.25), dps.pure(0.25)], ids=str)
def test_a_fit_is_charged_once_before_its_first_release(budget: Any, tmp_path: Path) -> None:
    path, kind = tmp_path / "trial.ledger", type(budget)
    ledger, model = dps.Ledger(path, total=kind(0.6)), dps.ols(FORMULA, DATA, SCHEMA)
    with noise(Crash()), pytest.raises(Down):
        model.fit(budget, ledger=ledger)
    assert ledger.spent == budget, "there is no refund for a crash"
    with noise(SeededNoise(1)):
        fit = model.fit(budget, ledger=path)
    assert dps.Ledger(path).spent == kind(0.5) and len(ledger.entries()) == 2
    assert "0.50 of 0.60 spent on 'trial'" in str(fit.summary())
    with noise(Crash()), pytest.raises(dps.BudgetError, match="0.1 is left"):
        model.fit(budget, ledger=ledger)
    assert ledger.spent == kind(0.5)


PARTS: dict[str, tuple[Any, dict[str, Any], dict[str, str]]] = {
    "gram": (
        dps.gdp(1),
        {},
        {
            "columns": "mu = 0.2828",
            "pilot second moments": "mu = 0.5916",
            "reach of residuals": "mu = 0.1732",
            "lengths of rows": "mu = 0.1732",
            "columns that bend": "mu = 0.1414",
            "rows apart in loose bounds": "mu = 0.2236",
            "second moments": "mu = 0.6481",
            "check for bends": "mu = 0.1414",
        },
    ),
    "gram with public moments": (
        dps.gdp(1),
        {"public": ROWS},
        {
            "pilot second moments": "mu = 0.3873",
            "reach of residuals": "mu = 0.1732",
            "lengths of rows": "mu = 0.1732",
            "columns that bend": "mu = 0.1414",
            "rows apart in loose bounds": "mu = 0.2236",
            "second moments": "mu = 0.8367",
            "check for bends": "mu = 0.1414",
        },
    ),
    "pmt": (
        dps.zcdp(0.5),
        {"public": ROWS, "method": "pmt"},
        {"second moments": "mu = 0.7071", "cross moments": "mu = 0.7071"},
    ),
    "pure": (
        dps.pure(2),
        {},
        {
            "columns": "epsilon = 0.52",
            "matrix": "epsilon = 0.42",
            "pilot score": "epsilon = 0.26",
            "reach of residuals": "epsilon = 0.06",
            "lengths of rows": "epsilon = 0.16",
            "columns that bend": "epsilon = 0.04",
            "rows apart in loose bounds": "epsilon = 0.06",
            "score": "epsilon = 0.44",
            "check for bends": "epsilon = 0.04",
        },
    ),
    "pure with public moments": (
        dps.pure(1.18),
        {"public": ROWS},
        {
            "pilot score": "epsilon = 0.2894",
            "reach of residuals": "epsilon = 0.06679",
            "lengths of rows": "epsilon = 0.1781",
            "columns that bend": "epsilon = 0.04453",
            "rows apart in loose bounds": "epsilon = 0.06679",
            "score": "epsilon = 0.4898",
            "check for bends": "epsilon = 0.04453",
        },
    ),
}


@pytest.mark.parametrize("case", PARTS)
def test_the_ledger_says_what_was_released(case: str, tmp_path: Path) -> None:
    budget, how, parts = PARTS[case]
    ledger = dps.Ledger(tmp_path / "trial.ledger", total=type(budget)(9))
    model = dps.ridge(FORMULA, DATA, SCHEMA, 0.1, public=how.get("public"))
    with noise(SeededNoise(1)):
        fit = model.fit(budget, how.get("method", "auto"), ledger=ledger)
    (entry,) = ledger.entries()
    assert entry.formula == FORMULA and entry.budget == budget
    assert entry.gaussian == (not isinstance(budget, dps.budget.Pure))
    asked = [name for name in parts if name != "rows apart in loose bounds"]  # of which there are none
    assert entry.released == parts and list(fit.record.released) == asked
    assert entry.method == f"ridge, {fit.record.method}"


def test_every_penalty_is_charged_once(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "trial.ledger", total=dps.zcdp(1))
    with noise(SeededNoise(1)):
        fit = dps.ridge(FORMULA, DATA, SCHEMA, 0.1).fit(dps.zcdp(0.5), ledger=ledger)
    fit.ridge_path([0, 1, 2]), fit.at_alpha(3)
    assert ledger.spent == dps.zcdp(0.5)


def test_auto_in_other_letters_is_asked_about() -> None:
    with pytest.raises(dps.SpecificationError, match="got 'AUTO'; did you mean 'auto'?"):
        dps.ridge(FORMULA, DATA, SCHEMA, alpha="AUTO")

"""Mistakes are said before any budget is spent, with the argument and the remedy; a fit is charged first."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import Recording, SeededNoise, noise
from tests.models.visits import HOW, PUBLIC, RIGHT, SCHEMA, WAYS, model, visits

DATA = visits(500, 1)
APART = "rows apart in loose bounds"
MOMENTS = dps.public_moments("ill ~ age", visits(100, 2), SCHEMA)

DESCRIBING = {
    "numeric response of a logit": (dict(family="binomial", right=RIGHT), "ill", "declare it as flag"),
    "undeclared variable": (dict(right="age + weight"), None, "weight"),
    "exposure from 0": (dict(right=RIGHT, exposure="income"), None, "income"),
    "moments of other columns": (dict(public=MOMENTS), None, "moments of Intercept, age; the columns of"),
    "few public rows": (dict(public={k: v[:6] for k, v in PUBLIC.items()}), None, "more than 6 rows"),
    "public rows of one region": (dict(public=PUBLIC | {"region": ["north"] * 300}), None, "is 0 in every"),
    "public rows without a column": (dict(public={"age": [30.0] * 50}), None, "public=: .*income"),
    "nothing for public rows to tell": (dict(right="1", public=PUBLIC), None, "no covariate for public="),
    "not a table": (dict(public=3), None, "public=: data must be a frame"),
}


@pytest.mark.parametrize("case", DESCRIBING)
def test_describing_a_model(case: str) -> None:
    changes, number, message = DESCRIBING[case]
    schema = SCHEMA if number is None else dps.Schema({**SCHEMA, number: dps.bounded(0, 1)})
    arguments = dict(family="poisson", data=DATA, schema=schema) | changes
    with pytest.raises(dps.SpecificationError, match=message):
        model(**arguments)


@pytest.mark.parametrize(
    "make",
    [
        lambda data, schema: dps.glm("k ~ 1 + offset(hours)", data, schema, "poisson"),
        lambda data, schema: dps.logit("bad ~ 1 + offset(hours)", data, schema),
        lambda data, schema: dps.survreg("Surv(k, bad) ~ 1 + offset(hours)", data, schema),
        lambda data, schema: dps.coxph("Surv(k, bad) ~ z + offset(hours)", data, schema),
    ],
)
def test_an_offset_that_is_no_logarithm_is_named(make: Any) -> None:
    data = {"k": [1, 2], "z": [0, 1], "bad": [0, 1], "hours": [10.0, 20.0]}
    schema = dps.Schema(k=dps.bounded(1, 9), z=dps.flag(), bad=dps.event(), hours=dps.bounded(1, 9000))
    with pytest.raises(
        dps.FormulaError, match=r"'offset\(hours\)' adds 1 to 9000 .*e\^8999.*offset\(np.log\("
    ):
        make(data, schema)
    make(data, dps.Schema({**schema, "hours": dps.bounded(1, 90)}))
    dps.ols("k ~ 1 + offset(hours)", data, schema)


def test_a_count_is_no_gamma_response() -> None:
    schema = dps.Schema(y=dps.count(9), x=dps.bounded(0, 1))
    with pytest.raises(dps.FormulaError, match="the count 'y' may be 0; fit family='negativebinomial'"):
        dps.glm("y ~ x", None, schema, "gamma")
    with pytest.raises(dps.SpecificationError, match="'binomial' here, fitted with robust=True"):
        dps.glm("y ~ x", None, schema, "quasibinomial")


@pytest.mark.parametrize("make", [dps.ols, dps.logit, dps.svm, dps.survreg])
def test_a_ledger_in_the_place_of_the_method_is_named(make: Any, tmp_path: Path) -> None:
    schema = dps.Schema(y=dps.flag() if make in (dps.logit, dps.svm) else dps.bounded(1, 9), x=dps.count(9))
    left = "Surv(y)" if make is dps.survreg else "y"
    model = make(f"{left} ~ x", {"y": [1] * 50, "x": [1] * 50}, schema)
    ledger = dps.Ledger(tmp_path / "a.ledger", total=dps.zcdp(1))
    with pytest.raises(dps.SpecificationError, match=r"fit\(budget, ledger=ledger\)"):
        model.fit(dps.zcdp(0.1), ledger)
    with pytest.raises(dps.SpecificationError, match=r"fit\(budget, ledger=ledger\)"):
        model.fit(dps.zcdp(0.1), str(tmp_path / "a.ledger"))
    with pytest.raises(dps.BudgetError, match=r"a budget is one value, such as fit\(dps.approx"):
        model.fit(dps.zcdp(0.1), 1e-6)
    with pytest.raises(TypeError, match="the rest is given by name: ledger=, "):
        model.fit(dps.zcdp(0.1), "auto", ledger)
    assert ledger.spent is None
    with pytest.raises(AttributeError, match=r"what is left of the total is ledger\.left"):
        ledger.remaining  # noqa: B018 - the name of other packages


@pytest.mark.parametrize("make", [dps.coxph, dps.kaplan_meier])
def test_a_budget_in_two_values_is_named_where_the_rest_has_names(make: Any) -> None:
    schema = dps.Schema(t=dps.bounded(1, 9), g=dps.flag())
    model = make("Surv(t) ~ g", {"t": [1] * 50, "g": [0, 1] * 25}, schema)
    with pytest.raises(dps.BudgetError, match=r"a budget is one value, such as fit\(dps.approx"):
        model.fit(1.0, 1e-6)


FITTING: dict[str, tuple[dict[str, Any], str]] = {
    "pure budget": (dict(family="poisson", budget=dps.pure(1)), "no pure epsilon; give zcdp, gdp or approx"),
    "pure budget and pmt": (dict(budget=dps.pure(1), method="pmt", public=PUBLIC), "no pure epsilon; give"),
    "no budget": (dict(budget=1.0), "budget must be a budget such as approx\\(1, 1e-6\\)"),
    "large delta": (dict(budget=dps.approx(1, 0.003)), "delta = 0.003 must not exceed 1/n = 0.002"),
    "method": (dict(method="irls"), "method must be 'auto', .*'objective' or 'output', got 'irls'"),
    "objective of counts": (dict(family="poisson", method="objective"), "'newton' or 'pmt', got 'objective'"),
    "robust that is neither": (dict(robust="yes"), "robust must be True or False, got 'yes'"),
    "penalty": (dict(c=0.1), "c goes with method='objective'"),
    "robust counts": (dict(family="poisson", robust=True), "robust goes with logistic regression"),
    "robust pmt": (dict(method="pmt", public=PUBLIC, robust=True), "by the default method"),
    "compat": (dict(method="pmt", compat="glmnet"), "compat must be None or 'paper', got 'glmnet'"),
    "compat without pmt": (dict(compat="paper", public=PUBLIC), "compat='paper' goes with method='pmt'"),
    "pmt without public": (dict(method="pmt"), "method='pmt' needs public=, moments of public rows"),
    "gamma by the paper": (
        dict(family="gamma", method="pmt", compat="paper", public=PUBLIC),
        "covers binomial and poisson.* gamma is not private; leave compat out",
    ),
}


@pytest.mark.parametrize("case", FITTING)
def test_fitting_leaves_the_ledger_uncharged(case: str, tmp_path: Path) -> None:
    changes, message = FITTING[case]
    arguments = {"budget": dps.zcdp(1)} | changes
    described = model(arguments.pop("family", "binomial"), DATA, public=arguments.pop("public", None))
    ledger = dps.Ledger(tmp_path / "trial.ledger", total=dps.approx(10, 1e-2))
    with pytest.raises(dps.SpecificationError, match=message):
        described.fit(**arguments, ledger=ledger)
    assert ledger.spent is None and ledger.entries() == []


def test_public_rows_are_read_as_private_ones() -> None:
    """Moments of any response serve; rows need none; values are clipped, and bad rows switched off."""
    spoilt = {name: np.concatenate([column, column[:2]]) for name, column in PUBLIC.items()}
    spoilt["age"][300], spoilt["region"] = np.nan, np.append(spoilt["region"][:301], None)
    other = dps.public_moments(f"months ~ {RIGHT}", PUBLIC, SCHEMA)
    found = []
    for public in (PUBLIC, spoilt, other):
        with noise(SeededNoise(1)):
            found.append(model("binomial", DATA, public=public).fit(dps.gdp(2), method="pmt").params)
    assert found[1].to_numpy() == pytest.approx(found[0].to_numpy(), rel=1e-4)
    assert found[2].to_numpy() == pytest.approx(found[0].to_numpy(), rel=1e-4)


class Down(Exception):
    """The machine goes down."""


class Crash:
    """When the first noise is asked for."""

    def gaussian(self, *_: Any) -> np.ndarray:
        raise Down


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_fit_is_charged_once_before_its_first_release(way: tuple[str, str], tmp_path: Path) -> None:
    family, how = way
    path = tmp_path / "trial.ledger"
    ledger, described = dps.Ledger(path, total=dps.zcdp(0.6)), model(family, DATA, public=PUBLIC)
    with noise(Crash()), pytest.raises(Down):
        described.fit(dps.zcdp(0.25), ledger=ledger, **HOW[how])
    assert ledger.spent == dps.zcdp(0.25), "there is no refund for a crash"
    with noise(recording := Recording(SeededNoise(1))):
        fit = described.fit(dps.zcdp(0.25), ledger=path, **HOW[how])
    entry = ledger.entries()[-1]
    assert entry.formula == fit.formula and entry.gaussian
    assert entry.method.endswith(f" {family}, {fit.record.method}")
    asked = [name for name in entry.released if name != APART or APART in fit.record.released]
    assert asked == list(fit.record.released), "but rows apart, where there are none"
    assert (APART in asked) == ("rows_apart" in [record.name for record in recording.records])
    spent = np.hypot.reduce([record.cost for record in recording.records])
    assert spent == pytest.approx(dps.zcdp(0.25).mu, rel=1e-6)
    parts = [float(text.removeprefix("mu = ")) for text in entry.released.values()]
    assert np.hypot.reduce(parts) == pytest.approx(dps.zcdp(0.25).mu, rel=1e-3)
    assert "0.50 of 0.60 spent on 'trial'" in str(fit.summary())
    with noise(Crash()), pytest.raises(dps.BudgetError, match="0.1 is left"):
        described.fit(dps.zcdp(0.25), ledger=ledger, **HOW[how])


def test_there_must_be_a_row() -> None:
    """n is public, so that this may be said."""
    with pytest.raises(dps.SpecificationError, match="no rows"):
        model("binomial", {name: [] for name in DATA}).fit(dps.zcdp(1))

"""The catalogue of fits is complete: what the package offers is in it, and what is not in it is refused."""

import ast
import inspect
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import dpstats as dps
from dpstats.budget.kinds import KINDS
from dpstats.curator.statistics import REGISTRY
from dpstats.testing import Recording, SeededNoise, noise
from tests.privacy import catalogue, pairs
from tests.privacy.catalogue import (
    BUDGETS,
    CASES,
    Case,
    combinations,
    made,
    maker,
    refused,
    repeats,
)

DATA = made()


class Reached(BaseException):
    """A first draw of noise."""


class Stop:
    """Noise that is asked for ends the fit."""

    def gaussian(self, *_: object) -> None:
        raise Reached

    pure = gaussian


def test_every_model_is_in_the_catalogue() -> None:
    """A new function of ``dpstats.models``, or a kind of budget, must be given a place."""
    assert {case.model for case in CASES} == set(catalogue.model_names()) <= set(dps.__all__)
    assert {type(budget) for budget in BUDGETS.values()} == set(KINDS.values())


def test_every_method_is_the_one_of_the_documents() -> None:
    for model in catalogue.model_names():
        fit = catalogue.described(model, catalogue.laws(model)[0]).fit
        for method in filter(None, catalogue.methods(model, catalogue.laws(model)[0])):
            assert f'"{method}"' in fit.__doc__, f"{model} does not document method={method!r}"


@cache
def model_of(case: Case) -> Any:
    return case.model_of(DATA)


def draw_of(case: Case) -> None:
    """Fits it; budgets and published variants share a model."""
    with noise(Stop()):
        case.fit_of(model_of(replace(case, compat=None, budget="zcdp")))


def test_all_combinations_are_covered_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever can be asked for draws noise if it is in the catalogue, and is refused before if not."""
    wrong = []
    for case in combinations():
        try:
            draw_of(case)
            wrong.append(f"{case} drew no noise")
        except Reached:
            if refused(case):
                wrong.append(f"{case} is in no test")
        except dps.SpecificationError as error:
            if not refused(case):
                wrong.append(f"{case}: {error}")
    print("\n".join(table()))
    assert not wrong, "\n".join(wrong)


METHODS = list({(case.model, case.method, case.compat): case for case in CASES if not case.option}.values())
NONE = {name: column[:0] for name, column in DATA.items()}


@pytest.mark.parametrize("case", METHODS, ids=str)
def test_no_method_takes_a_budget_that_protects_nothing_or_data_without_rows(case: Case) -> None:
    """Nothing is drawn, and what is told is that, not what follows from it."""
    model, says = case.model_of(DATA), r"1/n|over 1e\+30|must be a budget|give pure or zcdp"
    with noise(Stop()):
        for budget in (dps.approx(1, 0.1), dps.zcdp(1e30), 1.0):
            with pytest.raises(dps.SpecificationError, match=says):
                model.fit(budget, **case.fitting(model))
        with pytest.raises(dps.SpecificationError, match="no rows"):
            case.fit(NONE)


@pytest.mark.long
def test_all_pairs_of_options_are_covered_or_refused() -> None:
    """As above, for what can be asked for with two options."""
    wrong = []
    for case in pairs.asked():
        try:
            draw_of(case)
            wrong.append(f"{case} drew no noise")
        except Reached:
            if pairs.refused(case):
                wrong.append(f"{case} is in no test")
        except dps.SpecificationError as error:
            if not pairs.refused(case):
                wrong.append(f"{case}: {error}")
    assert not wrong, "\n".join(wrong)


ALWAYS = {"formula", "data", "schema", "budget", "ledger", "reuse"}  # reuse releases nothing
ENUMERATED = re.compile(r"^ *(\w+) : \{(.+)\}$", re.MULTILINE)


@pytest.mark.parametrize("model", catalogue.model_names())
def test_every_argument_and_every_value_that_is_listed_is_set_by_a_case(model: str) -> None:
    """Signatures say which arguments there are, docstrings which values those have that take a few."""
    cases = [case for case in CASES if case.model == model]
    models = {case.law: case.model_of(made()) for case in cases if case.option is None}
    found: dict[str, list[Any]] = {}
    for case in cases:
        for name, value in (case.building | case.fitting(models[case.law])).items():
            found.setdefault(name, []).append(value)
    for function in (maker(model), *(type(each).fit for each in models.values())):
        taken = inspect.signature(function).parameters
        unset = set(taken) - ALWAYS - {"self"}
        assert unset <= set(found), f"no case of {model} sets {unset - set(found)}"
        for name, listed in ENUMERATED.findall(function.__doc__ or ""):
            values = ast.literal_eval(f"[{listed}]")
            left = [value for value in values if value not in (*found[name], taken[name].default)]
            assert not left, f"no case of {model} has {name} = {left}"


@pytest.mark.long
def test_every_statistic_is_asked_for() -> None:
    """By one case or another that is run each time, each option once for each model."""
    run = [case for case in CASES if not repeats(case)]
    once = {(case.model, case.option): case for case in run}.values()
    data, asked = made(), set()
    for case in run:
        if case.option is None or case in once:
            with noise(recording := Recording(SeededNoise(0))):
                case.fit(data)
            asked |= {record.name for record in recording.records}
    with noise(recording := Recording(SeededNoise(0))):
        dps.describe(data, catalogue.SCHEMA, BUDGETS["zcdp"], force=True)
        many = made(4000)  # of which it is asked how counts scatter
        dps.glm("visits ~ temp", many, catalogue.SCHEMA, "poisson").fit(dps.gdp(2), force=True)
        loose = dps.Schema(temp=dps.bounded(-9999, 9999), cost=dps.bounded(-9999, 9999))  # room for codes
        dps.ols("cost ~ temp", many, loose).fit(dps.gdp(2), force=True)
    asked |= {record.name for record in recording.records}
    assert asked - {"minimum"} == set(REGISTRY)


def table() -> list[str]:
    """Cases of each model, method and kind of budget, and in how many ways each is asked for."""
    count = Counter((f"{at.model} {at.law or ''}", at.method, at.compat, at.budget) for at in CASES)
    rows = sorted({key[:3] for key in count}, key=str)
    head = f"{'':22}{'method':12}{'compat':8}" + "".join(f"{budget:>8}" for budget in BUDGETS)
    lines = [
        f"{name:22}{method or '':12}{compat or '':8}"
        + "".join(f"{count[name, method, compat, budget] or '-':>8}" for budget in BUDGETS)
        for name, method, compat in rows
    ]
    return [head, *lines]

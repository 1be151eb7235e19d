"""T1, T8 and T9 on input perturbation: what one record tells is in its own message, and hidden there.

Every model that takes contributions, method, kind of budget and published variant, on tables that differ in
one record; the same answers give the same messages and the same fit.
"""

import json
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.contributors import contribute_rows
from dpstats.testing import Replay, SeededNoise, noise
from tests.privacy.catalogue import (
    BUDGETS,
    ROWS,
    SCHEMA,
    arguments,
    described,
    laws,
    model_names,
    parameters,
)
from tests.privacy.test_every_replay import BLANK, CENSORED, HIGH, LOW, TURNED, wild_row, with_rows
from tests.privacy.test_every_row import silence
from tests.privacy.test_every_trace import FRAME, stored, traces

OPTIONS = {"honest": 0.5, "ball": 2.0, "reach": 3.0}
LEFT = {"ols": "cost", "ridge": "cost", "logit": "good"}


@dataclass(frozen=True)
class Case:
    model: str
    method: str
    compat: str | None
    budget: str
    option: str | None = None

    def __str__(self) -> str:
        return "-".join(filter(None, vars(self).values()))

    def plan(self, method: str | None = None) -> dps.ContributionPlan:
        formula = f"{LEFT[self.model]} ~ temp + load + maker"
        more = dict(method=method or self.method, compat=self.compat) | self._set(dps.plan_contributions)
        return dps.plan_contributions(formula, SCHEMA, BUDGETS[self.budget], ROWS, **more)

    def fit(self, messages: Any, plan: dps.ContributionPlan) -> dps.Fit:
        more = {"alpha": 0.1} if self.model == "ridge" else {}
        model = getattr(dps, self.model)(plan.formula, None, SCHEMA, **more)
        return model.fit_contributions(messages, plan, **self._set(model.fit_contributions))

    def _set(self, function: Callable[..., Any]) -> dict[str, Any]:
        return arguments({self.option: OPTIONS[self.option]} if self.option else {}, function)


def methods() -> list[str]:
    """Those that planning names when it is asked for another."""
    with pytest.raises(dps.SpecificationError) as refused:
        Case("ols", "statistics", None, "approx").plan("?")
    return [name for name in re.findall(r"'(\w+)'", str(refused.value)) if name != "?"]


COMBINATIONS = [Case(*asked) for asked in product(LEFT, methods(), (None, "paper"), BUDGETS)]


COMBINATIONS += [
    Case(*asked)
    for asked in [
        ("ols", "statistics", None, "gdp", "honest"),
        ("logit", "input", None, "approx", "honest"),
        ("ols", "input", None, "approx", "ball"),
        ("logit", "input", "paper", "approx", "ball"),
        ("logit", "statistics", None, "zcdp", "reach"),
        ("logit", "input", None, "approx", "reach"),
    ]
]


def refused(case: Case) -> bool:
    if case.method == "statistics":
        return case.compat is not None or case.budget == "pure"
    return case.budget != "approx" or case.model == "ridge"


CASES = [case for case in COMBINATIONS if not refused(case)]


class Spy:
    """Answers by `source`, and keeps what each part of each message would have said."""

    def __init__(self, source: Any) -> None:
        self.source, self.asked, self.answers = source, [], []

    def gaussian(self, value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray:
        self.asked.append((value.copy(), sensitivity, mu))
        self.answers.append(self.source.gaussian(value, sensitivity, mu))
        return self.answers[-1].copy()


def contributed(case: Case, data: Any, source: Any) -> tuple[Spy, list[Any], dps.Fit]:
    with noise(spy := Spy(source)):
        messages = list(contribute_rows(data, plan := case.plan()))
        return spy, messages, case.fit(messages, plan)


def test_every_combination_is_covered_or_refused() -> None:
    kinds = {name: described(name, laws(name)[0]) for name in model_names()}
    takes = {name for name, model in kinds.items() if hasattr(model, "fit_contributions")}
    assert takes == {*LEFT, "glm"}  # whose binomial family is logit, and whose Gaussian one is ols
    for case in COMBINATIONS:
        if refused(case):
            with pytest.raises(dps.SpecificationError):
                case.fit([], case.plan())
        else:
            assert case.plan().method == case.method


def test_every_argument_is_set_by_a_case() -> None:
    """Of planning and of fits from messages; good values of all others stand in each case."""
    always = {"formula", "schema", "budget", "contributors", "method", "compat", "messages", "plan"}
    for model in LEFT:
        function = described(model, laws(model)[0]).fit_contributions
        for each in (dps.plan_contributions, function):
            some = {case.option for case in CASES if each is not function or case.model == model}
            assert {*parameters(each)} - always <= some


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_record_that_is_replaced(case: Case) -> None:
    draw = np.random.default_rng(5)
    tables = [with_rows([row], [7]) for row in (HIGH, LOW, TURNED, CENSORED, BLANK, wild_row(draw))]
    first, _, fit = contributed(case, tables[0], SeededNoise(0))
    parts = len(case.plan().parts)
    for table in tables[1:]:
        second, _, other = contributed(case, table, Replay(first.answers))
        assert len(first.asked) == len(second.asked)
        for place, (one, two) in enumerate(zip(first.asked, second.asked, strict=True)):
            assert one[1:] == two[1:] and one[0].shape == two[0].shape
            apart = np.linalg.norm(one[0] - two[0])
            if place < ROWS * parts:  # of messages; what follows is made of them
                assert apart <= one[1] * (place // parts == 7)
        assert other.to_dict() == fit.to_dict() and repr(other) == repr(fit)
        assert str(other.summary()) == str(fit.summary())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_wild_records_neither_raise_nor_speak_and_nothing_of_them_is_kept(case: Case) -> None:
    draw = np.random.default_rng(1)
    wild = with_rows([wild_row(draw) for _ in range(ROWS)], list(range(ROWS)))
    with silence():
        for data in (wild, FRAME):
            messages = list(contribute_rows(data, plan := case.plan()))
            fit = case.fit(messages, plan)
            texts = [repr(fit), str(fit.summary()), json.dumps(fit.to_dict()), *map(repr, messages)]
            texts += [message.to_json() for message in messages]
            assert not [found for text in texts for found in traces(text)]
            kept = pickle.dumps((fit, messages))
            assert not stored(kept)

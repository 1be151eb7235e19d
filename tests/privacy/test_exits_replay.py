"""T1 on survival curves: one wild row moves the counts by no more than their noise allows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.results import SurvivalCurve
from dpstats.testing import Recording, Replay, SeededNoise, noise
from tests.privacy.harness import SCHEMA, Data, neighbours, violation

BUDGETS = st.sampled_from([dps.pure(1), dps.zcdp(0.02), dps.approx(1, 1e-6), dps.gdp(1e5)])
FORMULAS = st.sampled_from(["Surv(time, failed) ~ 1", "Surv(time, failed) ~ maker"])
TIMES = st.sampled_from([None, [10.0, 50.0], [100.0], list(np.linspace(1, 100, 40))])


def fitting(formula: str, times: Any, budget: dps.budget.Budget) -> Callable[[Data], SurvivalCurve]:
    def fit(data: Data) -> SurvivalCurve:
        columns = {name: np.array(values, dtype=object) for name, values in data.items()}
        curve = dps.kaplan_meier(formula, columns, SCHEMA, times=times).fit(budget)
        assert str(curve)  # what is printed says nothing else, and never fails
        return curve

    return fit


@settings(max_examples=60, deadline=None)
@given(neighbours(), FORMULAS, TIMES, BUDGETS)
def test_curves_of_a_few_wild_rows(pair: tuple[Data, Data], formula: str, times: Any, budget: Any) -> None:
    assert violation(fitting(formula, times, budget), *pair) is None


@settings(max_examples=10, deadline=None)
@given(neighbours(), FORMULAS, BUDGETS)
def test_given_the_same_answers_curves_are_the_same(
    pair: tuple[Data, Data], formula: str, budget: Any
) -> None:
    recording = Recording(SeededNoise(4))
    with noise(recording):
        first = fitting(formula, None, budget)(pair[0])
    with noise(Replay(recording.answers)):
        second = fitting(formula, None, budget)(pair[1])
    assert first.to_dict() == second.to_dict() and first.as_html() == second.as_html()

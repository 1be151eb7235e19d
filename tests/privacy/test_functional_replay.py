"""T1 and T9 on fits by the functional mechanism: what one row can change is noise."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.testing import SeededNoise
from tests.models.drives import drives
from tests.privacy.harness import SCHEMA, Data, neighbours, rows, trace, violation
from tests.privacy.test_survreg_replay import as_data

DISTS = st.sampled_from(["weibull", "loglogistic", "sev", "logistic"])
BUDGETS = st.sampled_from([dps.pure(0.1), dps.pure(3.0), dps.pure(1e5)])
FORMULAS = st.sampled_from(
    ["Surv(time) ~ temp + maker", "Surv(time) ~ 1", "Surv(time) ~ maker + offset(temp / 50)"]
)
COMPAT = st.sampled_from([None, "paper"])


def fitting(formula: str, dist: str, budget: Any, compat: str | None) -> Callable[[Data], dps.Fit]:
    def fit(data: Data) -> dps.Fit:
        columns = {name: np.array(values, dtype=object) for name, values in data.items()}
        found = dps.survreg(formula, columns, SCHEMA, dist).fit(budget, method="functional", compat=compat)
        assert np.isfinite(found.params).all() and not np.isnan(found.bse).any() and str(found.summary())
        return found

    return fit


@settings(max_examples=25, deadline=None)
@given(neighbours(), FORMULAS, DISTS, BUDGETS, COMPAT)
def test_fits_of_a_few_wild_rows(
    pair: tuple[Data, Data], formula: str, dist: str, budget: Any, compat: Any
) -> None:
    assert violation(fitting(formula, dist, budget, compat), *pair) is None


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), rows, st.integers(0, 299), DISTS, BUDGETS, COMPAT)
def test_one_wild_row_among_many(
    seed: int, row: dict[str, Any], index: int, dist: str, budget: Any, compat: Any
) -> None:
    data = as_data(drives(300, seed, censored=0.0))
    changed = {name: [*column[:index], row[name], *column[index + 1 :]] for name, column in data.items()}
    fit = fitting("Surv(time) ~ temp + maker", dist, budget, compat)
    assert violation(fit, data, changed) is None


@pytest.mark.parametrize("compat", [None, "paper"])
def test_a_fit_spends_its_budget_and_no_more(compat: str | None) -> None:
    fit = fitting("Surv(time) ~ temp + maker", "weibull", dps.pure(0.3), compat)
    (record,), _, said = trace(fit, as_data(drives(300, 5, censored=0.0)), SeededNoise(1))
    assert not said and 0.3 * (1 - 1e-8) < record.cost <= 0.3

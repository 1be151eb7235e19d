"""Record and replay (T1) of left-truncated fits: what one row's entry can change, is noise."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.families import DISTS as ALL
from tests.models.late import late
from tests.privacy.harness import Data, violation, wild

SCHEMA = dps.Schema(
    start=dps.bounded(0, 90),
    time=dps.bounded(0.5, 100),
    failed=dps.event(),
    x=dps.bounded(-2, 2),
)
DISTS = st.sampled_from(sorted(ALL))
BUDGETS = st.sampled_from([dps.approx(1, 1e-6), dps.gdp(8.0), dps.gdp(1e5)])
rows = st.fixed_dictionaries(
    {"start": wild, "time": wild, "failed": st.sampled_from([0, 1]) | wild, "x": st.floats(-3, 3) | wild}
)


def fitting(dist: str, budget: dps.budget.Budget) -> Callable[[Data], dps.Fit]:
    def fit(data: Data) -> dps.Fit:
        columns = {name: np.array(values, dtype=object) for name, values in data.items()}
        return dps.survreg("Surv(start, time, failed) ~ x", columns, SCHEMA, dist).fit(budget)

    return fit


@settings(max_examples=15, deadline=None)
@given(st.lists(rows, min_size=1, max_size=5), rows, st.integers(0, 4), DISTS, BUDGETS)
def test_a_few_wild_rows(
    some: list[dict[str, Any]], other: dict[str, Any], at: int, dist: str, budget: Any
) -> None:
    changed = [other if index == at % len(some) else row for index, row in enumerate(some)]
    pair = ({name: [row[name] for row in table] for name in SCHEMA} for table in (some, changed))
    assert violation(fitting(dist, budget), *pair) is None


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), rows, st.integers(0, 299), DISTS, BUDGETS)
def test_one_wild_row_among_many(seed: int, row: dict[str, Any], index: int, dist: str, budget: Any) -> None:
    """Judged by bounds that the other rows led to, and by whatever entry makes of its scores."""
    columns = late(300, seed)
    data = {name: list(columns[name]) for name in SCHEMA}
    changed = {name: [*column[:index], row[name], *column[index + 1 :]] for name, column in data.items()}
    assert violation(fitting(dist, budget), data, changed) is None

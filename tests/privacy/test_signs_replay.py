"""T1 on fits whose slopes follow the signs of residuals: what one row can change, is noise."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.families import DISTS as ALL
from dpstats.models.survreg import SIGNS_METHOD
from dpstats.testing import Recording, Replay, SeededNoise, noise
from tests.models.drives import SCHEMA, drives
from tests.privacy.harness import Data, trace, violation, wild

FORMULA = "Surv(time, failed) ~ temp + load"
NAMES = ("time", "failed", "temp", "load")
DISTS = st.sampled_from(sorted(ALL))
# too small for Newton's matrix of 300 rows
SMALL = [dps.zcdp(0.01), dps.approx(0.5, 1e-6), dps.gdp(0.1)]
rows = st.fixed_dictionaries({name: wild for name in NAMES} | {"failed": st.sampled_from([0, 1]) | wild})


def fitting(dist: str, budget: dps.budget.Budget) -> Callable[[Data], dps.Fit]:
    def fit(data: Data) -> dps.Fit:
        columns = {name: np.array(values, dtype=object) for name, values in data.items()}
        return dps.survreg(FORMULA, columns, SCHEMA, dist).fit(budget)

    return fit


def table(seed: int, n: int = 300, censored: float = 0.3) -> Data:
    columns = drives(n, seed, censored=censored)
    return {name: list(columns[name]) for name in NAMES}


@settings(max_examples=8, deadline=None)
@given(
    st.lists(rows, min_size=1, max_size=6), rows, st.integers(0, 5), DISTS,
    st.sampled_from([*SMALL, dps.gdp(8.0)]),
)  # fmt: skip
def test_fits_of_a_few_wild_rows(
    records: list[dict[str, Any]], row: dict[str, Any], place: int, dist: str, budget: Any
) -> None:
    changed = list(records)
    changed[place % len(records)] = row
    pair = ({name: [record[name] for record in side] for name in NAMES} for side in (records, changed))
    assert violation(fitting(dist, budget), *pair) is None


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), rows, st.integers(0, 299), DISTS, st.sampled_from(SMALL))
def test_one_wild_row_among_many(seed: int, row: dict[str, Any], place: int, dist: str, budget: Any) -> None:
    data = table(seed)
    changed = {name: [*column[:place], row[name], *column[place + 1 :]] for name, column in data.items()}
    assert violation(fitting(dist, budget), data, changed) is None


def test_given_the_same_answers_fits_are_the_same() -> None:
    """Other data, the same answers: the same fit to the bit, and what chose its route is an answer too."""
    fit = fitting("weibull", dps.approx(0.5, 1e-6))
    recording = Recording(SeededNoise(4))
    with noise(recording):
        first = fit(table(1))
    with noise(Replay(recording.answers)):
        second = fit(table(2, censored=0.95))
    assert first.record.method == SIGNS_METHOD
    assert first.to_dict() == second.to_dict()
    assert first.summary().as_html() == second.summary().as_html()


def test_the_releases_in_their_order() -> None:
    records, _, said = trace(fitting("weibull", SMALL[0]), table(5), SeededNoise(1))
    step = ["sign_score", "martingale_score"]
    asked = ["event_moments", "event_matrix", *["martingale_score"] * 3, *step * 8, "sign_sizes", *step * 8]
    assert not said
    assert [record.name for record in records] == [*asked, *["martingale_score"] * 4, "hazard_zones"]


@pytest.mark.parametrize("budget", [*SMALL, dps.zcdp(7e-5)])
@pytest.mark.parametrize("release", [[], ["loglik"]], ids=["", "loglik"])
def test_a_fit_spends_its_budget_and_no_more(budget: Any, release: list[str]) -> None:
    """The squares of what each release costs add up to that of the budget."""

    def fit(data: Data) -> dps.Fit:
        return dps.survreg(FORMULA, data, SCHEMA).fit(budget, release=release)

    records, _, said = trace(fit, table(5), SeededNoise(1))
    assert not said and "sign_score" in {record.name for record in records}
    spent, total = sum(Fraction(record.cost) ** 2 for record in records), Fraction(budget.mu) ** 2
    assert total * (1 - Fraction(1, 10**8)) < spent <= total

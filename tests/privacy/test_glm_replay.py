"""T1, T2, T8 and T9 on fits of GLMs: what one row, its order or its type can change, is noise."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.curator import curator as chokepoint
from dpstats.curator.statistics import REGISTRY
from dpstats.testing import Recording, Replay, SeededNoise, noise
from tests.models.visits import HOW, PUBLIC, SCHEMA, WAYS, model, visits
from tests.privacy.harness import Data, trace, violation, wild

BUDGETS = [dps.zcdp(0.02), dps.approx(1, 1e-6), dps.gdp(1e5)]
RIGHTS = ["age + income + region", "0 + age", "1", "region + offset(0.1 * income)"]
PLAIN = RIGHTS[0]
HOWS, EVERY = HOW | {"robust": dict(robust=True)}, [*WAYS, ("binomial", "robust")]
ASKED = [
    (*way, right) for way in EVERY for right in RIGHTS if not (right == "1" and way[1] != "newton")
]
MEANT = {name: wild for name in SCHEMA if name != "region"}
ROWS = st.fixed_dictionaries(
    MEANT
    | {"ill": st.sampled_from([0, 1]) | wild, "region": st.sampled_from(["north", "south", "Z", None, 3.5])}
)


def fitting(family: str, how: str, right: str, budget: Any, **more: Any) -> Callable[[Data], dps.Fit]:
    def fit(data: Data) -> dps.Fit:
        columns = {name: np.array(values, dtype=object) for name, values in data.items()}
        public = PUBLIC if right != "1" else None
        return model(family, columns, SCHEMA, right, public=public, **more).fit(budget, **HOWS[how])

    return fit


def made(n: int, seed: int) -> Data:
    return {name: list(column) for name, column in visits(n, seed).items()}


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[Data, Data]:
    """Two tables of 1 to 6 wild rows that differ in one row."""
    records = draw(st.lists(ROWS, min_size=1, max_size=6))
    changed = list(records)
    changed[draw(st.integers(0, len(records) - 1))] = draw(ROWS)
    first, second = ({name: [row[name] for row in rows] for name in SCHEMA} for rows in (records, changed))
    return first, second


@settings(max_examples=40, deadline=None)
@given(neighbours(), st.sampled_from(ASKED), st.sampled_from(BUDGETS))
def test_fits_of_a_few_wild_rows(pair: tuple[Data, Data], asked: tuple[str, str, str], budget: Any) -> None:
    assert violation(fitting(*asked, budget), *pair) is None


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), ROWS, st.sampled_from(ASKED), st.sampled_from(BUDGETS))
def test_one_wild_row_among_many(seed: int, row: dict[str, Any], asked: Any, budget: Any) -> None:
    """The row is judged by bounds that the other rows led to, through noise: the released ones."""
    data = made(300, seed)
    changed = {name: [row[name], *column[1:]] for name, column in data.items()}
    assert violation(fitting(*asked, budget), data, changed) is None


# a row far out, and one that is as far from it as the bounds allow
FAR = [dict(ill=1, visits=40, cost=5000, age=90, income=10, months=24, region="south"),
       dict(ill=0, visits=0, cost=0, age=90, income=10, months=1, region="south")]  # fmt: skip
AT_ANGLE = [FAR[0], dict(FAR[0], age=18, income=0, region="north")]
LOOSE = [
    ("logistic_score", "binomial", "pmt", FAR, 8), ("glm_score", "gamma", "pmt", FAR, 8),
    ("glm_score", "poisson", "newton", FAR, 8), ("glm_score", "binomial", "robust", FAR, 8),
    ("column_means", "poisson", "pmt", FAR, 8),
    ("truncated_score", "binomial", "paper", FAR, 4),
    ("truncated_information", "binomial", "paper", AT_ANGLE, 30),
]  # fmt: skip


@pytest.mark.parametrize(("statistic", "family", "how", "rows", "factor"), LOOSE)
def test_sensitivities_that_are_too_small_are_caught(
    statistic: str, family: str, how: str, rows: list[Any], factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit, data = fitting(family, how, PLAIN, dps.gdp(1)), made(1000, 1)
    first, second = ({name: [row[name], *column[1:]] for name, column in data.items()} for row in rows)
    assert violation(fit, first, second) is None
    kind = REGISTRY[statistic]

    class Loose(kind):
        def __init__(self, design: Any, **public: Any) -> None:
            super().__init__(design, **public)
            self.sensitivity /= factor

    monkeypatch.setitem(REGISTRY, statistic, Loose)
    assert violation(fit, first, second) == f"{statistic} moved beyond its sensitivity"


@pytest.mark.parametrize("way", EVERY, ids=str)
def test_given_the_same_answers_fits_are_the_same(way: tuple[str, str]) -> None:
    """With other data and the same answers a fit is the same to the bit: nothing else enters it."""
    fit, recording = fitting(*way, PLAIN, dps.approx(2, 1e-6)), Recording(SeededNoise(4))
    with noise(recording):
        first = fit(made(300, 1))
    with noise(Replay(recording.answers)):
        second = fit({name: column[::-1] for name, column in made(300, 2).items()})
    assert first.to_dict() == second.to_dict()
    assert first.summary().as_html() == second.summary().as_html()


@pytest.mark.parametrize("way", EVERY, ids=str)
@pytest.mark.parametrize("budget", [dps.approx(1, 1e-6), dps.zcdp(0.3), dps.gdp(1 / 3)], ids=str)
def test_a_fit_spends_its_budget_and_no_more(way: tuple[str, str], budget: Any) -> None:
    records, _, said = trace(fitting(*way, PLAIN, budget), made(300, 5), SeededNoise(1))
    assert not said
    spent, total = sum(Fraction(record.cost) ** 2 for record in records), Fraction(budget.mu) ** 2
    assert total * (1 - Fraction(1, 10**8)) < spent <= total


ARRAYS = visits(700, 9)
ARRAYS |= {name: np.round(ARRAYS[name]) for name in ("age", "cost", "income")}


def answers(way: tuple[str, str], data: Any) -> bytes:
    """Every answer of every step."""
    source = Recording(SeededNoise(3))
    with noise(source):
        model(way[0], data, public=PUBLIC, weights="months").fit(dps.gdp(1), **HOWS[way[1]])
    return np.concatenate(source.answers).tobytes()


@pytest.mark.parametrize("way", EVERY, ids=str)
def test_order_blocks_types_and_containers(way: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = answers(way, ARRAYS)
    order = np.random.default_rng(1).permutation(700)
    assert answers(way, {name: column[order] for name, column in ARRAYS.items()}) == wanted
    objects = {name: column.astype(object) for name, column in ARRAYS.items()}
    whole = pd.DataFrame(ARRAYS).astype({"region": "category", "ill": bool, "visits": int, "age": "float32"})
    assert answers(way, objects) == answers(way, whole) == wanted
    blocks = chokepoint.Blocks
    monkeypatch.setattr(chokepoint, "Blocks", lambda rows, design, size: blocks(rows, design, 37))
    assert answers(way, ARRAYS) == wanted

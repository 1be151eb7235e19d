"""T1, T2, T8 and T9 on linear fits: what one row, its order or its type can change, is noise."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.curator import Curator
from dpstats.curator.statistics import REGISTRY
from dpstats.estimators.gram import Box, fit_gram, make_plan
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import Recording, Replay, SeededNoise, noise
from tests.privacy.harness import SCHEMA, Data, neighbours, rows, trace, violation

GENERATOR = np.random.default_rng(0)
PUBLIC = {
    "time": GENERATOR.uniform(1, 30, 200), "temp": GENERATOR.uniform(20, 40, 200),
    "maker": GENERATOR.choice(["A", "B", "C"], 200, p=[0.8, 0.1, 0.1]),
}  # fmt: skip
BUDGETS = [dps.gdp(0.3), dps.gdp(1e5), dps.approx(1, 1e-6), dps.pure(0.5), dps.pure(1e4)]
MODELS: dict[str, dict[str, Any]] = {
    "ols": dict(),
    "no intercept": dict(formula="time ~ 0 + temp"),
    "constant": dict(formula="time ~ 1"),
    "public": dict(public=PUBLIC),
    "weights": dict(weights="temp"),
    "offset": dict(formula="time ~ temp + maker + offset(0.5 * temp)"),
    "all": dict(formula="time ~ maker + offset(0.5 * temp)", weights="temp / 2", public=PUBLIC),
    "pmt": dict(public=PUBLIC, method="pmt"),
    "paper": dict(public=PUBLIC, method="pmt", compat="paper", weights="temp"),
}
ASKED = [(model, budget) for model in MODELS for budget in BUDGETS
         if "method" not in MODELS[model] or not isinstance(budget, dps.budget.Pure)]  # fmt: skip


def fitting(model: str, budget: Any) -> Callable[[Data], dps.Fit]:
    how = {"formula": "time ~ temp + maker", "public": None, "weights": None} | MODELS[model]
    fit_how = {name: how[name] for name in ("method", "compat") if name in how}

    def fit(data: Data) -> dps.Fit:
        columns = {name: np.array(values, dtype=object) for name, values in data.items()}
        described = dps.ridge(how["formula"], columns, SCHEMA, 0.01, how["public"], how["weights"])
        return described.fit(budget, **fit_how)

    return fit


@settings(max_examples=80, deadline=None)
@given(neighbours(), st.sampled_from(ASKED))
def test_fits_of_a_few_wild_rows(pair: tuple[Data, Data], asked: Any) -> None:
    assert violation(fitting(*asked), *pair) is None


def made(n: int, seed: int) -> Data:
    generator = np.random.default_rng(seed)
    temp = np.round(generator.uniform(5, 55, n))
    return {
        "time": list(np.round(np.clip(temp + 8 * generator.normal(size=n), 1, 100), 2)),
        "failed": list(generator.integers(0, 2, n)),
        "temp": list(temp),
        "maker": list(generator.choice(["A", "B", "Z"], n, p=[0.7, 0.1, 0.2])),
    }


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), rows, st.sampled_from(ASKED))
def test_one_wild_row_among_many(seed: int, row: dict[str, Any], asked: Any) -> None:
    """The row is judged by coordinates that the other rows led to, through noise: the released ones."""
    data = made(300, seed)
    changed = {name: [row[name], *column[1:]] for name, column in data.items()}
    assert violation(fitting(*asked), data, changed) is None


@pytest.mark.parametrize(
    ("budget", "statistic"),
    [(dps.gdp(1), name) for name in ("event_moments", "residual_moments")]
    + [(dps.pure(3), name) for name in ("event_moments", "box_moments", "residual_score")],
    ids=str,
)
def test_sensitivities_that_are_too_small_are_caught(
    budget: Any, statistic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row against one as far from it as the bounds allow, among others that settle the coordinates.

    Bounds that are half as large, or a third of an L1 norm.
    """
    fit, data = fitting("ols", budget), made(2000, 1)
    first, second = (
        {name: [value, *column[1:]] for (name, column), value in zip(data.items(), row, strict=True)}
        for row in ((100, 1, 10, "B"), (1, 1, 50, "A"))
    )
    assert violation(fit, first, second) is None
    kind = REGISTRY[statistic]

    class Loose(kind):
        def __init__(self, design: Any, **public: Any) -> None:
            super().__init__(design, **public)
            self.sensitivity /= 2
            self.sensitivity_l1 = self.sensitivity_l1 and self.sensitivity_l1 / 3
            self.ranges = None if self.ranges is None else self.ranges / 2

    monkeypatch.setitem(REGISTRY, statistic, Loose)
    assert violation(fit, first, second) == f"{statistic} moved beyond its sensitivity"


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_given_the_same_answers_fits_are_the_same(budget: Any) -> None:
    """With other data and the same answers a fit is the same to the bit: nothing else enters it."""
    fit, recording = fitting("offset", budget), Recording(SeededNoise(4))
    with noise(recording):
        first = fit(made(300, 1))
    with noise(Replay(recording.answers)):
        second = fit({name: column[::-1] for name, column in made(300, 2).items()})
    assert first.to_dict() == second.to_dict()
    assert first.summary().as_html() == second.summary().as_html()
    assert first.sigma == second.sigma and first.rsquared == second.rsquared


@pytest.mark.parametrize(("model", "budget"), ASKED, ids=str)
def test_a_fit_spends_its_budget_and_no_more(model: str, budget: Any) -> None:
    """Pure epsilon adds up; of the others, the squares of mu do."""
    records, _, said = trace(fitting(model, budget), made(300, 5), SeededNoise(1))
    assert not said
    pure = isinstance(budget, dps.budget.Pure)
    total, power = Fraction(budget.epsilon if pure else budget.mu), 1 if pure else 2
    spent = sum(Fraction(record.cost) ** power for record in records)
    assert total**power * (1 - Fraction(1, 10**8)) < spent <= total**power
    assert {record.law.name == "gaussian" for record in records} == {not pure}


def answers(data: Any, budget: Any, block_rows: int = 8192) -> bytes:
    """Every answer of every step."""
    design = build_design("time ~ temp + maker + offset(0.1 * temp)", SCHEMA, "temp")
    source = Recording(SeededNoise(3))
    opened = open_rows(data, SCHEMA, design.variables)
    curator = Curator(opened, design, budget, source, source.record, block_rows)
    bounds = np.vstack([design.bounds[1:], [1 - 5, 100 - 1]])
    fit_gram(curator, Box(bounds[:, 0], bounds[:, 1]), True, make_plan(budget, 50, 3), None, 50.0)
    return np.concatenate(source.answers).tobytes()


ARRAYS = {name: np.array(column) for name, column in made(700, 9).items()}
ARRAYS["time"] = np.round(ARRAYS["time"])


@pytest.mark.parametrize("budget", [dps.gdp(1), dps.pure(3)], ids=str)
def test_order_blocks_types_and_containers(budget: Any) -> None:
    wanted = answers(ARRAYS, budget)
    for seed, size in enumerate((7, 37, 700)):
        order = np.random.default_rng(seed).permutation(700)
        assert answers({name: column[order] for name, column in ARRAYS.items()}, budget, size) == wanted
    singles = {name: c.astype(np.float32) if c.dtype == float else c for name, c in ARRAYS.items()}
    objects = {name: column.astype(object) for name, column in ARRAYS.items()}
    for other in (singles, objects, pd.DataFrame(ARRAYS).astype({"maker": "category", "time": int})):
        assert answers(other, budget) == wanted

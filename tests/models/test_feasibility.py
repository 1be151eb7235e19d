"""Hopeless fits are refused before they spend, by public numbers alone; what may do is said, and does."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats import testing
from dpstats.budget import measure
from dpstats.models.skeleton import (
    HAZARDS,
    LINEAR,
    PURE,
    PURE_TIMES,
    PURE_YES_NO,
    SCORES,
    TIMES,
    YES_NO,
    Least,
)

COLUMNS = [f"x{j}" for j in range(8)]
SCHEMA = dps.Schema(
    **{name: dps.bounded(-5, 5) for name in COLUMNS},
    y=dps.bounded(-9, 9),
    sick=dps.flag(),
    visits=dps.count(30),
    time=dps.bounded(0.01, 100),
    failed=dps.event(),
)
RIGHT = " + ".join(COLUMNS)
N = 300


def rows(n: int = N, seed: int = 0) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    made = {name: draw.normal(size=n) for name in COLUMNS}
    made |= {"y": draw.normal(size=n), "sick": draw.integers(0, 2, n), "visits": draw.poisson(3, n)}
    return made | {"time": draw.exponential(size=n), "failed": np.ones(n), "person": np.arange(n) // 2}


def model(name: str, data: Any, schema: dps.Schema = SCHEMA) -> Any:
    if name in ("survreg", "coxph"):
        return getattr(dps, name)(f"Surv(time, failed) ~ {RIGHT}", data, schema)
    if name == "ridge":
        return dps.ridge(f"y ~ {RIGHT}", data, schema, alpha=0.1)
    if name == "poisson":
        return dps.glm(f"visits ~ {RIGHT}", data, schema, "poisson")
    return getattr(dps, name)(f"{'sick' if name == 'logit' else 'y'} ~ {RIGHT}", data, schema)


ROUTES: dict[tuple[str, str], tuple[Least, int]] = {
    ("ols", "gdp"): (LINEAR, 9),
    ("ridge", "gdp"): (LINEAR, 9),
    ("logit", "gdp"): (YES_NO, 9),
    ("poisson", "gdp"): (SCORES, 9),
    ("survreg", "gdp"): (TIMES, 10),
    ("coxph", "gdp"): (HAZARDS, 8),
    ("ols", "pure"): (PURE, 9),
    ("logit", "pure"): (PURE_YES_NO, 9),
    ("survreg", "pure"): (PURE_TIMES, 10),
}


def budget(kind: str, amount: float) -> Any:
    return getattr(dps, kind)(amount)


@pytest.mark.parametrize("name, kind", ROUTES)
def test_a_fit_is_refused_below_its_least_and_not_above(name: str, kind: str, tmp_path: Path) -> None:
    least, k = ROUTES[name, kind]
    edge, ledger = least.needed(k) / N, dps.Ledger(tmp_path / "a.ledger", total=dps.pure(1e6))
    if kind == "gdp":
        ledger = dps.Ledger(tmp_path / "b.ledger", total=dps.gdp(1e3))
    described = model(name, rows())
    with pytest.raises(dps.BudgetError, match=rf"for {k} coefficients from n = {N} rows.*force=True"):
        described.fit(budget(kind, 0.99 * edge), ledger=ledger)
    assert not ledger.entries()
    described.fit(budget(kind, 1.01 * edge), ledger=ledger)
    described.fit(budget(kind, 0.99 * edge), ledger=ledger, force=True)
    assert len(ledger.entries()) == 2


HOPELESS = {
    "2 curves of 8 times": lambda data: dps.kaplan_meier("Surv(time, failed) ~ sick", data, SCHEMA),
    "1 curve of 2 times": lambda data: dps.kaplan_meier("Surv(time, failed) ~ 1", data, SCHEMA, times=[2, 5]),
    "2 coefficients": lambda data: dps.svm("sick ~ x0", data, SCHEMA),
}


@pytest.mark.parametrize("small", [dps.pure(1.0), dps.approx(1.0, 1e-6)], ids=str)
@pytest.mark.parametrize("what", HOPELESS)
def test_curves_and_margins_of_a_handful_of_rows_are_refused_before_they_charge(
    what: str, small: Any, tmp_path: Path
) -> None:
    ledger = dps.Ledger(tmp_path / "a.ledger", total=dps.pure(9) if small.pure else dps.approx(9, 1e-5))

    with pytest.raises(dps.BudgetError, match=f"buys too little for {what} from n = 20 rows") as refused:
        HOPELESS[what](rows(20)).fit(small, ledger=ledger)
    assert not ledger.entries()
    n = int(str(refused.value).partition("or n = ")[2].partition(",")[0])
    HOPELESS[what](rows(n)).fit(small)
    assert HOPELESS[what](rows(20)).fit(small, ledger=ledger, force=True).nobs == 20


@pytest.mark.parametrize(
    "small", [dps.pure(0.05), dps.gdp(0.02), dps.zcdp(0.0002), dps.approx(0.05, 1e-6)], ids=str
)
def test_what_the_message_says_may_do_is_not_refused(small: Any) -> None:
    with pytest.raises(dps.BudgetError) as refused:
        model("ols", rows()).fit(small)
    words = str(refused.value)
    n = int(words.partition("or n = ")[2].partition(",")[0])
    assert model("ols", rows(n)).fit(small).nobs == n
    with pytest.raises(dps.BudgetError, match="buys too little"):
        model("ols", rows(int(0.97 * n))).fit(small)
    larger = words.partition("At the least ")[2].partition(", or n")[0]
    amount = float(larger.split("=")[1].split(",")[0].split()[0])
    told = type(small)(amount, *list(vars(small).values())[1:])
    assert told.amount > small.amount and model("ols", rows()).fit(told).nobs == N
    least = PURE if small.pure else LINEAR
    assert f"or n = {math.ceil(least.well * least.needed(9) / measure(small))}, most fits have all" in words
    less = type(small)(0.95 * amount, *list(vars(small).values())[1:])
    with pytest.raises(dps.BudgetError, match="buys too little"):
        model("ols", rows()).fit(less)


@pytest.mark.parametrize("name, kind", ROUTES)
def test_with_what_the_message_names_a_fit_has_all_of_its_intervals(name: str, kind: str) -> None:
    least, k = ROUTES[name, kind]
    data, named = rows(1000), budget(kind, 1.01 * least.well * least.needed(k) / 1000)
    fits = []
    for seed in range(4):
        with testing.noise(testing.SeededNoise(seed)):
            fits.append(np.isfinite(model(name, data).fit(named).bse).all())
    assert sum(fits) >= 3


def test_a_unit_of_many_rows_needs_so_many_times_the_rows() -> None:
    edge = LINEAR.needed(9) / N
    unit = SCHEMA.unit("person", max_rows=2)
    model("ols", rows()).fit(dps.gdp(1.9 * edge))
    with pytest.raises(dps.BudgetError, match="buys too little"):
        model("ols", rows(), unit).fit(dps.gdp(1.9 * edge))
    model("ols", rows(), unit).fit(dps.gdp(2.1 * edge))


@pytest.mark.parametrize("name, kind", ROUTES)
def test_neighbours_are_refused_alike_and_in_the_same_words(name: str, kind: str) -> None:
    least, k = ROUTES[name, kind]
    small, said = budget(kind, 0.5 * least.needed(k) / N), set()
    wild = rows()
    for column in (*COLUMNS, "y", "time"):
        wild[column][0] = np.inf
    for data in (rows(), wild, rows(seed=3), {name: np.full(N, np.nan) for name in rows()}):
        with pytest.raises(dps.BudgetError) as refused:
            model(name, data).fit(small)
        said.add(str(refused.value))
    assert len(said) == 1


def test_no_test_noise_and_no_public_moments_are_refused() -> None:
    tiny = dps.gdp(0.02)
    with testing.noise(testing.SeededNoise(0)):
        assert not np.isfinite(model("ols", rows()).fit(tiny).bse).any()
    public = dps.ols(f"y ~ {RIGHT}", rows(), SCHEMA, public=rows(seed=1))
    public.fit(tiny)  # the moments that noise would hide are there already


def test_force_is_a_truth_value() -> None:
    with pytest.raises(dps.SpecificationError, match="force must be True or False"):
        model("ols", rows()).fit(dps.gdp(1), force="yes")


@pytest.mark.parametrize("much", [dps.gdp(1.5e15), dps.zcdp(1e30)], ids=str)
def test_an_epsilon_that_no_table_can_tell_is_refused_before_the_charge(much: Any, tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "a.ledger", total=dps.gdp(1e30))
    with pytest.raises(dps.BudgetError, match="comes to an epsilon over 1e"):
        model("ols", rows()).fit(much, ledger=ledger)
    assert not ledger.entries()


@pytest.mark.parametrize("kind", ["pure", "gdp", "zcdp"])
def test_the_least_budget_there_is_is_refused_with_what_would_do(kind: str) -> None:
    with pytest.raises(dps.BudgetError, match="buys too little .* At the least"):
        model("ols", rows()).fit(budget(kind, 1e-30))

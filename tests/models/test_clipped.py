"""Fits that counted how many responses are at the ends of their bounds say so where bounds cut many off."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.curator import Release
from dpstats.estimators.zoom import CUT, EQUAL_CELLS, joined
from dpstats.testing import SeededNoise, noise

N, BUDGET, X = 20_000, dps.approx(1, 1e-6), dps.bounded(-3, 3)
SEEDS = range(3)


def ols(rows: pd.DataFrame, y: Any) -> Any:
    return dps.ols("y ~ x", rows, dps.Schema(x=X, y=y))


def gamma(rows: pd.DataFrame, y: Any) -> Any:
    return dps.glm("y ~ x", rows, dps.Schema(x=X, y=y), family="gamma")


def poisson(rows: pd.DataFrame, y: Any) -> Any:
    return dps.glm("y ~ x", rows, dps.Schema(x=X, y=y), family="poisson")


def survreg(rows: pd.DataFrame, y: Any) -> Any:
    return dps.survreg("Surv(y) ~ x", rows, dps.Schema(x=X, y=y))


def coxph(rows: pd.DataFrame, y: Any) -> Any:
    return dps.coxph("Surv(y) ~ x", rows, dps.Schema(x=X, y=y))


def amounts(n: int = N) -> pd.DataFrame:
    """About 30 on average, from 1 to 300 or so."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=n).clip(-3, 3)
    return pd.DataFrame({"x": x, "y": np.exp(3 + 0.5 * x) * rng.gamma(3, 0.4, n)})


def counts() -> pd.DataFrame:
    return amounts().assign(y=np.random.default_rng(8).poisson(amounts()["y"]))


def told(model: Any, seed: int, budget: Budget = BUDGET) -> str:
    with noise(SeededNoise(seed)):
        return dict(model.fit(budget).flags).get("clipped", "")


@pytest.mark.parametrize("cents", [2, 100], ids=["most", "all"])
@pytest.mark.parametrize("make", [ols, gamma, poisson])
def test_an_upper_bound_in_another_unit_is_told(make: Callable[..., Any], cents: int) -> None:
    """Amounts in cents whose bounds are those of dollars, and bounds that cut off two thirds."""
    rows = counts() if make is poisson else amounts()
    rows["y"] *= cents
    y = dps.count(30) if make is poisson else dps.bounded(0.01, 30)
    share = 100 * np.mean(rows["y"] >= 30)
    for seed in SEEDS:
        said = told(make(rows, y), seed)
        assert "upper bound" in said and abs(int(said.split()[1]) - share) < 9


@pytest.mark.parametrize("make", [ols, gamma, survreg, coxph])
def test_a_lower_bound_in_another_unit_is_told(make: Callable[..., Any]) -> None:
    """Amounts in dollars whose bounds are those of cents."""
    for seed in SEEDS:
        assert "lower bound" in told(make(amounts(), dps.bounded(1000, 100_000)), seed)


@pytest.mark.parametrize("make", [ols, survreg])
def test_it_is_told_under_pure_epsilon_too(make: Callable[..., Any]) -> None:
    for seed in SEEDS:
        assert "lower bound" in told(make(amounts(), dps.bounded(40, 4000)), seed, dps.pure(3))


@pytest.mark.parametrize("high", [400, 100_000], ids=["close", "loose"])
@pytest.mark.parametrize("make", [ols, gamma, poisson, survreg, coxph])
def test_bounds_that_hold_the_responses_are_no_caution(make: Callable[..., Any], high: int) -> None:
    rows = counts() if make is poisson else amounts()
    y = dps.count(high) if make is poisson else dps.bounded(0.1, high)
    for seed in SEEDS:
        assert not told(make(rows, y), seed)


def test_responses_that_end_where_they_are_declared_to_are_no_caution() -> None:
    """Marks of which most are the best, flags, amounts that are mostly 0, and times that are censored."""
    rng, rows = np.random.default_rng(9), amounts()
    marks = rows.assign(y=rng.choice([1, 2, 3, 4, 5], N, p=[0.05, 0.05, 0.1, 0.2, 0.6]))
    flag = rows.assign(y=(rng.uniform(size=N) < 0.9995).astype(int))
    zeros = rows.assign(y=np.where(rng.uniform(size=N) < 0.6, 0.0, rows["y"]))
    shares = rows.assign(y=np.minimum(rng.beta(4, 2, N) + (rng.uniform(size=N) < 0.35), 1.0))
    hours = rows.assign(y=np.where(rng.uniform(size=N) < 0.4, 168.0, rng.uniform(0, 168, N)))
    many = rows.assign(y=rng.poisson(0.3, N))
    for seed in SEEDS:
        assert not told(ols(marks, dps.bounded(1, 5)), seed)
        assert not told(ols(flag, dps.flag()), seed)
        assert not told(poisson(flag, dps.flag()), seed)
        assert not told(ols(zeros, dps.bounded(0, 400)), seed)
        assert not told(ols(shares, dps.bounded(0, 1)), seed)
        assert not told(ols(hours, dps.bounded(0, 168)), seed)
        assert not told(poisson(many, dps.count(20)), seed)
        assert not told(survreg(rows, dps.bounded(0.1, 20)), seed)
        assert not told(coxph(rows, dps.bounded(0.1, 20)), seed)


@pytest.mark.parametrize("at", [-0.95, -0.878, 0.878, 0.95])
def test_responses_near_an_end_of_a_wide_box_are_told_as_well_as_elsewhere(at: float) -> None:
    """In one of the two outermost cells of first counts, bounds 150 sds wide."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=3230).clip(-3, 3)
    rows = pd.DataFrame({"x": x, "y": x + rng.normal(size=3230)})
    model = ols(rows, dps.bounded(-105 * (1 + at), 105 * (1 - at)))
    for seed in range(8):
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(0.6, 1e-6))
        assert not fit.flags and (fit.bse < 12 / np.sqrt(3230)).all()


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize(("share", "least", "most"), [(CUT, 0.0, 0.001), (CUT + 0.2, 0.9, 1.0)])
def test_noise_tells_of_a_quarter_of_the_rows_in_one_fit_of_a_thousand(
    law: str, share: float, least: float, most: float
) -> None:
    rng, sd, draws = np.random.default_rng(10), 10.0, 10_000
    cells = EQUAL_CELLS + 2
    rows = np.full(cells, (1 - share) * 1000 / (cells - 1))
    rows[-1] = share * 1000
    rows[-3] += 1000  # the cell at the upper end, seen for sure
    rows[-1] += 1000 * share / (1 - share)
    errors = rng.normal(size=(draws, cells)) if law == "gaussian" else None
    errors = rng.laplace(size=(draws, cells)) / np.sqrt(2) if errors is None else errors
    found = []
    for one in rows + sd * errors:
        values = one[None, :-2], one[-2:]
        release = Release("reach_counts", values, sd, 2.0, dps.gdp(1), 2000, "replace", law, values)
        found.append(joined(release, np.array([np.nan]))[1].any())
    assert least <= np.mean(found) <= most + 3 * np.sqrt(most * (1 - most) / draws)

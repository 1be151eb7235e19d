"""What a change of units, names or coding does to a fit, noise included: what it should, and nothing else.

The noise is seeded, so that two fits of the same questions draw the same numbers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.testing import NoNoise, SeededNoise, noise
from tests.models.drives import FORMULA, SCHEMA, TRUTH, drives

pytestmark = pytest.mark.long

BUDGETS = [dps.approx(3, 1e-6), dps.gdp(1e6)]
DATA = drives(3000, 11)
DISTS = pytest.mark.parametrize("dist", ["weibull", "loglogistic", "lognormal"])
SAME = dict(rel=1e-6, abs=1e-5)  # a whitened row may round to another point of its grid


def fit(
    data: Any,
    schema: dps.Schema = SCHEMA,
    dist: str = "weibull",
    formula: str = FORMULA,
    budget: Any = BUDGETS[0],
) -> pd.Series:
    with noise(SeededNoise(6)):
        return dps.survreg(formula, data, schema, dist=dist).fit(budget).params


def schema(**changes: Any) -> dps.Schema:
    return dps.Schema({**SCHEMA, **changes})


@DISTS
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("factor", [24.0, 1 / 365.25])
def test_the_unit_of_time_moves_the_intercept_only(dist: str, budget: Any, factor: float) -> None:
    data = DATA | {"time": DATA["time"] * factor}
    moved = fit(data, schema(time=dps.bounded(factor, 4000 * factor)), dist, budget=budget)
    wanted = fit(DATA, dist=dist, budget=budget)
    wanted["Intercept"] += np.log(factor)
    assert moved.to_numpy() == pytest.approx(wanted.to_numpy(), **SAME)


@DISTS
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_distribution_of_log_time_is_another_name(dist: str, budget: Any) -> None:
    other = {"weibull": "sev", "loglogistic": "logistic", "lognormal": "gaussian"}[dist]
    logs = DATA | {"time": np.log(DATA["time"])}
    by_data = fit(logs, schema(time=dps.bounded(0, np.log(4000))), other, budget=budget)
    by_formula = fit(DATA, SCHEMA, other, FORMULA.replace("time", "np.log(time)"), budget)
    wanted = fit(DATA, dist=dist, budget=budget).to_numpy()
    assert by_data.to_numpy() == pytest.approx(wanted, **SAME)
    assert by_formula.to_numpy() == pytest.approx(wanted, **SAME)


@DISTS
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_shifted_and_stretched_covariate(dist: str, budget: Any) -> None:
    """Celsius to Fahrenheit: its slope by the unit, the intercept by the shift, nothing else."""
    data = DATA | {"temp": DATA["temp"] * 1.8 + 32}
    moved = fit(data, schema(temp=dps.bounded(50, 122)), dist, budget=budget)
    wanted = fit(DATA, dist=dist, budget=budget)
    wanted["temp"] /= 1.8
    wanted["Intercept"] -= 32 * wanted["temp"]
    assert moved.to_numpy() == pytest.approx(wanted.to_numpy(), **SAME)


@DISTS
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_an_offset_divides_log_times(dist: str, budget: Any) -> None:
    by_offset = fit(DATA, dist=dist, formula=FORMULA + " + offset(0.3 * np.log(temp))", budget=budget)
    formula = FORMULA.replace("Surv(time", "Surv(time / np.exp(0.3 * np.log(temp))")
    assert by_offset.to_numpy() == pytest.approx(fit(DATA, dist=dist, formula=formula, budget=budget), **SAME)


@pytest.mark.parametrize("dist", ["sev", "logistic"])
def test_an_offset_is_subtracted_from_times(dist: str) -> None:
    by_offset = fit(DATA, dist=dist, formula=FORMULA + " + offset(2 * temp)")
    by_formula = fit(DATA, dist=dist, formula=FORMULA.replace("Surv(time", "Surv(time - 2 * temp"))
    assert by_offset.to_numpy() == pytest.approx(by_formula, **SAME)


def without_noise(data: Any, declared: dps.Schema, dist: str, formula: str = FORMULA) -> pd.Series:
    with noise(NoNoise()):
        return dps.survreg(formula, data, declared, dist=dist).fit(dps.gdp(1e6)).params


@DISTS
def test_a_switched_flag_changes_sign(dist: str) -> None:
    data = {**DATA, "hot": (DATA["temp"] > 30).astype(int)}
    formula = "Surv(time, failed) ~ hot"
    one = without_noise(data, schema(hot=dps.flag(true=1, false=0)), dist, formula)
    other = without_noise(data, schema(hot=dps.flag(true=0, false=1)), dist, formula)
    assert other["hot"] == pytest.approx(-one["hot"], abs=1e-3)
    assert other["Intercept"] == pytest.approx(one["Intercept"] + one["hot"], abs=1e-3)
    assert other["Log(scale)"] == pytest.approx(one["Log(scale)"], abs=1e-3)


@DISTS
def test_the_order_of_levels_permutes_contrasts(dist: str) -> None:
    """Without noise: a whitened row depends on the coding, and its noise with it."""
    one = without_noise(DATA, SCHEMA, dist)
    other = without_noise(DATA, schema(maker=dps.levels("B", "A", other=True)), dist)
    assert other["Intercept"] == pytest.approx(one["Intercept"] + one["maker[T.B]"], abs=1e-3)
    assert other["maker[T.A]"] == pytest.approx(-one["maker[T.B]"], abs=1e-3)
    assert other["maker[T.other]"] == pytest.approx(one["maker[T.other]"] - one["maker[T.B]"], abs=1e-3)
    same = ["temp", "load", "Log(scale)"]
    assert other[same].to_numpy() == pytest.approx(one[same].to_numpy(), abs=1e-3)


@DISTS
def test_the_order_of_terms_permutes_coefficients(dist: str) -> None:
    one = without_noise(DATA, SCHEMA, dist)
    other = without_noise(DATA, SCHEMA, dist, "Surv(time, failed) ~ maker + load + temp")
    assert other[one.index].to_numpy() == pytest.approx(one.to_numpy(), abs=1e-3)


@DISTS
@pytest.mark.parametrize("censored", [0.0, 0.6, 0.9])
def test_estimates_are_near_the_truth(dist: str, censored: float) -> None:
    """So that the relations above are not between constants."""
    found = fit(drives(20_000, 12, dist, censored), SCHEMA, dist)
    assert np.abs(found.to_numpy() - TRUTH).max() < 0.5 and np.corrcoef(found, TRUTH)[0, 1] > 0.99


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data | {"serial": np.arange(3000)},
        lambda data: pd.DataFrame(data)[["maker", "load", "time", "temp", "failed"]],
        lambda data: pd.DataFrame(data).set_index(pd.Index(range(9000, 6000, -1))),
    ],
    ids=["more columns", "other order", "an index"],
)
def test_other_columns_and_labels_do_not_matter(change: Callable[[Any], Any]) -> None:
    assert (fit(change(DATA)) == fit(DATA)).all()

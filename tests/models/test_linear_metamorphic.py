"""What a change of units, coding or order does to a linear fit: what it should, and nothing else.

With seeded noise, where the change leaves every question to the curator as it was, so that two fits draw the
same numbers; else without noise, at a budget that bounds nothing.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.testing import NoNoise, SeededNoise, noise

GENERATOR = np.random.default_rng(21)
N = 3000
DATA = {
    "x": GENERATOR.normal(20, 5, N),
    "z": GENERATOR.exponential(size=N),
    "w": GENERATOR.uniform(0.2, 2, N),
    "g": GENERATOR.choice(np.array(["a", "b", "c"], dtype=object), N, p=[0.5, 0.3, 0.2]),
}
DATA["y"] = 3 + 0.5 * DATA["x"] - DATA["z"] + (DATA["g"] == "b") + GENERATOR.normal(size=N)
SCHEMA = dps.Schema(
    x=dps.bounded(0, 40),
    z=dps.bounded(0, 8),
    w=dps.bounded(0, 2),
    y=dps.bounded(-10, 30),
    g=dps.levels("a", "b", "c"),
)
FORMULA = "y ~ x + z + g"
BUDGETS = [dps.gdp(1), dps.gdp(0.05), dps.gdp(1e6), dps.pure(3)]
WEIGHTS = pytest.mark.parametrize("weights", [None, "w"])
# a whitened row may round to another point of its grid; what is not estimable is nan in both
SAME = dict(rel=1e-6, abs=1e-8, nan_ok=True)


def schema(**changes: Any) -> dps.Schema:
    return dps.Schema({**SCHEMA, **changes})


def fit(
    data: Any = DATA,
    schema: dps.Schema = SCHEMA,
    formula: str = FORMULA,
    alpha: float = 0.0,
    budget: Any = BUDGETS[0],
    weights: str | None = None,
) -> dps.Fit:
    with noise(SeededNoise(6)):
        return dps.ridge(formula, data, schema, alpha, weights=weights).fit(budget)


def without_noise(
    data: Any = DATA, schema: dps.Schema = SCHEMA, formula: str = FORMULA, alpha: float = 0.0
) -> dps.Fit:
    with noise(NoNoise()):
        return dps.ridge(formula, data, schema, alpha).fit(dps.gdp(1e6))


def told(fit: dps.Fit) -> list[float]:
    """Sigma and R squared with their errors, and what the fit bounded."""
    return [
        float(fit.sigma),
        fit.sigma.std_error,
        float(fit.rsquared),
        fit.rsquared.std_error,
        *fit.settings.values(),
    ]


@WEIGHTS
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_unit_of_the_response_scales_everything(budget: Any, weights: str | None) -> None:
    one = fit(budget=budget, weights=weights)
    moved = fit(
        DATA | {"y": 1000 * DATA["y"]}, schema(y=dps.bounded(-1e4, 3e4)), budget=budget, weights=weights
    )
    assert moved.params.to_numpy() == pytest.approx(1000 * one.params, **SAME)
    assert moved.bse.to_numpy() == pytest.approx(1000 * one.bse, **SAME)
    scale = [1000, 1000] + [1] * (len(told(one)) - 2)
    assert told(moved) == pytest.approx(np.multiply(told(one), scale), **SAME)


@WEIGHTS
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_celsius_and_fahrenheit(budget: Any, weights: str | None) -> None:
    """The slope by the unit, the intercept by the shift, nothing else.

    Where noise is all that a pilot has, a rounding that moves a sum by one step of its lattice moves a line
    by 2 in 100, as noise has made its smallest eigenvalues.
    """
    same = dict(rel=0.05, nan_ok=True) if budget == dps.gdp(0.05) else SAME
    one = fit(budget=budget, weights=weights)
    moved = fit(
        DATA | {"x": 32 + 1.8 * DATA["x"]}, schema(x=dps.bounded(32, 104)), budget=budget, weights=weights
    )
    wanted = one.params.copy()
    wanted["x"] /= 1.8
    wanted["Intercept"] -= 32 * wanted["x"]
    assert moved.params.to_numpy() == pytest.approx(wanted.to_numpy(), **same)
    assert moved.bse["x"] == pytest.approx(one.bse["x"] / 1.8, **same)
    assert told(moved) == pytest.approx(told(one), **same)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_shift_of_the_response_moves_the_intercept_alone(budget: Any) -> None:
    one = fit(budget=budget)
    moved = fit(DATA | {"y": DATA["y"] + 500}, schema(y=dps.bounded(490, 530)), budget=budget)
    wanted = one.params.copy()
    wanted["Intercept"] += 500
    assert moved.params.to_numpy() == pytest.approx(wanted.to_numpy(), **SAME)
    assert told(moved) == pytest.approx(told(one), **SAME)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_unit_of_weights_scales_sigma_alone(budget: Any) -> None:
    one = fit(budget=budget, weights="w")
    moved = fit(DATA | {"w": 9 * DATA["w"]}, schema(w=dps.bounded(0, 18)), budget=budget, weights="w")
    assert moved.params.to_numpy() == pytest.approx(one.params.to_numpy(), **SAME)
    assert moved.bse.to_numpy() == pytest.approx(one.bse.to_numpy(), **SAME)
    assert float(moved.sigma) == pytest.approx(3 * float(one.sigma), **SAME)
    assert float(moved.rsquared) == pytest.approx(float(one.rsquared), **SAME)


@pytest.mark.parametrize("budget", [dps.gdp(1), dps.gdp(1e6), dps.pure(3)], ids=str)
def test_equal_weights_are_no_weights(budget: Any) -> None:
    """But for sigma, which is of a row of weight 1, and what not knowing that they are equal costs it."""
    one, same = fit(budget=budget), fit(DATA | {"w": np.full(N, 2.0)}, budget=budget, weights="w")
    # sigma is in what noise of the matrix hides, and in errors for it
    exact = budget == dps.gdp(1e6)
    assert np.all(np.abs(same.params - one.params) <= (1e-3 if exact else 0.5) * one.bse)
    assert float(same.sigma) == pytest.approx(np.sqrt(2) * float(one.sigma), rel=0.1, nan_ok=True)
    assert np.abs(np.log(same.bse / one.bse)).max() < (0.1 if exact else np.log(3))


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_an_offset_is_subtracted_from_the_response(budget: Any) -> None:
    """A constant multiple of a covariate may be one: it is subtracted before anything is clipped."""
    by_offset = fit(formula=FORMULA + " + offset(0.5 * x)", budget=budget)
    by_formula = fit(formula="I(y - 0.5 * x) ~ x + z + g", budget=budget)
    assert by_offset.params.to_numpy() == pytest.approx(by_formula.params.to_numpy(), **SAME)
    assert told(by_offset) == pytest.approx(told(by_formula), **SAME)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_the_order_of_terms_permutes_coefficients(alpha: float) -> None:
    one, other = without_noise(alpha=alpha), without_noise(formula="y ~ g + z + x", alpha=alpha)
    size = float(one.bse.max())
    assert other.params[one.params.index].to_numpy() == pytest.approx(one.params.to_numpy(), abs=1e-3 * size)
    assert told(other) == pytest.approx(told(one), rel=1e-4)


def test_the_order_of_levels_moves_contrasts() -> None:
    one, other = without_noise(), without_noise(schema=schema(g=dps.levels("b", "a", "c")))
    near = dict(abs=1e-3 * float(one.bse.max()))
    assert other.params["Intercept"] == pytest.approx(one.params["Intercept"] + one.params["g[T.b]"], **near)
    assert other.params["g[T.a]"] == pytest.approx(-one.params["g[T.b]"], **near)
    assert other.params["g[T.c]"] == pytest.approx(one.params["g[T.c]"] - one.params["g[T.b]"], **near)
    assert other.params[["x", "z"]].to_numpy() == pytest.approx(one.params[["x", "z"]].to_numpy(), **near)
    assert other.bse["g[T.a]"] == pytest.approx(one.bse["g[T.b]"], rel=1e-3)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_penalty_in_other_units_is_the_same_penalty(budget: Any) -> None:
    one = fit(formula="y ~ x", alpha=3.0, budget=budget)
    moved = fit(DATA | {"x": DATA["x"] / 10}, schema(x=dps.bounded(0, 4)), "y ~ x", 0.03, budget)
    assert moved.params.to_numpy() == pytest.approx(one.params * [1, 10], **SAME)
    assert moved.bse.to_numpy() == pytest.approx(one.bse * [1, 10], **SAME)


@pytest.mark.parametrize("budget", [dps.gdp(1), dps.pure(3)], ids=str)
def test_order_of_rows_and_other_columns_do_not_matter(budget: Any) -> None:
    order = GENERATOR.permutation(N)
    shuffled = {name: column[order] for name, column in DATA.items()}
    more = pd.DataFrame(DATA).assign(serial=range(N))[["g", "serial", "y", "z", "x"]].set_index("serial")
    one, other = fit(budget=budget), fit(shuffled, budget=budget)
    assert one.to_dict() == fit(more, budget=budget).to_dict()
    # last bits of sums, which the end of a search may have ten million times
    assert other.params.to_numpy() == pytest.approx(one.params, rel=1e-6)
    assert other.bse.to_numpy() == pytest.approx(one.bse, rel=1e-6)


def test_estimates_are_near_the_truth() -> None:
    """So that the relations above are not between constants."""
    found = fit(budget=dps.gdp(3)).params
    assert found[["x", "z", "g[T.b]", "g[T.c]"]].to_numpy() == pytest.approx([0.5, -1, 1, 0], abs=0.3)

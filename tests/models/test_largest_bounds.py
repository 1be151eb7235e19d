"""Declared bounds as wide or as narrow as a formula takes: what was paid for is printed and read again."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dpstats as dps
from dpstats.formula.reader import LARGEST, NARROWEST

N = 300


@pytest.mark.parametrize("end", [LARGEST, NARROWEST])
@pytest.mark.parametrize("extreme", ["x", "y", "both"])
def test_a_fit_within_extreme_bounds_is_printed_and_read_again(
    extreme: str, end: float, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    upper = {name: end if extreme in (name, "both") else 1.0 for name in ("x", "y")}
    data = {name: rng.random(N) * min(most, 1.0) for name, most in upper.items()}
    schema = dps.Schema(**{name: dps.bounded(0, upper[name]) for name in data})
    fit = dps.ols("y ~ x", data, schema).fit(dps.gdp(5))
    fit.save(tmp_path / "fit.json")
    assert str(dps.load(tmp_path / "fit.json").summary()) == str(fit.summary())


@pytest.mark.parametrize("name", ["x", "y"])
def test_larger_ones_are_refused_before_a_row_is_read(name: str) -> None:
    bounds = {"x": 1.0, "y": 1.0} | {name: 10 * LARGEST}
    schema = dps.Schema(**{each: dps.bounded(0, upper) for each, upper in bounds.items()})
    with pytest.raises(dps.FormulaError, match=f"'{name}' has bounds .* up to 1e\\+40; narrow"):
        dps.ols("y ~ x", "no such file.csv", schema)


@pytest.mark.parametrize("formula", ["y ~ x", "x ~ y", "x ~ y:z", "Surv(y) ~ x"])
def test_narrower_ones_are_refused_before_a_row_is_read(formula: str) -> None:
    schema = dps.Schema(x=dps.bounded(0, 1), y=dps.bounded(0, NARROWEST / 10), z=dps.bounded(0, 1))
    model = dps.coxph if "Surv" in formula else dps.ols
    with pytest.raises(dps.FormulaError, match="bounds .* too narrow for sums of squares.* smaller unit"):
        model(formula, "no such file.csv", schema)


def test_a_product_that_is_too_narrow_is_refused() -> None:
    schema = dps.Schema(x=dps.bounded(0, NARROWEST), y=dps.bounded(0, 0.1), z=dps.bounded(0, 1))
    with pytest.raises(dps.FormulaError, match="the product x:y is too narrow .* scale its factors"):
        dps.ols("z ~ x:y", "no such file.csv", schema)


def test_a_description_of_narrower_ones_is_refused() -> None:
    schema = dps.Schema(x=dps.bounded(1e-300, NARROWEST / 10))
    with pytest.raises(dps.SchemaError, match="'x' has public bounds less than 1e-40 apart.* smaller unit"):
        dps.describe({"x": [0.0] * N}, schema, dps.zcdp(1))


@pytest.mark.parametrize("model", [dps.coxph, dps.survreg, dps.kaplan_meier])
@pytest.mark.parametrize("surv", ["Surv(t, d)", "Surv(t, d, type='left')", "Surv(t, u, type='interval2')"])
def test_a_time_that_begins_next_to_0_is_refused(model: Callable[..., object], surv: str) -> None:
    bounds = dict(t=dps.bounded(1e-300, 1e9), u=dps.bounded(1, 1e9))
    schema = dps.Schema(**bounds, d=dps.event(), x=dps.flag())
    with pytest.raises(
        dps.FormulaError, match="the time 't' has the lower bound 1e-300, next to 0; in the schema"
    ):
        model(f"{surv} ~ x", "no such file.csv", schema)

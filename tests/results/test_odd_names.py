"""A variable whose name has signs, quotes or the name of another in it is taken for itself alone."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.planning import FitPlan
from dpstats.results import Fit
from dpstats.testing import NoNoise, noise

N, BUDGET = 2000, dps.zcdp(20)
KG = dps.bounded(0, 1, unit="kg")
PRODUCT = "y ~ x * z + Q('x:z')"


def fitted(formula: str, name: str, y: str = "y", model: Any = dps.ols) -> Fit:
    """A fit without noise; the response is the sum of the numbers x and `name`, and g a category."""
    draw, names = np.random.default_rng(0), ("x", "z", name)
    schema = dps.Schema({**dict.fromkeys(names, KG), "g": dps.levels("a", "b"), y: dps.bounded(0, 9)})
    rows = {each: draw.random(N) for each in names} | {"g": draw.choice(["a", "b"], N)}
    with noise(NoNoise()):
        return model(formula, rows | {y: rows["x"] + rows[name]}, schema).fit(BUDGET)


def planned(fit: Fit) -> FitPlan:
    """A plan of the model of a fit, by its moments."""
    record = fit.record
    return dps.plan(dps.ols(record.formula, None, record.schema), BUDGET, N, covariates=fit.moments)


def test_a_product_is_not_the_variable_that_is_called_as_it_is() -> None:
    fit = fitted(PRODUCT, "x:z")
    with pytest.raises(dps.SpecificationError, match="of variables that are terms of their own"):
        fit.marginal_effects(at="mean")
    with pytest.raises(dps.SpecificationError, match="moments tell of columns, and a plan needs variables"):
        planned(fit)
    table = fit.tidy(units={"x:z": 10}).set_index("term")["estimate"]
    assert table["x:z (per 10 kg)"] == pytest.approx(10, 1e-3) and table["x:z"] == pytest.approx(0, abs=1e-3)


def test_the_ratio_of_a_product_is_not_in_the_unit_of_the_variable_that_is_called_as_it_is() -> None:
    def poisson(*args: object) -> object:
        return dps.glm(*args, family="poisson")

    lines = str(fitted(PRODUCT, "x:z", model=poisson).summary()).splitlines()
    assert [line.split()[-2:] for line in lines if line.strip().startswith("x:z ")][-1] == ["per", "unit"]


def test_the_ratio_of_a_name_with_brackets_is_in_its_unit() -> None:
    fit = fitted("y ~ x + Q('load [kg]')", "load [kg]", model=partial(dps.glm, family="poisson"))
    lines = [line for line in str(fit.summary()).splitlines() if "load [kg]" in line and "per kg" in line]
    assert len(lines) == 1


NAMES = ['it\'s "x"', "a\\b", "Q('z')", "x:z", "log(x)", "g[T.b]", "g[T.a]", "(x", "x~z"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_with_signs_is_a_name(name: str) -> None:
    """And what is a word of it is no covariate."""
    response = f"{name} y"
    fit = fitted(f"Q({response!r}) ~ Q({name!r}) + g + x", name, response)
    assert fit.record.covariates == ("x", name, "g")
    effects = fit.marginal_effects(at="mean").frame.set_index("variable")["estimate"]
    assert np.allclose(effects[["x", name, "g"]], [1, 1, 0], atol=1e-3)
    assert f"{name} (per 10 kg)" in fit.tidy(units={name: 10})["term"].tolist()
    point = {"x": [0.5], name: [0.5], "g": ["a"], "z": [0.1]}
    assert len(fit.predict(point)) == 1 and fit.marginal_effects(point, name) is not None
    if name.startswith("g["):
        with pytest.raises(dps.SpecificationError, match="calls a level of 'g'; rename the variable"):
            planned(fit)
        return
    known = planned(fit)._setting.known
    assert known.spreads[name].mean == pytest.approx(0.5, abs=0.02)
    assert np.allclose(known.shares["g"], 0.5, atol=0.05)


@pytest.mark.parametrize("formula", ["y ~ bs(x, df=4) + g", "y ~ x + offset(0.1 * z) + C(g, Sum)"])
@pytest.mark.parametrize("name", ["bs", "df", "offset", "C", "Sum", "4"])
def test_a_variable_that_is_a_word_of_the_formula_is_not_read(formula: str, name: str) -> None:
    fit = fitted(formula, name)
    assert name not in fit.record.variables
    point = {"x": [0.5], "z": [0.5], "g": ["a"], name: [0.5]}
    assert len(fit.predict(point)) == 1 and fit.marginal_effects(point) is not None
    assert fit.t_test_pairwise("g") is not None


@pytest.mark.parametrize("levels", [("a", "Q('b')"), ("Q('a')", "b:Q('c')", "a]")])
def test_a_level_that_looks_like_a_name_is_a_level(levels: tuple[str, ...]) -> None:
    schema = dps.Schema(g=dps.levels(*levels), t=dps.bounded(1, 100), e=dps.event())
    rows = {"g": list(levels), "t": [2.0] * len(levels), "e": [1] * len(levels)}
    assert dps.kaplan_meier("Surv(t, e) ~ g", rows, schema).groups == levels


def test_a_response_that_is_no_word_is_a_flag_or_a_count_as_any() -> None:
    schema = dps.Schema({"is ok": dps.flag(true="y", false="n"), "no.": dps.count(9), "x": KG})
    assert dps.logit("Q('is ok') ~ x", None, schema).design.names == ("Intercept", "x")
    with pytest.raises(dps.FormulaError, match="the count .* may be 0"):
        dps.glm("Q('no.') ~ x", None, schema, family="gamma")


def test_a_variable_is_not_called_as_the_constant_column() -> None:
    with pytest.raises(dps.FormulaError, match="rename the variable"):
        fitted("y ~ Q('Intercept') * x", "Intercept")

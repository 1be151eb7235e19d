"""A misspelt name is answered with the one that is near, by every argument that takes names."""

from collections.abc import Callable

import numpy as np
import pytest

import dpstats as dps
from dpstats._arguments import near, shown
from dpstats.results.fit import Fit
from dpstats.testing import SeededNoise, noise

SCHEMA = dps.Schema(
    time=dps.bounded(1, 100), failed=dps.event(), temp=dps.bounded(0, 60), maker=dps.levels("HGST", "WDC")
)
MODEL = dps.survreg("Surv(time, failed) ~ temp + maker", None, SCHEMA)
BUDGET = dps.zcdp(1)


@pytest.fixture(scope="module")
def fit() -> Fit:
    draw = np.random.default_rng(1)
    rows = {
        "time": draw.uniform(1, 99, 900),
        "temp": draw.uniform(0, 60, 900),
        "maker": ["HGST", "WDC"] * 450,
    }
    with noise(SeededNoise(1)):
        return dps.ols("time ~ temp + maker", rows, SCHEMA).fit(BUDGET)


@pytest.mark.parametrize(
    "ask, meant",
    [
        (lambda fit: fit.plot_coef(["tmp"]), "temp"),
        (lambda fit: fit.plot_coef("maker[WDC]"), r"maker\[T.WDC\]"),
        (lambda fit: fit.tidy(units={"tmp": 10}), "temp"),
        (lambda fit: fit.t_test_pairwise("makr"), "maker"),
    ],
)
def test_of_a_fit(fit: Fit, ask: Callable[[Fit], object], meant: str) -> None:
    with pytest.raises(dps.SpecificationError, match=f"did you mean '{meant}'"):
        ask(fit)


@pytest.mark.parametrize(
    "ask, meant",
    [
        (lambda: dps.plan(MODEL, BUDGET, n=900, coef={"tmp": 1}), "temp"),
        (lambda: dps.plan(MODEL, BUDGET, n=900, coef={"maker[WDC]": 1}), r"maker\[T.WDC\]"),
        (lambda: dps.plan(MODEL, BUDGET, n=900, covariates={"tmp": (20, 5)}), "temp"),
        (lambda: SCHEMA["makr"], "maker"),
    ],
)
def test_without_a_fit(ask: Callable[[], object], meant: str) -> None:
    with pytest.raises(dps.SpecificationError, match=f"did you mean '{meant}'"):
        ask()


def test_new_data_have_the_column_under_another_name(fit: Fit) -> None:
    with pytest.raises(dps.SpecificationError, match="lacks 'temp'.* is it 'tmp' there"):
        fit.predict({"tmp": 20, "maker": "HGST"})


def test_a_schema_is_a_mapping_all_the_same() -> None:
    assert "tmp" not in SCHEMA and SCHEMA.get("tmp") is None
    with pytest.raises(KeyError):
        SCHEMA["tmp"]


def test_of_several_names_the_wrong_ones_are_answered_once() -> None:
    assert near(["temp", "tmp", "tem", "makr", 3], SCHEMA) == "; did you mean 'maker', 'temp'?"
    assert near(["temp", "maker"], SCHEMA) == near(["a" * 9] * 1000, SCHEMA) == ""
    assert shown(["x"]) == "a list of 1 item" and shown(("x", "z")) == "a tuple of 2 items"

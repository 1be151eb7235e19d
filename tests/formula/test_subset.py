"""A subset switches rows off and leaves their number as it is, in the design and in every model."""

import pickle
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpstats as dps
from dpstats import testing
from dpstats.errors import FormulaError, SpecificationError
from dpstats.formula import build_design
from dpstats.results import CurveFit
from tests.privacy.catalogue import SCHEMA, made

TORQUES = dps.Schema(
    good=dps.flag(),
    torque=dps.bounded(1, 4),
    days=dps.bounded(1, 6000),
    cost=dps.bounded(1, 2000),
)
ROWS = made(1500)
FRAME = pd.DataFrame(ROWS)
BUDGET = dps.zcdp(8)
CONDITION = "temp > 20 and maker != 'B'"
INSIDE = (FRAME["temp"] > 20) & (FRAME["maker"] != "B")


def weighs(subset: str, frame: pd.DataFrame = FRAME) -> np.ndarray:
    """Which rows do, by the design."""
    design = build_design("cost ~ load", SCHEMA, subset=subset)
    block = next(dps.rows.open_rows(frame, SCHEMA, design.variables).blocks())
    found = design.read(block)
    assert not np.any(found.exog[~found.ok]) and len(found.ok) == len(frame)
    return found.ok


CONDITIONS: dict[str, Any] = {
    "temp > 30": FRAME["temp"] > 30,
    "30 < temp": FRAME["temp"] > 30,
    "20 <= temp < 40": (FRAME["temp"] >= 20) & (FRAME["temp"] < 40),
    "visits == 2": FRAME["visits"] == 2,
    "visits != 2": FRAME["visits"] != 2,
    "visits in (1, 2)": FRAME["visits"].isin([1, 2]),
    "visits not in [1, 2]": ~FRAME["visits"].isin([1, 2]),
    "np.log(cost) + load > temp / 10": np.log(FRAME["cost"]) + FRAME["load"] > FRAME["temp"] / 10,
    "maker == 'A'": FRAME["maker"] == "A",
    "'A' == maker": FRAME["maker"] == "A",
    "maker != 'A'": FRAME["maker"] != "A",
    "maker in ('A', 'other')": FRAME["maker"] != "B",
    "maker not in ('A', 'B')": FRAME["maker"] == "Z",
    "Q('maker') == 'other'": FRAME["maker"] == "Z",
    "good": FRAME["good"] == 1,
    "not good": FRAME["good"] == 0,
    "~good | (temp > 30)": (FRAME["good"] == 0) | (FRAME["temp"] > 30),
    "good and temp > 20 and maker == 'A' or load < 0.2": (
        (FRAME["good"] == 1) & (FRAME["temp"] > 20) & (FRAME["maker"] == "A") | (FRAME["load"] < 0.2)
    ),
    "not (temp > 20 and failed)": ~((FRAME["temp"] > 20) & (FRAME["failed"] == 1)),
}


@pytest.mark.parametrize("subset", CONDITIONS)
def test_rows_outside_are_switched_off(subset: str) -> None:
    expected = CONDITIONS[subset].to_numpy()
    np.testing.assert_array_equal(weighs(subset), expected)
    assert 0 < expected.sum() < len(expected)


@pytest.mark.parametrize("subset", ["temp > 30", "not temp > 30", "temp != 30", "temp in (1, 30)"])
def test_a_row_of_which_it_cannot_be_told_is_outside(subset: str) -> None:
    frame = pd.DataFrame({"cost": [5.0] * 4, "load": [0.5] * 4, "temp": [np.nan, np.inf, 31.0, 12.0]})
    assert not weighs(subset, frame)[:2].any()
    frame = pd.DataFrame({"cost": [5.0] * 2, "load": [0.5] * 2, "good": [2.0, np.nan]})
    assert not weighs("not good", frame).any()
    closed = dps.Schema(dict(SCHEMA) | {"maker": dps.levels("A", "B")})
    design = build_design("cost ~ load", closed, subset="maker != 'A'")
    rows = {"cost": [5.0] * 3, "load": [0.5] * 3, "maker": ["A", "B", "C"]}
    block = next(dps.rows.open_rows(rows, closed, design.variables).blocks())
    assert design.read(block).ok.tolist() == [False, True, False]


@pytest.mark.parametrize(
    "subset",
    ["temp > 1000", "temp > 30 and temp < 20", "maker == 'A' and maker == 'B'", "good and not good"]
    + ["temp in (-900, 900)", "abs(temp) == -1", "maker not in ('A', 'B', 'other')", "load * temp > 1e6"],
)
def test_a_subset_that_no_row_can_be_in_is_refused(subset: str) -> None:
    with pytest.raises(FormulaError, match="leaves no row: it holds nowhere within the public bounds of"):
        build_design("cost ~ load", SCHEMA, subset=subset)


def test_a_subset_of_one_value_is_one() -> None:
    low, high = SCHEMA["temp"].bounds
    for subset in (f"temp >= {high}", f"temp == {low}", f"temp - load <= {low}", "visits in (1, 2)"):
        assert build_design("cost ~ load", SCHEMA, subset=subset).subset == subset


@pytest.mark.parametrize(
    ("formula", "subset", "said"),
    [
        (
            "cost ~ maker",
            "maker == 'A'",
            r"maker\[T.B\] is always 0; .* or declare the levels alone that",
        ),
        ("cost ~ maker + load", "temp > 20 and maker != 'B'", r"formula, subset= and schema maker\[T.B\]"),
        ("cost ~ good + load", "not good", "good is always 0"),
        ("cost ~ visits + load", "visits == 2", "visits follows from Intercept"),
        ("cost ~ load + (temp > 30)", "temp > 31", "follows from Intercept"),
    ],
)
def test_columns_that_repeat_within_the_subset_are_refused(formula: str, subset: str, said: str) -> None:
    with pytest.raises(FormulaError, match=said):
        dps.ols(formula, FRAME, SCHEMA, subset=subset)


@pytest.mark.parametrize(
    ("formula", "subset"),
    [
        ("cost ~ maker * load + good", "temp > 30"),
        ("cost ~ maker + temp", "maker == 'A' and temp > 31 or temp == 7 or visits == 2"),
        ("cost ~ temp + load + maker", "np.log(cost) + load > temp / 10"),
        ("cost ~ temp + I(temp ** 2)", f"temp >= {SCHEMA['temp'].bounds[1] - 0.01}"),
    ],
)
def test_columns_that_differ_within_the_subset_are_not(formula: str, subset: str) -> None:
    assert dps.ols(formula, FRAME, SCHEMA, subset=subset).design.subset == subset


BEYOND = {"temp": [-100.0, 10.0, 50.0, 900.0, None], "visits": [-999, 0, 12, 40, 12]}
AS_WRITTEN = {
    "temp == 10": [False, True, False, False, False],
    "temp != 50": [True, True, False, True, False],
    "temp <= 50": [True, True, True, False, False],
    "temp - load <= 9.5": [True, True, False, False, False],
    "10 <= temp <= 50": [False, True, True, False, False],
    "temp in (10, 900)": [False, True, False, True, False],
    "np.sqrt(visits) < 5": [False, True, True, False, False],
    "not np.sqrt(visits) < 5": [False, False, False, True, False],  # of a negative number it cannot be told
    "visits * visits > 1500": [True, False, False, True, False],
    "visits == 12 or temp > 50": [False, False, True, True, False],
}
SOURCES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "pandas": lambda frame, _: frame.astype({"visits": "int16", "temp": "float32"}),
    "arrow": lambda frame, _: pa.table(frame),
    "csv": lambda frame, folder: frame.to_csv(folder / "rows.csv", index=False) or folder / "rows.csv",
    "parquet": lambda frame, folder: frame.to_parquet(folder / "rows.parquet") or folder / "rows.parquet",
    "query": lambda frame, _: dps.read_sql("select * from rows", in_sqlite(frame)),
}


def in_sqlite(frame: pd.DataFrame) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    frame.to_sql("rows", connection, index=False)
    return connection


@pytest.mark.parametrize("source", SOURCES)
def test_cells_are_compared_as_they_were_written_and_then_moved_into_their_bounds(
    source: str, tmp_path: Path
) -> None:
    data = SOURCES[source](pd.DataFrame(BEYOND | {"cost": 5.0, "load": 0.5}), tmp_path)
    for subset, expected in AS_WRITTEN.items():
        design = build_design("cost ~ load + temp", SCHEMA, subset=subset)
        found = design.read(next(dps.rows.open_rows(data, SCHEMA, design.variables).blocks()))
        assert found.ok.tolist() == expected, subset
        assert set(found.exog[found.ok, -1]) <= {10, 50}, subset


CODED = {  # codes and zeros that lie below the declared bounds, which a condition leaves out as in R
    "codes": (
        lambda data, **more: dps.logit("good ~ torque", data, TORQUES, **more).fit(BUDGET),
        "torque > 0",
    ),
    "lives of 0": (
        lambda data, **more: dps.survreg("Surv(days) ~ good", data, TORQUES, "exponential", **more).fit(
            BUDGET
        ),
        "days > 0",
    ),
    "costs of 0": (
        lambda data, **more: dps.glm("cost ~ good", data, TORQUES, family="gamma", **more).fit(BUDGET),
        "cost > 0",
    ),
}


@pytest.mark.parametrize("case", CODED)
def test_codes_beyond_the_bounds_are_left_out(case: str) -> None:
    rng = np.random.default_rng(5)
    n = 4000
    torque, days = rng.normal(2.4, 0.25, n), np.ceil(1500 * rng.weibull(1.6, n))
    data = pd.DataFrame(
        {
            "good": (rng.random(n) < 1 / (1 + np.exp(-(1 + 3 * (torque - 2.4))))).astype(int),
            "torque": np.where(rng.random(n) < 0.1, -999, torque),
            "days": np.where(rng.random(n) < 0.1, 0, days),
            "cost": np.where(rng.random(n) < 0.5, 0, np.exp(4 + 0.5 * rng.normal(size=n))),
        }
    )
    make, subset = CODED[case]
    with testing.noise(testing.NoNoise()):
        whole, cut, all_rows = make(data, subset=subset), make(data.query(subset)), make(data)
    apart = np.abs(all_rows.params - cut.params).max()
    assert np.abs(whole.params - cut.params).max() < 0.05 * apart


REFUSED = {
    "temp": "is neither true nor false",
    "1": "is neither true nor false",
    "1 < 2": "reads no variable",
    "temp + 1": "is neither true nor false",
    "temp > 'x'": "is a text; numbers and variables have no quotation marks",
    "temp > 3 && good": "have and, or, not, == and !=",
    "temp <> 3": "have and, or, not, == and !=",
    "!good": "have and, or, not, == and !=",
    "maker": "is neither true nor false",
    "maker > 'A'": "has no order",
    "maker == A": "is no level of 'maker'",
    "maker == 'Q'": "is no level of 'maker'; they are 'A', 'B', 'other'",
    "'A' in maker": "has no order",
    "maker in 'A'": "must be a list of values",
    "good == 'yes'": "the condition is good alone, or not good",
    "temp = 3": "has a single =; write == to compare",
    "temp is 3": "'is' is not allowed",
    "speed > 3": "'speed' has no public bounds",
    "np.log(load) > 0": "no public bound: log needs values > 0",
    "temp > 20 & good": "'20 & good' is read first, as & binds closer than a comparison: write and",
    "maker == 'B' | temp > 30": "write or in the place of",
    "temp.mean() > 3": "is not allowed",
    "temp >": "cannot be read",
}


@pytest.mark.parametrize("subset", REFUSED)
def test_what_is_no_condition_is_refused(subset: str) -> None:
    with pytest.raises(FormulaError, match=REFUSED[subset]):
        build_design("cost ~ load", SCHEMA, subset=subset)


def test_a_column_is_refused_with_the_remedy() -> None:
    with pytest.raises(FormulaError, match="subset= is a text such as"):
        dps.ols("cost ~ load", FRAME, SCHEMA, subset=FRAME["temp"] > 3)


def test_designs_differ_by_their_subset_and_say_it() -> None:
    design = build_design("cost ~ load", SCHEMA, subset=CONDITION)
    assert design != build_design("cost ~ load", SCHEMA) and "Subset: temp > 20 and" in repr(design)
    assert pickle.loads(pickle.dumps(design)) == design
    assert design.variables == ("cost", "temp", "load", "maker") and design.covariates == ("load",)


MODELS: dict[str, Callable[..., Any]] = {
    "ols": lambda data, **more: dps.ols("cost ~ load", data, SCHEMA, **more).fit(BUDGET),
    "logit": lambda data, **more: dps.logit("good ~ load", data, SCHEMA, **more).fit(BUDGET),
    # with a budget under which lengths of rows, which follow the number of all, are those of the bounds
    "glm": lambda data, **more: dps.glm("visits ~ load", data, SCHEMA, "poisson", **more).fit(dps.zcdp(1000)),
    "survreg": lambda data, **more: dps.survreg("Surv(time, failed) ~ load", data, SCHEMA, **more).fit(
        BUDGET
    ),
    "svm": lambda data, **more: dps.svm("good ~ load", data, SCHEMA, **more).fit(BUDGET),
    "kaplan_meier": lambda data, **more: dps.kaplan_meier(
        "Surv(time, failed) ~ 1", data, SCHEMA, times=[5, 10, 20], **more
    ).fit(BUDGET),
}


def estimated(fit: Any) -> np.ndarray:
    return fit.counts if isinstance(fit, CurveFit) else fit.params.to_numpy()


@pytest.mark.parametrize("model", MODELS)
def test_every_model_fits_the_rows_inside_and_counts_all(model: str) -> None:
    with testing.noise(testing.NoNoise()):
        whole, cut = MODELS[model](FRAME, subset=CONDITION), MODELS[model](FRAME[INSIDE])
    assert (whole.nobs, cut.nobs) == (1500, INSIDE.sum())
    scale = np.maximum(np.abs(estimated(cut)), 1.0)
    # the first stage has another grid, and limits of counts follow the number of rows
    near = {"ols": 0.02, "survreg": 0.02}.get(model, 1e-3)
    np.testing.assert_allclose(estimated(whole) / scale, estimated(cut) / scale, atol=near)
    assert "Subset     temp > 20 and maker != 'B'" in str(
        whole if isinstance(whole, CurveFit) else whole.summary()
    )
    again = type(whole).from_dict(whole.to_dict())
    assert again.to_dict() == whole.to_dict() and str(again) == str(whole)


def test_predictions_do_not_ask_for_the_variables_of_the_subset() -> None:
    with testing.noise(testing.NoNoise()):
        fit = MODELS["ols"](FRAME, subset=CONDITION)
    assert np.isfinite(fit.predict({"load": 0.5})).all()


def test_public_rows_outside_are_left_out_too() -> None:
    public = pd.DataFrame(made(900, seed=3))
    for name, formula in (("ols", "cost ~ load"), ("logit", "good ~ load")):
        make = getattr(dps, name)
        inside = public[(public["temp"] > 20) & (public["maker"] != "B")]
        by_condition = make(formula, FRAME, SCHEMA, public=public, subset=CONDITION)._public
        by_hand = make(formula, FRAME, SCHEMA, public=inside)._public
        assert by_condition.n == by_hand.n == len(inside)
        np.testing.assert_allclose(by_condition.xx, by_hand.xx)


def test_contributions_know_no_subset() -> None:
    plan = dps.plan_contributions("good ~ load", SCHEMA, dps.gdp(1), contributors=50)
    model = dps.logit("good ~ load", None, SCHEMA, subset=CONDITION)
    with pytest.raises(SpecificationError, match="without weights and subset"):
        model.fit_contributions([], plan)


@pytest.mark.parametrize("text", ["", " "])
def test_an_empty_condition_is_left_out(text: str) -> None:
    with pytest.raises(FormulaError, match="'temp > 30', not .*: leave it out"):
        build_design("cost ~ temp", SCHEMA, None, text)

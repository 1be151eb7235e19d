"""Offsets are summed into the linear predictor, weights are shares of their public maximum."""

import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from dpstats.errors import FormulaError, SpecificationError
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.schema import Schema, bounded, levels
from tests.formula.strategies import SCHEMA, inside

FRAME = inside(50, 2)
BLOCK = next(open_rows(FRAME, SCHEMA, list(SCHEMA)).blocks())


def read(formula, weights=None):
    return build_design(formula, SCHEMA, weights).read(BLOCK)


def test_offsets_are_summed_and_are_no_columns():
    design = build_design("y ~ x + offset(np.log(t)) + g + offset(2 * z)", SCHEMA)
    assert design.names == build_design("y ~ x + g", SCHEMA).names
    assert design.offset.text == "offset(np.log(t)) + offset(2 * z)"
    assert design.offset_bounds == pytest.approx((np.log(0.1), np.log(1000) + 200))
    block = design.read(BLOCK)
    np.testing.assert_allclose(block.offset, np.log(FRAME["t"]) + 2 * FRAME["z"], rtol=1e-12)
    np.testing.assert_array_equal(block.exog, read("y ~ x + g").exog)
    assert not np.any(read("y ~ x").offset) and build_design("y ~ x", SCHEMA).offset_bounds == (0.0, 0.0)


def test_bounds_of_a_sum_are_those_of_one_expression():
    assert build_design("y ~ offset(x) + offset(-x)", SCHEMA).offset_bounds == pytest.approx((0, 0), abs=0.01)


@pytest.mark.parametrize(
    "formula, names",
    [
        ("y ~ offset(x)", ("Intercept",)),
        ("y ~ offset(x) + g - 1", ("g[a]", "g[b]", "g[c]")),
        ("y ~ offset(x) + x", ("Intercept", "x")),
        ("y ~ offset(x) + z - offset(x)", ("Intercept", "z")),
    ],
)
def test_columns_beside_an_offset(formula, names):
    assert build_design(formula, SCHEMA).names == names


def test_a_variable_may_be_called_offset():
    schema = Schema(y=bounded(0, 1), offset=bounded(0, 1))
    design = build_design("y ~ offset + offset(offset)", schema)
    assert design.names == ("Intercept", "offset") and design.variables == ("y", "offset")


@pytest.mark.parametrize(
    "weights, expected",
    [
        ("w", FRAME["w"] / 7),
        ("np.sqrt(z)", np.sqrt(FRAME["z"]) / 10),
        ("1 * (x > 0.2)", FRAME["x"] > 0.2),
        ("f", FRAME["f"]),
        (" Q('w') - 2", (FRAME["w"] - 2) / 5),
    ],
)
def test_weights_are_shares_of_their_maximum(weights, expected):
    block = read("y ~ x", weights)
    np.testing.assert_allclose(block.weight, expected.astype(float), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(block.ok, expected > 0)
    assert not np.any(block.exog[~block.ok])


def test_without_weights_all_rows_have_weight_1():
    design = build_design("y ~ x", SCHEMA)
    assert np.all(read("y ~ x").weight == 1) and (design.weights, design.max_weight) == (None, 1.0)
    assert build_design("y ~ x", SCHEMA, weights="w").max_weight == 7.0


@pytest.mark.parametrize(
    "weights, words",
    [
        ("x", r"may be -1 by the public bounds.*declare a lower bound of 0.*weights='np.maximum\(x, 0\)'"),
        ("w - 3", r"np.maximum\(w - 3, 0\)"),
        ("0 * w", "is 0 everywhere, or nearly"),
        ("1e-150 * w", "too narrow for sums of squares"),
        ("g", "'g' is a category"),
        ("x > 0", r"write 1 \* "),
        ("1 / x", "the divisor must not be 0"),
        ("u", "'u' has no public bounds: declare it in the schema"),
        ("w / w.mean()", r"'w.mean\(\)' is not allowed"),
        ("np.sum(w)", "np.sum"),
        ("w +", "cannot be read"),
        ("", "cannot be read"),
        ("offset(w)", "term of its own"),
        (np.ones(3), "weights= is a text such as 'w'.*not a ndarray: keep it as a column.*declare"),
        (FRAME["w"], "not a Series"),
        (1, "not 1: keep"),
    ],
)
def test_refused_weights(weights, words):
    with pytest.raises(FormulaError, match=words):
        build_design("y ~ x", SCHEMA, weights=weights)


def test_a_design_is_its_weights_too():
    design = build_design("y ~ x + offset(np.log(t))", SCHEMA, weights="np.sqrt(z)")
    again = pickle.loads(pickle.dumps(design))
    assert again == design and hash(again) == hash(design) and again.max_weight == 10.0
    assert all(design != build_design(design.formula, SCHEMA, other) for other in (None, "z"))
    assert design.variables == ("y", "t", "x", "z")
    assert repr(design).splitlines()[-4:] == [
        "Radius: 1.41421 (no row is longer)",
        "Offset: offset(np.log(t)), between -2.30259 and 6.90776",
        "Weights: np.sqrt(z), at most 10",
        "No row was read.",
    ]


def test_a_row_without_offset_or_weight_is_off():
    frame = inside(6, 0).astype({"t": object, "w": object})
    frame.loc[0, "t"], frame.loc[1, "w"], frame.loc[2, "w"] = None, np.nan, "much"
    frame.loc[3, "t"], frame.loc[4, "w"], frame.loc[5, "w"] = np.inf, 1e300, -1e300
    design = build_design("y ~ x + offset(np.log(t))", SCHEMA, weights="w")
    block = design.read(next(open_rows(frame, SCHEMA, design.variables).blocks()))
    assert block.ok.tolist() == [False, False, False, False, True, True]
    assert block.weight[4:].tolist() == [1.0, 2 / 7]  # moved to their public bounds


def test_blocks_of_any_size_give_the_same_offsets_and_weights():
    design = build_design("y ~ x * g + offset(np.log(t) - z) + offset(x)", SCHEMA, weights="w")
    rows = open_rows(FRAME, SCHEMA, design.variables)
    whole = design.read(next(rows.blocks()))
    for size in (1, 7, 49):
        parts = [design.read(block) for block in rows.blocks(size)]
        for name in ("offset", "weight", "exog"):
            pieces = np.concatenate([getattr(part, name) for part in parts])
            np.testing.assert_array_equal(pieces, getattr(whole, name))


DRIVES = Schema(y=bounded(0, 9), temp=bounded(10, 50), days=bounded(1, 100), maker=levels("A", "B"))
RATE = build_design("y ~ temp + maker + offset(np.log(days))", DRIVES, weights="days")


def test_the_offset_of_new_data():
    """What stands in it alone is where it is: of its effect nothing is extrapolated."""
    new = {"temp": [20, 30.0], "maker": "B", "days": [10, 1000]}
    moved = RATE.new_rows(new, clip=True)
    np.testing.assert_allclose(moved.offset, np.log([10, 1000]))
    assert not moved.outside.any() and moved.values["days"].tolist() == [10, 1000]
    both = build_design("y ~ days + offset(np.log(days))", DRIVES).new_rows(new, clip=True)
    assert both.outside.tolist() == [False, True] and both.exog[:, 1].tolist() == [10, 100]
    np.testing.assert_allclose(both.offset, np.log([10, 100]))
    np.testing.assert_allclose(RATE.new_rows(new, clip=False).offset, np.log([10, 1000]))
    np.testing.assert_allclose(RATE.new_rows(new | {"days": 7}, clip=True).offset, np.log([7, 7]))
    np.testing.assert_allclose(RATE.new_rows(pd.DataFrame(new), clip=True).offset, np.log([10, 1000]))
    with pytest.raises(SpecificationError, match="lacks 'days'; the formula needs temp, days, maker"):
        RATE.new_rows({"temp": 20, "maker": "A"}, clip=True)
    plain = build_design("y ~ temp", DRIVES).new_rows({"temp": [20, 30]}, clip=True)
    assert plain.offset.tolist() == [0, 0]
    alone = build_design("y ~ offset(days)", DRIVES).new_rows({"days": [2, 3]}, clip=True)
    assert alone.offset.tolist() == [2, 3]


def test_new_data_need_no_weights():
    design = build_design("y ~ temp", DRIVES, weights="days")
    assert design.new_rows({"temp": 20}, clip=True).exog.tolist() == [[1, 20]]


def test_least_squares_as_statsmodels_does_with_offset_and_weights():
    """Normal equations of a block, by y - offset and weights as shares, give the coefficients of sm.GLM."""
    block = read("y ~ x + g + offset(np.log(t) / 3)", "w")
    x, weight = block.exog, block.weight
    ours = np.linalg.solve(x.T @ (x * weight[:, None]), x.T @ (weight * (block.endog - block.offset)))
    theirs = sm.GLM.from_formula("y ~ x + g", FRAME, offset=np.log(FRAME["t"]) / 3, var_weights=FRAME["w"])
    fit = theirs.fit(scale="X2")
    assert list(fit.params.index) == list(build_design("y ~ x + g", SCHEMA).names)
    np.testing.assert_allclose(ours, fit.params, rtol=1e-8)

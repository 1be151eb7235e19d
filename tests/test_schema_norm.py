"""The declaration of how long several variables of a row are together."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.errors import FormulaError, SchemaError
from dpstats.formula import build_design
from dpstats.formula.ball import UnitBall
from dpstats.rows import open_rows
from dpstats.schema import Norm, Schema, bounded, count, event, flag, levels

PLAIN = Schema(
    y=bounded(-5, 5),
    a=bounded(-1, 1),
    b=bounded(-3, 2),
    c=count(4),
    z=bounded(2, 7),
    f=flag(),
    e=event(),
    g=levels("u", "v"),
)
SCHEMA = PLAIN.norm("a", "b", "c", radius=1.5)
TOML = """
y = {kind = "bounded", lower = -5, upper = 5}
a = {kind = "bounded", lower = -1, upper = 1}
b = {kind = "bounded", lower = -3, upper = 2}
c = {kind = "count", upper = 4}
z = {kind = "bounded", lower = 2, upper = 7}
f = {kind = "flag"}
e = {kind = "event"}
g = {kind = "levels", levels = ["u", "v"]}
together = {kind = "norm", columns = ["a", "b", "c"], radius = 1.5}
"""


def exog(formula: str, schema: Schema, **columns: object) -> np.ndarray:
    design = build_design(formula, schema)
    table = pd.DataFrame({"y": 0.0, **columns})
    rows = open_rows(table, schema, design.variables)
    return np.vstack([design.read(block).exog for block in rows.blocks()])


@pytest.mark.parametrize(
    "make",
    [
        lambda path: Schema.from_dict(SCHEMA.to_dict()),
        lambda path: Schema(**SCHEMA.to_dict()),
        lambda path: Schema(PLAIN, any={"kind": "norm", "columns": ["a", "b", "c"], "radius": 1.5}),
        lambda path: pickle.loads(pickle.dumps(SCHEMA)),
        lambda path: (SCHEMA.save(path / "s.json"), Schema.load(path / "s.json"))[1],
        lambda path: ((path / "s.toml").write_text(TOML), Schema.load(path / "s.toml"))[1],
    ],
)
def test_a_norm_survives_every_way_of_writing_it(make, tmp_path):
    again = make(tmp_path)
    assert again == SCHEMA and hash(again) == hash(SCHEMA) and list(again) == list(SCHEMA)
    assert again.norms == (Norm(("a", "b", "c"), 1.5),)


def test_a_norm_makes_a_new_schema_and_keeps_the_rest():
    assert PLAIN.norms == () and PLAIN != SCHEMA and PLAIN.norm("a", "b", radius=1) != SCHEMA
    both, by_unit = SCHEMA.unit("serial", max_rows=2), PLAIN.unit("serial", max_rows=2)
    assert both.norms == SCHEMA.norms and both == by_unit.norm("a", "b", "c", radius=1.5)
    wider = Schema(SCHEMA, d=bounded(-1, 1), h=bounded(-1, 1)).norm("d", "h", radius=2)
    assert [norm.radius for norm in wider.norms] == [1.5, 2.0]


NAMED = Schema(PLAIN, **{"norm of a, b": bounded(0, 1)}).norm("a", "b", radius=1)


@pytest.mark.parametrize(
    "schema",
    [NAMED, PLAIN.unit("norm of a, b", max_rows=2).norm("a", "b", radius=1)],
    ids=["variable", "unit"],
)
def test_a_column_may_be_called_as_a_norm_is_written(schema, tmp_path):
    schema.save(tmp_path / "s.toml")
    for again in (Schema.from_dict(schema.to_dict()), Schema.load(tmp_path / "s.toml"), Schema({**schema})):
        assert again == schema and again.norms == (Norm(("a", "b"), 1.0),)
    added = Schema({**PLAIN.norm("a", "b", radius=1), "norm of a, b": bounded(0, 1)})
    assert added == NAMED


def test_a_norm_is_printed():
    assert repr(SCHEMA).endswith("a, b, c     norm     at most 1.5")
    assert "at most 1.5" in SCHEMA._repr_html_()


@pytest.mark.parametrize(
    "declare, words",
    [
        (lambda: PLAIN.norm("a", radius=1), "two variables or more"),
        (lambda: PLAIN.norm("a", 3, radius=1), "two variables or more"),
        (lambda: PLAIN.norm("a", "a", radius=1), "names a variable twice"),
        (lambda: PLAIN.norm("a", "q", radius=1), "needs 'q' to be declared"),
        (lambda: PLAIN.norm("a", "g", radius=1), "'g' is declared as levels"),
        (lambda: PLAIN.norm("a", "f", radius=1), "'f' is declared as flag"),
        (lambda: PLAIN.norm("a", "e", radius=1), "'e' is declared as event"),
        (lambda: PLAIN.norm("a", "z", radius=1), "'z' lies between 2 and 7"),
        (lambda: SCHEMA.norm("c", "y", radius=1), "'c' is in two norms"),
        (lambda: PLAIN.norm("a", "b", radius=0), "must be positive"),
        (lambda: PLAIN.norm("a", "b", radius=-1), "must be positive"),
        (lambda: PLAIN.norm("a", "b", radius=float("nan")), "must be a finite number"),
        (lambda: PLAIN.norm("a", "b", radius=True), "must be a finite number"),
        (lambda: PLAIN.norm("a", "b", radius="1"), "must be a finite number"),
        (
            lambda: Schema(PLAIN, n={"kind": "norm", "columns": ["a", "b"]}),
            "'columns' and 'radius' and nothing",
        ),
        (lambda: Schema(PLAIN, n={"kind": "norm", "columns": "ab", "radius": 1}), "two variables or more"),
    ],
)
def test_each_mistake_is_named(declare, words):
    with pytest.raises(SchemaError, match=words):
        declare()


def test_a_response_has_no_norm():
    with pytest.raises(FormulaError, match="the response reads 'a'"):
        build_design("a ~ b", SCHEMA)


def test_longer_rows_are_shortened_and_keep_their_direction():
    rows = exog("y ~ a + b + c", SCHEMA, a=[0.6, 1.0, -0.5], b=[0.8, -2.0, 9.0], c=[0, 2, 0])
    np.testing.assert_array_equal(rows[0, 1:], [0.6, 0.8, 0.0])
    np.testing.assert_allclose(rows[1, 1:], [0.5, -1.0, 1.0])
    # clipped to the bounds first, then shortened
    np.testing.assert_allclose(rows[2, 1:], np.array([-0.5, 2.0, 0.0]) * 1.5 / np.hypot(0.5, 2.0))


def test_only_covariates_of_the_formula_count():
    rows = exog("y ~ a + b", SCHEMA, a=[0.9], b=[1.2], c=[4])
    np.testing.assert_allclose(rows[0, 1:], [0.9, 1.2])
    assert build_design("y ~ a + b - 1", SCHEMA).norms == (((0, 1), 1.5),)
    assert build_design("y ~ a + I(b ** 2) - 1", SCHEMA).norms == ()


def test_the_radius_counts_a_norm_once():
    assert build_design("y ~ a + b + c - 1", SCHEMA).radius == pytest.approx(1.5)
    assert build_design("y ~ a + b + c", SCHEMA).radius == pytest.approx(np.hypot(1.5, 1))
    assert build_design("y ~ a + b + c - 1", PLAIN.norm("a", "b", radius=99)).radius == pytest.approx(
        build_design("y ~ a + b + c - 1", PLAIN).radius
    )
    # a variable that is two columns is in the norm with one of them
    twice = build_design("y ~ a + b + Q('a') - 1", PLAIN.norm("a", "b", radius=1))
    assert twice.norms == (((0, 1), 1.0),) and twice.radius == pytest.approx(np.sqrt(2))


EXTREME = st.sampled_from([0.0, 1.0, -1.0, 1e300, -1e300, 1e-200])
NUMBERS = st.lists(st.floats(-1e6, 1e6) | EXTREME, min_size=30, max_size=30)
FORMULAS = (
    "a + b + c - 1",
    "a + b + c",
    "a + z + c + a:b",
    "b + np.exp(a) + c + g",
    "a + b + Q('a') + f - 1",
)


@settings(max_examples=200, deadline=None)
@given(NUMBERS, st.sampled_from(FORMULAS), st.sampled_from([1e-3, 0.3, 1.0, 2.5, 6.0]))
def test_no_row_is_longer_than_the_radius_of_its_design(numbers, formula, radius):
    schema = PLAIN.norm("a", "b", "c", radius=radius)
    design = build_design(f"y ~ {formula}", schema)
    a, b, c = np.reshape(numbers, (3, 10))
    rows = exog(design.formula, schema, a=a, b=b, c=c, z=3.0, f=1, g="v")
    assert np.linalg.norm(rows, axis=1).max() <= design.radius
    assert (rows >= design.bounds[:, 0]).all() and (rows <= design.bounds[:, 1]).all()
    for group, longest in design.norms:
        assert np.linalg.norm(rows[:, list(group)], axis=1).max() <= longest * (1 + 1e-12)
    ball = UnitBall.of_box(design.bounds, design.has_intercept, design.categories, design.norms)
    unit = (rows - ball.center) / (ball.scale * ball.radius)
    assert np.linalg.norm(unit, axis=1).max() <= 1 + 1e-9 and (np.abs(unit) <= ball.reach + 1e-9).all()


def test_the_radius_is_attained_and_a_row_that_is_not_shortened_would_exceed_it():
    design = build_design("y ~ a + b + c - 1", SCHEMA)
    corner = {"a": [1.0], "b": [2.0], "c": [4]}
    assert np.linalg.norm(exog(design.formula, SCHEMA, **corner)) == pytest.approx(design.radius)
    assert np.linalg.norm(exog(design.formula, PLAIN, **corner)) > design.radius
    ball = UnitBall.of_box(design.bounds, False, norms=design.norms)
    farthest = {"a": [1.0], "b": [np.sqrt(1.5**2 - 1)], "c": [0]}
    rows = exog(design.formula, SCHEMA, **farthest) / (ball.scale * ball.radius)
    assert np.linalg.norm(rows) == pytest.approx(1.0)


def test_new_data_are_shortened_and_counted_as_clipped():
    design = build_design("y ~ a + b + c", SCHEMA)
    found = design.new_rows({"a": [0.6, 1.0], "b": [0.8, -2.0], "c": [0, 2]}, clip=True)
    rows, clipped = found.exog, int(found.outside.sum())
    assert clipped == 1
    np.testing.assert_allclose(rows[:, 1:], [[0.6, 0.8, 0.0], [0.5, -1.0, 1.0]])


def test_a_fit_says_so_and_keeps_it():
    rng = np.random.default_rng(0)
    data = {name: rng.uniform(-0.5, 0.5, 400) for name in ("y", "a", "b", "z")}
    fit = dps.ols("y ~ a + b", data, PLAIN.norm("a", "b", radius=0.7)).fit(dps.gdp(1.0))
    assert "norm of a, b" in str(fit.summary()) and fit.record.schema.norms[0].radius == 0.7

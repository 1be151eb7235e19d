"""A design is plain, printable and complete without data; new data for predictions are public and checked."""

import pickle

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.formula import build_design
from dpstats.formula.grammar import linear_constraint
from dpstats.rows import open_rows
from dpstats.schema import Schema, bounded, event, flag, levels
from tests.formula.strategies import SCHEMA, inside

DRIVES = Schema(
    {
        "time": bounded(1, 4000, unit="days"),
        "failed": event(),
        "temp": bounded(10, 50, unit="C"),
        "maker": levels("HGST", "WDC", other=True),
        "my flag": flag("y", "n"),
    }
)
DESIGN = build_design("Surv(time, failed) ~ temp + maker", DRIVES)


def test_the_dry_run_prints_columns_bounds_and_radius():
    assert (
        repr(DESIGN)
        == """\
Surv(time, failed) ~ temp + maker

column            lower    upper
--------------  -------  -------
Intercept             1        1
maker[T.WDC]          0        1
maker[T.other]        0        1
temp                 10       50

Response: Surv(time, failed), time between 1 and 4000, censored beyond
Radius: 50.02 (no row is longer)
No row was read."""
    )
    assert "Note: temp / maker means temp + temp:maker" in repr(build_design("time ~ temp / maker", DRIVES))
    assert "Response: time between 1 and 4000" in repr(build_design("time ~ temp", DRIVES))


@pytest.mark.parametrize(
    ("condition", "yes"),
    [
        ("maker == 'WDC'", ["WDC"]),
        ("'WDC' == maker", ["WDC"]),
        ("maker != 'WDC'", ["HGST", "other"]),
        ("maker == 'other'", ["other"]),
        ("maker in ('WDC', 'other')", ["WDC", "other"]),
        ("maker not in ['WDC']", ["HGST", "other"]),
    ],
)
def test_a_level_against_the_others_is_a_term(condition: str, yes: list[str]) -> None:
    """It is a function of one record, in a product and as a number as well; an unread cell has no weight."""
    cells = ["HGST", "WDC", "Seagate", None]
    read = ["HGST", "WDC", "other"]
    frame = pd.DataFrame({"time": 20.0, "maker": cells, "temp": 30.0})
    design = build_design(f"time ~ I({condition}) + temp:I(2 * ({condition}))", DRIVES)
    assert design.names[1].startswith("I(") and design.names[1].endswith("[T.True]")
    block = next(open_rows(frame, DRIVES, list(design.variables)).blocks())
    rows = design.read(block)
    assert rows.ok.tolist() == [True, True, True, False]
    told = np.isin(read, yes).astype(float)
    np.testing.assert_array_equal(rows.exog[:3], np.column_stack([np.ones(3), told, 60 * told]))
    np.testing.assert_array_equal(design.bounds, [[1, 1], [0, 1], [0, 100]])


def test_a_design_is_its_formula_and_schema():
    again = pickle.loads(pickle.dumps(DESIGN))
    assert again == DESIGN and hash(again) == hash(DESIGN) and again.names == DESIGN.names
    assert DESIGN != build_design("Surv(time, failed) ~ temp", DRIVES)
    assert DESIGN.has_intercept and not build_design("time ~ maker - 1", DRIVES).has_intercept
    (_, category), *_ = DESIGN.categories
    atoms = [atom.table for product in DESIGN._columns for atom in product if atom.table is not None]
    public_arrays = DESIGN.bounds, DESIGN.binary, DESIGN.own, DESIGN.levels, DESIGN.way, category, *atoms
    for public in public_arrays:
        with pytest.raises(ValueError):
            public[...] = 9.0


def test_a_design_is_built_once_for_a_schema_as_it_is_spelt_and_anew_for_one_that_is_only_equal():
    first, same = (dps.Schema(a=dps.flag(true=1), b=dps.bounded(0, 1), y=dps.bounded(0, 1)) for _ in "ab")
    other = dps.Schema(y=dps.bounded(0, 1), b=dps.bounded(0, 1), a=dps.flag(true=True))
    assert first == other
    design = build_design("y ~ a + b", first)
    assert build_design("y ~ a + b", first) is design and build_design("y ~ b", first) is not design
    assert build_design("y ~ a + b", same) is design
    for unlike in (same.unit("id", 2), same | {"b": dps.bounded(-0.0, 1)}):
        assert build_design("y ~ a", unlike) is not build_design("y ~ a", first)
    again = build_design("y ~ a + b", other)
    assert again.schema is other and again.variables != design.variables


@pytest.mark.parametrize(
    "right, notes",
    [
        ("x / g", 1),
        ("x + I(x / w)", 0),
        ("np.log(t / w)", 0),
        ("(x + z) ** 2", 0),
        ("x:g", 0),
        ("g - 1", 0),
        ("np.log(t) / g", 1),
        ("bs(z, df=4) + np.exp(x / 2) + g / x", 1),
        ("g / (x + z)", 0),
    ],
)
def test_only_misleading_operators_are_remarked(right, notes):
    assert len(build_design(f"y ~ {right}", SCHEMA).notes) == notes


@pytest.mark.parametrize(
    "right, separate",
    [
        ("1", True),
        ("x", True),
        ("x + z + w", True),
        ("x + z - 1", True),
        ("np.log(w + 9) + x", True),
        ("I(x + z) + w", True),
        ("x + offset(x)", True),
        ("x:z + w", True),
        ("I(x > 0) + z", True),
        ("x * z", False),
        ("x + x:z", False),
        ("x + I(x ** 2)", False),
        ("I(x + z) + z", False),
        ("x + g", False),
        ("C(g, Sum)", False),
        ("bs(z, df=4)", False),
        ("x:g", False),
    ],
)
def test_covariates_are_separate_if_nothing_public_ties_them(right, separate):
    """Each is one column of variables of its own."""
    assert build_design(f"Surv(t, e) ~ {right}", SCHEMA).own.all() == separate


def test_a_column_in_a_product_is_none_of_its_own():
    """Its correlation with the product is the formula's, whatever else there is."""
    design = build_design("Surv(t, e) ~ x * z + w + g", SCHEMA)
    own = dict(zip(design.names, design.own, strict=True))
    assert {name for name, alone in own.items() if alone} == {"Intercept", "w"}


def test_two_levels_are_one_column_of_their_own():
    schema = Schema(y=bounded(0, 1), x=bounded(0, 1), two=levels("a", "b"), three=levels("a", "b", "c"))
    assert build_design("y ~ two + x", schema).own.all()
    assert not build_design("y ~ three + x", schema).own.all()


def test_blocks_of_any_size_give_the_same_rows():
    frame = inside(100, 4)
    design = build_design("Surv(t, e) ~ x * g + bs(z, df=5) + np.log(w) + I(x > 0) + C(h, Sum):c", SCHEMA)
    rows = open_rows(frame, SCHEMA, design.variables)
    whole = design.read(next(rows.blocks()))
    for size in (1, 7, 99):
        parts = [design.read(block) for block in rows.blocks(size)]
        np.testing.assert_array_equal(np.concatenate([part.exog for part in parts]), whole.exog)
        np.testing.assert_array_equal(np.concatenate([part.time for part in parts]), whole.time)
        assert all(part.exog.flags.f_contiguous for part in parts)


EXTENDED = Schema(y=bounded(0, 1), x=bounded(1, 4), z=bounded(0, 1), g=levels("a", "b"))


@pytest.mark.parametrize(
    "newdata",
    [
        {"temp": [30, 60.0], "maker": ["WDC", "x"]},
        [{"temp": 30, "maker": "WDC"}, {"temp": 60, "maker": "x", "unused": 1}],
        pd.DataFrame({"temp": [30, 60.0], "maker": ["WDC", "x"]}, index=[7, 7]),
        {"temp": np.array([30, 60.0]), "maker": pd.Series(["WDC", "x"]), "time": "not read"},
    ],
)
def test_new_data_of_any_make(newdata):
    found = DESIGN.new_rows(newdata, clip=True)
    exog, clipped = found.exog, int(found.outside.sum())
    np.testing.assert_array_equal(exog, [[1, 1, 0, 30], [1, 0, 1, 50]])
    assert clipped == 1


def test_new_data_are_extrapolated_to_unless_they_are_moved_to_the_bounds():
    design = build_design("y ~ x * np.log(x) + bs(z, df=4) + g", EXTENDED)
    new = {"x": [2.0, 8.0], "z": [0.5, 3.0], "g": "b"}
    free, moved = (design.new_rows(new, clip) for clip in (False, True))
    assert free.outside.tolist() == moved.outside.tolist() == [False, True]
    names = list(design.names)
    for rows, x in ((free, 8.0), (moved, 4.0)):
        at = rows.exog[1]
        assert at[names.index("x")] == x and at[names.index("x:np.log(x)")] == pytest.approx(x * np.log(x))
    np.testing.assert_array_equal(free.exog[0], moved.exog[0])
    basis = [j for j, name in enumerate(names) if name.startswith("bs(")]
    np.testing.assert_array_equal(free.exog[1, basis], moved.exog[1, basis])  # constant beyond the knots


def test_a_term_that_is_not_defined_beyond_the_bounds_is_named():
    design = build_design("y ~ np.log(x)", EXTENDED)
    with pytest.raises(SpecificationError, match="row 1: .* not defined; clip=True moves"):
        design.new_rows({"x": [2.0, -1.0]}, clip=False)
    assert design.new_rows({"x": [2.0, -1.0]}, clip=True).exog[1, 1] == 0


def test_one_new_row_and_broadcast_scalars():
    np.testing.assert_array_equal(
        DESIGN.new_rows({"temp": 30, "maker": "HGST"}, clip=True).exog, [[1, 0, 0, 30]]
    )
    np.testing.assert_array_equal(
        DESIGN.new_rows({"temp": [20, 30], "maker": "HGST"}, clip=True).exog[:, 3], [20, 30]
    )
    constant = build_design("time ~ 1", DRIVES)
    assert constant.new_rows({}, clip=True).exog.tolist() == [[1.0]] and constant.new_rows(
        [{}, {}], clip=True
    ).exog.shape == (2, 1)


@pytest.mark.parametrize(
    "newdata, words",
    [
        ({"temp": 30}, "newdata lacks 'maker'; the formula needs temp, maker"),
        (
            [{"temp": 30, "maker": "WDC"}, {"maker": "WDC"}],
            "row 1 lacks a value of 'temp'; each row needs temp, maker",
        ),
        (
            pd.DataFrame({"temp": [30.0, np.nan], "maker": "WDC"}, index=["Miller", "Smith"]),
            r"row 1 \(as .iloc counts\) lacks a value of 'temp'; each row needs temp, maker$",
        ),
        ({"temp": "hot", "maker": "WDC"}, "newdata row 0: temp must be a finite number$"),
        (
            {"temp": "12,5", "maker": "WDC"},
            "finite number; with a decimal comma it is a text: write a point$",
        ),
        ({"temp": 30, "maker": None}, "row 0 lacks a value of 'maker'; each row needs temp, maker"),
        ({"temp": [1, float("inf")], "maker": "WDC"}, "newdata row 1: temp must be a finite number$"),
        ({"temp": [30, 31], "maker": ["WDC"]}, "cannot be read as a table"),
        ({"temp": [], "maker": []}, "newdata have no rows"),
        ("temp=30", "a frame, such as pandas.read_csv gives, a dict of values or columns"),
        (3, "a dict of values or columns"),
    ],
)
def test_unusable_new_data_say_what_is_wrong(newdata, words):
    with pytest.raises(SpecificationError, match=words):
        DESIGN.new_rows(newdata, clip=True)


def test_a_code_that_is_not_declared_is_named_in_new_data():
    design = build_design("time ~ Q('my flag')", DRIVES)
    np.testing.assert_array_equal(design.new_rows({"my flag": ["y", "n"]}, clip=True).exog[:, 1], [1, 0])
    with pytest.raises(SpecificationError, match="row 0: my flag must be one of the codes y and n$"):
        design.new_rows({"my flag": "z"}, clip=True)
    with pytest.raises(SpecificationError, match="codes y and n; it is 'y' in another spelling$"):
        design.new_rows({"my flag": " Y."}, clip=True)


def test_linear_hypotheses_use_the_names_of_columns():
    matrix, constants = linear_constraint("temp = 0.5, maker[T.WDC] = maker[T.other]", DESIGN.names)
    np.testing.assert_array_equal(matrix, [[0, 0, 0, 1], [0, 1, -1, 0]])
    np.testing.assert_array_equal(constants, [0.5, 0])
    matrix, _ = linear_constraint("Log(scale) = 0", (*DESIGN.names, "Log(scale)"))
    np.testing.assert_array_equal(matrix, [[0, 0, 0, 0, 1]])
    for text in ("tempo = 0", "temp = ", "temp * temp", 7):
        with pytest.raises(SpecificationError, match="the coefficients are Intercept, maker"):
            linear_constraint(text, DESIGN.names)
    with pytest.raises(
        SpecificationError, match=r"'makerWDC' is no coefficient, did you mean 'maker\[T.WDC\]'"
    ):
        linear_constraint("temp = 0, makerWDC = 1", DESIGN.names)
    with pytest.raises(SpecificationError, match=r"'maker' has 2 coefficients, which fit.wald_test_terms"):
        linear_constraint("maker = 0", DESIGN.names)
    with pytest.raises(SpecificationError, match=r"'load' is no .*, and enters as 'I\(load / 100\)'"):
        linear_constraint("2 * load = 1", ("Intercept", "I(load / 100)"))
    with pytest.raises(SpecificationError, match="write it like 'temp = 0', with one = and names"):
        linear_constraint("temp == 0", DESIGN.names)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("I(x/100) = 0", [1, 0, 0, 0, 0, 0, 0]),
        ("x:z - x = 0", [0, -1, 1, 0, 0, 0, 0]),
        ("x : z = I( x / 100 )", [-1, 0, 1, 0, 0, 0, 0]),
        ("g[T.a b] = g[T.ab]", [0, 0, 0, 1, -1, 0, 0]),  # both names, as they are
        ('Q( "x y" ) = 0', [0, 0, 0, 0, 0, 1, 0]),
        ("g[T.a \"b\" c] = Q('x y')", [0, 0, 0, 0, 0, -1, 1]),
    ],
)
def test_the_spaces_and_quotes_of_a_name_do_not_count_in_a_hypothesis(text: str, row: list[float]) -> None:
    names = ("I(x / 100)", "x", "x:z", "g[T.a b]", "g[T.ab]", "Q('x y')", 'g[T.a "b" c]')
    np.testing.assert_array_equal(linear_constraint(text, names)[0], [row])


def test_the_levels_of_a_category_are_public_rows_of_its_columns():
    rows = [[np.nan, *level, np.nan] for level in ([0, 0], [1, 0], [0, 1])]
    np.testing.assert_array_equal(DESIGN.levels, rows)
    for formula in ("Surv(time, failed) ~ temp", "Surv(time, failed) ~ Q('my flag')"):
        assert build_design(formula, DRIVES).levels.shape[0] == 0


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("y ~ x + a + f", "a:1,2,3 f:0,1"),
        ("y ~ 0 + a + f + b", "a:1,2,3 b:5,6 f:1"),  # without an intercept nothing is 1 at a first level
        ("y ~ C(a, Sum) + a:x", "a:1,2,3"),
        ("y ~ a*f + x:f", "a:1,2,3 f:0,1 af:10,11,20,21,30,31"),
        ("y ~ a + a:f", "a:1,2,3 af:10,11,20,21,30,31"),
        ("y ~ x", ""),
    ],
)
def test_sides_are_1_at_a_level_or_in_a_cell_and_0_in_all_others(formula, told):
    schema = Schema(
        y=bounded(0, 1), a=levels("1", "2", "3"), b=levels("4", "5", "6"), f=flag(), x=bounded(0, 1)
    )
    cells = [(a, b, f) for a in "123" for b in "456" for f in (0, 1)]
    data = dict(zip("abf", map(list, zip(*cells, strict=True)), strict=True), x=[0.3] * len(cells))
    design = build_design(formula, schema)
    rows = design.new_rows(data, clip=True).exog
    for part, (variables, names) in zip(design.sides, (one.split(":") for one in told.split()), strict=True):
        of_rows = ["".join(map(str, cell)) for cell in zip(*(data[one] for one in variables), strict=True)]
        expected = [[cell == name for name in names.split(",")] for cell in of_rows]
        np.testing.assert_allclose(rows @ part.T, expected, atol=1e-12)


def test_rows_of_several_categories_leave_the_columns_of_the_others_open():
    schema = Schema(y=bounded(0, 1), a=levels("1", "2", "3"), b=levels("4", "5", "6"), x=bounded(0, 1))
    found = build_design("y ~ x + a + b + a:x", schema)
    assert found.levels.shape == (6, len(found.names))
    for name, rows in (("a", found.levels[:3]), ("b", found.levels[3:])):
        own = [column.startswith(f"{name}[") and ":" not in column for column in found.names]
        np.testing.assert_array_equal(~np.isnan(rows), np.tile(own, (3, 1)))
        np.testing.assert_array_equal(rows[:, own], [[0, 0], [1, 0], [0, 1]])


def test_what_is_no_finite_number_switches_a_row_off():
    """An infinite cell is missing, not as large as the bound."""
    cells = [20.0, np.inf, -np.inf, np.nan, 1e300]
    data = {"time": [5.0] * 5, "failed": [1] * 5, "temp": cells, "maker": ["HGST"] * 5}
    (block,) = open_rows(data, DRIVES, DESIGN.variables).blocks()
    read = DESIGN.read(block)
    assert read.ok.tolist() == [True, False, False, False, True]
    assert read.exog[:, -1].tolist() == [20, 0, 0, 0, 50]

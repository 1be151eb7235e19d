"""Each function of the table: intervals against arrays, and values against patsy or a closed form."""

import math

import numpy as np
import pandas as pd
import patsy
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import interpolate

from dpstats.errors import FormulaError
from dpstats.formula import build_design
from dpstats.formula.expressions import (
    ACCELERATIONS,
    BOLTZMANN,
    COMPARISONS,
    FUNCTIONS,
    MAXIMUM,
    MINIMUM,
    OPERATORS,
    Function,
    Unbounded,
    power,
)
from dpstats.rows import open_rows
from dpstats.schema import Schema, bounded
from tests.formula.strategies import SCHEMA, inside

POWERS = [power(exponent) for exponent in (0, 1, 2, 3, -1, -2, 0.5, 1.5, -0.5)]
TABLE: list[tuple[Function, int]] = (
    [(function, 1) for function in (*FUNCTIONS.values(), *ACCELERATIONS.values(), *POWERS)]
    + [(function, 1 if kind.__name__ in ("USub", "UAdd") else 2) for kind, function in OPERATORS.items()]
    + [(function, 2) for function in (*COMPARISONS.values(), MINIMUM, MAXIMUM)]
)
LOG = math.log(0.1)
ENDS = st.floats(-20, 20) | st.integers(-7, 7).map(float)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.tuples(ENDS, ENDS), min_size=2, max_size=2))
@pytest.mark.parametrize("function, arity", TABLE, ids=[function.name for function, _ in TABLE])
def test_an_interval_covers_the_function(function, arity, ends):
    boxes = [(np.array([min(pair)]), np.array([max(pair)])) for pair in ends[:arity]]
    points = np.meshgrid(*(np.linspace(low[0], high[0], 33) for low, high in boxes))
    with np.errstate(all="ignore"):
        try:
            lower, upper = function.interval(*boxes)
        except Unbounded:
            assume(False)
        values = function.array(*points)
        assume(np.isfinite(lower[0]) and np.isfinite(upper[0]))
    slack = 1e-12 * max(1, abs(lower[0]), abs(upper[0]))
    assert np.all(values >= lower[0] - slack) and np.all(values <= upper[0] + slack)


@pytest.mark.parametrize("ends", [(0.1, 0.5), (0.5, 3.0), (2.0, 9.0), (-9.0, -2.0)])
@pytest.mark.parametrize("function, arity", TABLE, ids=[function.name for function, _ in TABLE])
def test_only_a_function_without_values_is_refused(function, arity, ends):
    """Whose values there are is bounded, where 0 is between no ends."""
    with np.errstate(all="ignore"):
        values = function.array(*np.meshgrid(*[np.linspace(*ends, 33)] * arity))
        if np.isfinite(values).all():
            lower, upper = function.interval(*[tuple(np.array([end]) for end in ends)] * arity)
            assert np.isfinite([lower, upper]).all()


@pytest.mark.parametrize(
    "term, variable, truth, excess",
    [
        ("I(v - v ** 2)", bounded(-1, 1), (-2, 0.25), 0.01),
        ("I(v - v ** 2 / 100)", bounded(0, 100), (0, 25), 0.2),
        ("I(np.log(v) - np.log(v) ** 2 / 9)", bounded(0.1, 1000), (LOG - LOG**2 / 9, 2.25), 0.03),
        ("I(11605 / (273.15 + v))", bounded(0, 100), (11605 / 373.15, 11605 / 273.15), 1e-9),
        ("arrhenius(v)", bounded(25, 125), (1 / BOLTZMANN / 398.15, 1 / BOLTZMANN / 298.15), 1e-9),
        ("power(v)", bounded(1, math.e), (0, 1), 1e-9),
        ("inverse_power(v)", bounded(1, math.e), (-1, 0), 1e-9),
        ("np.sin(v)", bounded(0, 1), (0, math.sin(1)), 1e-9),
        ("np.cos(v)", bounded(-1, 7), (-1, 1), 1e-9),
        ("center(v, 'middle')", bounded(10, 30), (-10, 10), 1e-9),
        ("scale(v, center=10, scale=5)", bounded(0, 30), (-2, 4), 1e-9),
        ("clip(v, 2, 8)", bounded(0, 30), (2, 8), 1e-9),
    ],
)
def test_bounds_are_tight(term, variable, truth, excess):
    """Sub-boxes shrink the overestimate (docs/theory/rows.md#bounds-of-expressions)."""
    design = build_design(f"y ~ {term}", Schema(y=bounded(0, 1), v=variable))
    lower, upper = design.bounds[1]
    assert truth[0] - excess <= lower <= truth[0] + 1e-12 and truth[1] - 1e-12 <= upper <= truth[1] + excess


def test_the_radius_multiplies_norms_of_factors():
    """A block of dummies counts 1, a spline block 1, their product with a number its largest size."""
    radius = {
        right: build_design(f"y ~ {right}", SCHEMA).radius
        for right in ("g", "z:g - 1", "bs(z, df=7) + 0", "C(g, Sum)", "x * h")
    }
    assert radius["g"] == pytest.approx(math.sqrt(2))
    assert radius["z:g - 1"] == pytest.approx(100)
    assert radius["bs(z, df=7) + 0"] == pytest.approx(1)
    assert radius["C(g, Sum)"] == pytest.approx(math.sqrt(3))
    assert radius["x * h"] == pytest.approx(2)


def _exog(right):
    frame = inside(50, 5)
    block = next(open_rows(frame, SCHEMA, list(SCHEMA)).blocks())
    design = build_design(f"y ~ {right} - 1", SCHEMA)
    return frame, design, design.read(block).exog


def test_transforms_with_public_numbers():
    frame, _, ours = _exog("center(z, 50) + standardize(z, 40, 20) + clip(z, 10, 20) + I(2 * (z > 50))")
    z = frame["z"].to_numpy()
    expected = np.column_stack((z - 50, (z - 40) / 20, np.clip(z, 10, 20), 2.0 * (z > 50)))
    np.testing.assert_allclose(ours, expected, rtol=1e-13)


def test_cut_makes_named_levels_closed_on_the_left():
    frame, design, ours = _exog("cut(z, [30, 60.5])")
    z = frame["z"].to_numpy()
    levels = "[0, 30)", "[30, 60.5)", "[60.5, 100]"
    assert design.names == tuple(f"cut(z, [30, 60.5])[{level}]" for level in levels)
    np.testing.assert_array_equal(ours, np.column_stack((z < 30, (z >= 30) & (z < 60.5), z >= 60.5)))


@pytest.mark.parametrize("more", ["", ", levels=['(60, 100]', '(30, 60]', '[0, 30]']"])
def test_cut_closed_on_the_right_has_the_classes_of_pandas(more):
    z = np.array([0.0, 29, 30, 31, 60, 61, 100])
    design = build_design(f"y ~ C(cut(z, [30, 60], right=True){more}) - 1", SCHEMA)
    levels = ["[0, 30]", "(30, 60]", "(60, 100]"]
    codes = pd.cut(z, [-1, 30, 60, 100], labels=levels)
    rows = design.read({"z": z, "y": z}).exog
    for name, column in zip(design.names, rows.T, strict=True):
        np.testing.assert_array_equal(column, codes == next(level for level in levels if level in name[-11:]))


@pytest.mark.parametrize("df, degree, intercept", [(3, 3, False), (6, 3, False), (5, 2, True), (4, 1, False)])
def test_df_spaces_the_knots_of_a_spline_equally_in_the_public_range(df, degree, intercept):
    frame, design, ours = _exog(f"bs(z, df={df}, degree={degree}, include_intercept={intercept})")
    inner = np.linspace(0, 100, df - degree - intercept + 2)[1:-1]
    theirs = patsy.bs(
        frame["z"].to_numpy(),
        knots=inner,
        degree=degree,
        include_intercept=intercept,
        lower_bound=0,
        upper_bound=100,
    )
    assert len(design.names) == df
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_a_spline_moves_points_to_its_own_boundary_knots():
    _, _, narrow = _exog("bs(z, df=4, lower_bound=20, upper_bound=80)")
    _, _, clipped = _exog("bs(clip(z, 20, 80), df=4)")
    np.testing.assert_allclose(narrow, clipped, atol=1e-14)


@pytest.mark.parametrize(("df", "intercept"), [(2, False), (4, False), (5, True), (9, False)])
def test_natural_splines_are_those_of_patsy_and_straight_at_the_ends(df, intercept):
    """The same functions as patsy's cr() with the same knots, in another basis: that of R's ns()."""
    frame, design, ours = _exog(f"ns(z, df={df}, include_intercept={intercept})")
    inner = np.linspace(0, 100, df - intercept + 1)[1:-1]
    theirs = patsy.cr(frame["z"].to_numpy(), knots=inner, lower_bound=0, upper_bound=100)
    assert len(design.names) == df
    whole = ours if intercept else np.column_stack([np.ones(len(ours)), ours])
    found = theirs @ np.linalg.lstsq(theirs, whole, rcond=None)[0]
    np.testing.assert_allclose(found, whole, atol=1e-9)
    assert np.linalg.matrix_rank(whole) == df + (not intercept)
    near = [
        design.new_rows({"z": end + step * np.arange(3)}, clip=True).exog
        for end, step in ((0, 1e-2), (100, -1e-2))
    ]
    bends = [np.abs(np.diff(rows, 2, axis=0)).max() for rows in near]
    assert max(bends) < 1e-8, "a spline with knots 10 apart bends by 1e-6 over such steps"


def test_natural_splines_are_made_as_r_makes_them():
    """As in the source of splines::ns, rewritten with scipy: what qr.qty of the second derivatives leaves."""
    knots = np.array([0.0] * 4 + [30, 60] + [100.0] * 4)
    splines = [interpolate.BSpline(knots, each, 3) for each in np.eye(6)]
    at = np.array([0, 20, 50, 80, 100.0])
    basis = np.column_stack([each(at) for each in splines])[:, 1:]
    const = np.array([[each.derivative(2)(end) for each in splines] for end in (0.0, 100.0)])[:, 1:]
    wanted = (basis @ np.linalg.qr(const.T, mode="complete")[0])[:, 2:]
    design = build_design("y ~ ns(z, knots=[30, 60]) - 1", SCHEMA)
    np.testing.assert_allclose(design.new_rows({"z": at}, clip=True).exog, wanted, atol=1e-12)


def test_polynomials_are_orthogonal_over_the_public_range():
    frame, design, ours = _exog("poly(z, 4)")
    t = frame["z"].to_numpy() / 50 - 1
    expected = [t, (3 * t**2 - 1) / 2, (5 * t**3 - 3 * t) / 2, (35 * t**4 - 30 * t**2 + 3) / 8]
    np.testing.assert_allclose(ours, np.column_stack(expected), atol=1e-12)
    assert design.radius == pytest.approx(2)
    np.testing.assert_array_equal(design.bounds, [[-1, 1]] * 4)
    grid = design.new_rows({"z": (np.arange(4000) + 0.5) / 40}, clip=True).exog
    np.testing.assert_allclose(grid.T @ grid / 4000, np.diag(1 / (2 * np.arange(1, 5) + 1)), atol=1e-6)


def test_one_category_coded_in_another_order_is_the_same_category():
    _, first, by_schema = _exog("g")
    _, second, by_formula = _exog("C(g, levels=['c', 'a', 'b'])")
    np.testing.assert_array_equal(by_schema[:, [2, 0, 1]], by_formula)
    with pytest.raises(FormulaError, match="levels="):
        build_design("y ~ C(C(g, levels=['c', 'a', 'b']), levels=['a', 'b', 'c'])", SCHEMA)


def test_stress_has_bounds_where_it_has_a_meaning():
    """The Arrhenius term of 25 C is 38.92 per eV; numpy's power is another function."""
    assert 1 / (BOLTZMANN * 298.15) == pytest.approx(38.9217, abs=1e-4)
    cold, zero = Schema(y=bounded(0, 1), v=bounded(-300, 20)), Schema(y=bounded(0, 1), v=bounded(0, 20))
    with pytest.raises(FormulaError, match="arrhenius needs degrees Celsius above -273.15"):
        build_design("y ~ arrhenius(v)", cold)
    kelvins = Schema(y=bounded(0, 1), v=bounded(300, 420, unit="K"))
    with pytest.raises(FormulaError, match=r"v is declared in K; write arrhenius\(v - 273.15\)"):
        build_design("y ~ arrhenius(v)", kelvins)
    build_design("y ~ arrhenius(v - 273.15)", kelvins)
    celsius = Schema(y=bounded(0, 1), v=bounded(25, 125, unit="C"))
    for text in ("v + 273.15", "273 + v", "v + 273.16"):
        with pytest.raises(FormulaError, match=r"adds 273.15 itself; write arrhenius\(v\)"):
            build_design(f"y ~ arrhenius({text})", celsius)
    build_design("y ~ arrhenius(v + 2)", celsius)
    for unit in ("F", "°F", "degF", "deg. F", "Fahrenheit", "degrees Fahrenheit"):
        other = Schema(y=bounded(0, 1), v=bounded(0, 140, unit=unit))
        with pytest.raises(FormulaError, match=r"write arrhenius\(\(v - 32\) / 1.8\)"):
            build_design("y ~ arrhenius(v)", other)
    build_design("y ~ arrhenius((v - 32) / 1.8)", other)
    for unit in ("C", "°C", "degrees Celsius", "centigrade"):
        build_design("y ~ arrhenius(v)", Schema(y=bounded(0, 1), v=bounded(0, 140, unit=unit)))
    for name in ("power", "inverse_power"):
        with pytest.raises(FormulaError, match=f"{name} needs values > 0"):
            build_design(f"y ~ {name}(v)", zero)
    with pytest.raises(FormulaError):
        build_design("y ~ np.power(v, 2)", zero)


@pytest.mark.parametrize(("term", "what"), [("ns(v, df=0)", "df"), ("bs(v, df=5, degree=-1)", "degree")])
def test_a_wrong_count_is_named(term, what):
    with pytest.raises(FormulaError, match=f"{what} must be a whole number of at least"):
        build_design(f"y ~ {term}", Schema(y=bounded(0, 1), v=bounded(0, 1)))


@pytest.mark.parametrize(("others", "pieces"), [("x", 1024), ("z", 64), ("z * w", 16), ("z * w * v", 8)])
def test_a_variable_that_occurs_twice_is_bounded_by_pieces(others, pieces):
    """Of a difference that is never below 0: by one piece it could be -1."""
    schema = Schema({name: bounded(0, 1) for name in "xzwvy"})
    design = build_design(f"y ~ I(x - x * {others})", schema)
    assert design.bounds[1, 0] == pytest.approx(-1 / pieces, rel=1e-9)

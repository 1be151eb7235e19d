"""What is public of products of two columns holds in every row."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.formula.design import build_design
from dpstats.formula.layout import NEVER

SCHEMA = dps.Schema(
    y=dps.bounded(0, 1), x=dps.bounded(-2, 2), f=dps.flag(), g=dps.levels(*"abcd"), h=dps.levels(*"uvw")
)
# and how many numbers their second moments are
FORMULAS = {
    "y ~ g": 4,
    "y ~ g - 1": 4,
    "y ~ f": 2,
    "y ~ x": 3,
    "y ~ C(g, Sum)": 10,
    "y ~ g + h": 4 + 2 + 3 * 2,
    "y ~ g*h": 12,
    "y ~ g + f + x": 4 + 1 + 3 + 6,
    "y ~ g*x + f": 4 + 1 + 3 + 4 * 5 + 10,
    "y ~ C(g, Treatment('c')):f + h + I(x**2)": None,
}


@pytest.mark.parametrize("formula", FORMULAS)
def test_products_that_are_alike_are_the_same_in_every_row(formula: str) -> None:
    rng, n = np.random.default_rng(len(formula)), 500
    data = dict(
        x=rng.uniform(-2, 2, n),
        f=rng.integers(0, 2, n),
        g=rng.choice([*"abcd"], n),
        h=rng.choice([*"uvw"], n),
    )
    design = build_design(formula, SCHEMA)
    rows, found = design.new_rows(data, clip=True).exog, design.alike
    products = rows[:, :, None] * rows[:, None, :]
    assert (found == found.T).all() and found.min() >= NEVER
    assert not products[:, found == NEVER].any()
    numbers = np.unique(found[found != NEVER])
    assert list(numbers) == list(range(len(numbers)))
    for number in numbers:
        same = products[:, found == number]
        assert (same == same[:, :1]).all()
    if FORMULAS[formula] is not None:  # none that are the same are missed
        assert len(numbers) == FORMULAS[formula]


@pytest.mark.parametrize("formula", [*FORMULAS, "y ~ g:x + h*f*x", "y ~ g:h + g - 1"])
def test_a_column_is_0_without_the_level_it_is_within(formula: str) -> None:
    rng, n = np.random.default_rng(1), 400
    data = dict(
        x=rng.uniform(1, 2, n),
        f=rng.integers(0, 2, n),
        g=rng.choice([*"abcd"], n),
        h=rng.choice([*"uvw"], n),
    )
    design = build_design(formula, SCHEMA)
    rows, homes = design.new_rows(data, clip=True).exog, design.within
    assert (homes[design.binary & (rows.min(axis=0) == 0)] >= 0).all()
    for column, home in enumerate(homes):
        if home >= 0:
            assert set(rows[:, home]) == {0.0, 1.0}
            assert not rows[rows[:, home] == 0, column].any() and rows[rows[:, home] == 1, column].any()
        else:
            assert (rows[:, column] != 0).all() or not design.binary[column]
    if formula == "y ~ g*x + f":
        assert (homes >= 0).sum() == 3 + 3 + 1


def test_what_is_not_seen_shows_in_columns_of_its_variables_and_not_beside_levels() -> None:
    """A lost square takes its number and the intercept along; a product with a flag takes that alone."""
    design = build_design("y ~ x*f + I(x**2) + z + x:z + g", dps.Schema(z=dps.bounded(0, 9), **SCHEMA))
    partners, names = design.partners, list(design.names)
    shows = {name: {names[i] for i in np.flatnonzero(partners[:, j])} for j, name in enumerate(names)}
    assert shows["I(x ** 2)"] == {"Intercept", "x", "x:f", "x:z"}
    assert shows["x:z"] == {"Intercept", "x", "x:f", "I(x ** 2)", "z"}
    assert shows["z"] == {"Intercept", "x:z"} and shows["x:f"] == {"f"}
    assert not any(shows[name] for name in ("Intercept", "f", "g[T.b]"))


@pytest.mark.parametrize(
    ("right", "lost", "overlooked"),
    [
        ("x + z + I(z**2)", "z I(z**2)", True),
        ("x + z + I(z**2)", "I(z**2)", False),
        ("x + z*f", "f z:f", False),
        ("x*g", "x:g[T.b]", False),
        ("x + f + g", "f g[T.b]", False),
        ("f + g", "f", False),
        ("x + I(z > 3)", "I(z>3)[T.True]", False),
        ("x + z + I(z > 3)", "z", True),
        ("x + bs(z, df=3)", "bs(z,df=3)[0] bs(z,df=3)[1]", False),
        ("x + bs(z, df=3)", "bs(z,df=3)[0] bs(z,df=3)[1] bs(z,df=3)[2]", True),
    ],
)
def test_a_number_is_overlooked_where_all_its_columns_are_lost(
    right: str, lost: str, overlooked: bool
) -> None:
    design = build_design(f"y ~ {right}", dps.Schema(z=dps.bounded(0, 9), **SCHEMA))
    which = np.array([name.replace(" ", "") in lost.split() for name in design.names])
    assert which.sum() == len(lost.split()) and design.overlooks(which) == overlooked
    assert not design.overlooks(np.zeros(len(which), dtype=bool))


def test_columns_of_splines_are_told_from_products_with_them() -> None:
    design = build_design("y ~ x + bs(x, df=4) + f:ns(x, df=2)", SCHEMA)
    assert [name for name, own in zip(design.names, design.splines, strict=True) if own] == [
        f"bs(x, df=4)[{j}]" for j in range(4)
    ]


def test_heights_are_rows_of_each_spline_at_even_places_of_its_number() -> None:
    schema, splines = dps.Schema(z=dps.bounded(0, 9), **SCHEMA), {"x": "bs(x, df=4)", "z": "ns(z, df=2)"}
    design = build_design(f"y ~ {splines['x']} + f:ns(x, df=2) + {splines['z']}", schema)
    held = ~np.isnan(design.heights)
    for name, formula in splines.items():
        own = np.array([column.startswith(f"{formula}[") for column in design.names])
        rows = design.heights[held[:, own].all(axis=1)]
        at = np.linspace(schema[name].lower, schema[name].upper, len(rows))
        alone = build_design(f"y ~ {formula}", schema).new_rows({name: at}, clip=False).exog
        np.testing.assert_allclose(rows[:, own], alone[:, 1:], atol=1e-12)
        assert len(rows) > own.sum() and np.isnan(rows[:, ~own]).all()

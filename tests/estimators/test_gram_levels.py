"""Second moments of levels: what is public of them, and what is expected of them."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.estimators.gram.coordinates import Coordinates
from dpstats.estimators.known.level_shares import of_references, with_shares
from dpstats.estimators.known.structure import Structure
from dpstats.estimators.row_scale import Box, RowScale
from dpstats.formula.design import Design, build_design

Array = np.ndarray
LEVELS = 8


def design() -> Design:
    schema = dps.Schema(y=dps.bounded(0, 1), x=dps.bounded(-3, 3), g=dps.levels(*"abcdefgh"))
    return build_design("y ~ g + x", schema)


def moments(shares: Array, seed: int = 1) -> Array:
    """Of rows (1, level, x)."""
    rng = np.random.default_rng(seed)
    n = 4000
    codes = rng.choice(LEVELS, n, p=shares)
    rows = np.column_stack(
        [np.ones(n), *(codes == level for level in range(1, LEVELS)), rng.normal(size=n) + 0.1 * codes]
    )
    return rows.T @ rows / n


def scale_of(one: Design) -> RowScale:
    """Standardised columns as they are, for all that a release could tell."""
    k = len(one.alike)
    unit, zero = np.ones(k - 1), np.zeros(k - 1)
    box = Box(*one.bounds[1:].T, binary=one.binary[1:], levels=one.levels[:, 1:], alike=one.alike)
    return RowScale(
        zero,
        unit,
        0.0,
        1.0,
        False,
        1.0,
        0.0,
        box.binary,
        box.lower,
        box.upper,
        unit,
        zero,
        np.zeros((k - 1, 0)),
        np.zeros((k - 1, 0)),
        levels=box.levels,
        alike=box.alike,
        times_levels=one.times_levels,
    )


def noise_like(rng: np.random.Generator, k: int, sd: float) -> Array:
    drawn = rng.normal(size=(k, k)) * sd
    return (drawn + drawn.T) / 2


def test_the_nearest_moments_obey_and_have_less_noise() -> None:
    alike, rng = design().alike, np.random.default_rng(3)
    structure, exact = Structure(alike), moments(np.full(LEVELS, 1 / LEVELS))
    k = len(alike)
    way = np.linalg.cholesky(np.linalg.inv(exact)).T + 0.1 * rng.normal(size=(k, k))
    whole = way @ exact @ way.T
    assert structure.nearest(whole, way) == pytest.approx(whole, rel=1e-12, abs=1e-12)
    before, after = [], []
    for _ in range(20):
        noisy = whole + noise_like(rng, k, 0.1)
        found = structure.nearest(noisy, way)
        inside = np.linalg.solve(way, np.linalg.solve(way, found).T)
        assert inside[alike < 0] == pytest.approx(0, abs=1e-9)
        assert inside[0, 1:LEVELS] == pytest.approx(np.diag(inside)[1:LEVELS], rel=1e-6)
        assert structure.nearest(found, way) == pytest.approx(found, abs=1e-6)
        assert np.sum((noisy - found) * (found - whole)) == pytest.approx(0, abs=1e-5)  # a projection
        before.append(np.sum((noisy - whole) ** 2))
        after.append(np.sum((found - whole) ** 2))
    # of 45 numbers 18 are left: 8 shares, and those of x with 9 columns and with itself
    assert np.mean(after) / np.mean(before) == pytest.approx(structure.numbers / 45, rel=0.25)


def test_released_moments_lose_the_noise_that_breaks_what_is_public() -> None:
    exact, rng, shares = moments(np.full(LEVELS, 1 / LEVELS)), np.random.default_rng(4), []
    one, way = np.eye(len(exact)), np.linalg.cholesky(np.linalg.inv(exact)).T
    place, whole = Coordinates(scale_of(design()), way, one[0], 1.0, one, one), way @ exact @ way.T
    assert place.obeying(whole) == pytest.approx(whole, rel=1e-9, abs=1e-9)
    for _ in range(20):
        noisy = whole + noise_like(rng, len(whole), 0.1)
        shares.append(np.sum((place.obeying(noisy) - whole) ** 2) / np.sum((noisy - whole) ** 2))
    assert place.numbers == 17  # of 45
    assert np.mean(shares) == pytest.approx(17 / 45, rel=0.25)


@pytest.mark.parametrize("first", [0.02, 0.6])
def test_shares_of_levels_are_those_that_a_release_tells(first: float) -> None:
    """Though a reference level has no column, and was taken to hold as many rows as any other."""
    even, shares = np.full(LEVELS, 1 / LEVELS), np.full(LEVELS, (1 - first) / (LEVELS - 1))
    shares[0] = first
    one = design()
    expected, exact, k = moments(even), moments(shares, 2), len(one.alike)
    scale = scale_of(one)
    found = with_shares(expected * 3, exact, 1e-4, scale, np.eye(k))
    reference = np.append(1.0, -np.append(np.ones(LEVELS - 1), 0.0))
    told, wanted = (float(reference @ part @ reference) / float(np.trace(part)) for part in (found, exact))
    assert told == pytest.approx(wanted, rel=0.1)
    blurred = with_shares(expected, exact, 10.0, scale, np.eye(k))  # where noise hides all, nothing moves
    assert blurred / np.trace(blurred) == pytest.approx(expected / np.trace(expected), abs=1e-9)
    # nor does anything break where a release left nothing to expect
    for nothing in (np.zeros((k, k)), -exact):
        assert np.isfinite(with_shares(np.zeros((k, k)), nothing, 1.0, scale, np.eye(k))).all()


@pytest.mark.parametrize("formula", ["y ~ g", "y ~ g + h", "y ~ g + h + x"])
def test_a_level_without_a_column_widens_the_prior_beside_other_columns_too(formula: str) -> None:
    """It did so in models of one category alone: nan, for columns of others, was taken for a value."""
    two = {"g": dps.levels(*"abcd"), "h": dps.levels(*"uvw")}
    schema = dps.Schema(y=dps.bounded(0, 1), x=dps.bounded(-3, 3), **two)
    one = build_design(formula, schema)
    added = of_references(scale_of(one), np.eye(len(one.alike)))
    parts = [added[1:4, 1:4], added[4:6, 4:6]][: 1 + ("h" in formula)]
    assert all((part > 0).all() for part in parts)
    assert added.sum() == pytest.approx(
        sum(part.sum() for part in parts)
    )  # no other column, no other category


def test_a_slope_at_a_level_without_a_column_is_as_free_as_at_another() -> None:
    """Slopes at the reference were drawn to those at others, which all its products have to undo together."""
    schema = dps.Schema(y=dps.bounded(0, 1), x=dps.bounded(-3, 3), z=dps.bounded(0, 1), g=dps.levels(*"abcd"))
    one = build_design("y ~ g * x + z", schema)
    names, even = list(one.names), np.eye(len(one.alike))
    added = of_references(scale_of(one), even)
    x, products = names.index("x"), [names.index(f"g[T.{level}]:x") for level in "bcd"]
    apart = np.zeros(len(names))
    apart[[x, *products]] = 1, -1, -1, -1
    levels = added[np.ix_([1, 2, 3], [1, 2, 3])]
    assert (levels > 0).all() and not added[names.index("z")].any()
    assert added[np.ix_([x, *products], [x, *products])] == pytest.approx(
        levels[0, 0] * np.outer(apart, apart)[np.ix_([x, *products], [x, *products])]
    )
    assert not added[np.ix_([1, 2, 3], [x, *products])].any()


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        ("y ~ g + x", [["Intercept", "g[T.b]", "g[T.c]"]]),
        ("y ~ f * x", []),  # two levels
        ("y ~ x:g", []),  # no level stands alone
        (
            "y ~ g * f + g:x + x",
            [
                ["Intercept", "g[T.b]", "g[T.c]"],
                ["f", "g[T.b]:f", "g[T.c]:f"],
                ["x", "g[T.b]:x", "g[T.c]:x"],
            ],
        ),
    ],
)
def test_columns_that_have_products_with_all_levels(formula: str, found: list[list[str]]) -> None:
    schema = dps.Schema(y=dps.bounded(0, 1), x=dps.bounded(-3, 3), f=dps.flag(), g=dps.levels(*"abc"))
    one = build_design(formula, schema)
    told = [[one.names[j] for j in row] for each in one.times_levels for row in each]
    assert sorted(told) == sorted(found)

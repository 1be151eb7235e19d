"""Counts by cells, and moments of columns with missing values, against numpy."""

from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator.statistics.cells import CellCounts, PresentMoments, PresentProducts
from dpstats.formula.variables import VariableColumns
from dpstats.rows import open_rows
from dpstats.testing import NoNoise
from tests.made import under

SCHEMA = dps.Schema(x=dps.bounded(-2, 2), g=dps.levels("a", "b"), z=dps.bounded(0, 1), k=dps.count(5))
DESIGN = VariableColumns(SCHEMA, tuple(SCHEMA))
N = 3000
CHOSEN, ALL = np.array([True, False, True, False]), np.ones(4, dtype=bool)
BOX: dict[str, Any] = dict(chosen=CHOSEN, center=np.array([0.3, 0.5]), scale=np.array([0.8, 0.25]))


def made() -> dict[str, Any]:
    draw = np.random.default_rng(2)
    x, z = draw.normal(size=N), draw.uniform(size=N)
    x[draw.uniform(size=N) < 0.2] = np.nan
    z[draw.uniform(size=N) < 0.1] = np.inf
    return {"x": x, "g": draw.choice(["a", "b", "Z"], N), "z": z, "k": draw.poisson(2, N)}


def released(name: str, data: dict[str, Any], schema: dps.Schema = SCHEMA, **public: Any) -> tuple[Any, ...]:
    design = VariableColumns(schema, tuple(SCHEMA))
    curator = under(NoNoise(), open_rows(data, schema, design.names), design, dps.gdp(2.0))
    return curator.release(name, 1.0, **public).values


def values(data: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Both numbers within their bounds, NaN where there is none."""
    return np.clip(data["x"], -2, 2), np.where(np.isfinite(data["z"]), data["z"], np.nan)


def test_each_row_counts_once_in_every_column_and_missing_values_in_the_last_cell() -> None:
    data, edges = made(), [np.array([-1.0, 0.0, 0.5]), np.array([0.5]), np.zeros(0), np.array([1.5, 2.5])]
    found = released("cell_counts", data, chosen=ALL, edges=edges)
    x, z = values(data)
    counts = np.histogram(x[~np.isnan(x)], [-np.inf, -1, 0, 0.5, np.inf])[0]
    np.testing.assert_array_equal(found[0], [*counts, np.isnan(x).sum()])
    np.testing.assert_array_equal(found[1], [(data["g"] == level).sum() for level in ("a", "b", "Z")])
    np.testing.assert_array_equal(found[2], [N - np.isnan(z).sum(), np.isnan(z).sum()])
    k = np.minimum(data["k"], 5)
    np.testing.assert_array_equal(found[3], [(k <= 1).sum(), (k == 2).sum(), (k >= 3).sum(), 0])


def test_a_value_on_an_edge_belongs_to_the_cell_above_it() -> None:
    data = {"x": [0.0, -0.0, 2.0, 5.0], "g": ["a"] * 4, "z": [0.5] * 4, "k": [1] * 4}
    nothing = np.zeros(0)
    edges = [np.array([0.0, 2.0]), nothing, nothing, nothing]
    found = released("cell_counts", data, chosen=ALL, edges=edges)
    np.testing.assert_array_equal(found[0], [0, 2, 2, 0])


def test_columns_that_are_not_chosen_are_not_counted() -> None:
    data, edges = made(), [np.array([-1.0, 0.0]), np.array([0.2])]
    found = released("cell_counts", data, chosen=CHOSEN, edges=edges)
    whole = released("cell_counts", data, chosen=ALL, edges=[edges[0], np.zeros(0), edges[1], np.zeros(0)])
    assert len(found) == 2
    np.testing.assert_array_equal(found[0], whole[0])
    np.testing.assert_array_equal(found[1], whole[2])


def test_moments_are_over_rows_that_have_a_value() -> None:
    data = made()
    sums, squares = released("present_moments", data, **BOX)
    for value, center, scale, first, second in zip(
        values(data), BOX["center"], BOX["scale"], sums, squares, strict=True
    ):
        a = np.clip((value - center) / scale, -1, 1)
        assert first == pytest.approx(np.nansum(a), abs=1e-5)
        assert second == pytest.approx(1.6 * np.nansum(a**2), abs=1e-5)


def test_products_are_over_rows_that_have_both_and_rows_that_lack_both_are_counted() -> None:
    data = made()
    products, missing = released("present_products", data, radius=1.5, limit=1.2, **BOX)
    a = np.clip((np.column_stack(values(data)) - BOX["center"]) / BOX["scale"], -1.2, 1.2)
    lacking = np.isnan(a).astype(float)
    a = np.nan_to_num(a)
    a *= np.minimum(1, 1.5 / np.maximum(np.linalg.norm(a, axis=1), 1e-9))[:, None]
    np.testing.assert_allclose(products, a.T @ a, atol=1e-5)
    np.testing.assert_allclose(missing, lacking.T @ lacking, atol=1e-5)


def test_rows_that_their_unit_leaves_out_count_nowhere() -> None:
    data = made() | {"person": np.arange(N) // 3}
    nothing = [np.zeros(0)] * 4
    found = released("cell_counts", data, SCHEMA.unit("person", max_rows=1), chosen=ALL, edges=nothing)
    assert all(counts.sum() == N / 3 for counts in found)


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (CellCounts, dict(chosen=ALL, edges=[np.zeros(0)] * 3)),
        (CellCounts, dict(chosen=ALL, edges=[np.array([1.0, 0.0]), *[np.zeros(0)] * 3])),
        (CellCounts, dict(chosen=ALL, edges=[np.array([np.nan]), *[np.zeros(0)] * 3])),
        (CellCounts, dict(chosen=~ALL, edges=[])),
        (CellCounts, dict(chosen=ALL[:3], edges=[np.zeros(0)] * 3)),
        (PresentMoments, BOX | dict(chosen=CHOSEN[:3])),
        (PresentMoments, BOX | dict(scale=np.zeros(2))),
        (PresentProducts, BOX | dict(radius=0.0, limit=1.0)),
        (PresentProducts, BOX | dict(radius=1.0, limit=np.inf)),
    ],
)
def test_parameters_that_do_not_fit_are_refused(make: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="hold|be positive"):
        make(DESIGN, **wrong)

"""The releases of a description, one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.description.windows import (
    SURE_AT_LAST,
    Wanted,
    Window,
    box,
    first_edges,
    next_edges,
    reaches,
    rings,
    windows,
)
from dpstats.estimators.engine.plan import Plan
from dpstats.moments.cell_table import CellTable, Noise
from dpstats.moments.described import BoxSums, ColumnSums, Products, in_box

__all__ = ["describe_columns"]

Array = np.ndarray

_LAST = 4  # cells of the window of one quantile, when counts are released for good
_LIMIT = 5.0  # sds that a value may be from its mean in a product
_LONGEST = 2.5  # mean squares of a row of standardised columns that count in full, and two more


@dataclass(frozen=True)
class _Look:
    """What the rounds found of one column: windows of its quantiles, and the box of its moments."""

    window: Window
    box: tuple[float, float]


def describe_columns(
    curator: Curator, plan: Plan, columns: Sequence[Wanted | int], rows: int | None
) -> tuple[tuple[ColumnSums, ...], Products | None]:
    """Release counts of all columns, and moments of those of numbers.

    Parameters
    ----------
    curator : Curator
    plan : Plan
        Of :func:`dpstats.estimators.description.make_plan`.
    columns : sequence of Wanted or int
        Of each column its bounds, or the number of its levels.
    rows : int or None
        Those that weigh, where their number is public.
    """
    chosen = np.array([isinstance(column, Wanted) for column in columns])
    looks = _looks(curator, plan, columns) if chosen.any() else {}
    edges = [
        _last_edges(column, looks[j]) if isinstance(column, Wanted) else np.arange(1, column) - 0.5
        for j, column in enumerate(columns)
    ]
    counts = curator.release("cell_counts", plan["counts"][0], edges=edges)
    noise = Noise(counts.law, sum(map(len, counts.values)), float(counts.sds[0][0]))
    tables = [
        CellTable(_bounds(column), edges[j], counts.values[j], noise, rows, _whole(column))
        for j, column in enumerate(columns)
    ]
    if not chosen.any():
        return tuple(ColumnSums(table, None) for table in tables), None
    boxes = _moments(curator, plan, chosen, [look.box for look in looks.values()])
    sums = {j: boxes[place] for place, j in enumerate(looks)}
    found = tuple(ColumnSums(table, sums.get(j)) for j, table in enumerate(tables))
    return found, _products(curator, plan, chosen, found) if len(boxes) > 1 else None


def _bounds(column: Wanted | int) -> tuple[float, float]:
    return (column.lower, column.upper) if isinstance(column, Wanted) else (0.0, column - 1.0)


def _whole(column: Wanted | int) -> bool:
    return not isinstance(column, Wanted) or column.whole


def _looks(curator: Curator, plan: Plan, columns: Sequence[Wanted | int]) -> dict[int, _Look]:
    """Windows of the quantiles of each column of numbers, round by round."""
    wanted = {j: column for j, column in enumerate(columns) if isinstance(column, Wanted)}
    edges = {j: first_edges(column) for j, column in wanted.items()}
    nothing, costs = np.zeros(0), plan["looks"]
    found: dict[int, Window] = {}
    release: Release | None = None
    for at, cost in enumerate(costs):
        asked = [edges.get(j, nothing) for j in range(len(columns))]
        release = curator.release("cell_counts", cost, edges=asked)
        last = at == len(costs) - 1
        for j, column in wanted.items():
            sure = {"sure": SURE_AT_LAST} if last else {}
            found[j] = windows(column, edges[j], release.values[j][:-1], float(release.sds[j][0]), **sure)
            if not last:
                beyond = np.concatenate(reaches(column, found[j]))
                edges[j] = column.rounded(np.concatenate([next_edges(column, found[j]), beyond]))
    assert release is not None
    noise = _noise_of_means(curator, plan, columns)
    return {
        j: _Look(
            found[j],
            box(column, found[j], edges[j], release.values[j][:-1], float(release.sds[j][0]), noise),
        )
        for j, column in wanted.items()
    }


def _noise_of_means(curator: Curator, plan: Plan, columns: Sequence[Wanted | int]) -> float:
    """sd of the noise of a mean in a box of half-width 1; no row is read."""
    chosen = np.array([isinstance(column, Wanted) for column in columns])
    unit = np.ones(int(chosen.sum()))
    _, sds = curator.noise("present_moments", plan["moments"][0], chosen=chosen, center=unit, scale=unit)
    return float(sds[0][0]) / curator.n


def _last_edges(column: Wanted, look: _Look) -> Array:
    own = next_edges(column, look.window, _LAST)
    return column.rounded(np.concatenate([own, look.box, rings(column, look.box)]))


def _moments(
    curator: Curator, plan: Plan, chosen: Array, boxes: Sequence[tuple[float, float]]
) -> list[BoxSums]:
    ends = np.array(boxes)
    center, half = ends.mean(axis=1), np.maximum((ends[:, 1] - ends[:, 0]) / 2, 1e-90)
    cost = plan["moments"][0]
    release = curator.release("present_moments", cost, chosen=chosen, center=center, scale=half)
    sums, squares = release.values[0], release.values[1] / 1.6
    sds = release.sds[0], release.sds[1] / 1.6
    size = 2 * len(center)
    return [
        BoxSums(
            float(center[i]),
            float(half[i]),
            float(sums[i]),
            float(squares[i]),
            Noise(release.law, size, float(sds[0][i])),
            float(sds[1][i]),
        )
        for i in range(len(center))
    ]


def _products(curator: Curator, plan: Plan, chosen: Array, found: Sequence[ColumnSums]) -> Products:
    numbers = [in_box(column) for column in found if column.sums is not None]
    center = np.array([number.mean for number in numbers])
    scale = np.array([number.scale for number in numbers])
    radius = math.sqrt(_LONGEST * len(numbers) + 2)
    release = curator.release(
        "present_products",
        plan["products"][0],
        chosen=chosen,
        center=center,
        scale=scale,
        radius=radius,
        limit=_LIMIT,
    )
    return Products(release.values[0], release.values[1], release.law, release.sds[0], release.sds[1])

"""The releases of a description, one after the other, and how they share its budget."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.description.windows import (
    EACH,
    SURE_AT_LAST,
    Wanted,
    Window,
    box,
    coarse_places,
    first_edges,
    next_edges,
    reaches,
    rings,
    times_finer,
    windows,
)
from dpstats.estimators.engine.plan import Plan, Stage, alike
from dpstats.moments.cell_table import CellTable, CoarseCounts, Noise
from dpstats.moments.described import LIMIT, SHORTENED, BoxSums, ColumnSums, Products, in_box

ROUNDS = 4  # of which each narrows a window to a thirtieth, or to what its noise can tell
# of the rounds, of counts by cells and between quantiles, of means and squares, and of products
_SHARES = (0.35, 0.12, 0.23, 0.15, 0.15)
LOOKS, FINE, COUNTS, MOMENTS, PRODUCTS = (
    "counts that find the values",
    "counts by fine cells",
    "counts between quantiles, and of levels",
    "means and mean squares",
    "products of two columns",
)


def make_plan(numbers: int, total: float, pure: bool) -> Plan:
    """Shares of a description of so many columns of numbers, beside any others.

    Parameters
    ----------
    numbers : int
    total : float
        Epsilon of a pure budget, else mu.
    pure : bool
    """
    looks, fine, counts, moments, products = _SHARES
    if numbers == 0:
        return Plan(total, pure, {"counts": Stage(1.0, COUNTS)})
    stages = {"looks": Stage(looks, LOOKS, alike(ROUNDS)), "fine": Stage(fine, FINE)}
    if numbers == 1:
        counts = counts + products
    stages |= {"counts": Stage(counts, COUNTS), "moments": Stage(moments, MOMENTS)}
    if numbers > 1:
        stages["products"] = Stage(products, PRODUCTS)
    return Plan(total, pure, stages)


_LAST = 4  # cells of the window of one quantile, when counts are released for good
_LONGEST = 2.5  # mean squares of a row of standardised columns of usual length, and two more
# a correlation of which noise, which grows with the squared length at which rows are shortened, and what is
# off by that, which falls with it, are alike; and the most that it is, in usual ones
_USUAL, _FARTHEST = 0.6, 4.0


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
    wanted = {j: column for j, column in enumerate(columns) if isinstance(column, Wanted)}
    chosen = np.array([j in wanted for j in range(len(columns))])
    fine, boxes = _located(curator, plan, wanted, chosen, rows) if wanted else ({}, {})
    places = {j: coarse_places(fine[j], boxes[j]) for j in wanted}
    edges = [
        np.arange(1, column) - 0.5 if isinstance(column, int) else fine[j].edges[places[j]]
        for j, column in enumerate(columns)
    ]
    counts = curator.release("cell_counts", plan["counts"][0], chosen=np.ones(len(columns)), edges=edges)
    noise = _noise(counts)
    tables = [
        CellTable((0.0, column - 1.0), edges[j], counts.values[j], noise, rows, whole=True)
        if isinstance(column, int)
        else replace(fine[j], coarse=CoarseCounts(places[j], counts.values[j], noise))
        for j, column in enumerate(columns)
    ]
    if not wanted:
        return tuple(ColumnSums(table, None) for table in tables), None
    sums = dict(zip(wanted, _moments(curator, plan, chosen, list(boxes.values())), strict=True))
    found = tuple(ColumnSums(table, sums.get(j)) for j, table in enumerate(tables))
    return found, _products(curator, plan, chosen, found) if len(wanted) > 1 else None


def _noise(counts: Release) -> Noise:
    return Noise(counts.law, sum(map(len, counts.values)), float(counts.sds[0][0]))


def _located(
    curator: Curator, plan: Plan, wanted: Mapping[int, Wanted], chosen: np.ndarray, rows: int | None
) -> tuple[dict[int, CellTable], dict[int, tuple[float, float]]]:
    """Of each column of numbers, counts by the cells of its windows, and the box of its moments."""
    looks = _looks(curator, plan, wanted, chosen)
    edges = {j: _last_edges(column, looks[j]) for j, column in wanted.items()}
    counts = curator.release("cell_counts", plan["fine"][0], chosen=chosen, edges=list(edges.values()))
    # sd of the noise of a mean in a box of half-width 1; no row is read
    unit = np.ones(int(chosen.sum()))
    _, sds = curator.noise("present_moments", plan["moments"][0], chosen=chosen, center=unit, scale=unit)
    law, noise = _noise(counts), float(sds[0][0]) / curator.n
    fine = {
        j: CellTable((column.lower, column.upper), edges[j], raw, law, rows, column.whole)
        for (j, column), raw in zip(wanted.items(), counts.values, strict=True)
    }
    return fine, {j: box(column, looks[j], fine[j], noise) for j, column in wanted.items()}


def _looks(
    curator: Curator, plan: Plan, wanted: Mapping[int, Wanted], chosen: np.ndarray
) -> dict[int, Window]:
    """Windows of the quantiles of each column of numbers, round by round."""
    costs = plan["looks"]
    one = [np.zeros(0)] * len(wanted)
    _, sds = curator.noise("cell_counts", costs[0], chosen=chosen, edges=one)
    finer = times_finer(curator.n, float(sds[0][0]))
    edges = {j: first_edges(column, finer) for j, column in wanted.items()}
    found: dict[int, Window] = {}
    for at, cost in enumerate(costs):
        release = curator.release("cell_counts", cost, chosen=chosen, edges=list(edges.values()))
        last = at == len(costs) - 1
        for (j, column), counts in zip(wanted.items(), release.values, strict=True):
            sure = {"sure": SURE_AT_LAST} if last else {}
            found[j] = windows(column, edges[j], counts[:-1], float(release.sds[0][0]), **sure)
            if not last:
                beyond = np.concatenate(reaches(column, found[j]))
                edges[j] = column.rounded(
                    np.concatenate([next_edges(column, found[j], EACH * finer), beyond])
                )
    return found


def _last_edges(column: Wanted, window: Window) -> np.ndarray:
    down, up = reaches(column, window)
    far = rings(column, (float(down[-1]), float(up[-1])))
    return column.rounded(np.concatenate([next_edges(column, window, _LAST), down, up, far]))


def _moments(
    curator: Curator, plan: Plan, chosen: np.ndarray, boxes: Sequence[tuple[float, float]]
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


def _products(curator: Curator, plan: Plan, chosen: np.ndarray, found: Sequence[ColumnSums]) -> Products:
    numbers = [in_box(column) for column in found if column.sums is not None]
    center = np.array([number.mean for number in numbers])
    scale = np.array([number.scale for number in numbers])
    cost, usual = plan["products"][0], _LONGEST * len(numbers) + 2
    asked: dict[str, Any] = {"chosen": chosen, "center": center, "scale": scale, "limit": LIMIT}
    _, sds = curator.noise("present_products", cost, radius=math.sqrt(usual), **asked)
    stretch = math.sqrt(_USUAL * SHORTENED * curator.n / max(float(sds[0][0, 1]), 1e-300))
    stretch = min(max(stretch, 1.0), _FARTHEST)
    release = curator.release("present_products", cost, radius=math.sqrt(stretch * usual), **asked)
    sums, missing = release.values
    return Products(sums, missing, release.law, release.sds[0], release.sds[1], stretch)

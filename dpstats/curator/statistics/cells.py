"""How many rows have a value in each cell of each column, and how many have none.

A description asks for nothing else of factors and flags, and first of all of numbers.

See docs/theory/describe.md#sensitivities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic


class CellCounts(Statistic):
    """Counts of rows by the cells of chosen columns; the last cell of each holds rows without a value.

    A row with the value x counts in cell j of a column if edges[j - 1] <= x < edges[j]; the first cell has no
    lower end, and the last but one no upper end. Released is one array for each chosen column, of one number
    more than it has edges, and one more.

    Parameters
    ----------
    design : PublicDesign
        Its columns hold NaN where a row has no value; a leading intercept is left out.
    chosen : array_like of bool
        Which of its columns, m of them.
    edges : sequence of array_like
        Of each of these, numbers that do not decrease; none of them is NaN.

    Notes
    -----
    Sensitivity: sqrt(2 m) for m chosen columns; 2 m in the L1 norm; range 1. A valid row adds 1 to exactly
    one cell of each, whatever its values and whichever of them are missing, so two rows differ by at most two
    entries of 1 in each column, attained by rows that share no cell. A row that weighs nothing adds to none:
    at most one entry a column. Which cell it is depends on the one value alone, by comparisons, which are
    exact. The other columns are not looked at.
    """

    name = "cell_counts"

    def __init__(self, design: PublicDesign, *, chosen: np.ndarray, edges: Sequence[np.ndarray]) -> None:
        first = int(design.has_intercept)
        self._chosen = np.flatnonzero(np.asarray(chosen, dtype=bool)) + first
        self._edges = [np.asarray(one, dtype=float) for one in edges]
        count = len(self._chosen)
        if len(chosen) != len(design.names) - first or not count:
            raise ValueError("chosen holds a truth value for each column, one of them true")
        rising = all(one.ndim == 1 and (np.diff(one) >= 0).all() for one in self._edges)
        if len(self._edges) != count or not rising or any(np.isnan(one).any() for one in self._edges):
            raise ValueError(f"edges hold numbers that do not decrease for each of {count} columns")
        sizes = [len(one) + 2 for one in self._edges]
        self.parts = tuple(Part(np.ones(1), np.ones(size)) for size in sizes)
        self.sensitivity, self.sensitivity_l1 = math.sqrt(2 * count), 2.0 * count
        self.ranges = np.ones(sum(sizes))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        found = []
        for edges, column in zip(self._edges, self._chosen, strict=True):
            values = block.exog[:, column]
            cell = np.searchsorted(edges, values, side="right")
            found.append(Factor(block.ok[:, None], np.where(np.isnan(values), len(edges) + 1, cell)))
        return tuple(found)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        ends = np.cumsum([len(edges) + 2 for edges in self._edges])[:-1]
        return tuple(np.split(vector, ends))

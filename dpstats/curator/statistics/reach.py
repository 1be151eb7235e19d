"""How far the columns of a row reach within their declared boxes: means, and counts by cells.

The first things a linear or survival fit asks for. They cost the same however wide the boxes are.

See docs/theory/first_stage.md#sensitivities.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, events
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic

__all__ = ["ReachCounts", "ReachMeans"]


_MOST_EDGES = 255  # cells are numbered in bytes


class _Reach(Statistic):
    """Chosen covariates of every valid row, and the response of rows with an event, in declared boxes."""

    def __init__(
        self,
        design: PublicDesign,
        center: np.ndarray,
        half: np.ndarray,
        log: bool,
        chosen: np.ndarray,
        apart: bool = False,
    ) -> None:
        middle, width = np.asarray(center, dtype=float), np.asarray(half, dtype=float)
        last = float(middle[-1]), float(width[-1])
        self._map = Map(design, middle[:-1], width[:-1], *last, log, apart=apart)
        chosen = np.asarray(chosen, dtype=bool)
        if chosen.shape != (len(middle) - 1,):
            raise ValueError(f"chosen holds {len(middle) - 1} truth values, one for each covariate")
        self._chosen = np.flatnonzero(chosen) + 1  # x~ begins with a 1
        self._count = len(self._chosen) + 1

    def _boxed(self, block: Block, scratch: Scratch) -> np.ndarray:
        """Shape (m, B), response last."""
        out = scratch("boxed", self._count, len(block.ok))
        # what is out of range is never there, and a check of it would copy everything once more
        np.take(self._map.x(block, scratch), self._chosen, axis=0, out=out[:-1], mode="clip")
        out[-1] = self._map.y(block, scratch)
        return np.clip(out, -1.0, 1.0, out=out)


class ReachMeans(_Reach):
    """Sums of covariates over all rows, and of the response over the rows with an event; shape (m,).

    With a = clip(((x, y) - center) / half, -1, 1), of which m - 1 covariates are `chosen`, a row gives
    (a_1, ..., a_(m-1), delta a_m); delta is 1 for an event, else 0.

    Parameters
    ----------
    design : PublicDesign
    center, half : array_like, shape (d + 1,)
        Public middle and half-width of the covariates and, last, of the response on the model's scale.
    log : bool
        Whether the response is log time.
    chosen : array_like of bool, shape (d,)
        Which covariates.
    apart : bool
        Whether y is the response as it is; by default it is the response less its offset.

    Notes
    -----
    Sensitivity: 2 sqrt m; 2 m in the L1 norm; range 2. Each coordinate of a row lies in [-1, 1], also where
    delta is 0, so two rows differ by at most 2 in each; attained by events at opposite corners. A row that
    weighs nothing is 0, at most 1 away in each coordinate.
    """

    name = "reach_means"

    def __init__(self, design: PublicDesign, **public: Any) -> None:
        super().__init__(design, **public)
        self.parts = (Part(np.ones(1), np.ones(self._count)),)
        self.sensitivity, self.sensitivity_l1 = 2 * math.sqrt(self._count), 2.0 * self._count
        self.ranges = np.full(self._count, 2.0)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        columns = self._boxed(block, scratch)
        np.multiply(columns[-1], events(block, scratch), out=columns[-1])
        return (Factor(block.ok[:, None].astype(float), columns.T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)


class ReachCounts(_Reach):
    """How many rows lie in each cell of a column; shape (m, cells).

    With a as in :class:`ReachMeans`, a row counts in cell j of a column if edges[j] <= a < edges[j + 1]; the
    first cell begins at -1, and the last one ends with 1. Rows without an event do not count in the response.

    Parameters
    ----------
    design, center, half, log, chosen, apart
        As in :class:`ReachMeans`.
    edges : array_like, shape (m, cells - 1)
        Between the cells, not decreasing.

    Notes
    -----
    Sensitivity: sqrt(2 m); 2 m in the L1 norm; range 1. A row adds 1 to at most one cell of a column, so two
    rows differ by at most two entries of 1 in each column, attained by events that share no cell. A row that
    weighs nothing adds to none: at most one entry a column.
    """

    name = "reach_counts"

    def __init__(self, design: PublicDesign, *, edges: np.ndarray, **public: Any) -> None:
        super().__init__(design, **public)
        self._edges = np.asarray(edges, dtype=float)
        if self._edges.shape[:-1] != (self._count,) or not (np.diff(self._edges) >= 0).all():
            raise ValueError("edges hold numbers that do not decrease for each column")
        if self._edges.shape[1] > _MOST_EDGES:
            raise ValueError(f"a column has at most {_MOST_EDGES} edges")
        cells = self._edges.shape[1] + 1
        self.parts = (Part(np.ones(1), np.ones(cells)),) * self._count
        self.sensitivity, self.sensitivity_l1 = math.sqrt(2 * self._count), 2.0 * self._count
        self.ranges = np.ones(cells * self._count)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        counted = [block.ok] * (self._count - 1) + [events(block, scratch) == 1.0]
        columns = self._boxed(block, scratch)
        return tuple(
            Factor(rows[:, None], self._cells(edges, column, scratch))
            for rows, edges, column in zip(counted, self._edges, columns, strict=True)
        )

    @staticmethod
    def _cells(edges: np.ndarray, column: np.ndarray, scratch: Scratch) -> np.ndarray:
        """How many edges a row has reached: for so few, three times as fast as to search for its place."""
        reached = scratch("reached", len(edges), len(column), dtype=bool)
        np.greater_equal(column, edges[:, None], out=reached)
        return np.asarray(reached.view(np.uint8).sum(axis=0, dtype=np.uint8))

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector.reshape(self._count, -1),)

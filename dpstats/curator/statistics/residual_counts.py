"""How many rows have residuals of which size, however large they may be.

See docs/theory/linear.md#reach-of-residuals.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic


class ResidualCounts(Statistic):
    """The weights of the rows by the size of their residuals r = sqrt(weight) (y~ - line'x~) / sigma.

    A row counts in cell j if edges[j - 1] <= |r| < edges[j]; the first cell begins at 0, the last has no end.

    Parameters
    ----------
    design : PublicDesign
    line : array_like, shape (k,)
    sigma : float
        Positive.
    edges : array_like, shape (cells - 1,)
        Between the cells, not decreasing.
    **row
        The public map of rows, see :class:`dpstats.curator.geometry.Map`.

    Notes
    -----
    Sensitivity: sqrt 2; 2 in the L1 norm; range 1. A row adds its weight, at most 1, to one cell, so two rows
    differ by at most 1 in each of two cells, attained by residuals that share no cell. A row that weighs
    nothing adds to none: at most 1 in one cell.
    """

    name = "residual_counts"

    def __init__(
        self, design: PublicDesign, *, line: np.ndarray, sigma: float, edges: np.ndarray, **row: Any
    ) -> None:
        self._map, self._weighted = Map(design, **row), design.weights is not None
        self._line, self._sigma = np.asarray(line, dtype=float), float(sigma)
        self._edges = np.asarray(edges, dtype=float)
        if self._line.shape != (self._map.k,) or not 0 < self._sigma < math.inf:
            raise ValueError(f"line must have {self._map.k} entries and sigma be positive and finite")
        if self._edges.ndim != 1 or not (np.diff(self._edges) >= 0).all():
            raise ValueError("edges hold numbers that do not decrease")
        size = len(self._edges) + 1
        self.parts = (Part(np.ones(1), np.ones(size)),)
        self.sensitivity, self.sensitivity_l1 = math.sqrt(2), 2.0
        self.ranges = np.ones(size)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        size, cells = len(block.ok), len(self._edges) + 1
        centred = self._map.centred(block, scratch)
        r = np.abs(self._map.residuals(centred, block, scratch, self._line, self._sigma))
        if self._weighted:
            np.multiply(r, np.sqrt(block.weight), out=r)
        at = np.searchsorted(self._edges, r, side="right")
        counts = scratch("cells", cells, size)
        np.equal(at, np.arange(cells)[:, None], out=counts)
        if self._weighted:
            np.multiply(counts, block.weight, out=counts)
        return (Factor(block.ok[:, None].astype(float), counts.T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)

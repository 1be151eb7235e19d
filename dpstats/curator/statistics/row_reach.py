"""How far rows reach in which direction, however long they may be.

See docs/theory/linear.md#rows-that-hold-a-variance.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import RowProducts, squared_norms
from dpstats.curator.statistics.base import Statistic


class RowReach(Statistic):
    """Shares of squared lengths of rows a = sqrt(weight) W x~ by coordinate and length; shape (k, cells).

    A row adds a_j^2 / |a|^2 to entry j of cell i, if edges[i] <= |a| < edges[i + 1]; the last cell has no
    end. Shorter rows add nothing.

    Parameters
    ----------
    design : PublicDesign
    whitening : array_like, shape (k, k)
        The transpose of W.
    edges : array_like, shape (cells,)
        Positive, not decreasing.
    **row
        The public map of rows, see :class:`dpstats.curator.geometry.Map`.

    Notes
    -----
    Sensitivity: sqrt 2; 2 in the L1 norm; range 1. A row adds numbers that are not negative and add up to at
    most 1. So do two rows, u and u', and |u - u'|_1 <= |u|_1 + |u'|_1 <= 2. As u'u' >= 0 and no entry exceeds
    1, |u - u'|_2^2 <= |u|_2^2 + |u'|_2^2 <= |u|_1 + |u'|_1 <= 2. Both are attained by rows along two axes.
    """

    name = "row_reach"

    def __init__(self, design: PublicDesign, *, whitening: np.ndarray, edges: np.ndarray, **row: Any) -> None:
        self._map, self._weighted = Map(design, **row), design.weights is not None
        k = self._map.k
        whitening, self._edges = np.asarray(whitening, dtype=float), np.asarray(edges, dtype=float)
        if whitening.shape != (k, k):
            raise ValueError(f"whitening must have {k} columns")
        if self._edges.ndim != 1 or not (np.diff(self._edges, prepend=0.0) >= 0).all() or not self._edges[0]:
            raise ValueError("edges hold positive numbers that do not decrease")
        self._whitened = RowProducts(whitening.T / self._map.unit, self._map.unit)
        self.parts = (Part(np.ones(k), np.ones(len(self._edges))),)
        self.sensitivity, self.sensitivity_l1 = math.sqrt(2), 2.0
        self.ranges = np.ones(k * len(self._edges))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        size, cells = len(block.ok), len(self._edges)
        a = self._whitened(self._map.centred(block, scratch), scratch("row", self._map.k, size), scratch)
        if self._weighted:
            np.multiply(a, np.sqrt(block.weight), out=a)
        square = squared_norms(a, scratch)
        at = np.searchsorted(self._edges**2, square, side="right")
        inside = scratch("cells", cells, size)
        np.equal(at, np.arange(1, cells + 1)[:, None], out=inside)
        np.multiply(a, a, out=a)
        np.divide(a, np.maximum(square, self._edges[0] ** 2, out=square), out=a)
        return (Factor(a.T, inside.T),)

"""Between which residuals rows are known to have failed: how much less that says than the times would.

See docs/theory/survival.md#failures-between-two-times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import events
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.at_residuals import AtResiduals


class InspectionCounts(AtResiduals):
    """Counts of rows that failed, by the residuals between which they did; shape ((J + 1) (J + 2) / 2,).

    A row that failed between the residuals a and b counts in the cell (i, j) where a lies in the i-th and b
    in the j-th of the intervals (-inf, e_1], (e_1, e_2], ..., (e_J, inf), i <= j; cells are in
    the order (1, 1), (1, 2), ..., (2, 2), and so on. One that was seen to fail has a = b.

    Parameters
    ----------
    design : PublicDesign
        With intervals.
    **row
        The public map of rows: center, scale, y_center, y_scale and log of
        :class:`dpstats.curator.geometry.Map`.
    family : Family
    gamma : array_like, shape (k,)
        Location coefficients on the mapped scale.
    sigma : float
    edges : sequence of float
        e_1 < ... < e_J.

    Notes
    -----
    A valid row that failed adds 1 to exactly one cell, and any other row adds nothing. For rows in cells c
    and d, or none, the difference is e_c - e_d:

    *L2*: sqrt 2, *L1*: 2, *ranges*: 1; all attained by two rows that failed in different cells.
    """

    name = "inspection_counts"

    def __init__(self, design: PublicDesign, *, sigma: float, edges: Sequence[float], **point: Any) -> None:
        self._edges = np.asarray(edges, dtype=float)
        if self._edges.ndim != 1 or not len(self._edges) or not (np.diff(self._edges) > 0).all():
            raise ValueError("the edges must be numbers that increase")
        if not (design.intervals and 0 < sigma < math.inf):
            raise ValueError("the design must have intervals, and sigma be positive and finite")
        super().__init__(design, sigma=sigma, **point)
        self._side = len(self._edges) + 1
        cells = self._side * (self._side + 1) // 2
        self.parts = (Part(np.ones(1), np.ones(cells)),)
        self.sensitivity, self.sensitivity_l1 = math.sqrt(2), 2.0
        self.ranges = np.ones(cells)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        known = self.watched(block, scratch)[1].known
        assert known is not None
        first, last = (np.searchsorted(self._edges, at) for at in (known.z, known.upper))
        before = first * (2 * self._side - first + 1) // 2  # cells of the rows above
        return (Factor(events(block, scratch)[:, None], before + last - first),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)

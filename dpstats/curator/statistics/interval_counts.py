"""How much weight enters and leaves observation between public times, and what inspections leave open.

Counts by public times are for survival curves (docs/theory/kaplan_meier.md). Of rows that are known to have
failed between two residuals is told how much less that says than the times would
(docs/theory/survival.md#failures-between-two-times).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import events, weights_of
from dpstats.curator.lattice import Factor
from dpstats.curator.products import predictor
from dpstats.curator.statistics.at_residuals import AtResiduals
from dpstats.curator.statistics.base import Counts, cells_between, check_positive


class ExitCounts(Counts):
    """Weights of rows by group, interval of time and kind of exit; shape (groups, 3 J).

    The intervals are (-inf, t_1], (t_1, t_2], ..., (t_{J-1}, t_J]. Columns 0 to J - 1 count events in each,
    columns J to 2 J - 1 rows censored in each before its end, columns 2 J to 3 J - 2 rows censored at t_1 to
    t_{J-1} exactly, and the last column rows that outlast the grid: those whose time exceeds t_J, and those
    censored at t_J. A row's group is 0 if its covariates are all 0, else the
    number of the covariate that is 1: the coding of a factor whose first level is the reference.

    Parameters
    ----------
    design : PublicDesign
    edges : sequence of float
        t_1 < ... < t_J.
    groups : int
        1, or one more than there are covariates.

    Notes
    -----
    A valid row adds its weight, 1 or a share of the public maximum, to exactly one cell, since the group is
    rounded and clipped to one that there is, and a row that weighs nothing adds nothing. For rows with
    weights v and w in cells c and d the difference is v e_c - w e_d, 0 <= v, w <= 1:

    *L2*: sqrt 2, *L1*: 2, *ranges*: 1; all attained by two rows of full weight in different cells.
    """

    name = "exit_counts"

    def __init__(self, design: PublicDesign, *, edges: Sequence[float], groups: int = 1) -> None:
        self._edges = cells_between(edges)
        self._first, self._groups = int(design.has_intercept), groups
        if groups not in (1, 1 + len(design.names) - self._first):
            raise ValueError("groups must be 1, or one more than there are covariates")
        self._weighted = design.weights is not None
        self.lay_out(groups * 3 * len(self._edges))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        intervals = len(self._edges)
        interval = np.searchsorted(self._edges, block.time)
        censored = block.event < 0.5
        inside = np.minimum(interval, intervals - 1)
        at_end = censored & (block.time == self._edges[inside])
        beyond = (interval >= intervals) | (censored & (block.time >= self._edges[-1]))
        kind = np.where(beyond, 3 * intervals - 1, inside + intervals * (censored * 1 + at_end))
        cell = self._group(block, scratch) * 3 * intervals + kind
        return (Factor(weights_of(block, self._weighted)[:, None], cell),)

    def _group(self, block: Block, scratch: Scratch) -> np.ndarray:
        if self._groups == 1:
            return np.zeros(len(block.ok), dtype=np.intp)
        covariates = block.exog.T[self._first :]
        number = np.nan_to_num(predictor(np.arange(1.0, self._groups), covariates, scratch))
        return np.clip(np.rint(number), 0, self._groups - 1).astype(np.intp)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector.reshape(self._groups, -1),)


class EntryCounts(Counts):
    """Weights of rows by the interval of time in which they enter; shape (J,).

    The intervals are (-inf, t_1], (t_1, t_2], ..., (t_{J-2}, t_{J-1}], and what is beyond.

    Parameters
    ----------
    design : PublicDesign
        With entries.
    edges : sequence of float
        t_1 < ... < t_J; the last is not read.

    Notes
    -----
    A valid row adds its weight to exactly one cell, and a row that weighs nothing adds nothing: sensitivities
    and ranges are those of :class:`ExitCounts`, attained in the same way.
    """

    name = "entry_counts"
    flat = True

    def __init__(self, design: PublicDesign, *, edges: Sequence[float]) -> None:
        self._edges = cells_between(edges)
        if not design.delayed:
            raise ValueError("the design has no entries")
        self._weighted = design.weights is not None
        self.lay_out(len(self._edges))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        cell = np.searchsorted(self._edges[:-1], block.entry)
        return (Factor(weights_of(block, self._weighted)[:, None], cell),)


class InspectionCounts(Counts, AtResiduals):
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
    flat = True

    def __init__(self, design: PublicDesign, *, sigma: float, edges: Sequence[float], **point: Any) -> None:
        self._edges = cells_between(edges)
        check_positive(sigma=sigma)
        if not design.intervals:
            raise ValueError("the design must have intervals")
        super().__init__(design, sigma=sigma, **point)
        self._side = len(self._edges) + 1
        self.lay_out(self._side * (self._side + 1) // 2)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        known = self.watched(block, scratch)[1].known
        assert known is not None
        first, last = (np.searchsorted(self._edges, at) for at in (known.z, known.upper))
        before = first * (2 * self._side - first + 1) // 2  # cells of the rows above
        return (Factor(events(block, scratch)[:, None], before + last - first),)

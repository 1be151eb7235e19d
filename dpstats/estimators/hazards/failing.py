"""Which rows fail when, by the law of linear predictors.

See docs/theory/coxph.md#grid and docs/theory/coxph.md#proportional-hazards.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dpstats.estimators.hazards.grid import Grid

MOST_LOST = 0.9  # of a slope that may be lost by a wrong clock: beyond, nothing is known of it

Law: TypeAlias = tuple[np.ndarray, np.ndarray]  # linear predictors, and how many rows have each


@dataclass(frozen=True)
class Failing:
    """Rows that are seen to fail, by cells of time, cells in which they entered, and linear predictors.

    Attributes
    ----------
    cells : array of int, shape (k,)
        For each pair of a cell and one in which rows have entered that are at risk in it.
    values : array, shape (v,)
        Linear predictors.
    spent : array, shape (k, v)
        Hazard that rows have had in the middle of the cell.
    shares : array, shape (k, v)
        Of all failures that are seen, as many in each cell as the grid says, but for one in which none is.
    """

    cells: np.ndarray
    values: np.ndarray
    spent: np.ndarray
    shares: np.ndarray

    @classmethod
    def before(cls, c: float, grid: Grid, log_hazards: np.ndarray, law: Law) -> "Failing":
        """A hazard of c, at which rows stop being observed."""
        gained, (values, weights) = grid.hazards(log_hazards).reshape(grid.strata, -1), law
        ends = np.cumsum(gained, axis=1)
        middles, starts = (ends - gained / 2).ravel(), (ends - gained).ravel()[grid.entries]
        cells, entries = np.nonzero(grid.entered)
        spent = np.outer(middles[cells] - starts[entries], np.exp(values))
        left = weights * np.exp(-spent)
        left *= (grid.entered[cells, entries] / np.maximum(left.sum(axis=1), 1e-300))[:, None]
        fails = left * np.exp(values) * (spent <= c)
        number = np.bincount(cells, fails.sum(axis=1), len(grid.seen))
        seen = grid.seen * (number > 0)
        each = seen / np.maximum(number, 1e-300) / max(float(seen.sum()), 1e-300)
        return cls(cells, values, spent, fails * each[cells, None])

    def mean(self, numbers: np.ndarray) -> float:
        """Of these numbers, over failures."""
        return float(np.sum(self.shares * numbers))

    def sums(self, numbers: np.ndarray | float, groups: np.ndarray) -> np.ndarray:
        """Of these numbers times shares, in groups of cells, shape (m,)."""
        return np.bincount(groups[self.cells], np.sum(self.shares * numbers, axis=1), groups.max() + 1)


def find_follows(failing: Failing, pieces: np.ndarray, turn: np.ndarray) -> float:
    """By what share of themselves slopes grow where the clock is turned by slopes that are twice as large.

    To the first order. The clock gains more in each cell by `turn`, shape (m,). The mean of predictors among
    rows that fail falls as time goes by, those of high hazard being the first, until rows stop being
    observed. A cell in which the clock gains more by a share lacks as many failures, where this mean differs
    from that of its piece, whose own hazard makes the rest right.
    """
    cells, values = np.arange(len(turn)), failing.values
    number, total = (failing.sums(each, pieces) for each in (1.0, values))
    middle = total / np.maximum(number, 1e-300)
    variance = failing.mean(values**2) - float(middle @ total)
    if not variance > 0:  # of one predictor, no mean of which falls
        return 0.0
    apart = middle[pieces] * failing.sums(1.0, cells) - failing.sums(values, cells)
    return float(np.clip(apart @ turn / variance, 0.0, MOST_LOST))

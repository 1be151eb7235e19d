"""Where the baseline hazard changes: from noisy counts of exits between public times.

The counts of a cell, between two of these times, give the clock, an estimate of the cumulative hazard of all
rows that rises evenly within a cell, and the pieces, on each of which the baseline is a multiple of it.
See docs/theory/coxph.md#grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from dpstats.curator import Curator
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.hazards.problem import Problem

Array = np.ndarray

# events of a run of cells in sds of their noise, and at least: less is spread evenly over time
_VISIBLE, _FEWEST = 4.0, 1.0
# of the events of a cell if they were spread so: no fewer are taken for there
_LEAST_SHARE = 1e-6
# of a piece: events in sds of the noise of its score
_PIECE_NOISE = 16.0
# rows at risk, of all, that are taken to be there where noise hides them
_LEAST_AT_RISK = 1e-3


@dataclass(frozen=True)
class Grid:
    """Cells of time, the pieces that they belong to, and the events there.

    Attributes
    ----------
    edges : array, shape (m + 1,)
    rates : array, shape (m,)
        Hazard that the clock adds in each cell, positive.
    pieces : array of int, shape (m,)
    events : array, shape (m,)
        Noisy numbers, positive.
    noise : float
        sd of the noise of the number of all events.
    variances : array, shape (m,)
        Of `rates`, by sampling and by noise.
    """

    edges: Array
    rates: Array
    pieces: Array
    events: Array
    noise: float
    variances: Array

    @property
    def count(self) -> int:
        """Number of pieces."""
        return int(self.pieces[-1]) + 1

    @property
    def shares(self) -> Array:
        """Of the events, by piece; shape (J,)."""
        return np.bincount(self.pieces, self.events) / self.events.sum()

    @property
    def clock(self) -> Array:
        """What it shows at the edges."""
        return np.append(0.0, np.cumsum(self.rates))

    def hazards(self, log_hazards: Array) -> Array:
        """Hazard that each cell adds, where pieces have these logarithms of multiples."""
        return np.asarray(self.rates * np.exp(log_hazards)[self.pieces])

    def lost(self, c: float, spread: float) -> float:
        """Share of the events beyond a cumulative hazard of c, linear predictors having this sd."""
        middle = self.clock[:-1] + self.rates / 2
        beyond = special.ndtr((np.log(middle) - np.log(c)) / max(spread, 0.05))
        return float(np.clip(beyond @ self.events / self.events.sum(), 0.0, 0.98))


def find_grid(curator: Curator, plan: Plan, problem: Problem, score_noise: float) -> Grid:
    """Release exits between the public times, and choose cells and pieces.

    Parameters
    ----------
    curator : Curator
    plan : Plan
    problem : Problem
    score_noise : float
        sd of the noise of the averaged score of a piece.
    """
    release = curator.release("exit_counts", plan.cost("counts"), edges=problem.times, groups=1)
    counts, sd, n = release.values[0][0], float(release.sds[0].max()), release.n
    fine = len(problem.times)
    events, before, after = counts.reshape(3, fine)
    at_risk = np.cumsum((events + before + after)[::-1])[::-1]  # at the beginning of each
    middle = at_risk - (events + before) / 2
    sums = 3 * sd**2 * np.arange(fine, 0, -1)  # variance of the noise of these numbers
    if problem.delayed:
        entries = curator.release("entry_counts", plan.cost("entries"), edges=problem.times)
        late = entries.values[0]
        middle -= np.cumsum(late[::-1])[::-1] - late / 2
        sums += float(entries.sds[0].max()) ** 2 * np.arange(fine, 0, -1)
    middle = np.maximum(middle, max(_LEAST_AT_RISK * n, _VISIBLE * sd))
    runs = _runs(events, max(_FEWEST, _VISIBLE * sd))
    number = np.maximum(np.bincount(runs, events), 1.0)
    exposed = middle * np.diff(problem.times, prepend=problem.start)
    spread = number[runs] * exposed / np.bincount(runs, exposed)[runs]
    trust = spread / (spread + sd**2)
    each = np.maximum(trust * events + (1 - trust) * spread, _LEAST_SHARE * spread)
    each *= (number / np.bincount(runs, each))[runs]
    pieces = _runs(number, _PIECE_NOISE * score_noise)[runs]
    edges = np.append(problem.start, problem.times)
    # of what is spread evenly over a run, all may have come at any time of it
    errors = (1 - trust) * each * number[runs] / 3 + trust**2 * (each + sd**2) + each**2 * sums / middle**2
    return Grid(edges, each / middle, pieces, each, sd * np.sqrt(fine), errors / middle**2)


def _runs(numbers: Array, least: float) -> Array:
    """Numbers of runs of neighbours whose sums reach `least`; the last run takes what is left over."""
    runs, total, run = [], 0.0, 0
    for number in numbers:
        runs.append(run)
        total += float(number)
        if total >= least * (1 - 1e-9):
            total, run = 0.0, run + 1
    found = np.array(runs)
    return np.minimum(found, max(run - 1, 0))

"""Where the baseline hazard changes: from noisy counts of exits between public times.

The counts of a cell, between two of these times, give the clock, an estimate of the cumulative hazard of all
rows that rises evenly within a cell, and the pieces, on each of which the baseline is a multiple of it.
See docs/theory/coxph.md#grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from dpstats.curator import Curator
from dpstats.estimators.columns import SPIKE
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.hazards.problem import Problem, by_stratum
from dpstats.estimators.levels import END
from dpstats.estimators.row_scale import SURE

# events of a run of cells in sds of their noise, and at least: less is spread evenly over time
_VISIBLE, _FEWEST = 4.0, 1.0
# of the events of a cell if they were spread so: no fewer are taken for there
_LEAST_SHARE = 1e-6
# of a piece: events in sds of the noise of its score; fewer where rows enter late, whose covariates may come
# and go with time: what they do to hazards within a piece is taken for the baseline's
_PIECE_NOISE, _PIECE_NOISE_LATE = 16.0, 5.0
_LATEST = 6.0
# rows at risk, of all, that are taken to be there where noise hides them
_LEAST_AT_RISK = 1e-3


@dataclass(frozen=True)
class Grid:
    """Cells of time, the pieces that they belong to, and the events there.

    Attributes
    ----------
    edges : array, shape (m + 1,)
        Those of all strata, one after the other.
    rates : array, shape (m,)
        Hazard that the clock adds in each cell, positive.
    pieces : array of int, shape (m,)
    events : array, shape (m,)
        Noisy numbers, positive.
    noise : float
        sd of the noise of the number of all events.
    variances : array, shape (m,)
        Of `rates`, by sampling and by noise.
    until : array, shape (strata,)
        Time since when noise hides whether rows of a stratum are at risk.
    at_risk : array, shape (m,)
        Rows at risk in the middle of each cell, as the clock takes them.
    counted : array, shape (m,)
        Variance of their noise.
    even : array, shape (m,)
        Hazard of the stretch of time on which failures of each cell are taken to come evenly.
    bunches : array, shape (2, r + strata)
        Share of the events, and hazard, of runs of cells and of first cells, where they may come at once.
    constant : bool
        Whether nearly all failures seem to come in one cell.
    strata : int
        Each has as many cells, and pieces of its own.
    """

    edges: np.ndarray
    rates: np.ndarray
    pieces: np.ndarray
    events: np.ndarray
    noise: float
    variances: np.ndarray
    until: np.ndarray
    at_risk: np.ndarray
    counted: np.ndarray
    even: np.ndarray
    bunches: np.ndarray
    constant: bool = False
    strata: int = 1

    @property
    def count(self) -> int:
        """Number of pieces."""
        return int(self.pieces[-1]) + 1

    @property
    def shares(self) -> np.ndarray:
        """Of the events, by piece; shape (J,)."""
        return np.bincount(self.pieces, self.events) / self.events.sum()

    @property
    def hidden(self) -> np.ndarray:
        """Cells since when noise hides whether rows of their stratum are at risk; shape (m,)."""
        cells = len(self.rates) // self.strata
        own = self.edges[1 : cells + 1]  # times of the first stratum are those of all
        return np.asarray(own > self.until[:, None]).ravel()

    @property
    def stratum(self) -> np.ndarray:
        """Of each piece; shape (J,)."""
        firsts = self.pieces.reshape(self.strata, -1)[:, 0]
        return np.searchsorted(firsts, np.arange(self.count), side="right") - 1

    @property
    def clock(self) -> np.ndarray:
        """What it shows at the edges."""
        return np.append(0.0, np.cumsum(self.rates))

    def hazards(self, log_hazards: np.ndarray) -> np.ndarray:
        """Hazard that each cell adds, where pieces have these logarithms of multiples, within a range."""
        return np.asarray(self.rates * np.exp(np.clip(log_hazards, -END, END))[self.pieces])

    def of_baseline(self, values: np.ndarray, weights: np.ndarray) -> Grid:
        """The same pieces, in which the clock runs as the baseline does, not as the hazard of those at risk.

        So many rows of a stratum have these linear predictors at its beginning. Those of high hazard fail
        first, so that the hazard of those at risk falls against the baseline. What the clock gains on a piece
        is as before.
        """
        rates = self.rates.reshape(self.strata, -1)
        survival = np.exp(-np.clip(np.cumsum(rates, axis=1), 0, _LATEST))
        clock = np.exp(np.interp(-survival, *_mixed(values, weights)))
        steps = np.maximum(np.diff(clock, axis=1, prepend=0.0), 1e-9 * rates).ravel()
        steps *= (np.bincount(self.pieces, self.rates) / np.bincount(self.pieces, steps))[self.pieces]
        return replace(self, rates=steps, variances=self.variances * (steps / self.rates) ** 2)

    def lost(self, c: float, spread: float) -> float:
        """Share of the events beyond a cumulative hazard of c, linear predictors having this sd."""
        rates = self.rates.reshape(self.strata, -1)
        middle = (np.cumsum(rates, axis=1) - rates / 2).ravel()
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
    times, strata = problem.edges[1:], problem.strata
    release = curator.release("exit_counts", plan.cost("counts"), edges=times, groups=1)
    counts, sd, n = release.values[0][0], float(release.sds[0].max()), release.n
    fine = len(times) // strata
    events, before, after = counts.reshape(3, -1)
    # at the beginning of each
    at_risk = _until_the_end(events + before + after, strata)
    middle = at_risk - (events + before) / 2
    left = np.tile(np.arange(fine, 0, -1), strata)
    sums = 3 * sd**2 * left  # variance of the noise of these numbers
    if problem.delayed:
        entries = curator.release("entry_counts", plan.cost("entries"), edges=times)
        late = entries.values[0]
        middle -= _until_the_end(late, strata) - late / 2
        sums += float(entries.sds[0].max()) ** 2 * left
    least = max(_LEAST_AT_RISK * n, _VISIBLE * sd)
    seen = (middle > np.maximum(least, SURE * np.sqrt(sums))).reshape(strata, -1)
    until = problem.edges[np.where(seen.any(axis=1), fine - np.argmax(seen[:, ::-1], axis=1), 0)]
    middle = np.maximum(middle, least)
    stratum = np.repeat(np.arange(strata), fine)
    runs = _runs(events, max(_FEWEST, _VISIBLE * sd), stratum)
    number, noise = np.maximum(np.bincount(runs, events), 1.0), np.bincount(runs) * sd**2
    exposed = middle * np.diff(problem.edges)
    spread = number[runs] * exposed / np.bincount(runs, exposed)[runs]
    trust = spread / (spread + sd**2)
    each = np.maximum(trust * events + (1 - trust) * spread, _LEAST_SHARE * spread)
    each *= (number / np.bincount(runs, each))[runs]
    of_run = stratum[np.unique(runs, return_index=True)[1]]
    fewest = (_PIECE_NOISE_LATE if problem.delayed else _PIECE_NOISE) * score_noise
    pieces = _runs(number, fewest, of_run)[runs]
    # of what is spread evenly over a run, all may have come at any time of it, and noise may have made it up
    errors = (1 - trust) * each * (number / 3 + 1 + noise / number)[runs]
    variances = (errors + trust**2 * (each + sd**2) + each**2 * sums / middle**2) / middle**2
    rates, whole = each / middle, sd * math.sqrt(len(times))
    even = trust * rates + (1 - trust) * np.bincount(runs, rates)[runs]
    unsure = (number + noise) / number**2 + np.bincount(runs, each * sums / middle**2) / number
    hazard, length = np.bincount(runs, rates), np.bincount(runs, np.diff(problem.edges))
    at_once = _faster(hazard, length, np.sqrt(unsure), of_run)
    # until the lower bound of the time, or the first time after 0, nobody knows when rows fail
    shares = np.append(number, each[::fine]) / number.sum()
    bunches = np.array([shares, np.append(at_once, rates[::fine])])
    constant = _at_one_time(events.reshape(strata, -1).sum(axis=0), whole)
    return Grid(
        problem.edges,
        rates,
        pieces,
        each,
        whole,
        variances,
        until,
        middle,
        sums,
        even,
        bunches,
        constant,
        strata,
    )


def _at_one_time(events: np.ndarray, noise: float) -> bool:
    """Whether one cell seems to hold nearly all events, and surely more than noise hides in all others."""
    return bool(events.max() > max(SPIKE * events.sum(), SURE * noise))


def _faster(hazard: np.ndarray, length: np.ndarray, unsure: np.ndarray, stratum: np.ndarray) -> np.ndarray:
    """Hazard of each run as far as it surely comes faster than in both neighbours, and may come at once.

    What rises or falls through a run is as in one of them. Nothing is known of what follows the last run.
    """
    rate, last = hazard / length, np.diff(stratum, append=-1) != 0
    ratios = []
    for way, ends in ((1, np.roll(last, 1)), (-1, last)):
        ratio = np.roll(rate, way) / rate * (1 + SURE * np.hypot(unsure, np.roll(unsure, way)))
        ratios.append(np.where(ends, float(way < 0), ratio))
    beyond = np.where(SURE * unsure < 1, np.maximum(1 - np.maximum(*ratios), 0.0), 0.0)
    return np.asarray(hazard * beyond)


def _until_the_end(numbers: np.ndarray, strata: int) -> np.ndarray:
    """Sums of each number and of those after it in its stratum."""
    return np.cumsum(numbers.reshape(strata, -1)[:, ::-1], axis=1)[:, ::-1].ravel()


def _mixed(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fractions that fail, less 1, and the logarithms of the baselines at which so many have."""
    logs = np.linspace(-12 - values.max(), 12.0, 600)
    return -np.exp(-np.exp(np.add.outer(logs, values))) @ weights, logs


def _runs(numbers: np.ndarray, least: float, stratum: np.ndarray) -> np.ndarray:
    """Numbers of runs of neighbours in a stratum whose sums reach `least`; the last takes what is left."""
    found: list[int] = []
    for each in by_stratum(numbers, stratum):
        first = run = found[-1] + 1 if found else 0
        runs, total = [], 0.0
        for number in each:
            runs.append(run)
            total += float(number)
            if total >= least * (1 - 1e-9):
                total, run = 0.0, run + 1
        found += [min(number, max(run - 1, first)) for number in runs]
    return np.array(found)

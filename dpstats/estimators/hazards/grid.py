"""Where the baseline hazard changes: from noisy counts of exits between public times.

The counts of a cell, between two of these times, give the clock, an estimate of the cumulative hazard of all
rows that rises evenly within a cell, and the pieces, on each of which the baseline is a multiple of it.
See docs/theory/coxph.md#grid.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import special

from dpstats.curator import Curator
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.hazards.problem import Problem, by_stratum
from dpstats.estimators.hazards.shape import find_shape, gained, smoothed, until_the_end
from dpstats.estimators.level_scores import END
from dpstats.estimators.row_scale import SURE
from dpstats.estimators.zoom import ALIKE

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
    runs : array of int, shape (m,)
        Neighbours whose events were looked at together.
    entries : array of int, shape (e,)
        Cells in which rows enter.
    entered : array, shape (m, e)
        Of those at risk in each cell the share that entered there.
    seen : array, shape (m,)
        Those of `events` that happen before their rows stop being observed, positive.
    visible : float
        How many of `seen` a piece needs, in sds of the noise of its score.
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
    steep : array, shape (m,)
        By how many times the share by which that number is off the clock is.
    even : array, shape (m,)
        Hazard of the stretch of time on which failures of each cell are taken to come evenly.
    shifts : array, shape (2, m)
        Of `rates`, in shares of them: by one sd of what is not known of their shape, and if as many rows are
        at risk late as may be.
    bunches : array, shape (2, r + strata)
        Share of the events, and hazard, of runs of cells and of first cells, where they may come at once.
    constant : bool
        Whether nearly all failures seem to come in one cell.
    strata : int
        Each has as many cells, and pieces of its own.
    follows : float
        By what share of themselves slopes grow once more with the clock, which turns with them.
    misplaced : float
        Relative sd of the linear predictors that turn it, by where rows may lie in cells of columns.
    """

    edges: np.ndarray
    rates: np.ndarray
    pieces: np.ndarray
    events: np.ndarray
    runs: np.ndarray
    entries: np.ndarray
    entered: np.ndarray
    seen: np.ndarray
    visible: float
    noise: float
    variances: np.ndarray
    until: np.ndarray
    at_risk: np.ndarray
    counted: np.ndarray
    steep: np.ndarray
    even: np.ndarray
    shifts: np.ndarray
    bunches: np.ndarray
    constant: bool = False
    strata: int = 1
    follows: float = 0.0
    misplaced: float = 0.0

    @property
    def count(self) -> int:
        """Number of pieces."""
        return int(self.pieces[-1]) + 1

    @property
    def shares(self) -> np.ndarray:
        """Of the events that are seen, by piece; shape (J,)."""
        return np.bincount(self.pieces, self.seen) / self.seen.sum()

    @property
    def hidden(self) -> np.ndarray:
        """Cells since when noise hides whether rows of their stratum are at risk; shape (m,).

        Times of the first stratum are those of all.
        """
        own = self.edges[1 : len(self.rates) // self.strata + 1]
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

    def of_baseline(self, values: np.ndarray, weights: np.ndarray) -> "Grid":
        """The same pieces, in which the clock runs as the baseline does, not as the hazard of those at risk.

        So many rows of a stratum have these linear predictors at its beginning. Those of high hazard fail
        first, so that the hazard of those at risk falls against the baseline. What the clock gains on a piece
        is as before.
        """
        rates = self.rates.reshape(self.strata, -1)
        spent = np.log(np.clip(np.cumsum(rates, axis=1), 1e-300, _LATEST))
        clock = np.exp(spent + np.interp(spent, *_mixed(values, weights)))
        steps = np.maximum(np.diff(clock, axis=1, prepend=0.0), 1e-9 * rates).ravel()
        steps *= (np.bincount(self.pieces, self.rates) / np.bincount(self.pieces, steps))[self.pieces]
        return replace(self, rates=steps, variances=self.variances * (steps / self.rates) ** 2)

    def kept(self, c: float, spread: float) -> np.ndarray:
        """Share of the events of each cell before a cumulative hazard of c since entry, shape (m,).

        Linear predictors have this sd.
        """
        rates = self.rates.reshape(self.strata, -1)
        ends = np.cumsum(rates, axis=1)
        spent = (ends - rates / 2).ravel()[:, None] - (ends - rates).ravel()[self.entries]
        before = special.ndtr((np.log(c) - np.log(np.maximum(spent, 1e-300))) / max(spread, 0.05))
        return np.asarray(np.sum(before * self.entered, axis=1))

    def lost(self, c: float, spread: float) -> float:
        """Share of all events beyond c, as in `kept`."""
        return float(np.clip(1 - self.kept(c, spread) @ self.events / self.events.sum(), 0.0, 0.98))

    def earlier(self, c: float, spread: float) -> float:
        """By what share of the failures those before c, as in `kept`, are earlier than all, in the mean."""
        spent, seen = middles(self.events, self.strata).ravel(), self.kept(c, spread) * self.events
        return float(spent @ (self.events / self.events.sum() - seen / np.maximum(seen.sum(), 1e-300)))

    def within(self, log_hazards: np.ndarray) -> float:
        """Relative bias of slopes where hazards change within pieces otherwise than the clock says.

        The mean of a covariate among rows at risk falls by about its coefficient times its variance for each
        unit of cumulative hazard; on a piece, while failures are seen, it goes with what the clock misses,
        whose change is taken for that between its neighbours, if it has any: a covariance of a twelfth of
        both ranges.
        """
        spent = np.bincount(self.pieces, self.rates * self.seen / self.events)
        return float(self.shares @ (self._rises(log_hazards) * spent)) / 12

    def within_by(self, moved: np.ndarray, log_hazards: np.ndarray) -> float:
        """What moves as much where the clock is wrong by a factor in one cell, as in `within`."""
        whole, until = np.bincount(self.pieces, self.rates), np.cumsum(self.rates) - self.rates / 2
        place = (until - (np.cumsum(whole) - whole / 2)[self.pieces]) / whole[self.pieces]
        return float(np.abs(np.bincount(self.pieces, moved * place)) @ self._rises(log_hazards))

    def _rises(self, log_hazards: np.ndarray) -> np.ndarray:
        """By how much they change on each piece, by its neighbours in its stratum."""
        each = by_stratum(log_hazards, self.stratum)
        return np.abs(np.concatenate([np.gradient(own) if len(own) > 1 else [0.0] for own in each]))

    def moved(self, log_hazards: np.ndarray, c: float) -> np.ndarray:
        """By what share of itself a slope moves where the clock is wrong by a factor in one cell, shape (m,).

        The mean of a covariate among rows at risk falls with the cumulative hazard as in `within`, until rows
        stop being observed. A cell in which the clock runs slow by a factor counts as that many failures too
        many where this mean differs from that of its piece, whose own hazard makes the rest right.
        """
        gained = self.hazards(log_hazards).reshape(self.strata, -1)
        spent = np.minimum(np.cumsum(gained, axis=1) - gained / 2, c).ravel()
        mean = np.bincount(self.pieces, spent * self.seen) / np.bincount(self.pieces, self.seen)
        return np.asarray((spent - mean[self.pieces]) * self.seen / self.seen.sum())

    def unknown(self, moved: np.ndarray) -> float:
        """Relative bias of slopes by the shape of the clock, and by cells of which noise tells nothing."""
        return math.hypot(*(self.shifts @ moved), float(np.abs(moved[self.hidden]).sum()))

    def clock_error(self, moved: np.ndarray) -> float:
        """Relative sd of the bias of slopes by sampling and noise in the clock, to first order.

        Noise of a number of exits is in all numbers at risk until then.
        """
        turns = self.steep / self.at_risk
        alone = np.maximum(self.variances / self.rates**2 - self.counted * turns**2, 0.0)
        until = np.cumsum((moved * turns).reshape(self.strata, -1), axis=1)
        exits = np.maximum(-np.diff(self.counted.reshape(self.strata, -1), axis=1, append=0.0), 0.0)
        return math.sqrt(float(moved**2 @ alone) + float(np.sum(until**2 * exits)))

    @property
    def coarseness(self) -> float:
        """What `within` goes with, where as much of the same hazards is seen in more pieces or in fewer."""
        return float(self.rates @ (self.seen / self.events)) / self.count**2

    def divided(self, c: float, spread: float, score_noise: float) -> "Grid":
        """In pieces anew, each with enough events before c, as in `kept`; its score has noise of this sd."""
        seen = np.maximum(self.kept(c, spread), _LEAST_SHARE) * self.events
        stratum = np.unique(self.runs, return_index=True)[1] // (len(self.rates) // self.strata)
        pieces = _runs(np.bincount(self.runs, seen), self.visible * score_noise, 0.0, stratum)
        return replace(self, pieces=pieces[self.runs], seen=seen)


def middles(numbers: np.ndarray, strata: int) -> np.ndarray:
    """Of the numbers of a stratum the share that is there in the middle of each cell, shape (strata, -1)."""
    each = numbers.reshape(strata, -1)
    return np.asarray((np.cumsum(each, axis=1) - each / 2) / each.sum(axis=1, keepdims=True))


class _Counted(NamedTuple):
    """What is known of each cell by counts, shape (m,).

    Attributes
    ----------
    events : array
        Failures, as released, and `sd` of their noise.
    sd : float
    late : array
        Rows that enter late, where noise does not hide them.
    until : array, shape (strata,)
        Time since when noise hides whether rows of a stratum are at risk.
    leave, enter, at_risk : array
        Rows that leave, that enter, and that are at risk in the middle.
    variances : array
        Of the noise of the last.
    """

    events: np.ndarray
    sd: float
    late: np.ndarray
    until: np.ndarray
    leave: np.ndarray
    enter: np.ndarray
    at_risk: np.ndarray
    variances: np.ndarray


def _counted(curator: Curator, plan: Plan, problem: Problem) -> _Counted:
    """Release exits between the public times, and late entries, in cells."""
    release = curator.release("exit_counts", plan.cost("counts"), edges=problem.edges[1:], groups=1)
    sd, n = float(release.sds[0].max()), release.n
    events, before, after = release.values[0][0].reshape(3, -1)
    entries, of_entries = _entries(curator, plan, problem)
    noises = np.array([2 * sd**2, sd**2, of_entries**2])
    left = events + before + after - entries
    until = _shown_until(problem, left, noises.sum(), max(_LEAST_AT_RISK * n, _VISIBLE * sd))
    late = np.where(entries > SURE * of_entries, entries, 0.0)
    return _Counted(events, sd, late, until, *_at_risk(problem, (events + before, after, entries), noises))


def find_grid(curator: Curator, plan: Plan, problem: Problem) -> Grid:
    """Release exits between the public times, and count in cells; each run of them is a piece as yet."""
    counted, strata = _counted(curator, plan, problem), problem.strata
    events, sd, fine = counted.events, counted.sd, len(counted.events) // strata
    runs = _runs(events, _FEWEST, _VISIBLE * sd, np.repeat(np.arange(strata), fine))
    number, noise = np.maximum(np.bincount(runs, events), 1.0), np.bincount(runs) * sd**2
    shape = find_shape(problem, events, counted.at_risk, sd)
    # the fewer are taken to be there the more noise hides whether any are at risk
    surely = np.clip(1 - counted.variances / counted.at_risk**2, _LEAST_SHARE, 1.0)
    exposed = counted.at_risk * shape.gains * np.array([surely, np.ones_like(surely)])
    early, late = (number[runs] * each / np.bincount(runs, each)[runs] for each in exposed)
    spread = (early + late) / 2
    trust = _trusted(events, spread, sd)
    each = np.maximum(trust * events + (1 - trust) * spread, _LEAST_SHARE * spread)
    each *= (number / np.bincount(runs, each))[runs]
    # those who fail in a cell are there, and those who fail later, unless they enter later
    stay = each - counted.enter
    middle = np.maximum(counted.at_risk, np.maximum(_until_the_end(stay, strata) - stay / 2, each / 2))
    sums = np.minimum(counted.variances, middle**2)
    longer, by_each = _leaving(stay, middle, sums)
    # of what is spread evenly over a run, all may have come at any time of it, and noise may have made it up
    errors = (1 - trust) * each * (number / 3 + 1 + noise / number)[runs]
    of_shape = (1 - trust) * (shape.error - (np.bincount(runs, each * shape.error) / number)[runs])
    shifts = np.array([of_shape, (1 - trust) * (late - early) / 2 / each]) * by_each / longer
    errors += (each * of_shape) ** 2 + trust**2 * (each + sd**2) + each**2 * sums / middle**2
    rates, whole = longer * each / middle, sd * math.sqrt(len(events))
    even = trust * rates + (1 - trust) * np.bincount(runs, rates)[runs]
    unsure = (number + noise) / number**2 + np.bincount(runs, each * sums / middle**2) / number
    at_once = _at_once(problem, runs, rates, surely, np.sqrt(unsure))
    enters, entered = _of_those_at_risk(counted.late, counted.leave / middle, strata)
    return Grid(
        edges=problem.edges,
        rates=rates,
        pieces=runs,
        events=each,
        runs=runs,
        entries=enters,
        entered=entered,
        seen=each,
        visible=_PIECE_NOISE_LATE if problem.delayed else _PIECE_NOISE,
        noise=whole,
        variances=errors * (by_each / middle) ** 2,
        until=counted.until,
        at_risk=middle,
        counted=sums,
        steep=by_each / longer,
        even=even,
        shifts=shifts,
        bunches=np.array([np.append(number, each[::fine]) / number.sum(), at_once]),
        constant=_at_one_time(events.reshape(strata, -1).sum(axis=0), SURE * whole),
        strata=strata,
    )


def _at_one_time(events: np.ndarray, noise: float) -> bool:
    """Whether nearly all are, and surely more than noise hides."""
    return bool(events.max() > max(ALIKE * events.sum(), noise))


def _entries(curator: Curator, plan: Plan, problem: Problem) -> tuple[np.ndarray, float]:
    """How many rows enter late in each cell, as released, and the sd of the noise of each number."""
    if not problem.delayed:
        return np.zeros(len(problem.edges) - 1), 0.0
    release = curator.release("entry_counts", plan.cost("entries"), edges=problem.edges[1:])
    return release.values[0], float(release.sds[0].max())


def _shown_until(problem: Problem, leave: np.ndarray, variance: float, least: float) -> np.ndarray:
    """Time since when noise hides whether rows of each stratum are at risk, or fewer are than `least`."""
    fine = len(leave) // problem.strata
    sums = variance * np.tile(np.arange(fine, 0, -1), problem.strata)
    at_risk = _until_the_end(leave, problem.strata) - leave / 2
    seen = (at_risk > np.maximum(least, SURE * np.sqrt(sums))).reshape(problem.strata, -1)
    return np.asarray(problem.edges[np.where(seen.any(axis=1), fine - np.argmax(seen[:, ::-1], axis=1), 0)])


def _at_risk(
    problem: Problem, counts: Sequence[np.ndarray], variances: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows that leave in each cell, that enter there, that are at risk in its middle, and variances of these.

    Counts are noisy ones of rows that leave within cells, at their ends, and that enter. One row at least is
    at risk.
    """
    found = [smoothed(problem, each, noise) for each, noise in zip(counts, variances, strict=True)]
    within, end, enter = (each for each, _ in found)
    middle = _until_the_end(within + end - enter, problem.strata) - (within - enter) / 2
    return within + end, enter, np.maximum(middle, 1.0), np.sum([error for _, error in found], axis=0)


def _trusted(counts: np.ndarray, spread: np.ndarray, sd: float) -> np.ndarray:
    """How far noisy counts are followed, from as many as are expected if they are spread over a run."""
    beyond = np.maximum((counts - spread) ** 2, 1e-300)
    return np.asarray(np.maximum(spread / (spread + sd**2), 1 - (SURE * sd) ** 2 / beyond))


def _leaving(leave: np.ndarray, middle: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By how many times a hazard is more than the share that fails of those in the middle of a cell.

    And by how many times a change of it is that of this share. Those at risk fall evenly in their logarithm,
    as under a steady hazard, while so many leave. So many as noise hides are taken to be left, and half a row
    at least.
    """
    most = 1 - np.maximum(np.sqrt(variances), 0.5) / middle
    half = np.maximum(np.abs(np.clip(leave / 2 / middle, -most, most)), 1e-6)
    return np.arctanh(half) / half, 1 / (1 - half**2)


def _of_those_at_risk(late: np.ndarray, leave: np.ndarray, strata: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells in which rows enter, and of those at risk in each cell the share that entered there.

    So many enter in each cell, and in each first one some; and this share of all who are at risk leaves in
    it, whenever they entered.
    """
    cells, fine = np.arange(len(late)), len(late) // strata
    late = np.maximum(late, cells % fine == 0)
    entries = np.flatnonzero(late)
    stay = np.log(np.clip(1 - leave, _LEAST_SHARE, 1.0))
    before = np.cumsum(stay) - stay
    there = (cells[:, None] // fine == entries // fine) & (cells[:, None] >= entries)
    logs = np.where(there, np.log(late[entries]) + before[:, None] - before[entries], -np.inf)
    left = np.exp(logs - logs.max(axis=1, keepdims=True))
    return entries, left / left.sum(axis=1, keepdims=True)


def _at_once(
    problem: Problem, runs: np.ndarray, rates: np.ndarray, surely: np.ndarray, unsure: np.ndarray
) -> np.ndarray:
    """Hazards that may come at any time of where they are: of runs, and of the first cell of each stratum.

    Until the lower bound of the time, or the first time after 0, nobody knows when rows fail.
    """
    lengths = np.tile(gained(problem, np.ones(1)), problem.strata).ravel()
    hazard, length = np.bincount(runs, rates), np.bincount(runs, lengths * surely)
    stratum, fine = np.unique(runs, return_index=True)[1], len(rates) // problem.strata
    return np.append(_faster(hazard, length, unsure, stratum // fine), rates[::fine])


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
    return until_the_end(numbers.reshape(strata, -1)).ravel()


def _mixed(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms of cumulative hazards of all rows, and of those of the baseline as multiples of them."""
    logs = np.linspace(-12 - values.max(), 12.0, 600)
    left = np.expm1(-np.exp(np.add.outer(logs, values))) @ weights
    spent = np.log(-np.log1p(np.maximum(left, 1e-15 - 1)))
    return spent, logs - spent


def _runs(numbers: np.ndarray, least: float, noise: float, stratum: np.ndarray) -> np.ndarray:
    """Numbers of runs of neighbours in a stratum whose sums reach `least`, and the noise of each so many.

    The last takes what is left.
    """
    found: list[int] = []
    for each in by_stratum(numbers, stratum):
        first = run = found[-1] + 1 if found else 0
        runs, total, count = [], 0.0, 0
        for number in each:
            runs.append(run)
            total, count = total + float(number), count + 1
            if total >= max(least, noise * math.sqrt(count)) * (1 - 1e-9):
                total, count, run = 0.0, 0, run + 1
        found += [min(number, max(run - 1, first)) for number in runs]
    return np.array(found)

"""Where rows leave observation: times of a survival curve, from a first look that is released.

See docs/theory/kaplan_meier.md#times.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.row_scale import SURE
from dpstats.moments.interval_counts import cells

# even times of the first look, and even ones of the logarithm, over so many decades below the upper bound
_EVEN, _STEPS, _DECADES = 15, 36, 6.0
# and those of the logarithm below these, two a decade: a nanosecond is 1e-18 of thirty years
_FEW, _LONGEST = 24, 18.0


def public_times(low: float, high: float, even: int = _EVEN) -> np.ndarray:
    """Return times after the lower public bound, up to the upper: even steps, and those of the logarithm."""
    steps = np.linspace(low, high, even + 1)[1:]
    if high > 0:
        short, shortest = high * 10.0**-_DECADES, high * 10.0**-_LONGEST
        near, far = np.geomspace(max(low, short), high, _STEPS + 1), np.geomspace(shortest, short, _FEW + 1)
        steps = np.concatenate([steps, near, far])
    return np.unique([*(time for time in map(_short, steps) if low < time < high), high])


class Look(NamedTuple):
    """What a first look shows of the rows of all groups together.

    Attributes
    ----------
    ends : array, shape (m + 1,)
        Of its cells, from the lower bound of the time on.
    left : array, shape (2, m + 1)
        Rows that have failed and that are censored until then.
    passed : array, shape (m + 1,)
        Share of those who leave until then, of failures and of all, each one half: of cells where any are
        seen, or evenly.
    """

    ends: np.ndarray
    left: np.ndarray
    passed: np.ndarray

    @classmethod
    def of(cls, curator: Curator, cost: float, groups: int, low: float, high: float) -> Self:
        """Release exits between public times."""
        edges = public_times(low, high)
        release = curator.release("exit_counts", cost, edges=edges, groups=groups)
        counts, variances = release.values[0].sum(axis=0), (release.sds[0] ** 2).sum(axis=0)
        ends, seen = np.append(low, edges), np.where(counts > SURE * np.sqrt(variances), counts, 0.0)
        left = _left(seen)
        parts = [part / part[-1] for part in (left[0], left.sum(axis=0)) if part[-1] > 0]
        evenly = (ends - low) / ((high - low) or 1.0)
        return cls(ends, _left(counts), np.mean(parts or [evenly], axis=0))

    def times(self, named: np.ndarray, parts: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return named times, and others that divide what leaves before each into so many even parts.

        Rows of a cell are taken to leave evenly in it.
        """
        passed = np.interp(np.append(self.ends[0], named), self.ends, self.passed)
        at = [
            before + rise * np.arange(1, count) / count
            for before, rise, count in zip(passed[:-1], np.diff(passed), parts, strict=True)
        ]
        found = map(_short, np.interp(np.concatenate(at), self.passed, self.ends))
        return np.unique([*named, *(time for time in found if self.ends[0] < time < named[-1])])

    def parts(self, named: np.ndarray, rows: float, groups: int, sd: float) -> np.ndarray:
        """Return into how many cells the interval before each named time is to be divided.

        Rows of all groups; each count of one of them has noise of this sd.
        """
        times = np.append(self.ends[0], named)
        left = np.array([np.interp(times, self.ends, each) for each in self.left])
        events, censored = np.maximum(np.diff(left), 0.0)
        at_risk = np.maximum(rows - left[:, :-1].sum(axis=0), events + censored)
        return cells(events / groups, censored / groups, at_risk / groups, sd)


def _left(counts: np.ndarray) -> np.ndarray:
    """Rows that have failed and that are censored until each end of a cell; the last count outlasts all."""
    events, within, at_end = counts.reshape(3, -1)
    return np.cumsum(np.insert([events, within + np.append(at_end[:-1], 0.0)], 0, 0.0, 1), 1)


def _short(time: float) -> float:
    return float(f"{time:.4g}")

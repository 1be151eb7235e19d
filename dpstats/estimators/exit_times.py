"""Where rows leave observation: times of a survival curve, from a first look that is released.

See docs/theory/kaplan_meier.md#times.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.row_scale import SURE
from dpstats.estimators.zoom import HIDDEN
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


class ExitLook(NamedTuple):
    """What a first look shows of the rows of all groups together.

    Attributes
    ----------
    ends : array, shape (m + 1,)
        Of its cells, from the lower bound of the time on.
    left : array, shape (2, m + 1)
        Rows that have failed and that are censored until then.
    passed : array, shape (m + 1,)
        Share of those who leave until then, of failures and of all, each one half, as far as noise lets it
        be told, and evenly in time beyond.
    rows : float
        That weigh: all that are read, unless some surely do not.
    """

    ends: np.ndarray
    left: np.ndarray
    passed: np.ndarray
    rows: float

    @classmethod
    def of(cls, curator: Curator, cost: float, groups: int, low: float, high: float) -> Self:
        """Release exits between public times."""
        edges = public_times(low, high)
        release = curator.release("exit_counts", cost, edges=edges, groups=groups)
        counts, variances = release.values[0].sum(axis=0), (release.sds[0] ** 2).sum(axis=0)
        ends, left, noise = np.append(low, edges), _left(counts), _left(variances)
        parts = zip((left[0], left.sum(axis=0)), (noise[0], noise.sum(axis=0)), strict=True)
        passed = np.mean([_passed(ends, *part) for part in parts], axis=0)
        missing = release.n - float(counts.sum())
        surely = missing > SURE * np.sqrt(variances.sum())
        return cls(ends, left, passed, max(release.n - surely * missing, 0.0))

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

    def parts(self, named: np.ndarray, groups: int, sd: float) -> np.ndarray:
        """Return into how many cells the interval before each named time is to be divided.

        Each count of one of the groups has noise of this sd.
        """
        times = np.append(self.ends[0], named)
        left = np.array([np.interp(times, self.ends, each) for each in self.left])
        events, censored = np.maximum(np.diff(left), 0.0)
        at_risk = np.maximum(self.rows - left[:, :-1].sum(axis=0), events + censored)
        return cells(events / groups, censored / groups, at_risk / groups, sd)


def _left(counts: np.ndarray) -> np.ndarray:
    """Rows that have failed and that are censored until each end of a cell; the last count outlasts all."""
    events, within, at_end = counts.reshape(3, -1)
    return np.cumsum(np.insert([events, within + np.append(at_end[:-1], 0.0)], 0, 0.0, 1), 1)


def _passed(ends: np.ndarray, left: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return the share of those who leave that has left until each end.

    Cells are halved again and again. In a half there are as many as if they left evenly in time and, of what
    is counted beyond these, nothing up to one sd of its noise, all from `SURE` sds on, and in between a share
    that grows with its square. In all there are no fewer than `HIDDEN` sds of noise.

    Parameters
    ----------
    ends, left, noise : array, shape (m + 1,)
        Of cells, with the numbers until each end as released, and the variances of their noise.
    """
    found = np.zeros(len(ends))
    found[-1] = max(left[-1], HIDDEN * np.sqrt(noise[-1]))
    spans = [(0, len(ends) - 1)]
    for first, last in spans:
        middle = (first + last) // 2
        if first < middle:
            even = (ends[middle] - ends[first]) / (ends[last] - ends[first])
            (half, both), (noise_half, noise_both) = (
                sums[[middle, last]] - sums[first] for sums in (left, noise)
            )
            beyond, variance = half - even * both, (1 - 2 * even) * noise_half + even**2 * noise_both
            trust = np.clip((beyond**2 / variance - 1) / (SURE**2 - 1), 0.0, 1.0)
            whole = found[last] - found[first]
            found[middle] = found[first] + np.clip(even * whole + trust * beyond, 0.0, whole)
            spans += [(first, middle), (middle, last)]
    return found / found[-1]


def _short(time: float) -> float:
    return float(f"{time:.4g}")

"""Where rows leave observation: times of a survival curve, from a first look that is released.

See docs/theory/kaplan_meier.md#times.
"""

from __future__ import annotations

import numpy as np

from dpstats.curator import Curator

__all__ = ["find_times", "how_many", "public_times"]

Array = np.ndarray

# of the first look: even times, and even ones of the logarithm over so many decades below the upper bound
_EVEN, _STEPS, _DECADES = 15, 36, 6.0
# rows of a cell in sds of their noise: where fewer are seen, none are taken to leave
_VISIBLE = 2.0
# times of a curve: more than the most make no table that anybody reads, fewer than the least no curve
_LEAST, _MOST = 8, 40


def public_times(low: float, high: float) -> Array:
    """Return the times of the first look, from the public bounds of the time alone."""
    steps = np.linspace(low, high, _EVEN + 1)[1:]
    if high > 0:
        least = max(low, high * 10.0**-_DECADES)
        steps = np.append(steps, np.geomspace(least, high, _STEPS + 1))
    return np.unique([*(time for time in map(_short, steps) if low < time < high), high])


def how_many(rows: float, sd: float) -> int:
    """Return how many times a curve of so many rows is to have, where counts have noise of this sd.

    Between two of J times rows / J leave, within which nothing is known of the curve; noise of the sum of the
    events and of the rows at risk until the end is sd (2 J)^(1/2). Twice the second is the first, at the
    least and at the most.
    """
    return int(np.clip((rows / (2 * np.sqrt(2) * sd)) ** (2 / 3), _LEAST, _MOST))


def find_times(curator: Curator, cost: float, edges: Array, groups: int, low: float, count: int) -> Array:
    """Release exits between public times, and choose `count` times between which about as many leave.

    Parameters
    ----------
    curator : Curator
    cost : float
    edges : array
        Of `public_times`.
    groups : int
        Of the curve; the times are those of all.
    low : float
        Lower bound of the time.
    count : int
    """
    release = curator.release("exit_counts", cost, edges=edges, groups=groups)
    kinds = release.values[0].sum(axis=0).reshape(3, -1)
    sds = np.sqrt((release.sds[0] ** 2).sum(axis=0)).reshape(3, -1)
    return _evenly(low, edges, kinds, sds, count)


def _evenly(low: float, edges: Array, kinds: Array, sds: Array, count: int) -> Array:
    """Return times that divide failures, and all who leave, into even parts: both count one half.

    Rows of a cell are taken to leave evenly in it. Where none are seen, the times are even.
    """
    kinds = np.where(kinds > _VISIBLE * sds, kinds, 0.0)
    kinds[2, -1] = 0.0  # outlast the grid
    parts = [part / part.sum() for part in (kinds[0], kinds.sum(axis=0)) if part.sum() > 0]
    ends = np.append(low, edges)
    reached = np.append(0.0, np.cumsum(np.mean(parts, axis=0) if parts else np.diff(ends)))
    found = np.interp(np.arange(1, count) / count * reached[-1], reached, ends)
    return np.unique([*(time for time in map(_short, found) if low < time < edges[-1]), edges[-1]])


def _short(time: float) -> float:
    return float(f"{time:.4g}")

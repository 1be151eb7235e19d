"""Cumulative hazard from noisy counts of exits between public times.

With Y_j and Y_{j+1} at risk at the ends of an interval in which D_j of them fail, the hazard there adds

    D_j log(Y_j / Y_{j+1}) / (Y_j - Y_{j+1}),

failures over the logarithmic mean of the numbers at risk. It is what constant hazards of failure and of
censoring within the interval give (Chiang's estimator of competing risks): without censoring the survival
curve is Kaplan and Meier's at the ends of intervals, and where both are rare it is Nelson and Aalen's. Being
smooth, it takes noise well. Standard errors are by the delta method in all counts, whose sampling variance is
Poisson's (the estimate does not change with their total) and whose noise variance is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["CumulativeHazard", "cumulative_hazard"]

Array = np.ndarray

FEWEST = 5.0  # sds of its noise: where fewer are left at risk, nothing is said
_SMALL = 1e-4


@dataclass(frozen=True)
class CumulativeHazard:
    """At the ends of J intervals; NaN from where too few are left at risk.

    Attributes
    ----------
    at_risk, events : array, shape (J,)
        Noisy numbers at the beginning of each interval, and in it.
    value : array, shape (J,)
        Never falls.
    se, se_privacy : array, shape (J,)
        Standard error, and the part of it that is privacy noise.
    """

    at_risk: Array
    events: Array
    value: Array
    se: Array
    se_privacy: Array


def cumulative_hazard(counts: Array, sds: Array) -> CumulativeHazard:
    """Return the cumulative hazard of one group.

    Parameters
    ----------
    counts, sds : array, shape (2 J + 1,)
        Released counts of events, of rows censored, and of rows that outlast the grid
        (:class:`dpstats.curator.statistics.exits.ExitCounts`), and the sds of their noise.
    """
    j = len(counts) // 2
    events, noise = counts[:j], sds**2
    at_risk = _left(counts, j)
    usable = np.cumprod(at_risk[1:] > FEWEST * np.sqrt(_left(noise, j)[1:])).astype(bool)
    first, last = np.where(usable, at_risk[:-1], 2.0), np.where(usable, at_risk[1:], 1.0)
    inverse, by_first, by_last = _inverse_mean(first, last)
    gradient = _gradient(events, inverse, by_first, by_last)
    privacy = gradient**2 @ noise
    sampling = np.maximum(gradient**2 @ counts, 0.0)
    lost = np.where(usable, 0.0, np.nan)
    return CumulativeHazard(
        at_risk[:-1], events, _rising(np.cumsum(events * inverse) + lost),
        np.sqrt(sampling + privacy) + lost, np.sqrt(privacy) + lost,
    )  # fmt: skip


def _left(counts: Array, j: int) -> Array:
    """Sums over this interval, the later ones and what outlasts the grid; shape (J + 1,)."""
    return np.cumsum(np.append(counts[:j] + counts[j : 2 * j], counts[-1])[::-1])[::-1]


def _inverse_mean(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """1 / logarithmic mean of a and b, and its derivatives: g(d) / m, g = atanh(d) / d, d = (a - b) / 2 m."""
    total = a + b
    d = (a - b) / total
    far = np.where(np.abs(d) < _SMALL, 0.5, d)
    g = np.where(np.abs(d) < _SMALL, 1 + d**2 / 3, np.arctanh(far) / far)
    slope = np.where(np.abs(d) < _SMALL, 2 * d / 3, (1 / (1 - far**2) - np.arctanh(far) / far) / far)
    value = 2 * g / total
    by_d = 2 * slope / total
    return value, by_d * 2 * b / total**2 - value / total, -by_d * 2 * a / total**2 - value / total


def _gradient(events: Array, inverse: Array, by_first: Array, by_last: Array) -> Array:
    """Derivatives of the J cumulative sums in all counts, shape (J, 2 J + 1)."""
    j = len(events)
    of_risk = np.zeros((j, j + 1))  # of each increment in the numbers at risk
    of_risk[np.arange(j), np.arange(j)] = events * by_first
    of_risk[np.arange(j), np.arange(1, j + 1)] = events * by_last
    of_exits = np.cumsum(of_risk, axis=1)  # a row counts in its interval and in all before
    of_events = of_exits[:, :j] + np.diag(inverse)
    return np.cumsum(np.hstack([of_events, of_exits], dtype=float), axis=0)


def _rising(values: Array) -> Array:
    """The curve nearest in the largest distance that never falls, and is never negative."""
    known = ~np.isnan(values)
    raw = values[known]
    nearest = (np.maximum.accumulate(raw) + np.minimum.accumulate(raw[::-1])[::-1]) / 2
    rising = np.full(len(values), np.nan)
    rising[known] = np.maximum(nearest, 0.0)
    return rising

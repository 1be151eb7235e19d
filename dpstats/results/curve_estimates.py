"""What follows from a released survival curve: values between times, quantiles, restricted means, a test.

Between the times of its grid a curve has the constant hazards that its estimate supposes, so that the
cumulative hazard is a straight line there, and so are its limits.
See docs/theory/kaplan_meier.md#between-the-times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from dpstats.moments.interval_counts import Comparison, CumulativeHazard
from dpstats.moments.mixture import Tails
from dpstats.results.document import Document, Shown
from dpstats.results.estimates import points
from dpstats.results.format import figures, p_value, z_value
from dpstats.results.intervals import critical, refuse_alpha
from dpstats.results.table import Column, Table

Array = np.ndarray
_SMALL = 1e-4  # a rise of the cumulative hazard below which a series has more digits


def half_widths(se: Array, one: Array, level: float, laplace: bool) -> Array:
    """Return half-widths of intervals; Laplace noise has the longest tails. NaN where there is no error."""
    refuse_alpha(level)
    half, known = critical(level) * se, np.isfinite(se)
    if laplace:
        half[known] = Tails("laplace", 1, one[known]).half_widths(level, np.diag(se[known] ** 2))
    return half


@dataclass(frozen=True, slots=True)
class Hazard:
    """Cumulative hazard of one group, at 0 and at the times where it is known, with its limits.

    Attributes
    ----------
    times, value, low, high : array, shape (K,)
        None of the last three ever falls.
    """

    times: Array
    value: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, times: Array, found: CumulativeHazard, level: float, laplace: bool) -> Hazard:
        """Return it from where nothing has failed, at 0, on."""
        half = half_widths(found.each.se, found.each.one, level, laplace)
        known = np.isfinite(found.value)
        value, half = found.value[known], half[known]
        begin = [0.0] if times[0] > 0 else []
        lines = (value, np.maximum(value - half, 0.0), value + half)
        rising = (np.append(begin, np.maximum.accumulate(line)) for line in lines)
        return cls(np.append(begin, times[known]), *rising)

    def at(self, asked: Array) -> Array:
        """Return value and limits at times, shape (3, m); NaN outside what is known."""
        lines = (self.value, self.low, self.high)
        if not len(self.times):
            return np.full((3, len(asked)), np.nan)
        return np.array([np.interp(asked, self.times, line, np.nan, np.nan) for line in lines])

    def reached(self, hazards: Array) -> Array:
        """Return when hazards are reached, with limits, shape (3, m).

        Where the curve ends before, there is no time, the lower limit is the end, and there is no upper one.
        """
        end = self.times[-1] if len(self.times) else np.nan
        lines = ((self.value, np.nan), (self.high, end), (self.low, np.inf))
        return np.array([[self._first(line, each, beyond) for each in hazards] for line, beyond in lines])

    def _first(self, line: Array, hazard: float, beyond: float) -> float:
        j = int(np.searchsorted(line, hazard))
        if j == len(line):
            return float(beyond)
        if j == 0:
            return float(self.times[0])
        share = (hazard - line[j - 1]) / (line[j] - line[j - 1])
        return float(self.times[j - 1] + share * (self.times[j] - self.times[j - 1]))


def restricted_mean(times: Array, found: CumulativeHazard, until: float) -> tuple[float, Array]:
    """Return the area below the curve until a time, and its derivatives in the hazards, shape (J,).

    NaN where the curve does not reach so far, or begins after 0.
    """
    known = np.isfinite(found.value)
    weights = np.zeros(len(times))
    if times[0] <= 0 or not known.any() or until > times[known][-1]:
        return math.nan, weights
    area, before, hazard = 0.0, 0.0, 0.0
    for j in range(len(times)):
        share = min((until - before) / (times[j] - before), 1.0)
        next_hazard = hazard + share * (found.value[j] - hazard)
        length = share * (times[j] - before)
        part, by_first, by_last = _area(hazard, next_hazard)
        area += length * part
        weights[j] += length * by_last * share
        if j:
            weights[j - 1] += length * (by_first + by_last * (1 - share))
        if share < 1 or until <= times[j]:
            break
        before, hazard = float(times[j]), float(found.value[j])
    return area, weights


def _area(first: float, last: float) -> tuple[float, float, float]:
    """Mean of exp(-H) over H between two values, and its derivatives in both."""
    rise, top = last - first, math.exp(-first)
    if rise < _SMALL:
        mean, slope = 1 - rise / 2 + rise**2 / 6, -0.5 + rise / 3
    else:
        mean = -math.expm1(-rise) / rise
        slope = (math.exp(-rise) - mean) / rise
    return top * mean, -top * (mean + slope), top * slope


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LogRankTest(Shown):
    """Test that groups have the same hazards: under the null, `statistic` is chi-square with `df` degrees.

    Attributes
    ----------
    statistic : float
    df : int
    pvalue : float
    frame : DataFrame
        ``group``, noisy ``events``, and those ``expected`` if all groups had the same hazards.

    Examples
    --------
    >>> import dpstats as dps
    >>> drives = dps.datasets.load("hdfail")
    >>> curves = dps.kaplan_meier("Surv(time, status) ~ rsc", drives.data, drives.schema)
    >>> test = curves.fit(dps.zcdp(0.5)).logrank()
    >>> test.df
    1
    """

    statistic: float
    df: int
    pvalue: float
    frame: pd.DataFrame

    @property
    def document(self) -> Document:
        """The printed table."""
        p = p_value(self.pvalue)
        relation = p if p.startswith("<") else f"= {p}"
        rows = tuple(
            (str(group), figures(events), figures(expected))
            for group, events, expected in self.frame.itertuples(index=False)
        )
        return Document(
            tables=(
                Table(
                    (Column("group", "l"), *points("events", "expected")),
                    rows,
                    title=f"Log-rank test: chi2({self.df}) = {z_value(self.statistic)}, p {relation}",
                ),
            ),
            notes=("Noisy counts; the test counts sampling and privacy noise.",),
        )


def logrank_test(groups: tuple[str, ...], found: Comparison) -> LogRankTest:
    """Return the test of k groups, by the scores of all but the last."""
    score, cov = (found.events - found.expected)[:-1], found.cov[:-1, :-1]
    statistic = float(score @ np.linalg.pinv(cov, hermitian=True) @ score)
    frame = pd.DataFrame({"group": groups, "events": found.events, "expected": found.expected})
    return LogRankTest(statistic, len(score), float(special.chdtrc(len(score), statistic)), frame)

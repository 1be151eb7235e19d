"""What follows from a released survival curve: values between times, quantiles, restricted means, a test.

Between the times of its grid a curve is drawn as constant hazards have it, the cumulative hazard a straight
line. Its limits suppose nothing of the hazards there but that curves never rise: the upper limit of survival
is that of the time before, the lower one that of the time after.
See docs/theory/kaplan_meier.md#between-the-times.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from dpstats.moments.interval_counts import Comparison, CumulativeHazard
from dpstats.moments.mixture import Tails
from dpstats.results.document import Document, Result, point_columns
from dpstats.results.intervals import critical, refuse_alpha
from dpstats.results.table import Column, Table, chi_square_text, figures

_SMALL = 1e-4  # a rise of the cumulative hazard below which a series has more digits


def half_widths(se: np.ndarray, one: np.ndarray, level: float, laplace: bool) -> np.ndarray:
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
        None of the last three ever falls. The limits hold until the next time, and from the one before; at 0,
        where some may have failed already, the upper one is that of the first time.
    """

    times: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, times: np.ndarray, found: CumulativeHazard, level: float, laplace: bool) -> "Hazard":
        """Return it from where nothing has failed, at 0, on."""
        half = half_widths(found.each.se, found.each.one, level, laplace)
        known = np.isfinite(found.value)
        value, half = found.value[known], half[known]
        begin = [0.0] if times[0] > 0 else []
        lower, upper = np.maximum(value - half, 0.0), value + half
        first = upper[: len(begin)] if len(upper) else begin
        rising = (
            np.append(start, np.maximum.accumulate(line))
            for start, line in ((begin, value), (begin, lower), (first, upper))
        )
        return cls(np.append(begin, times[known]), *rising)

    def at(self, asked: np.ndarray) -> np.ndarray:
        """Return value and limits at times, shape (3, m); NaN outside what is known."""
        found = np.full((3, len(asked)), np.nan)
        if len(self.times):
            known = (self.times[0] <= asked) & (asked <= self.times[-1])
            inside = asked[known]
            before = np.searchsorted(self.times, inside, side="right") - 1
            after = np.searchsorted(self.times, inside)
            found[:, known] = np.interp(inside, self.times, self.value), self.low[before], self.high[after]
        return found

    @property
    def band(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Corners of the limits from time to time: times, lower and upper limits."""
        return np.repeat(self.times, 2)[1:-1], np.repeat(self.low[:-1], 2), np.repeat(self.high[1:], 2)

    def reached(self, hazards: np.ndarray) -> np.ndarray:
        """Return when hazards are reached, with limits, shape (3, m).

        The limits are times of the grid: the last one before which the upper limit does not reach a hazard,
        and the first one at which the lower limit does. Where the curve ends before, there is no time, the
        lower limit is the end, and there is no upper one.
        """
        if not len(self.times):
            return np.broadcast_to(np.array([[np.nan], [np.nan], [np.inf]]), (3, len(hazards)))
        value = np.interp(hazards, self.value, self.times, right=np.nan)
        low = self.times[np.maximum(np.searchsorted(self.high, hazards) - 1, 0)]
        return np.array([value, low, np.append(self.times, np.inf)[np.searchsorted(self.low, hazards)]])


def restricted_mean(
    times: np.ndarray, found: CumulativeHazard, until: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return areas until a time, shape (3,), and their derivatives in the hazards, shape (3, J).

    They are the area below the curve, that below the least of all curves through the same values at the times
    of the grid, which falls right after each, and that below the greatest, which falls right before the next.
    NaN where the curve does not reach so far, or begins after 0.
    """
    known, weights = np.isfinite(found.value), np.zeros((3, len(times)))
    if times[0] <= 0 or not known.any() or until > times[known][-1]:
        return np.full(3, np.nan), weights
    last = np.fmax.accumulate(found.value)
    first = np.append(0.0, last[:-1])
    lengths = np.diff(np.minimum(times, until), prepend=0.0)
    share = lengths / np.diff(times, prepend=0.0)
    mean, by_first, by_last = _mean(first, first + share * (last - first))
    upper, lower = np.exp(-first), np.exp(-last)
    weights[0] = lengths * by_last * share
    weights[0, :-1] += (lengths * (by_first + by_last * (1 - share)))[1:]
    weights[1] = -lengths * lower
    weights[2, :-1] = -(lengths * upper)[1:]
    return np.array([mean, lower, upper]) @ lengths, weights


def _mean(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean of exp(-H) over H between two values, and its derivatives in both."""
    rise, top = last - first, np.exp(-first)
    small = rise < _SMALL
    far = np.where(small, 1.0, rise)
    mean = np.where(small, 1 - rise / 2 + rise**2 / 6, -np.expm1(-far) / far)
    slope = np.where(small, -0.5 + rise / 3, (np.exp(-far) - mean) / far)
    return top * mean, -top * (mean + slope), top * slope


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LogRankTest(Result):
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

    def _page(self) -> Document:
        rows = tuple(
            (str(group), figures(events), figures(expected))
            for group, events, expected in self.frame.itertuples(index=False)
        )
        return Document(
            tables=(
                Table(
                    (Column("group", "l"), *point_columns("events", "expected")),
                    rows,
                    title=f"Log-rank test: {chi_square_text(self.statistic, self.df, self.pvalue)}",
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

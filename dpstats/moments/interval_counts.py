"""Cumulative hazard from noisy counts of exits between public times.

With Y_j and Y_{j+1} at risk at the ends of an interval in which D_j of them fail, the hazard there adds

    D_j log(Y_j / Y_{j+1}) / (Y_j - Y_{j+1}),

failures over the logarithmic mean of the numbers at risk. It is what constant hazards of failure and of
censoring within the interval give (Chiang's estimator of competing risks): without censoring the survival
curve is Kaplan and Meier's at the ends of intervals, and where both are rare it is Nelson and Aalen's. Rows
censored exactly at an end are at risk through the interval and leave after it, as in Kaplan and Meier's.
Being smooth, it takes noise well. Standard errors are by the delta method in all counts, whose sampling
variance is Poisson's (the estimate does not change with their total) and whose noise variance is known; and
by what hazards that change within an interval may do, a share of D_j C_j / (Y_j Y_{j+1}), the difference that
it makes whether all C_j rows are censored at its beginning or at its end. What makes it so in one interval,
such as times that are rounded, does so in all: these errors add up.

See docs/theory/kaplan_meier.md.
"""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

FEWEST = 5.0  # sds of its noise: where fewer are left at risk, nothing is said
# half a difference over the mean, below which the next term of a series, d^4 / 5, is less than rounding
_SMALL = 1e-4
# sd of the error by when rows are censored within an interval, over its range: that of any place in it as
# likely. Where all times are rounded up to months, and times of the grid are others, the error is at its end
_CHANGING = 12**-0.5
# of the variance by sampling, that noise of more cells than a time needs may add: an eighth of its sd
_FREE = 0.25
# times of a curve: more than the most make no table that anybody reads, fewer than the least no curve
_LEAST, _MOST = 8, 40


@dataclass(frozen=True)
class Errors:
    """Errors of m sums of the cumulative hazard at several times, each array of shape (m,).

    Attributes
    ----------
    se, se_privacy, se_grid : array
        Standard error, and the parts of it by noise, and by what is not known of places between two times.
    one : array
        Variance of one coordinate of Laplace noise that, beside normal noise for the rest of the variance,
        has the fourth moment of the noise of all counts together, where these have Laplace noise.
    """

    se: np.ndarray
    se_privacy: np.ndarray
    se_grid: np.ndarray
    one: np.ndarray


@dataclass(frozen=True)
class CumulativeHazard:
    """At the ends of J intervals; NaN from where too few are left at risk.

    Attributes
    ----------
    at_risk, events : array, shape (J,)
        Noisy numbers at the beginning of each interval, and in it.
    value : array, shape (J,)
        Never falls.
    gradient : array, shape (J, 3 J)
        Of the value in all counts.
    counts, noise : array, shape (3 J,)
        Released counts, and the variance of their noise.
    changing : array, shape (J,)
        Standard error by hazards which change within each interval; in all of them in one direction.
    """

    at_risk: np.ndarray
    events: np.ndarray
    value: np.ndarray
    gradient: np.ndarray
    counts: np.ndarray
    noise: np.ndarray
    changing: np.ndarray

    @cached_property
    def each(self) -> Errors:
        """Errors at each time; NaN where there is no value."""
        unknown = np.where(np.isnan(self.value), np.nan, 0.0)
        found = self.errors(np.eye(len(self.value)))
        return Errors(*(getattr(found, part.name) + unknown for part in fields(found)))

    @property
    def cut_short(self) -> bool:
        """Whether more rows seem left where the values end than noise hides of a curve of one time.

        They have to be more by an sd of their noise, which is that of all later counts.
        """
        unknown = np.isnan(self.value)
        later = _at_risk(len(unknown))[1][unknown.argmax()]
        left, sd = later @ self.counts, np.sqrt(later @ self.noise)
        return bool(unknown.any() and left - sd > FEWEST * np.sqrt(self.noise[-1]))

    def errors(self, weights: np.ndarray) -> Errors:
        """Return errors of sums of the values.

        Parameters
        ----------
        weights : array, shape (m, J)
            0 where there is no value.
        """
        gradient = weights @ self.gradient
        later = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]  # an increment is in all values that follow
        privacy, between = gradient**2 @ self.noise, np.abs(later) @ self.changing
        sampling = np.maximum(gradient**2 @ self.counts, 0.0)
        return Errors(
            np.sqrt(sampling + privacy + between**2),
            np.sqrt(privacy),
            between,
            np.sqrt(gradient**4 @ self.noise**2),
        )


def cumulative_hazard(counts: np.ndarray, sds: np.ndarray) -> CumulativeHazard:
    """Return the cumulative hazard of one group.

    Parameters
    ----------
    counts, sds : array, shape (3 J,)
        Released counts of events, of rows censored before an end and at one, and of rows that outlast the
        grid (:class:`dpstats.curator.statistics.interval_counts.ExitCounts`), and the sds of their noise.
    """
    j = len(counts) // 3
    events, noise = counts[:j], sds**2
    entering, leaving = _at_risk(j)
    at_risk, left = entering @ counts, leaving @ counts
    usable = np.cumprod((at_risk > 0) & (left > FEWEST * np.sqrt(leaving @ noise))).astype(bool)
    first, last = np.where(usable, at_risk, 2.0), np.where(usable, left, 1.0)
    inverse, by_first, by_last = _inverse_mean(first, last)
    increments = (events * by_first)[:, None] * entering + (events * by_last)[:, None] * leaving
    increments[np.arange(j), np.arange(j)] += inverse
    changing = _CHANGING * np.maximum(events * counts[j : 2 * j], 0.0) / (first * last)
    unknown = np.where(usable, 0.0, np.nan)
    value = _rising(np.cumsum(events * inverse) + unknown)
    gradient = np.cumsum(increments, axis=0)  # of each sum in all counts
    return CumulativeHazard(at_risk, events, value, gradient, counts, noise, changing)


@dataclass(frozen=True)
class Comparison:
    """Events of G groups beside those expected if all had the same hazards.

    Attributes
    ----------
    events, expected : array, shape (G,)
        Noisy.
    cov : array, shape (G, G)
        Of their difference: sampling and privacy noise.
    """

    events: np.ndarray
    expected: np.ndarray
    cov: np.ndarray


def comparison(counts: np.ndarray, sds: np.ndarray) -> Comparison:
    """Compare the hazards of groups by the scores of the log-rank test.

    In each interval the events of all groups are expected in proportion to the logarithmic means of the
    numbers at risk. Intervals count while enough of all groups together are left at risk.

    Parameters
    ----------
    counts, sds : array, shape (G, 3 J)
        As of `cumulative_hazard`, of each group.
    """
    j, noise = counts.shape[1] // 3, sds**2
    entering, leaving = _at_risk(j)
    left, sd_left = leaving @ counts.sum(axis=0), np.sqrt(leaving @ noise.sum(axis=0))
    usable = np.cumprod(left > FEWEST * sd_left).astype(bool)
    events = counts[:, :j] * usable
    first, last = np.maximum(counts @ entering.T, 1.0), np.maximum(counts @ leaving.T, 1.0)
    inverse, by_first, by_last = _inverse_mean(first, last)
    watched = 1 / inverse  # numbers at risk through each interval, (G, J)
    share, all_events = watched / watched.sum(axis=0), events.sum(axis=0)
    # dU_g = sum_j sum_h (1[g = h] - share_gj) (dD_hj - D_j dL_hj / L_j), in the counts of h
    rate = all_events / watched.sum(axis=0)
    by_counts = (rate * watched**2)[:, :, None] * (
        by_first[:, :, None] * entering + by_last[:, :, None] * leaving
    )
    by_counts[:, np.arange(j), np.arange(j)] += 1.0
    by_counts *= usable[:, None]
    apart = np.eye(len(counts))[:, :, None] - share[:, None, :]
    gradient = np.einsum("ghj,hjc->ghc", apart, by_counts)
    privacy = np.einsum("ahc,hc,bhc->ab", gradient, noise, gradient)
    chance = np.einsum("j,aj,abj->ab", np.maximum(all_events, 0.0), share, apart.transpose(1, 0, 2))
    return Comparison(events.sum(axis=1), share @ all_events, chance + privacy)


def how_many(rows: float, sd: float) -> int:
    """Return how many times a curve of so many rows is to have, where counts have noise of this sd.

    Between two of J times rows / J leave, within which nothing is known of the curve; noise of the sum of the
    events and of the rows at risk until the end is sd (2 J)^(1/2). Twice the second is the first, at the
    least and at the most.
    """
    return int(np.clip((rows / (2 * np.sqrt(2) * sd)) ** (2 / 3), _LEAST, _MOST))


def cells(events: np.ndarray, censored: np.ndarray, at_risk: np.ndarray, sd: float) -> np.ndarray:
    """Return into how many cells intervals are to be divided, where counts have noise of this sd.

    In J cells D events and C censored rows, of Y, leave D C / (J Y^2) open, of which `_CHANGING` is an sd,
    and bring noise sd J^(1/2) / Y: both together are least at the root. More cells tell more between the
    times; of them so many are taken as `_FREE` of the variance by sampling, D / Y^2, allows. All intervals
    together have no more than a curve whose times are found, but for one each.
    """
    wanted = np.maximum(
        (2 * (_CHANGING * events * censored / np.maximum(at_risk, 1.0) / sd) ** 2) ** (1 / 3),
        _FREE * events / sd**2,
    )
    return np.rint(np.maximum(wanted * min(1.0, _MOST / max(wanted.sum(), 1.0)), 1.0)).astype(int)


def _at_risk(j: int) -> tuple[np.ndarray, np.ndarray]:
    """Which counts are at risk at the beginning of each interval and at its end; shape (J, 3 J)."""
    interval, later = np.arange(j)[:, None], np.arange(j)
    censored_at_end = later >= interval  # the last of them outlast the grid
    entering, leaving = (
        np.hstack([still, still, censored_at_end]).astype(float)
        for still in (later >= interval, later > interval)
    )
    return entering, leaving


def _inverse_mean(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """1 / logarithmic mean of a and b, and its derivatives: g(d) / m, g = atanh(d) / d, d = (a - b) / 2 m."""
    total = a + b
    d = (a - b) / total
    far = np.where(np.abs(d) < _SMALL, 0.5, d)
    g = np.where(np.abs(d) < _SMALL, 1 + d**2 / 3, np.arctanh(far) / far)
    slope = np.where(np.abs(d) < _SMALL, 2 * d / 3, (1 / (1 - far**2) - np.arctanh(far) / far) / far)
    value = 2 * g / total
    by_d = 2 * slope / total
    return value, by_d * 2 * b / total**2 - value / total, -by_d * 2 * a / total**2 - value / total


def _rising(values: np.ndarray) -> np.ndarray:
    """The curve nearest in the largest distance that never falls, and is never negative."""
    known = ~np.isnan(values)
    raw = values[known]
    nearest = (np.maximum.accumulate(raw) + np.minimum.accumulate(raw[::-1])[::-1]) / 2
    rising = np.full(len(values), np.nan)
    rising[known] = np.maximum(nearest, 0.0)
    return rising

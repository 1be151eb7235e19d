"""Limits of a count of failures whose chances are known with an error.

A sum of independent units that fail with chances p_i has the mean m = sum p_i and the variance
sum p_i (1 - p_i). So has a binomial count of n' = m^2 / sum p_i^2 units of chance p' = m / n', a Poisson
count where chances are small. It is taken for that count, with log(-log(1 - p')) normal about its estimate by
the delta method, so that no limit is negative, or above the number of units. Limits are quantiles of this
mixture. See docs/theory/results.md#failures-of-a-fleet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from dpstats.results.intervals import critical

Array = np.ndarray

POINTS = 301  # of the normal law: its quantiles at even steps of probability
_LEAST = 1e-12  # a number of failures, or of units that stand, that is none but for rounding


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of failures, each array of shape (J,).

    Attributes
    ----------
    expected : array
        Sum of chances.
    squares, variance : array
        Sums of p^2 and of p (1 - p), the variance of the number about its mean.
    se : array
        Standard error of `expected`, infinite where noise hides it.
    units : float
        Of which the failures are some.
    """

    expected: Array
    squares: Array
    variance: Array
    se: Array
    units: float

    def of_mean(self, level: float) -> tuple[Array, Array]:
        """Return limits of the expected number."""
        like, log_hazard, se = self._binomial()
        half = critical(level) * se
        low, high = (like * _chance(log_hazard + sign * half) for sign in (-1, 1))
        return self._limits(low, high, self.expected)

    def of_number(self, level: float) -> tuple[Array, Array]:
        """Return limits of the number itself, which are whole."""
        like, log_hazard, se = self._binomial()
        z = special.ndtri((np.arange(POINTS) + 0.5) / POINTS)
        chance = _chance(log_hazard[:, None] + se[:, None] * z)
        tail = special.ndtr(-critical(level))
        low, high = (_quantile(like, chance, q) for q in (tail, 1 - tail))
        return self._limits(low, high, np.round(self.expected))

    @property
    def _open(self) -> Array:
        """Whether the number is still open: neither none nor all of the units are sure to fail."""
        return (self.expected > _LEAST) & (self.variance > _LEAST)

    def _binomial(self) -> tuple[Array, Array, Array]:
        """Return n', log(-log(1 - p')) and its standard error; any numbers where they are not used."""
        used = self._open & np.isfinite(self.se)
        mean, squares, variance = (
            np.where(used, each, other)
            for each, other in ((self.expected, 1.0), (self.squares, 0.5), (self.variance, 0.5))
        )
        fails, stands = squares / mean, variance / mean
        few = fails < 0.5  # which of the two has all digits
        hazard = -np.where(few, np.log1p(-np.where(few, fails, 0.0)), np.log(stands))
        like = mean**2 / squares
        return like, np.log(hazard), np.where(used, self.se, 0.0) / (like * stands * hazard)

    def _limits(self, low: Array, high: Array, sure: Array) -> tuple[Array, Array]:
        """Return limits; of what noise hides, none and all units."""
        known = np.isfinite(self.se)
        low, high = (np.where(self._open, limit, sure) for limit in (low, high))
        return np.where(known, low, 0.0), np.where(known, np.minimum(high, self.units), self.units)


def _chance(log_hazard: Array) -> Array:
    with np.errstate(over="ignore"):
        return -np.expm1(-np.exp(log_hazard))


def _quantile(like: Array, chance: Array, q: float) -> Array:
    """Return the least whole number that is reached with probability `q`, by halving."""
    low, high = np.full(len(like), -1.0), np.ceil(like)  # not reached, reached
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        left = like - middle
        reached = special.betaincc(middle[:, None] + 1, np.where(left > 0, left, 1.0)[:, None], chance)
        enough = np.where(left > 0, reached.mean(axis=1), 1.0) >= q
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high

"""Laws of a number by its skewness and kurtosis, as quantiles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import optimize, special, stats

__all__ = ["shaped"]

Array = np.ndarray

_STRAIGHT = 0.01  # a skewness that nobody sees
_LEAST_KURTOSIS = 0.02  # of a symmetric law that is not normal
_LONG = 1.55  # times the squared skewness: rows of a log-normal law have more kurtosis, those of a gamma less
_TAILED = 3.0  # times what a log-normal law of the same skewness has: tails on both sides
_LOGS = 0.003, 4.0  # sds of a logarithm
_CUTS = 0.5, 5.0  # normal deviates beyond which there is no row
_CLOSE = 1e-4  # of both
_MOST_GAMMA = 1e-4  # times the squared skewness: of a beta law that is all but one of gamma

_AT = np.linspace(-5.0, 5.0, 401)  # normal deviates, over which moments are sums
_WEIGHTS = np.exp(-(_AT**2) / 2) / np.exp(-(_AT**2) / 2).sum()


def shaped(at: Array, skewness: float, kurtosis: float | None) -> Array:
    """Values at normal deviates, of a law of mean 0 and sd 1 with this skewness and, in its family, kurtosis.

    A shifted log-normal law has the skewness; its longest rows are cut where kurtosis is less than that of
    the whole law, as that of any table is. Below `_LONG` skew^2 it is a beta law (Pearson's first type),
    whose parameters add up to r and are apart by r (r + 2) |skew| / sqrt((r + 2)^2 skew^2 + 16 (r + 1));
    and Student's where tails are long on both sides.
    """
    if kurtosis is None or abs(kurtosis) < _LEAST_KURTOSIS:
        return _skewed(at, skewness, np.inf)
    if kurtosis < _LONG * skewness**2 or kurtosis < -_LEAST_KURTOSIS:
        return _light(at, skewness, kurtosis)
    whole = _moments(_skewed(_AT, skewness, np.inf))[1]
    if abs(skewness) < _STRAIGHT or kurtosis > _TAILED * whole:
        law = stats.t(4 + 6 / kurtosis)
        return np.asarray(law.ppf(special.ndtr(at)) / law.std())
    return _skewed(at, skewness, kurtosis)


def _light(at: Array, skewness: float, kurtosis: float) -> Array:
    """A beta law."""
    room = max(3 * skewness**2 - 2 * kurtosis, _MOST_GAMMA * skewness**2)
    r = 6 * (kurtosis + 2 - skewness**2) / room
    apart = (r + 2) * skewness / np.sqrt((r + 2) ** 2 * skewness**2 + 16 * (r + 1))
    law = stats.beta(r * (1 - apart) / 2, r * (1 + apart) / 2)
    return np.asarray((law.ppf(special.ndtr(at)) - law.mean()) / law.std())


def _skewed(at: Array, skewness: float, kurtosis: float) -> Array:
    """exp(s min(Z, c)) of mean 0 and sd 1; a normal law without skewness.

    With c as far as it goes for an s, kurtosis falls as s grows at the same skewness.
    """
    if abs(skewness) < _STRAIGHT:
        return at
    size = abs(skewness)

    def cut(s: float) -> float:
        return _root(lambda c: _moments(np.exp(s * np.minimum(_AT, c)))[0] - size, *_CUTS)

    def excess(s: float) -> float:
        return kurtosis - _moments(np.exp(s * np.minimum(_AT, cut(s))))[1]

    s = _root(lambda s: _moments(np.exp(s * _AT))[0] - size, *_LOGS)
    s = s if np.isinf(kurtosis) else _root(excess, s, _LOGS[1])
    c, sign = cut(s), np.sign(skewness)
    own = np.exp(s * np.minimum(_AT, c))
    mean = _WEIGHTS @ own
    return np.asarray(
        sign * (np.exp(s * np.minimum(sign * at, c)) - mean) / np.sqrt(_WEIGHTS @ (own - mean) ** 2)
    )


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that rises is 0, or the end that is nearest."""
    if rising(low) >= 0 or rising(high) <= 0:
        return low if rising(low) >= 0 else high
    return float(optimize.brentq(rising, low, high, xtol=_CLOSE))


def _moments(values: Array) -> tuple[float, float]:
    """Skewness and kurtosis less 3, of values at normal deviates."""
    centred = values - _WEIGHTS @ values
    variance = _WEIGHTS @ centred**2
    return float(_WEIGHTS @ centred**3 / variance**1.5), float(_WEIGHTS @ centred**4 / variance**2 - 3)

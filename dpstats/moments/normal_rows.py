"""Lengths of normal rows, and what weighting leaves of long ones: of length v it is min(1, R / v)^2."""

import functools
import math

import numpy as np
import scipy

_WIDEST = 40.0  # radius beyond which no normal row of 1,000 coordinates lies


@functools.cache  # a fit of few rows would spend a twentieth of its time here
def normal_squares(k: float, count: int) -> np.ndarray:
    """Squared lengths of normal rows of k numbers, each as likely as the others; nobody writes to them."""
    return np.asarray(
        2 * scipy.special.gammaincinv(k / 2, (np.arange(count) + 0.5) / count) if k else [0.0] * count
    )


def mean_weight(k: int, radius: float) -> float:
    """Mean weight of normal rows of k coordinates: E min(1, radius^2 / v), v of chi square with k degrees."""
    square = radius**2
    if k > 2:
        beyond = float(scipy.special.chdtrc(k - 2, square)) / (k - 2)
    elif k == 2:
        beyond = float(scipy.special.exp1(square / 2)) / 2
    else:
        density = math.exp(-square / 2) / math.sqrt(2 * math.pi)
        beyond = 2 * (density / radius - float(scipy.special.ndtr(-radius)))
    return float(scipy.special.chdtr(k, square)) + square * beyond


def kept_square(k: int, radius: float) -> float:
    """What weighting leaves of the second moments of normal rows of k coordinates."""
    square = radius**2
    return float(scipy.special.chdtr(k + 2, square) + square / k * scipy.special.chdtrc(k, square))


def kept_at(k: int, weight: float) -> float:
    """What weighting leaves of second moments over what it leaves of all weight, by the mean weight."""
    least = mean_weight(k, 1 / _WIDEST)
    if not least < weight < mean_weight(k, _WIDEST):
        return 1.0
    radius = scipy.optimize.brentq(lambda each: mean_weight(k, each) - weight, 1 / _WIDEST, _WIDEST)
    return kept_square(k, radius) / weight

"""How long a row and how large a residual may be: public rules that trade bias for privacy noise.

The noise of a coefficient, in sampling sds, is 2 R L / (sqrt n mu) for rows of length at most R and residuals
of at most L sds (docs/theory/linear.md#one-joint-release). Rows beyond R are weighted, which costs a little
efficiency, and under a wrong model moves the estimand. Residuals beyond L are clipped, which moves the
intercept if errors are skewed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from dpstats.estimators.engine.bounds import FREE, NEARLY_ALL, NOTHING, base_square
from dpstats.estimators.gram.tail import MOST_SQUARE, NO_TAIL, Tail

_MOST_LIMIT = 12.0  # residual sds: e^-13 of one, which it may move an intercept by, is an error of 10^11 rows
# residual sds at which residuals may be clipped
_LIMITS = np.arange(1.5, _MOST_LIMIT + 0.01, 0.05)
# Where the last pilot clips residuals, in their sds, if none were counted beyond their bulk. Of normal ones
# its line has a third less noise than at `NEARLY_ALL`; what skewed ones lose there, its prior knows.
NEAR = 2.0
# of k entries, what is clipped moves those along the constant and along the predictor
_MOVED = 2.0
# Below `FREE` sampling sds noise matters little, and rows and residuals may be longer, so that under a wrong
# model the estimate is that of least squares; but no row so long that the matrix has more noise than this, as
# an operator
_MATRIX_NOISE = 0.4
# radii that are compared, in so many parts, and how often, as the limit of residuals follows them
_RADII, _PARTS, _STEPS = 41, 6, 2
# The noise of the matrix of r^2 a a', as an operator, that is afforded for longer rows. More of it hides
# errors that grow with the mean: where they are skewed too, .85 of 100 slopes were held, and not .94
# (tests/models/test_linear_honest.py). Random designs do not show it.
_MEAT_NOISE = 0.5
# sizes of r^2 a a', of r^4 and of y^2 in the final release; they make its noise 4 % larger
MEAT, FOURTH, SPREAD = 0.7, 0.7, 0.35
# The response is clipped at 4 sds for its variance, or farther, up to 8, where noise stays below this share
_SPREAD_NOISE, _LEAST_SPREAD, _MOST_SPREAD = 0.01, 4.0, 8.0


@dataclass(frozen=True)
class Bounds:
    """Public limits of the final release.

    Attributes
    ----------
    radius : float
        Of rows.
    limit : float
        Of residuals, in residual sds.
    meat_limit : float
        Of row times residual, where their outer product is released.
    spread_limit : float
        Of the response, in its sds, where its variance is released.
    """

    radius: float
    limit: float
    meat_limit: float
    spread_limit: float = _LEAST_SPREAD


def lost_of_mean(limit: float | np.ndarray) -> np.ndarray:
    """How far clipping at so many sds moves the mean of exponential errors, in sds."""
    return np.asarray(np.exp(-(np.asarray(limit) + 1)))


def square_of_normal(limit: float | np.ndarray) -> np.ndarray:
    """Mean square of standard normal residuals that are clipped there."""
    limit = np.asarray(limit)
    kept = 1 - 2 * special.ndtr(-limit)
    density = np.exp(-(limit**2) / 2) / math.sqrt(2 * math.pi)
    return np.asarray(kept - 2 * limit * density + limit**2 * (1 - kept))


class Residuals(NamedTuple):
    """What is known, before the last release, of residuals beyond a limit.

    Attributes
    ----------
    tail : Tail
        What was counted beyond their bulk.
    weighted : bool
        Whether rows have weights of their own: residuals of heavy rows may then be many sds large.
    missing : callable
        What takes limits to how far they move an intercept, in residual sds, for all that is told of rows
        beyond them.
    """

    tail: Tail = NO_TAIL
    weighted: bool = False
    missing: Callable[[np.ndarray], np.ndarray] = lost_of_mean


USUAL = Residuals()
# what takes radii, and sds of noise at them over that of sampling, to variances of lines
Variances = Callable[[np.ndarray, np.ndarray], np.ndarray]


def moved_share(k: int) -> float:
    """Of k entries of a line, what clipping moves."""
    return min(_MOVED / k, 1.0)


def choose_bounds(
    n: int,
    mu: float,
    k: int,
    allowed: tuple[float, float],
    variances: Variances | None = None,
    residuals: Residuals = USUAL,
) -> Bounds:
    """Bounds for n rows of k coordinates and a release of cost mu.

    Parameters
    ----------
    n, mu, k
        Number of rows, cost for a unit of one row, number of coordinates.
    allowed : tuple of float
        The longest row and the largest residual that the declared bounds allow.
    variances : callable, optional
        What is known of how far long rows of less weight may move a line, see
        :meth:`dpstats.estimators.gram.lengths.LongRows.variances`.
    residuals : Residuals
        What is known of these.
    """
    farthest, widest = allowed

    def noise(radius: float, limit: float) -> float:
        return 2 * radius * limit / (math.sqrt(n) * mu)

    spread = min(max(math.sqrt(_SPREAD_NOISE * SPREAD * n * mu / math.sqrt(8)), _LEAST_SPREAD), _MOST_SPREAD)
    if noise(farthest, widest) <= NOTHING:
        return Bounds(farthest, widest, farthest * widest, spread)
    radius = math.sqrt(base_square(k))
    limit = _best_limit(n, noise(radius, 1.0), residuals, moved_share(k))
    room = FREE / noise(radius, limit)
    quiet = radius * math.sqrt(_MATRIX_NOISE * n * mu / (4 * math.sqrt(k) * base_square(k)))
    ends = radius, max(quiet, radius)
    longest = math.sqrt(k * (1 + math.log(40 * n)))  # within which n normal rows of k coordinates lie
    usual = radius = max(min(radius * room, quiet, longest), radius)
    for _ in range(_STEPS):
        if variances is None or (longer := _best_radius(noise(1.0, limit), variances, ends)) <= usual:
            break
        radius, limit = longer, _best_limit(n, noise(longer, 1.0), residuals, moved_share(k))
    limit = max(limit, min(limit * FREE / noise(radius, limit), _MOST_LIMIT))
    radius, limit = min(radius, farthest), min(limit, widest)
    most = limit if residuals.weighted or residuals.tail.any else NEARLY_ALL
    return Bounds(radius, limit, _meat_limit(n, mu, k, radius, limit, most), spread)


def pilot_bounds(
    n: int,
    mu: float,
    k: int,
    allowed: tuple[float, float],
    tail: Tail = NO_TAIL,
    limit: float = NEARLY_ALL,
) -> Bounds:
    """Bounds for a release that only improves the coordinates of the next; see :func:`choose_bounds`.

    Residuals are clipped at `limit`, or farther out where what was counted there is most of their spread.
    """
    radius = math.sqrt(base_square(k))
    if tail.square > MOST_SQUARE:
        limits = np.append(limit, np.maximum(tail.upper, limit))
        error = (2 * radius / mu * limits) ** 2 + (n * tail.lost(limits)) ** 2
        limit = float(limits[np.argmin(error)])
    radius, limit = min(radius, allowed[0]), min(limit, allowed[1])
    return Bounds(radius, limit, radius * limit)


def _best_radius(noise: float, variances: Variances, ends: tuple[float, float]) -> float:
    """Radius at which variances of a line are least, on the scale of their logarithms."""
    radii = np.geomspace(*ends, _RADII)
    some = np.array_split(radii, _PARTS)  # of many columns all of them would take much memory
    sizes = [np.mean(np.log(variances(each, noise * each)), axis=-1) for each in some]
    return float(radii[np.argmin(np.concatenate(sizes))])


def _best_limit(n: int, noise: float, residuals: Residuals, moved: float) -> float:
    """L of least error: what noise and sampling make of an entry of the score, and n times a squared bias.

    The bias is what is missing of exponential errors, or what counted rows lose, in a share `moved` of
    entries.

    In units of the variance of an entry of the score of normal residuals, whose slope clipping at L makes
    P(|z| < L); `noise` is the sd of the noise over that of sampling at L = 1.
    """
    tail = residuals.tail
    limits = np.append(_LIMITS, tail.upper)
    kept, left = 1 - 2 * special.ndtr(-limits), square_of_normal(limits)
    lost = np.maximum(residuals.missing(limits), math.sqrt(moved) * tail.lost(limits))
    error = (left + (noise * limits) ** 2) / np.maximum(kept, 1e-6) ** 2 + n * lost**2
    return float(limits[np.argmin(error)])


def _meat_limit(n: int, mu: float, k: int, radius: float, limit: float, sds: float) -> float:
    """At least 3 residual sds at the usual radius, at most `sds` at this one, between what noise affords."""
    sd = math.sqrt(8) * radius**2 / (n * mu)
    affordable = _MEAT_NOISE * MEAT * radius**2 / (sd * math.sqrt(2 * k))
    least, most = NEARLY_ALL**2 * base_square(k), sds**2 * radius**2
    return min(math.sqrt(min(max(affordable, least), most)), radius * limit)

"""What clipping takes of mean and variance of residuals, told from the kurtosis of what is left.

See docs/theory/linear.md#covariance.
"""

import functools
import math

import scipy
from scipy import special

# Laws with heavier tails than the exponential lose more of their mean, as about this power of their excess
# kurtosis over that of the exponential law, both clipped: lognormal, chi square and Pareto, L from 3 to 8.
_HEAVIER = 3.5
_FARTHEST = 12.0  # sds: what exponential errors lose beyond is hidden by rounding
_LEAST_GROWTH = 0.03  # of exponential errors: a wider limit that adds less tells nothing
_LEFT = 0.05  # of a row, where a tail ends
_LEAST_LIMIT = 2.0  # in sds; a narrower one has left too little of residuals to compare with


def tail_rate(limit: float) -> tuple[float, float]:
    """Loss of variance per unit of kurtosis, and the kurtosis of clipped normal residuals.

    Parameters
    ----------
    limit : float
        Where residuals are clipped, in units of their sd after clipping.

    Returns
    -------
    rate : float
        Of exponential errors: the share of variance that clipping takes, relative to what it leaves, divided
        by how far the kurtosis of what is left exceeds that of clipped normal errors.
    normal : float
        The latter.
    """
    loss, excess, normal = _tail_rate(_known(limit))
    return loss / excess, normal


def power_variance(limit: float, kurtosis: float, rows: float, noise: float = math.inf) -> float:
    """Share of what is left of a variance that clipping may take from errors whose tail is a power.

    Kurtosis beyond that of clipped normal errors tells how many rows are at the limit at most. Exponential
    errors have their kurtosis without such rows; the heavier tails are than theirs, the less of it is of
    others. Squares of these rows may have no mean: a share y^-2 is farther than y limits, as far as a
    twentieth of a row is left.

    Parameters
    ----------
    limit, kurtosis
        As of :func:`tail_mean`.
    rows : float
    noise : float, optional
        Of the kurtosis, where all that is beyond may be of such rows.
    """
    _, excess, normal = _tail_rate(_known(limit))
    heavy = max((kurtosis - normal) / excess, 1.0)
    share = max(excess * (heavy - heavy**-_HEAVIER), kurtosis - normal - noise) / limit**4
    return share * limit**2 * math.log(max(rows * share / _LEFT, 1.0))


def tail_mean(limit: float, kurtosis: float) -> float:
    """How far clipping at `limit` may have moved the mean of residuals, both in sds of what is left.

    Exponential errors lose e^-(limit + 1), normal ones and all of as light tails nothing. Whether tails are
    skewed at all is not known. No law of variance 1 has more than 1 / limit of its mean beyond the limit.
    """
    _, excess, normal = _tail_rate(_known(limit))
    heavy = max((kurtosis - normal) / excess, 0.0)
    return min(math.exp(-(limit + 1)) * max(heavy, heavy**_HEAVIER), 1 / limit)


def grown_kurtosis(limit: float, before: float, growth: float) -> tuple[float, float]:
    """Kurtosis of clipped residuals, told from what a wider limit adds to their mean square.

    Parameters
    ----------
    limit : float
        Where residuals are clipped, in units of the sd that the narrower limit had left.
    before : float
        The narrower limit, in sds of what it leaves itself.
    growth : float
        Their mean square now, in those units.

    Returns
    -------
    kurtosis : float
        Of what is left; that of normal residuals where it did not grow.
    slope : float
        Of the kurtosis in the growth; infinite if the limit is hardly wider, or the other very narrow.
    """
    _, excess, normal = _tail_rate(_known(limit / math.sqrt(max(growth, 1.0))))
    usual = _growth(_known(limit), min(before, _FARTHEST)) if before >= _LEAST_LIMIT else 0.0
    if usual < _LEAST_GROWTH:
        return normal, math.inf
    return normal + max(growth - 1, 0.0) * excess / usual, excess / usual


@functools.lru_cache(maxsize=256)
def _growth(limit: float, before: float) -> float:
    """What exponential errors gain of their mean square, both limits as of :func:`grown_kurtosis`."""
    square = scipy.optimize.brentq(
        lambda square: _clipped_exponential(before * math.sqrt(square))[0] - square, 0.1, 1.0
    )
    return _clipped_exponential(limit * math.sqrt(square))[0] / float(square) - 1


def _known(limit: float) -> float:
    return round(min(max(limit, 1.5), _FARTHEST), 2)


@functools.lru_cache(maxsize=256)
def _tail_rate(limit: float) -> tuple[float, float, float]:
    """Share of variance that exponential errors lose, their excess kurtosis then, the normal's kurtosis."""
    tail = float(special.ndtr(-limit))
    density = math.exp(-(limit**2) / 2) / math.sqrt(2 * math.pi)
    # integrals of z^2 and z^4 within the limit, and the limit's own power beyond
    second = 1 - 2 * tail - 2 * limit * density + 2 * tail * limit**2
    fourth = 3 * (1 - 2 * tail) - 2 * density * (limit**3 + 3 * limit) + 2 * tail * limit**4
    normal = fourth / second**2
    left_second, left_fourth = _clipped_exponential(limit)
    excess = left_fourth / left_second**2 - normal
    return (1 - left_second) / left_second, excess, normal


def _clipped_exponential(limit: float) -> tuple[float, float]:
    """E min(|e|, limit)^2, and of the fourth power, of e = an exponential variable less its mean.

    Its variance is 1, and its lower end, -1, counts in full. Integrals by parts.
    """
    beyond = math.exp(-limit - 1)
    return 1 - 2 * (limit + 1) * beyond, 9 - 4 * (limit**3 + 3 * limit**2 + 6 * limit + 6) * beyond

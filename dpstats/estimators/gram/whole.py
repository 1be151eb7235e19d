"""Second moments of all rows, where long rows were shortened.

A line does not mind how its rows are weighted; a penalty does: how far it pulls depends on the covariance of
the covariates over all rows. Each column's variance is known from the first stage, where no row is shortened,
and from the weighted moments with what counts of long rows tell of that which these lost; covariances from
these. See docs/theory/linear.md#ridge.
"""

import math

import numpy as np
from scipy import special

from dpstats.estimators.gram.bounds import Bounds
from dpstats.estimators.gram.coordinates import Coordinates
from dpstats.estimators.gram.lengths import NEXT, LongRows
from dpstats.estimators.matrices import ROUNDING, SMALLEST, by_precision
from dpstats.estimators.row_scale import SURE, RowScale, categories
from dpstats.estimators.zoom import HIDDEN
from dpstats.moments import LinearMoments
from dpstats.moments.design import ANY
from dpstats.moments.normal_rows import kept_square, mean_weight
from dpstats.moments.roots import with_floor

# By how much shortening may take more or less of a variance than of a normal column's, as a share: beside
# three other columns it takes up to .4 more of exponential, lognormal and t columns, and of rare values.
_OTHER = 0.3
_EDGE = math.sqrt(12 / 7)  # of a cell of one octave, over its root mean square
# What a column has beyond where it was seen, in units of what an exponential has there: so much per unit of
# the kurtosis of what was seen beyond about a normal's, at least and at most. On exponential, lognormal and t
# columns the relative error of a variance is then one to one and a half of these sds.
_NORMAL, _HEAVIER, _LIGHTEST, _HEAVIEST = 2.5, 1.5, 0.25, 4.0
_FAR = 30.0  # sds, beyond which nothing is


def of_all_rows(
    moments: LinearMoments, place: Coordinates, bounds: Bounds, long: LongRows, own: bool
) -> tuple[np.ndarray | None, np.ndarray]:
    """Mean a a' as if no row were shortened, None where none is; and the sds of :func:`_in_units`.

    Parameters
    ----------
    moments : LinearMoments
        In the coordinates `place`, of rows shortened at these bounds.
    place : Coordinates
    bounds : Bounds
    long : LongRows
        Rows that were counted, which lost of their squares.
    own : bool
        Whether the scale of `place` is that of these rows: not of public ones, nor without their weights.
    """
    scale, k, radius = place.scale, len(place.line), bounds.radius
    weight = min(moments.gram_weight + long.lost(radius), 1.0)
    mean, within = _centred((moments.released.gram + long.lost_squares(radius)) / weight, place)
    if radius >= place.farthest:
        return None, _in_units(scale, moments.released.n, within, np.zeros(len(within)), 0 * within)
    seen = np.diag(within)
    stretch, error = _stretched(moments, place, radius, long, own, weight, seen)
    # What one column loses more of than another is its own, and not what they have in common; if it is, their
    # covariance is larger. Nor is it known how far what long rows lost goes together.
    common = within * np.minimum.outer(stretch, stretch)
    heard = np.diag(_centred(moments.released.gram / moments.gram_weight, place)[1]) * np.exp(
        _usual(k, radius)
    )
    lost = np.sqrt(np.maximum(seen * stretch - heard, 0.0))
    apart = np.hypot(within * np.sqrt(np.outer(stretch, stretch)) - common, ANY * np.outer(lost, lost))
    first = int(scale.constant)
    mean = mean * (not own)  # the scale is centred at the mean of all rows
    whole = np.eye(k)
    whole[:first, first:], whole[first:, :first] = mean, mean.T
    whole[first:, first:] = common + mean.T @ mean
    whole = place.whitening @ whole @ place.whitening
    return whole, _in_units(scale, moments.released.n, common, error, apart)


def _stretched(
    moments: LinearMoments,
    place: Coordinates,
    radius: float,
    long: LongRows,
    own: bool,
    weight: float,
    seen: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Variances of columns over those that are `seen` of weighted rows, and their relative sds.

    Shares of several levels belong together: they stay as they are seen, and are off by the rest.

    Parameters
    ----------
    moments, place, radius, long, own
        As in :func:`of_all_rows`.
    weight : float
        Mean weight of rows in what is seen.
    seen : array, shape (d,)
    """
    usual = _usual(len(place.line), radius)
    scale, first, back = place.scale, int(place.scale.constant), np.linalg.inv(place.whitening)
    variance, told = _first_stage(scale, own)
    hidden = moments.released.noise_gram / weight * np.diag(back @ moments.noise_shape @ back)[first:] / seen
    told = np.maximum(np.hypot(told, hidden), ROUNDING)
    along = (back @ long.axes)[first:] ** 2
    noise, hidden = (
        np.linalg.norm(along * sds, axis=1) / weight / seen for sds in long.doubt_of_squares(radius)
    )
    other = np.hypot(_OTHER, noise)
    # shortening makes no variance larger: where less is told than is seen, the column's ends were not found
    missed = np.maximum(np.log(seen * np.exp(usual) / variance), 0.0)
    beyond = _unseen(scale) if own else np.zeros(len(told))
    short = ((missed > SURE * told) | (beyond > 0)) & ~scale.binary
    missed = np.sqrt(np.maximum(missed**2 - told**2, 0.0))
    told = np.where(missed > SURE * other, np.inf, np.hypot(told, missed))  # what was not seen tells nothing
    other = np.hypot(other, hidden)
    more = by_precision(np.log(variance / seen), told, np.full(len(seen), usual), other)
    stretch, together = np.exp(more), np.zeros(len(seen), dtype=bool)
    for columns, _ in categories(scale.levels):
        together |= columns & (columns.sum() > 1)
    # rows beyond the cells of the first stage are those that noise hides in lengths of rows as well
    error = np.hypot(1 / np.hypot(1 / told, 1 / other), beyond)
    error = np.hypot(error, np.where(together, np.log(stretch), 0.0))
    # the variance of a column whose ends were not found is known up to a factor, and may be as much larger
    error = np.where(short, np.expm1(SURE * error) / SURE, error)
    return np.where(together, 1.0, stretch), error


def _usual(k: int, radius: float) -> float:
    """Logarithm of what shortening takes of the variances of normal rows."""
    return math.log(mean_weight(k, radius) / kept_square(k, radius))


def _centred(gram: np.ndarray, place: Coordinates) -> tuple[np.ndarray, np.ndarray]:
    """Means, a row of them or none, and covariance of covariates on the scale of `place`, by mean a a'."""
    back, first = np.linalg.inv(place.whitening), int(place.scale.constant)
    rows = back @ gram @ back
    mean = rows[:first, first:]
    return mean, with_floor(rows[first:, first:] - mean.T @ mean, SMALLEST)


def _in_units(
    scale: RowScale, n: int, within: np.ndarray, error: np.ndarray, apart: np.ndarray
) -> np.ndarray:
    """sds of covariances and, in the row of an intercept, of means: in the user's units; shape (k, k).

    Parameters
    ----------
    scale : RowScale
    n : int
    within : array
        Covariance on the scale.
    error : array
        Relative sds of variances, to which those of sampling are added as far as they are not a normal's.
    apart : array
        sds of covariances beside these.
    """
    first = int(scale.constant)
    error = np.sqrt(error**2 + np.maximum(_kurtosis(scale) - 3, 0) / n)
    sds = np.hypot(within * np.hypot.outer(error, error) / 2, apart)
    np.fill_diagonal(sds, np.diag(within) * error)
    every = np.zeros((first + len(within),) * 2)
    every[first:, first:] = sds * np.outer(scale.scale, scale.scale)
    every[:first, first:] = error / 2 * scale.scale  # in sds, means are known at least twice as well
    return every


def _first_stage(scale: RowScale, own: bool) -> tuple[np.ndarray, np.ndarray]:
    """Variances of columns as the first stage tells them, and their relative sds; infinite if it does not."""
    error = scale.error.copy() if own else np.full(len(scale.error), np.inf)
    for group, _ in scale.norms:
        error[group] = np.inf
    lost, unknown = _beyond(scale)
    return scale.ratio * (1 + lost), np.hypot(error, unknown)


def _beyond(scale: RowScale) -> tuple[np.ndarray, np.ndarray]:
    """What of normal variances, and of others, lies beyond where each column's rows were seen.

    Columns that were not looked for, or have two values, have nothing there.
    """
    seen = _EDGE * np.max(np.where(scale.shares > 0, np.abs(scale.places), 0.0), axis=1, initial=0.0)
    reach = np.where(scale.binary | (seen <= 0), _FAR, np.minimum(seen, _FAR))
    density, beyond = np.exp(-(reach**2) / 2) / math.sqrt(2 * math.pi), special.ndtr(-reach)
    normal = 2 * (beyond + reach * density - reach**2 * beyond)
    exponential = np.exp(-reach - 1) * (2 * reach + 2)
    return normal, exponential * np.clip(_heavier(scale), _LIGHTEST, _HEAVIEST)


def _unseen(scale: RowScale) -> np.ndarray:
    """What rows that noise hides beyond the cells of a column may add, as a share of its variance.

    0 where the last cell does not hold most of the squares that were seen, or the column is no heavier than
    those that :func:`_beyond` knows. Rows beyond are no more than noise hides, or go with the cell before.
    """
    seen = scale.shares > 0
    squares, found = scale.shares * scale.places**2, np.zeros(len(scale.center))
    for places, bounds in ((-scale.places, -scale.lower[:-1]), (scale.places, scale.upper[:-1])):
        last = np.argmax(np.where(seen, places, 0.0), axis=1)[:, None]
        held, end = (np.take_along_axis(part, last, axis=1)[:, 0] for part in (scale.shares, _EDGE * places))
        low = np.where(end > 0, end, np.inf)
        while np.any(low < bounds):
            held, high = np.minimum(scale.missed / HIDDEN, NEXT * held), np.minimum(2 * low, bounds)
            found += np.where(low < bounds, held * (low * high - end**2), 0.0) ** 2
            low = 2 * low
    farthest = np.argmax(np.where(seen, np.abs(scale.places), 0.0), axis=1)[:, None]
    most = np.take_along_axis(squares, farthest, axis=1)[:, 0] > squares.sum(axis=1) / 2
    return np.sqrt(found) * (most & (_heavier(scale) > _HEAVIEST))


def _heavier(scale: RowScale) -> np.ndarray:
    """By how much heavier each column is than about a normal one, by the cells where its rows were seen."""
    return _HEAVIER * (_kurtosis(scale) - _NORMAL)


def _kurtosis(scale: RowScale) -> np.ndarray:
    """Of each column by the cells where its rows were seen, of one of two values by their places."""
    count, second, fourth = (np.sum(scale.shares * scale.places**power, axis=1) for power in (0, 2, 4))
    found = np.where(second > 0, fourth * count / np.maximum(second, 1e-12) ** 2, 3.0)
    two = scale.lower[:-1] ** 2 + scale.upper[:-1] ** 2 - 1
    return np.where(scale.binary, two, found)

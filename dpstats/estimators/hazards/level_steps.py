"""Coefficients of levels by what their scores say, which is not in proportion to them.

Rows of a 1 have as many failures as they have, whatever coefficient is tried, and are expected to have e^-t
times as many where the truth lies t beyond it. So a step by the information of their failures is 1 - e^-t:
too short upwards, never more than 1, and too long downwards. A reference level, which has no column, is one
of them, and so are both values of a flag. See docs/theory/levels.md.
"""

from dataclasses import replace

import numpy as np

from dpstats.estimators.hazards.information import Known
from dpstats.estimators.level_scores import FEWEST_EVENTS, REACH, SHIFTS, level
from dpstats.estimators.matrices import ROUNDING, SMALLEST
from dpstats.estimators.row_scale import RowScale, sums_of_values

_CURVE = -np.expm1(-SHIFTS)
_MOST = 0.9  # of all failures of a level, that a point may surely have too few of: a step of 2.3 in logs


def bent(step: np.ndarray, scale: RowScale) -> np.ndarray:
    """A step of coefficients of standardised columns, (d,), that of levels to where scores say."""
    ways, rows, shares = _levels(scale)
    apart = rows.T @ step
    return step + ways @ ((1 - shares) * (-np.log1p(-np.minimum(apart, _MOST)) - apart))


def read_levels(
    scale: RowScale,
    points: np.ndarray,
    step: np.ndarray,
    error: np.ndarray,
    sampling: np.ndarray,
    few: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What scores of levels say beyond a step, factors of its sds, and levels with an open end.

    Of these two arrays, shape (2, 1 + d, m): changes of all log hazards and of coefficients that move the
    line of rows of a level, or one value of a flag, by 1, and no other; and what tells how far it is from
    the others. The estimate is where effects of levels are.

    Parameters
    ----------
    scale : RowScale
    points : array, shape (T, d)
        Coefficients of standardised columns at which scores were read.
    step : array, shape (d,)
        Mean Newton step.
    error, sampling : array, shape (d, d)
        Covariance of its error, and the part of sampling in it.
    few : array of bool
        As :func:`hardly_failing` has it.
    """
    ways, rows, shares = _levels(scale)
    apart, at = rows.T @ step, rows.T @ points.mean(axis=0)
    sds, sampled = (np.sqrt(np.sum(rows * (part @ rows), axis=0)) for part in (error, sampling))
    found = [
        level(_CURVE, *each) for each in zip(shares, (points @ rows).T, apart, sds, sampled, strict=True)
    ]
    shifts, factors = np.array(found).reshape(-1, 2).T
    open_ended = few | np.isinf(factors)
    moved = ways * np.where(open_ended, 1.0, 1 - shares)
    more = np.abs(moved) @ (sds * np.where(open_ended, 0.0, factors - 1))
    shifts = np.where(open_ended, np.clip(at + shifts, -REACH, REACH) - at, shifts)
    longer = 1 + more / np.maximum(np.sqrt(np.diag(error)), 1e-300)
    levels = np.array([np.vstack([shares, ways]), np.vstack([0 * shares, rows])])
    return moved @ (shifts - apart), longer, levels[:, :, open_ended]


def hardly_failing(scale: RowScale, known: Known, n: int, events: float) -> np.ndarray:
    """Levels, a reference among them, and values of flags of which there may be hardly a failure; shape (m,).

    Failures are those that the first stage saw, or the releases of the information, whichever surely has
    more.
    """
    ways, _, shares = _levels(scale)
    first = shares * (1 - shares) - 2 * np.sqrt(scale.middle_error**2 @ ways**2)
    return np.asarray(np.maximum(events * first, n * known.surely(ways)) < FEWEST_EVENTS)


def _levels(scale: RowScale) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What moves levels and values of flags, (d, m), what tells how far they are from all others, and shares.

    The second is of rows whose other columns are at their means. Shares are those of failures, by the first
    stage.
    """
    each = sums_of_values(replace(scale, constant=True))
    sums, rows = np.hstack(each), np.hstack([np.linalg.pinv(one).T for one in each])
    shares = np.clip(sums[0], 0.0, 1.0)
    ways = np.where(np.abs(sums[1:]) > ROUNDING * scale.scale[:, None], sums[1:], 0.0)
    return ways, rows[1:] / np.maximum(1 - shares, SMALLEST), shares

"""Coefficients of 0/1 columns by what their scores say, which is not in proportion to them.

Rows of a 1 have as many failures as they have, whatever coefficient is tried, and are expected to have e^-t
times as many where the truth lies t beyond it. So a step by the information of their failures is 1 - e^-t: too
short upwards, never more than 1, and too long downwards. See docs/theory/levels.md.
"""

from __future__ import annotations

import numpy as np

from dpstats.estimators.levels import SHIFTS, level
from dpstats.estimators.row_scale import RowScale

Array = np.ndarray

_CURVE = -np.expm1(-SHIFTS)
_MOST = 0.9  # of all failures of a level, that a point may surely have too few of: a step of 2.3 in logs


def bent(step: Array, scale: RowScale) -> Array:
    """A step of coefficients of standardised columns, (d,), those of 0/1 columns to where scores say."""
    widths = (scale.upper - scale.lower)[:-1]
    return np.where(scale.binary, -np.log1p(-np.minimum(step * widths, _MOST)) / widths, step)


def read_levels(scale: RowScale, points: Array, step: Array, sds: Array, sampling: Array) -> tuple[Array, Array]:
    """What scores of 0/1 columns say beyond a step, and factors of its sds; infinite if they leave an end open.

    Parameters
    ----------
    scale : RowScale
    points : array, shape (T, d)
        Coefficients of standardised columns at which scores were read.
    step, sds, sampling : array, shape (d,)
        Mean Newton step, the sds of its error, and the part of sampling in them.
    """
    widths, shares = (scale.upper - scale.lower)[:-1], upper_shares(scale)
    beyond, factors = np.zeros(len(step)), np.ones(len(step))
    for i in np.flatnonzero(scale.binary):
        linear = (widths[i] * each[i] for each in (step, sds, sampling))
        found = level(_CURVE, float(shares[i]), widths[i] * points[:, i], *linear)
        beyond[i], factors[i] = found.shift / widths[i] - step[i], found.factor
    return beyond, factors


def upper_shares(scale: RowScale) -> Array:
    """Shares of the failures at the upper end of each column, were all at either; shape (d,)."""
    return np.asarray(np.clip(-scale.lower / (scale.upper - scale.lower), 0, 1)[:-1])

"""Coefficients of 0/1 columns by what their scores say, which is not in proportion to them.

Rows of a 1 have as many failures as they have, whatever coefficient is tried, and are expected to have e^-t
times as many where the truth lies t beyond it. So a step by the information of their failures is 1 - e^-t:
too short upwards, never more than 1, and too long downwards. See docs/theory/levels.md.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpstats.estimators.hazards.information import Known
from dpstats.estimators.levels import FEWEST_EVENTS, SHIFTS, level
from dpstats.estimators.row_scale import RowScale, sums_of_values

Array = np.ndarray

_ROUNDING = 1e-9  # of codes of levels
_CURVE = -np.expm1(-SHIFTS)
_MOST = 0.9  # of all failures of a level, that a point may surely have too few of: a step of 2.3 in logs


def bent(step: Array, scale: RowScale) -> Array:
    """A step of coefficients of standardised columns, (d,), those of 0/1 columns to where scores say."""
    widths = (scale.upper - scale.lower)[:-1]
    return np.where(scale.binary, -np.log1p(-np.minimum(step * widths, _MOST)) / widths, step)


def read_levels(
    scale: RowScale, points: Array, step: Array, sds: Array, sampling: Array
) -> tuple[Array, Array]:
    """What scores of 0/1 columns say beyond a step, and factors of its sds; infinite if an end is open.

    Parameters
    ----------
    scale : RowScale
    points : array, shape (T, d)
        Coefficients of standardised columns at which scores were read.
    step, sds, sampling : array, shape (d,)
        Mean Newton step, the sds of its error, and the part of sampling in them.
    """
    widths = (scale.upper - scale.lower)[:-1]
    shares = np.clip(-scale.lower[:-1] / widths, 0, 1)
    beyond, factors = np.zeros(len(step)), np.ones(len(step))
    for i in np.flatnonzero(scale.binary):
        linear = (widths[i] * each[i] for each in (step, sds, sampling))
        found = level(_CURVE, float(shares[i]), widths[i] * points[:, i], *linear)
        beyond[i], factors[i] = found.shift / widths[i] - step[i], found.factor
    return beyond, factors


def few_events(scale: RowScale, known: Known, n: int, events: float) -> Array:
    """Columns of levels of which there may be hardly a failure, or hardly one without; shape (d,).

    Failures of a flag, and of each level, a reference among them, are those that the first stage saw, or the
    releases of the information, whichever surely has more. Where levels are told against one that may have
    none, all that move with it are lost.
    """
    sums = sums_of_values(replace(scale, constant=True))
    ways = np.where(np.abs(sums[1:]) > _ROUNDING * scale.scale[:, None], sums[1:], 0.0)
    shares = np.clip(sums[0], 0.0, 1.0)
    first = shares * (1 - shares) - 2 * np.sqrt(scale.middle_error**2 @ ways**2)
    surely = np.maximum(events * first, n * known.surely(ways))
    return np.asarray((ways[:, surely < FEWEST_EVENTS] != 0).any(axis=1))

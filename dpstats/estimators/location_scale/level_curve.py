"""What the score of a level's rows says of a change of their lives.

See docs/theory/levels.md#the-score-of-a-level.
"""

import functools

import numpy as np

from dpstats.estimators.levels import SHIFTS, slope_in_middle
from dpstats.estimators.location_scale.event_law import POINTS
from dpstats.families import Family
from dpstats.families.tapers import Taper

_EARLIEST = -14.0  # residual at which hardly any row has failed
_FARTHEST = 8.0  # end of watching, whatever noise makes of a coefficient
_END = 0.1  # steps of the residual at which watching ends, so that a curve serves many levels


def level_curve(family: Family, cut: Taper, fraction: float, slope: float) -> np.ndarray:
    """Newton steps of a level if lives are longer than predicted by `SHIFTS`, in sigmas.

    Parameters
    ----------
    family : Family
    cut : Taper
        Of the scores, with their floor.
    fraction : float
        Of all rows that fail; those of a level are taken to be watched to the same times.
    slope : float
        Coefficient of the level, in sigmas.
    """
    end = np.clip(family.quantile(min(fraction, 0.999)) - slope, -_FARTHEST, _FARTHEST)
    return _curve(family, cut, round(float(end) / _END))


@functools.lru_cache(maxsize=256)
def _curve(family: Family, cut: Taper, end: int) -> np.ndarray:
    """Expected score over the information of the events, rows watched to the same residual.

    The score is the integral of h1 (hazard - true hazard) over those that live. The information is known by
    all rows together, of the events' own as much as the cut leaves of rows that are well predicted, and by
    what the cut leaves where these rows fail: it is taken for the larger of the two.
    """
    z = np.linspace(_EARLIEST, end * _END, POINTS)
    true = z - SHIFTS[:, None]
    living, hazard = family.sf(true), family.hazard(true)
    h1 = np.prod(cut.at(z)[:2], axis=0)
    score = np.trapezoid(living * h1 * (family.hazard(z) - hazard), z, axis=1)
    events = np.trapezoid(living * hazard * family.log_hazard_slope(true) ** 2, z, axis=1)
    left = slope_in_middle(score) / events[len(events) // 2]
    known = events * left
    if family.bounded:
        known = np.maximum(known, np.trapezoid(living * hazard * h1 * family.log_hazard_slope(z), z, axis=1))
    return np.maximum.accumulate(score / known)

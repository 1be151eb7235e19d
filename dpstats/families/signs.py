"""A score that asks of a row only whether it failed before or after the median of what was left to it.

Of all martingale scores int h dM (:mod:`dpstats.families.martingale`) within [-1, 1], the one that says most
of the location. An event gives A - h >= -1 if h grows no faster than h = 1 + A, so h = e^H, H the cumulative
hazard since the row's entry; and A = e^H - 1 <= 1 up to H = log 2, where half have failed. So a row gives

    -1            if it fails before the median of its residual life,
    e^H - 1 >= 0  if it is censored before,
     1            if it is still watched at the median.

Its mean is 0 at the truth under independent censoring, for any family. Without censoring it is the sign of
the residual about the median. See docs/theory/survival.md#slopes-by-the-signs-of-residuals.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from dpstats.families.location_scale import Family

MEDIAN = math.log(2)  # as a cumulative hazard
_EARLIEST = 1e-4  # the normal's h1* has no bound; it counts as far as at the quantile of this share


class SignScores(NamedTuple):
    """Of each row: the score psi, from -1 to 1, and h of its event, 0 where there is none; shape (B,)."""

    score: np.ndarray
    integrand: np.ndarray


def signs(family: Family, z: np.ndarray, event: np.ndarray, entry: np.ndarray | None = None) -> SignScores:
    """Scores of rows.

    Parameters
    ----------
    family : Family
    z : array, shape (B,)
        Residuals.
    event : array, shape (B,)
        1 for an event, else 0.
    entry : array, shape (B,), optional
        Residuals at which the rows began to be watched; from the start if not given.

    Returns
    -------
    Signs
    """
    hazard = family.cumulative_hazard(z)
    if entry is not None:
        hazard = hazard - family.cumulative_hazard(np.minimum(entry, z))
    grown = np.exp(np.minimum(hazard, MEDIAN))
    early = (event > 0) & (hazard < MEDIAN)
    return SignScores(np.where(early, -1.0, grown - 1), np.where(early, grown, 0.0))


class SignInformation(NamedTuple):
    """Per event: slope of the score, -dE[psi] / d location in sigmas, and its mean square."""

    slope: float
    square: float


@functools.lru_cache(maxsize=32)
def sizes(family: Family, fraction: float) -> SignInformation:
    """What to expect of the score where a fraction f of rows fails, all watched to the same hazard."""
    last = min(fraction, 0.5)
    failed = last * (np.arange(400) + 0.5) / 400
    h, share = 1 / (1 - failed), last / fraction
    slope = h * family.log_hazard_slope(family.quantile(failed))
    return SignInformation(share * float(np.mean(slope)), share * float(np.mean(h**2)))


@functools.lru_cache(maxsize=8)
def largest_slope(family: Family) -> float:
    """Bound of h h1* of an event before the median, at which information is clipped."""
    failed = np.array([_EARLIEST, 0.5])
    return float(np.max(family.log_hazard_slope(family.quantile(failed)) / (1 - failed)))

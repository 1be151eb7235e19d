"""What a cut leaves of what events say: expectations as if all rows were watched to one hazard.

That hazard is the one by which the fraction f of rows has failed, so that the events are the first f of them.
See docs/theory/survival.md#choice-of-bounds.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from dpstats.families.score_bounds import Truncation

Array = np.ndarray

_POINTS = 400


class Left(NamedTuple):
    """Means, over events, of products of the scores' integrands: E[g h1*^2], E[g h1* h2*], E[g h2*^2]."""

    location: float
    cross: float
    log_sigma: float

    @property
    def matrix(self) -> Array:
        """Of location and log sigma, shape (2, 2)."""
        return np.array([[self.location, self.cross], [self.cross, self.log_sigma]])

    @property
    def correlation(self) -> float:
        return self.cross / math.sqrt(self.location * self.log_sigma)


@functools.lru_cache(maxsize=64)
def left(where: Truncation, fraction: float, offset: float) -> Left:
    """What is left at this cut.

    Parameters
    ----------
    where : Truncation
    fraction : float
        Event fraction f.
    offset : float
        The pivot of an event, less the mean of the events' z.
    """
    z, g, slope = typical(where, fraction)
    log_sigma = 1 + (z - z.mean() - offset) * slope
    return Left(*(float(np.mean(g * x)) for x in (slope**2, slope * log_sigma, log_sigma**2)))


def typical(where: Truncation, fraction: float) -> tuple[Array, Array, Array]:
    """Residuals of events, their tapers and h1*."""
    failed = np.linspace(0.0, min(fraction, 0.999), _POINTS + 2)[1:-1]
    z, cut = where.family.quantile(failed), where.cut
    return z, cut.g(z), cut.slope(z)

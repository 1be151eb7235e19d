"""What the information of rows that enter late is expected to be, at any value of the parameters.

Without delayed entry the information on the location is the event matrix, up to a factor, and the pivot makes
log sigma uncorrelated with it. Where rows enter late the line through the events is not the regression: rows
with a low location are seen only if they live long. Then h1* of an event goes with the covariates along that
line, and so do the information on the location and its correlation with log sigma. The direction in which
intercept, slopes and sigma move together is the weak one; without these terms its variance is far too small.
With u the residual of the line at x~, less its mean and over its sd, and b the covariance of x~ and u, where
covariates of the events are normal

    E[s(u) x~ x~'] = E[s] E[x~ x~'] + E[s u] (m b' + b m') + (E[s u^2] - E[s]) b b',   m = E[x~].

See docs/theory/survival.md#late-entry.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.location_scale.bounds import Choice
from dpstats.estimators.location_scale.event_law import LEAST_SAID
from dpstats.estimators.location_scale.events import Whitening
from dpstats.estimators.location_scale.placement import Placement

# Error of the structure against its size without delayed entry; and what noise adds to it, chosen on the
# log-logistic cells `late` of benchmarks/survreg_delayed.py
UNSURE, _ERROR_OF_NOISE = 1.3, 5.0


@dataclass(frozen=True)
class LateInformation:
    """Expectations per event, in whitened coordinates.

    Attributes
    ----------
    share : float
        E[g h1*^2].
    log_sigma : float
        E[g (1 + rho h1*)^2].
    tilt : array, shape (k, k)
        What E[g h1*^2 x x'] has beyond `share` times E[x x'], per unit of `share`.
    cross : array, shape (k,)
        E[g h1* (1 + rho h1*) x].
    """

    share: float
    log_sigma: float
    tilt: np.ndarray
    cross: np.ndarray

    def beyond(self, share: float, fraction: float) -> np.ndarray:
        """What the information per row has beyond the usual structure, if E[g h1*^2] is `share`."""
        k = len(self.cross)
        matrix = np.zeros((k + 1, k + 1))
        matrix[:k, :k] = share * fraction * self.tilt
        matrix[k, :k] = matrix[:k, k] = fraction * self.cross
        return matrix

    def error(self, spread: float) -> float:
        """Of the structure, against its usual size, where noise of operator norm `spread` is in the events.

        The more information the tilt takes from some direction, the more rests on a noisy line.
        """
        unit = np.sqrt(np.append(np.full(len(self.cross), self.share), self.log_sigma))
        lost = -float(np.linalg.eigvalsh(self.beyond(self.share, 1.0) / np.outer(unit, unit))[0])
        return math.hypot(UNSURE, _ERROR_OF_NOISE * spread * max(lost, 0.0))


def late_information(
    place: Placement, whitening: Whitening, choice: Choice, point: np.ndarray
) -> LateInformation:
    """Expectations at (point), with the bounds of `choice`."""
    law = place.law(point)
    mean, along = (whitening.matrix @ part for part in place.along(point))
    cut = law.cut(choice.c, choice.floor)
    g, slope, _ = cut.at(law.z)
    share, first, second = law.by_place(g * slope**2, 2)
    cross, cross_along = law.by_place(g * slope * (1 + law.rho * slope), 1)
    both = np.outer(mean, along)
    tilt = first * (both + both.T) + (second - share) * np.outer(along, along)
    return LateInformation(
        max(share, LEAST_SAID),
        max(law.left(law.cut(choice.c)).log_sigma, LEAST_SAID),
        tilt / max(share, LEAST_SAID),
        cross * mean + cross_along * along,
    )

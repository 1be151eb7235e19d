"""Losses of a margin m = y (x'params + offset), y = 1 or -1: one record for each (docs/theory/objective.md).

All are convex with a slope -1 <= f' <= 0, so that a row pulls one way only, and by no more than its length.
That the slope has one sign is what the privacy of Gaussian perturbation rests on
(:mod:`dpstats.curator.tilt`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpstats._arguments import shown
from dpstats.errors import SpecificationError


@dataclass(frozen=True)
class MarginLoss:
    """A loss f of a margin, as functions of an array of margins.

    Attributes
    ----------
    name, title : str
    derivatives : callable
        Its negative slope -f', in [0, 1], and its curvature f'', in [0, `steepest`].
    steepest : float
        Largest curvature.
    pull : float
        Upper bound of -f'(m) m: how far a minimum lies follows from it.
    pulled : callable
        Largest -f'(m) of margins m >= -reach; a concave function of reach >= 0, on which
        :meth:`dpstats.curator.unit_rows.UnitRows.pulled` rests.
    together : float
        The largest weight w for which (-f')^4 + (w f'')^2 <= `joint` everywhere: curvature released beside
        squared slopes.
    joint : float
    straight : float
        Margins of less than this size lie on a straight part of the loss; 0 if there is none.
    """

    name: str
    title: str
    derivatives: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    steepest: float
    pull: float
    pulled: Callable[[float], float]
    together: float
    joint: float
    straight: float = 0.0


def _logistic(margin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of log(1 + e^-m), without overflow; small slopes are as precise as large ones."""
    slope = 1 / (1 + np.exp(np.minimum(margin, 700.0)))
    return slope, slope * (1 - slope)


# s^4 + (w s (1 - s))^2 = 1 has a root below 1 from this w on; for s^2 (s^2 + w^2 (1 - s)^2) <= 1 it is needed
# that w^2 <= (1 - s^4) / (s (1 - s))^2 = (1 + s)(1 + s^2) / (s^2 (1 - s)), smallest at s = .5436890 (the real
# root of s^3 + s^2 + s = 1).
_FREE_CURVATURE = 3.8506493

LOGISTIC_LOSS = MarginLoss(
    name="logistic",
    title="logistic",
    derivatives=_logistic,
    steepest=0.25,
    pull=0.2785,  # m / (1 + e^m) is largest where e^m (m - 1) = 1, and is m - 1 = .27846 there
    pulled=lambda reach: 1 / (1 + math.exp(-reach)),
    together=_FREE_CURVATURE,
    joint=1.0,
)


def huber_hinge(h: float) -> MarginLoss:
    """The hinge loss max(0, 1 - m), its corner rounded to a parabola where |1 - m| <= h.

    Parameters
    ----------
    h : float
        Public, from 0.01 to 10.

    Raises
    ------
    SpecificationError
        If h is not in that range.
    """
    if not (isinstance(h, int | float | np.number) and 0.01 <= h <= 10):
        raise SpecificationError(f"h must be a number from 0.01 to 10, got {shown(h)}")
    half = float(h)

    def derivatives(margin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slope = (1 + half - margin) / (2 * half)
        curvature = np.multiply((slope > 0) & (slope < 1), 1 / (2 * half))
        return np.clip(slope, 0.0, 1.0, out=slope), curvature

    return MarginLoss(
        name="huber",
        title=f"Huber hinge, h = {half:g}",
        derivatives=derivatives,
        steepest=1 / (2 * half),
        pull=(1 + half) ** 2 / (8 * half) if half > 1 / 3 else 1 - half,  # at (1 + h) / 2, or the corner
        pulled=lambda reach: min(1.0, (1 + half + reach) / (2 * half)),
        together=2 * half,  # the curvature does not fade as the slope nears 1: both parts are as large
        joint=2.0,
        straight=max(1 - half, 0.0),
    )

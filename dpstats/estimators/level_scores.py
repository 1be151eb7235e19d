"""What scores say of the coefficient of a level, which is not in proportion to them.

Rows of a 0/1 column all move by its coefficient alone. What their score says of a change of it levels off: a
level cannot have fewer events than none. Where an error of the score, by sampling or by noise, is not small
against the events, a truth far from the estimate explains it as well as a near one, and a step or an interval
by the slope of the score is wrong.

See docs/theory/levels.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dpstats.estimators.matrices import ROUNDING
from dpstats.moments.roots import variance_along
from dpstats.moments.spread import Z95

# log ratio of odds, means or hazards between two levels: what may be further off is not known
FARTHEST = 4.0
SHIFTS = np.linspace(-FARTHEST, FARTHEST, 161)
# a level for which fewer events are expected may have none
FEWEST_EVENTS = 4.0
# log odds, log means or sigmas of a level, whatever noise makes of it: one row in three million has an event
END = 15.0
OPEN = (END / Z95) ** 2  # variance of what an open end leaves
# coefficient of a level one end of whose interval is open: two sds of that of any
REACH = 8.0


def slope_in_middle(curve: np.ndarray) -> float:
    """Of a curve over `SHIFTS`, at 0."""
    middle = len(SHIFTS) // 2
    return float((curve[middle + 1] - curve[middle - 1]) / (SHIFTS[middle + 1] - SHIFTS[middle - 1]))


@dataclass(frozen=True)
class LevelScores:
    """What scores say of the coefficients, on the user's scale.

    Attributes
    ----------
    points : array, shape (T, k)
        Coefficients at which scores were read.
    step : array, shape (k,)
        Mean Newton step.
    cov, sampling : array, shape (k, k)
        Of its error, and the part of sampling in it.
    curvature : callable, optional
        Takes a change of the coefficients to the curvature of all rows along it, and the sd of its noise.
    moments : array, shape (k, k)
        Second moments of rows, by what they weigh, where these tell what goes along with a level.
    rarer : float
        All rows that give the rarer answer of a yes or no, in sds of the noise of the first step.
    """

    points: np.ndarray
    step: np.ndarray
    cov: np.ndarray
    sampling: np.ndarray
    curvature: Callable[[np.ndarray], tuple[float, float]] | None = None
    moments: np.ndarray = field(default_factory=lambda: np.eye(0))
    rarer: float = math.inf

    def along(self, row: np.ndarray) -> tuple[np.ndarray, float, float, float]:
        """Points, step and the sds of its error for the linear predictor of a row."""
        cov, sampling = (math.sqrt(variance_along(part, row)) for part in (self.cov, self.sampling))
        return self.points @ row, float(row @ self.step), cov, sampling


class LevelShift(NamedTuple):
    """Shift of a coefficient from the points, and its sd over that of a linear step; infinite if unknown."""

    shift: float
    factor: float


def level(
    curve: np.ndarray, share: float, points: np.ndarray, step: float, sd: float, sampling: float = 0.0
) -> LevelShift:
    """Root of what scores say, and the mean length of an interval's two sides.

    A limit lies where the score differs from its root's by as much as error may make it. The longer side
    misses as much more often as the shorter one does less, if both are given the mean of their lengths. What
    sampling alone would make of it is left out: without noise, intervals are Wald's, as everywhere.

    Parameters
    ----------
    curve : array, shape (161,)
        Newton steps that rows make if the truth lies further by `SHIFTS`; increasing, with slope 1 at 0.
    share : float
        Of the rows that are 1. The others move the other way, as the intercept makes up for them.
    points : array, shape (T,)
        Coefficients at which scores were read.
    step, sd, sampling : float
        Mean Newton step, the sd of its error, and the part of sampling in it.
    """
    far = SHIFTS - (points - points.mean())[:, None]
    said = np.interp((1 - share) * far, SHIFTS, curve) - np.interp(-share * far, SHIFTS, curve)
    said = np.maximum.accumulate(said.mean(axis=0))
    shift = float(np.interp(step, said, SHIFTS))
    slope = float(np.interp(shift, SHIFTS, np.gradient(said, SHIFTS)))
    noise = math.sqrt(max(sd**2 - sampling**2, 0.0))
    longer, usual = (_longer(said, step, part, slope, sampling) for part in (noise, 0.0))
    return LevelShift(shift, max(longer / usual, 1.0) if math.isfinite(longer) else longer)


def _longer(said: np.ndarray, step: float, noise: float, slope: float, sampling: float) -> float:
    """Mean length of the sides of an interval, over that of a score in proportion to the coefficient.

    Sampling makes as much of a coefficient wherever it is read: of a score that is flatter by `slope`, less.
    """
    half = Z95 * max(math.hypot(noise, slope * sampling), slope * ROUNDING)
    if not said[0] < step - half < step + half < said[-1]:
        return math.inf
    low, high = np.interp([step - half, step + half], said, SHIFTS)
    return float(high - low) / (2 * Z95 * max(math.hypot(noise, sampling), ROUNDING))

"""The dispersion of a family that leaves it free, from the released variability of its bounded scores."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from dpstats.estimators.newton.information import Accumulator, Information
from dpstats.families.bounded_score import BoundedScore

Array = np.ndarray

_EXACT = 0.1
# against the dispersion that bounds were made for; the clipped mean square of a gamma law falls again beyond
_RANGE = 4.0


def free_dispersion(
    variability: Accumulator, information: Information, whitening: Array, score: BoundedScore, intercept: bool
) -> float:
    """phi such that clipped scores have the mean square that was released.

    The direction of the intercept holds the mean of w^2 psi^2 and of w, the weights of the rows: all that is
    needed where the curvature is 1. Where noise hides it, or without an intercept: means over all directions,
    in which long rows count less.
    """
    squares, curvature = variability.mean(whitening), information.matrix
    k = len(curvature)
    square, weight = float(np.trace(squares)) / k, float(np.trace(curvature)) / k
    if intercept:
        unit = np.linalg.solve(whitening, np.eye(k)[:, :1])
        length = float(np.linalg.norm(unit))
        noise = float(variability.sds(whitening, unit / length)[0]) * length**2
        if noise < _EXACT * square:
            square, weight = float((unit.T @ squares @ unit)[0, 0]), float((unit.T @ curvature @ unit)[0, 0])
    weight = min(max(weight, 0.5), 1.0)
    # E w^2 of weights that are 1 but for a tail: between w^2 and 2 w - 1
    seen = square / (2 * weight - 1 + 2 * (1 - weight) ** 2)
    clipped_square = score.family.clipped_square
    assert clipped_square is not None
    low, high = score.dispersion / _RANGE, score.dispersion * _RANGE

    def excess(phi: float) -> float:
        return clipped_square(score.limit, phi) - seen

    if excess(low) >= 0 or excess(high) <= 0:
        return low if excess(low) >= 0 else high
    return float(optimize.brentq(excess, low, high))

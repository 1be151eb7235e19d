"""Second moments from a sum of messages, for a linear regression (docs/theory/contributions.md)."""

from __future__ import annotations

import math

import numpy as np

from dpstats.contributions import Totals
from dpstats.contributors.law import RESPONSE
from dpstats.contributors.plan import Plan
from dpstats.moments import LinearMoments

__all__ = ["linear_moments"]

Array = np.ndarray


def linear_moments(totals: Totals, plan: Plan, slope: float | None = None) -> LinearMoments:
    """The moments of rows and response per contributor, and their noise.

    Parameters
    ----------
    totals : Totals
        Of the statistics scheme.
    plan : Plan
    slope : float, optional
        For a logistic model, 4 a2: what the line through labels of -1 and 1 is divided by.

    Notes
    -----
    A message is svec(z z') of z = (q, c y). q is stretched by a released number so that the mean square of
    its entries is 1, and y so that its mean square is 1, in which units all of :class:`LinearMoments` is
    meant; noise stays the same in all directions.
    """
    n, d = totals.n, len(plan.design.names)
    sd = plan.parts[0].sd / math.sqrt(n)
    matrix = _symmetric(totals.sums / n, d + 1)
    c = RESPONSE
    square = max(float(matrix[-1, -1]) / c**2, 2 * sd / c**2, 1e-9)
    level = max(float(np.trace(matrix[:-1, :-1])) / d, 2 * sd / math.sqrt(d), 1e-9)
    stretch, unit = 1 / math.sqrt(level), math.sqrt(square)
    way = _to_user(plan, unit, slope)
    return LinearMoments(
        n=n,
        gram=matrix[:-1, :-1] * stretch**2,
        cross=matrix[:-1, -1] * stretch / (c * unit),
        square=float(matrix[-1, -1]) / (c**2 * square),
        noise_gram=sd * stretch**2,
        noise_cross=sd / math.sqrt(2) * stretch / (c * unit),
        noise_square=sd / (c**2 * square),
        origin=way[0],
        map=way[1] * stretch,
        scale=way[2],
        penalised=np.append([0.0] * plan.rows.constant, np.ones(d - plan.rows.constant)),
        constant=_constant(plan, stretch),
    )


def _symmetric(entries: Array, size: int) -> Array:
    matrix = np.zeros((size, size))
    i, j = np.triu_indices(size)
    matrix[i, j] = entries / np.where(i == j, 1.0, math.sqrt(2))
    return matrix + np.triu(matrix, 1).T


def _to_user(plan: Plan, unit: float, slope: float | None) -> tuple[Array, Array, float]:
    """Coefficients for a line of 0, what takes a line through y / unit to them, and the unit of y."""
    middle, half = plan.response if slope is None else (0.0, 1 / slope)
    origin = np.zeros(len(plan.rows.center))
    if plan.rows.constant:
        origin[0] = middle
    return origin, plan.rows.to_user * half * unit, half * unit


def _constant(plan: Plan, stretch: float) -> Array | None:
    """u with a'u = 1 for the stretched row of a record that is whole."""
    if not plan.rows.constant:
        return None
    return np.eye(len(plan.rows.center))[0] * plan.rows.radius * plan.rows.scale[0] / stretch

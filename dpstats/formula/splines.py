"""B-spline bases with public knots."""

from __future__ import annotations

import numpy as np

from dpstats.formula.functions import Array


def basis(x: Array, knots: Array, degree: int) -> list[Array]:
    """All B-splines of a degree at given points, by the recursion of de Boor and Cox.

    Parameters
    ----------
    x
        Points between the first and the last knot, shape (m,).
    knots
        Increasing, the boundary knots repeated ``degree + 1`` times, shape (k,).

    Returns
    -------
    list of ``k - degree - 1`` arrays of shape (m,)
        Non-negative; at each point at most ``degree + 1`` of them are positive, and they sum to 1.
    """
    # the last non-empty span is closed on the right, so that the upper boundary belongs to it
    span = np.clip(np.searchsorted(knots, x, side="right") - 1, degree, _last_span(knots))
    splines = [(span == j).astype(np.float64) for j in range(len(knots) - 1)]
    for order in range(1, degree + 1):
        splines = [
            _raise(splines[j], splines[j + 1], x, knots[j : j + order + 2]) for j in range(len(splines) - 1)
        ]
    return splines


def _last_span(knots: Array) -> int:
    return int(np.searchsorted(knots, knots[-1], side="left")) - 1


def _raise(left: Array, right: Array, x: Array, knots: Array) -> Array:
    """One B-spline of the next order from its two parents, which live on ``knots[:-1]`` and ``knots[1:]``."""
    out = np.zeros_like(x)
    if knots[-2] > knots[0]:
        out += (x - knots[0]) / (knots[-2] - knots[0]) * left
    if knots[-1] > knots[1]:
        out += (knots[-1] - x) / (knots[-1] - knots[1]) * right
    return out

"""B-spline bases with public knots, and the natural splines among them."""

from __future__ import annotations

from functools import cache

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


@cache
def natural(knots: tuple[float, ...], include_intercept: bool) -> Array:
    """Combinations of cubic B-splines that are straight lines at both ends, as R's ``ns`` has them.

    Parameters
    ----------
    knots
        As of `basis`, for degree 3.
    include_intercept : bool
        Else the first B-spline is left out, and with it the constant.

    Returns
    -------
    array of shape (q, q - 2)
        Of the q B-splines that are used; its columns are orthonormal. So a row of the combined basis is no
        longer than a row of B-splines, whose norm is at most its sum, 1.
    """
    at, bends = np.array(knots), np.eye(len(knots) - 4)
    for degree in (3, 2):  # the coefficients of derivatives, from those of a spline of this degree
        bends = degree * np.diff(bends, axis=0) / (at[degree + 1 : -1] - at[1 : -degree - 1])[:, None]
        at = at[1:-1]
    ends = bends[[0, -1], 0 if include_intercept else 1 :]
    return np.linalg.qr(ends.T, mode="complete")[0][:, 2:]


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

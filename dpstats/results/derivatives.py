"""Derivatives of a design's columns with respect to one variable, at public points.

A formula may use any function of a variable, so the derivatives are numeric. At each point the quartic
through five nodes is differentiated; the nodes stay inside the public bounds, shifted inward near one of
them. The spacing that suits depends on the function and on the point (``np.log`` near 0 and near 1e6), so
spacings from a hundredth of the range downward are all tried, in one call of the design, and each column at
each point takes the one about which its neighbours agree best, the error of rounding counted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

NODES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
REACHES = 4.0 ** -np.arange(3, 20)  # half-widths of the stencil over the width of the bounds
AT_ONCE = 500  # points; bounds the memory

Columns = Callable[[np.ndarray, np.ndarray], np.ndarray]


def derivatives(columns: Columns, at: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """Return d columns / d variable, shape (m, q).

    Parameters
    ----------
    columns : callable
        Takes indices of points (N,) and values of the variable (N,); gives the columns there, (N, q).
    at : array, shape (m,)
        The variable's value at each point, inside `bounds`.
    bounds : (low, high)
    """
    blocks = np.array_split(np.arange(len(at)), -(-len(at) // AT_ONCE))
    return np.concatenate([_of_block(columns, at, block, bounds) for block in blocks])


def _of_block(columns: Columns, at: np.ndarray, block: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    low, high = bounds
    points, reach = at[block, None], (high - low) * REACHES
    centre = np.clip(points, low + reach, high - reach)
    where = np.clip(centre[:, :, None] + reach[:, None] * NODES, low, high)
    index = np.repeat(block, len(REACHES) * len(NODES))
    values = columns(index, where.ravel()).reshape(*where.shape, -1)
    weights = _weights((points - centre) / reach) / reach[:, None]
    found = np.einsum("mrn,mrnq->mrq", weights, values)
    change = np.abs(np.diff(found, axis=1))
    rounding = np.finfo(float).eps * np.abs(values).max(axis=2) / reach[:, None]
    doubt = np.maximum(change[:, :-1], change[:, 1:]) + rounding[:, 1:-1]
    best = np.argmin(doubt, axis=1)[:, None, :] + 1
    return np.take_along_axis(found, best, axis=1)[:, 0, :]


def _weights(t: np.ndarray) -> np.ndarray:
    """Return weights that give the derivative at `t`, in units of the reach, of the nodes' quartic."""
    powers = np.arange(len(NODES))
    slopes = powers * t[..., None] ** np.maximum(powers - 1, 0)
    return slopes @ np.linalg.inv(NODES[:, None] ** powers)

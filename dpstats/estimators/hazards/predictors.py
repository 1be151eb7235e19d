"""How linear predictors are spread among the rows, from what the first stage saw of each column.

Those of high hazard fail first, so that the shape of this law bends the hazard of those at risk: a few rows
of a rare flag with a strong effect are gone before a normal law of the same variance would say so. See
docs/theory/coxph.md#grid.
"""

import math

import numpy as np
from scipy import optimize, special

from dpstats.estimators.levels import END
from dpstats.estimators.row_scale import RowScale

_STEP = 0.05  # of the lattice of linear predictors: hazards apart by 5 %


def predictors(
    scale: RowScale, beta: np.ndarray, longest: np.ndarray, variance: float, failed: float
) -> tuple[np.ndarray, np.ndarray]:
    """Linear predictors of the rows, less their mean where rows fail, and how many rows have each.

    Columns are taken for independent: flags and levels have two values, others those of the cells in which
    they were seen, or are normal. What correlations add to the variance is normal; if they take from it, all
    parts are smaller.

    Parameters
    ----------
    scale : RowScale
        Of rows that fail.
    beta : array, shape (d,)
        Of standardised columns.
    longest : array, shape (d,)
        Standardised values beyond which rows count less.
    variance : float
        Of the linear predictor where rows fail, as far as they count.
    failed : float
        Share of the rows that fail.

    Returns
    -------
    values, weights : array
        Weights add up to 1.
    """
    laws = [_law(scale, i, size) for i, size in enumerate(beta)]
    alone = sum(
        float(weights @ np.minimum(points**2, (size * most) ** 2))
        for (points, weights), size, most in zip(laws, beta, longest, strict=True)
    )
    smaller = math.sqrt(min(1.0, variance / alone)) if alone > 0 else 1.0
    lattice = np.arange(-END, END + _STEP, _STEP)
    among = np.exp(-(lattice**2) / 2 / max(variance - smaller**2 * alone, _STEP**2))
    for points, weights in laws:
        moved = [
            weight * np.interp(lattice - smaller * point, lattice, among, 0.0, 0.0)
            for point, weight in zip(points, weights, strict=True)
        ]
        among = np.sum(moved, axis=0)
    used = among > 1e-12 * among.max()
    if not used.any():  # noise has put all of them beyond the lattice, and tells nothing
        return np.zeros(1), np.ones(1)
    return lattice[used], _of_all_rows(lattice[used], among[used] / among[used].sum(), failed)


def _law(scale: RowScale, i: int, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Values of a column times its coefficient, less their mean, and their shares; none for a normal one."""
    low, high = scale.lower[i], scale.upper[i]
    if scale.binary[i]:
        share = min(max(-low / (high - low), 0.0), 1.0)
        points, weights = np.array([low, high]), np.array([1 - share, share])
    elif scale.shares[i].sum() > 0:
        points, weights = scale.places[i], scale.shares[i] / scale.shares[i].sum()
    else:
        return np.zeros(1), np.ones(1)
    kept = weights > 0
    points, weights = size * points[kept], weights[kept]
    return points - points @ weights, weights


def _of_all_rows(values: np.ndarray, weights: np.ndarray, failed: float) -> np.ndarray:
    """Weights among all rows, from those among rows that fail, if all are watched for as long."""

    def shortfall(log: float) -> float:
        return float(weights @ (1 / _fails(values + log))) - 1 / failed

    if failed > 1 - 1e-6 or shortfall(END) > 0:
        return weights
    log = optimize.brentq(shortfall, -3 * END, END)
    weights = weights / _fails(values + log)
    return np.asarray(weights / weights.sum())


def _fails(logs: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(-special.expm1(-np.exp(logs)), 1e-300))

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
_OCTAVE = 12**-0.5 / 1.5  # relative sd of where a row lies in an even octave


def predictors(
    scale: RowScale, beta: np.ndarray, longest: np.ndarray, covariance: np.ndarray, failed: float
) -> tuple[np.ndarray, np.ndarray]:
    """Linear predictors of the rows, less their mean where rows fail, and how many rows have each.

    Columns are taken for independent: flags and levels have two values, others those of the cells in which
    they were seen, or are normal. What cells do not explain of a variance, and what correlations add, is
    normal; if they take from it, all parts are smaller.

    Parameters
    ----------
    scale : RowScale
        Of rows that fail, but for cells, in which all rows were counted.
    beta : array, shape (d,)
        Of standardised columns.
    longest : array, shape (d,)
        Standardised values beyond which rows count less.
    covariance : array, shape (d, d)
        Of standardised columns where rows fail, as far as they count.
    failed : float
        Share of the rows that fail.

    Returns
    -------
    values, weights : array
        Weights add up to 1.
    """
    laws = [_law(scale, i, size, failed) for i, size in enumerate(beta)]
    explained = [
        fail @ np.minimum(points**2, (size * most) ** 2)
        for (points, _, fail), size, most in zip(laws, beta, longest, strict=True)
    ]
    own, whole = beta**2 * np.diag(covariance), max(float(beta @ covariance @ beta), 0.0)
    square = min(1.0, whole / own.sum()) if own.sum() > 0 else 1.0
    beside = float(np.maximum(own - explained, 0.0).sum()) * square + max(whole - float(own.sum()), 0.0)
    lattice = np.arange(-END, END + _STEP, _STEP)
    among = np.exp(-(lattice**2) / 2 / max(beside, _STEP**2))
    for points, weights, _ in laws:
        moved = [
            weight * np.interp(lattice - math.sqrt(square) * point, lattice, among, 0.0, 0.0)
            for point, weight in zip(points, weights, strict=True)
        ]
        among = np.sum(moved, axis=0)
    used = among > 1e-12 * among.max()
    if not used.any():  # noise has put all of them beyond the lattice, and tells nothing
        return np.zeros(1), np.ones(1)
    return lattice[used], among[used] / among[used].sum()


def _law(scale: RowScale, i: int, size: float, failed: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of a column times its coefficient, less their mean where rows fail, and their shares.

    Among all rows, and among those that fail. None for a normal column.
    """
    low, high = scale.lower[i], scale.upper[i]
    if scale.binary[i]:
        share = min(max(-low / (high - low), 0.0), 1.0)
        points, fail = size * np.array([low, high]), np.array([1 - share, share])
        weights = _weighed(points, fail, failed, -1)
    elif scale.shares[i].sum() > 0:
        seen = scale.shares[i] > 0
        points, weights = size * scale.places[i][seen], scale.shares[i][seen] / scale.shares[i].sum()
        fail = _weighed(points, weights, failed, 1)
        # where in their octaves rows lie the variance tells: at most between the ends
        square = scale.ratio[i] * size**2 / max(float(fail @ points**2), 1e-300)
        points = points * math.sqrt(np.clip(square, 3 / 7, 12 / 7))
    else:
        return np.zeros(1), np.ones(1), np.ones(1)
    return points - points @ fail, weights, fail


def misplaced(scale: RowScale, beta: np.ndarray, failed: float) -> float:
    """Relative sd of linear predictors of rows that are far from the others, by where in cells they lie.

    That may be anywhere in an octave. The variance of a column, as far as it is known, tells where all lie
    together: what is left is of cells that share it, and those of one value alone leave nothing.
    """
    seen, own, square = scale.shares.sum(axis=1) > 0, scale.ratio * beta**2, 0.0
    for i in np.flatnonzero(seen & ~scale.binary & (own > 0)).tolist():
        points, _, fail = _law(scale, i, beta[i], failed)
        parts = fail * points**2 / max(float(fail @ points**2), 1e-300)
        within = _OCTAVE**2 * (1 - float(parts @ parts)) + float(scale.error[i]) ** 2 / 4
        square += own[i] * min(within, _OCTAVE**2)
    return math.sqrt(square / max(float(own.sum()), 1e-300))


def _weighed(values: np.ndarray, weights: np.ndarray, failed: float, power: int) -> np.ndarray:
    """Weights among rows that fail from those among all, or with a power of -1 the other way.

    All are watched for as long: until so many fail.
    """

    def off(log: float) -> float:
        return float(weights @ _fails(values + log) ** power) - failed**power

    if not off(-3 * END) * off(END) < 0:  # also where noise makes values no numbers
        return weights
    weights = weights * _fails(values + optimize.brentq(off, -3 * END, END)) ** power
    return np.asarray(weights / weights.sum())


def _fails(logs: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(-special.expm1(-np.exp(np.minimum(logs, END))), 1e-300))

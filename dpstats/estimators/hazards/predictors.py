"""How linear predictors are spread among the rows, from what the first stage saw of each column.

Those of high hazard fail first, so that the shape of this law bends the hazard of those at risk: a few rows
of a rare flag with a strong effect are gone before a normal law of the same variance would say so. See
docs/theory/coxph.md#grid.
"""

import math

import numpy as np
from scipy import special

from dpstats.estimators.halving import rooted
from dpstats.estimators.level_scores import END
from dpstats.estimators.row_scale import RowScale

_STEP = 0.05  # of the lattice of linear predictors: hazards apart by 5 %
_OCTAVE = 12**-0.5 / 1.5  # relative sd of where a row lies in an even octave
_EXACT = 1e-13  # of a share of rows, of itself: a hundredfold of what its sum is rounded by


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
    points, weights, fail = _laws(scale, beta, failed)
    explained = np.sum(fail * np.minimum(points**2, (beta * longest)[:, None] ** 2), axis=1)
    own, whole = beta**2 * np.diag(covariance), max(float(beta @ covariance @ beta), 0.0)
    square = min(1.0, whole / own.sum()) if own.sum() > 0 else 1.0
    beside = float(np.maximum(own - explained, 0.0).sum()) * square + max(whole - float(own.sum()), 0.0)
    lattice = np.arange(-END, END + _STEP, _STEP)
    among = np.exp(-(lattice**2) / 2 / max(beside, _STEP**2))
    for law in zip(math.sqrt(square) / _STEP * points, weights, strict=True):
        among = _moved(among, *law)
    used = among > 1e-12 * among.max()
    if not used.any():  # noise has put all of them beyond the lattice, and tells nothing
        return np.zeros(1), np.ones(1)
    return lattice[used], among[used] / among[used].sum()


def _moved(among: np.ndarray, steps: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """A law on a lattice moved by any of so many steps, with these weights; between places it is straight."""
    near = (weights > 0) & (np.abs(steps) < len(among))  # what is moved farther leaves the lattice
    place, part = np.divmod(steps[near], 1.0)
    first = place.min(initial=0.0)
    at = np.append(place, place + 1) - first
    moves = np.bincount(at.astype(int), np.append((1 - part) * weights[near], part * weights[near]), 1)
    return np.convolve(np.append(among, np.zeros(-int(first))), moves)[-int(first) :][: len(among)]


def _laws(scale: RowScale, beta: np.ndarray, failed: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of columns times their coefficients, less their means where rows fail, and their shares.

    Among all rows, and among those that fail, shape (d, cells): two of a flag, one of a normal column.
    """
    flags, seen, size = scale.binary[:, None], scale.shares.sum(axis=1, keepdims=True), beta[:, None]
    low, high = scale.lower[: len(beta), None], scale.upper[: len(beta), None]
    share, (first, second) = np.clip(low / (low - high), 0.0, 1.0), np.eye(2, scale.shares.shape[1])
    cells = scale.shares / np.maximum(seen, 1e-300) + (seen <= 0) * first
    known = np.where(flags, (1 - share) * first + share * second, cells)
    points = size * np.where(flags, low * first + high * second, (scale.shares > 0) * scale.places)
    # shares of flags are known where rows fail, those of cells among all
    others = _weighed(points, known, failed, np.where(flags, -1.0, 1.0))
    weights, fail = np.where(flags, [others, known], [known, others])
    # where in their octaves rows lie the variance tells: at most between the ends
    square = scale.ratio[:, None] * size**2 / np.maximum(np.sum(fail * points**2, 1, keepdims=True), 1e-200)
    points *= np.where(flags, 1.0, np.sqrt(np.clip(square, 3 / 7, 12 / 7)))
    return points - np.sum(points * fail, axis=1, keepdims=True), weights, fail


def misplaced(scale: RowScale, beta: np.ndarray, failed: float) -> float:
    """Relative sd of linear predictors of rows that are far from the others, by where in cells they lie.

    That may be anywhere in an octave. The variance of a column, as far as it is known, tells where all lie
    together: what is left is of cells that share it, and those of one value alone leave nothing.
    """
    own, far = scale.ratio * beta**2, ~scale.binary & (scale.shares.sum(axis=1) > 0)
    points, _, fail = _laws(scale, beta, failed)
    parts = fail * points**2
    alone = np.sum(parts**2, axis=1) / np.maximum(parts.sum(axis=1), 1e-150) ** 2
    within = np.minimum(_OCTAVE**2 * (1 - alone) + scale.error**2 / 4, _OCTAVE**2)
    square = float(own[far] @ within[far])
    return math.sqrt(square / max(float(own.sum()), 1e-300))


def _weighed(values: np.ndarray, weights: np.ndarray, failed: float, power: np.ndarray) -> np.ndarray:
    """Weights among rows that fail from those among all, or with a power of -1 the other way, of each column.

    All are watched for as long: until so many fail.
    """

    def off(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # in logarithms, which are nearly straight
        hazards = np.exp(np.minimum(values + logs, END))
        fail = np.maximum(-special.expm1(-hazards), 1e-300)
        among = weights * fail**power
        sums = np.sum(among, axis=1, keepdims=True)
        slope = np.sum(among * (hazards * np.exp(-hazards) / fail), axis=1, keepdims=True)
        return power * np.log(sums / failed**power), slope / sums

    ends = np.full_like(power, -3 * END), np.full_like(power, END)
    found = (off(ends[0])[0] < 0) & (off(ends[1])[0] > 0)  # not where noise makes values no numbers
    hazard = -math.log1p(-min(max(failed, 1e-300), 1 - 1e-15))  # of rows that are all alike
    near = np.clip(np.full_like(power, math.log(hazard)), *ends)

    def left(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, slope = off(logs)
        return np.where(found, value, 0.0), slope

    logs = rooted(left, near, *ends, _EXACT)
    moved = weights * _fails(values + logs) ** power
    return np.where(found, moved / moved.sum(axis=1, keepdims=True), weights)


def _fails(logs: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(-special.expm1(-np.exp(np.minimum(logs, END))), 1e-300))

"""Roots of covariances, in which sums of coefficients cancel before they are squared; what rounding leaves.

Where a column lies far from 0 against its width, its square has nearly its coefficient's errors: of their
covariance, rounding leaves what floats hold of the squares of what cancels, and of a root of it that itself.
"""

import numpy as np


def with_floor(matrix: np.ndarray, floor: float) -> np.ndarray:
    """Return the matrix with its eigenvalues raised to `floor`, and to what rounding leaves of an inverse."""
    values, vectors = np.linalg.eigh(matrix)
    raised = np.maximum(values, max(floor, 1e-12 * values.max(initial=1.0)))
    return np.asarray((vectors * raised) @ vectors.T)


def root_of(cov: np.ndarray) -> np.ndarray:
    """Return R with R R' = cov, shape (k, k); what is below the rounding of correlations may be as large.

    Parameters
    ----------
    cov : array, shape (k, k)
        Finite and positive semi-definite.
    """
    sds = np.sqrt(np.maximum(np.diagonal(cov), 0.0))
    unit = np.where(sds > 0, sds, 1.0)
    values, vectors = np.linalg.eigh(cov / np.outer(unit, unit))
    least = len(cov) * np.finfo(float).eps * max(values.max(initial=0.0), 0.0)
    return np.asarray(sds[:, None] * vectors * np.sqrt(np.maximum(values, least)))


def chi_square(effect: np.ndarray, root: np.ndarray) -> tuple[float, int]:
    """Return e' (R R')^-1 e, and of how many directions that is.

    Parameters
    ----------
    effect : array, shape (m,)
    root : array, shape (m, r)
        No row is 0.
    """
    sds = np.linalg.norm(root, axis=1)  # on the scale of correlations, so that units do not matter
    found, _, rank, _ = np.linalg.lstsq(root / sds[:, None], effect / sds, rcond=None)
    return float(found @ found), int(rank)


def rounding(rows: np.ndarray, cov: np.ndarray) -> np.ndarray:
    """Return what a variance g' cov g may have lost to rounding, for each row g; shape (m,).

    Its terms cancel in a linear predictor where columns lie far from 0 against their widths, and leave a
    number of any sign. A variance below this is not known: it may be as large.

    Parameters
    ----------
    rows : array, shape (m, k)
    cov : array, shape (k, k)
        Finite.
    """
    sizes = np.abs(rows) @ np.sqrt(np.maximum(np.diagonal(cov), 0.0))
    return np.asarray(np.finfo(float).eps * sizes**2)


def variance_along(cov: np.ndarray, direction: np.ndarray) -> float:
    """Return the variance along a direction, no less than rounding may have left of it."""
    return max(float(direction @ cov @ direction), float(rounding(direction, cov)))

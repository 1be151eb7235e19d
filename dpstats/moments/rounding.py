"""What rounding leaves unknown of variances of sums of coefficients."""

import numpy as np


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

"""The functional mechanism of Zhang et al., its noise and estimate (docs/theory/functional.md)."""

import math

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.functional import FunctionalEstimate, Moments, on_user_scale, solved
from dpstats.estimators.row_scale import Box
from dpstats.families import Family


def fit_quadratic(
    curator: Curator, box: Box, log: bool, family: Family, epsilon: float
) -> FunctionalEstimate:
    """Release the weights once, with noise of the published size, and maximise.

    Parameters
    ----------
    curator, box, log, family, epsilon
        As of :func:`dpstats.estimators.functional.fit_functional`.
    """
    curvature, about = family.curvature, dict(center=box.center, half=box.half, log=log)
    release = curator.release("functional_weights", epsilon, **about, published=curvature)
    moments, scale = published_moments(release, curvature), release.sd / math.sqrt(2)
    return solved(moments, scale, box, family, lambda of: quadratic_maximum(of, family, scale))


def as_published(fit: FunctionalEstimate, box: Box, family: Family) -> np.ndarray:
    """The paper's estimate from the release of a fit, which is not one of sigma."""
    return on_user_scale(quadratic_maximum(fit.moments, family, fit.scale), box)


def published_moments(release: Release, curvature: float) -> Moments:
    """Moments from the statistic "functional_weights", released with `published` = `curvature`."""
    (both, cross, of_q), (both_sds, cross_sds, _) = release.values, release.sds
    twice = np.append(np.full(len(both), 2.0), 1.0)
    both_sds = np.sqrt((both_sds**2 + both_sds.T**2) / 4 + np.diag(np.diag(both_sds) ** 2) / 2)
    matrix = _bordered((both + both.T) / 2, cross[:, 0] / twice)
    return Moments(
        matrix, _bordered(both_sds, cross_sds[:, 0] / twice), release.n, float(of_q[0, 0]) * curvature / 2
    )


def quadratic_maximum(moments: Moments, family: Family, scale: float) -> np.ndarray:
    """The maximum of the noisy quadratic, regularised and trimmed.

    Parameters
    ----------
    moments : Moments
    family : Family
    scale : float
        Of the Laplace noise on a coordinate; half of it, times the curvature, is noise on a weight.

    Returns
    -------
    array, shape (k + 1,)
        Intercept, slopes and log sigma, sigma = 1 / q, in the box. Where all of q was trimmed, sigma is 1.
    """
    k, c = len(moments.matrix) - 1, family.curvature
    hessian = c * moments.matrix
    hessian[:k, k] *= -1
    hessian[k, :k] *= -1
    hessian[k, k] += moments.rows
    if moments.of_q is None:
        hessian[0, 0] = c * moments.rows
    values, vectors = np.linalg.eigh(hessian + 5 * math.sqrt(2) * (c * scale / 2) * np.eye(k + 1))
    kept = values > 1e-8
    slope = vectors[k, kept] * (2.0 * moments.rows if moments.of_q is None else moments.of_q)
    solution = vectors[:, kept] @ (slope / values[kept])
    q = float(solution[k])
    if not q > 1e-8:
        return np.zeros(k + 1)
    return np.append(solution[:k] / q, -math.log(q))


def _bordered(matrix: np.ndarray, column: np.ndarray) -> np.ndarray:
    """A symmetric matrix with one row and column more."""
    return np.vstack([np.column_stack([matrix, column[:-1]]), column])

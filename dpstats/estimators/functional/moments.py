"""Second moments of a = (1, u, v) as they were released, and what solves them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpstats.curator import Release
from dpstats.estimators.matrices import noise_edge, noise_of_product
from dpstats.families import Family

Array = np.ndarray

# fewer usable rows than n by this many sds of their noisy count are believed
_BELIEVED = 4.0


@dataclass(frozen=True)
class Moments:
    """The noisy sum of a a', and the sds of its noise.

    Attributes
    ----------
    matrix, sds : array, shape (k + 1, k + 1)
        Of k = d + 1 location terms and, last, the response.
    rows : int
        Public number of rows.
    of_q : float, optional
        Weight of q in the likelihood, where the release has it: twice the number of rows, with noise.
    """

    matrix: Array
    sds: Array
    rows: int
    of_q: float | None = None

    @classmethod
    def of(cls, release: Release, published: float | None) -> Moments:
        """From the statistic "functional_weights", released with the same argument."""
        if published is None:
            return cls(release.values[0], release.sds[0], release.n)
        (both, cross, of_q), (both_sds, cross_sds, _) = release.values, release.sds
        twice = np.append(np.full(len(both), 2.0), 1.0)
        matrix, sds = (
            _bordered(entries, column[:, 0] / twice)
            for entries, column in (
                ((both + both.T) / 2, cross),
                (np.sqrt((both_sds**2 + both_sds.T**2) / 4 + np.diag(np.diag(both_sds) ** 2) / 2), cross_sds),
            )
        )
        return cls(matrix, sds, release.n, float(of_q[0, 0]) * published / 2)

    @property
    def n(self) -> float:
        """Rows that count: all, unless so many less were counted that noise cannot be the reason."""
        count, sd = float(self.matrix[0, 0]), float(self.sds[0, 0])
        return self.rows if count > self.rows - _BELIEVED * sd else max(count, 1.0)

    @property
    def mean(self) -> Array:
        """Of (u, v), in the box."""
        return np.clip(self.matrix[0, 1:] / self.n, -1.0, 1.0)

    @property
    def covariance(self) -> Array:
        """Of (u, v), noise and all."""
        return self.matrix[1:, 1:] / self.n - np.outer(self.mean, self.mean)

    @property
    def edge(self) -> float:
        """About the largest eigenvalue that noise alone gives the covariance of u."""
        d = len(self.matrix) - 2
        if not d:
            return 0.0
        mean = self.mean[:-1]
        return noise_edge(self.sds[1:-1, 1:-1]) * (1 + float(mean @ mean)) / self.n


@dataclass(frozen=True)
class Line:
    """Least squares of v on (1, u); sigma and intercept by the moments of the family.

    See docs/theory/functional.md.

    Attributes
    ----------
    params : array, shape (k + 1,)
        Intercept, slopes, log sigma.
    gram : array, shape (d, d)
        Covariance of u, with eigenvalues raised to the noise's edge.
    square : float
        Variance of the residuals, raised to what noise can tell from 0.
    square_noise : float
        sd of the noise on it.
    hidden : array, shape (d, d)
        Projection on the directions of u whose variance noise may have made.
    """

    params: Array
    gram: Array
    square: float
    square_noise: float
    hidden: Array


def least_squares(moments: Moments, family: Family) -> Line:
    """Slopes from the covariance; directions that noise may have made are damped.

    Parameters
    ----------
    moments : Moments
    family : Family
    """
    covariance, center = moments.covariance, moments.mean
    values, vectors = np.linalg.eigh(covariance[:-1, :-1])
    edge = moments.edge
    raised = np.maximum(values, max(edge, 1e-12))
    slopes = vectors @ (vectors.T @ covariance[:-1, -1] / raised)
    square = float(covariance[-1, -1] - slopes @ covariance[:-1, -1])
    noise = _noise_of_square(moments, slopes)
    square = min(max(square, noise, 1e-12), 1.0)
    sigma = math.sqrt(square) / family.sd
    intercept = center[-1] - slopes @ center[:-1] - sigma * family.mean
    weak = vectors[:, values < edge]
    return Line(
        np.array([intercept, *slopes, math.log(sigma)]),
        (vectors * raised) @ vectors.T,
        square,
        noise,
        weak @ weak.T,
    )


def published(moments: Moments, family: Family, scale: float) -> Array:
    """The paper's estimate: the maximum of the noisy quadratic, regularised and trimmed (Zhang et al. 2012).

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


def _noise_of_square(moments: Moments, slopes: Array) -> float:
    """sd of the noise on the mean square residual of a line with these slopes."""
    direction = np.concatenate([[-moments.mean[-1] + slopes @ moments.mean[:-1]], -slopes, [1.0]])
    return math.sqrt(float(direction @ noise_of_product(moments.sds, direction) @ direction)) / moments.n


def _bordered(matrix: Array, column: Array) -> Array:
    """A symmetric matrix with one row and column more."""
    k = len(matrix)
    whole = np.empty((k + 1, k + 1))
    whole[:k, :k] = matrix
    whole[k, :] = whole[:, k] = column
    return whole

"""Second moments of a = (1, u, v) as they were released, and what solves them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpstats.curator import Release
from dpstats.estimators.matrices import noise_edge, noise_of_product
from dpstats.families import Family

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

    matrix: np.ndarray
    sds: np.ndarray
    rows: int
    of_q: float | None = None

    @classmethod
    def of(cls, release: Release) -> Moments:
        """From the statistic "functional_weights"."""
        return cls(release.values[0], release.sds[0], release.n)

    @property
    def n(self) -> float:
        """Rows that count: all, unless so many less were counted that noise cannot be the reason."""
        count, sd = float(self.matrix[0, 0]), float(self.sds[0, 0])
        return self.rows if count > self.rows - _BELIEVED * sd else max(count, 1.0)

    @property
    def mean(self) -> np.ndarray:
        """Of (u, v), in the box."""
        return np.clip(self.matrix[0, 1:] / self.n, -1.0, 1.0)

    @property
    def covariance(self) -> np.ndarray:
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
class LeastSquares:
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

    params: np.ndarray
    gram: np.ndarray
    square: float
    square_noise: float
    hidden: np.ndarray

    @property
    def unseen(self) -> int:
        """Number of these directions."""
        return round(float(np.trace(self.hidden)))


def least_squares(moments: Moments, family: Family) -> LeastSquares:
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
    # sd of the noise on the mean square residual of a line with these slopes
    direction = np.concatenate([[-moments.mean[-1] + slopes @ moments.mean[:-1]], -slopes, [1.0]])
    by_noise = noise_of_product(moments.sds, np.outer(direction, direction))
    noise = math.sqrt(float(direction @ by_noise @ direction)) / moments.n
    square = min(max(square, noise, 1e-12), 1.0)
    sigma = math.sqrt(square) / family.sd
    intercept = center[-1] - slopes @ center[:-1] - sigma * family.mean
    weak = vectors[:, values < edge]
    return LeastSquares(
        np.array([intercept, *slopes, math.log(sigma)]),
        (vectors * raised) @ vectors.T,
        square,
        noise,
        weak @ weak.T,
    )

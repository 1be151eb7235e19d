"""Functions of symmetric matrices by their eigenvalues."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def symmetric_power(matrix: Array, power: float) -> Array:
    """A power of a symmetric positive definite matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return (vectors * values**power) @ vectors.T


def with_floor(matrix: Array, floor: float) -> Array:
    """The matrix with its eigenvalues raised to at least `floor`."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, max(floor, 1e-12))) @ vectors.T


def noise_of_product(sds: Array, vector: Array) -> Array:
    """Covariance of N v for a symmetric N with these sds, each entry of its triangle drawn alone."""
    covariance = sds**2 * np.outer(vector, vector)
    np.fill_diagonal(covariance, sds**2 @ vector**2)
    return covariance

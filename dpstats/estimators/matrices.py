"""Functions of symmetric matrices by their eigenvalues."""

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

Numbers = TypeVar("Numbers", float, np.ndarray)

SMALLEST = 1e-4  # eigenvalue of moments: columns are not told apart beyond a correlation of 1 minus this
# of a solver: at most so many steps, and the length of what is left over that of what was asked, which floats
# can reach: steps that go on below it leave the solution again
_SOLVER_STEPS, _SOLVED = 500, 1e-10


def symmetric_power(matrix: np.ndarray, power: float, least: float = -math.inf) -> np.ndarray:
    """A power of a symmetric positive definite matrix, its eigenvalues raised to `least`."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return (vectors * np.maximum(values, least) ** power) @ vectors.T


def with_floor(matrix: np.ndarray, floor: float) -> np.ndarray:
    """The matrix with its eigenvalues raised to `floor`, and to what rounding leaves of an inverse."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, max(floor, 1e-12 * values.max(initial=1.0)))) @ vectors.T


def noise_of_product(sds: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Covariance of N v for v with these second moments, each entry of the triangle of N drawn alone."""
    covariance = sds**2 * second
    np.fill_diagonal(covariance, sds**2 @ np.diag(second))
    return covariance


def noise_edge(sds: np.ndarray) -> float:
    """About the largest eigenvalue, s sqrt(2 k), of symmetric noise with these sds; s on its diagonal."""
    if len(sds) == 1:
        return math.sqrt(2) * float(sds[0, 0])
    return 2 * math.sqrt(len(sds) * float(np.mean(sds[np.triu_indices(len(sds), 1)] ** 2)))


def pooled(matrix: np.ndarray, edge: float) -> np.ndarray:
    """The matrix with all eigenvalues below `edge`, which noise hides, replaced by their mean, or by 0.

    Their sum is known much better than each of them. Raising only the negative ones would add noise to it.
    """
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    hidden = values < edge
    if hidden.any():
        values[hidden] = max(float(values[hidden].mean()), 0.0)
    return (vectors * values) @ vectors.T


def longest_image(matrix: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """Upper bound of |matrix x|^2 over the box of x."""
    center, half = (lower + upper) / 2, (upper - lower) / 2
    return float(np.sum((np.abs(matrix @ center) + np.abs(matrix) @ half) ** 2))


def conjugate_gradients(
    times: Callable[[np.ndarray], np.ndarray],
    right: np.ndarray,
    start: np.ndarray,
) -> np.ndarray:
    """What a positive definite map takes to `right`, by conjugate gradients.

    Parameters
    ----------
    times : callable
        The map, of arrays of the shape of `right`.
    right, start : array
    """
    solution = start if np.vdot(right, right) else np.zeros_like(start)  # next to nothing no rest is small
    direction = rest = right - times(solution)
    enough, square = _SOLVED**2 * float(np.vdot(right, right)), float(np.vdot(rest, rest))
    for _ in range(_SOLVER_STEPS):
        if square <= enough:
            break
        moved = times(direction)
        length = square / float(np.vdot(direction, moved))
        solution = solution + length * direction
        rest = rest - length * moved
        before, square = square, float(np.vdot(rest, rest))
        direction = rest + square / before * direction
    return solution


def by_precision(one: Numbers, sd: Numbers, other: Numbers, other_sd: Numbers) -> Numbers:
    """Mean of two estimates of the same numbers, weighted by their precision, entry by entry."""
    return (one / sd**2 + other / other_sd**2) / (sd**-2.0 + other_sd**-2.0)


def not_noise(square: float, by_noise: float) -> float:
    """James and Stein's factor: 1 less the share of a square that noise explains, at least 0."""
    return max(0.0, 1 - by_noise / max(float(square), 1e-300))

"""Functions of symmetric matrices by their eigenvalues."""

import functools
import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

Numbers = TypeVar("Numbers", float, np.ndarray)

ROUNDING = 1e-9  # of numbers of size 1, below which what floats leave is taken for 0
SMALLEST = 1e-4  # eigenvalue of moments: columns are not told apart beyond a correlation of 1 minus this
# of a solver: at most so many steps, and the length of what is left over that of what was asked, which floats
# can reach: steps that go on below it leave the solution again
_SOLVER_STEPS, _SOLVED = 500, 1e-10


def inverted(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a matrix that steps ask for again and again, such as a whitening; not to be changed."""
    return _inverse(matrix.tobytes(), len(matrix))


@functools.lru_cache(maxsize=16)
def _inverse(content: bytes, size: int) -> np.ndarray:
    found = np.linalg.inv(np.frombuffer(content).reshape(size, size))
    found.flags.writeable = False
    return found


def beside(block: np.ndarray, own: np.ndarray) -> np.ndarray:
    """A block, and beside it coordinates of their own, each times a number."""
    whole = np.diag(np.append(np.ones(len(block)), own))
    whole[: len(block), : len(block)] = block
    return whole


def symmetric_power(matrix: np.ndarray, power: float, least: float = -math.inf) -> np.ndarray:
    """A power of a symmetric positive definite matrix, its eigenvalues raised to `least`."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return (vectors * np.maximum(values, least) ** power) @ vectors.T


def covariance_by_free_entries(sds: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Covariance of N v for v with these second moments, each entry of the triangle of N drawn alone."""
    covariance = sds**2 * second
    np.fill_diagonal(covariance, sds**2 @ np.diag(second))
    return covariance


def noise_edge(sds: np.ndarray, law: str = "gaussian") -> float:
    """About the largest eigenvalue, s sqrt(2 k), of symmetric noise with these sds; s on its diagonal.

    That of "wishart" noise is the edge of what its law tends to, with k (1 + 1 / k) degrees of freedom, as k
    grows: of the difference of two free Poisson variables of rate a = 1 + 1 / k. That is the least value of
    a / (1 - z) - a / (1 + z) + 1 / z, the sum of their R-transforms and 1 / z, on (0, 1), whose square is the
    larger root of 4 x^2 + (b^2 - 18 b - 27) x - 4 b^3, b = 2 a - 1: 1.15 s sqrt(2 k) of order 4, and
    (11 + 5 sqrt 5)^1/2 / 4 = 1.18 times s sqrt(2 k) in the limit.
    """
    k, b = len(sds), 1 + 2 / len(sds)
    beside = sds[np.triu_indices(k, 1)]
    edge = 2 * math.sqrt(k * float(np.mean(beside**2))) if k > 1 else math.sqrt(2) * float(sds[0, 0])
    if law == "wishart":
        edge *= math.sqrt((27 + 18 * b - b**2 + math.sqrt((9 + b) ** 3 * (1 + b))) / (32 * (1 + b)))
    return edge


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

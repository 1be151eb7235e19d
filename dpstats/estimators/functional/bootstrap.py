"""Fits of made-up releases that have the moments of the one that was released.

Everything here follows from released and public numbers, the seed too, so that it is post-processing.
See docs/theory/functional.md#intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpstats.estimators.functional.moments import Line, Moments
from dpstats.families import Family

Array = np.ndarray

DRAWS = 200


def bootstrap(
    moments: Moments, line: Line, family: Family, solve: Callable[[Moments], Array]
) -> tuple[Array, Array]:
    """Solve made-up moments without noise and with it.

    Parameters
    ----------
    moments : Moments
        As released; the made-up ones have their noise.
    line : Line
        The truth of the made-up data.
    family : Family
    solve : callable
        From moments to an estimate.

    Returns
    -------
    exact, noisy : array, shape (DRAWS, k + 1)
        Row by row of the same data.
    """
    seed = np.ascontiguousarray(moments.matrix).view(np.uint32).ravel().tolist()
    draw = np.random.default_rng(seed)
    exact, noisy = [], []
    for _ in range(DRAWS):
        sample = _sample(moments, line, family, draw)
        exact.append(solve(replace(moments, matrix=sample, sds=np.zeros_like(moments.sds))))
        noisy.append(solve(replace(moments, matrix=sample + _noise(moments.sds, draw))))
    return np.array(exact), np.array(noisy)


def _noise(sds: Array, draw: np.random.Generator) -> Array:
    """Laplace noise, each entry of the triangle drawn once."""
    upper = np.triu(draw.laplace(size=sds.shape) * sds / math.sqrt(2))
    return upper + np.triu(upper, 1).T


def _sample(moments: Moments, line: Line, family: Family, draw: np.random.Generator) -> Array:
    """The sum of a a' of n rows with normal u, and the line with errors of the family.

    The errors enter by their sums (1, u)'e and e'e, which are normal about what they are given u, up to terms
    that vanish with n; n is never so small in a fit that is not refused.
    """
    n, d = max(round(moments.n), 2), len(line.gram)
    design = np.empty((d + 1, d + 1))
    root = np.linalg.cholesky(line.gram)
    center = moments.mean[:-1] + root @ draw.normal(size=d) / math.sqrt(n)
    design[0, 0], design[0, 1:], design[1:, 0] = n, n * center, n * center
    half = root @ _wishart_root(n - 1, d, draw)
    design[1:, 1:] = half @ half.T + n * np.outer(center, center)
    square = line.square
    coefficients = line.params[:-1].copy()
    coefficients[0] += family.mean * math.sqrt(square) / family.sd
    errors, squares = _errors(design, n, square, family, draw)
    cross = design @ coefficients + errors
    total = coefficients @ design @ coefficients + 2 * coefficients @ errors + squares
    matrix = np.empty((d + 2, d + 2))
    matrix[:-1, :-1], matrix[-1, :-1], matrix[:-1, -1], matrix[-1, -1] = design, cross, cross, total
    return matrix


def _errors(
    design: Array, n: int, square: float, family: Family, draw: np.random.Generator
) -> tuple[Array, float]:
    """(1, u)'e and e'e for errors of mean 0, variance `square` and the shape of the family."""
    values, vectors = np.linalg.eigh(design)
    sums = vectors @ (np.sqrt(np.maximum(values, 0.0)) * draw.normal(size=len(design))) * math.sqrt(square)
    of_sum = family.skewness * math.sqrt(square) * float(sums[0])  # regression of e'e on the sum of e
    rest = n * square**2 * max(family.kurtosis + 2 - family.skewness**2, 0.0)
    return sums, max(n * square + of_sum + math.sqrt(rest) * draw.normal(), 0.0)


def _wishart_root(freedom: int, d: int, draw: np.random.Generator) -> Array:
    """A lower triangle T with T T' of the standard Wishart law (Bartlett)."""
    root = np.tril(draw.normal(size=(d, d)), -1)
    np.fill_diagonal(root, np.sqrt(draw.chisquare(np.maximum(freedom - np.arange(d), 1))))
    return root

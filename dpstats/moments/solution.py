"""Coefficients from noisy normal equations, and whether the noise leaves anything of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Solution", "believed", "hidden", "judged", "positive", "seen_share", "wider"]

Array = np.ndarray

# Usability of the released matrix: the size of its noise over its least eigenvalue
# (docs/theory/linear.md#usability).
_WEAK, _HOPELESS = 0.6, 1.3
# Where a prior was learnt from earlier releases: the share of a variance that rests on it. On random designs
# intervals cover .95 to .96 up to the first, and .94 between the two, unless a direction is not seen at all.
_LEANING, _RESTING, _STILL = 0.7, 0.75, 0.5
# Up to this `rel` all directions are seen, and what earlier releases left open is the size of an error, not a
# guess: of 110 coefficients of random designs that rest on it 109 were covered, and none was off by two
# half-lengths. From .3 to .6, 18 of 23 were covered.
_ALL_SEEN = 0.3
# An eigenvalue is half believed at so many sds of the noise along its eigenvector. Of 1100 fits of exactly or
# nearly collinear columns 2 are then off by more than 5 se; at 2.2 sds, 5 of 700. At 2.8, more slopes of a
# plain design that noise half hides are called not estimable (k = 8, n = 20,000, epsilon = 1: .19, not .17).
_ALONE = 2.5


@dataclass(frozen=True)
class Solution:
    """Coefficients at one penalty.

    Attributes
    ----------
    params : array, shape (d,)
    cov, cov_privacy : array, shape (d, d)
        An infinite variance means that the release does not determine the coefficient.
    weak : tuple of int
        Coefficients whose interval rests on a guess of what privacy noise hides.
    rel : float
        Size of the noise of the matrix over its least eigenvalue: below .6 all is well.
    """

    params: Array
    cov: Array
    cov_privacy: Array
    weak: tuple[int, ...]
    rel: float


def judged(
    params: Array,
    sampling: Array,
    privacy: Array,
    guess: Array,
    rel: float,
    before: Array | None = None,
    seen: bool = True,
) -> Solution:
    """Coefficients with their covariance, the sum of three parts, and what of it to believe.

    Parameters
    ----------
    params : array, shape (d,)
    sampling, privacy, guess : array, shape (d, d)
        Covariance due to rows, to noise, and to what noise hides, see :func:`hidden`.
    rel : float
        As in :class:`Solution`.
    before : array, shape (d, d), optional
        Covariance before the release, where earlier ones tell, see :mod:`dpstats.moments.posterior`. A
        coefficient that rests on it is not estimable unless all directions are well seen; nor is one of
        which most is still left, while noise hides some direction.
    seen : bool
        Whether there are rows at all, as far as the release tells; if not, nothing is estimable.
    """
    cov, cov_privacy = sampling + privacy + guess, privacy + guess
    share = np.diag(guess) / np.maximum(np.diag(cov), np.finfo(float).tiny)  # of wild rows all may be 0
    lost, leaning = (share > 0.5) & (rel > _HOPELESS), (share > 0.1) & (rel > _WEAK)
    if before is not None:
        left = np.diag(guess) > _STILL * np.diag(before)
        lost |= ((share > _RESTING) & (rel > _ALL_SEEN)) | (left & (rel > _HOPELESS))
        leaning = (share > _LEANING) | ((share > 0.1) & (rel > _HOPELESS))
    lost |= not seen
    for matrix in (cov, cov_privacy):
        matrix[lost, lost] = np.inf
    weak = tuple(int(j) for j in np.flatnonzero(leaning & ~lost))
    return Solution(params, cov, cov_privacy, weak, rel)


def hidden(values: Array, vectors: Array, size: float | Array, variance: float | Array) -> Array:
    """Covariance of what noise hides along eigenvectors of a noisy matrix whose eigenvalues are small.

    Parameters
    ----------
    values, vectors : array
        Of the noisy matrix, before its eigenvalues are raised to `size`.
    size : float or array
        Of the noise, as an operator or along each of these vectors, see :func:`believed`.
    variance : float or array
        That a coefficient may have along a direction that is not seen.
    """
    return np.asarray((vectors * ((1 - seen_share(values, size)) ** 2 * variance)) @ vectors.T)


def seen_share(values: Array, size: float | Array) -> Array:
    """From 0 to 1: whether eigenvalues exceed what noise of this size, as an operator, may make."""
    return np.asarray(np.clip((values / size - 0.75) / 0.5, 0.0, 1.0))


def believed(along: Array) -> Array:
    """The sizes at which half of an eigenvalue is believed, for noise of these sds along its eigenvector.

    Where columns are nearly collinear, noise along the one direction makes an eigenvalue of a matrix, which
    divides the estimate and its error alike: it would be a wrong number with a short interval.
    """
    return _ALONE * along


def wider(error: Array) -> Array:
    """By how much what is divided by an eigenvalue may be larger, for its relative error.

    Root of E (1 + error z)^-2, z Laplace, the longest tails that noise has, by its series to the sixth power.
    """
    square = error**2
    return np.asarray(np.sqrt(1 + square * (3 + square * (30 + 630 * square))))


def positive(matrix: Array) -> Array:
    """The nearest positive semi-definite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)

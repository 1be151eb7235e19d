"""Coefficients from noisy normal equations, and whether the noise leaves anything of them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

# Usability of the released matrix: the size of its noise over its least eigenvalue
# (docs/theory/linear.md#usability).
WEAK, HOPELESS = 0.6, 1.3
# Where a prior was learnt from earlier releases: up to this `rel` what they left open is the size of an error
# and not a guess. Of 1,262 coefficients of random designs that rested on it by more than .3 of their variance
# .97 were covered, of 578 by more than half .96; none was off by two half-lengths.
_SEEN = 3.0
# Shares of a variance that rest on it. Beyond the first a coefficient is weak where noise hides a direction:
# there intervals of nearly collinear columns whose effects cancel hold less. Beyond `_SEEN` .91 to .98 of
# intervals held up to the second, .82 above; the third is the share of what was open that still is, where it
# is the fourth of the variance too.
_LEANING, _RESTING, _STILL, _MOST = 0.65, 0.85, 0.5, 0.5
# An eigenvalue is half believed at so many sds of the noise along its eigenvector. Of 1100 fits of exactly or
# nearly collinear columns 2 are then off by more than 5 se; at 2.2 sds, 5 of 700. At 2.8, more slopes of a
# plain design that noise half hides are called not estimable (k = 8, n = 20,000, epsilon = 1: .19, not .17).
_ALONE = 2.5
# Where it is hidden altogether, and believed altogether, over that
_HIDDEN, BELIEVED = 0.75, 1.25


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
    bias : array, shape (d,), optional
        The part of the variances that is what a response that bends may do, where that was asked.
    """

    params: np.ndarray
    cov: np.ndarray
    cov_privacy: np.ndarray
    weak: tuple[int, ...]
    rel: float
    bias: np.ndarray | None = None


class Before(NamedTuple):
    """What was open before a release.

    Attributes
    ----------
    cov : array, shape (d, d)
    resting : float
        Share of a variance that may rest on it; all, where `cov` is from before any release, and what of it
        is left tells by itself what is not estimable.
    unused : array, shape (d, d), or 0
        What `sampling` has of directions that noise hides, by eigenvalues raised to its size, and the
        estimate has not, which stays where it was along them.
    """

    cov: np.ndarray
    resting: float = _RESTING
    unused: np.ndarray | float = 0.0


def judged(
    params: np.ndarray,
    sampling: np.ndarray,
    privacy: np.ndarray,
    guess: np.ndarray,
    rel: float | np.ndarray,
    before: Before | None = None,
    seen: bool | np.ndarray = True,
) -> Solution:
    """Coefficients with their covariance, the sum of three parts, and what of it to believe.

    Parameters
    ----------
    params : array, shape (d,)
    sampling, privacy, guess : array, shape (d, d)
        Covariance due to rows, to noise, and to what noise hides, see :func:`hidden`.
    rel : float or array, shape (d,)
        As in :class:`Solution`; of each coefficient, see :func:`of_coefficients`.
    before : Before, optional
        Where earlier releases tell, see :mod:`dpstats.moments.posterior`. Where noise hides some direction, a
        coefficient that rests on it is not estimable, nor is one of which most is still left.
    seen : bool or array of bool, shape (d,)
        Whether there are rows at all, and such that differ, as far as releases tell; else nothing is
        estimable.
    """
    cov, cov_privacy = sampling + privacy + guess, privacy + guess
    share = np.diag(guess) / np.maximum(np.diag(cov), np.finfo(float).tiny)  # of wild rows all may be 0
    lost, leaning = (share > 0.5) & (rel > HOPELESS), (share > 0.1) & (rel > WEAK)
    if before is not None:
        rests = np.diag(guess) / np.maximum(np.diag(cov - before.unused), np.finfo(float).tiny)
        left = (np.diag(guess) > _STILL * np.diag(before.cov)) & (rests > _MOST)
        lost = ((share > before.resting) | left) & (rel > _SEEN)
        leaning = (share > _LEANING) & (rel > HOPELESS)
    lost |= ~np.asarray(seen)
    for matrix in (cov, cov_privacy):
        matrix[lost, lost] = np.inf
    weak = tuple(int(j) for j in np.flatnonzero(leaning & ~lost))
    return Solution(params, cov, cov_privacy, weak, float(np.max(rel)))


def of_coefficients(rel: np.ndarray, vectors: np.ndarray, guess: np.ndarray, way: np.ndarray) -> np.ndarray:
    """`rel` of each coefficient: that which half of what noise hides of it exceeds.

    A level of almost no rows is a direction that noise hides, of which other coefficients hold little.

    Parameters
    ----------
    rel, vectors : array, shape (d,) and (d, d)
        Along eigenvectors of the noisy matrix, in columns.
    guess : array, shape (d, d)
        As in :func:`judged`, in the coordinates of these.
    way : array, shape (p, d)
        What takes these to coefficients.
    """
    order = np.argsort(-rel)
    rested = ((way @ vectors) ** 2 * np.sum(vectors * (guess @ vectors), axis=0))[:, order]
    half = np.cumsum(rested, axis=1) >= rested.sum(axis=1, keepdims=True) / 2
    return np.asarray(rel[order][np.argmax(half, axis=1)])


def hidden(
    values: np.ndarray, vectors: np.ndarray, size: float | np.ndarray, variance: float | np.ndarray
) -> np.ndarray:
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


def seen_share(values: np.ndarray, size: float | np.ndarray) -> np.ndarray:
    """From 0 to 1: whether eigenvalues exceed what noise of this size, as an operator, may make."""
    return np.asarray(np.clip((values / size - _HIDDEN) / (BELIEVED - _HIDDEN), 0.0, 1.0))


def believed(along: np.ndarray) -> np.ndarray:
    """The sizes at which half of an eigenvalue is believed, for noise of these sds along its eigenvector.

    Where columns are nearly collinear, noise along the one direction makes an eigenvalue of a matrix, which
    divides the estimate and its error alike: it would be a wrong number with a short interval.
    """
    return _ALONE * along


def wider(error: np.ndarray) -> np.ndarray:
    """By how much what is divided by an eigenvalue may be larger, for its relative error.

    Root of E (1 + error z)^-2, z Laplace, the longest tails that noise has, by its series to the sixth power.
    """
    square = error**2
    return np.asarray(np.sqrt(1 + square * (3 + square * (30 + 630 * square))))


def not_noise(square: float, by_noise: float) -> float:
    """James and Stein's factor: 1 less the share of a square that noise explains, at least 0."""
    return max(0.0, 1 - by_noise / max(float(square), 1e-300))

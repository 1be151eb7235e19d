"""What a noisy release says of a line, given what was known before: empirical Bayes.

Released are M = G + E and c = G delta + e, with E and e noise of known size. delta is how far the line is
from the one that residuals are about, and was known up to a covariance P: how far the last release may have
missed it. Maximum likelihood, M^-1 c, is mostly noise where noise outweighs G P G. The posterior mean moves
as far as the release can tell, and its error has two parts: the noise that came in, and what of delta was
left out.

See docs/theory/linear.md#what-earlier-releases-told.
"""

import math
from typing import NamedTuple

import numpy as np

from dpstats.moments.parts import Expected, Released
from dpstats.moments.solution import BELIEVED, HOPELESS, believed, hidden, not_noise

# P is known up to a factor f, whose root is half Cauchy before the release.
_FACTORS = 2.0 ** np.arange(-14, 9)
_USUAL = -np.log(1 / np.sqrt(_FACTORS) + np.sqrt(_FACTORS))
# Beside it each direction has a factor of its own, mostly 1: one effect may be far larger than all others, as
# that of a rare level. Without it 4 % of 200 fits with rare levels were two half-lengths off without a word,
# and 1 % of 100 are; at twice the chances of the larger factors none of 200, with longer intervals.
_OWN, _OFTEN = np.array([1.0, 16.0, 256.0]), np.array([0.95, 0.04, 0.01])
# `rel` of an eigenvalue that noise along its eigenvector may have made is what is too much where it begins to
_MADE = HOPELESS * BELIEVED


class Posterior(NamedTuple):
    """Of delta, its mean = gain @ c.

    `gram` is G without its noise as far as that can be told; `left` is the covariance of what of delta the
    gain leaves out, (1 - gain G) delta, and `before` that of delta, with P's factor as it was found.
    `errors` is what `left` has of errors whose size was known, and `trust` the share of the variance of the
    noise of M that `gram` still has. `unseen`, where noise has a shape, is what `left` has along directions
    that noise may have made.
    """

    gram: np.ndarray
    gain: np.ndarray
    left: np.ndarray
    before: np.ndarray
    errors: np.ndarray
    trust: float
    unseen: "Unseen | None" = None


class Unseen(NamedTuple):
    """Directions that noise may have made: a covariance, `rel` of each, and these, in columns."""

    left: np.ndarray
    rel: np.ndarray
    vectors: np.ndarray


def denoised(
    matrix: np.ndarray,
    noise: float,
    expected: np.ndarray | None = None,
    numbers: int | None = None,
    shape: np.ndarray | None = None,
) -> tuple[np.ndarray, float]:
    """A noisy positive matrix shrunk towards a multiple of what was expected, and how far it was not.

    By the positive-part rule of James and Stein: all the way if the two differ by no more than noise makes
    them differ. Negative eigenvalues are 0.

    Parameters
    ----------
    matrix : array, shape (k, k)
    noise : float
        sd of its diagonal entries; off-diagonal ones have 1 / sqrt 2 of it.
    expected : array, shape (k, k), optional
        By earlier releases, up to a factor; the identity if not given.
    numbers : int, optional
        How many numbers the matrix is, where not all of its entries are free.
    shape : array, shape (k, k), optional
        S where the noise is noise S^1/2 Z S^1/2, as of :func:`covariance_by_shaped_noise`; matrices are
        compared where it is Z.
    """
    k = len(matrix)
    if shape is not None:
        root = np.linalg.cholesky(shape)
        back = np.linalg.inv(root)
        usual = back @ (np.eye(k) if expected is None else expected) @ back.T
        found, trust = denoised(back @ matrix @ back.T, noise, usual, numbers)
        return root @ found @ root.T, trust
    total = 0.0 if expected is None else float(np.trace(expected))
    usual = np.eye(k) if expected is None or total <= 0 else expected * k / total
    middle = max(float(np.trace(matrix)) / k, noise / math.sqrt(k), 1e-12) * usual
    free = (numbers or k * (k + 1) // 2) - 1
    apart, by_noise = matrix - middle, noise**2 * free
    trust = not_noise(np.sum(apart**2), by_noise) if free else 1.0
    values, vectors = np.linalg.eigh(middle + trust * apart)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T), trust


def covariance_by_shaped_noise(noise: float, shape: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Covariance of E delta, for delta with these second moments and E = noise S^1/2 Z S^1/2.

    Parameters
    ----------
    noise : float
    shape : array, shape (k, k)
        S; the identity where noise is the same in all directions.
    second : array, shape (k, k)
        E delta delta'. Z is symmetric with variances 1 on the diagonal and 1/2 beside it.
    """
    within = shape @ second
    return np.asarray(noise**2 / 2 * (float(np.trace(within)) * shape + within @ shape))


def posterior(
    found: Released, prior: np.ndarray, known: Expected, errors: np.ndarray | None = None
) -> Posterior:
    """Of delta with covariance `prior`, up to a factor but for the part of it that is `errors`.

    Parameters
    ----------
    found : Released
        M and c, and the mean square of residuals, of which a line explains no more than all.
    prior : array, shape (k, k)
        Positive definite.
    known : Expected
        Of G.
    errors : array, shape (k, k), optional
        Of the prior, what noise made of earlier steps, whose size is known.

    Notes
    -----
    With L L' = P and G L = U s V', U'c has independent entries of variance h g s^2 + v, with a factor g of
    each entry's own and h = f (1 - e) + e: e is the share of errors in it, f the factor of all else. v is
    the noise of c and that of (M - G) delta along U, for delta of the size that P then has. What is left out
    counts at the mean factors, and with how much factors disagree about the mean.

    Where noise has a shape, all of delta is left along eigenvectors of G whose eigenvalues it may have made:
    that U'c is next to 0 there tells of them and not of delta.
    """
    gram, trust = denoised(found.gram, found.noise_gram, *known)
    values, vectors = np.linalg.eigh(prior)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    left, sizes, right = np.linalg.svd(gram @ root)
    signals, sizes, way = (left.T @ found.cross) ** 2, sizes**2, root @ right.T
    shape = np.eye(len(gram)) if known.shape is None else known.shape
    errors = np.zeros_like(prior) if errors is None else errors
    back = np.linalg.pinv(way)
    told = np.clip(np.sum(back * (back @ errors), axis=1), 0.0, 1.0)
    factors = _FACTORS[:, None] * (1 - told) + told
    size = _FACTORS * float(np.sum((prior - errors) * shape)) + float(np.sum(errors * shape))
    moved = found.noise_gram**2 / 2 * size[:, None] * np.sum(left * (shape @ left), axis=0)
    noise = np.maximum(found.noise_cross**2 + trust * moved, 1e-30)[:, :, None]
    both = factors[:, :, None] * _OWN
    signal = both * sizes[:, None]
    # a line explains no more than the mean square of residuals, which is taken for 1 where noise hides it
    most = max(found.square, found.noise_square) if found.noise_square < 1 else 1.0
    explained = np.sum(way * (gram @ way), axis=0)[:, None] / most
    weights = _chances(signals, signal + noise, both, explained)
    each, sizes = signal / (signal + noise), np.maximum(sizes, 1e-300)
    taken, size = np.sum(weights * each, axis=(0, 2)), np.sum(weights * both, axis=(0, 2))
    apart = np.sum(weights * (each - taken[:, None]) ** 2, axis=(0, 2))
    out = size * (1 - taken) ** 2 + apart * signals / sizes
    gain = (way * (taken / np.sqrt(sizes))) @ left.T
    of_errors = np.minimum(told * (1 - taken) ** 2, out)
    out, before, still = ((way * part) @ way.T for part in (out, size, of_errors))
    if known.shape is None:
        return Posterior(gram, gain, out, before, still, trust)
    unseen = _unseen(gram, math.sqrt(trust) * found.noise_gram, known.shape, before)
    return Posterior(gram, gain, out + unseen.left, before, still, trust, unseen)


def _chances(
    signals: np.ndarray, variances: np.ndarray, factors: np.ndarray, explained: np.ndarray
) -> np.ndarray:
    """Chances of both factors for each entry of U'c; shape (factors of P, k, an entry's own).

    Factors weigh by the density of U'c, their priors, and whether they explain more of the residuals than
    there is.

    Parameters
    ----------
    signals : array, shape (k,)
        (U'c)^2.
    variances, factors : array, shape (factors of P, k, an entry's own)
        At these factors; and what those make of P along each entry.
    explained : array, shape (k, 1)
        Share of the residuals that an entry explains where both factors are 1.
    """
    own = np.log(_OFTEN) - (np.log(variances) + signals[:, None] / variances) / 2
    own -= np.maximum(factors * explained - 1, 0.0)
    both = np.logaddexp.reduce(own, axis=2)
    weights = _USUAL + both.sum(axis=1)
    weights -= np.maximum(factors[:, :, 0] @ explained[:, 0] - 1, 0.0)
    weights = np.exp(weights - weights.max())
    weights /= weights.sum()
    return np.asarray(weights[:, None, None] * np.exp(own - both[:, :, None]))


def _unseen(gram: np.ndarray, noise: float, shape: np.ndarray, before: np.ndarray) -> Unseen:
    """Eigenvectors of G, of which noise of this size and shape is left."""
    values, vectors = np.linalg.eigh(gram)
    sizes = np.maximum(believed(noise * np.sum(vectors * (shape @ vectors), axis=0)), 1e-12)
    left = hidden(values, vectors, sizes, np.sum(vectors * (before @ vectors), axis=0))
    return Unseen(left, _MADE * sizes / np.maximum(values, 1e-12), vectors)

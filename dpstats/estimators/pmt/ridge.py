"""Ridge regression on rows whitened and truncated by public moments (Cao, Bi and Zhang, Algorithm 2).

See docs/theory/pmt.md#ridge.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.engine.finish import to_user
from dpstats.estimators.matrices import covariance_by_free_entries, symmetric_power
from dpstats.moments import PublicColumns, PublicMoments, Solution
from dpstats.moments.roots import with_floor
from dpstats.moments.solution import hidden, judged

ETA = 0.05
"""The paper's probability parameter: a Gaussian row is truncated with a probability of this order over n."""


@dataclass(frozen=True)
class Frame:
    """Standardised columns x~ and whitened ones a = W x~.

    Attributes
    ----------
    center, scale : array, shape (d,)
        Of the columns beside an intercept.
    whitening : array, shape (k, k)
        W.
    map : array, shape (k, k)
        Coefficients of the user's columns are map @ those of a.
    constant : bool
        Whether x~ begins with a 1.
    """

    center: np.ndarray
    scale: np.ndarray
    whitening: np.ndarray
    map: np.ndarray
    constant: bool


def frame(public: PublicColumns, constant: bool) -> Frame:
    """Whiten by public moments, enlarged by n / (n - p - 1), as the mean of an inverse from few rows is."""
    center, scale, to_scale = standardised(public, constant)
    inflation = public.n / (public.n - len(public.names) - 1)
    whitening = symmetric_power(inflation * to_scale @ public.xx @ to_scale.T, -0.5)
    return Frame(center, scale, whitening, (whitening @ to_scale).T, constant)


def standardised(public: PublicColumns, constant: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre and scale of the columns beside an intercept, and the matrix from x to x~."""
    center = public.xx[0, 1:] if constant else np.zeros(len(public.names))
    scale = np.sqrt(np.diag(public.xx)[int(constant) :] - center**2)
    return center, scale, to_user(center, scale, constant).T


def reach(n: int) -> float:
    """Length, in public root mean squares, beyond which one column of n rows is truncated."""
    return math.sqrt(1 + math.log(2 * n / ETA))


@dataclass(frozen=True)
class PmtFit:
    """Coefficients and the bounds that they depend on.

    Attributes
    ----------
    solution : Solution
    settings : dict of float
        "R", length in public sds beyond which rows count less, and "response", size in public root mean
        squares beyond which responses are clipped.
    """

    solution: Solution
    settings: dict[str, float]


@dataclass(frozen=True)
class ReleasedSums:
    """G and g per row, and sds of their noise; `far` root mean squares are the longest that counts."""

    gram: np.ndarray
    gram_sds: np.ndarray
    cross: np.ndarray
    cross_sd: float
    n: int
    far: float


def costs(mu: float) -> tuple[float, float]:
    """What each of the two releases costs, in mu. The paper's own parameter is this; mu is what it spends."""
    return mu / math.sqrt(2), mu / math.sqrt(2)


def fit_pmt(curator: Curator, public: PublicMoments, constant: bool, alpha: float, mu: float) -> PmtFit:
    """Release the second moments of truncated rows and solve.

    Parameters
    ----------
    curator : Curator
        Of a budget of Gaussian noise.
    public : PublicMoments
        Of the design's columns.
    constant : bool
        Whether the first column is an intercept. It is whitened with the others.
    alpha : float
        Penalty: minimise the mean squared error / 2 + alpha / 2 times the sum of squared coefficients, but
        that of the intercept.
    mu : float
        To be spent in all.

    Notes
    -----
    Algorithm 2 corrected: Gram noise for the sensitivity sqrt2 radius^2 and of rotation-invariant law; its
    eigenvalues raised to the noise's size s sqrt(2 p); whole rows shortened, without which E(y | a) is no
    line; public moments enlarged by n_B / (n_B - p - 1), as the mean of an inverse from few rows is. To the
    letter it is in :mod:`dpstats.estimators.published.truncated`.

    Algorithm 2 releases no residual variance. Standard errors take it from the public rows and rest on
    errors of the same size in both; coefficients and privacy do not.
    """
    where = frame(public.columns, constant)
    released = release_moments(curator, where, math.sqrt(public.yy), mu, "truncated_gram", whole=True)
    values, vectors = np.linalg.eigh(released.gram + _penalty(released, where, alpha))
    size = max(released.gram_sds[0, 0] * math.sqrt(2 * len(values)), 1e-12)
    delta = raised_inverse(values, vectors, size) @ released.cross
    return solved(released, where, public, (values, vectors, size), delta)


def release_moments(
    curator: Curator, where: Frame, sigma: float, mu: float, gram: str, whole: bool
) -> ReleasedSums:
    """Release the statistic `gram`, and products with the response; `whole` if rows are shortened with it."""
    p, far = len(where.whitening), reach(curator.n)
    rows = dict(
        center=where.center,
        scale=where.scale,
        y_center=0.0,
        y_scale=sigma,
        log=False,
        constant=where.constant,
        whitening=where.whitening.T,
        line=np.zeros(p),
        sigma=1.0,
        radius=far * math.sqrt(p),
        limit=far,
    )
    first, second = costs(mu)
    squares: Release = curator.release(gram, first, **rows)
    cross: Release = curator.release("truncated_cross", second, whole=whole, **rows)
    n = squares.n
    return ReleasedSums(squares.values[0] / n, squares.sds[0] / n, cross.values[0] / n, cross.sd / n, n, far)


def raised_inverse(values: np.ndarray, vectors: np.ndarray, size: float) -> np.ndarray:
    """Inverse of a matrix with its eigenvalues raised to the size of its noise."""
    return np.asarray((vectors / np.maximum(values, size)) @ vectors.T)


def solved(
    released: ReleasedSums,
    where: Frame,
    public: PublicMoments,
    spectrum: tuple[np.ndarray, np.ndarray, float],
    delta: np.ndarray,
) -> PmtFit:
    """Coefficients, with cov(delta) = H^-1 (s^2 G / n + noise of g - G delta) H^-1 + what noise hides.

    `spectrum` holds eigenvalues and -vectors of H, and the size of its noise.
    """
    (values, vectors, size), p, sigma = spectrum, len(delta), math.sqrt(public.yy)
    noise = released.cross_sd**2 * np.eye(p) + covariance_by_free_entries(
        released.gram_sds, np.outer(delta, delta)
    )
    # the response has mean square 1; an eigenvalue that was not raised may give more
    guess = hidden(values, vectors, size, np.maximum((vectors.T @ delta) ** 2, 1.0))
    to_user = sigma * where.map
    back = to_user @ raised_inverse(values, vectors, size)
    sampling = back @ (_residual_variance(public) * with_floor(released.gram, 0.0) / released.n) @ back.T
    rel = size / max(float(values[0]), 1e-12)
    solution = judged(to_user @ delta, sampling, back @ noise @ back.T, to_user @ guess @ to_user.T, rel)
    return PmtFit(solution, {"R": released.far * math.sqrt(p), "response": released.far})


def _penalty(released: ReleasedSums, where: Frame, alpha: float) -> np.ndarray:
    """Of delta: alpha times the squared coefficients, but that of an intercept, per unit of row weight."""
    penalised, weight = np.ones(len(where.map)), 1.0
    if where.constant:
        penalised[0] = 0.0
        one = np.linalg.solve(where.whitening.T, np.eye(len(penalised))[0])  # a'one = 1 unless shortened
        weight = float(np.clip(one @ released.gram @ one, 0.05, 1.0))
    shrunk = penalised[:, None] * where.map
    return alpha * weight * shrunk.T @ shrunk


def _residual_variance(public: PublicMoments) -> float:
    """Of public least squares, in units of the response's mean square."""
    unexplained = 1 - float(public.xy @ np.linalg.solve(public.xx, public.xy)) / public.yy
    return max(unexplained, 1e-12) * public.n / (public.n - len(public.names))

"""Ridge regression on rows whitened and truncated by public moments (Cao, Bi and Zhang, Algorithm 2).

See docs/theory/pmt.md#ridge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.matrices import noise_of_product
from dpstats.estimators.pmt.frame import Frame, frame, reach
from dpstats.moments import PublicMoments, Solution
from dpstats.moments.solution import hidden, judged, positive

Array = np.ndarray


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
class _Released:
    """G and g per row, and sds of their noise."""

    gram: Array
    gram_sds: Array
    cross: Array
    cross_sd: float
    n: int


def costs(mu: float) -> tuple[float, float]:
    """What each of the two releases costs, in mu. The paper's own parameter is this; mu is what it spends."""
    return mu / math.sqrt(2), mu / math.sqrt(2)


def fit_pmt(
    curator: Curator,
    public: PublicMoments,
    constant: bool,
    alpha: float,
    mu: float,
    compat: str | None = None,
) -> PmtFit:
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
    compat : {None, "paper"}
        "paper" follows Algorithm 2 to the letter, which is private once mu is told as it is: Gram noise of
        twice radius^2 on every entry of the upper triangle and none of its eigenvalues raised, responses
        clipped but not scaled down with their row, all coefficients penalised, the intercept too.

    Notes
    -----
    Else, as corrected: Gram noise for the sensitivity sqrt2 radius^2 and of rotation-invariant law; its
    eigenvalues raised to the noise's size s sqrt(2 p); whole rows shortened, without which E(y | a) is no
    line; public moments enlarged by n_B / (n_B - p - 1), as the mean of an inverse from few rows is.

    Algorithm 2 releases no residual variance. Standard errors take it from the public rows and rest on
    errors of the same size in both; coefficients and privacy do not.
    """
    paper = compat == "paper"
    where, sigma, far = frame(public.columns, constant, paper), math.sqrt(public.yy), reach(curator.n)
    released = _release(curator, where, sigma, far, mu, paper)
    solution = _solve(released, where, sigma, _residual_variance(public), alpha, paper)
    return PmtFit(solution, {"R": far * math.sqrt(len(public.names)), "response": far})


def _release(curator: Curator, where: Frame, sigma: float, far: float, mu: float, paper: bool) -> _Released:
    p = len(where.whitening)
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
    gram: Release = curator.release("truncated_triangle" if paper else "truncated_gram", first, **rows)
    cross: Release = curator.release("truncated_cross", second, whole=not paper, **rows)
    n = gram.n
    return _Released(gram.values[0] / n, gram.sds[0] / n, cross.values[0] / n, cross.sd / n, n)


def _solve(
    released: _Released, where: Frame, sigma: float, variance: float, alpha: float, paper: bool
) -> Solution:
    """Coefficients, with cov(delta) = H^-1 (s^2 G / n + noise of g - G delta) H^-1 + what noise hides."""
    p = len(released.gram)
    size = max(released.gram_sds[0, 0] * (2 * math.sqrt(p) if paper else math.sqrt(2 * p)), 1e-12)
    values, vectors = np.linalg.eigh(released.gram + _penalty(released, where, alpha, paper))
    inverse = (vectors / np.maximum(values, size)) @ vectors.T
    delta = inverse @ released.cross
    if paper:
        delta = vectors @ (vectors.T @ released.cross / np.where(np.abs(values) < 1e-12, 1e-12, values))
    noise = released.cross_sd**2 * np.eye(p) + noise_of_product(released.gram_sds, delta)
    # the response has mean square 1; an eigenvalue that was not raised may give more
    guess = hidden(values, vectors, size, np.maximum((vectors.T @ delta) ** 2, 1.0))
    to_user = sigma * where.map
    back = to_user @ inverse
    sampling = back @ (variance * positive(released.gram) / released.n) @ back.T
    privacy = back @ noise @ back.T
    rel = size / max(float(values[0]), 1e-12)
    return judged(to_user @ delta, sampling, privacy, to_user @ guess @ to_user.T, rel)


def _penalty(released: _Released, where: Frame, alpha: float, paper: bool) -> Array:
    """Of delta: alpha times the squared coefficients, per unit of row weight."""
    penalised = np.ones(len(where.map))
    weight = 1.0
    if where.constant and not paper:
        penalised[0] = 0.0
        one = np.linalg.solve(where.whitening.T, np.eye(len(penalised))[0])  # a'one = 1 unless shortened
        weight = float(np.clip(one @ released.gram @ one, 0.05, 1.0))
    shrunk = penalised[:, None] * where.map
    return alpha * weight * shrunk.T @ shrunk


def _residual_variance(public: PublicMoments) -> float:
    """Of public least squares, in units of the response's mean square."""
    unexplained = 1 - float(public.xy @ np.linalg.solve(public.xx, public.xy)) / public.yy
    return max(unexplained, 1e-12) * public.n / (public.n - len(public.names))

"""Algorithms 2, 3 and 4 of Cao, Bi and Zhang with their constants, made private.

See docs/theory/pmt.md#compatpaper.
"""

import math
from typing import Any

import numpy as np

from dpstats._codes import ALL_LOST, LOST, WEAK, problems_at
from dpstats.curator import Curator
from dpstats.estimators.engine.route import capped
from dpstats.estimators.matrices import symmetric_power
from dpstats.estimators.newton.estimate import GlmEstimate
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.pmt.glm import STEPS
from dpstats.estimators.pmt.ridge import (
    Frame,
    PmtFit,
    raised_inverse,
    reach,
    release_moments,
    solved,
    standardised,
)
from dpstats.families.glm import BINOMIAL, POISSON
from dpstats.moments import PublicColumns, PublicMoments, Solution
from dpstats.moments.roots import with_floor
from dpstats.moments.solution import hidden, judged

PUBLISHED = (BINOMIAL, POISSON)
"""Families whose canonical link is offered; a gamma family's has a curvature without a bound."""

# no constant of a release is larger; noise of that size leaves nothing to see anyway
_LARGEST = 1e30


def published_frame(public: PublicColumns, constant: bool) -> Frame:
    """Whiten by public moments as they are, by the symmetric root in the user's units."""
    center, scale, to_scale = standardised(public, constant)
    whitening = symmetric_power(to_scale @ public.xx @ to_scale.T, -0.5)
    # by the polar decomposition of the other root
    left, _, right = np.linalg.svd(whitening @ to_scale)
    whitening = (left @ right).T @ whitening
    return Frame(center, scale, whitening, (whitening @ to_scale).T, constant)


def fit_truncated_ridge(
    curator: Curator, public: PublicMoments, constant: bool, alpha: float, mu: float
) -> PmtFit:
    """Release the second moments of truncated rows and solve: ridge regression by Algorithm 2.

    It is private once mu is told as it is. The paper's are: Gram noise of twice radius^2 on every entry of
    the upper triangle and none of its eigenvalues raised, responses clipped but not scaled down with their
    row, all coefficients penalised, the intercept too.

    Parameters
    ----------
    curator, public, constant, alpha, mu
        As of :func:`dpstats.estimators.pmt.fit_pmt`.
    """
    where = published_frame(public.columns, constant)
    released = release_moments(curator, where, math.sqrt(public.yy), mu, "truncated_triangle", whole=False)
    values, vectors = np.linalg.eigh(released.gram + alpha * where.map.T @ where.map)
    size = max(released.gram_sds[0, 0] * (2 * math.sqrt(len(values))), 1e-12)
    delta = vectors @ (vectors.T @ released.cross / np.where(np.abs(values) < 1e-12, 1e-12, values))
    return solved(released, where, public, (values, vectors, size), delta)


def truncated_glm_costs(mu: float) -> dict[str, float]:
    """The paper's own parameter is what each kind costs; mu is what it spends."""
    return {"score": mu / math.sqrt(2), "information": mu / math.sqrt(2)}


def fit_truncated_glm(curator: Curator, problem: Problem, public: PublicColumns, mu: float) -> GlmEstimate:
    """Fit a logistic or Poisson regression by the paper's iteration.

    Parameters
    ----------
    curator : Curator
        Of a budget of Gaussian noise; `mu` must be left of its total.
    problem : Problem
        Of the family binomial or poisson.
    public : PublicColumns
        Of the design's columns.
    mu : float
        To be spent in all.

    Notes
    -----
    The paper's are: the symmetric root in the user's units, rows shortened to the public radius, separate
    noise of twice the largest norm on scores and on each entry of the information, the start at 0, the last
    iterate.

    Corrected are: steps t = 0, ..., T - 1, each of both releases for mu / sqrt(2 T), so that mu is what is
    spent; the sign of eq. 13; max |b'| over the ball for max b'; coefficients of a Poisson regression
    projected to the ball |beta~| <= R_beta, without which no such maximum bounds anything; responses clipped;
    eigenvalues raised to the size of their noise.

    R_beta, which the paper leaves open, is the linear predictor of a mean at the largest declared response,
    at least 1. The Poisson bound exp(R_beta radius) is then so large that hardly any data outweigh the noise.
    """
    where, radius = published_frame(public, problem.intercept), reach(curator.n) * math.sqrt(problem.k)
    ball, of_score, of_curvature = _constants(problem, radius)
    rows: dict[str, Any] = dict(
        center=where.center,
        scale=where.scale,
        y_center=0.0,
        y_scale=1.0,
        log=False,
        constant=where.constant,
        whitening=where.whitening.T,
        radius=radius,
        family=problem.family,
    )
    each = mu / math.sqrt(2 * STEPS)
    beta = np.zeros(problem.k)
    for _ in range(STEPS):
        score = curator.release("truncated_score", each, **rows, beta=beta, most=of_score)
        information = curator.release("truncated_information", each, **rows, beta=beta, most=of_curvature)
        n = score.n
        noise, size = score.sd / n, information.sd / n * math.sqrt(2 * problem.k)
        values, vectors = np.linalg.eigh(information.values[0] / n)
        beta = beta + raised_inverse(values, vectors, size) @ score.values[0] / n
        beta, _ = capped(beta, ball)
    settings = {"R": radius} | ({"R_beta": ball} if math.isfinite(ball) else {})
    solution = _judged(where, beta, values, vectors, noise, size, curator.n)
    return _estimate(solution, settings)


def _constants(problem: Problem, radius: float) -> tuple[float, float, float]:
    """R_beta and what bounds |y - b'| and b''."""
    if not problem.family.unlimited:
        return math.inf, problem.family.largest_score, problem.family.most_curved
    top = problem.response[1]
    ball = max(math.log(top), 1.0)
    steepest = min(math.exp(min(ball * radius + problem.offset[1], 100.0)), _LARGEST)
    return ball, top + steepest, steepest


def _judged(
    where: Frame,
    beta: np.ndarray,
    values: np.ndarray,
    vectors: np.ndarray,
    noise: float,
    size: float,
    n: int,
) -> Solution:
    """cov = H^-1 [H / n + noise of the last score] H^-1 + what noise hides (docs/theory/pmt.md#ridge)."""
    back = where.map @ raised_inverse(values, vectors, size)
    information = with_floor((vectors * values) @ vectors.T, 0.0)
    guess = where.map @ hidden(values, vectors, size, 1.0) @ where.map.T
    rel = size / max(float(values[0]), 1e-9 * size)
    return judged(where.map @ beta, back @ information @ back.T / n, noise**2 * back @ back.T, guess, rel)


def _estimate(solution: Solution, settings: dict[str, float]) -> GlmEstimate:
    lost = np.isinf(np.diag(solution.cov))
    each = problems_at(LOST, np.flatnonzero(lost)) + problems_at(WEAK, solution.weak)
    told = (ALL_LOST,) if lost.all() else each
    return GlmEstimate(solution.params, solution.cov, solution.cov_privacy, told, settings)

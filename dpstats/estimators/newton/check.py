"""Do responses follow the line? Scores against its square (docs/theory/glm.md#whether-responses-bend)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy

from dpstats.curator import Curator
from dpstats.estimators.newton.bounds import Bounds
from dpstats.estimators.newton.estimate import Estimate, to_user
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.newton.whitening import Whitening
from dpstats.families.bounded_score import BoundedScore, square_weight

Array = np.ndarray

_EDGE = 2.0  # sds of the linear predictor beyond which a row says no more
_LEAST = 1e-3  # sd of the linear predictor below which nothing can bend by it
# chance that a bend stands out where there is none, and what of it is news for intervals, in sds
_DOUBTFUL, _USUAL = 1e-3, 1.5
# share of the square that is left beside intercept and slopes, for a normal linear predictor
_LEFT = 0.5
_WORTH = 2.0  # standard errors that a bend may move a coefficient by before it is said


def checked(
    curator: Curator, mu: float, problem: Problem, located: Located, bounds: Bounds, whitening: Whitening,
    result: Estimate,
) -> Estimate:  # fmt: skip
    """A fit under the caution "bends" if scores rise and fall with the square of the linear predictor.

    Rows that are long, or of large means, count less than in the fit without privacy. Where the formula
    holds, both have one estimand; where responses bend, they differ by about the coefficient of the square.
    A bend that may move coefficients by less than is worth a caution widens intervals.
    """
    back = np.linalg.inv(to_user(problem, located))
    beta, moments = back @ result.params, np.linalg.matrix_power(np.linalg.inv(whitening.matrix), 2)
    slopes = np.where(np.arange(problem.k) < problem.intercept, 0.0, beta)
    along = moments @ slopes
    along -= problem.intercept * along[0] / moments[0, 0] * moments[0]
    spread = math.sqrt(max(float(slopes @ along), _LEAST**2))
    score = bounds.score or BoundedScore.unclipped(problem.family)
    release = curator.release(
        "predictor_bend", mu, **located.public(), beta=beta, score=score,
        middle=float(beta[0]) * problem.intercept + located.offset, spread=spread, edge=_EDGE,
    )  # fmt: skip
    if not problem.intercept or not np.isfinite(result.cov).all():
        return result
    cov, privacy = back @ result.cov @ back.T, back @ result.cov_privacy @ back.T
    most = score.limit * _EDGE**2 / 2
    kappa = square_weight(most)
    found, square = release.values[0] / (1, kappa)
    square = max(float(square), 0.0) + 2 * release.sd / kappa
    axes = np.eye(problem.k)[0], along
    noisy = sum(float(a @ privacy @ a) / max(float(a @ (cov - privacy) @ a), 1e-300) for a in axes)
    sd = math.sqrt(square * (1 + noisy) + release.sd**2)
    phi = 1.0 if result.dispersion is None else result.dispersion.value
    scale = phi / (_LEFT * square)
    errors = math.sqrt(float(cov[0, 0])), math.sqrt(float(along @ cov @ along)) / spread
    if abs(found) > scipy.stats.norm.isf(_DOUBTFUL / 2) * sd and scale * abs(found) > _WORTH * min(errors):
        return replace(result, problems=(*result.problems, "bends"))
    beyond = scale**2 * max(found**2 - (_USUAL * sd) ** 2, 0.0)
    moved = np.outer(axes[0], axes[0]) + np.outer(slopes, slopes) / spread**2
    forth = to_user(problem, located)
    return replace(result, cov=result.cov + beyond * forth @ moved @ forth.T)

"""A rival of the logistic regression: a perturbed objective and two Newton steps.

On a ready matrix, and with ordinary random numbers.

A perturbed objective finds the start, for a tenth of mu^2; two noisy Newton steps, for two and seven tenths,
give the estimate. Rows are scaled by their public bounds. For comparison only: noise in floating point, sums
that are not exact, and all rows in memory.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

Array = np.ndarray
SHARES = (0.1, 0.2, 0.7)
APPROXIMATE = 1e-4  # of the first share, for a minimum that is approximate
STEEPEST = 0.25
FREE = 4.9  # the information may be so many times as large as the score at the same noise
TOLERANCE = 1e-9


def fit(exog: Array, endog: Array, bounds: Array, mu: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Coefficients with the intercept first, and their covariance.

    Parameters
    ----------
    exog : array, shape (n, p)
    endog : array, shape (n,)
        0 or 1.
    bounds : array, shape (p, 2)
    mu : float
        Of Gaussian differential privacy; neighbours replace a row.
    """
    middle, half = bounds.mean(axis=1), np.diff(bounds, axis=1)[:, 0] / 2
    rows = np.column_stack([np.ones(len(exog)), (exog - middle) / half]) / math.sqrt(len(bounds) + 1)
    signed = rows * np.where(endog > 0, -1.0, 1.0)[:, None]
    costs = [mu * math.sqrt(share) for share in SHARES]
    params = _start(signed, costs[0], rng)
    cov = np.zeros((0, 0))
    for cost in costs[1:]:
        params, cov = _step(signed, params, cost, rng)
    back = np.diag(np.append(1.0, 1 / half)) / math.sqrt(len(bounds) + 1)
    back[0] -= middle @ back[1:]
    return back @ params, back @ cov @ back.T


def _start(signed: Array, mu: float, rng: np.random.Generator) -> Array:
    """Minimum of the perturbed objective, and noise for what is left of its gradient."""
    n, k = signed.shape
    slack = 0.1 * mu
    ridge = STEEPEST / math.expm1(slack)
    shift = mu * math.sqrt(1 - APPROXIMATE)
    sd = brentq(lambda sd: 2 * _both(1 / sd, slack) - shift, 1e-3 / mu, 1e4 / mu)
    tilt = rng.normal(scale=sd, size=k)
    params = np.zeros(k)
    for _ in range(60):
        share = expit(signed @ params)
        gradient = share @ signed + ridge * params + tilt
        if np.linalg.norm(gradient) <= TOLERANCE * n:
            break
        curvature = (signed * (share * (1 - share))[:, None]).T @ signed + ridge * np.eye(k)
        step = np.linalg.solve(curvature, gradient)
        params = params - step * min(1.0, 4 * math.sqrt(k) / np.linalg.norm(step))
    else:
        raise ArithmeticError("no minimum was found")
    left = 2 * TOLERANCE * n / (ridge * mu * math.sqrt(APPROXIMATE))
    return params + rng.normal(scale=left, size=k)


def _both(mu: float, slack: float) -> float:
    """Gaussian parameter of a privacy loss that is Gaussian, of `mu`, but for `slack`.

    See docs/theory/objective.md#gaussian-tilts.
    """
    return float(-2 * norm.ppf(2 * norm.cdf(-mu / 2) / (1 + math.exp(slack))))


def _step(signed: Array, params: Array, mu: float, rng: np.random.Generator) -> tuple[Array, Array]:
    n, k = signed.shape
    share = expit(signed @ params)
    sd = 2 / (n * mu)
    matrix_sd = sd / FREE
    score = -(share @ signed) / n + rng.normal(scale=sd, size=k)
    upper = np.triu(rng.normal(scale=matrix_sd / math.sqrt(2), size=(k, k)), 1)
    noise = upper + upper.T + np.diag(rng.normal(scale=matrix_sd, size=k))
    values, vectors = np.linalg.eigh((signed * (share * (1 - share))[:, None]).T @ signed / n + noise)
    values = np.maximum(values, matrix_sd * math.sqrt(k))
    inverse = (vectors / values) @ vectors.T
    step = inverse @ score
    step *= min(1.0, 4 * math.sqrt(k) / np.linalg.norm(step))
    by_matrix = matrix_sd**2 / 2 * (step @ step * np.eye(k) + np.outer(step, step))
    inner = (vectors * values) @ vectors.T / n + sd**2 * np.eye(k) + by_matrix
    return params + step, inverse @ inner @ inverse

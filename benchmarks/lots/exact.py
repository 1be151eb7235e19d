"""Fits without privacy: parameters, and covariances that hold where the law is another one."""

import numpy as np
from censored_mle import Likelihood, censored_mle

from dpstats.families import DISTS, family_of
from dpstats.families.glm import BINOMIAL, CLOGLOG, PROBIT, GlmFamily

Array = np.ndarray
STEPS = 300  # each moves no row by more than 2: a covariate with a far tail takes more than a hundred
LINKS = {"probit": PROBIT, "cloglog": CLOGLOG}  # models of 0 and 1 besides the logit


def least_squares(exog: Array, y: Array, weights: Array | None) -> tuple[Array, Array]:
    w = np.ones(len(y)) if weights is None else weights
    information = (exog * w[:, None]).T @ exog
    params = np.linalg.lstsq(exog * np.sqrt(w)[:, None], y * np.sqrt(w), rcond=None)[0]
    scores = exog * (w * (y - exog @ params))[:, None]
    return params, _sandwich(information, scores)


def glm(
    exog: Array, y: Array, family: str, offset: Array | float = 0.0, weights: Array | None = None
) -> tuple[Array, Array]:
    """By steps of Fisher's scoring that are halved until the score's length in the metric falls."""
    w = np.ones(len(y)) if weights is None else weights
    params = np.zeros(exog.shape[1])
    mean = np.average(y, weights=w)
    law = {"logit": BINOMIAL, **LINKS}.get(family) or family_of(family)
    assert law is not None
    params[0] = law.link(mean)
    scale = np.maximum(np.abs(exog).max(axis=0), 1e-12)
    exog = exog / scale
    params = params * scale
    for _ in range(STEPS):
        score, information = _score(exog, y, law, exog @ params + offset, w)
        step = np.linalg.lstsq(information, score.sum(axis=0), rcond=1e-12)[0]
        length = min(1.0, 2.0 / max(float(np.abs(exog @ step).max()), 1e-12))
        params = params + length * step
        if length == 1.0 and np.abs(exog @ step).max() < 1e-9:
            break
    score, information = _score(exog, y, law, exog @ params + offset, w)
    return params / scale, _sandwich(information, score) / np.outer(scale, scale)


def _score(exog: Array, y: Array, law: GlmFamily, eta: Array, w: Array) -> tuple[Array, Array]:
    eta = np.clip(eta, -200, 200)
    return exog * (w * law.score(y, eta))[:, None], (exog * (w * law.curvature(eta))[:, None]).T @ exog


def survival(exog: Array, log_time: Array, event: Array, dist: str) -> tuple[Array, Array]:
    """Columns are standardised first: the optimiser wants numbers of one size."""
    law = DISTS[dist].family.name
    center, scale = exog[:, 1:].mean(axis=0), np.maximum(exog[:, 1:].std(axis=0), 1e-12)
    standard = np.column_stack([exog[:, 0], (exog[:, 1:] - center) / scale])
    theta, inverse = censored_mle(standard, log_time, event, law)
    likelihood = Likelihood(standard, log_time, event, law)
    likelihood(theta)
    scores = np.column_stack(
        [
            standard * (likelihood._first / np.exp(theta[-1]))[:, None],
            likelihood._first * likelihood._z - event,
        ]
    )
    cov = inverse @ (scores.T @ scores) @ inverse
    back = np.eye(len(theta))
    back[1:-1, 1:-1] = np.diag(1 / scale)
    back[0, 1:-1] = -center / scale
    return back @ theta, back @ cov @ back.T


def _sandwich(information: Array, scores: Array) -> Array:
    inverse = np.linalg.pinv(information, hermitian=True)
    return inverse @ (scores.T @ scores) @ inverse

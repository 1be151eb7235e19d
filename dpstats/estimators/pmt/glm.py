"""Generalised linear models on rows whitened by public moments (Cao, Bi and Zhang, Algorithms 3 and 4).

The iteration of the paper with its errors and its waste taken out
(docs/theory/pmt.md#generalised-linear-models). Algorithms 3 and 4 to the letter, where they are private, are
in :mod:`dpstats.estimators.published.truncated`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.newton.bounds import Bounds
from dpstats.estimators.newton.estimate import Averaged, Estimate, estimate
from dpstats.estimators.newton.information import FORGET, Accumulator, Information, dispersion, usable
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.pmt.frame import Frame, frame, reach
from dpstats.families.bounded_score import BoundedScore, logistic_information_weight
from dpstats.moments import ColumnMoments

Array = np.ndarray

STEPS = 8
"""T, known in advance; steps are t = 0, ..., T - 1, of which the last half is averaged."""

MEAN = 0.05
"""Share of mu squared for the mean response, from which the bounds of a score follow; none for a logit."""

_LONGEST = 3.0  # cap of one step, in sds of the linear predictor
_ROOM = 3.0  # rows whose score has more than so many sds below its limit keep their weight
_SDS = 3.0  # of a score whose law is the same for all rows, within which it counts in full
_PHIS = (0.02, 4.0)


def costs(mu: float, problem: Problem) -> dict[str, float]:
    """mu of all releases of each kind together; their squares add up to that of mu."""
    if not problem.family.unlimited:
        return {"score and information": mu}
    return {"column means": mu * math.sqrt(MEAN), "score and information": mu * math.sqrt(1 - MEAN)}


@dataclass
class _State:
    """Where the iteration stands: released and public numbers only."""

    beta: Array
    score: BoundedScore | None
    capped: bool = False
    information: Accumulator = field(default_factory=Accumulator)
    variability: Accumulator = field(default_factory=Accumulator)


def fit_pmt_glm(curator: Curator, problem: Problem, public: ColumnMoments, mu: float) -> Estimate:
    """Fit by Newton's method on rows whitened by public moments.

    Parameters
    ----------
    curator : Curator
        Of a budget of Gaussian noise; `mu` must be left of its total.
    problem : Problem
    public : ColumnMoments
        Of the design's columns.
    mu : float
        To be spent in all.

    Notes
    -----
    As in the paper the radius is public, d (1 + log(2 n / eta)) squared, and so is the number of steps.
    Otherwise than there, long rows count less as a whole instead of being shortened, so that the estimating
    equation keeps its root at the truth; scores and curvatures are bounded row by row, by the 1 and 1/4 of a
    logit or by the released mean response, instead of over a ball of coefficients; scores and information
    are one release; eigenvalues are raised to the size of their error; the last half of the steps is
    averaged.
    """
    where, spent = frame(public, problem.intercept), costs(mu, problem)
    located = _located(curator, problem, where, spent.get("column means"))
    radius, level = reach(curator.n) * math.sqrt(problem.k), _level(problem, located)
    state = _State(_start(problem, located), _score(problem, located, 1.0, level))
    start, step_mu = state.beta, spent["score and information"] / math.sqrt(STEPS)
    points, scores, matrices, noise = [], [], [], []
    information = None
    for t in range(STEPS):
        if t == STEPS // 2:
            phi = 1.0 if state.score is None else _phi(state, information, where)
            state.score = _score(problem, located, phi, level)
            state.information, state.variability = Accumulator(), Accumulator()
        score, sd = _step(curator, step_mu, located, where, radius, state)
        information = usable(state.information, where.whitening)
        points.append(state.beta)
        scores.append(score)
        matrices.append(state.information.releases[-1].matrix)
        noise.append(sd)
        _move(state, information.solve(score), where)
        if t < STEPS // 2:
            state.information.forget(FORGET)
            state.variability.forget(FORGET)
    assert information is not None
    last = slice(STEPS // 2, None)
    averaged = Averaged(
        np.array(points[last]),
        np.array(scores[last]),
        np.array(matrices[last]),
        math.sqrt(np.mean(np.square(noise[last]))),
        information,
        where.whitening,
        state.variability,
        state.capped,
        start,
    )
    return estimate(averaged, problem, located, Bounds(radius, state.score), curator.n)


def _located(curator: Curator, problem: Problem, where: Frame, mu: float | None) -> Located:
    """Columns as public moments have them; the mean response, and that of an offset, from a release."""
    first = np.zeros(int(problem.intercept))
    center, scale = np.append(first, where.center), np.append(first + 1, where.scale)
    mean, offset, noise = 0.5, 0.0, 0.0
    if mu is not None:
        (middle, half), d = problem.boxes, len(problem.lower)
        means: Release = curator.release("column_means", mu, center=middle, half=half)
        found = middle + half * np.clip(means.values[0] / means.n, -1.0, 1.0)
        noise = means.sd / means.n
        mean = max(float(found[d]), float(half[d] * noise))
        offset = float(found[-1]) if len(found) > d + 1 else 0.0
    lower, upper = (
        np.append(first + 1, (end - where.center) / where.scale) for end in (problem.lower, problem.upper)
    )
    return Located(
        center,
        scale,
        np.zeros(problem.k),
        lower,
        upper,
        thinnest=1.0,
        rare=(),
        mean=mean,
        sd=math.sqrt(mean),
        offset=offset,
        noise=noise,
        prior=np.ones(problem.k),
        dim=np.zeros(problem.k, dtype=bool),
    )


def _level(problem: Problem, located: Located) -> float:
    """Curvature at the mean response."""
    eta = problem.family.link(np.array(located.mean))
    return float(problem.family.curvature(eta))


def _start(problem: Problem, located: Located) -> Array:
    """The mean response in the intercept, nothing elsewhere; 0 for a logit, as in the paper."""
    beta = np.zeros(problem.k)
    if problem.intercept:
        beta[0] = float(problem.family.link(np.array(located.mean))) - located.offset
    return beta


def _score(problem: Problem, located: Located, phi: float, level: float) -> BoundedScore | None:
    """Bounds of a row from the mean response, for responses of dispersion phi.

    See docs/theory/pmt.md#generalised-linear-models.
    """
    family, top = problem.family, problem.response[1]
    if not family.unlimited:
        return None
    predictors = (-12.0, math.log(max(top, 1.0)) + 1.0)
    if family.free_dispersion:
        return BoundedScore(family, _SDS * family.longer_tail, 1.0, 0.0, phi, predictors)
    limit, steepest = min(top, 2 + 3 * math.sqrt(located.mean)), min(top, 3 * located.mean + 1)
    excess = max(phi - 1, 0.0) / level
    return BoundedScore(family, limit, steepest, _ROOM, excess if excess > 1e-3 else 0.0, predictors)


def _phi(state: _State, information: Information | None, where: Frame) -> float:
    """The dispersion that scores showed so far, as far as noise allows; else 1."""
    assert information is not None
    seen, noise = dispersion(state.variability, information, where.whitening)
    return float(np.clip((seen + noise**2) / (1 + noise**2), *_PHIS))


def _step(
    curator: Curator, mu: float, located: Located, where: Frame, radius: float, state: _State
) -> tuple[Array, float]:
    """Scores per row and their noise; the matrices are taken into account."""
    rows = dict(**located.public(), beta=state.beta, whitening=where.whitening, radius=radius)
    if state.score is None:
        release = curator.release("logistic_score", mu, **rows)
        tau = logistic_information_weight(radius)
    else:
        release = curator.release("glm_score", mu, **rows, score=state.score)
        tau, kappa = state.score.matrix_weights(radius)
        share = release.n * kappa
        state.variability.add(release.values[2] / share, release.sd / share, where.whitening)
    n, sd = release.n, release.sd / release.n
    state.information.add(release.values[1] / n / tau, sd / tau, where.whitening)
    return release.values[0].ravel() / n, sd


def _move(state: _State, move: Array, where: Frame) -> None:
    length = float(np.linalg.norm(move))
    state.capped |= length > _LONGEST
    state.beta = state.beta + where.whitening.T @ move * min(1.0, _LONGEST / max(length, 1e-300))

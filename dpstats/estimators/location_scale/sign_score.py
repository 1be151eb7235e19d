"""Where noise outweighs what rows say of curvature: slopes by the signs of residuals.

A matrix of k^2 numbers costs more noise than its k coefficients, and steps by one that is mostly noise do not
arrive. Here the slopes move by a score that asks of each row only on which side of its predicted median it
failed (:mod:`dpstats.families.signs`), the most that noise leaves; intercept and log sigma, two numbers,
follow each step (:mod:`.intercept_scale`). Noise of a step is a share of sigma, which falls as the slopes
improve, so that few steps lead from no slopes at all to the neighbourhood. The last are averaged by what each
estimates.
See docs/theory/survival.md#slopes-by-the-signs-of-residuals.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.engine.step import LONGEST, capped
from dpstats.estimators.location_scale.estimate import Estimate, estimate
from dpstats.estimators.location_scale.hazard_calibration import checked
from dpstats.estimators.location_scale.intercept_scale import Level, release_level, solved
from dpstats.estimators.location_scale.problem import LOG_SIGMA_RANGE, Problem
from dpstats.estimators.location_scale.sign_average import Average, Step, average, combined, spread_by_noise
from dpstats.estimators.location_scale.sign_frame import Frame, framed, sized
from dpstats.estimators.row_scale import RowScale

Array = np.ndarray

_EARLY = 0.65  # of a full step, beside what noise shrinks
# of the early steps, the last are averaged too
_KEPT = 6
# sds of the shift, in sigmas, and of the change of log sigma that a step expects: at the start, after early
# steps of the slopes, after the last ones, and at the end
_START_PRIOR, _EARLY_PRIOR, _LAST_PRIOR, _END_PRIOR = (1.0, 1.0), (0.7, 0.6), (0.3, 0.3), (0.5, 0.5)
_DRIFT = 0.1  # of the last steps
_WIDE = (2.0, 1.5)  # as good as none


def fit_by_sign_score(curator: Curator, problem: Problem, plan: Plan, scale: RowScale) -> Estimate:
    """Fit a location-scale regression with covariates by the signs of residuals.

    Parameters
    ----------
    curator : Curator
        Its design has an intercept and at least one covariate.
    problem : Problem
    plan : Plan
    scale : RowScale
        Of the columns.

    Returns
    -------
    Estimate
    """
    # the spread about slopes that are not found yet is not sigma: it is followed though sigma be known
    frame = framed(curator, replace(problem, known_sigma=None), plan, scale)
    point = frame.bounding.placement.start
    for mu in plan["start"]:
        point = _moved(point, solved(_level(curator, mu, frame, point), frame.fraction, _START_PRIOR))
    steps: list[Step] = []
    for slopes_mu, level_mu in zip(plan["early"], plan["early_level"], strict=True):
        step = _slopes(curator, slopes_mu, frame, point)
        steps.append(step)
        point = _with_slopes(frame, point, _EARLY * step.shrunk)
        point = _moved(point, solved(_level(curator, level_mu, frame, point), frame.fraction, _EARLY_PRIOR))
    frame = sized(curator, plan.cost("sizes"), frame, point)
    steps, point = _last_steps(curator, plan, frame, steps[-_KEPT:], point)
    frame, point = _held(frame, problem, steps, point)
    return _finished(curator, plan, frame, steps, point)


def _held(frame: Frame, problem: Problem, steps: list[Step], point: Array) -> tuple[Frame, Array]:
    """A known sigma is that of residuals about the true slopes: about these, noise in them adds to it."""
    placement = replace(frame.bounding.placement, problem=problem)
    if not problem.known_scale:
        return frame, point
    point = problem.held(point, placement.scale)
    frame = replace(frame, bounding=replace(frame.bounding, placement=placement))
    sigma = math.exp(point[-1])
    found = average(steps, frame, _scales(steps, frame, point[1:-1], sigma))
    return frame, np.append(point[:-1], point[-1] + spread_by_noise(found, frame, sigma))


def _last_steps(
    curator: Curator, plan: Plan, frame: Frame, steps: list[Step], point: Array
) -> tuple[list[Step], Array]:
    """Each from the average of those before; what is known of the level shrinks its moves."""
    prior = np.array(_LAST_PRIOR)
    for slopes_mu, level_mu in zip(plan["last"], plan["last_level"], strict=True):
        steps = [*steps, _slopes(curator, slopes_mu, frame, point)]
        slopes = average(steps, frame, np.exp([step.point[-1] for step in steps])).slopes
        point = np.concatenate([point[:1], slopes, point[-1:]])
        level = _level(curator, level_mu, frame, point)
        point = _moved(point, solved(level, frame.fraction, (float(prior[0]), float(prior[1]))))
        prior = np.hypot((prior**-2 + level.error**-2) ** -0.5, _DRIFT)
    return steps, point


def _finished(curator: Curator, plan: Plan, frame: Frame, steps: list[Step], point: Array) -> Estimate:
    """Intercept and log sigma at the average of the slopes, and all of it with its uncertainty."""
    levels, ends = [], []
    for mu in plan["level"]:
        levels.append(_level(curator, mu, frame, point))
        ends.append(_moved(point, solved(levels[-1], frame.fraction, _WIDE)))
        point = _moved(point, solved(levels[-1], frame.fraction, _END_PRIOR))
    # the first was read before the level had settled
    level = np.mean(ends[1:], axis=0)[[0, -1]]
    found = average(steps, frame, _scales(steps, frame, point[1:-1], math.exp(level[1])))
    return _estimate(curator, plan, frame, found, levels[1:], level)


def _scales(steps: list[Step], frame: Frame, slopes: Array, sigma: float) -> Array:
    """Spread of the residuals at each step, in sigmas of the family: sigma, and what the slopes were off."""
    away = np.array([np.sum(((step.point[1:-1] - slopes) @ frame.back) ** 2) for step in steps])
    return np.sqrt(sigma**2 + away / frame.residual_square)


def _estimate(
    curator: Curator, plan: Plan, frame: Frame, found: Average, levels: list[Level], level: Array
) -> Estimate:
    whole, need = combined(found, frame, levels, level)
    whitening = np.eye(len(frame.whitening) + 1)
    whitening[1:, 1:] = frame.whitening[:, 1:]
    result = estimate(whole, frame.bounding, frame.choice, whitening, need)
    problems = (*result.problems, *["shape"] * (len(frame.whitening) > 1))
    settings = {**result.settings, "slopes": "signs of residuals"}
    result = replace(result, problems=problems, settings=settings, by_signs=True)
    placement = frame.bounding.placement
    result = checked(curator, plan.cost("check"), placement, whole.points[0], result)
    scale = placement.scale
    # what columns share tells of one that may hold one value, if any of them surely varies
    alike = ~scale.varies & (not scale.varies.any())
    return _without(result, np.flatnonzero(scale.unknown | alike) + 1)


def _without(result: Estimate, unknown: Array) -> Estimate:
    """No interval for slopes of columns that may hardly vary, nor for the intercept, which rests on them."""
    if not len(unknown) or "hopeless" in result.problems:
        return result
    return result.lost(np.append(0, unknown))


def _level(curator: Curator, mu: float, frame: Frame, point: Array) -> Level:
    return release_level(curator, mu, frame.bounding, frame.choice, point)


def _moved(point: Array, move: tuple[float, float]) -> Array:
    """The point after a step of intercept and log sigma."""
    point = point.copy()
    point[0] += math.exp(point[-1]) * move[0]
    point[-1] = float(np.clip(point[-1] + move[1], *LOG_SIGMA_RANGE))
    return point


def _slopes(curator: Curator, mu: float, frame: Frame, point: Array) -> Step:
    release = curator.release("sign_score", mu, **frame.public(point))
    return Step(point, release.values[0].ravel() / release.n, release.sd / release.n, frame.slope)


def _with_slopes(frame: Frame, point: Array, step: Array) -> Array:
    """The point after a whitened step of the slopes, no longer than the cap."""
    point = point.copy()
    point[:-1] += math.exp(point[-1]) * (frame.whitening.T @ capped(step, LONGEST)[0])
    return point

"""The bias that the penalty makes, taken off, and what is uncertain of that.

See docs/theory/objective.md#the-penalty-taken-off.
"""

import math
from dataclasses import replace

import numpy as np

from dpstats.curator import Minimum
from dpstats.estimators.engine.finish import guessed, weak
from dpstats.estimators.engine.information import Information
from dpstats.estimators.levels import LevelScores
from dpstats.estimators.matrices import symmetric_power, with_floor
from dpstats.estimators.newton.hidden import hidden
from dpstats.estimators.newton.levels import moved_alone, read_levels, row_moments
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.objective.curvature import Matrices, seen_curvature
from dpstats.estimators.objective.penalised import MarginEstimate, estimate
from dpstats.estimators.objective.tuning import TUNING, Tuning
from dpstats.estimators.objective.unit_ball import level_of, start_of
from dpstats.formula.ball import UnitBall


def without_penalty(
    ball: UnitBall,
    problem: Problem,
    located: Located,
    minimum: Minimum,
    matrices: Matrices,
    tuning: Tuning = TUNING,
) -> MarginEstimate:
    """The minimum without its penalty, and what is uncertain of it."""
    n, ratio, scores = minimum.n, minimum.ridge / minimum.n, matrices.scores
    inverse = symmetric_power(matrices.floored, -1.0)
    moved = ratio * inverse @ (minimum.params - start_of(located, problem) * ball.radius)
    by_curvature = inverse @ matrices.noise_of_product(np.outer(moved, moved)) @ inverse
    sampling = inverse if scores is None else inverse @ with_floor(scores, 0.0) @ inverse
    information, steep = seen_curvature(matrices, tuning)
    by_curvature = steep @ by_curvature @ steep
    change = _change(ball, matrices, moved, tuning)
    back = ball.to_user @ moved
    moments = row_moments(information, ball.turned, located, problem.intercept)
    left = np.linalg.solve(ball.to_user, _left(problem, moments, back, change))
    far = minimum.params + moved - start_of(located, problem) * ball.radius
    level = level_of(located, problem, tuning) / ball.radius**2
    guess, larger = _guess(ball, information, problem, located, far / ball.radius, level, tuning.far)
    guess, larger = guess * ball.radius**2 + np.outer(left, left), larger * ball.radius**2
    result = estimate(
        ball,
        minimum,
        minimum.params + moved,
        sampling=sampling / n,
        carried=inverse / n,
        more=by_curvature + guess + larger,
    )
    guess, larger, sampled = (ball.to_user @ part @ ball.to_user.T for part in (guess, larger, sampling / n))

    def along(change: np.ndarray) -> tuple[float, float]:
        own = np.linalg.solve(ball.to_user, change)
        rows, unit = n * float(own @ own), own / np.linalg.norm(own)
        sd = float(matrices.noise_along(unit[:, None])[0])
        return rows * float(unit @ matrices.curvature @ unit), rows * sd

    read = LevelScores((ball.to_user @ minimum.params)[None], back, result.cov, sampled, along, moments)
    resting = weak(change**2 * np.outer(back, back), result.cov, tuning.resting)
    resting = np.union1d(np.setdiff1d(resting, problem.levels), weak(larger, result.cov))
    result = replace(result, problems=tuple(f"weak:{j}" for j in resting))
    before = located.before(located.to_user(problem.intercept))
    result = guessed(result, guess, before, problem.intercept, bool(problem.zero_or_one.all()))
    return read_levels(problem, located, result, read)


def _guess(
    ball: UnitBall,
    information: Information,
    problem: Problem,
    located: Located,
    far: np.ndarray,
    level: float,
    sds: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Covariances along eigenvectors that noise hides, where what was found and what is true are unknown.

    Rows are whitened by the most curvature that there may be, so many sds of its noise added. Coefficients of
    standardised columns lie `far` from where no covariate has an effect.
    """
    unseen, vectors = information.blind(), information.vectors
    most = (np.maximum(information.values, 0.0) + sds * information.sds) / level
    whitening = (vectors / np.sqrt(most)) @ vectors.T
    turned = ball.turned
    found = hidden(information, turned @ whitening, turned @ far, np.ones(len(most)), problem, located)
    guess, larger = (whitening @ part @ whitening for part in found)
    guess += np.outer(unseen @ far, unseen @ far) + information.error_beside(guess + larger)
    return guess + information.unbounded(np.linalg.inv(turned), located.dim), larger


def _change(ball: UnitBall, matrices: Matrices, moved: np.ndarray, tuning: Tuning) -> float:
    """Change of the log odds by a correction, in the mean over what rows there say, at most 1.

    Where covariates tell most responses, the curvature that the released one has along the constant is little
    against that of even odds, and a change of log odds so much larger against what it is a change of.
    """
    level = tuning.level
    if ball.constant:
        found, sd = (float(part[0, 0]) * ball.radius**2 for part in (matrices.curvature, matrices.sds))
        level = min(max(found, 0.0) + tuning.far * sd, level)
    square = float(moved @ with_floor(matrices.curvature, 0.0) @ moved)
    return min(math.sqrt(square / level), 1.0)


def _left(problem: Problem, moments: np.ndarray, moved: np.ndarray, change: float) -> np.ndarray:
    """What a correction by `moved`, on the user's scale, may lack: by the change of log odds on its way.

    By about that share the curvature changes. Log odds change as the curvature has it; those of the rows of
    one level by its own.
    """
    left = change * moved
    for row, direction in moved_alone(problem, moments):
        own = float(row @ moved)
        left += (max(change, min(abs(own), 1.0)) - change) * own * direction
    return np.asarray(left)

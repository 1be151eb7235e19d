"""How much farther a line may lie where rare answers are told well, than its standard errors say."""

import math

import numpy as np

from dpstats.curator import Minimum
from dpstats.estimators.engine.finish import without_lost
from dpstats.estimators.matrices import SMALLEST
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.objective.cut import NODES, WEIGHTS
from dpstats.estimators.objective.penalised import MarginEstimate
from dpstats.estimators.objective.unit_ball import start_of
from dpstats.estimators.row_scale import SURE
from dpstats.families import LOGISTIC_LOSS
from dpstats.formula.ball import UnitBall

_MOST_STEPS, _LONGEST = 40, 1.0  # of Newton's method, and the longest of them, in log odds


def doubt_of_spread(
    ball: UnitBall, problem: Problem, located: Located, minimum: Minimum, found: MarginEstimate
) -> np.ndarray:
    """Covariance of what a line may lack along middle and spread of its log odds, see `_farther`."""
    k, cov, back = ball.k, without_lost(found.cov), np.linalg.inv(located.to_user(problem.intercept))
    lines = np.array([ball.turned.T @ minimum.params / ball.radius, back @ found.params])
    # effects that stand out
    told = (np.abs(lines[1]) > SURE * np.sqrt(np.diag(back @ cov @ back.T))) & (np.arange(k) > 0)
    if not (problem.intercept and told.any()) or any(problem.offset):
        return np.zeros_like(cov)
    sizes = np.sqrt(lines**2 @ (told * located.squares))
    across = np.array([np.eye(k)[0], told * lines[1] * located.squares / sizes[1]]) @ back
    both = np.column_stack([lines[:, 0], sizes])
    pull = minimum.ridge / minimum.n * ball.radius**2 * (both[0] - [start_of(located, problem)[0], 0.0])
    pull[1] *= float(np.sum(lines[1] ** 2, where=told)) / sizes[1] ** 2
    of_both, of_noise = (across @ part @ across.T for part in (cov, without_lost(found.cov_privacy)))
    if of_both[0, 0] > 1:
        return np.zeros_like(cov)  # a level that always says the same leaves the middle open, and says so
    share = float(np.clip(of_noise[0, 0] / max(of_both[0, 0], 1e-300), 0.0, 1.0))  # where all is lost, 0
    change = cov @ across.T @ np.linalg.pinv(of_both) @ _farther(both[0], both[1], of_both, pull, share)
    return np.outer(change, change)


def _scores(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean chance of a yes, and times z, where log odds are m + s z with z normal; and their derivatives."""
    slope, curvature = LOGISTIC_LOSS.derivatives(-(at[0] + at[1] * NODES))
    powers = np.array([np.ones_like(NODES), NODES]) * WEIGHTS
    return powers @ slope, (powers * curvature) @ np.array([np.ones_like(NODES), NODES]).T


def _farther(
    before: np.ndarray, linear: np.ndarray, cov: np.ndarray, pull: np.ndarray, noise: float
) -> np.ndarray:
    """How much farther middle and spread of log odds may be than two standard errors of a line say; an sd.

    Rare answers that covariates tell well hold middle and spread together the less the larger both are, so
    that what penalty and noise have taken from scores moves the line by more than to first order.

    Parameters
    ----------
    before, linear : array, shape (2,)
        Middle and spread at the penalised minimum, and as its correction has them.
    cov : array, shape (2, 2)
    pull : array, shape (2,)
        Of the penalty.
    noise : float
        Share of `cov` by privacy noise; what sampling alone leaves is as in a fit without privacy.
    """
    values, vectors = np.linalg.eigh(cov)
    most = 2 * math.sqrt(max(values[-1], 0.0)) * vectors[:, -1] * np.sign(vectors[1, -1] or 1.0)
    wanted, steep = _scores(before)
    wanted, at = wanted + pull + steep @ most, linear + most
    for _ in range(_MOST_STEPS):
        scores, steep = _scores(at)
        step = np.linalg.solve(steep + SMALLEST * np.eye(2), wanted - scores)
        at = at + step * min(1.0, _LONGEST / max(float(np.linalg.norm(step)), 1e-300))
    lacking = (at - linear - most) / 2 * (at[1] > linear[1] + most[1])
    # its square is added to that of a standard error, and two roots of the sum have to reach as far
    ratio = np.linalg.norm(most) / max(float(np.linalg.norm(lacking)), 1e-300)
    return np.asarray(lacking * np.sqrt(1 + math.sqrt(noise) * ratio))

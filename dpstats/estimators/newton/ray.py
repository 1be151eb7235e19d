"""How many times as large all effects on a yes or no may be, by what the scores may say.

See docs/theory/glm.md#effects-of-any-size.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from dpstats.estimators.engine.finish import E, without_lost
from dpstats.estimators.levels import END, FEWEST_EVENTS
from dpstats.estimators.newton.check import Read, released_line, tell
from dpstats.estimators.newton.estimate import Averaged
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.quantiles import even_shares
from dpstats.moments.spread import Z95

# normal linear predictors, and multiples of them that are tried
_PREDICTORS = ndtri(even_shares(500))
_MULTIPLES = 400


@dataclass(frozen=True)
class Ray:
    """What was read along an estimate, whose coefficients are taken for 1.

    Attributes
    ----------
    points : array, shape (T,)
        Where scores were read.
    step : float
        Mean Newton step from there.
    noise, sampling : float
        Variances of its error, by privacy and by sampling.
    """

    points: np.ndarray
    step: float
    noise: float
    sampling: float

    @property
    def error(self) -> float:
        """sd of the step."""
        return math.sqrt(self.noise + self.sampling)

    @property
    def usual(self) -> float:
        """Multiple at the end of an interval, if scores were in proportion to it."""
        return 1 + Z95 * self.error

    def longest(self, score: BoundedScore, eta: np.ndarray, most: float) -> float:
        """Largest multiple up to `most` whose expected scores error does not tell from those that were read.

        Where rows are predicted with certainty their scores hardly grow with the multiple that is true, and
        their sampling error falls with it.

        Parameters
        ----------
        score : BoundedScore
            Of a canonical link, by which scores of a yes and a no differ by 1.
        eta : array, shape (m,)
            Linear predictors of rows, at the estimate.
        most : float
        """
        family, times = score.family, np.geomspace(1.0, most, _MULTIPLES)
        at, true = (np.clip(np.multiply.outer(each, eta), -END, END) for each in (self.points, times))
        mean = family.mean(true)
        kept = score.weight(eta) * eta
        information = float(np.mean((score.weight(at) * family.curvature(at)) @ eta**2))
        said = (mean - family.mean(at).mean(axis=0)) @ kept / information - self.step
        scatter = (mean * (1 - mean)) @ kept**2
        half = Z95 * np.sqrt(self.noise + self.sampling * scatter / scatter[0])
        return float(times[np.flatnonzero(said <= half).max(initial=0)])


def read_ray(
    problem: Problem, located: Located, averaged: Averaged, read: Read, found: E, n: int
) -> tuple[np.ndarray, bool]:
    """What covariance intervals lack that reach the largest multiple of an estimate which scores allow.

    And whether that has no end. Rows that are predicted with almost certainty leave no score and hardly any
    information, at whatever multiple of the line that predicts them. So it is asked of a line whose interval
    leaves out 0 and reaches where hardly any row contradicts it. A multiple of which so few
    rows contradict the line that there may be none has no end. Errors across the line grow with it.

    Parameters
    ----------
    problem : Problem
    located : Located
    averaged : Averaged
    read : Read
    found : Estimate
    n : int
        Number of rows.
    """
    cov, params = without_lost(found.cov), np.where(np.isfinite(np.diag(found.cov)), found.params, 0.0)
    logit = problem.family.two_valued and problem.family.canonical
    if not (problem.intercept and logit and params.any()):
        return 0 * cov, False
    line = released_line(located, read, replace(found, params=params))
    ray = _along(located, averaged, params, cov, without_lost(found.cov_privacy))
    spread = line.whole_spread
    if Z95 * ray.error >= 1 or not tell(problem.family, ray.usual * spread):
        return 0 * cov, False
    # a unit of a predictor of sd s has 1 / (sqrt(2 pi) s) of the rows
    few = math.sqrt(2 * math.pi) * FEWEST_EVENTS / (n * located.usable)
    most = max(problem.family.contradicted / (few * spread), ray.usual)
    score = read.score or BoundedScore.unclipped(problem.family)
    times = ray.longest(score, line.middle + located.offset + spread * _PREDICTORS, most)
    if times <= ray.usual:
        return 0 * cov, False
    added = (times**2 - 1) * cov + ((times - 1) / Z95) ** 2 * np.outer(params, params)
    return added, times >= most


def _along(
    located: Located, averaged: Averaged, params: np.ndarray, cov: np.ndarray, privacy: np.ndarray
) -> Ray:
    """What was read along these coefficients, which are on the user's scale as their covariances are."""
    steps, back = averaged.steps, np.linalg.inv(averaged.whitening)
    way = back @ np.linalg.inv(located.to_user(True))
    tells = steps.information.matrix @ way @ params
    tells = tells / float(tells @ way @ params)
    noise, whole = (float(tells @ way @ part @ way.T @ tells) for part in (privacy, cov))
    return Ray(steps.points @ back.T @ tells, float(tells @ steps.step), noise, max(whole - noise, 0.0))

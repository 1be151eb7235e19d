"""How many times as large all effects on a yes or no may be, by what the scores may say.

See docs/theory/glm.md#effects-of-any-size.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import ndtri

from dpstats.estimators.bends import standardised
from dpstats.estimators.engine.finish import E, without_lost
from dpstats.estimators.level_scores import END, FEWEST_EVENTS
from dpstats.estimators.newton.check import NEARLY_TOLD, Left, Read, released_line, tell
from dpstats.estimators.newton.estimate import Averaged
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.row_scale import SURE
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
    vague : float
        Relative error of the information by which it was made.
    """

    points: np.ndarray
    step: float
    noise: float
    sampling: float
    vague: float = 0.0

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
            Of a yes or no.
        eta : array, shape (m,)
            Linear predictors of rows, at the estimate.
        most : float
        """
        family, times = score.family, np.geomspace(1.0, most, _MULTIPLES)
        at, true = (np.clip(np.multiply.outer(each, eta), -END, END) for each in (self.points, times))
        apart = family.score(np.ones_like(at), at) - family.score(np.zeros_like(at), at)
        kept, mean = score.weight(at) * apart * eta, family.mean(true)
        information = float(np.mean((score.weight(at) * family.curvature(at)) @ eta**2))
        said = mean @ kept.mean(axis=0) - float(np.mean(np.sum(family.mean(at) * kept, axis=1)))
        said = said / information
        scatter = (mean * (1 - mean)) @ kept.mean(axis=0) ** 2
        variance = self.noise + self.sampling * scatter / scatter[0] + (self.vague * said) ** 2
        return float(times[np.flatnonzero(said - self.step <= Z95 * np.sqrt(variance)).max(initial=0)])


@dataclass(frozen=True)
class Along:
    """Where scores of a fit were read, and what they say, of standardised columns.

    Attributes
    ----------
    points : array, shape (T, k)
    step : array, shape (k,)
        Mean Newton step.
    matrix : array, shape (k, k)
        Information by which it was made.
    vague : callable
        Takes coefficients to the error of the information along them.
    """

    points: np.ndarray
    step: np.ndarray
    matrix: np.ndarray
    vague: Callable[[np.ndarray], float]

    @classmethod
    def of_steps(cls, averaged: Averaged) -> Self:
        """Of steps that are averaged."""
        back, (points, scores, *_, information) = np.linalg.inv(averaged.whitening), averaged.steps
        # along directions that are not seen, too: effects without end lose their information
        step = averaged.whitening @ information.inverse @ scores.mean(axis=0)

        def vague(params: np.ndarray) -> float:
            return float(information.sds @ (information.vectors.T @ (back @ params)) ** 2)

        return cls(points, step, back.T @ information.matrix @ back, vague)

    def coefficients(self, params: np.ndarray, cov: np.ndarray, privacy: np.ndarray) -> Ray:
        """What was read along coefficients of standardised columns, with their covariances."""
        tells = self.matrix @ params
        information = float(tells @ params)
        tells = tells / information
        noise, whole = (float(tells @ part @ tells) for part in (privacy, cov))
        step, sampling = float(tells @ self.step), max(whole - noise, 0.0)
        return Ray(self.points @ tells, step, noise, sampling, self.vague(params) / information)


def reaches(
    problem: Problem, located: Located, along: Along, read: Read, n: int, found: E, left: Left
) -> tuple[np.ndarray, bool]:
    """What covariance intervals lack that reach the largest multiple of an estimate which scores allow.

    And whether to say so. Rows that are predicted with almost certainty leave no score and hardly any
    information, at whatever multiple of the line that predicts them. So it is asked of a line that leaves so
    little of the log-likelihood that hardly any row contradicts it; where noise hides whether it does, of one
    that exceeds its standard error, if its interval reaches as far. A multiple of which so few rows
    contradict the line that there may be none has no end. Errors across the line grow with it.

    Parameters
    ----------
    problem : Problem
    located : Located
    along : Along
    read : Read
    n : int
        Number of rows.
    found : Estimate
    left : Left
    """
    cov, params = without_lost(found.cov), np.where(np.isfinite(np.diag(found.cov)), found.params, 0.0)
    if not (problem.intercept and params[1:].any()) or left.share - left.sd > NEARLY_TOLD:
        return 0 * cov, False
    line = released_line(located, read, replace(found, params=params))
    back, privacy = np.linalg.inv(located.to_user(True)), without_lost(found.cov_privacy)
    ray, spread = along.coefficients(line.beta, *standardised(back, cov, privacy)), line.whole_spread
    surely = left.share + left.sd < NEARLY_TOLD
    if not surely and (ray.error > 1 or not tell(problem.family, ray.usual * spread)):
        return 0 * cov, False
    # a unit of a predictor of sd s has 1 / (sqrt(2 pi) s) of the rows
    few = math.sqrt(2 * math.pi) * FEWEST_EVENTS / (n * located.usable)
    most = max(problem.family.contradicted / (few * max(spread, 1.0)), ray.usual)
    score = read.score or BoundedScore.unclipped(problem.family)
    times = ray.longest(score, line.middle + located.offset + spread * _PREDICTORS, most)
    if times <= ray.usual:
        return 0 * cov, False
    added = (times**2 - 1) * cov + ((times - 1) / Z95) ** 2 * np.outer(params, params)
    return added, times >= most or left.share + SURE * left.sd < NEARLY_TOLD

"""Coefficients of levels, by what their scores say.

See docs/theory/levels.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from dpstats.estimators.engine.finish import Estimate
from dpstats.estimators.levels import NORMAL, SHIFTS, level, slope_in_middle
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.families.glm import GlmFamily

Array = np.ndarray

# linear predictor of a level, whatever noise makes of a coefficient: one row in three million has an event
_FARTHEST = 15.0
# coefficient of a level one end of whose interval is open: two sds of that of any
_REACH = 8.0
E = TypeVar("E", bound=Estimate)


@dataclass(frozen=True)
class Scores:
    """What scores say of the coefficients, on the user's scale.

    Attributes
    ----------
    points : array, shape (T, k)
        Coefficients at which scores were read.
    step, sds, sampling : array, shape (k,)
        Mean Newton step, the sd of its error, and the part of sampling in it.
    """

    points: Array
    step: Array
    sds: Array
    sampling: Array

    def of(self, j: int) -> tuple[Array, float, float, float]:
        """Those of one coefficient."""
        return self.points[:, j], self.step[j], self.sds[j], self.sampling[j]


def read_levels(problem: Problem, located: Located, result: E, scores: Scores) -> E:
    """A fit with coefficients and standard errors of levels by what their scores say.

    Where these leave an end of an interval open, as of a level that may have no events at all, it reaches as
    far as linear predictors go. Without an intercept it is not known where the other columns are, and nothing
    is done.

    Parameters
    ----------
    problem : Problem
    located : Located
    result : Estimate
        As if scores were in proportion to coefficients.
    scores : Scores
    """
    if not problem.intercept:
        return result
    params, mean, family = result.params.copy(), scores.points.mean(axis=0), problem.family
    factors, more = np.ones(problem.k), np.zeros(problem.k)
    middle = float(mean[0] + mean[1:] @ located.center[1:]) + located.offset
    for j in map(int, problem.levels):
        shares = np.array([1.0, 0.0]) + np.array([-1, 1]) * np.clip(located.center[j], 0.0, 1.0)
        ends = np.clip(middle + mean[j] * np.array([-shares[1], shares[0]]), -_FARTHEST, _FARTHEST)
        # the intercept makes up for a change as far as the rows of a 1 hold the information
        weights = shares * family.curvature(ends)
        curve = _curve(family, ends[int(weights[0] >= weights[1])])
        found = level(curve, float(weights[1] / max(weights.sum(), 1e-300)), *scores.of(j))
        if family.free_dispersion:
            # its curvature is 1 at all points, whose matrices do not tell how scores bend
            params[j] = mean[j] + found.shift
        else:
            more[j] = (found.shift - scores.step[j]) ** 2
        if math.isinf(found.factor):
            # steps run on where rows of a level lose their curvature
            params[j], more[j] = np.clip(params[j], -_REACH, _REACH), (_FARTHEST / NORMAL) ** 2
        else:
            factors[j] = found.factor
    result, added = result.wider(factors), np.diag(more)
    return replace(result, params=params, cov=result.cov + added, cov_privacy=result.cov_privacy + added)


def _curve(family: GlmFamily, eta: float) -> Array:
    """Newton steps of rows of this linear predictor, if the true one lies further by `SHIFTS`."""
    means = family.mean(np.clip(eta, -_FARTHEST, _FARTHEST) + SHIFTS)
    return np.asarray((means - means[len(means) // 2]) / slope_in_middle(means))

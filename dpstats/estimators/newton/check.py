"""Do responses follow the line? Scores against its square."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.bends import Line, look, standardised
from dpstats.estimators.gram.bounds import mean_weight
from dpstats.estimators.newton.bounds import Bounds
from dpstats.estimators.newton.estimate import Estimate, to_user
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.newton.whitening import Whitening
from dpstats.families.bounded_score import BoundedScore

# share of weight that rows of large means may have lost where scores are limited
_LOST = 1 / 16


def checked(
    curator: Curator,
    mu: float,
    problem: Problem,
    located: Located,
    bounds: Bounds,
    whitening: Whitening,
    result: Estimate,
) -> Estimate:
    """A fit under the caution "bends" if scores rise and fall with the square of the linear predictor.

    Rows that are long, or of large means, count less than in the fit without privacy. Where the formula
    holds, both have one estimand; where responses bend, they differ by about the coefficient of the square.
    A bend that may move coefficients by less than is worth a caution widens intervals. Without an intercept
    nothing is looked for, and where no row is long it does not matter.
    """
    if not problem.intercept:
        return result
    forth = to_user(problem, located)
    back = np.linalg.inv(forth)
    line = Line(
        located.center,
        located.scale,
        back @ result.params,
        whitening.matrix,
        *standardised(back, result.cov, result.cov_privacy),
        located.offset,
        1.0 if result.dispersion is None else result.dispersion.value,
        max(1 - mean_weight(problem.k, bounds.radius), _LOST * problem.family.unlimited),
    )
    bend = look(curator, mu, line, bounds.score or BoundedScore.unclipped(problem.family))
    if bend.square == 0 or bounds.radius**2 >= whitening.longest_square(located) * (1 - 1e-9):
        return result
    if bend.told:
        return replace(result, problems=(*result.problems, "bends"))
    first = np.eye(problem.k)[0]
    moved = np.outer(first, first) + np.outer(line.slopes, line.slopes) / max(line.spread, 1e-9) ** 2
    return replace(result, cov=result.cov + bend.square * forth @ moved @ forth.T)

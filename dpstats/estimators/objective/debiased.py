"""A logistic regression by objective perturbation, its penalty's bias removed.

See docs/theory/objective.md#the-penalty-taken-off.

The columns are found first, so that penalty and noise are measured against where the rows are, not against
what was declared. Then one minimum is released, and its curvature.
"""

import math
from dataclasses import replace

import numpy as np

from dpstats.budget import Pure
from dpstats.curator import Curator
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.matrices import symmetric_power
from dpstats.estimators.newton.check import Read, by_one_pass, checked, explained
from dpstats.estimators.newton.far import long_rows
from dpstats.estimators.newton.information import Public
from dpstats.estimators.newton.located import locate
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.objective.curvature import Matrices, released
from dpstats.estimators.objective.cut import Cut
from dpstats.estimators.objective.penalised import MarginEstimate
from dpstats.estimators.objective.penalty_bias import without_penalty
from dpstats.estimators.objective.plan import least_ridge
from dpstats.estimators.objective.rare_answers import doubt_of_spread
from dpstats.estimators.objective.tuning import TUNING, Tuning
from dpstats.estimators.objective.unit_ball import level_of, noise_share, start_of, unit_ball
from dpstats.families import LOGISTIC_LOSS
from dpstats.formula.ball import UnitBall
from dpstats.moments.normal_rows import mean_weight


def fit_debiased(
    curator: Curator, problem: Problem, plan: Plan, robust: bool = False, tuning: Tuning = TUNING
) -> MarginEstimate:
    """Release where the columns are, a lightly penalised minimum and its curvature; take the penalty off.

    Parameters
    ----------
    curator : Curator
    problem : Problem
    plan : Plan
    robust : bool
        Release squared scores beside the curvature, for standard errors that hold where the model is wrong.
    tuning : Tuning

    Notes
    -----
    The minimum t of sum f + ridge / 2 |t - t0|^2, t0 the mean response, is off by r A (t - t0) to first
    order, r = ridge / n and A the inverse of the curvature H without the ridge; that is added back. The ridge
    is as small as the budget allows, whatever n, so that what remains falls with 1 / n^2.

    Last it is asked whether responses bend, as of other generalised linear models.

    Var = A H A / n (or A Sigma A / n) + A b / n with the law of the tilt b + what the noise N of H does to
    the correction, r^2 A Cov(N v) A with v = A (t - t0), + the square of what it may lack. Along eigenvectors
    that noise hides, A is a guess: the variance that a coefficient may have there is added.
    """
    located = locate(curator, plan.columns, plan.cost("octaves"), problem, tuning.usual)
    ball = unit_ball(curator, located, problem, plan, tuning)
    origin = start_of(located, problem) * ball.radius
    minimum = curator.minimise(
        Pure(plan.cost("minimum")),
        loss=LOGISTIC_LOSS,
        ridge=_ridge(curator, plan, tuning),
        origin=origin,
        **ball.public(),
    )
    error = noise_share(curator, ball, plan, level_of(located, problem, tuning))
    cut = Cut.of(problem, located, ball.turned.T @ minimum.params / ball.radius, error, tuning)
    matrices = released(curator, ball, plan, minimum, robust, Public.of(problem, located), cut)
    found = without_penalty(ball, problem, located, minimum, matrices, tuning)
    read = _read(ball, matrices)
    # rows are long or not in the coordinates of columns of their own scales
    square = matrices.floored * ball.radius**2
    unturned = replace(read, whitening=ball.turned, radius=ball.radius, information=square)
    checks = (
        long_rows(plan.cost("far"), problem, located, unturned, found),
        checked(plan.cost("check"), problem, located, read, found),
        explained(plan.cost("told"), problem, located, read, found),
    )
    lacking = doubt_of_spread(ball, problem, located, minimum, found)
    return replace(by_one_pass(curator, checks, found).doubted(lacking), columns=located.columns)


def check_debiased(curator: Curator, problem: Problem, plan: Plan) -> None:
    """Have the curator refuse what it would refuse after the ledger was charged."""
    k = problem.k
    curator.check_minimum(
        Pure(plan.cost("minimum")),
        loss=LOGISTIC_LOSS,
        ridge=_ridge(curator, plan, TUNING),
        center=np.zeros(k),
        scale=np.ones(k),
        reach=np.ones(k),
        radius=1.0,
        longest=1.0,
    )


def _ridge(curator: Curator, plan: Plan, tuning: Tuning) -> float:
    """The least that privacy needs, and that floats can do with."""
    cost = curator.cost_per_row(plan.cost("minimum"))
    ridge = least_ridge(LOGISTIC_LOSS, 1.0, cost, tuning.slack, math.inf)
    return max(ridge, tuning.least_ridge * curator.n)


def _read(ball: UnitBall, matrices: Matrices) -> Read:
    """How rows were read: their moments are those of the curvature, with a constant of 1."""
    back = np.linalg.inv(ball.turned)
    moments = back @ matrices.floored @ back
    lost = 1 - mean_weight(ball.k, ball.radius) if float(ball.reach @ ball.reach) > 1 + 1e-9 else 0.0
    return Read(symmetric_power(moments / moments[0, 0], -0.5), lost)

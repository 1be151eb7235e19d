"""A logistic regression by objective perturbation, its penalty's bias removed (spec/erm.md E4)."""

from __future__ import annotations

import math

import numpy as np

from dpstats.curator import Curator, Minimum
from dpstats.estimators.matrices import noise_edge, noise_of_product, symmetric_power, with_floor
from dpstats.estimators.objective.estimate import Estimate, estimate
from dpstats.estimators.objective.plan import Plan, least_ridge
from dpstats.families import LOGISTIC_LOSS
from dpstats.formula.ball import UnitBall

Array = np.ndarray

# Eigenvalues of the curvature are raised to these multiples of its noise as an operator, s sqrt k, for the
# estimate and for the variance: one floor for both undercovers (spec/erm.md C)
_FLOOR, _VARIANCE_FLOOR = 1.0, 0.2
# Rows of k coordinates in the unit ball have a least curvature of about this over k; noise with an edge,
# s sqrt(2 k), of ten times that hides it. Data-free: for the noise of the page it is its rule,
# n epsilon < 0.9 k^2.5.
_LEAST_CURVATURE, _TOO_FAR = 0.039, 10.0


def fit_debiased(curator: Curator, ball: UnitBall, plan: Plan, robust: bool = False) -> Estimate:
    """Release a lightly penalised minimum and its curvature; estimate the coefficients without penalty.

    Parameters
    ----------
    curator : Curator
    ball : UnitBall
    plan : Plan
    robust : bool
        Release squared scores beside the curvature, for standard errors that hold where the model is wrong.

    Notes
    -----
    The minimum t of sum f + ridge / 2 |t|^2 is off by ridge H^-1 t to first order, which is added back; H
    without the ridge. The ridge is as small as the budget allows, whatever n, so that what remains falls with
    1 / n^2. Var = A H A / n (or A Sigma A / n) + what the noise N of H does to the correction,
    (ridge / n)^2 A Cov(N v) A with v = A t, + A b / n with the law of the tilt b.
    """
    ridge = least_ridge(LOGISTIC_LOSS, ball.longest, curator.cost_per_row(plan.minimum))
    minimum = curator.minimise(plan.minimum, loss=LOGISTIC_LOSS, ridge=ridge, **ball.public())
    n, k = minimum.n, ball.k
    curvature, sds, scores = _matrices(curator, ball, plan, minimum, robust)
    edge = noise_edge(sds)
    floor = edge / math.sqrt(2)  # s sqrt k
    first, second = (_inverse(with_floor(curvature, share * floor)) for share in (_FLOOR, _VARIANCE_FLOOR))
    pull = first @ minimum.params
    by_curvature = (ridge / n) ** 2 * second @ noise_of_product(sds, pull) @ second
    sampling = second if scores is None else second @ with_floor(scores, 0.0) @ second
    far = edge > _TOO_FAR * _LEAST_CURVATURE / k
    return estimate(
        ball, minimum, minimum.params + ridge / n * pull, sampling=sampling / n, carried=second / n,
        more=by_curvature, problems=("unreliable",) if far else (),
    )  # fmt: skip


def _inverse(matrix: Array) -> Array:
    return symmetric_power(matrix, -1.0)


def _matrices(
    curator: Curator, ball: UnitBall, plan: Plan, minimum: Minimum, robust: bool
) -> tuple[Array, Array, Array | None]:
    """Curvature per row, its noise sds, and squared scores per row."""
    about, n = dict(ball.public(), loss=LOGISTIC_LOSS, params=minimum.params), minimum.n
    if not robust:
        release = curator.release("margin_curvature", plan.matrices, **about)
        return release.values[0] / n, release.sds[0] / n, None
    release = curator.release("margin_sandwich", plan.matrices, **about)
    weight = LOGISTIC_LOSS.together / ball.longest * n
    return release.values[1] / weight, release.sds[1] / weight, release.values[0] / n


"""The penalised minimum with intervals for it: Algorithms 1 to 5 of the paper (spec/erm.md E1, E2)."""

from __future__ import annotations

import math

import numpy as np

from dpstats.curator import Curator, Minimum
from dpstats.estimators.matrices import symmetric_power, with_floor
from dpstats.estimators.objective.coordinates import UnitBall
from dpstats.estimators.objective.estimate import Estimate, estimate
from dpstats.estimators.objective.plan import Plan
from dpstats.families import MarginLoss

Array = np.ndarray


def fit_penalised(
    curator: Curator, ball: UnitBall, loss: MarginLoss, ridge: float, plan: Plan, tilted: bool = True,
    compat: str | None = None,
) -> Estimate:  # fmt: skip
    """Release a penalised minimum, its curvature and squared scores.

    Parameters
    ----------
    curator : Curator
    ball : UnitBall
    loss : MarginLoss
    ridge : float
        The penalty on the scale of the sum of losses: 2 n c.
    plan : Plan
    tilted : bool
        Objective perturbation (Algorithms 1 to 3), else output perturbation (Algorithms 4 and 5).
    compat : {None, "paper"}
        "paper": spherical noise of pure epsilon in the tilt, also under zCDP, and noise of the published
        size on the two matrices, each by itself, with eigenvalues of both raised to 2c.

    Notes ----- With A the inverse of the released curvature (2c added), the minimum errs by A (gradient of
    the sample, with covariance Sigma / n, + b / n): the sandwich A Sigma A / n and, with the law of b, A b
    / n (equation 4). Noise on the minimum itself is just added (equation 8). Sigma is about the penalised
    minimum, so that 4 c^2 tt' is taken off. Its eigenvalues are at least 0, not 2c, which is 26 times too
    large for the smallest one of the paper's own example (spec/erm.md A, item 8).
    """
    paper = compat == "paper"
    minimum = curator.minimise(
        plan.minimum, loss=loss, ridge=ridge, tilted=tilted, spherical=paper, pure=paper and tilted,
        **ball.public(),
    )  # fmt: skip
    n, c = minimum.n, ridge / (2 * minimum.n)
    about = dict(ball.public(), loss=loss, params=minimum.params)
    curvature, scores = _published(curator, plan, about) if paper else _joint(curator, plan, loss, about)
    least = 2 * c
    inverse = symmetric_power(with_floor(curvature / n + least * np.eye(ball.k), least), -1.0)
    sigma = scores / n - least**2 * np.outer(minimum.params, minimum.params)
    sigma = with_floor(sigma, least if paper else 0.0)
    return estimate(
        ball, minimum, minimum.params, sampling=inverse @ sigma @ inverse / n,
        carried=_carried(minimum, inverse), more=np.zeros((ball.k, ball.k)),
    )  # fmt: skip


def _carried(minimum: Minimum, inverse: Array) -> Array:
    return np.eye(len(inverse)) if minimum.tilt_law == "none" else inverse / minimum.n


def _joint(curator: Curator, plan: Plan, loss: MarginLoss, about: dict[str, object]) -> tuple[Array, Array]:
    scores, curvature = curator.release("margin_sandwich", plan.matrices, **about).values
    return curvature / (loss.together / float(about["longest"])), scores  # type: ignore[arg-type]


def _published(curator: Curator, plan: Plan, about: dict[str, object]) -> tuple[Array, Array]:
    """Each for half of epsilon, or of mu squared."""
    cost = plan.matrices / (2 if plan.pure else math.sqrt(2))
    names = ("margin_curvature", "margin_scores")
    curvature, scores = (curator.release(name, cost, published=True, **about).values[0] for name in names)
    return curvature, scores

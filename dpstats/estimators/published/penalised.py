"""Objective and output perturbation with their published noise and floors (docs/theory/objective.md)."""

from typing import Any

from dpstats.curator import Curator
from dpstats.estimators.objective.penalised import MarginEstimate, penalty_parts, sandwich
from dpstats.estimators.objective.plan import MinimumPlan
from dpstats.families import MarginLoss
from dpstats.formula.ball import UnitBall
from dpstats.moments.roots import with_floor

PUBLISHED_PENALTY = 0.001  # c of the paper's experiments (docs/theory/objective.md#the-penalised-fit)


def fit_published_minimum(
    curator: Curator, ball: UnitBall, loss: MarginLoss, ridge: float, plan: MinimumPlan, tilted: bool = True
) -> MarginEstimate:
    """Release a penalised minimum with spherical noise, and its curvature and squared scores by themselves.

    Each of the matrices gets half of epsilon, or of mu squared, and noise of the published size; eigenvalues
    of both are raised to 2c.

    Parameters
    ----------
    curator, ball, loss, ridge, plan, tilted
        As of :func:`dpstats.estimators.objective.fit_penalised`.
    """
    minimum = curator.minimise(
        plan.minimum, loss=loss, ridge=ridge, tilted=tilted, spherical=True, **ball.public()
    )
    about: dict[str, Any] = dict(ball.public(), loss=loss, params=minimum.params, published=True)
    half, names = plan.matrices.split(0.5, 0.5)[0], ("margin_curvature", "margin_scores")
    releases = [curator.release(name, half, **about) for name in names]
    curvature, scores = (release.values[0] / release.n for release in releases)
    least, center = penalty_parts(minimum)
    raised = (with_floor(matrix, least[0, 0]) for matrix in (curvature + least, scores - center))
    return sandwich(ball, minimum, *raised)


def check_published_matrices(curator: Curator, ball: UnitBall, loss: MarginLoss, plan: MinimumPlan) -> None:
    """Have the curator refuse matrices that it would refuse after the ledger was charged."""
    about = dict(ball.public(), params=[0.0] * ball.k, published=True)
    curator.noise("margin_scores", plan.matrices, loss=loss, **about)

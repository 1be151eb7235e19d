"""The penalised minimum with intervals for it: Algorithms 1 to 5 of the paper (docs/theory/objective.md)."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpstats._codes import EVEN, STRAIGHT
from dpstats.curator import Curator, Minimum
from dpstats.estimators.engine.finish import Estimate
from dpstats.estimators.matrices import noise_edge, pooled, symmetric_power
from dpstats.estimators.objective.plan import MinimumPlan
from dpstats.families import MarginLoss
from dpstats.formula.ball import UnitBall
from dpstats.moments.mixture import LAWS, Tails
from dpstats.moments.spread import Z95

Sides = tuple[np.ndarray, ...]
Seen = tuple[np.ndarray, float]


@dataclass(frozen=True)
class MarginEstimate(Estimate):
    """Coefficients on the user's scale.

    Attributes
    ----------
    tails : Tails, optional
        Of noise that is not normal.
    penalty : float
        c of the mean loss + c |params of a|^2 that was minimised.
    inside : array, shape (k, k)
        `cov` in the coordinates of the ball. Where a column lies far from 0 against its width, rounding
        leaves no form of it in those of the user.
    """

    tails: Tails | None = None
    penalty: float = 0.0
    inside: np.ndarray = field(kw_only=True)


def estimate(
    ball: UnitBall,
    minimum: Minimum,
    params: np.ndarray,
    sampling: np.ndarray,
    carried: np.ndarray,
    more: np.ndarray,
) -> MarginEstimate:
    """Collect the parts.

    Parameters
    ----------
    ball, minimum
    params : array, shape (k,)
        In the coordinates of `ball`, like all that follows.
    sampling : array, shape (k, k)
        Covariance by sampling.
    carried : array, shape (k, k)
        What takes the principal noise, that of the tilt or of the minimum, to the params.
    more : array, shape (k, k)
        Covariance by other noise.
    """
    k, penalty = ball.k, minimum.ridge / (2 * minimum.n)
    law, sds = (minimum.law, minimum.sds)
    if minimum.tilt_law != "none":
        law, sds, more = minimum.tilt_law, minimum.tilt_sds, more + np.diag(minimum.sds**2)
    back = ball.to_user
    noise = carried * sds
    inside = noise @ noise.T + more + sampling
    noise = back @ noise
    principal = noise @ noise.T
    privacy = principal + back @ more @ back.T
    tails = Tails(law, k, np.diag(principal).copy()) if law in LAWS else None
    cov = privacy + back @ sampling @ back.T
    settings = {"R": ball.radius}
    return MarginEstimate(back @ params, cov, privacy, (), settings, tails, penalty, inside=inside)


# times the edge of pure noise, which its largest eigenvalue exceeds now and then; this it does not
_SEEN = 2.0


def about(ball: UnitBall, loss: MarginLoss, params: np.ndarray, sides: Sides) -> dict[str, Any]:
    """What curvature and squared scores are asked about; and what rows of levels have lost of slopes."""
    asked = dict(ball.public(), loss=loss, params=params)
    return asked | dict(groups=np.vstack(sides), overlap=len(sides)) if sides else asked


def hidden_share(
    curator: Curator, ball: UnitBall, loss: MarginLoss, plan: MinimumPlan, sides: Sides = ()
) -> float:
    """Return what noise hides of the squared scores, over the most that any rows have; no row is read.

    Rows lie in the unit ball and no slope of a loss exceeds 1, so that no eigenvalue of their squared scores
    exceeds n: from 1 on nothing is estimable, whatever the rows are.
    """
    _, sds = curator.noise("margin_sandwich", plan.matrices, **about(ball, loss, np.zeros(ball.k), sides))
    return _SEEN * noise_edge(sds[0]) / curator.n


def fit_penalised(
    curator: Curator,
    ball: UnitBall,
    loss: MarginLoss,
    ridge: float,
    plan: MinimumPlan,
    tilted: bool = True,
    sides: Sides = (),
) -> MarginEstimate:
    """Release a penalised minimum, its curvature and squared scores.

    Parameters
    ----------
    curator : Curator
    ball : UnitBall
    loss : MarginLoss
    ridge : float
        The penalty on the scale of the sum of losses: 2 n c.
    plan : MinimumPlan
    tilted : bool
        Objective perturbation (Algorithms 1 to 3), else output perturbation (Algorithms 4 and 5).
    sides : tuple of array
        Of levels, flags and their cells (:attr:`dpstats.formula.Design.sides`), where the loss has a
        straight part.

    Notes
    -----
    With A the inverse of the released curvature (2c added), the minimum errs by A (gradient of the sample,
    with covariance Sigma / n, + b / n): the sandwich A Sigma A / n and, with the law of b, A b / n
    (equation 4). Noise on the minimum itself is just added (equation 8). Sigma is about the penalised
    minimum, so that 4 c^2 tt' is taken off. Eigenvalues of both that noise hides are replaced by their mean.
    2c, to which the paper raises those of Sigma, is 26 times too large for the smallest one of its own
    example (docs/theory/objective.md#the-penalised-fit), and raising only what is negative makes intervals
    too long where noise is large. If noise hides all of Sigma, no gradient of any row was seen, as where no
    row can be read: the penalty alone has then made the minimum, and nothing is estimable.
    """
    minimum = curator.minimise(
        plan.minimum, loss=loss, ridge=ridge, tilted=tilted, spherical=False, **ball.public()
    )
    asked = about(ball, loss, minimum.params, sides)
    (curvature, hidden), (scores, lost), levels = _joint(curator, plan, loss, asked)
    least, center = penalty_parts(minimum)
    inner, slopes = pooled(curvature, hidden) + least, pooled(scores - center, lost)
    result = sandwich(ball, minimum, inner, slopes)
    gradient = inner @ result.inside @ inner
    if loss.straight and curvature[0, 0] > hidden:
        # a row of the slope s has lost 1 - s, half of 1 - s^2 at least
        gained = loss.straight * (1 - slopes[0, 0] * ball.radius**2) / 2
        result = _across_the_straight_part(ball, result, gradient, minimum.params, gained, 0.0, STRAIGHT)
    for side, *told in levels:
        gained, noise = (loss.straight * each for each in told)
        way = loss.straight * ball.from_user @ side
        result = _across_the_straight_part(ball, result, gradient, way, gained, noise, EVEN)
    if float(np.linalg.eigvalsh(scores)[-1]) > _SEEN * lost:
        return result
    result = result.hopeless()
    return replace(result, cov_privacy=result.cov)


def penalty_parts(minimum: Minimum) -> tuple[np.ndarray, np.ndarray]:
    """What the penalty adds to the curvature, and its gradient to the squared scores, per row."""
    c = minimum.ridge / (2 * minimum.n)
    return 2 * c * np.eye(len(minimum.params)), (2 * c) ** 2 * np.outer(minimum.params, minimum.params)


def sandwich(ball: UnitBall, minimum: Minimum, inner: np.ndarray, sigma: np.ndarray) -> MarginEstimate:
    """The estimate from curvature and squared scores per row."""
    inverse = symmetric_power(inner, -1.0)
    return estimate(
        ball,
        minimum,
        minimum.params,
        sampling=inverse @ sigma @ inverse / minimum.n,
        carried=np.eye(ball.k) if minimum.tilt_law == "none" else inverse / minimum.n,
        more=np.zeros((ball.k, ball.k)),
    )


def _across_the_straight_part(
    ball: UnitBall,
    found: MarginEstimate,
    gradient: np.ndarray,
    way: np.ndarray,
    gained: float,
    noise: float,
    caution: str,
) -> MarginEstimate:
    """A fit whose intervals reach twice this way farther, unless the loss surely bends before it.

    Where labels are told weakly, margins lie on the straight part of the loss, and the minimum is where they
    leave it: at an end that noise and sampling choose, as there is no curvature between the ends but that of
    the penalty. The slope of the objective along the way has grown by `gained` at least since rows left the
    straight part. If that may be noise, so may be the end. See docs/theory/objective.md#straight-parts.

    Parameters
    ----------
    ball : UnitBall
        In whose coordinates all that follows is.
    found : MarginEstimate
    gradient : array, shape (k, k)
        Covariance of the gradient of the objective, per row.
    way : array, shape (k,)
        Half of what leads from one end to the other.
    gained : float
        What rows have lost of their slopes, times the margin from which on they do.
    noise : float
        Its sd by the noise of what tells it.
    caution : str
    """
    precision = float(way @ np.linalg.solve(found.inside, way))
    # an interval that reaches as far already needs nothing, as that of an error without end
    if not precision >= (Z95 / 2) ** 2 or gained > Z95 * math.hypot(math.sqrt(way @ gradient @ way), noise):
        return found
    farther, user = (precision**-0.5 + 2 / Z95) ** 2 - 1 / precision, ball.to_user @ way
    inside = found.inside + farther * np.outer(way, way)
    return replace(found.doubted(farther * np.outer(user, user), caution), inside=inside)


def _joint(
    curator: Curator, plan: MinimumPlan, loss: MarginLoss, asked: dict[str, Any]
) -> tuple[Seen, Seen, list[tuple[np.ndarray, float, float]]]:
    """Curvature and squared scores, each per row and with what noise hides of its eigenvalues.

    And for each level its direction, what its rows have lost of their slopes, per row, and the noise of that.
    """
    release = curator.release("margin_sandwich", plan.matrices, **asked)
    weights = (release.n, release.n * loss.together / asked["longest"])
    scores, curvature = (
        (matrix / weight, noise_edge(sds) / weight)
        for matrix, sds, weight in zip(release.values[:2], release.sds[:2], weights, strict=True)
    )
    if "groups" not in asked:
        return curvature, scores, []
    scale = math.sqrt(asked["overlap"]) / release.n
    lost, noise = (part[2].ravel() * scale for part in (release.values, release.sds))
    return curvature, scores, list(zip(asked["groups"], lost, noise, strict=True))

"""What an estimator of this folder hands over, and the last step to the user's scale.

See docs/theory/objective.md#the-penalised-fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpstats.curator import Minimum
from dpstats.estimators.engine import finish as common
from dpstats.formula.ball import UnitBall
from dpstats.moments.mixture import LAWS, Tails

Array = np.ndarray


@dataclass(frozen=True)
class Estimate(common.Estimate):
    """Coefficients on the user's scale.

    Attributes
    ----------
    tails : Tails, optional
        Of noise that is not normal.
    penalty : float
        c of the mean loss + c |params of a|^2 that was minimised.
    """

    tails: Tails | None = None
    penalty: float = 0.0


def estimate(
    ball: UnitBall, minimum: Minimum, params: Array, sampling: Array, carried: Array, more: Array
) -> Estimate:
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
    noise = back @ carried * sds
    principal = noise @ noise.T
    privacy = principal + back @ more @ back.T
    tails = Tails(law, k, np.diag(principal).copy()) if law in LAWS else None
    cov = privacy + back @ sampling @ back.T
    return Estimate(back @ params, cov, privacy, (), {"R": ball.radius}, tails, penalty)


def nothing(result: Estimate) -> Estimate:
    """The estimate where no coefficient is estimable."""
    lost = result.hopeless()
    return replace(lost, cov_privacy=lost.cov)

"""What an estimator of this folder hands over, and the last step to the user's scale.

See docs/theory/objective.md#the-penalised-fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpstats.curator import Minimum
from dpstats.formula.ball import UnitBall
from dpstats.moments.mixture import LAWS, Tails

Array = np.ndarray

# share of a variance that is a guess: from here on a coefficient is weak, and not estimable
_WEAK, _LOST = 0.2, 0.5


@dataclass(frozen=True)
class Estimate:
    """Coefficients on the user's scale.

    Attributes
    ----------
    params : array, shape (k,)
    cov, cov_privacy : array, shape (k, k)
    tails : Tails or None
        Of noise that is not normal.
    penalty : float
        c of the mean loss + c |params of a|^2 that was minimised.
    problems : tuple of str
        "hopeless", and codes of coefficient j: "not_estimable:j" and "weak:j".
    radius : float
        Length of the rows that count in full, in the scales of the columns.
    """

    params: Array
    cov: Array
    cov_privacy: Array
    tails: Tails | None
    penalty: float
    problems: tuple[str, ...] = ()
    radius: float = math.inf


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
    return Estimate(back @ params, cov, privacy, tails, penalty, (), ball.radius)


def nothing(result: Estimate) -> Estimate:
    """The estimate where no coefficient is estimable."""
    lost = np.diag(np.full(len(result.params), np.inf))
    return replace(result, cov=lost, cov_privacy=lost, problems=(*result.problems, "hopeless"))


def judged(result: Estimate, guess: Array, few: Array) -> Estimate:
    """Name coefficients a large part of whose variance is `guess`, a part of `cov`; lost if it is most.

    Lost are `few`, too: levels in which there are hardly any events.
    """
    share = np.where(few, 1.0, np.diag(guess) / np.diag(result.cov))
    lost, weak = np.flatnonzero(share > _LOST), np.flatnonzero((share > _WEAK) & (share <= _LOST))
    cov, cov_privacy = result.cov.copy(), result.cov_privacy.copy()
    for matrix in (cov, cov_privacy):
        matrix[lost, lost] = np.inf
    found = (*(f"not_estimable:{j}" for j in lost), *(f"weak:{j}" for j in weak))
    return replace(result, cov=cov, cov_privacy=cov_privacy, problems=result.problems + found)

"""Do times follow the line? Scores of the location against its square.

See docs/theory/survival.md#whether-times-bend.
"""

import math
from dataclasses import replace

import numpy as np

from dpstats.estimators.bends import ReleasedLine, standardised
from dpstats.estimators.bent_times import Look
from dpstats.estimators.engine.finish import to_user
from dpstats.estimators.location_scale.estimate import SurvivalEstimate
from dpstats.estimators.location_scale.problem import LOG_SIGMA_RANGE
from dpstats.estimators.location_scale.route import WhitenedNewton
from dpstats.estimators.location_scale.strata_layout import Layout


def straight(
    route: WhitenedNewton, cost: float, found: SurvivalEstimate, layout: Layout | None = None
) -> SurvivalEstimate:
    """A fit that tells by the caution "bends" if times surely do, and counts what they may as error.

    Parameters
    ----------
    route : WhitenedNewton
        At its end.
    cost : float
    found : SurvivalEstimate
        Its parameters are the location's and the log sigmas.
    layout : Layout, optional
        Of strata, which tie coefficients of standardised columns.
    """
    bounding, choice, whitening = route.bounding, route.choice, route.whitening.matrix
    scale, family = bounding.placement.scale, bounding.placement.problem.family
    user = to_user(scale.center, scale.scale, True, scale.y_scale) if layout is None else layout.to_user
    p = len(user)
    tied = np.eye(p) if layout is None else layout.tied
    back, way = tied @ np.linalg.inv(user), user @ tied.T
    # as far as points of the fit go: an estimate that is all noise may be any number
    sigma = np.exp(np.clip(found.params[p:] - math.log(scale.y_scale), *LOG_SIGMA_RANGE))
    unit = float(np.mean(sigma**-2.0) ** -0.5)
    gamma = back @ (found.params[:p] - scale.y_center * np.eye(p)[0])
    parts = (each[:p, :p] / unit**2 for each in (found.cov, found.cov_privacy))
    kept = bounding.placement.expected.kept(choice.c)
    line = ReleasedLine(
        np.append(0.0, scale.center),
        np.append(1.0, scale.scale),
        gamma / unit,
        np.linalg.matrix_power(np.linalg.inv(whitening), 2),
        *standardised(back, *parts),
        None,
        1.0,
        1 - kept * (1 - scale.lost_along(gamma[1:], choice.radius**2)),
        np.zeros(len(gamma)),
    )
    where = bounding.truncation(choice, np.append(gamma, np.log(unit)))
    look = Look.along(line, scale, route.curator.n * scale.fraction * kept, choice.radius)
    release = route.curator.release(
        "location_bend",
        cost,
        **scale.public(),
        family=family,
        c=choice.c,
        floor=where.floor,
        gamma=gamma,
        sigma=sigma if bounding.placement.problem.strata else sigma.item(),
        curves=look.public(),
    )
    cut = where.cut
    limit = max(cut.steepest, float(cut.integrals(np.array([np.inf])).location[0]))
    bent = look.judged(release, limit)
    params, moved = found.params.copy(), np.zeros_like(found.cov)
    params[:p] += unit * way @ bent.shift
    moved[:p, :p] = unit**2 * way @ bent.cov @ way.T
    # with strata there are other columns than coefficients
    told = (f"bends:{j}" if j and p == len(gamma) else "bends" for j in bent.told)
    return replace(found, params=params).doubted(moved, *told)

"""Which distribution the data prefer, where a user asks for it and pays: ``release=["dist"]``.

The other families of the same response get an intercept and a log sigma of their own, at the slopes of the
fit: a small fit each, of the noise that all rows give anyway. Then one release tells how much more likely the
rows are under each of them. See docs/theory/intervals.md#choice-of-a-distribution.
"""

from __future__ import annotations

import math

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.location_scale import Problem, fit_location_scale, make_plan
from dpstats.families import DISTS, Dist
from dpstats.formula import Design, NumericResponse

RIVALS, LEVELS = "likelihood against other distributions", "levels of other distributions"
SHARE = 0.2
"""Of mu^2, for all of it; half of that for the levels."""
LIMIT = 1.0
"""Of what one row says, in log-likelihood. At a quarter, log-normal times seemed log-logistic to a Weibull
fit, at whose slopes they were compared; at 2 noise is twice as large as at 1, and a gap 1.3 times."""
_WIDEST = 100.0  # of log sigma, wherever the noise has carried it


def rivals(dist: Dist) -> tuple[Dist, ...]:
    """Those with which it is compared: the other families of the same response, with a scale to estimate."""
    same = (other for other in DISTS.values() if other.log == dist.log and other.scale is None)
    return tuple(other for other in same if other.family is not dist.family)


def costs(mu: float) -> dict[str, float]:
    """What it costs of a budget, by release."""
    half = mu * math.sqrt(SHARE / 2)
    return {LEVELS: half, RIVALS: half}


def contest(
    curator: Curator, mu: float, design: Design, dist: Dist, params: np.ndarray
) -> tuple[tuple[str, float, float], ...]:
    """Release by how much the log-likelihood under each rival is above that under the fit's own family.

    Parameters
    ----------
    curator : Curator
    mu : float
        Of the whole budget.
    design : Design
    dist : Dist
        Of the fit.
    params : array, shape (k + 1,)
        Its estimates, log sigma last.

    Returns
    -------
    tuple of (name, difference, sd of its noise)
    """
    params, others = np.nan_to_num(params), rivals(dist)
    spent = costs(mu)
    own = curator.folded(design.bounds[1:], params[1:-1])
    plan = make_plan(spent[LEVELS] / math.sqrt(len(others)), intervals=design.intervals)
    found = [fit_location_scale(own, _level(design, other, own), plan) for other in others]
    levels = np.nan_to_num([params[[0, -1]], *(each.params for each in found)])
    release = curator.release(
        "likelihood_contrasts",
        spent[RIVALS],
        params=np.column_stack([levels[:, 0], np.tile(params[1:-1], (len(levels), 1))]),
        sigmas=np.exp(np.clip(levels[:, 1], -_WIDEST, _WIDEST)),
        families=tuple(each.family for each in (dist, *others)),
        log=dist.log,
        limit=LIMIT,
    )
    values, sd = release.values[0], release.sd
    return tuple((each.name, float(value), sd) for each, value in zip(others, values, strict=True))


def _level(design: Design, dist: Dist, curator: Curator) -> Problem:
    """A response with an intercept alone, less the offset that holds the covariates."""
    assert not isinstance(design.response, NumericResponse)
    times, offset = np.asarray(design.response.time_bounds), np.asarray(curator.offset_bounds)
    lower, upper = (np.log(times) if dist.log else times) - offset[::-1]
    box = np.array([lower]), np.array([upper])
    return Problem(dist.family, dist.log, *box, intervals=design.intervals)

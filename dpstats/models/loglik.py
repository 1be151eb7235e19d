"""How likely rows are, where a user asks for it and pays: ``release=["loglik"]``, ``release=["dist"]``.

The first is the log-likelihood of the fit, the second which distribution of times the data prefer. The other
families of the same response get an intercept and a log sigma of their own, at the slopes of the fit: a small
fit each, of the noise that all rows give anyway. Then one release tells how much more likely the rows are
under each of them. See docs/theory/intervals.md#choice-of-a-distribution.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpstats._arguments import among, near, shown, word
from dpstats.curator import Curator
from dpstats.errors import SpecificationError
from dpstats.estimators.location_scale import SurvivalProblem, fit_location_scale, make_plan
from dpstats.estimators.row_scale import Box
from dpstats.families import DISTS, Dist, Family, GlmFamily
from dpstats.formula import Design
from dpstats.moments.linear import Quantity

NAME, LOGLIK = "loglik", "log-likelihood"
SHARE = 0.1  # of mu^2
ROOM = 6.0  # of n rows of the fitted law, about n e^-6 / n lie below the lowest value that counts whole
_WIDEST = 100.0  # of log sigma, wherever the noise has carried it
_GRID = np.linspace(-40.0, 40.0, 4001)


def check_release(
    release: Sequence[str], able: bool, model: str, way_out: str = "", known: tuple[str, ...] = (NAME,)
) -> frozenset[str]:
    """Return what is asked for, of what is known.

    Raises
    ------
    SpecificationError
        For anything else, and where this fit has no bounded log-likelihood.
    """
    wanted = (release,) if isinstance(release, str) else release
    listed = isinstance(wanted, list | tuple | set | frozenset)
    if not listed or not all(among(each, known) for each in wanted):
        named = " and ".join(map(repr, known))
        raise SpecificationError(
            f"release may hold {named} and nothing else, got {_named(wanted)}{near(release, known)}"
        )
    if wanted and not able:
        raise SpecificationError(
            f"{model} has no log-likelihood that is bounded, by which release={sorted(wanted)} is answered; "
            f"leave release out{way_out}"
        )
    return frozenset(wanted)


def _named(wanted: Any) -> str:
    """Return the first item of a list that is a word, or what was given."""
    items = list(wanted) if isinstance(wanted, list | tuple) else []
    return word(items[0]) if len(items) == 1 else shown(wanted)


def cost(mu: float) -> float:
    """Return what the log-likelihood costs."""
    return mu * math.sqrt(SHARE)


def log_likelihood(
    curator: Curator,
    mu: float,
    params: np.ndarray,
    family: Family | GlmFamily,
    log_sigma: float = 0.0,
    log: bool = False,
) -> Quantity:
    """Release the log-likelihood of released estimates; its error is that of the noise.

    Rows count with no less than what one in n e^6 rows of the fitted law would fall short of, so that
    clipping hardly matters where the law is right and bounds the share of each row where it is not.
    """
    top, log_sigma = 0.0, float(np.clip(log_sigma, -_WIDEST, _WIDEST))
    if isinstance(family, Family):
        density = family.log_hazard(_GRID) - np.exp(family.log_cumulative_hazard(_GRID))
        top = float(density.max()) - log_sigma
    low = min(top, 0.0) - math.log(max(curator.n, 1)) - ROOM
    release = curator.release(
        "log_likelihood",
        cost(mu),
        params=np.nan_to_num(params),
        low=low,
        high=max(top, 0.0),
        family=family,
        sigma=math.exp(log_sigma),
        log=log,
    )
    return Quantity(float(release.values[0][0]), release.sd, release.sd)


RIVALS, LEVELS = "likelihood against other distributions", "levels of other distributions"
DIST_SHARE = 0.2
"""Of mu^2, for all of it; half of that for the levels."""
LIMIT = 1.0
"""Of what one row says, in log-likelihood. At a quarter, log-normal times seemed log-logistic to a Weibull
fit, at whose slopes they were compared; at 2 noise is twice as large as at 1, and a gap 1.3 times."""


def rivals(dist: Dist, known: bool = False) -> tuple[Dist, ...]:
    """Those with which it is compared: families of the same response, with a scale to estimate.

    Its own is among them where the scale of the fit is known.
    """
    same = (other for other in DISTS.values() if other.log == dist.log and other.scale is None)
    return tuple(
        replace(other, name=f"{other.name} of free scale") if other == dist else other
        for other in same
        if known or other.family is not dist.family
    )


def contest_costs(mu: float) -> dict[str, float]:
    """What it costs of a budget, by release."""
    half = mu * math.sqrt(DIST_SHARE / 2)
    return {LEVELS: half, RIVALS: half}


def contest(
    curator: Curator, mu: float, design: Design, dist: Dist, params: np.ndarray, known: bool = False
) -> tuple[tuple[str, float, float], ...]:
    """Release by how much the log-likelihood under each rival is above that under the fit's own family.

    Where the scale is known, rows are compared with the same family with a scale of its own: under a wrong
    scale most rows would count for the limit, whatever the rival.

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
    known : bool
        Whether log sigma was known.

    Returns
    -------
    tuple of (name, difference, sd of its noise)
    """
    params, others = np.nan_to_num(params), rivals(dist, known)
    spent = contest_costs(mu)
    own = curator.folded(design.bounds[1:], params[1:-1])
    plan = make_plan(spent[LEVELS] / math.sqrt(len(others)), intervals=design.intervals)
    found = [fit_location_scale(own, _level(design, other, own), plan) for other in others]
    levels, laws = np.nan_to_num([params[[0, -1]], *(each.params for each in found)]), (dist, *others)
    base = next((j for j, each in enumerate(others, 1) if each.family is dist.family), 0)
    order = [base, *(j for j in range(len(laws)) if j != base)]
    release = curator.release(
        "likelihood_contrasts",
        spent[RIVALS],
        params=np.column_stack([levels[order, 0], np.tile(params[1:-1], (len(levels), 1))]),
        sigmas=np.exp(np.clip(levels[order, 1], -_WIDEST, _WIDEST)),
        families=tuple(laws[j].family for j in order),
        log=dist.log,
        limit=LIMIT,
    )
    values, sds = np.zeros((2, len(laws)))
    values[order[1:]], sds[order[1:]] = release.values[0], release.sd
    against = (values - values[0])[1:].tolist(), np.hypot(sds, sds[0])[1:].tolist()
    return tuple(zip((each.name for each in others), *against, strict=True))


def _level(design: Design, dist: Dist, curator: Curator) -> SurvivalProblem:
    """A response with an intercept alone, less the offset that holds the covariates."""
    times, offset = np.asarray(design.time_bounds), np.asarray(curator.offset_bounds)
    lower, upper = (np.log(times) if dist.log else times) - offset[::-1]
    box = Box(np.array([lower]), np.array([upper]))
    return SurvivalProblem(dist.family, dist.log, box, intervals=design.intervals)

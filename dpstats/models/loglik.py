"""The log-likelihood of a fit, where a user asks for it and pays: ``release=["loglik"]``."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpstats._arguments import among, shown
from dpstats.curator import Curator
from dpstats.errors import SpecificationError
from dpstats.families import Family, GlmFamily
from dpstats.moments.linear import Quantity

NAME, LOGLIK = "loglik", "log-likelihood"
SHARE = 0.1  # of mu^2
ROOM = 6.0  # of n rows of the fitted law, about n e^-6 / n lie below the lowest value that counts whole
_WIDEST = 100.0  # of log sigma, wherever the noise has carried it
_GRID = np.linspace(-40.0, 40.0, 4001)


def check_release(
    release: Sequence[str], able: bool, model: str, known: tuple[str, ...] = (NAME,)
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
        raise SpecificationError(f"release may hold {named} and nothing else, got {shown(release)}")
    if wanted and not able:
        raise SpecificationError(f"{model} has no log-likelihood that is bounded; leave release out")
    return frozenset(wanted)


def left(mu: float, share: float) -> float:
    """Return what is left of mu when a share of its square is spent otherwise."""
    return mu * math.sqrt(1 - share)


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

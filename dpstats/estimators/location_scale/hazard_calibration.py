"""Does the error law hold? Failures seen against expected, by zones of cumulative hazard.

See docs/theory/survival.md#check-of-the-law.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy import special

from dpstats.curator import Curator
from dpstats.estimators.engine.finish import to_user
from dpstats.estimators.location_scale.estimate import Estimate
from dpstats.estimators.location_scale.event_expectations import MOST_SEEN, expected
from dpstats.estimators.location_scale.event_law import EventLaw
from dpstats.estimators.location_scale.placement import Placement
from dpstats.estimators.location_scale.problem import sigma_of
from dpstats.estimators.row_scale import RowScale
from dpstats.families import Family
from dpstats.families.quantiles import even_shares
from dpstats.moments import Quantity

Array = np.ndarray

# where zones end: shares of the events of rows that are all watched to one hazard
_ENDS = (0.05, 0.3, 0.7, 1.0)
_POINTS = 2000
# chance that any contrast stands out where the law holds
_DOUBTFUL = 2e-3
# variance of a contrast against that of rows watched to one hazard: others leave at any, mostly a low one
_MIXED = 1.5
# Sds of a contrast that are no news; and bias against maximum likelihood, per share of events in doubt, of
# their location in sigmas, of slopes in sigmas for an sd of the covariate, and of log sigma, were hazards cut
# at 1. It goes by the inverse of the cut, as scores that nothing bounds are those of the likelihood.
_USUAL, _LOCATION_BIAS, _SLOPE_BIAS, _LOG_SIGMA_BIAS = 1.5, 3.0, 1.0, 5.0


def checked(  # noqa: PLR0913 - of strata, two more
    curator: Curator,
    mu: float,
    placement: Placement,
    point: Array,
    result: Estimate,
    sigma: Array | None = None,
    onto: Array | None = None,
) -> Estimate:
    """A fit under the caution "law" if failures come at other times than the family says.

    Contrasts between zones are released that no error of intercept and log sigma moves, or hardly: what is
    left of them is sampling, noise, or another law. Where sigma is known another sigma moves them, and so
    they tell of that too; but not where noise in the slopes spreads residuals, as it does by signs and where
    a coefficient was not found. What is more than usual widens intervals, with the caution and without it.
    Zones are laid out by what an average row collects at (gamma, log sigma) `point`. Strata have a `sigma`
    each, and `onto` makes what is estimated of changes of the point.
    """
    known = placement.problem.known_scale
    settled = not result.by_signs and all(problem.startswith("range:") for problem in result.problems)
    spread = sigma_of(point) if sigma is None else sigma
    found = _contrasted(curator, mu, placement, point, spread, known and settled)
    result = replace(result, law=found.law)
    bias = _biases(placement.scale, sigma_of(point), found.pivot, known)
    bias *= (found.doubt / result.settings["cut c"]) ** 2
    return result.doubted(bias if onto is None else onto @ bias @ onto.T, *("law",) * found.stands_out)


class _Contrasted(NamedTuple):
    """What contrasts say of the law.

    Attributes
    ----------
    law : Quantity
        The one that stands out most, as a share of all failures.
    stands_out : bool
        Whether any is more than sampling and noise explain.
    doubt : float
        What is more than usual of all, as a share of the failures.
    pivot : float
        Residual of a typical failure.
    """

    law: Quantity
    stands_out: bool
    doubt: float
    pivot: float


def _contrasted(
    curator: Curator, mu: float, placement: Placement, point: Array, sigma: float | Array, steep: bool
) -> _Contrasted:
    """Release the contrasts at a point (gamma, log sigma), with this sigma, or those of strata.

    `steep` where sigma is known, so that another one is to move them.
    """
    family, scale = placement.problem.family, placement.scale
    fraction = min(1 - math.exp(-placement.expectations(point).hazard), MOST_SEEN)
    contrasts = _contrasts(family, fraction, steep)
    release = curator.release(
        "hazard_contrasts",
        mu,
        **scale.public(),
        family=family,
        gamma=point[:-1],
        sigma=sigma,
        edges=contrasts.edges,
        contrasts=contrasts.steps,
    )
    found, noise, events = release.values[0], release.sds[0], release.n * scale.fraction
    sampling = np.sqrt(_MIXED * events * contrasts.square / placement.problem.units)
    law = _clearest(found / events, sampling / events, noise / events)
    chance = _DOUBTFUL / 2 / len(found)
    usual = -float(special.ndtri(chance))
    # noise of pure epsilon has the tail of Laplace's
    noisy = usual if release.law == "gaussian" else -math.log(2 * chance) / math.sqrt(2)
    stands_out = bool(np.any(np.abs(found) > np.hypot(usual * sampling, noisy * noise)))
    beyond = np.maximum(found**2 - _USUAL**2 * (sampling**2 + noise**2), 0.0)
    typical = expected(family, fraction)
    doubt = math.sqrt(float(beyond.sum())) / events
    return _Contrasted(law, stands_out, doubt, typical.residual_mean + typical.offset)


def _clearest(found: Array, sampling: Array, noise: Array) -> Quantity:
    """The contrast that stands out most."""
    errors = np.hypot(sampling, noise)
    j = int(np.argmax(np.abs(found) / errors))
    return Quantity(float(found[j]), float(errors[j]), float(noise[j]))


def _biases(scale: RowScale, sigma: float, pivot: float, known: bool) -> Array:
    """What another law may do to the estimates if all events are in doubt and the cut is 1, as a covariance.

    The location is that of the events, whose residuals lie about `pivot`: the intercept moves with log sigma,
    unless that is `known`. Slopes turn about the middle of the rows, and take the intercept with them.
    """
    by_spread = np.zeros(len(scale.scale) + 2)
    if not known:
        by_spread[[0, -1]] = -sigma * scale.y_scale * pivot * _LOG_SIGMA_BIAS, _LOG_SIGMA_BIAS
    others = np.append(_LOCATION_BIAS, np.full(len(scale.scale), _SLOPE_BIAS))
    moved = to_user(scale.center, scale.scale, True, scale.y_scale) * (sigma * others)
    return np.asarray(np.outer(by_spread, by_spread) + scipy.linalg.block_diag(moved @ moved.T, 0.0))


class _Contrasts(NamedTuple):
    """Zones by their upper ends, a step function in each row, and its mean square over the events."""

    edges: Array
    steps: Array
    square: Array


@functools.lru_cache(maxsize=64)
def _contrasts(family: Family, fraction: float, known: bool = False) -> _Contrasts:
    """What is curved, and what is skewed, but no shift or spread of the residuals of events, to first order.

    Where sigma is `known`, what is steep, and what is curved, but no shift. Events are those of rows watched
    to the hazard by which `fraction` have failed.
    """
    shares = even_shares(_POINTS)
    offset = expected(family, fraction).offset
    law = EventLaw.of(family, family.quantile(shares * fraction), np.ones(_POINTS), offset)
    zone = np.searchsorted(_ENDS, shares)
    within = zone == np.arange(len(_ENDS))[:, None]
    moved = within @ np.column_stack([law.slope, 1 + law.rho * law.slope])[:, : 1 if known else 2]
    free = np.linalg.svd(moved.T)[2][moved.shape[1] :]
    place = np.arange(len(_ENDS)) - (len(_ENDS) - 1) / 2
    first, second = (free.T @ (free @ place**power) for power in ((1, 2) if known else (2, 3)))
    second -= first * (first @ second) / (first @ first)
    steps = np.array([each / np.abs(each).max() for each in (first, second)])
    edges = -np.log1p(-fraction * np.array(_ENDS))
    return _Contrasts(edges, steps, steps**2 @ within.mean(axis=1))

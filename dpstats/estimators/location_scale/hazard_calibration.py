"""Does the error law hold? Failures seen against expected, by zones of cumulative hazard.

See docs/theory/survival.md#check-of-the-law.
"""

import functools
import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.linalg

from dpstats.curator import Curator
from dpstats.estimators.apart import exceeded
from dpstats.estimators.engine.finish import to_user
from dpstats.estimators.location_scale.bounds import Bounding, Choice
from dpstats.estimators.location_scale.estimate import SurvivalEstimate
from dpstats.estimators.location_scale.event_expectations import MOST_SEEN, expected
from dpstats.estimators.location_scale.event_law import EventLaw
from dpstats.estimators.location_scale.placement import Placement
from dpstats.estimators.location_scale.problem import sigma_of
from dpstats.families import Family
from dpstats.families.quantiles import even_shares
from dpstats.moments import Quantity

# where zones end: shares of the events of rows that are all watched to one hazard
_ENDS = (0.05, 0.3, 0.7, 1.0)
_POINTS = 2000
# chance that any contrast stands out where the law holds
_DOUBTFUL = 2e-3
# variance of a contrast against that of rows watched to one hazard: others leave at any, mostly a low one
_MIXED = 1.5
# Sds of a contrast that are no news, and from which bounds are chosen by it: where it is noise, wider ones
# make intervals longer; and bias of slopes in sigmas, for an sd of the covariate, over that of log sigma
_USUAL, _CLEAR, _SLOPE_BIAS = 1.5, 2.5, 0.33
_LENGTH = 2.0  # mean squares, to which rows are shortened where contrasts go along them


class Contrasted(NamedTuple):
    """What contrasts say of the law.

    Attributes
    ----------
    law : Quantity
        The one that stands out most, as a share of all failures.
    stands_out : bool
        Whether any is more than sampling and noise explain.
    doubt : float
        What is more than usual of means over all rows, as a share of the failures.
    spreads : array, shape (k, j)
        Changes of log sigma along whitened rows, where they are clearly more than noise, as slopes.
    clear : float
        What is clearly more than noise of all, as a share of the failures in doubt.
    pivot : float
        Residual of a typical failure.
    """

    law: Quantity
    stands_out: bool
    doubt: float
    spreads: np.ndarray
    clear: float
    pivot: float


def contrasted(  # noqa: PLR0913 - of strata, one more
    curator: Curator,
    mu: float,
    placement: Placement,
    point: np.ndarray,
    sigma: float | np.ndarray,
    steep: bool = False,
    ways: np.ndarray | None = None,
    off: float = 0.0,
) -> Contrasted:
    """Release contrasts between zones at a point (gamma, log sigma), with this sigma, or those of strata.

    No error of intercept and log sigma moves them, or hardly: what is left of them is sampling, noise, or
    another law. `steep` where sigma is known, so that another one is to move them; but not where noise in the
    slopes spreads residuals, as it does by signs and where a coefficient is not found. Zones are laid out by
    what an average row collects at the point. With `ways`, whose rows times x~ have the square 1 in the mean,
    what goes along with them is released, too. A line that is `off`, in variances of rows in sigmas, spreads
    residuals, and unevenly: what that may do to contrasts is no news of the law. Bounds are wider for it.
    """
    family, scale, k = placement.problem.family, placement.scale, len(point) - 1
    fraction = min(1 - math.exp(-placement.expectations(point).hazard), MOST_SEEN)
    contrasts = _contrasts(family, fraction, steep and placement.problem.known_scale)
    steps, square, along = contrasts.steps, contrasts.square, {}
    tilted, length = _contrasts(family, fraction, True), math.sqrt(_LENGTH * k)
    uneven = off * tilted.by_line[0]  # as far as it goes along rows, all of it; else what is of second order
    by_line = off * (contrasts.by_line + uneven)
    if ways is not None and len(ways):
        along = dict(whitening=ways, radius=length)
        steps = np.vstack([steps, tilted.steps[0]])
        square = np.append(square, np.full(len(ways), tilted.square[0] / length**2))
        by_line = np.append(by_line, np.full(len(ways), uneven / length))
    release = curator.release(
        "hazard_contrasts",
        mu,
        **scale.public(),
        family=family,
        gamma=point[:-1],
        sigma=sigma,
        edges=contrasts.edges,
        contrasts=steps,
        **along,
    )
    found, noise, events = release.values[0], release.sds[0], release.n * scale.fraction
    sampling = np.sqrt(_MIXED * events * square / placement.problem.units)
    errors = np.hypot(sampling, noise)
    whole = np.hypot(errors, events * by_line)
    j = np.argmax(np.abs(found) / whole)  # the one that stands out most
    law = Quantity(*(float(each[j] / events) for each in (found, whole, noise)))
    chance = _DOUBTFUL / 2 / len(found)
    far, noisy = (exceeded(law, chance) for law in ("gaussian", release.law))
    stands_out = bool(np.any(np.abs(found) > events * by_line + np.hypot(far * sampling, noisy * noise)))
    usual, clear = (
        np.sqrt(np.maximum(found**2 - (sds * errors) ** 2, 0.0)) / events for sds in (_USUAL, _CLEAR)
    )
    sizes, typical = clear[2:] * length / tilted.by_spread, expected(family, fraction)
    spreads = np.zeros((k, 0)) if ways is None else ways.T * sizes
    moved = _SLOPE_BIAS * sizes.max(initial=0.0)
    doubt, surely = (float(np.hypot(np.linalg.norm(each[:2]), moved)) for each in (usual, clear))
    return Contrasted(law, stands_out, doubt, spreads, surely, typical.residual_mean + typical.offset)


def doubted(
    result: SurvivalEstimate,
    found: Contrasted,
    bounding: Bounding[Placement],
    choice: Choice,
    point: np.ndarray,
    onto: np.ndarray | None = None,
) -> SurvivalEstimate:
    """A fit under the caution "law" if failures come at other times than the family says.

    What is more than usual widens intervals, with the caution and without it, by what bounds may make of it.
    Of strata, `onto` makes what is estimated of changes of the point.
    """
    bias = _biases(bounding.placement, sigma_of(point), found) * bounding.off(choice, point) ** 2
    bias, told = bias if onto is None else onto @ bias @ onto.T, ("law",) * found.stands_out
    return replace(result, law=found.law).doubted(bias, *told)


def _biases(placement: Placement, sigma: float, found: Contrasted) -> np.ndarray:
    """What another law may do to the estimates where bounds let all of it through, as a covariance.

    The location is that of the events, whose residuals lie about a pivot: the intercept moves with log sigma,
    unless that is known. Slopes turn about the middle of the rows, and take the intercept with them.
    """
    scale, k = placement.scale, len(placement.scale.scale) + 1
    by_spread = np.zeros(k + 1)
    if not placement.problem.known_scale:
        by_spread[[0, -1]] = -sigma * scale.y_scale * found.pivot * found.doubt, found.doubt
    way = to_user(scale.center, scale.scale, True, scale.y_scale) * sigma
    others = found.doubt * np.append(1.0, np.full(k - 1, _SLOPE_BIAS))
    moved = np.hstack([way * others, _SLOPE_BIAS * way @ found.spreads])
    return np.asarray(np.outer(by_spread, by_spread) + scipy.linalg.block_diag(moved @ moved.T, 0.0))


class _Contrasts(NamedTuple):
    """Zones by their upper ends, a step function in each row, and its mean square over the events.

    And what an event adds to the first, in size, as log sigma moves by 1, and to each as a line that is off
    adds 1 to the variance of its residual.
    """

    edges: np.ndarray
    steps: np.ndarray
    square: np.ndarray
    by_spread: float
    by_line: np.ndarray


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
    by_spread = abs(float(steps[0][zone] @ (1 + law.rho * law.slope))) / _POINTS
    # half the second derivative of the hazard of a mixture of shifts, over the hazard
    mixed = law.slope**2 + np.gradient(law.slope, law.z) - 2 * law.slope * family.hazard(law.z)
    by_line = np.abs(steps @ (within @ mixed)) / _POINTS / 2
    return _Contrasts(edges, steps, steps**2 @ within.mean(axis=1), by_spread, by_line)

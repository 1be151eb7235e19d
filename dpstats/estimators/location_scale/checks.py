"""Does the error law hold? Failures are seen against expected, by zones of cumulative hazard.

See docs/theory/survival.md#check-of-the-law.
"""

import functools
import math
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
import scipy
from scipy import special

from dpstats._codes import LAW
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

# where zones end: shares of the events of rows that are all watched to one hazard; and smaller ones, of which
# each lies in one of these
_ENDS = (0.05, 0.3, 0.7, 1.0)
_SMALL = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
# cumulative hazards from which rows are late, and in full, as one in a thousand is; and what such a row
# adds, about as much as rows differ by in the other contrasts
_LATE, _BEYOND = (3.0, 7.0), 2.0
_POINTS = 2000
# chance that any contrast stands out where the law holds
_DOUBTFUL = 2e-3
# variance of a contrast against that of rows watched to one hazard: others leave at any, mostly a low one
_MIXED = 1.5
# Sds of a contrast that are no news, and from which bounds are chosen by it: where it is noise, wider ones
# make intervals longer; and bias of slopes in sigmas, for an sd of the covariate, over that of log sigma
_USUAL, _CLEAR, _SLOPE_BIAS = 1.5, 2.5, 0.33
_LENGTH = 0.5  # mean squares, to which rows are shortened where contrasts go along them


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

    def beside(self, along: Self) -> Self:
        """With what was found before along whitened rows."""
        law = max(self.law, along.law, key=lambda each: abs(each.value) / each.se)
        doubt, clear = math.hypot(self.doubt, along.doubt), math.hypot(self.clear, along.clear)
        stands_out = self.stands_out or along.stands_out
        return self._replace(law=law, stands_out=stands_out, doubt=doubt, clear=clear, spreads=along.spreads)


class Question(NamedTuple):
    """What is asked of the law, where a fit has led.

    Attributes
    ----------
    ways : array, shape (j, k), optional
        Rows whose products with x~ have the square 1 in the mean: what goes along with them is released, too.
    off : float
        By how much the line is off, in variances of rows in sigmas: that spreads residuals, and unevenly, and
        what it may do to contrasts is no news of the law. Bounds are wider for it.
    steep : bool
        Whether another sigma than a known one is to move contrasts: not where noise in the slopes spreads
        residuals, as it does by signs and where a coefficient is not found.
    general : int
        Contrasts of all rows: three, or two under pure epsilon, where each adds to the noise of all and late
        lives count in what is curved, or none.
    """

    ways: np.ndarray | None = None
    off: float = 0.0
    steep: bool = False
    general: int = 3


_OF_ALL = Question()


def contrasted(
    curator: Curator,
    mu: float,
    placement: Placement,
    point: np.ndarray,
    sigma: float | np.ndarray,
    question: Question = _OF_ALL,
) -> Contrasted:
    """Release contrasts between zones at a point (gamma, log sigma), with this sigma, or those of strata.

    No error of intercept and log sigma moves them, or hardly: what is left of them is sampling, noise, or
    another law. Zones are laid out by what an average row collects at the point.
    """
    family, scale, (_, off, steep, general) = placement.problem.family, placement.scale, question
    ways = np.zeros((0, len(point) - 1)) if question.ways is None else question.ways
    fraction = min(1 - math.exp(-placement.expectations(point).hazard), MOST_SEEN)
    used = _asked(family, fraction, steep and placement.problem.known_scale, len(ways), off, general)
    public = dict(scale.public(), family=family, gamma=point[:-1], sigma=sigma, edges=used.edges)
    if len(ways):
        public |= dict(whitening=ways, radius=_shortened(len(ways))[0])
    release = curator.release("hazard_contrasts", mu, **public, contrasts=used.steps)
    found, noise, events = release.values[0], release.sds[0], release.n * scale.fraction
    sampling = np.sqrt(_MIXED * events * used.square / placement.problem.units)
    errors, by_line = np.hypot(sampling, noise), events * used.by_line
    whole = np.hypot(errors, by_line)
    j = np.argmax(np.abs(found) / whole)  # the one that stands out most
    share = _BEYOND * events if j in range(2, general) else events
    law = Quantity(*(float(each[j] / share) for each in (found, whole, noise)))
    far, noisy = (exceeded(law, _DOUBTFUL / 2 / len(found)) for law in ("gaussian", release.law))
    stands_out = bool(np.any(np.abs(found) > by_line + np.hypot(far * sampling, noisy * noise)))
    # the more directions, the farther one of them lies by chance
    limits = np.append(
        np.full(general, _CLEAR), np.sqrt(_CLEAR**2 + 2 * np.log(np.full(len(ways), len(ways))))
    )
    news = np.full(len(found), _USUAL)
    news[2:general] = _CLEAR  # where the law holds, what is late is hardly more than noise
    usual, clear = (
        np.sqrt(np.maximum(found**2 - (sds * errors) ** 2, 0.0)) / events for sds in (news, limits)
    )
    sizes, typical = clear[general:] / used.by_spread, expected(family, fraction)
    moved = _SLOPE_BIAS * sizes.max(initial=0.0)
    doubt, surely = (float(np.hypot(np.linalg.norm(each[:general]), moved)) for each in (usual, clear))
    return Contrasted(law, stands_out, doubt, ways.T * sizes, surely, typical.residual_mean + typical.offset)


def law_checked(
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
    bias, told = bias if onto is None else onto @ bias @ onto.T, (LAW,) * found.stands_out
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

    @classmethod
    def of(cls, law: EventLaw, zone: np.ndarray, edges: np.ndarray, steps: np.ndarray) -> Self:
        """Of events that lie evenly in these zones."""
        within = steps[:, zone]
        # half the second derivative of the hazard of a mixture of shifts, over the hazard
        mixed = law.slope**2 + np.gradient(law.slope, law.z) - 2 * law.slope * law.family.hazard(law.z)
        square, by_spread = within**2 @ law.weights, within[0] @ (law.weights * (1 + law.rho * law.slope))
        return cls(edges, steps, square, abs(float(by_spread)), np.abs(within @ (law.weights * mixed)) / 2)


@functools.lru_cache(maxsize=64)
def _events(family: Family, fraction: float) -> tuple[EventLaw, np.ndarray, np.ndarray]:
    """Those of rows watched to the hazard by which `fraction` fail, the small zone of each, and edges.

    And late ones, of rows that leave at an even rate instead, as those would that are all watched as long.
    """
    shares = even_shares(_POINTS)
    late = _LATE[0] + np.ptp(_LATE) * shares
    hazards = np.append(-np.log1p(-fraction * shares), late)
    weights = np.append(np.ones(_POINTS), np.ptp(_LATE) / fraction * np.exp(-late / fraction))
    z = family.quantile(-np.expm1(-hazards))
    edges = np.append(-np.log1p(-fraction * np.array(_SMALL)), _LATE)
    law = EventLaw.of(family, z, weights, expected(family, fraction).offset)
    return law, np.searchsorted(edges, hazards), edges


@functools.lru_cache(maxsize=64)
def _contrasts(family: Family, fraction: float, known: bool = False, own: bool = True) -> _Contrasts:
    """What is curved, what is skewed and what is late, but no shift or spread of events, to first order.

    Where sigma is `known`, what is steep, what is curved and what is late, but no shift. Where what is late
    has no number of its `own`, it is added to what is curved.
    """
    law, small, edges = _events(family, fraction)
    # the large zone of each small one; none of that between these and what is late
    large = np.concatenate([np.searchsorted(_ENDS, _SMALL), [-1, len(_ENDS)]])
    within = large[small] == np.arange(len(_ENDS) + 1)[:, None]
    moved = within @ (law.weights * [law.slope, 1 + law.rho * law.slope][: 1 if known else 2]).T
    free = np.linalg.svd(moved[:-1].T)[2][moved.shape[1] :]
    place = np.arange(len(_ENDS)) - (len(_ENDS) - 1) / 2
    first, second = (free.T @ (free @ place**power) for power in ((1, 2) if known else (2, 3)))
    second -= first * (first @ second) / (first @ first)
    late = np.append(np.linalg.lstsq(moved[:-1].T, -moved[-1])[0], 1.0)
    steps = np.zeros((3, len(_ENDS) + 2))  # the last of zones without a place in any
    steps[:2, :-2] = [each / np.abs(each).max() for each in (first, second)]
    steps[2, :-1] = _BEYOND / np.ptp(_LATE) * late
    if not own:
        steps[int(known)] += steps[2]
        steps = steps[:2]
    return _Contrasts.of(law, small, edges, steps[:, large])


@functools.lru_cache(maxsize=64)
def _tilted(family: Family, fraction: float) -> _Contrasts:
    """Of all contrasts of which no row has more than 1, the one that a spread moves most, and no shift."""
    law, zone, edges = _events(family, fraction)
    m = len(_SMALL)  # nothing of what is late
    within = (zone == np.arange(m)[:, None]) * law.weights
    stays = np.tril(np.tile(np.diff(edges[:m], prepend=0.0), (m, 1)))
    # rows that leave at an edge, and that fail on either side of it
    most = np.vstack([stays, np.eye(m) - stays, np.eye(m) - np.vstack([np.zeros(m), stays[:-1]])])
    held, ends = np.vstack([most, within @ law.slope]), np.append(np.ones(len(most)), 0.0)
    # without whole numbers, of which there are none, this is a linear programme in half the time of `linprog`
    found = scipy.optimize.milp(
        -(within @ (1 + law.rho * law.slope)), constraints=(held, -ends, ends), bounds=(-np.inf, np.inf)
    )
    return _Contrasts.of(law, zone, edges, np.pad(found.x, (0, len(_LATE)))[None])


def _asked(family: Family, fraction: float, known: bool, along: int, off: float, general: int) -> _Contrasts:
    """The `general` contrasts, and one along so many numbers of whitened rows; what is expected of all."""
    contrasts, tilted = _contrasts(family, fraction, known, general > 2), _tilted(family, fraction)
    # what is uneven of a line that is off is of second order where it goes along no row
    uneven = off * _contrasts(family, fraction, True).by_line[0]
    once, twice = _shortened(along)[1:] if along else (1.0, 1.0)
    return _Contrasts(
        contrasts.edges,
        np.vstack([contrasts.steps[:general], tilted.steps[:along]]),
        np.append(contrasts.square[:general], np.repeat(tilted.square * twice, along)),
        once * tilted.by_spread,
        off * np.append((contrasts.by_line + uneven)[:general], np.repeat(tilted.by_line * once, along)),
    )


@functools.lru_cache(maxsize=64)
def _shortened(k: int) -> tuple[float, float, float]:
    """Radius to which rows of k whitened numbers are shortened, and what is left in a mean, over the radius.

    Of the square of a number, one of its two factors shortened, and both; of normal rows.
    """
    radius, lengths = math.sqrt(_LENGTH * k), np.sqrt(special.chdtri(k, even_shares(_POINTS)))
    short = np.minimum(lengths / radius, 1.0)
    return radius, float(short @ lengths) / _POINTS / k, float(short @ short) / _POINTS / k

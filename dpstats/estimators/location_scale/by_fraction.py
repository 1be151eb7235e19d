"""What a family leads one to expect of the events: public functions of the event fraction f.

They start the iteration, centre the log sigma score and weigh the choice of bounds. None of them has to be
right: a wrong one costs efficiency, and the releases correct it. Those of a family whose h1* is not bounded,
as the normal's, are exact where all rows are alike and are watched for the same time, so that the events are
the first fraction f of its law.
See docs/theory/survival.md#choice-of-bounds.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from dpstats.families import Family

Array = np.ndarray

# Size of the bias assumed at distance 0 of the floor, in sds of one event, falling as exp(-distance): the
# slopes of a noise-free log-normal fit of rotterdam move by this within a factor of two.
_FLOOR_BIAS = 0.016
# distance of the floor from the mean of the events' z, in their sds
_FLOORS = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
_FIRST = _FLOORS.index(1.5)  # for the first steps
# event fraction at which the information on log sigma is taken for what it is at most others
_USUAL_FRACTION = 0.6
# Residuals of all rows, for means over a law whose failures are all seen: its density is below 1e-17 beyond.
_ALL = np.linspace(-40.0, 160.0, 4001)


class Floor(NamedTuple):
    """Where h1* may be frozen, and what that costs.

    Attributes
    ----------
    z : float
        Minus infinity freezes nothing that matters.
    lost : float
        Share of the information on the location.
    size : float
        Slope of the location score, per event, over the root of the whole information.
    bias : float
        Distance that early failures of another law may move a coefficient, in sds of one event.
    """

    z: float
    lost: float = 0.0
    size: float = 1.0
    bias: float = 0.0


def floors_below(family: Family, mean: float, sd: float, z: Array, weights: Array) -> tuple[Floor, ...]:
    """Candidates for events at `z` with these probabilities, of this mean and sd."""
    return (*(_floor(family, mean - v * sd, v, z, weights) for v in _FLOORS), Floor(-math.inf))


def _floor(family: Family, floor: float, distance: float, z: Array, weights: Array) -> Floor:
    h1, frozen = (family.log_hazard_slope(np.maximum(z, low)) for low in (-np.inf, floor))
    share, slope, square = (float(weights @ x) for x in (h1**2, h1 * frozen, frozen**2))
    lost = 1 - slope**2 / (square * share)
    return Floor(floor, lost, slope / math.sqrt(share), _FLOOR_BIAS * math.exp(-distance))


def first_of(floors: tuple[Floor, ...]) -> float:
    """That of the first steps."""
    return floors[min(_FIRST, len(floors) - 1)].z


class Expected(ABC):
    """Expectations at one event fraction.

    Parameters
    ----------
    family : Family
    fraction : float
        f, above 0.

    Attributes
    ----------
    offset : float
        What centres the log sigma score of the events: E[event h1* (1 + (z - m) h1*)] = 0 at m = mean of
        the events' z + offset.
    location_share : float
        E[h1*^2] of an event, nothing cut.
    residual_mean, residual_square : float
        Mean and variance of the events' z.
    largest_share : float
        Bound of what releases may make of `location_share`.
    slope : float
        A typical h1*: hazards change by exp(slope d) when the location moves by d sigma.
    floors : tuple of Floor
        Candidates, the tightest first.
    """

    offset: float
    location_share: float
    residual_mean: float
    residual_square: float
    largest_share: float = 1.0
    slope: float = 1.0
    floors: tuple[Floor, ...] = (Floor(-math.inf),)

    def __init__(self, family: Family, fraction: float) -> None:
        self.family, self.fraction = family, fraction
        self._centre()

    @property
    def first_floor(self) -> float:
        """For the first steps."""
        return first_of(self.floors)

    @abstractmethod
    def _centre(self) -> None: ...

    @abstractmethod
    def log_sigma_information(self, spread: float) -> float:
        """E[event (1 + (z - m) h1*)^2] of an event whose residuals have this variance."""

    def log_sigma_square(self, spread: float, share: float) -> float:
        """The same, with E[h1*^2] as it was released."""
        return share * spread

    def spread(self, square: float, share: float) -> float:
        """The variance of residuals for which E[event (1 + (z - m) h1*)^2] is `square`."""
        return square / share

    def upper(self, width: float, short: float) -> float:
        """Upper limit of z - m + offset; events leave a short tail where few rows live long enough."""
        if self.family.proportional:
            return short  # few live long
        return self.fraction * width + (1 - self.fraction) * short

    @abstractmethod
    def start(self, line: Array, variance: float) -> tuple[Array, float]:
        """Location coefficients and sigma from the events' line and the variance about it.

        Covariates and response are in sds of the events, about their mean. Without censoring that line is
        the regression; with much of it, the events say little of the location, and the intercept comes from
        the event fraction (a later step finds it).
        """


class _Exponential(Expected):
    """Where h1* is bounded, rare events follow an exponential law in z, whatever the censoring.

    Their offset and E[h1*^2] are 1. Between them and the law of all rows both are taken to go straight.
    """

    def _centre(self) -> None:
        f, family = self.fraction, self.family
        offset, share = _of_all(family)
        self.offset, self.location_share = 1 - (1 - offset) * f, 1 - (1 - share) * f
        self._usual_share = 1 - (1 - share) * _USUAL_FRACTION
        self._per_sd = f / family.sd + 1 - f
        self.residual_square = self._per_sd**-2

    @functools.cached_property
    def residual_mean(self) -> float:  # type: ignore[override]
        failed = min(self.fraction, 0.999) * (np.arange(400) + 0.5) / 400
        return float(np.mean(self.family.quantile(failed)))

    def log_sigma_information(self, spread: float) -> float:
        return float(np.clip(self._usual_share * spread, 0.6, 4.0))

    def start(self, line: Array, variance: float) -> tuple[Array, float]:
        f = self.fraction
        sigma = math.sqrt(variance) * self._per_sd
        gamma = f * line
        if f > 0.9:
            gamma[0] = line[0] - self.family.mean * sigma
        else:
            unexplained = max(1 - float(line @ line), 0.2)
            censored = sigma * (-math.log(f) + min(0.5 * unexplained / sigma**2, 2.0))
            gamma[0] = f * line[0] + (1 - f) * censored
        return gamma, sigma


@functools.lru_cache(maxsize=32)
def _of_all(family: Family) -> tuple[float, float]:
    """Offset and E[h1*^2] where every row fails."""
    density = np.exp(family.log_hazard(_ALL)) * family.sf(_ALL)
    density = density / density.sum()
    h1 = family.log_hazard_slope(_ALL)
    share = float(density @ h1**2)
    return float(density @ (h1 + _ALL * h1**2)) / share - float(density @ _ALL), share


class _Truncated(Expected):
    """Where h1* is not bounded: events are the first fraction f of the law."""

    def _centre(self) -> None:
        family = self.family
        end = float(family.quantile(min(self.fraction, 1 - 1e-9)))
        nodes, weights = np.polynomial.legendre.leggauss(200)
        reach = max(6 * family.sd, (end - family.mean) / 2 + 3 * family.sd)
        z = end + reach * (nodes - 1)  # 12 sds below the end, or 6 below the mean
        weights = weights * family.hazard(z) * family.sf(z)
        weights = weights / weights.sum()
        h1 = family.log_hazard_slope(z)
        self.residual_mean = float(weights @ z)
        self._sd = math.sqrt(float(weights @ (z - self.residual_mean) ** 2))
        self.residual_square = self._sd**2
        share = float(weights @ h1**2)
        pivot = float(weights @ (h1 + z * h1**2)) / share
        self._log_sigma = float(weights @ (1 + (z - pivot) * h1) ** 2)
        self.slope, self.largest_share = math.sqrt(share), 1.5 * share
        self.floors = floors_below(family, self.residual_mean, self._sd, z, weights)
        self.offset, self.location_share = pivot - self.residual_mean, share

    def log_sigma_information(self, spread: float) -> float:
        return self._log_sigma

    def log_sigma_square(self, spread: float, share: float) -> float:
        return self._log_sigma

    def spread(self, square: float, share: float) -> float:
        return self.residual_square * square / self._log_sigma

    def start(self, line: Array, variance: float) -> tuple[Array, float]:
        # Least squares on a sample truncated by its response, undone: exact where all is normal (Goldberger
        # 1981, Journal of Econometrics 15, 357-366). All slopes shrink by one factor.
        square = self.residual_square
        seen = min(max(1 - variance, 0.0), 0.98)
        explained = seen / (square + seen * (1 - square))
        gamma = line * (1 - explained * (1 - square)) / square
        gamma[0] = line[0] - self.residual_mean / self._sd * (1 - explained)
        return gamma, math.sqrt(1 - explained) / self._sd


@functools.lru_cache(maxsize=8)
def expected(family: Family, fraction: float) -> Expected:
    """What to expect of a family's events.

    Parameters
    ----------
    family : Family
    fraction : float
        Released event fraction.
    """
    return (_Exponential if family.bounded else _Truncated)(family, fraction)

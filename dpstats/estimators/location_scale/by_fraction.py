"""What a family leads one to expect of the events: public functions of the event fraction f.

They start the iteration, centre the log sigma score and weigh the choice of bounds. None of them has to be
right: a wrong one costs efficiency, and the releases correct it. Those of the normal are exact where all rows
are alike and are watched for the same time, so that the events are a normal truncated at Phi^-1(f).
See docs/theory/survival.md#choice-of-bounds.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
import scipy
from scipy import special

from dpstats.families import LOGISTIC, NORMAL, SEV, Family

Array = np.ndarray

# Size of the bias assumed at distance 0 of the floor, in sds of one event, falling as exp(-distance): the
# slopes of a noise-free log-normal fit of rotterdam move by this within a factor of two.
_FLOOR_BIAS = 0.016
# distance of the floor from the mean of the events' z, in their sds
_FLOORS = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
_FIRST = _FLOORS.index(1.5)  # for the first steps


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


def floors_below(mean: float, sd: float, z: Array, weights: Array) -> tuple[Floor, ...]:
    """Candidates for the normal's events, at `z` with these probabilities, of this mean and sd."""
    return (*(_floor(mean - v * sd, v, z, weights) for v in _FLOORS), Floor(-math.inf))


def _floor(floor: float, distance: float, z: Array, weights: Array) -> Floor:
    h1, frozen = (NORMAL.log_hazard_slope(np.maximum(z, low)) for low in (-np.inf, floor))
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
    fraction : float
        f, above 0.

    Attributes
    ----------
    offset : float
        What centres the log sigma score of the events: E[event h1* (1 + (z - m) h1*)] = 0 at m = mean of
        the events' z + offset.
    location_share : float
        E[h1*^2] of an event, nothing cut.
    share_is_known : bool
        Whether that is the same for all events.
    largest_share : float
        Bound of what releases may make of it.
    slope : float
        A typical h1*: hazards change by exp(slope d) when the location moves by d sigma.
    cut_bias, cut_loss, cut_size : float
        Rates at which the bias and the loss of information fall with c, and the size of the loss.
    needs_floor : bool
        Whether h1* is not bounded.
    exact_start : bool
        Whether `start` leaves no bias in the slopes where its assumptions hold.
    floors : tuple of Floor
        Candidates, the tightest first.
    """

    share_is_known: bool = False
    largest_share: float = 1.0
    slope: float = 1.0
    cut_bias: float
    cut_loss: float
    cut_size: float = 0.8
    needs_floor: bool = False
    exact_start: bool = False
    floors: tuple[Floor, ...] = (Floor(-math.inf),)

    def __init__(self, fraction: float) -> None:
        self.fraction = fraction
        self.offset, self.location_share = self._centre()

    @property
    def first_floor(self) -> float:
        """For the first steps."""
        return first_of(self.floors)

    @abstractmethod
    def _centre(self) -> tuple[float, float]: ...

    @property
    @abstractmethod
    def residual_mean(self) -> float:
        """Mean of the events' z."""

    @property
    @abstractmethod
    def residual_square(self) -> float:
        """Variance of the events' z."""

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
        return self.fraction * width + (1 - self.fraction) * short

    @abstractmethod
    def start(self, line: Array, variance: float) -> tuple[Array, float]:
        """Location coefficients and sigma from the events' line and the variance about it.

        Covariates and response are in sds of the events, about their mean. Without censoring that line is
        the regression; with much of it, the events say little of the location, and the intercept comes from
        the event fraction (a later step finds it).
        """


class _Memoryless(Expected):
    """SEV and logistic: rare events follow an exponential law in z, whatever the censoring."""

    family: ClassVar[Family]
    per_sd: float
    mean: float

    @functools.cached_property
    def residual_mean(self) -> float:
        failed = min(self.fraction, 0.999) * (np.arange(400) + 0.5) / 400
        return float(np.mean(self.family.quantile(failed)))

    @property
    def residual_square(self) -> float:
        return (self.fraction * self.per_sd + 1 - self.fraction) ** -2

    def start(self, line: Array, variance: float) -> tuple[Array, float]:
        f = self.fraction
        sigma = math.sqrt(variance) * (f * self.per_sd + 1 - f)
        gamma = f * line
        if f > 0.9:
            gamma[0] = line[0] - self.mean * sigma
        else:
            unexplained = max(1 - float(line @ line), 0.2)
            censored = sigma * (-math.log(f) + min(0.5 * unexplained / sigma**2, 2.0))
            gamma[0] = f * line[0] + (1 - f) * censored
        return gamma, sigma


class _SEV(_Memoryless):
    family = SEV
    share_is_known, cut_bias, cut_loss = True, 1.6, 1.0
    per_sd, mean = math.sqrt(6) / math.pi, -float(np.euler_gamma)

    def _centre(self) -> tuple[float, float]:
        return 1.0, 1.0

    def log_sigma_information(self, spread: float) -> float:
        return float(np.clip(spread, 0.6, 4.0))

    def upper(self, width: float, short: float) -> float:
        return short


class _Logistic(_Memoryless):
    family = LOGISTIC
    cut_bias, cut_loss = 0.8, 2.0
    per_sd, mean = math.sqrt(3) / math.pi, 0.0

    def _centre(self) -> tuple[float, float]:
        return 1.0 - self.fraction, 1.0 - 2 * self.fraction / 3

    def log_sigma_information(self, spread: float) -> float:
        return float(np.clip(0.6 * spread, 0.6, 4.0))


class _Normal(Expected):
    cut_bias, cut_loss, cut_size = 1.2, 0.95, 0.3
    needs_floor = exact_start = True

    def _centre(self) -> tuple[float, float]:
        end = float(special.ndtri(min(self.fraction, 1 - 1e-9)))
        nodes, weights = np.polynomial.legendre.leggauss(200)
        z = end + 6.0 * (nodes - 1)  # 12 sds below the end
        weights = weights * scipy.stats.norm.pdf(z)
        weights = weights / weights.sum()
        h1 = NORMAL.log_hazard_slope(z)
        self._mean = float(weights @ z)
        self._sd = math.sqrt(float(weights @ (z - self._mean) ** 2))
        share = float(weights @ h1**2)
        pivot = float(weights @ (h1 + z * h1**2)) / share
        self._log_sigma = float(weights @ (1 + (z - pivot) * h1) ** 2)
        self.slope, self.largest_share = math.sqrt(share), 1.5 * share
        self.floors = floors_below(self._mean, self._sd, z, weights)
        return pivot - self._mean, share

    @property
    def residual_mean(self) -> float:
        return self._mean

    @property
    def residual_square(self) -> float:
        return self._sd**2

    def log_sigma_information(self, spread: float) -> float:
        return self._log_sigma

    def log_sigma_square(self, spread: float, share: float) -> float:
        return self._log_sigma

    def spread(self, square: float, share: float) -> float:
        return self._sd**2 * square / self._log_sigma

    def start(self, line: Array, variance: float) -> tuple[Array, float]:
        # Least squares on a sample truncated by its response, undone: exact where all is normal (Goldberger
        # 1981, Journal of Econometrics 15, 357-366). All slopes shrink by one factor.
        square = self._sd**2
        seen = min(max(1 - variance, 0.0), 0.98)
        explained = seen / (square + seen * (1 - square))
        gamma = line * (1 - explained * (1 - square)) / square
        gamma[0] = line[0] - self._mean / self._sd * (1 - explained)
        return gamma, math.sqrt(1 - explained) / self._sd


KINDS: dict[str, type[Expected]] = {"sev": _SEV, "logistic": _Logistic, "gaussian": _Normal}
"""By the name of the family."""


@functools.lru_cache(maxsize=8)
def expected(family: Family, fraction: float) -> Expected:
    """What to expect of a family's events.

    Parameters
    ----------
    family : Family
    fraction : float
        Released event fraction.
    """
    return KINDS[family.name](fraction)

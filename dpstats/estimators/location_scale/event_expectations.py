"""What a family leads one to expect of the events, by their fraction f, or of late entries by their line.

Expectations start the iteration, centre the log sigma score and weigh the choice of bounds. None of them has
to be right: a wrong one costs efficiency, and the releases correct it. Those of a family whose h1* is not
bounded, as the normal's, are exact where all rows are alike and are watched for the same time, so that the
events are the first fraction f of its law.
See docs/theory/survival.md#choice-of-bounds.
"""

import functools
import math
from abc import ABC, abstractmethod

import numpy as np

from dpstats.estimators.location_scale.event_law import (
    FIRST,
    LEAST_KEPT,
    LEAST_SAID,
    WHOLE,
    EventLaw,
    Floor,
    residuals,
    watched,
)
from dpstats.families import Family

# of events: the information on log sigma takes E[h1*^2] to be what it is there, whatever their fraction is
_USUAL_FRACTION = 0.6
MOST_SEEN, _MOST_HAZARD = 0.95, 20.0  # of the rows, for the hazard that one collects; and of that
LEAST_SPREAD = 0.05  # of events about their line, with delayed entry
_MOST_INFORMATION = 4.0  # the most said of log sigma by an event


class Expectations(ABC):
    """What events are expected to say, at some values of the parameters.

    Attributes
    ----------
    offset : float
        What centres the log sigma score of the events: E[event h1* (1 + (z - m) h1*)] = 0 at m = mean of
        the events' z + offset.
    floors : tuple of Floor
        Candidates, the tightest first.
    share : float
        Typical h1*^2 of an event, nothing cut.
    hazard : float
        What an average row collects until it leaves.
    """

    offset: float
    floors: tuple[Floor, ...]
    share: float
    hazard: float

    @abstractmethod
    def kept(self, c: float) -> float:
        """Share of the information on the location that a cut at c leaves."""

    @abstractmethod
    def log_sigma_information(self, spread: float) -> float:
        """E[event (1 + (z - m) h1*)^2] of an event whose residuals have this variance."""

    @property
    def first_floor(self) -> float:
        """For the first steps."""
        return self.floors[min(FIRST, len(self.floors) - 1)].z


class Delayed(Expectations):
    """Of rows that enter late: along the line through the events.

    Parameters
    ----------
    law : EventLaw
    usual : ExpectedEvents
        By the event fraction.
    """

    def __init__(self, law: EventLaw, usual: "ExpectedEvents") -> None:
        self._law, self._kept = law, dict[float, float]()
        self.offset, self.floors = law.offset, law.floors
        self._left = law.left(law.cut(WHOLE))
        self.share = max(self._left.location, LEAST_SAID)
        hazard = law.mean(np.exp(law.family.log_cumulative_hazard(law.z)))
        self.hazard = max(usual.hazard, min(hazard, _MOST_HAZARD))

    def kept(self, c: float) -> float:
        if c not in self._kept:
            left = self._law.left(self._law.cut(c)).location
            self._kept[c] = max(left / self._law.share, LEAST_KEPT)
        return self._kept[c]

    def log_sigma_information(self, spread: float) -> float:
        return float(np.clip(self._left.log_sigma, LEAST_SPREAD, _MOST_INFORMATION))


@functools.lru_cache(maxsize=64)  # a choice of bounds asks for the same many times
def delayed(law: EventLaw, usual: "ExpectedEvents") -> Delayed:
    """What rows that enter late lead one to expect."""
    return Delayed(law, usual)


class ExpectedEvents(Expectations):
    """By the event fraction.

    Parameters
    ----------
    family : Family
    fraction : float
        f, above 0.

    Attributes
    ----------
    location_share : float
        E[h1*^2] of an event, nothing cut.
    residual_mean, residual_square : float
        Mean and variance of the events' z.
    largest_share : float
        Bound of what releases may make of `location_share`.
    slope : float
        A typical h1*: hazards change by exp(slope d) when the location moves by d sigma.
    """

    location_share: float
    residual_mean: float
    residual_square: float
    largest_share: float = 1.0
    slope: float = 1.0
    floors: tuple[Floor, ...] = (Floor(-math.inf),)

    def __init__(self, family: Family, fraction: float) -> None:
        self.family, self.fraction = family, fraction
        self._centre()
        self.share = self.slope**2
        self.hazard = -math.log(1 - min(fraction, MOST_SEEN))

    @abstractmethod
    def _centre(self) -> None: ...

    def watched(self, fraction: float | None = None) -> EventLaw:
        """Events of rows watched to the hazard by which a fraction has failed, by default f."""
        return watched(self.family, self.fraction if fraction is None else fraction, self.offset)

    def kept(self, c: float) -> float:
        cut = self.family.cut
        return 1 - cut.size * self.fraction * math.exp(-cut.loss * c)

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
    def start(self, line: np.ndarray, variance: float) -> tuple[np.ndarray, float]:
        """Location coefficients and sigma from the events' line and the variance about it.

        Covariates and response are in sds of the events, about their mean. Without censoring that line is
        the regression; with much of it, the events say little of the location, and the intercept comes from
        the event fraction (a later step finds it).
        """


class _Exponential(ExpectedEvents):
    """Where h1* is bounded, rare events follow an exponential law in z, whatever the censoring.

    Their offset and E[h1*^2] are 1. Between them and the law of all rows both are taken to go straight.
    """

    def _centre(self) -> None:
        f, family = self.fraction, self.family
        whole = EventLaw.whole(family)
        self.offset, self.location_share = 1 - (1 - whole.offset) * f, 1 - (1 - whole.share) * f
        self._usual_share = 1 - (1 - whole.share) * _USUAL_FRACTION
        self._per_sd = f / family.sd + 1 - f
        self.residual_square = self._per_sd**-2
        self.residual_mean = float(np.mean(residuals(family, f)))

    def log_sigma_information(self, spread: float) -> float:
        return float(np.clip(self._usual_share * spread, 0.6, _MOST_INFORMATION))

    def start(self, line: np.ndarray, variance: float) -> tuple[np.ndarray, float]:
        f = self.fraction
        sigma = math.sqrt(variance) * self._per_sd
        gamma = f * line
        if f > 0.9:
            gamma[0] = line[0] - self.family.mean * sigma
        else:
            censored = sigma * (-math.log(f) + min(0.5 / sigma**2, 2.0))
            gamma[0] = f * line[0] + (1 - f) * censored
        return gamma, sigma


class _Truncated(ExpectedEvents):
    """Where h1* is not bounded: events are the first fraction f of the law."""

    def _centre(self) -> None:
        law = EventLaw.truncated(self.family, self.fraction)
        self.offset, self.location_share = law.offset, law.share
        self._log_sigma = law.mean((1 + law.rho * law.slope) ** 2)
        self.residual_mean, self.residual_square = law.centre, law.square
        self.slope, self.largest_share = math.sqrt(law.share), 1.5 * law.share
        self.floors = law.floors

    def log_sigma_information(self, spread: float) -> float:
        return self._log_sigma

    def log_sigma_square(self, spread: float, share: float) -> float:
        return self._log_sigma

    def spread(self, square: float, share: float) -> float:
        return self.residual_square * square / self._log_sigma

    def start(self, line: np.ndarray, variance: float) -> tuple[np.ndarray, float]:
        # Least squares on a sample truncated by its response, undone: exact where all is normal (Goldberger
        # 1981, Journal of Econometrics 15, 357-366). All slopes shrink by one factor.
        square = self.residual_square
        seen = min(max(1 - variance, 0.0), 0.98)
        explained = seen / (square + seen * (1 - square))
        gamma = line * (1 - explained * (1 - square)) / square
        gamma[0] = line[0] - self.residual_mean / math.sqrt(square) * (1 - explained)
        return gamma, math.sqrt(1 - explained) / math.sqrt(square)


@functools.lru_cache(maxsize=8)
def expected(family: Family, fraction: float) -> ExpectedEvents:
    """What to expect of a family's events.

    Parameters
    ----------
    family : Family
    fraction : float
        Released event fraction.
    """
    return (_Exponential if family.bounded else _Truncated)(family, fraction)

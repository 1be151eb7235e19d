"""One law of events: at which residuals failures happen, as nodes and weights.

Whatever a fit expects of its events is a mean over such a law: what centres log sigma, the information on
location and log sigma, what a cut or a floor leaves of it, the hazard they had collected.

Without delayed entry the fraction f of rows that fail says where events are: they are the first f of the
family's law where all rows are watched to the same hazard. With it (left truncation) f is the fraction of
those that lived until their entry, whatever hazard they had collected by then. Then the released line through
the events says where they are: on average at that of the line, with the spread of the line over the rows and
of the events about it. None of it has to be right: a wrong law costs efficiency, and the releases correct it.
See docs/theory/survival.md#choice-of-bounds.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpstats.estimators.engine.bounds import ladder
from dpstats.families import Family
from dpstats.families.martingale import taper
from dpstats.families.quantiles import MOST_FAILED, even_shares
from dpstats.families.tapers import Taper

# noise can put the line anywhere; beyond these there is nothing to be said
_FARTHEST, _HIGHEST_OFFSET, LEAST_KEPT = 50.0, 20.0, 0.01
# below minus this, a normal row collects a hazard of 1e-19: freezing h1* there changes no compensator
UNSEEN = 9.0
LEAST_SAID = 0.02  # square of a score of an event, however late rows enter
# Size of the bias assumed at distance 0 of the floor, and at a cut of 0, in sds of one event, falling as
# exp(-distance): the slopes of a noise-free log-normal fit of rotterdam move by this within a factor of two.
FLOOR_BIAS = 0.016
# distance of the floor from the mean of the events' z, in their sds
_FLOORS = ladder(1.0, 8.0)
FIRST = 2  # of these, for the first steps
POINTS = 400  # residuals, or of an integral over them
WHOLE = 64.0  # a cut that takes away hardly anything
# Residuals of all rows, for means over a law whose failures are all seen: its density is below 1e-17 beyond.
_ALL = np.linspace(-40.0, 160.0, 4001)
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)


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


class EventMeans(NamedTuple):
    """Means, over events, of products of the scores' integrands: E[g h1*^2], E[g h1* h2*], E[g h2*^2]."""

    location: float
    cross: float
    log_sigma: float

    @property
    def matrix(self) -> np.ndarray:
        """Of location and log sigma, shape (2, 2)."""
        return np.array([[self.location, self.cross], [self.cross, self.log_sigma]])

    @property
    def correlation(self) -> float:
        return self.cross / math.sqrt(self.location * self.log_sigma)


@dataclass(frozen=True, eq=False)  # one is equal to itself alone, so that what is asked of it is kept
class EventLaw:
    """Residuals of events with their probabilities.

    Attributes
    ----------
    family : Family
    z, weights : array, shape (m,)
    about : array, shape (m,)
        Residuals about the row's line.
    place : array, shape (m,)
        Where the row's line is among those of the events, in sds.
    centred : float, optional
        The `offset` if it is not that of these residuals.
    """

    family: Family
    z: np.ndarray
    weights: np.ndarray
    about: np.ndarray
    place: np.ndarray
    centred: float | None = None

    @classmethod
    def of(cls, family: Family, z: np.ndarray, weights: np.ndarray, centred: float | None = None) -> EventLaw:
        """Of rows that are all alike; the weights need not add up to 1."""
        weights = weights / weights.sum()
        return cls(family, z, weights, z - weights @ z, np.zeros_like(z), centred)

    @classmethod
    def truncated(cls, family: Family, fraction: float) -> EventLaw:
        """Of rows watched to the hazard by which this fraction has failed, exact but for rounding."""
        end = float(family.quantile(min(fraction, 1 - 1e-9)))
        nodes, weights = np.polynomial.legendre.leggauss(200)
        # from 12 sds below the end, or 6 below the mean
        reach = max(6 * family.sd, (end - family.mean) / 2 + 3 * family.sd)
        z = end + reach * (nodes - 1)
        return cls.of(family, z, weights * family.hazard(z) * family.sf(z))

    @classmethod
    @functools.lru_cache(maxsize=32)
    def whole(cls, family: Family) -> EventLaw:
        """Of rows that all fail."""
        return cls.of(family, _ALL, family.hazard(_ALL) * family.sf(_ALL))

    @classmethod
    @functools.lru_cache(maxsize=64)
    def along(cls, family: Family, mean: float, between: float, within: float) -> EventLaw:
        """Normal: residuals of this mean, and sds of the line's and of those about the line."""
        place, about = np.repeat(_NODES, len(_NODES)), within * np.tile(_NODES, len(_NODES))
        z = np.clip(mean + between * place + about, -_FARTHEST, _FARTHEST)
        return cls(family, z, np.outer(_WEIGHTS, _WEIGHTS).ravel() / (2 * math.pi), about, place)

    def mean(self, values: np.ndarray) -> float:
        return float(self.weights @ values)

    @functools.cached_property
    def centre(self) -> float:
        """Mean of the residuals."""
        return self.mean(self.z)

    @functools.cached_property
    def square(self) -> float:
        """Their variance."""
        return self.mean((self.z - self.centre) ** 2)

    @functools.cached_property
    def slope(self) -> np.ndarray:
        """h1*, nothing cut and no floor."""
        return self.family.log_hazard_slope(self.z)

    @functools.cached_property
    def share(self) -> float:
        """E[h1*^2], nothing cut."""
        return self.mean(self.slope**2)

    @functools.cached_property
    def offset(self) -> float:
        """The pivot's distance above the line for which E[h1* (1 + rho h1*)] = 0; 1 where h1* = 1."""
        if self.centred is not None:
            return self.centred
        offset = self.mean(self.slope * (1 + self.about * self.slope)) / self.share
        return float(np.clip(offset, -_HIGHEST_OFFSET, _HIGHEST_OFFSET))

    @property
    def rho(self) -> np.ndarray:
        """Residuals about the pivot, without limits."""
        return self.about - self.offset

    def cut(self, c: float, floor: float = -math.inf) -> Taper:
        """The taper of scores cut at c; a floor below all these residuals freezes nothing."""
        return taper(self.family, c, max(floor, -_FARTHEST))

    def left(self, cut: Taper) -> EventMeans:
        """What a cut leaves of the information."""
        g, slope, _ = cut.at(self.z)
        log_sigma = 1 + self.rho * slope
        return EventMeans(*map(self.mean, (g * slope**2, g * slope * log_sigma, g * log_sigma**2)))

    def slope_and_variance(self, kept: np.ndarray, whole: np.ndarray) -> tuple[float, float]:
        """Of a score whose integrand is `kept` of `whole`, over the whole information."""
        size = self.mean(whole**2)
        return self.mean(kept * whole) / size, self.mean(kept**2) / size

    def by_place(self, values: np.ndarray, degree: int) -> np.ndarray:
        """E[values t^j] for j up to `degree`, t the place of a row's line."""
        return np.vander(self.place, degree + 1, increasing=True).T @ (self.weights * values)

    @functools.cached_property
    def floors(self) -> tuple[Floor, ...]:
        """Where h1* may be frozen, if it has no bound; the tightest first."""
        if self.family.bounded:
            return (Floor(-math.inf, size=math.sqrt(self.share)),)
        return (*(self._floor(distance) for distance in _FLOORS), Floor(-math.inf))

    def _floor(self, distance: float) -> Floor:
        z = self.centre - distance * math.sqrt(self.square)
        frozen = self.family.log_hazard_slope(np.maximum(self.z, z))
        slope, square = self.mean(self.slope * frozen), self.mean(frozen**2)
        lost = 1 - slope**2 / (square * self.share)
        return Floor(z, lost, slope / math.sqrt(self.share), FLOOR_BIAS * math.exp(-distance))


@functools.lru_cache(maxsize=64)
def watched(family: Family, fraction: float, centred: float) -> EventLaw:
    """Events of rows watched to the hazard by which this fraction has failed, each as likely as the other."""
    return EventLaw.of(family, residuals(family, fraction), np.ones(POINTS), centred)


def residuals(family: Family, fraction: float) -> np.ndarray:
    """Residuals of events of rows watched to that hazard, at even shares."""
    return family.quantile(min(fraction, MOST_FAILED) * even_shares(POINTS))

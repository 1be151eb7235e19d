"""Where the events lie among the residuals, at any value of the parameters.

See docs/theory/survival.md#late-entry.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.location_scale.event_expectations import (
    LEAST_SPREAD,
    Expectations,
    ExpectedEvents,
    delayed,
    expected,
)
from dpstats.estimators.location_scale.event_law import EventLaw
from dpstats.estimators.location_scale.events import Events, EventSquares
from dpstats.estimators.location_scale.problem import SurvivalProblem, sigma_of
from dpstats.estimators.row_scale import RowScale
from dpstats.moments.solution import not_noise


@dataclass(frozen=True)
class Placement(ABC):
    """The events of a problem among the residuals.

    Attributes
    ----------
    problem : SurvivalProblem
    scale : RowScale
    events : EventSquares
    """

    problem: SurvivalProblem
    scale: RowScale
    events: EventSquares

    @abstractmethod
    def line(self, point: np.ndarray) -> np.ndarray:
        """Of the residuals of the events, in sigmas: line'x~."""

    @abstractmethod
    def residual_square(self, point: np.ndarray) -> float:
        """Mean square about the pivot, per event."""

    def believed(self, point: np.ndarray) -> float:
        """How much of the line's slopes is not noise, from 0 to 1."""
        return 1.0

    @property
    def expected(self) -> ExpectedEvents:
        """What the event fraction leads one to expect."""
        return expected(self.problem.family, self.events.fraction)

    def expectations(self, point: np.ndarray) -> Expectations:
        """The same at these values: with delayed entry, they say at which hazards events happen."""
        return delayed(self.law(point), self.expected) if self.problem.delayed else self.expected

    def law(self, point: np.ndarray) -> EventLaw:
        """At which residuals the events happen, by their line."""
        mean, between = self.over_events(self.line(point))
        return EventLaw.along(self.problem.family, mean, between, self.residual_sd(point))

    def pivot(self, point: np.ndarray) -> np.ndarray:
        """m = pivot'x~: residuals of the line through the events, less the offset.

        Slopes are shrunk by twice what noise makes of none: a line that is noise would have log sigma and the
        location pull at each other, and many steps would not settle it.
        """
        pivot = self.line(point)
        pivot[1:] *= self.believed(point)
        pivot[0] += self.expectations(point).offset
        return pivot

    def over_events(self, line: np.ndarray) -> tuple[float, float]:
        """Mean and sd of line'x~ over the events."""
        events = self.events
        mean = float(line @ events.floored[:, 0]) / events.fraction
        return mean, math.sqrt(max(float(line @ events.floored @ line) / events.fraction - mean**2, 0.0))

    def residual_sd(self, point: np.ndarray) -> float:
        """Root of the mean square about the pivot, in sigmas."""
        return math.sqrt(self.residual_square(point)) / sigma_of(point)

    def along(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean of the events' x~, and how it moves with each sd of the residual of their line."""
        events, line = self.events, self.line(point)
        mean, sd = self.over_events(line)
        centre = events.floored[:, 0] / events.fraction
        return centre, (events.floored @ line / events.fraction - mean * centre) / max(sd, 1e-9)

    def declared_residuals(self, point: np.ndarray) -> tuple[float, float]:
        """Range of rho that the declared bounds allow."""
        sigma = sigma_of(point)
        low, high = declared_range(point[:-1] + sigma * self.line(point), self.scale)
        offset, scale = self.expectations(point).offset, self.scale
        return (scale.lower[-1] - high) / sigma - offset, (scale.upper[-1] - low) / sigma - offset


@dataclass(frozen=True)
class PlacedByLine(Placement):
    """By the released line through the events."""

    events: Events

    def line(self, point: np.ndarray) -> np.ndarray:
        return np.asarray((self.events.line - point[:-1]) / sigma_of(point))

    def believed(self, point: np.ndarray) -> float:
        slopes = self.line(point)[1:]
        by_noise = len(slopes) * (self.events.slope_noise / sigma_of(point)) ** 2
        return not_noise(slopes @ slopes, 2 * by_noise)

    def residual_square(self, point: np.ndarray) -> float:
        """By the line, or by the family where the line may be all noise.

        Of rare events at least the larger part of their spread.
        """
        f = self.events.fraction
        least = LEAST_SPREAD if self.problem.delayed else max(0.05, 0.6 * (1 - f))
        square = float(np.clip(self.events.residual / f, least, 4.0))
        share = self.believed(point) if self.events.shrunk else 1.0
        return share * square + (1 - share) * sigma_of(point) ** 2 * self.expected.residual_square


@dataclass(frozen=True)
class PlacedByFamily(Placement):
    """Without a line through the events: they happen where the family has them."""

    @property
    def start(self) -> np.ndarray:
        """No covariate has an effect, and the residuals have the spread of the family's."""
        return np.append(np.zeros(len(self.events.floored)), -0.5 * math.log(self.expected.residual_square))

    def line(self, point: np.ndarray) -> np.ndarray:
        return np.append(self.expected.residual_mean, np.zeros(len(point) - 2))

    def residual_square(self, point: np.ndarray) -> float:
        return sigma_of(point) ** 2 * self.expected.residual_square


def declared_range(line: np.ndarray, scale: RowScale) -> tuple[float, float]:
    """Range of line'x~ over the declared box."""
    ends = np.stack([line[1:] * scale.lower[:-1], line[1:] * scale.upper[:-1]])
    return float(line[0] + ends.min(axis=0).sum()), float(line[0] + ends.max(axis=0).sum())

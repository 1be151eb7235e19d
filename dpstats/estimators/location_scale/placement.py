"""Where the events lie among the residuals, by the line through them, at any value of the parameters.

See docs/theory/survival.md#late-entry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.columns import RowScale
from dpstats.estimators.location_scale.event_expectations import Expected, expected
from dpstats.estimators.location_scale.event_law import EventLaw
from dpstats.estimators.location_scale.events import Events
from dpstats.estimators.location_scale.problem import Problem
from dpstats.estimators.matrices import not_noise

Array = np.ndarray

LEAST_SPREAD = 0.05  # of events about their line, with delayed entry


@dataclass(frozen=True)
class Placement:
    """The events of a problem, as they were released.

    Attributes
    ----------
    problem : Problem
    scale : RowScale
    events : Events
    """

    problem: Problem
    scale: RowScale
    events: Events

    @property
    def expected(self) -> Expected:
        return expected(self.problem.family, self.events.fraction)

    @property
    def offset(self) -> float:
        return self.expected.offset

    def residuals(self, gamma: Array, sigma: float) -> EventLaw:
        """At which residuals the events happen."""
        mean, between = self.over_events((self.events.line - gamma) / sigma)
        return EventLaw.along(self.problem.family, mean, between, self.residual_sd(gamma, sigma))

    def hazard(self, point: Array) -> float:
        """What an average row collects until it leaves, at (gamma, log sigma) `point`."""
        hazard = -math.log(1 - min(self.events.fraction, 0.95))
        if self.problem.delayed:
            hazard = max(hazard, self.residuals(point[:-1], math.exp(point[-1])).hazard)
        return hazard

    def centre(self, gamma: Array, sigma: float) -> float:
        """The offset at these values: with delayed entry, they say at which hazards events happen."""
        return self.residuals(gamma, sigma).offset if self.problem.delayed else self.offset

    def pivot(self, gamma: Array, sigma: float) -> Array:
        """m = pivot'x~: residuals of the line through the events, less the offset.

        Slopes are shrunk by twice what noise makes of none: a line that is noise would have log sigma and the
        location pull at each other, and many steps would not settle it.
        """
        pivot = (self.events.line - gamma) / sigma
        pivot[1:] *= self.believed(gamma, sigma)
        pivot[0] += self.centre(gamma, sigma)
        return pivot

    def believed(self, gamma: Array, sigma: float) -> float:
        """How much of the line's slopes is not noise, from 0 to 1."""
        slopes = ((self.events.line - gamma) / sigma)[1:]
        by_noise = len(slopes) * (self.events.slope_noise / sigma) ** 2
        return not_noise(slopes @ slopes, 2 * by_noise)

    def events_line(self, gamma: Array, sigma: float) -> Array:
        """Least squares through the events."""
        return self.events.line

    def over_events(self, line: Array) -> tuple[float, float]:
        """Mean and sd of line'x~ over the events."""
        events = self.events
        mean = float(line @ events.floored[:, 0]) / events.fraction
        return mean, math.sqrt(max(float(line @ events.floored @ line) / events.fraction - mean**2, 0.0))

    @property
    def line_square(self) -> float:
        """Mean square about the line, per event; with rare ones, at least the larger part of their spread."""
        f = self.events.fraction
        least = LEAST_SPREAD if self.problem.delayed else max(0.05, 0.6 * (1 - f))
        return float(np.clip(self.events.residual / f, least, 4.0))

    def residual_square(self, gamma: Array, sigma: float) -> float:
        """Mean square about the pivot, per event."""
        return self.line_square

    def residual_sd(self, gamma: Array, sigma: float) -> float:
        """Its root, in sigmas."""
        return math.sqrt(self.residual_square(gamma, sigma)) / sigma

    def along(self, gamma: Array, sigma: float) -> tuple[Array, Array]:
        """Mean of the events' x~, and how it moves with each sd of the residual of their line."""
        events, line = self.events, (self.events.line - gamma) / sigma
        mean, sd = self.over_events(line)
        centre = events.floored[:, 0] / events.fraction
        return centre, (events.floored @ line / events.fraction - mean * centre) / max(sd, 1e-9)

    def declared_residuals(self, gamma: Array, sigma: float) -> tuple[float, float]:
        """Range of rho that the declared bounds allow."""
        (low, high), scale = declared_range(self.events_line(gamma, sigma), self.scale), self.scale
        offset = self.centre(gamma, sigma)
        return (scale.lower[-1] - high) / sigma - offset, (scale.upper[-1] - low) / sigma - offset


def declared_range(line: Array, scale: RowScale) -> tuple[float, float]:
    """Range of line'x~ over the declared box."""
    ends = np.stack([line[1:] * scale.lower[:-1], line[1:] * scale.upper[:-1]])
    return float(line[0] + ends.min(axis=0).sum()), float(line[0] + ends.max(axis=0).sum())

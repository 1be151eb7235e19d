"""What the events of rows that enter late are expected to say.

Without delayed entry the event fraction f says how much hazard rows collect before they fail, and so what an
event says of location and log sigma. With it (left truncation) f is the fraction of those that lived until
their entry, whatever hazard they had collected by then. The released line through the events still says at
which residuals they happen: on average at that of the line, with the spread of the line over the rows and of
the events about it. Expectations over normal residuals of that mean and spread follow by quadrature, for any
family. See docs/theory/survival.md#late-entry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.location_scale.by_fraction import Floor, floors_below
from dpstats.families import Family
from dpstats.families.martingale import taper

Array = np.ndarray

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_JOINT = np.outer(_WEIGHTS, _WEIGHTS) / (2 * math.pi)
# noise can put the line anywhere; beyond these there is nothing to be said
_FARTHEST, _HIGHEST_CENTRE, _MOST_HAZARD, LEAST_KEPT = 50.0, 20.0, 20.0, 0.01
LEAST_SAID = 0.02  # square of a score of an event, however late rows enter


@dataclass(frozen=True)
class EventResiduals:
    """Where events happen: residuals of mean `mean`, and sds of the line's and of those about the line.

    Attributes
    ----------
    family : Family
    mean, between, within : float
    """

    family: Family
    mean: float
    between: float
    within: float

    @property
    def _about(self) -> Array:
        return self.within * _NODES[None, :]

    @property
    def _z(self) -> Array:
        z = self.mean + self.between * _NODES[:, None] + self._about
        return np.clip(z, -_FARTHEST, _FARTHEST)

    @property
    def _slope(self) -> Array:
        return self.family.log_hazard_slope(self._z)

    def _kept(self, c: float) -> Array:
        return _JOINT * taper(self.family, c, -_FARTHEST).g(self._z)  # the same for any floor

    @property
    def centre(self) -> float:
        """The pivot's distance above the line for which E[h1* (1 + rho h1*)] = 0; 1 where h1* = 1."""
        slope = self._slope
        centre = np.sum(_JOINT * slope * (1 + self._about * slope)) / np.sum(_JOINT * slope**2)
        return float(np.clip(centre, -_HIGHEST_CENTRE, _HIGHEST_CENTRE))

    @property
    def floors(self) -> tuple[Floor, ...]:
        """Where h1* may be frozen, if it has no bound."""
        if self.family.bounded:
            return (Floor(-math.inf, size=math.sqrt(float(np.sum(_JOINT * self._slope**2)))),)
        sd = math.hypot(self.between, self.within)
        return floors_below(self.family, self.mean, sd, self._z.ravel(), _JOINT.ravel())

    def location(self, c: float, floor: float = -math.inf) -> float:
        """E[g h1*^2] of an event, cut at cumulative hazard c, h1* frozen below the floor."""
        return float(self.location_moments(c, floor)[0])

    def location_moments(self, c: float, floor: float = -math.inf) -> Array:
        """E[g h1*^2 t^j] for j = 0, 1, 2, t the place of a row's line among those of the events, in sds."""
        frozen = self.family.log_hazard_slope(np.maximum(self._z, floor))
        return np.vander(_NODES, 3, increasing=True).T @ np.sum(self._kept(c) * frozen**2, axis=1)

    def cross_moments(self, c: float, floor: float = -math.inf) -> Array:
        """E[g h1* (1 + rho h1*) t^j] for j = 0, 1."""
        frozen = self.family.log_hazard_slope(np.maximum(self._z, floor))
        both = self._kept(c) * frozen * (1 + (self._about - self.centre) * frozen)
        return np.vander(_NODES, 2, increasing=True).T @ np.sum(both, axis=1)

    def log_sigma(self, c: float) -> float:
        """E[g (1 + rho h1*)^2] of an event, rho the residual about the pivot at that distance."""
        return float(np.sum(self._kept(c) * (1 + (self._about - self.centre) * self._slope) ** 2))

    def kept(self, c: float) -> float:
        """Share of the information on the location that the cut leaves."""
        return max(self.location(c) / float(np.sum(_JOINT * self._slope**2)), LEAST_KEPT)

    @property
    def hazard(self) -> float:
        """Mean cumulative hazard of the events."""
        hazard = np.exp(self.family.log_cumulative_hazard(self._z))
        return min(float(np.sum(_JOINT * hazard)), _MOST_HAZARD)

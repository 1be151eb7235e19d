"""Whitening of the covariates by the information about their coefficients.

See docs/theory/survival.md#releases-and-shares.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpstats.estimators.engine.step import LONGEST, capped
from dpstats.estimators.location_scale.events import Events
from dpstats.estimators.location_scale.problem import LOG_SIGMA_RANGE, sigma_of
from dpstats.estimators.matrices import symmetric_power
from dpstats.estimators.row_scale import RowScale
from dpstats.estimators.stretch import STRETCH, longest_square, shortened, unstretched, with_levels

# How far re-whitening may move away from the released event matrix, as eigenvalues of the change. No random
# design reaches either, but without them a fit of one row and little budget has a matrix that is not finite.
_LEAST, _MOST = 0.4, 9.0


@dataclass(frozen=True)
class Whitening:
    """W, symmetric, and the first W, from which it may not stray far.

    Attributes
    ----------
    matrix, first : array, shape (k, k)
    """

    matrix: np.ndarray
    first: np.ndarray

    @classmethod
    def of_events(cls, events: Events, scale: RowScale, square: float = 0.0) -> "Whitening":
        """(S / f)^(-1/2) of the event matrix.

        Rows of levels that it counts in full are no longer than the root of `square`, if that is more than
        is usual. Raising the moments of single columns of a category would hide what its levels share.
        """
        radius_square, rows = 1.5 * len(events.square), scale.typical(scale.levels)
        own = replace(scale, binary=scale.binary & np.isnan(scale.levels).all(axis=0))
        relative = unstretched(events.floored / events.fraction, math.sqrt(radius_square), own)
        least, in_full = STRETCH**2 * radius_square, np.sum(rows**2, axis=1) <= radius_square
        relative = shortened(relative, rows, np.where(in_full, max(square, least), least))
        matrix = symmetric_power(relative, -0.5)
        return cls(matrix, matrix)

    def improved(self, information: np.ndarray, radius: float, scale: RowScale) -> "Whitening":
        """W that also whitens `information`, given in today's whitened coordinates and per event."""
        back = np.linalg.inv(self.matrix)
        metric = np.linalg.inv(with_levels(back @ information @ back, radius**2, scale))
        undo = np.linalg.inv(self.first)
        values, vectors = np.linalg.eigh(undo @ metric @ undo)
        change = (vectors * np.clip(values, _LEAST, _MOST)) @ vectors.T
        return Whitening(symmetric_power(self.first @ change @ self.first, 0.5), self.first)

    def moved(
        self, point: np.ndarray, step: np.ndarray, pivot: np.ndarray, largest: float, damping: float = 1.0
    ) -> tuple[np.ndarray, bool]:
        """The point (gamma, log sigma) after a step, no longer than the caps, and whether one was binding.

        Log sigma moves by at most `largest`, and with the location of the events held; where it is known the
        step has none.
        """
        k = len(self.matrix)
        location, short = capped(step[:k], LONGEST)
        if len(step) == k:
            return np.append(
                point[:-1] + sigma_of(point) * (self.matrix @ (damping * location)), point[-1]
            ), short
        log_sigma = damping * float(np.clip(step[-1], -largest, largest))
        gamma = point[:-1] + sigma_of(point) * (self.matrix @ (damping * location) - pivot * log_sigma)
        point = np.append(gamma, float(np.clip(point[-1] + log_sigma, *LOG_SIGMA_RANGE)))
        return point, bool(short or abs(step[-1]) > largest)

    def longest_square(self, scale: RowScale) -> float:
        """Upper bound of |W x~|^2 over the declared box."""
        return longest_square(self.matrix, scale)

    def longest_level(self, scale: RowScale) -> float:
        """The largest |W x~|^2 of levels of categories, 0 without any."""
        return float(np.max(np.sum((scale.typical(scale.levels) @ self.matrix) ** 2, axis=1), initial=0.0))

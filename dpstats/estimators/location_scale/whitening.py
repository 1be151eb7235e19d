"""Whitening of the covariates by the information about their coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.location_scale.events import Events
from dpstats.estimators.matrices import symmetric_power
from dpstats.estimators.row_scale import STRETCH, RowScale, longest_square, shortened, unstretched

Array = np.ndarray

# how far re-whitening may move away from the released event matrix, as eigenvalues of the change
_LEAST, _MOST = 0.4, 9.0


@dataclass(frozen=True)
class Whitening:
    """W, symmetric, and the first W, from which it may not stray far.

    Attributes
    ----------
    matrix, first : array, shape (k, k)
    """

    matrix: Array
    first: Array

    @classmethod
    def of_events(cls, events: Events, scale: RowScale) -> Whitening:
        """(S / f)^(-1/2) of the event matrix."""
        k = len(events.square)
        relative = unstretched(events.floored / events.fraction, math.sqrt(1.5 * k), scale)
        return cls._by(relative)

    @classmethod
    def of_levels(cls, events: Events, scale: RowScale, levels: Array, square: float) -> Whitening:
        """The same where rows may have these levels, none of them longer than the root of `square`."""
        square = max(square, STRETCH**2 * 1.5 * len(events.square))
        relative = unstretched(events.floored / events.fraction, math.sqrt(square) / STRETCH, scale)
        return cls._by(shortened(relative, scale.typical(levels), square))

    @classmethod
    def _by(cls, relative: Array) -> Whitening:
        matrix = symmetric_power(relative, -0.5)
        return cls(matrix, matrix)

    def improved(self, information: Array, radius: float, scale: RowScale) -> Whitening:
        """W that also whitens `information`, given in today's whitened coordinates and per event."""
        back = np.linalg.inv(self.matrix)
        metric = np.linalg.inv(unstretched(back @ information @ back, radius, scale))
        undo = np.linalg.inv(self.first)
        values, vectors = np.linalg.eigh(undo @ metric @ undo)
        change = (vectors * np.clip(values, _LEAST, _MOST)) @ vectors.T
        return Whitening(symmetric_power(self.first @ change @ self.first, 0.5), self.first)

    def longest_square(self, scale: RowScale) -> float:
        """Upper bound of |W x~|^2 over the declared box."""
        return longest_square(self.matrix, scale)

    def longest_level(self, scale: RowScale, levels: Array) -> float:
        """The largest |W x~|^2 of these levels, 0 without any."""
        return float(np.max(np.sum((scale.typical(levels) @ self.matrix) ** 2, axis=1), initial=0.0))

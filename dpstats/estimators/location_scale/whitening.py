"""Whitening of the covariates by the information about their coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.location_scale.events import Events
from dpstats.estimators.matrices import symmetric_power
from dpstats.estimators.row_scale import RowScale, longest_square, unstretched

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

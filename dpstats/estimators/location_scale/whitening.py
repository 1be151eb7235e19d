"""Whitening of the covariates by the information about their coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.location_scale.events import Events
from dpstats.estimators.location_scale.problem import STRETCH, EventScale

Array = np.ndarray

# how far re-whitening may move away from the released event matrix, as eigenvalues of the change
_LEAST, _MOST = 0.4, 9.0


def symmetric_power(matrix: Array, power: float) -> Array:
    """A power of a symmetric positive definite matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return (vectors * values**power) @ vectors.T


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
    def of_events(cls, events: Events, scale: EventScale) -> Whitening:
        """(S / f)^(-1/2) of the event matrix."""
        k = len(events.square)
        relative = _limited(events.floored / events.fraction, math.sqrt(1.5 * k), scale)
        matrix = symmetric_power(relative, -0.5)
        return cls(matrix, matrix)

    def improved(self, information: Array, radius: float, scale: EventScale) -> Whitening:
        """W that also whitens `information`, given in today's whitened coordinates and per event."""
        back = np.linalg.inv(self.matrix)
        metric = np.linalg.inv(_limited(back @ information @ back, radius, scale))
        undo = np.linalg.inv(self.first)
        values, vectors = np.linalg.eigh(undo @ metric @ undo)
        change = (vectors * np.clip(values, _LEAST, _MOST)) @ vectors.T
        return Whitening(symmetric_power(self.first @ change @ self.first, 0.5), self.first)

    def longest_square(self, scale: EventScale) -> float:
        """Upper bound of |W x~|^2 over the declared box."""
        lower = np.append(1.0, scale.lower[:-1])
        upper = np.append(1.0, scale.upper[:-1])
        center, half = (lower + upper) / 2, (upper - lower) / 2
        return float(np.sum((np.abs(self.matrix @ center) + np.abs(self.matrix) @ half) ** 2))


def _limited(moments: Array, radius: float, scale: EventScale) -> Array:
    farthest = np.maximum(-scale.lower[:-1], scale.upper[:-1])
    least = np.append(0.0, scale.at_ends * (farthest / (STRETCH * radius)) ** 2)
    return moments + np.diag(np.maximum(0.0, least - np.diag(moments)))

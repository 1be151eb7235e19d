"""What is known of the information matrix: releases of it, and its structure.

Coordinates are (W-whitened location, log sigma), per row. In them the matrix is nearly diagonal: the location
block is the event matrix, the log sigma score is uncorrelated with the rest by the choice of pivot, and its
square is the events' residual square. That structure is free; each step also releases the matrix itself.
Both are combined entry by entry, weighted by their precision.
See docs/theory/survival.md#steps-and-covariance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dpstats.estimators.engine.information import FORGET, Information
from dpstats.estimators.location_scale.events import Events
from dpstats.estimators.location_scale.whitening import Whitening
from dpstats.estimators.matrices import SMALLEST

Array = np.ndarray

# sd of the structure's error, per event: correlations that bounding brings in, the truth of the model
_STRUCTURE = 0.1
_LOG_SIGMA_STRUCTURE = 0.25
# a direction is not seen at all where its eigenvalue is below the first multiple of its error, which it is
# raised to, and in full from the second on
SEEN = (1.6, 2.8)


@dataclass
class Accumulator:
    """Running precision-weighted mean of the released matrices.

    Attributes
    ----------
    mean, precision : array, shape (k + 1, k + 1)
    """

    mean: Array = field(default_factory=lambda: np.zeros((0, 0)))
    precision: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def add(self, matrix: Array, sd: Array, forget: bool) -> None:
        """Add one release with the given sds of its entries."""
        weight = sd**-2
        if not self.mean.size:
            self.mean, self.precision = matrix, weight
            return
        past = self.precision * (FORGET if forget else 1.0)
        self.mean = (self.mean * past + matrix * weight) / (past + weight)
        self.precision = past + weight

    def turn(self, change: Array) -> None:
        """Move the location coordinates by `change`."""
        full, k = np.eye(len(self.mean)), len(change)
        full[:k, :k] = change
        self.mean = full @ self.mean @ full.T

    def estimate(
        self,
        events: Events,
        whitening: Whitening,
        log_sigma_square: float | None,
        location_share: float,
        structure_error: float = 1.0,
        beyond: Array | None = None,
    ) -> Information:
        """Combine with the structure and make it usable.

        Parameters
        ----------
        log_sigma_square : float
            Expected square of the log sigma score, per row; None where sigma is known.
        location_share : float
            Expected square of the location score of an event.
        structure_error : float
            Of the structure, against its usual size.
        beyond : array, shape (k + 1, k + 1), optional
            What the matrix is expected to have beyond it.
        """
        axes = np.linalg.eigh(whitening.matrix)[1]
        k = len(axes)
        unit = np.full(k, location_share * events.fraction)
        if log_sigma_square is not None:
            unit = np.append(unit, log_sigma_square)
        turn = np.eye(len(unit))
        turn[:k, :k] = axes
        structure = np.diag(unit)
        structure[:k, :k] = location_share * (
            axes.T @ whitening.matrix @ events.square @ whitening.matrix @ axes
        )
        if beyond is not None:
            structure += turn.T @ beyond @ turn
        size = np.clip(np.diag(structure), 0.05 * unit, None)
        noisy = np.sqrt(events.noise_ratio)[:, None] * (whitening.matrix @ axes)
        stretched = np.linalg.norm(noisy, axis=0)
        sd = self._structure_sd(events, stretched, size, location_share) * structure_error
        single = np.where(np.eye(len(unit)) > 0, 1.0, 1 / math.sqrt(2))
        released = self.precision / single**2
        total = released + (sd * single) ** -2.0
        share = released / total
        matrix = turn @ (share * (turn.T @ self.mean @ turn) + (1 - share) * structure) @ turn.T
        error = total**-0.5 / single
        return usable(matrix, error, turn, np.sqrt(unit))

    @staticmethod
    def _structure_sd(events: Events, stretch: Array, size: Array, location_share: float) -> Array:
        k = len(stretch)
        noise = events.noise * location_share * np.outer(stretch, stretch)
        sd = _STRUCTURE * np.sqrt(np.outer(size, size))
        sd[:k, :k] = np.hypot(noise, sd[:k, :k])
        if len(size) > k:
            sd[k, k] = _LOG_SIGMA_STRUCTURE * size[k]
        return sd


def usable(matrix: Array, error: Array, axes: Array, unit: Array) -> Information:
    """Raise eigenvalues that their own error could explain; `error` holds sds in the basis `axes`.

    Not those that are seen: what is raised is taken for better known than it is.
    """
    relative = matrix / np.outer(unit, unit)
    values, vectors = np.linalg.eigh((relative + relative.T) / 2)
    squares = (axes.T @ vectors) ** 2
    variances = (error / np.outer(unit, unit)) ** 2
    noise = np.sqrt(np.einsum("ij,ik,kj->j", squares, variances, squares))
    used = np.maximum(values, np.maximum(SEEN[0] * noise, SMALLEST))
    seen = np.clip((values / noise - SEEN[0]) / (SEEN[1] - SEEN[0]), 0.0, 1.0)
    return Information(values, vectors, used, noise, seen, unit)

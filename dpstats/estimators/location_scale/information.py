"""What is known of the information matrix: releases of it, and its structure.

Coordinates are (W-whitened location, log sigma), per row. In them the matrix is nearly diagonal: the location
block is the event matrix, the log sigma score is uncorrelated with the rest by the choice of pivot, and its
square is the events' residual square. That structure is free; each step also releases the matrix itself.
Both are combined entry by entry, weighted by their precision.
See docs/theory/survival.md#steps-and-covariance.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from dpstats.estimators.engine.information import FORGET, Accumulator, Information
from dpstats.estimators.known.level_shares import of_levels
from dpstats.estimators.known.structure import Left, Structure
from dpstats.estimators.location_scale.events import Events, Whitening
from dpstats.estimators.matrices import SMALLEST, beside, inverted
from dpstats.estimators.row_scale import RowScale

# takes vectors, in columns, to the variance of an error along them
NoiseAlong = Callable[[np.ndarray], np.ndarray]
# sd of the structure's error, per event: correlations that bounding brings in, the truth of the model
_STRUCTURE = 0.1
_LOG_SIGMA_STRUCTURE = 0.25
# a direction is not seen at all where its eigenvalue is below the first multiple of its error, which it is
# raised to, and in full from the second on
SEEN = (1.6, 2.8)


class KnownMatrix(NamedTuple):
    """What releases say of the matrix in today's coordinates.

    Attributes
    ----------
    mean : array, shape (m, m)
    axes : array, shape (m, m)
        Orthonormal directions in which entries have errors of their own.
    sds : array, shape (m, m)
        Of the entries in these axes, an error whose diagonal they are of; off it the root of a half of them.
    left : Left, optional
        What conditions on the location's block leave of its error.
    """

    mean: np.ndarray
    axes: np.ndarray
    sds: np.ndarray
    left: Left | None = None

    def mixed(
        self, expected: np.ndarray, sds: np.ndarray, unit: np.ndarray, noise: NoiseAlong | None = None
    ) -> Information:
        """With what is expected of the matrix, whose error has these sds, both in the axes; and `noise`."""
        single = np.where(np.eye(len(unit)) > 0, 1.0, 1 / math.sqrt(2))
        released, total = (self.sds * single) ** -2.0, (self.sds * single) ** -2.0 + (sds * single) ** -2.0
        share, turn = released / total, self.axes
        matrix = turn @ (share * (turn.T @ self.mean @ turn) + (1 - share) * expected) @ turn.T
        return floored(matrix, total**-0.5 / single, turn, unit, self.left, noise)

    def alone(self, unit: float) -> Information:
        """Without what is expected, of events the square of whose score is that of the unit."""
        return floored(self.mean, self.sds, self.axes, np.full(len(self.mean), unit), self.left)

    def levelled(self, whitening: np.ndarray, scale: RowScale) -> "KnownMatrix":
        """Without the noise that breaks what is public of levels; W whitens rows."""
        structure, way, k = Structure.of(scale.alike), whitening @ of_levels(scale), len(whitening)
        if structure is None:
            return self
        mean = self.mean.copy()
        mean[:k, :k] = structure.nearest(mean[:k, :k], way)
        return self._replace(mean=mean, left=Left(structure, way))


@dataclass
class ReleasedMatrices:
    """Releases of the matrix, the location in the coordinates of W, each log sigma in a unit of its own."""

    matrices: Accumulator = field(default_factory=Accumulator)

    def add(self, matrix: np.ndarray, sd: np.ndarray, whitening: np.ndarray, forget: bool) -> None:
        """Add one release with the given sds of its entries."""
        if forget:
            self.matrices.forget(FORGET)
        size, k = float(sd[0, 0]), len(whitening)
        unit = np.sqrt(np.diag(sd) / size)
        own = beside(whitening, 1 / unit[k:])
        self.matrices.add(matrix / np.outer(unit, unit), size, own)

    def known(self, whitening: np.ndarray, events: Events) -> KnownMatrix:
        """What they say where rows are whitened by W."""
        k, m = len(whitening), len(self.matrices.releases[0].matrix)
        own = beside(whitening, np.ones(m - k))
        axes = np.eye(m)
        axes[:k, :k] = self._axes(whitening, events)
        sds = self.matrices.sds(own, axes)
        return KnownMatrix(self.matrices.mean(own), axes, np.sqrt(np.outer(sds, sds)))

    def _axes(self, whitening: np.ndarray, events: Events) -> np.ndarray:
        """Along which the location is known best and worst, by all releases and the events' matrix."""
        k, back, releases = len(whitening), inverted(whitening), self.matrices.releases
        first = back @ inverted(events.way).T
        turns = np.array([seen.whitening[:k, :k] for seen in releases]) @ back
        roots = np.sqrt([seen.weight for seen in releases])[:, None, None]
        known = first[None] @ first.T / max(events.noise, 1e-300), roots * turns.swapaxes(1, 2) @ turns
        return np.asarray(np.linalg.eigh(np.concatenate(known).sum(axis=0))[1])


def estimated(
    known: KnownMatrix,
    events: Events,
    whitening: Whitening,
    log_sigma_square: float | None,
    location_share: float,
    pivot_error: float = 0.0,
    late: tuple[np.ndarray | float, float] = (0.0, 1.0),
) -> Information:
    """Combine releases with the structure and make the matrix usable.

    Parameters
    ----------
    log_sigma_square : float
        Expected square of the log sigma score, per row; None where sigma is known.
    location_share : float
        Expected square of the location score of an event.
    pivot_error : float
        sd of a slope of the pivot, in sigmas, where columns are not correlated.
    late : tuple of array, shape (k + 1, k + 1), and float
        What the matrix is expected to have beyond the structure, where rows enter late; and the error of the
        structure, against its usual size.
    """
    beyond, unsure = late
    k, turn = len(whitening.matrix), known.axes
    unit = np.full(k, location_share * events.fraction)
    if log_sigma_square is not None:
        unit = np.append(unit, log_sigma_square)
    axes = whitening.matrix @ turn[:k, :k]
    structure = np.diag(unit)
    structure[:k, :k] = location_share * (axes.T @ events.square @ axes)
    structure += turn.T @ np.broadcast_to(beyond, structure.shape) @ turn
    stretched = stretch(events, axes)
    least = 0.05 * unit
    # noise may have made small what whitening made 1
    least[:k] = np.clip(events.noise * location_share * stretched**2, least[:k], unit[:k])
    size = np.maximum(np.diag(structure), least)
    noise = None
    if events.left is not None:
        noise = partial(_noise_along, events, whitening.matrix, location_share)
    sds = unsure * structure_sd(events, stretched, size, location_share)
    # where columns are correlated the pivot errs along what is stretched, and the scores are correlated there
    sds[:k, k:] = np.hypot(sds[:k, k:], location_share * events.fraction * pivot_error * stretched[:, None])
    sds[k:, :k] = sds[:k, k:].T
    return known.mixed(structure, sds, np.sqrt(unit), noise)


def _noise_along(events: Events, whitening: np.ndarray, share: float, vectors: np.ndarray) -> np.ndarray:
    """Variance of what noise of the events' matrix adds along these vectors, in columns."""
    return share**2 * events.noise_along(whitening @ vectors[: len(whitening)])


def stretch(events: Events, axes: np.ndarray) -> np.ndarray:
    """By how much noise of the events' matrix is stretched along these axes: the root of that, shape (k,)."""
    return np.asarray(np.linalg.norm(events.way.T @ axes, axis=0))


def structure_sd(
    events: Events, stretched: np.ndarray, size: np.ndarray, location_share: float
) -> np.ndarray:
    """sds of what is expected of the matrix: by noise in the events' matrix, and beyond it.

    Parameters
    ----------
    events : Events
    stretched : array, shape (k,)
        As of :func:`stretch`, along the axes of the location.
    size : array, shape (m,)
        Diagonal of what is expected; that of log sigmas follows the location's.
    location_share : float
        As of :func:`estimated`.
    """
    k = len(stretched)
    noise = (events.left is None) * events.noise * location_share * np.outer(stretched, stretched)
    sd = _STRUCTURE * np.sqrt(np.outer(size, size))
    sd[:k, :k] = np.hypot(noise, sd[:k, :k])
    own = np.arange(k, len(size))
    sd[own, own] = _LOG_SIGMA_STRUCTURE * size[own]
    return sd


def floored(
    matrix: np.ndarray,
    error: np.ndarray,
    axes: np.ndarray,
    unit: np.ndarray,
    left: Left | None = None,
    noise_along: NoiseAlong | None = None,
) -> Information:
    """Raise eigenvalues that their own error could explain; `error` holds sds in the basis `axes`.

    Not those that are seen: what is raised is taken for better known than it is. Conditions on the location
    leave of its error along each eigenvector what they leave along that, if any: nothing of the difference of
    two levels may be left, and all of a level without a column.
    """
    relative = matrix / np.outer(unit, unit)
    values, vectors = np.linalg.eigh((relative + relative.T) / 2)
    squares = (axes.T @ vectors) ** 2
    variances = (error / np.outer(unit, unit)) ** 2
    whole = np.einsum("ij,ik,kj->j", squares, variances, squares)
    if left is not None:
        own, location = squares[: left.order], vectors[: left.order]
        off = 1 - left.along(location / np.maximum(np.linalg.norm(location, axis=0), SMALLEST))
        whole -= off * np.sum(own * (variances[: left.order, : left.order] @ own), axis=0)
    if noise_along is not None:
        whole += noise_along(vectors / unit[:, None])
    noise = np.sqrt(whole)
    used = np.maximum(values, np.maximum(SEEN[0] * noise, SMALLEST))
    seen = np.clip((values / noise - SEEN[0]) / (SEEN[1] - SEEN[0]), 0.0, 1.0)
    return Information(values, vectors, used, noise, seen, unit)

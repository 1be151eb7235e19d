"""What is known of the information of pieces and slopes, released step by step.

In coordinates where log hazards of pieces are divided by the root of their share of the events and covariates
are whitened, it is nearly the share of rows that fail, times 1. The block of the pieces is that: their shares
are known from counts. The block of the slopes is released, and so is what lies between the two: the means of
covariates where rows fail, which change slowly as time goes by. Of these a polynomial in the share of the
events that have happened is used, as far as it stands out from its noise. See docs/theory/coxph.md#steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dpstats.estimators.engine.information import FLOOR, FORGET, Information
from dpstats.estimators.matrices import not_noise
from dpstats.estimators.newton.information import Accumulator, usable
from dpstats.moments.solution import seen_share

Array = np.ndarray

_LITTLE = 1e-6  # length of the part of an eigenvector that is of slopes, below which there is none
_TERMS = 5  # of a polynomial of the fourth degree


@dataclass
class Known:
    """Releases of the matrix of v v', v = (unit vector of the piece, whitened covariates), per row."""

    slopes: Accumulator = field(default_factory=Accumulator)
    cross: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (J, d), of standardised columns
    count: float = 0.0  # of events that are seen, per row
    weight: float = 0.0

    def add(self, parts: Sequence[Array], sd: float, whitening: Array) -> None:
        """Add a release of the trace of pieces, (1,), the block between, (J, d), and that of slopes, (d, d).

        `sd` is of the noise of the first and of the diagonal of the last; other entries have half its square.
        """
        count, cross, slopes = float(parts[0][0]), parts[1] @ np.linalg.inv(whitening), parts[2]
        self.slopes.add(slopes, sd, whitening)
        new = sd**-2
        share = new / (new + self.weight)
        self.cross = cross if not self.weight else self.cross + share * (cross - self.cross)
        self.count += share * (count - self.count)
        self.weight += new

    def forget(self) -> None:
        """Trust what is there less."""
        self.slopes.forget(FORGET)
        self.weight *= FORGET

    @property
    def level(self) -> float:
        """Events that are seen, per row; no fewer than noise would hide."""
        return max(self.count, 2 / math.sqrt(self.weight))

    def of_slopes(self, whitening: Array) -> Information:
        """The block of the slopes."""
        return usable(self.slopes, whitening)

    def _between(self, shares: Array, stratum: Array, whitening: Array) -> Array:
        """The block of pieces and slopes, shape (J, d): each stratum has a polynomial of its own."""
        cross = self.cross / np.sqrt(shares)[:, None]
        blocks = np.split(np.arange(len(shares)), np.flatnonzero(np.diff(stratum)) + 1)
        return np.vstack([self._smooth(shares[own], cross[own], whitening) for own in blocks])

    def _smooth(self, shares: Array, cross: Array, whitening: Array) -> Array:
        """Rows of one stratum, in coordinates, shape (J, d)."""
        middle = (np.cumsum(shares) - shares / 2) / shares.sum()
        powers = np.vander(middle, min(_TERMS, len(shares))) * np.sqrt(shares)[:, None]
        axes = np.linalg.qr(powers)[0]
        cross = axes.T @ cross @ whitening
        noise = float(np.sum(axes**2 / shares[:, None])) / (2 * self.weight)
        by_noise = noise * float(np.sum(whitening**2))
        return np.asarray(axes @ cross * not_noise(float(np.sum(cross**2)), by_noise))

    def information(self, shares: Array, stratum: Array, whitening: Array) -> Information:
        """All of it, for pieces with these shares of the events, of these strata.

        sds along an eigenvector are those of the block of the slopes, as far as it lies there; the sizes that
        decide what is seen are those of a matrix of so many columns.
        """
        j, d = len(shares), len(whitening)
        cross = self._between(shares, stratum, whitening)
        slopes = self.slopes.mean(whitening)
        matrix = np.block([[self.level * np.eye(j), cross], [cross.T, slopes]])
        values, vectors = np.linalg.eigh(matrix)
        part = vectors[j:]
        lengths = np.linalg.norm(part, axis=0)
        along = np.where(lengths > _LITTLE, part / np.maximum(lengths, _LITTLE), np.eye(d)[0][:, None])
        sds = self.slopes.sds(whitening, along) * lengths**2
        sizes = sds * math.sqrt(2 * d)
        used = np.maximum(values, np.maximum(FLOOR * sizes, 1e-12))
        seen = seen_share(values, np.maximum(sizes, 1e-12))
        return Information(values, vectors, used, sds, seen, np.ones(j + d))

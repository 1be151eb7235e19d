"""How long a row may be, and until which cumulative hazard it is observed: from public numbers and releases.

See docs/theory/coxph.md#bounds.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.estimators.engine.bounds import FREE, LENGTHS, ladder, of_weighting
from dpstats.estimators.hazards.grid import Grid
from dpstats.estimators.matrices import SMALLEST
from dpstats.estimators.row_scale import RowScale, longest_square
from dpstats.families.hazard_bounds import HazardBounds, hazard_bounds

CUTS = ladder(1.0, 20.0)  # cumulative hazards to choose from; twice the first before anything is known
# of the largest contribution of a matrix, against the largest distance of scores: it adds at most 12 % to it
HAZARD_MATRIX_SHARE = 0.5


@dataclass(frozen=True)
class Bounds:
    """Limits of one row."""

    radius: float
    c: float

    @property
    def of_row(self) -> HazardBounds:
        return hazard_bounds(self.c, self.radius, HAZARD_MATRIX_SHARE)


def watched(scale: RowScale, grid: Grid, bounds: Bounds, point: np.ndarray) -> dict[str, Any]:
    """Public parameters of statistics of rows and their times, at log hazards and coefficients (J + d,)."""
    return dict(
        center=scale.center,
        scale=scale.scale,
        beta=point[grid.count :],
        edges=grid.edges,
        hazards=grid.hazards(point[: grid.count]),
        pieces=grid.pieces,
        c=bounds.c,
    )


@dataclass(frozen=True)
class Chooser:
    """What a choice depends on that does not change in a fit.

    Attributes
    ----------
    scale : RowScale
        Without a constant.
    n : int
    mu : float
        Of the averaged steps together, per row.
    """

    scale: RowScale
    n: int
    mu: float

    def first(self, whitening: np.ndarray) -> Bounds:
        """Narrow ones, before anything is known."""
        return Bounds(self._radius(LENGTHS[0], whitening), 2 * CUTS[0])

    def choose(self, whitening: np.ndarray, expected: np.ndarray, grid: Grid, spread: float) -> Bounds:
        """The bounds of least variance, noise below `FREE` sampling sds not counted; and assumed bias.

        Variances are those along axes of the columns, of which logarithms are averaged. `expected` are second
        moments, of which whitening leaves little along rare levels, so that noise is large there. Long rows
        of numbers, which may bend, are heard as far as the noise of others lets them.
        """
        coded, own = np.outer(self.scale.binary, self.scale.binary), whitening @ expected @ whitening
        squares = np.clip(np.linalg.eigvalsh(np.where(coded, own, np.eye(len(own)))), SMALLEST, 1.0)
        lost = {c: grid.lost(c, spread) for c in CUTS}
        return min(
            (
                (self._loss(length, bounds, squares, lost[c], float(grid.events.sum())), bounds)
                for length in LENGTHS
                for c in CUTS
                if (bounds := Bounds(self._radius(length, whitening), c))
            ),
            key=lambda each: each[0],
        )[1]

    def _radius(self, length: float, whitening: np.ndarray) -> float:
        return math.sqrt(min(length * len(whitening), longest_square(whitening, self.scale)))

    def _loss(self, length: float, bounds: Bounds, squares: np.ndarray, lost: float, events: float) -> float:
        kept, (weight, sensitivity) = (1 - lost) * events, bounds.of_row
        noise = sensitivity / (self.mu * np.sqrt(kept * squares))
        error = 2 * len(squares) * (noise / weight) ** 2 / (kept * squares) + of_weighting(length, kept)
        return float(np.mean(np.log(1 + np.maximum(noise, FREE) ** 2 + error))) - math.log(1 - lost)

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
# what effects of an sd are supposed to change by from the first failure to the last, in log hazards; and in
# themselves, as one that is gone by then
_CHANGED, _FADED = 0.2, 1.0


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

    def choose(
        self, whitening: np.ndarray, expected: np.ndarray, grid: Grid, slopes: np.ndarray, missed: float
    ) -> Bounds:
        """The bounds of least variance, noise below `FREE` sampling sds not counted; and assumed bias.

        Variances are those along axes of the columns, of which logarithms are averaged. `expected` are second
        moments, of which whitening leaves little along rare levels, so that noise is large there. Long rows
        of numbers, which may bend, are heard as far as the noise of others lets them. `slopes` are those of
        whitened columns, and `missed` is what hazards that change within pieces move them by, as a share of
        them, over the coarseness of the grid. A wrong clock makes c no smaller than noise does.
        """
        coded, own = np.outer(self.scale.binary, self.scale.binary), whitening @ expected @ whitening
        values, axes = np.linalg.eigh(np.where(coded, own, np.eye(len(own))))
        squares, along = np.clip(values, SMALLEST, 1.0), (axes.T @ slopes) ** 2
        spread, events = float(np.linalg.norm(slopes)), float(grid.events.sum())
        kept = {c: events * (1 - grid.lost(c, spread)) for c in CUTS}
        early = {c: grid.earlier(c, spread) ** 2 * (_CHANGED**2 + _FADED**2 * along) for c in CUTS}
        radii = {length: self._radius(length, whitening) for length in LENGTHS}

        def ranked(bias: dict[float, np.ndarray] | dict[float, float]) -> list[tuple[float, float, float]]:
            return sorted(
                (self._loss(length, bounds, squares, kept[c], bias[c]), length, c)
                for length in LENGTHS
                for c in CUTS
                if (bounds := Bounds(radii[length], c))
            )

        fewest = ranked(dict.fromkeys(CUTS, 0.0))[0][2]
        best, least = self.first(whitening), math.inf
        for loss, length, c in ranked(early):  # which pieces and the clock make more, and take time to find
            if loss >= least:
                break
            if c < fewest:
                continue
            bounds = Bounds(radii[length], c)
            new = self.divided(grid, bounds, spread)
            moved = new.moved(np.zeros(new.count), c)
            share = math.hypot(missed * new.coarseness, new.unknown(moved), new.clock_error(moved))
            loss = self._loss(length, bounds, squares, kept[c], early[c] + along * share**2)
            best, least = (bounds, loss) if loss < least else (best, least)
        return best

    def divided(self, grid: Grid, bounds: Bounds, spread: float) -> Grid:
        """A grid in pieces by the failures that are seen."""
        return grid.divided(bounds.c, spread, bounds.of_row.sensitivity / self.mu)

    def _radius(self, length: float, whitening: np.ndarray) -> float:
        return math.sqrt(min(length * len(whitening), longest_square(whitening, self.scale)))

    def _loss(
        self, length: float, bounds: Bounds, squares: np.ndarray, kept: float, bias: np.ndarray | float
    ) -> float:
        """Of so many failures that are kept, and squares of biases in log hazards for each sd."""
        weight, sensitivity = bounds.of_row
        noise = sensitivity / (self.mu * np.sqrt(kept * squares))
        error = 2 * len(squares) * (noise / weight) ** 2 / (kept * squares) + of_weighting(length, kept)
        error += kept * squares * bias
        return float(np.mean(np.log(1 + np.maximum(noise, FREE) ** 2 + error))) - math.log(kept)

"""A design whose covariates stand in its offset, with coefficients that are public."""

from dataclasses import replace

import numpy as np

from dpstats.curator.blocks import Block, RowReader, Scratch
from dpstats.curator.products import predictor


class Folded:
    """A design of an intercept alone, to whose offset covariates are added times public slopes.

    A row of it depends on the same row of the design and on public numbers alone, and its offset is moved
    into bounds that follow from those of the columns. So it is a design like any other, for which every
    statistic is proved.

    Parameters
    ----------
    design : RowReader
        With an intercept, its first column.
    bounds : array, shape (d, 2)
        Of its d covariates.
    slopes : array, shape (d,)
        Released.
    """

    names = ("Intercept",)
    has_intercept = True

    def __init__(self, design: RowReader, bounds: np.ndarray, slopes: np.ndarray) -> None:
        self._design, self._slopes = design, np.append(0.0, slopes)
        ends = np.sort(np.asarray(bounds) * np.asarray(slopes)[:, None], axis=1).sum(axis=0)
        low, high = design.offset_bounds
        self.offset_bounds = (low + float(ends[0]), high + float(ends[1]))
        self.delayed, self.intervals, self.weights = design.delayed, design.intervals, design.weights
        self.counts_units, self.strata = design.counts_units, design.strata
        self.subset = design.subset

    def read(self, columns: dict[str, np.ndarray], memory: Scratch | None = None) -> Block:
        """As the design's, with the covariates in the offset."""
        rows = self._design.read(columns, memory)
        offset = predictor(self._slopes, rows.exog.T, Scratch()) + rows.offset
        exog = np.asfortranarray(rows.exog[:, :1])
        return replace(rows, exog=exog, offset=np.clip(offset, *self.offset_bounds))

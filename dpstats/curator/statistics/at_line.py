"""Statistics of rows about a released line of a generalised linear model."""

from __future__ import annotations

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.products import predictor
from dpstats.curator.statistics.base import Statistic


class AtLine(Statistic):
    """Knows the linear predictor of a row, with its offset or without.

    Parameters
    ----------
    design : PublicDesign
    center, scale, beta : array_like, shape (k,)
        As of :class:`dpstats.curator.statistics.glm.LogisticScore`.
    """

    def __init__(self, design: PublicDesign, center: np.ndarray, scale: np.ndarray, beta: np.ndarray) -> None:
        center, scale, beta = (np.asarray(row, dtype=float) for row in (center, scale, beta))
        if not center.shape == scale.shape == beta.shape == (len(design.names),):
            raise ValueError(f"center, scale and beta must hold {len(design.names)} numbers each")
        self._center, self._beta = center, beta / scale
        self._weighted, self._offset = design.weights is not None, design.offset_bounds != (0.0, 0.0)

    def line(self, block: Block, scratch: Scratch) -> np.ndarray:
        """What covariates make of the linear predictors of a block, shape (B,); a reused array."""
        centred = scratch("centred", len(self._center), len(block.ok))
        np.subtract(block.exog.T, self._center[:, None], out=centred)
        return predictor(self._beta, centred, scratch)

    def eta(self, block: Block, scratch: Scratch) -> np.ndarray:
        """Linear predictors of the rows of a block, shape (B,); the same array."""
        return self.shifted(self.line(block, scratch), block)

    def shifted(self, line: np.ndarray, block: Block) -> np.ndarray:
        """`line` with the offset added to it."""
        return np.add(line, block.offset, out=line) if self._offset else line

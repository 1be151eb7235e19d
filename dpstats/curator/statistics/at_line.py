"""Statistics of rows about a released line of a generalised linear model."""

from __future__ import annotations

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.products import predictor
from dpstats.curator.statistics.base import Statistic


class AtLine(Statistic):
    """Knows the linear predictor of a row, with its offset.

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

    def eta(self, block: Block, scratch: Scratch) -> np.ndarray:
        """Linear predictors of the rows of a block, shape (B,)."""
        centred = scratch("centred", len(self._center), len(block.ok))
        np.subtract(block.exog.T, self._center[:, None], out=centred)
        eta = predictor(self._beta, centred, scratch)
        return np.add(eta, block.offset, out=eta) if self._offset else eta

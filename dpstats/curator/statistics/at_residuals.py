"""Statistics of rows at released residuals of a location-scale model."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, Watched
from dpstats.curator.statistics.base import Statistic
from dpstats.families import Family


class AtResiduals(Statistic):
    """Knows between which residuals a row was watched.

    Parameters
    ----------
    design : PublicDesign
    **row
        The public map of rows: center, scale, y_center, y_scale and log of
        :class:`dpstats.curator.geometry.Map`.
    family : Family
    gamma : array_like, shape (k,)
        Location coefficients on the mapped scale.
    sigma : float or array_like, shape (G,)
        One number for all rows, or one for each stratum.
    """

    by_unit = True

    def __init__(
        self,
        design: PublicDesign,
        *,
        family: Family,
        gamma: np.ndarray,
        sigma: float | np.ndarray,
        **row: Any,
    ) -> None:
        self._map, self._family = Map(design, **row), family
        self._gamma, self._sigma = np.asarray(gamma, dtype=float), np.asarray(sigma, dtype=float)
        if self._sigma.ndim and self._sigma.shape != (design.strata,):
            raise ValueError("sigma must be one number, or one for each stratum")

    def watched(self, block: Block, scratch: Scratch) -> tuple[np.ndarray, Watched]:
        """Rows as of :meth:`Map.centred`, shape (k, B), and their residuals."""
        centred = self._map.centred(block, scratch)
        sigma = self._sigma[block.stratum] if self._sigma.ndim else float(self._sigma)
        return centred, self._map.watched(centred, block, scratch, self._gamma, sigma, self._family)

"""How many rows a weight would shorten (spec/survreg_redesign.md 2, step 4)."""

from __future__ import annotations

import math

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, events, squared_norms
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic

__all__ = ["RowWeightShares"]


class RowWeightShares(Statistic):
    """Weight that the rows would lose at each of several radii.

    The sum over rows of ``1 - min(1, r_j / |W x~|^2)`` for m squared radii r_j, shape (m,).

    Parameters
    ----------
    design : PublicDesign
    center, scale, y_center, y_scale, log
        Of the public map, see :class:`dpstats.curator.geometry.Map`.
    whitening : array_like, shape (k, k)
        W, public.
    squared_radii : array_like, shape (m,)
        Positive, public; 1.25 k 2^j for j = 0..6 on the page.
    events : bool
        Count the event rows only.

    Notes
    -----
    Sensitivity: D = sqrt m. A row gives m numbers in [0, 1), a row that weighs nothing gives zeros, so any
    two rows differ by less than 1 in each coordinate. Approached by a very long row against a short one.
    """

    name = "row_weight_shares"

    def __init__(
        self,
        design: PublicDesign,
        *,
        center: np.ndarray,
        scale: np.ndarray,
        y_center: float,
        y_scale: float,
        log: bool,
        whitening: np.ndarray,
        squared_radii: np.ndarray,
        events: bool = False,
    ) -> None:
        self._map = Map(design, center, scale, y_center, y_scale, log)
        k = self._map.k
        self._whitening = np.asarray(whitening, dtype=float)
        if self._whitening.shape != (k, k) or not np.isfinite(self._whitening).all():
            raise ValueError(f"whitening must be a finite matrix of order {k}")
        self._radii, self._events = np.atleast_1d(np.asarray(squared_radii, dtype=float)), events
        if self._radii.ndim != 1 or not ((self._radii > 0) & np.isfinite(self._radii)).all():
            raise ValueError("squared_radii must be positive and finite")
        self.parts = (Part(np.ones(1), np.ones(len(self._radii))),)
        self.sensitivity = math.sqrt(len(self._radii))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        x = self._map.x(block, scratch)
        norm = squared_norms(np.dot(self._whitening, x, out=scratch("white", *x.shape)), scratch)
        shares = scratch("shares", len(self._radii), len(norm))
        np.divide(self._radii[:, None], norm, out=shares)
        np.minimum(shares, 1.0, out=shares)
        np.subtract(1.0, shares, out=shares)
        counted = events(block, scratch) if self._events else block.ok
        return (Factor(counted[:, None], shares.T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)

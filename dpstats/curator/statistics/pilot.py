"""Rows in the coordinates of a pilot fit, of bounded length, with bounded residuals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, shorten
from dpstats.curator.products import RowProducts


class PilotRow:
    """a = W x~ and r = (y~ - line'x~) / sigma of a row.

    The row (a, r), times the square root of its weight, is shortened to |a| <= radius, and r clipped to
    [-limit, limit].

    Parameters
    ----------
    design : PublicDesign
    whitening : array_like, shape (k, k)
        The transpose of W.
    line : array_like, shape (k,)
    sigma, radius, limit : float
        Positive.
    whole : bool
        Whether r is scaled down with a.
    **row
        The public map of rows, see :class:`dpstats.curator.geometry.Map`.
    """

    def __init__(
        self,
        design: PublicDesign,
        *,
        whitening: np.ndarray,
        line: np.ndarray,
        sigma: float,
        radius: float,
        limit: float,
        whole: bool = True,
        **row: Any,
    ) -> None:
        self._map, self._weighted, self._whole = Map(design, **row), design.weights is not None, whole
        self.k = k = self._map.k
        whitening, self._line = np.asarray(whitening, dtype=float), np.asarray(line, dtype=float)
        if whitening.shape != (k, k) or self._line.shape != (k,):
            raise ValueError(f"whitening and line must have {k} columns")
        self._whitened = RowProducts(whitening.T / self._map.unit, self._map.unit)
        self._sigma, self.radius, self.limit = float(sigma), float(radius), float(limit)
        if not all(0 < value < math.inf for value in (self._sigma, self.radius, self.limit)):
            raise ValueError("sigma, radius and limit must be positive and finite")

    def response(self, block: Block, scratch: Scratch) -> np.ndarray:
        """sqrt(weight) (y~, 1) of each row, shape (2, B); a reused array."""
        out = scratch("response", 2, len(block.ok))
        out[0], out[1] = self._map.y(block, scratch), 1.0
        if self._weighted:
            np.multiply(out, np.sqrt(block.weight), out=out)
        return out

    def read(self, block: Block, scratch: Scratch) -> np.ndarray:
        """a and, last, r of each row, shape (k + 1, B); a reused array."""
        x, k = self._map.centred(block, scratch), self.k
        row = scratch("row", k + 1, len(block.ok))
        row[k] = self._map.residuals(x, block, scratch, self._line, self._sigma)
        self._bounded(x, row, block, scratch)
        np.clip(row[k], -self.limit, self.limit, out=row[k])
        return row

    def rows(self, block: Block, scratch: Scratch) -> np.ndarray:
        """a of each row alone, shape (k, B); a reused array."""
        row = scratch("row", self.k, len(block.ok))
        self._bounded(self._map.centred(block, scratch), row, block, scratch)
        return row

    def _bounded(self, x: np.ndarray, row: np.ndarray, block: Block, scratch: Scratch) -> None:
        """Fill in a, from x, and shorten the row; `row` has r as well, or has not."""
        a = self._whitened(x, row[: self.k], scratch)
        if self._weighted:
            np.multiply(row, np.sqrt(block.weight), out=row)
        long = row if self._whole else a
        np.multiply(long, shorten(a, self.radius, scratch), out=long)

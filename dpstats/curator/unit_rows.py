"""Rows of a design inside the unit ball, by a public map, for losses of a margin.

See docs/theory/rows.md#the-public-map.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.products import RowProducts, squared_norms
from dpstats.families import MarginLoss

ROUNDED = 1 + 1e-12  # what rounding may add to the length of a row


class SignedRows(NamedTuple):
    """Rows of a block, not to be changed: `signed`, y a, shape (k, B); `weight`, w; y times the offset."""

    signed: np.ndarray
    weight: np.ndarray
    offset: np.ndarray | None

    def margin(self, line: np.ndarray) -> np.ndarray:
        """y (a'params + offset) of each row, shape (B,), in the place of y a'params."""
        return line if self.offset is None else np.add(line, self.offset, out=line)


class UnitRows:
    """a = W (x - center) / (scale radius) of a row, entries clipped to [-reach, reach], and its weight w.

    w = min(1, 1 / |a|, longest / |a|^2), so that w |a| <= 1 and w |a|^2 <= longest whatever the row holds;
    rows of at most unit length weigh 1. Weights by the covariates alone move no coefficient where the model
    is right (docs/theory/objective.md#mallows-weights).

    Parameters
    ----------
    design : PublicDesign
        Its response is y: 1 where it exceeds 1/2, and -1 elsewhere.
    center, scale : array_like, shape (k,)
        For all columns, the intercept's included; scale positive.
    radius : float
        Positive. Longer rows of (x - center) / scale count less.
    longest : float
        At least 1; where no row is longer than `radius`, 1.
    reach : array_like, shape (k,)
        Positive bounds of the entries of a. What is beyond is clipped; declared bounds clip nothing.
    whitening : array_like, shape (k, k), optional
        W; the identity if left out. Bounds hold whatever it is, since they are of a.
    """

    def __init__(
        self,
        design: PublicDesign,
        *,
        center: np.ndarray,
        scale: np.ndarray,
        radius: float,
        longest: float,
        reach: np.ndarray,
        whitening: np.ndarray | None = None,
    ) -> None:
        self.k = k = len(design.names)
        self._center = np.asarray(center, dtype=float)
        self._size = np.asarray(scale, dtype=float) * float(radius)
        self.reach, self.longest = np.asarray(reach, dtype=float), float(longest)
        if not self._center.shape == self._size.shape == self.reach.shape == (k,):
            raise ValueError(f"center, scale and reach must hold {k} numbers, one for each column")
        numbers = np.concatenate([self._size, self.reach, [self.longest]])
        if not (np.isfinite(self._center).all() and np.isfinite(numbers).all() and (numbers > 0).all()):
            raise ValueError("scale, radius, longest and reach must be positive, and all numbers finite")
        if self.longest < 1:
            raise ValueError("longest must be at least 1")
        self._whitened = None if whitening is None else self._products(np.asarray(whitening, dtype=float))
        self._key = tuple(
            None if each is None else np.asarray(each, dtype=float).tobytes()
            for each in (center, self._size, reach, longest, whitening)
        )
        self._inside = float(self.reach @ self.reach) <= ROUNDED  # the clipped rows are short enough
        self._offset = design.offset_bounds != (0.0, 0.0)
        self.most_offset = max(map(abs, design.offset_bounds))
        self.entries = np.minimum(self.reach, 1.0)
        """Bounds of the entries of w a."""

    def read(self, block: Block, scratch: Scratch) -> SignedRows:
        """Rows of a block, which are the same whatever the params. Those that are not ok weigh nothing."""
        return scratch.kept("signed", block, self._key, functools.partial(self._rows, block, scratch))

    def _rows(self, block: Block, scratch: Scratch, memory: Scratch) -> SignedRows:
        signed = memory("signed", self.k, len(block.ok))
        if self._whitened is None:
            np.subtract(block.exog.T, self._center[:, None], out=signed)
            np.multiply(signed, (1 / self._size)[:, None], out=signed)
        else:
            self._whitened(block.exog.T, signed, scratch)
        np.clip(signed, -self.reach[:, None], self.reach[:, None], out=signed)
        weight = memory("weight", len(block.ok))
        weight[:] = block.ok
        if not self._inside:
            np.multiply(weight, self._shortening(signed, scratch), out=weight)
            weight[~block.ok] = 0.0
        sign = np.where(block.time > 0.5, 1.0, -1.0) * block.ok
        np.multiply(signed, sign, out=signed)
        if not self._offset:
            return SignedRows(signed, weight, None)
        offset = np.clip(block.offset, -self.most_offset, self.most_offset, out=memory("offset", len(sign)))
        return SignedRows(signed, weight, np.multiply(offset, sign, out=offset))

    def _products(self, whitening: np.ndarray) -> RowProducts:
        if whitening.shape != (self.k, self.k) or not np.isfinite(whitening).all():
            raise ValueError(f"whitening must be {self.k} times {self.k} finite numbers")
        return RowProducts(whitening / self._size, self._size, self._center)

    def _shortening(self, columns: np.ndarray, scratch: Scratch) -> np.ndarray:
        """min(1, 1 / |a|, longest / |a|^2), shape (B,)."""
        square = squared_norms(columns, scratch)
        shorter = np.minimum(1 / np.sqrt(square), np.divide(self.longest, square, out=square))
        return np.minimum(shorter, 1.0)

    def pulled(self, loss: MarginLoss, params: np.ndarray) -> float:
        """The largest -f' of a row about public `params`, raised for rounding.

        Of a row longer than `longest`, -f' may be larger, but w |a| is longest / |a| at most, and -f' over
        the length falls with it, because `loss.pulled` is concave and not negative: w |a| (-f') does not
        exceed the number of a row of length `longest`.
        """
        longest = math.sqrt(min(float(self.reach @ self.reach), self.longest**2))
        reach = longest * float(np.linalg.norm(params)) + self.most_offset
        return min(1.0, loss.pulled(reach * ROUNDED) * ROUNDED)

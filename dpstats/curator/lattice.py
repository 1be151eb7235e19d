"""Exact sums of products of row entries (docs/theory/privacy.md#exact-sums).

Every entry is divided by its public scale, clipped to [-1, 1] and rounded to a multiple of 2^-20. In units
of 2^-20 entries are integers q with |q| <= 2^20; a product of two is an integer below 2^40; the sum of at
most 2^13 products is an integer of at most 2^53, and so is every partial sum. BLAS therefore forms ``L'R``
of a block without any rounding, in any order, with or without fused multiply-add, and blocks are added as
integers. The sum does not depend on the order of rows, the size of blocks or the number of threads and
machines. Where all entries are 0 or 1, of scale 1, rounding changes none of them, and counting them gives the
same integer; so does counting how many rows have which number, where each row has a 1 in one column alone.

Sensitivity of the rounded sum (`slack`). Let e = 2^-21 + 2^-31. An entry differs from its real value by at
most e times its scale: 2^-21 from rounding; 2^-31 for the division and for the statistic's own arithmetic,
which must hold its entries to 2^-32 of their scale. Clipping moves an entry towards its real value. With
|l| <= s and |r| <= t, real and rounded,

    |l r - l_q r_q| <= |l| |r - r_q| + |r_q| |l - l_q| <= 2 e s t.

Let u = s t be the scale of a released coordinate, times its weight (sqrt 2, as a rule) if it lies off the
diagonal of a symmetric part. A row's contribution to it thus moves by at most 2 e u, and the difference
between neighbours, two rows, by 4 e u. Last, the integer is converted to float64 (correctly rounded), scaled
and weighted: at most five roundings, a relative 2^-50 of a number of at most n u, for either neighbour:
2 n 2^-50 u. So the difference of the sums of neighbours is that of the real-valued statistic and a vector
whose entries are at most

    u (4 e + n 2^-49)

in size, the `slack` of the coordinate. The range of a coordinate grows by its slack; the L1 norm of the
difference by at most the sum of the slacks and its L2 norm by at most their length, by the triangle
inequality. The bounds of the real-valued statistic are raised by one part in 1e9 for their own rounding
(:class:`dpstats.curator.law.Sensitivity`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dpstats.curator.blocks import Scratch

__all__ = ["MAX_ROWS", "Factor", "LatticeSum", "Part", "slack"]

MAX_ROWS = 2**13
_GRID = 2.0**20
_ENTRY_ERROR = 2.0**-21 + 2.0**-31
_LOW_BITS = 32


class Factor(NamedTuple):
    """What one part of a statistic reads from a block: its sum is ``left.T @ right``.

    Arrays have shape (B, a) and (B, b), best in Fortran order. `right` is None for a symmetric part,
    ``left.T @ left``. Arrays of bool, both of them, are counted, which is faster. Where each row has a 1 in
    one column of `right` and 0 in the others, the numbers of these columns, integers of shape (B,), may stand
    for it, beside a `left` of bool.
    """

    left: np.ndarray
    right: np.ndarray | None = None


@dataclass(frozen=True)
class Part:
    """Shape and public scales of one part: no entry of a column may exceed the scale of that column.

    Parameters
    ----------
    left_scale : array_like, shape (a,)
    right_scale : array_like, shape (b,), optional
        None for a symmetric part, of which the upper triangle is released.
    off_diagonal : float
        Weight of its entries off the diagonal. With sqrt 2 (svec) the L2 norm of the coordinates is the
        Frobenius norm of the matrix; with 2 their L1 norm is the sum of the sizes of all its entries.
    """

    left_scale: np.ndarray
    right_scale: np.ndarray | None = None
    off_diagonal: float = math.sqrt(2)
    units: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("left_scale", "right_scale"):
            scale = getattr(self, name)
            if scale is not None:
                object.__setattr__(self, name, _checked_scale(scale))
        right = self.left_scale if self.right_scale is None else self.right_scale
        object.__setattr__(self, "units", np.outer(self.left_scale, right))

    @property
    def symmetric(self) -> bool:
        return self.right_scale is None

    @property
    def size(self) -> int:
        """Number of released coordinates."""
        rows, columns = self.units.shape
        return rows * (rows + 1) // 2 if self.symmetric else rows * columns

    def pack(self, matrix: np.ndarray) -> np.ndarray:
        """Released coordinates of `matrix`."""
        if not self.symmetric:
            return matrix.ravel()
        rows, columns = _triangle(len(matrix))
        return matrix[rows, columns] * np.where(rows == columns, 1.0, self.off_diagonal)

    def unpack(self, coordinates: np.ndarray) -> np.ndarray:
        """Inverse of `pack`."""
        if not self.symmetric:
            return coordinates.reshape(self.units.shape)
        matrix = np.zeros(self.units.shape)
        rows, columns = _triangle(len(matrix))
        matrix[rows, columns] = coordinates / np.where(rows == columns, 1.0, self.off_diagonal)
        return matrix + np.triu(matrix, 1).T


_triangle = functools.cache(np.triu_indices)  # of a matrix of so many rows


def _checked_scale(scale: np.ndarray) -> np.ndarray:
    values = np.atleast_1d(np.asarray(scale, dtype=np.float64))
    if values.ndim != 1 or not (np.isfinite(values) & (values > 1e-100) & (values < 1e100)).all():
        raise ValueError("the scales of a statistic must be positive numbers between 1e-100 and 1e100")
    return values


def slack(parts: Sequence[Part], n: int) -> np.ndarray:
    """What lattice and conversion to float64 may add to the difference of neighbouring sums over n rows.

    One number for each released coordinate, shape (m,).
    """
    scales = np.concatenate([part.pack(part.units) for part in parts])
    return scales * (4 * _ENTRY_ERROR + n * 2.0**-49)


class LatticeSum:
    """Accumulates the exact sums of the parts of one statistic, block by block."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = tuple(parts)
        self._high = [np.zeros(part.units.shape, dtype=np.int64) for part in self._parts]
        self._low = [np.zeros(part.units.shape, dtype=np.int64) for part in self._parts]
        self._scratch = Scratch()

    def add(self, factors: Sequence[Factor], ok: np.ndarray) -> None:
        """Add the rows of one block.

        Parameters
        ----------
        factors : sequence of Factor
            One for each part, at most 2^13 rows.
        ok : ndarray of bool, shape (B,)
            Rows that are not ok contribute exactly zero, as does a row with a NaN anywhere.
        """
        if len(factors) != len(self._parts) or len(ok) > MAX_ROWS:
            raise ValueError(f"a block gives one factor for each part, and has at most {MAX_ROWS} rows")
        pairs = [self._quantised(index, factor) for index, factor in enumerate(factors)]
        bad = np.flatnonzero(~ok)
        if bad.size:
            _switch_off(pairs, bad)
        products = self._products(pairs)
        if not all(np.isfinite(product).all() for product in products):
            _switch_off(pairs, np.flatnonzero(_with_nan(pairs)))
            products = self._products(pairs)
        for high, low, product in zip(self._high, self._low, products, strict=True):
            integers = product.astype(np.int64)
            high += integers >> _LOW_BITS
            low += integers & (2**_LOW_BITS - 1)

    def _products(self, pairs: list[tuple[np.ndarray, np.ndarray]]) -> list[np.ndarray]:
        columns = (part.units.shape[1] for part in self._parts)
        return [_product(left, right, count) for (left, right), count in zip(pairs, columns, strict=True)]

    def _quantised(self, index: int, factor: Factor) -> tuple[np.ndarray, np.ndarray]:
        part = self._parts[index]
        left = self._integers(f"left {index}", factor.left, part.left_scale)
        if part.right_scale is None or factor.right is None:
            if part.right_scale is not None or factor.right is not None:
                raise ValueError("only a symmetric part has no right factor")
            return left, left
        if factor.right.ndim == 1:
            return left, _cells(left, factor.right, part.right_scale)
        return left, self._integers(f"right {index}", factor.right, part.right_scale)

    def _integers(self, key: str, entries: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Entries in units of 2^-20 of their scale, one contiguous row for each column; NaN stays NaN.

        Entries of bool stay what they are.
        """
        columns, counted = entries.T, entries.dtype == bool
        if columns.ndim != 2 or len(columns) != len(scale) or (counted and not (scale == 1).all()):
            raise ValueError("a factor has one column for each scale of its part, 1 for entries of bool")
        buffer = self._scratch(key, *columns.shape, dtype=bool if counted else float)
        if counted:
            np.copyto(buffer, columns)
            return buffer
        np.multiply(columns, (_GRID / scale)[:, None], out=buffer)
        np.rint(buffer, out=buffer)
        np.clip(buffer, -_GRID, _GRID, out=buffer)
        return buffer

    def vector(self) -> np.ndarray:
        """The sums so far as one vector of coordinates, each part packed in turn; shape (m,)."""
        return np.concatenate(
            [
                part.pack(_to_float(high, low) * part.units)
                for part, high, low in zip(self._parts, self._high, self._low, strict=True)
            ]
        )


def _cells(left: np.ndarray, cells: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Numbers of columns, moved to columns that there are."""
    if left.dtype != bool or not (scale == 1).all() or not np.issubdtype(cells.dtype, np.integer):
        raise ValueError("columns are numbered by integers, of scale 1, beside a left factor of bool")
    return np.clip(cells, 0, len(scale) - 1)


def _product(left: np.ndarray, right: np.ndarray, columns: int) -> np.ndarray:
    """``left @ right.T`` in units of 2^-40 of the scales, exactly."""
    if right.ndim == 1:
        return _GRID**2 * np.array([np.bincount(right[row], minlength=columns) for row in left])
    if left.dtype != bool or right.dtype != bool:
        return np.dot(left, right.T)
    return _GRID**2 * np.array([[np.count_nonzero(row & other) for other in right] for row in left])


def _switch_off(pairs: list[tuple[np.ndarray, np.ndarray]], rows: np.ndarray) -> None:
    for left, right in pairs:
        left[:, rows] = 0.0
        if right.ndim > 1:  # what a row is counted as does not matter where `left` is 0
            right[:, rows] = 0.0


def _with_nan(pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    entries = [entries for pair in pairs for entries in pair if entries.ndim > 1]
    return np.any([np.isnan(of_one).any(axis=0) for of_one in entries], axis=0)


def _to_float(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """The two limbs as float64, correctly rounded: Python's integers are exact and so is division by 2^40."""
    totals = high.astype(object) * 2**_LOW_BITS + low.astype(object)
    return np.array([float(total) for total in totals.ravel()]).reshape(high.shape) / _GRID**2

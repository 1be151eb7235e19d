"""Sums of products of row entries, block by block, and how far they lie from the exact ones.

BLAS sums a block in floats, ``L'R``; the sum of the block is rounded to a lattice and blocks are added as
integers. Let l and r be the entries of a row for one coordinate, as the statistic computes them and clipped
to their scales: functions of the row alone, |l| <= s and |r| <= t. Let u = s t be the scale of the
coordinate, times its weight (sqrt 2, as a rule) if it lies off the diagonal of a symmetric part. Let S be the
exact sum of l r over n rows, which does not depend on their order, and F what `coordinates` returns.

*A block* has B <= 2^14 rows. In any order of its additions, with or without fused multiply-add, a sum of B
products in floats errs by at most gamma B u, gamma = B 2^-53 / (1 - B 2^-53) <= 2^-39 (1 + 2^-38) (Higham,
Accuracy and Stability of Numerical Algorithms, section 3.1). Nothing overflows, because s and t are at most
1e100; what underflows is below 2^-1022 or, where numbers below that count as zero, 2^-1022 max(s, t), each
less than 2^-357 u.
*The lattice* has cells of 2^(e-48), 2^e the least power of two above s t, so that half a cell is at most
2^-48 s t. The sum of a block is an integer of less than 2^63 cells. Scaling by a power of two is exact, and
so is the sum of the integers. A block has one row at least: the lattice moves the sum by n 2^-48 u at most.
*Conversion.* Both parts of the total become floats, which rounds them only beyond 2^21 blocks, and their sum
is rounded, and multiplied with a weight that is rounded itself: five roundings, less than 2^-50 of n u.

Together |F - S| <= n u (2^-39 + 2^-47), whatever the blocks and the order of rows in them.

Sensitivity of the computed sum (`slack`). A statistic holds its entries to 2^-32 of their scale, and clipping
moves an entry towards its real value, so that for the real-valued entries l*, r*

    |l r - l* r*| <= |l*| |r - r*| + |r| |l - l*| <= 2^-31 u.

Two rows, of which one replaces the other, thus differ by what the real-valued statistic says and 2^-30 u; and
the sums F of neighbours by a vector that is the difference of the real-valued ones but for entries of at most

    u (2^-30 + n (2^-38 + 2^-46))

in size, the `slack` of the coordinate: 3.7e-6 u at a million rows. All n rows are charged, not those of the
block in which neighbours differ, because nothing says that BLAS gives equal blocks equal bits: threads and
the place of an array in memory may change the order. The range of a coordinate grows by its slack; the L1
norm of the difference by at most the sum of the slacks and its L2 norm by at most their length, by the
triangle inequality; so every body that a law of noise needs holds it. The bounds of the real-valued statistic
are raised by one part in 1e9 for their own rounding (:class:`dpstats.curator.law.Sensitivity`).

Counts, of entries of bool, are exact. A BLAS that multiplies by Strassen's method or in fewer bits would not
keep the bound; tests measure the one that is there. See docs/theory/privacy.md#sums.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dpstats.curator.blocks import Scratch

MAX_ROWS = 2**14
_CELL_BITS = 48
_LOW_BITS = 32
_LANES, _NARROW = 4, 12
"""OpenBLAS forms a square product in tiles of so many columns, and one that is not full takes as long. Where
columns are so few, copying them into tiles takes longer than one product after another with a vector."""

Pair = tuple[np.ndarray, np.ndarray | None]


class Factor(NamedTuple):
    """What one part of a statistic reads from a block: its sum is ``left.T @ right``.

    Arrays have shape (B, a) and (B, b), best in Fortran order. Floats are clipped in place, so that they are
    never those of the block. `right` is None for a symmetric part, ``left.T @ left``. Arrays of bool, both of
    them, are counted. Where each row has a 1 in one column of `right` and 0 in the others, the numbers of
    these columns, integers of shape (B,), may stand for it. `most` is what no entry of a column of `left`
    exceeds in size, NaN where one may be NaN, if the statistic knows it without a look at each.
    """

    left: np.ndarray
    right: np.ndarray | None = None
    most: np.ndarray | None = None


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
        object.__setattr__(self, "units", np.multiply.outer(*self.sides))

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Scales of the left factor, and of the right."""
        return self.left_scale, self.left_scale if self.right_scale is None else self.right_scale

    @functools.cached_property
    def ones(self) -> tuple[bool, ...]:
        """Whether scales of the left factor, and of the right, are all 1, as those of what is counted."""
        return tuple(bool((scale == 1).all()) for scale in self.sides)

    @property
    def symmetric(self) -> bool:
        return self.right_scale is None

    @property
    def size(self) -> int:
        """Number of released coordinates."""
        rows, columns = self.units.shape
        return rows * (rows + 1) // 2 if self.symmetric else rows * columns

    @functools.cached_property
    def weights(self) -> np.ndarray:
        """What an entry is multiplied with to be a released coordinate, shape (size,)."""
        return svec_weights(len(self.units), self.off_diagonal) if self.symmetric else np.ones(self.size)

    def entries(self, matrix: np.ndarray) -> np.ndarray:
        """Entries of `matrix` that are released, shape (size,)."""
        return matrix.ravel()[triangle(len(matrix))] if self.symmetric else matrix.ravel()

    @functools.cached_property
    def scales(self) -> np.ndarray:
        """Of the released coordinates, shape (size,)."""
        return self.pack(self.units)

    @functools.cached_property
    def cells(self) -> np.ndarray:
        """Of the lattice, for each coordinate, as a power of two."""
        return cells_of(self.entries(self.units))

    def pack(self, matrix: np.ndarray) -> np.ndarray:
        """Released coordinates of `matrix`."""
        return self.entries(matrix) * self.weights

    def unpack(self, coordinates: np.ndarray) -> np.ndarray:
        """Inverse of `pack`."""
        if not self.symmetric:
            return coordinates.reshape(self.units.shape)
        return np.asarray((coordinates / self.weights)[places(len(self.units))])


def order_of(m: int) -> int:
    """Of the symmetric matrix that has so many coordinates."""
    return (math.isqrt(8 * m + 1) - 1) // 2


@functools.cache
def triangle(order: int) -> np.ndarray:
    """Where the upper triangle of a square matrix stands in its entries."""
    return np.flatnonzero(np.triu(np.ones((order, order), dtype=bool)))


@functools.cache
def places(order: int) -> np.ndarray:
    """Where the entries of a symmetric matrix stand in its upper triangle."""
    places = np.zeros((order, order), dtype=np.intp)
    places.ravel()[triangle(order)] = np.arange(order * (order + 1) // 2)
    return np.maximum(places, places.T)


@functools.cache
def svec_weights(order: int, off_diagonal: float = math.sqrt(2)) -> np.ndarray:
    """Of the coordinates of a symmetric matrix: 1 on the diagonal, and another number beside it."""
    square = np.full((order, order), off_diagonal)
    np.fill_diagonal(square, 1.0)
    return square.ravel()[triangle(order)]


def _checked_scale(scale: np.ndarray) -> np.ndarray:
    values = np.atleast_1d(np.asarray(scale, dtype=np.float64))
    if values.ndim != 1 or not 1e-100 < values.min(initial=1.0) <= values.max(initial=1.0) < 1e100:
        raise ValueError("the scales of a statistic must be positive numbers between 1e-100 and 1e100")
    return values


def slack(parts: Sequence[Part], n: int) -> np.ndarray:
    """What arithmetic in floats may add to the difference of neighbouring sums over n rows.

    One number for each released coordinate, shape (m,).
    """
    scales = np.concatenate([part.scales for part in parts])
    return scales * (2.0**-30 + n * (2.0**-38 + 2.0**-46))


@dataclass(frozen=True, repr=False)
class Total:
    """Exact sums of some blocks of a statistic, in cells of its lattice, and their number of rows.

    ``high 2^32 + low`` is the sum of a coordinate. Totals of different blocks add up without rounding, in
    whatever order.
    """

    high: np.ndarray
    low: np.ndarray
    count: int

    @staticmethod
    def of(sums: np.ndarray, cells: np.ndarray, count: int) -> "Total":
        """Sums of a block of so many rows, each less than 2^63 cells of 2^cells, rounded to these."""
        integers = np.rint(np.ldexp(sums, -cells)).astype(np.int64)
        return Total(integers >> _LOW_BITS, integers & (2**_LOW_BITS - 1), count)

    def sums(self, cells: np.ndarray) -> np.ndarray:
        """As floats, the nearest: both parts are exact up to 2^21 blocks, and their sum is rounded once."""
        return np.asarray(np.ldexp(np.ldexp(self.high, _LOW_BITS) + self.low, cells))

    def __add__(self, other: "Total") -> "Total":
        return Total(self.high + other.high, self.low + other.low, self.count + other.count)


def _cells_of(parts: Sequence[Part]) -> np.ndarray:
    """The cell of the lattice for each coordinate, as a power of two."""
    return np.concatenate([part.cells for part in parts])


def cells_of(units: np.ndarray) -> np.ndarray:
    """Powers of two: cells on which sums of up to `MAX_ROWS` numbers of at most `units` are rounded."""
    return np.asarray(np.frexp(units)[1] - _CELL_BITS)


def coordinates(parts: Sequence[Part], total: Total) -> np.ndarray:
    """Sums of a statistic as one vector of released coordinates, each part packed in turn; shape (m,)."""
    weights = np.concatenate([part.weights for part in parts])
    return np.asarray(total.sums(_cells_of(parts)) * weights)


class LatticeSum:
    """Accumulates the sums of the parts of one statistic, block by block."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = tuple(parts)
        self._cells = _cells_of(self._parts)
        self.total = Total.of(np.zeros(len(self._cells)), self._cells, 0)
        self._scratch = Scratch()
        self._beyond = False  # whether an entry of the block is not within its scale, as NaN never is

    def add(self, factors: Sequence[Factor], ok: np.ndarray) -> None:
        """Add the rows of one block.

        Parameters
        ----------
        factors : sequence of Factor
            One for each part, at most 2^14 rows.
        ok : ndarray of bool, shape (B,)
            Rows that are not ok contribute exactly zero, as does a row with a NaN anywhere.
        """
        if len(factors) != len(self._parts) or len(ok) > MAX_ROWS:
            raise ValueError(f"a block gives one factor for each part, and has at most {MAX_ROWS} rows")
        self._beyond = False
        pairs = [self._bounded(index, factor) for index, factor in enumerate(factors)]
        bad = np.flatnonzero(~ok)
        if bad.size:
            _switch_off(pairs, bad)
        sums = self._sums(pairs)
        if not np.isfinite(sums).all() or (self._beyond and _may_hide_nan(pairs)):
            _switch_off(pairs, np.flatnonzero(_with_nan(pairs)))
            sums = self._sums(pairs)
        self.total += Total.of(sums, self._cells, len(ok))

    def _sums(self, pairs: list[Pair]) -> np.ndarray:
        return np.concatenate(
            [part.entries(self._product(part, *pair)) for part, pair in zip(self._parts, pairs, strict=True)]
        )

    def _product(self, part: Part, left: np.ndarray, right: np.ndarray | None) -> np.ndarray:
        """Sum of the products of a block; of a symmetric part, no entry below the diagonal counts."""
        if right is None:
            return gram(left)
        if right.ndim == 1:
            columns = part.units.shape[1]
            if left.dtype != bool:
                return np.array([np.bincount(right, row, columns) for row in left])
            counted = (right if row.all() else right[row] for row in left)
            return np.array([np.bincount(cells, minlength=columns) for cells in counted], dtype=float)
        if left.dtype == bool and right.dtype == bool:
            both = self._scratch("both", *right.shape, dtype=bool)
            counted = (right if row.all() else np.logical_and(right, row, out=both) for row in left)
            return np.array([[np.count_nonzero(column) for column in columns] for columns in counted], float)
        return np.dot(left, right.T)

    def _bounded(self, index: int, factor: Factor) -> Pair:
        """Left and right entries, one row for each column."""
        part = self._parts[index]
        if part.symmetric is not (factor.right is None):
            raise ValueError("only a symmetric part has no right factor")
        left = factor.left.T
        if factor.most is None or not (factor.most <= part.left_scale).all():
            left = self._clipped(f"left {index}", factor.left, part, 0)
        if factor.right is None or part.right_scale is None:
            return left, None
        if factor.right.ndim == 1:
            return left, _cells(factor.right, len(part.right_scale), part.ones[1])
        return left, self._clipped(f"right {index}", factor.right, part, 1)

    def _clipped(self, key: str, entries: np.ndarray, part: Part, side: int) -> np.ndarray:
        """Entries clipped to the scales of a side, in place; NaN stays NaN. Entries of bool are copied."""
        columns, counted, scale = entries.T, entries.dtype == bool, part.sides[side]
        if columns.ndim != 2 or len(columns) != len(scale) or (counted and not part.ones[side]):
            raise ValueError("a factor has one column for each scale of its part, 1 for entries of bool")
        if counted:
            copied = self._scratch(key, *columns.shape, dtype=bool)
            copied[:] = columns
            return copied
        # hardly any lie beyond, and to look for them takes less than to write all again; NaN is not within
        within = (columns.max(axis=1, initial=0.0) <= scale) & (columns.min(axis=1, initial=0.0) >= -scale)
        for i in np.flatnonzero(~within):
            self._beyond = True
            np.clip(columns[i], -scale[i], scale[i], out=columns[i])
        return columns


def gram(columns: np.ndarray) -> np.ndarray:
    """``columns @ columns.T``, of which only the upper triangle is filled in."""
    order = len(columns)
    tiled = order - order % _LANES if order > _NARROW else 0
    product = np.zeros((order, order))
    if tiled:
        product[:tiled, :tiled] = np.dot(columns[:tiled], columns[:tiled].T)
    for last in range(tiled, order):
        product[: last + 1, last] = np.dot(columns[: last + 1], columns[last])
    return product


def _cells(cells: np.ndarray, columns: int, ones: bool) -> np.ndarray:
    """Numbers of columns, moved to columns that there are."""
    if not ones or cells.dtype.kind not in "iu":
        raise ValueError("columns are numbered by integers, and of scale 1")
    largest = cells.view(f"u{cells.itemsize}").max(initial=0)  # a number below 0 is a large one there
    return np.clip(cells, 0, columns - 1) if largest >= columns else cells


def _switch_off(pairs: list[Pair], rows: np.ndarray) -> None:
    for left, right in pairs:
        left[:, rows] = 0.0
        if right is not None and right.ndim > 1:  # what a row is counted as matters nowhere `left` is 0
            right[:, rows] = 0.0


def _may_hide_nan(pairs: list[Pair]) -> bool:
    """Whether a NaN may be missing from the sums: BLAS may take NaN times 0, not NaN squared, for nothing."""
    crossed = (side for pair in pairs if pair[1] is not None for side in pair if side is not None)
    return any(side.dtype == float and math.isnan(side.max(initial=0.0)) for side in crossed)


def _with_nan(pairs: list[Pair]) -> np.ndarray:
    entries = [one for pair in pairs for one in pair if one is not None and one.ndim > 1]
    return np.any([np.isnan(of_one).any(axis=0) for of_one in entries], axis=0)

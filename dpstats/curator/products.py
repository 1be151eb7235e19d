"""Products of a row with public numbers, the same to the last bit wherever the row stands in its block.

BLAS adds the products of a row in an order that depends on where the row stands: the last rows of a block go
another way than the rest, and every size of block and machine has ways of its own. The last bit of a linear
predictor would move with the place alone, and next to a jump (a sign, a cut, the edge of a cell) all that the
row adds would move with it. The functions here give every row a number that depends on the row alone.

*One predictor.* `predictor` adds its products column by column. np.multiply and np.add round each of their
numbers correctly and by itself, so that every row is summed in the same order and with the same roundings.

*Many.* W x would take 2 k^2 such passes. `RowProducts` leaves it to BLAS, and has it add numbers that no
order of addition rounds. The entries of x are rounded to multiples of public powers of two c_j, and those of
W, which is public, to multiples of g_i / c_j. Each product w_ij x_j then is an integer in units of g_i, and
so is every sum of some of them. As long as sum_j |w_ij| |x_j| is less than 2^53 units, a float holds all of
these: no addition rounds, with or without fused multiply-add, and BLAS has what the fixed order has. The
largest |x_j| of a block say whether that holds for all of its rows. If not, it is asked of every row, with
max_i |w_ij| for each j, and rows of which it is not sure are summed in the fixed order. What comes out is the
sum in that order for every row. The numbers of the block decide nothing but which rows are summed twice,
which only time could tell.

The question has a margin of 2^-38, for what is rounded when it is computed. An entry x is rounded as
x_j = (x + (s - m)) - s with s = 1.5 2^52 c_j, m being a public center of the column. Where |x_j| < 2^51 c_j,
the sum lies between 2^52 c_j and 2^53 c_j, so that both are multiples of c_j; rows of which that is not sure
are among those that are summed in the fixed order. Rounding s - m moves a column by as much in all rows: by
half a grid, or by the last bit of a center that is far off. Exponents are held between -800 and 800, far
above what underflow loses.

*How large they are at most* (`filled`). With the middle m_j and half the width h_j of a column in the block,
|w'x| <= |w'm| + sum_j |w_j| h_j. A sum in floats errs by less than k 2^-52 sum |w_j| X_j, where X_j is the
largest |x_j|, and so does each part of the bound, to which 2^-38 sum |w_j| X_j is added: enough for all of
them, 3 k 2^-52 at most, up to the 4,096 columns that a design may have.

See docs/theory/privacy.md#sums.
"""

from typing import NamedTuple

import numpy as np

from dpstats.curator.blocks import Scratch

# Of columns as large as their units, and of what these give at most. Rows may be 32 times as long before any
# is summed twice.
_BITS, _PRODUCT_BITS = 24, 47
_INTEGERS, _MARGIN = 2.0**53, 2.0**-38
# For the rounding of a product of two or three numbers, and of a bound of it
ROUNDED = 1 + 2.0**-40


def predictor(
    coefficients: np.ndarray, columns: np.ndarray, scratch: Scratch, center: np.ndarray | None = None
) -> np.ndarray:
    """Sum of coefficient times column, about `center` if given; shape (k, B) to (B,), a new array."""
    product = scratch("product", columns.shape[1])

    def times(i: int, out: np.ndarray) -> np.ndarray:
        own = columns[i] if center is None else np.subtract(columns[i], center[i], out=out)
        return np.multiply(own, coefficients[i], out=out)

    total = times(0, np.empty(columns.shape[1]))
    for i in range(1, len(coefficients)):
        np.add(total, times(i, product), out=total)
    return total


def squared_norms(columns: np.ndarray, scratch: Scratch) -> np.ndarray:
    """Sum of squares over the first axis; shape (k, B) to (B,), a reused array."""
    total, square = scratch("squared_norms", columns.shape[1]), scratch("square", columns.shape[1])
    np.square(columns[0], out=total)
    for column in columns[1:]:
        np.add(total, np.square(column, out=square), out=total)
    return total


class Rounded(NamedTuple):
    """Columns on their grids, shape (k, B), and the least and the largest entry of each."""

    columns: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class RowProducts:
    """W x of every row, for W and x rounded to public grids.

    Parameters
    ----------
    matrix : array_like, shape (j, k)
        W; public.
    unit : array_like, shape (k,)
        A usual size of each column, public. A column is rounded to a grid of at most 2^-24 of it; of what
        columns of this size give at most, the rounding of W changes less than 2^-23 for each column.
    center : array_like, shape (k,), optional
        What columns are taken about; public.
    """

    def __init__(
        self, matrix: np.ndarray, unit: np.ndarray | float = 1.0, center: np.ndarray | float = 0.0
    ) -> None:
        matrix = np.asarray(matrix, dtype=float)
        unit = np.broadcast_to(unit, matrix.shape[1:])
        columns = _power(unit) - _BITS
        grids = np.subtract.outer(_power(np.abs(matrix) @ unit) - _PRODUCT_BITS, columns)
        self._matrix = np.ldexp(np.rint(np.ldexp(matrix, -grids)), grids)
        self._shift = 1.5 * np.ldexp(1.0, columns + 52)[:, None]
        self._start = self._shift - np.reshape(center, (-1, 1))
        # sizes of entries in units in which no sum may exceed 1; last those of one entry
        sizes = np.ldexp(np.abs(np.ldexp(self._matrix, -grids)), -columns) / _INTEGERS
        self._sizes = np.vstack([sizes, np.ldexp(4 / _INTEGERS, -columns)])

    def __call__(self, columns: np.ndarray, out: np.ndarray, scratch: Scratch) -> np.ndarray:
        """Fill `out`, contiguous and of shape (j, B), from `columns`, shape (k, B)."""
        self.filled(self.rounded(columns, scratch), out, scratch)
        return out

    @property
    def grids(self) -> bytes:
        """What `rounded` depends on, beside the columns."""
        return self._shift.tobytes() + self._start.tobytes()

    def rounded(
        self, columns: np.ndarray, scratch: Scratch, span: tuple[np.ndarray, np.ndarray] | None = None
    ) -> Rounded:
        """Columns on their grids, in a reused array.

        Rounding keeps the order of numbers, so that the least and the largest of each column, its `span`
        where it is known, become those of the rounded ones.
        """
        rounded = self._on_grids(columns, scratch("rounded", *columns.shape))
        if span is None:
            return Rounded(rounded, rounded.min(axis=1), rounded.max(axis=1))
        ends = np.stack(span, axis=1)
        return Rounded(rounded, *self._on_grids(ends, ends).T)

    def _on_grids(self, columns: np.ndarray, out: np.ndarray) -> np.ndarray:
        return np.subtract(np.add(columns, self._start, out=out), self._shift, out=out)

    def filled(self, columns: Rounded, out: np.ndarray, scratch: Scratch) -> np.ndarray:
        """Fill `out`; no less than the size of each product in any row of the block, shape (j,), or NaN."""
        rounded, lower, upper = columns
        np.dot(self._matrix, rounded, out=out)
        reach = np.maximum(upper, -lower)
        if not (self._sizes @ reach < 1 - _MARGIN).all():  # also where it is NaN, as with any column
            most = predictor(self._sizes.max(axis=0), np.abs(rounded), scratch)
            rows = np.flatnonzero(~(most < 1 - _MARGIN))
            for row, values in zip(self._matrix, out, strict=True):
                values[rows] = np.add.accumulate(row[:, None] * rounded[:, rows], axis=0)[-1]
        middle, half = lower / 2 + upper / 2, upper / 2 - lower / 2
        return np.asarray(np.abs(self._matrix @ middle) + np.abs(self._matrix) @ (half + _MARGIN * reach))


def _power(sizes: np.ndarray) -> np.ndarray:
    """The power of two up to each size, as an exponent."""
    return np.minimum(np.maximum(np.frexp(sizes)[1] - 1, -800), 800)

"""Products of a row with public numbers, the same to the last bit wherever the row stands in its block.

BLAS adds the products of a row in an order that depends on where the row stands: the last rows of a block go
another way than the rest, and every size of block and machine has ways of its own. The last bit of a linear
predictor would move with the place alone, and next to a jump (a sign, a cut, the edge of a cell) all that the
row adds would move with it. The functions here give every row a number that depends on the row alone.

*One predictor.* `predictor` adds its products column by column. np.multiply and np.add round each of their
numbers correctly and by itself, so that every row is summed in the same order and with the same roundings.

*Many.* W x would take 2 k^2 such passes. `RowProducts` leaves it to BLAS and rounds each product to a
multiple of a public power of two, its grid. In units of the grid let s be the sum in the fixed order, y what
BLAS has, and G(y) the integer next to y. Any order of k products, with or without fused multiply-add, errs
by at most gamma sum |w_j| X_j, where w is a row of W, X_j the largest |x_j| of the block, u = 2^-53 and
gamma = k u / (1 - k u) (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). Hence
|y - s| <= d with d = 2 gamma sum |w_j| X_j, and G(y) = G(s) unless the middle between two integers lies
between y and s, that is, unless |y - G(y)| >= 1/2 - d; the difference y - G(y) is exact. Where it is as large
as that, in one product of thousands, the row is summed in the fixed order. What comes out is G(s) for every
row. The X_j are those of the block and decide nothing but which rows are summed twice, which only time could
tell.

The code takes twice that d, for the rounding of d itself and for gamma. Where numbers are so large that the
grid says nothing, 2^51 and beyond, d exceeds 1/2 and all rows are summed in the fixed order. Grids lie
between 2^-900 and 2^900, far above what underflow loses.

See docs/theory/privacy.md#sums.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import idamax

from dpstats._conversions import UNIT_ROUNDOFF
from dpstats.curator.blocks import Scratch

_BITS = 28  # of a product whose columns are as large as their units


def predictor(coefficients: np.ndarray, columns: np.ndarray, scratch: Scratch) -> np.ndarray:
    """Sum of coefficient times column; shape (k, B) to (B,), a new array."""
    total: np.ndarray = np.multiply(columns[0], coefficients[0])
    product = scratch("product", len(total))
    for coefficient, column in zip(coefficients[1:], columns[1:], strict=True):
        np.add(total, np.multiply(column, coefficient, out=product), out=total)
    return total


def squared_norms(columns: np.ndarray, scratch: Scratch) -> np.ndarray:
    """Sum of squares over the first axis; shape (k, B) to (B,), a reused array."""
    total, square = scratch("squared_norms", columns.shape[1]), scratch("square", columns.shape[1])
    np.square(columns[0], out=total)
    for column in columns[1:]:
        np.add(total, np.square(column, out=square), out=total)
    return total


class RowProducts:
    """W x of every row, rounded to public grids.

    Parameters
    ----------
    matrix : array_like, shape (j, k)
        W; public.
    unit : array_like, shape (k,)
        A usual size of each column, public. The grid of a product is at most 2^-27 of what columns of this
        size give at most, and more than 2^-28 of it.
    """

    def __init__(self, matrix: np.ndarray, unit: np.ndarray | float = 1.0) -> None:
        matrix = np.asarray(matrix, dtype=float)
        largest = np.abs(matrix) @ np.broadcast_to(unit, matrix.shape[1:])
        exponents = np.clip(np.frexp(largest)[1] - _BITS, -900, 900)
        self._matrix = np.ldexp(matrix, -exponents[:, None])  # in units of the grids
        self._grids = np.ldexp(1.0, exponents).tolist()
        self._doubt = 4 * matrix.shape[1] * UNIT_ROUNDOFF * np.abs(self._matrix)

    def __call__(self, columns: np.ndarray, out: np.ndarray, scratch: Scratch) -> np.ndarray:
        """Fill `out`, contiguous and of shape (j, B), from `columns`, shape (k, B)."""
        np.dot(self._matrix, columns, out=out)
        reach = np.maximum(columns.max(axis=1), -columns.min(axis=1))
        near = (0.5 - self._doubt @ reach).tolist()
        rounded = scratch("rounded", out.shape[1])
        for i, values in enumerate(out):
            np.rint(values, out=rounded)
            rest = np.subtract(values, rounded, out=values)
            if not abs(rest[idamax(rest)]) < near[i]:  # also where `near` is NaN, as with any column
                rows = np.flatnonzero(~(np.abs(rest) < near[i]))
                products = self._matrix[i][:, None] * columns[:, rows]
                rounded[rows] = np.rint(np.add.accumulate(products, axis=0)[-1])
            np.multiply(rounded, self._grids[i], out=values)
        return out

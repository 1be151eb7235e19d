"""What a description asks for: rows by the cells of each column, and moments of columns with missing values.

Of factors and flags it asks for nothing but counts, and of numbers for these first. In moments each row
counts where it has a value. See docs/theory/describe.md#sensitivities.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import shorten
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic, check_positive, each_row


class CellCounts(Statistic):
    """Counts of rows by the cells of chosen columns; the last cell of each holds rows without a value.

    A row with the value x counts in cell j of a column if edges[j - 1] <= x < edges[j]; the first cell has no
    lower end, and the last but one no upper end. Released is one array for each chosen column, of one number
    more than it has edges, and one more.

    Parameters
    ----------
    design : PublicDesign
        Its columns hold NaN where a row has no value; a leading intercept is left out.
    chosen : array_like of bool
        Which of its columns, m of them.
    edges : sequence of array_like
        Of each of these, numbers that do not decrease; none of them is NaN.

    Notes
    -----
    Sensitivity: sqrt(2 m) for m chosen columns; 2 m in the L1 norm; range 1. A valid row adds 1 to exactly
    one cell of each, whatever its values and whichever of them are missing, so two rows differ by at most two
    entries of 1 in each column, attained by rows that share no cell. A row that weighs nothing adds to none:
    at most one entry a column. Which cell it is depends on the one value alone, by comparisons, which are
    exact. The other columns are not looked at.
    """

    name = "cell_counts"

    def __init__(self, design: PublicDesign, *, chosen: np.ndarray, edges: Sequence[np.ndarray]) -> None:
        first = int(design.has_intercept)
        self._chosen = np.flatnonzero(np.asarray(chosen, dtype=bool)) + first
        self._edges = [np.asarray(one, dtype=float) for one in edges]
        count = len(self._chosen)
        if len(chosen) != len(design.names) - first or not count:
            raise ValueError("chosen holds a truth value for each column, one of them true")
        rising = all(one.ndim == 1 and (np.diff(one) >= 0).all() for one in self._edges)
        if len(self._edges) != count or not rising or any(np.isnan(one).any() for one in self._edges):
            raise ValueError(f"edges hold numbers that do not decrease for each of {count} columns")
        sizes = [len(one) + 2 for one in self._edges]
        self.parts = tuple(Part(np.ones(1), np.ones(size)) for size in sizes)
        self.sensitivity, self.sensitivity_l1 = math.sqrt(2 * count), 2.0 * count
        self.ranges = np.ones(sum(sizes))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        found = []
        for edges, column in zip(self._edges, self._chosen, strict=True):
            values = block.exog[:, column]
            cell = np.searchsorted(edges, values, side="right")
            found.append(Factor(block.ok[:, None], np.where(np.isnan(values), len(edges) + 1, cell)))
        return tuple(found)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(np.split(vector, np.cumsum([len(edges) + 2 for edges in self._edges])[:-1]))


class _Present(Statistic):
    """Chosen columns of a row, centred and scaled; 0 where it has no value."""

    def __init__(
        self, design: PublicDesign, chosen: np.ndarray, center: np.ndarray, scale: np.ndarray
    ) -> None:
        self._chosen = np.flatnonzero(np.asarray(chosen, dtype=bool)) + int(design.has_intercept)
        self._center, self._scale = np.asarray(center, dtype=float), np.asarray(scale, dtype=float)
        self._count = count = len(self._chosen)
        if len(chosen) != len(design.names) - int(design.has_intercept) or not count:
            raise ValueError("chosen holds a truth value for each column, one of them true")
        if not (self._center.shape == self._scale.shape == (count,) and (self._scale > 0).all()):
            raise ValueError(f"center and scale hold {count} numbers, scale positive ones")

    def _values(self, block: Block, scratch: Scratch, longest: float) -> tuple[np.ndarray, np.ndarray]:
        """Values within [-longest, longest], and which there are none of; both of shape (m, B)."""
        out = scratch("values", self._count, len(block.ok))
        np.take(block.exog.T, self._chosen, axis=0, out=out)
        np.subtract(out, self._center[:, None], out=out)
        np.divide(out, self._scale[:, None], out=out)
        missing = np.isnan(out, out=scratch("missing", *out.shape, dtype=bool))
        np.clip(out, -longest, longest, out=out)
        np.copyto(out, 0.0, where=missing)
        return out, missing


class PresentMoments(_Present):
    """Sums and sums of squares of the values of each column, in a box; arrays of shape (m,) and (m,).

    With a = clip((x - center) / scale, -1, 1), 0 where there is no value, a row gives a and 1.6 a^2.

    Parameters
    ----------
    design : PublicDesign
        Its columns hold NaN where a row has no value.
    chosen : array_like of bool
        Which of its columns, m of them.
    center, scale : array_like, shape (m,)
        Middle and half-width of each box.

    Notes
    -----
    Sensitivity: 2 sqrt m. One column gives (a - b)^2 + 2.56 (a^2 - b^2)^2 <= 4 for a and b in [-1, 1], the
    first case of :class:`dpstats.curator.statistics.moments.EventMoments`, attained at a = 1, b = -1. A value
    that is missing, or a row that weighs nothing, is a = 0.

    *L1*: 4.41 / 1.6 for each column. By symmetry let a >= |b|: (a - b) (1 + 1.6 (a + b)) grows with a, and at
    a = 1 it is (1 - b) (2.6 + 1.6 b), largest at b = -1 / 3.2, where it is 2.1^2 / 1.6.

    *Ranges*: 2 and 1.6, attained by 1 against -1 and against 0.
    """

    name = "present_moments"
    SQUARES = 1.6

    def __init__(
        self, design: PublicDesign, *, chosen: np.ndarray, center: np.ndarray, scale: np.ndarray
    ) -> None:
        super().__init__(design, chosen, center, scale)
        m = self._count
        self.parts = (Part(np.ones(1), np.repeat([1.0, self.SQUARES], m)),)
        self.sensitivity = 2 * math.sqrt(m)
        self.sensitivity_l1 = m * (self.SQUARES + 0.5) ** 2 / self.SQUARES
        self.ranges = np.repeat([2.0, self.SQUARES], m)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        m, right = self._count, scratch("right", 2 * self._count, len(block.ok))
        right[:m], _ = self._values(block, scratch, 1.0)
        np.multiply(right[:m], right[:m], out=right[m:])
        np.multiply(right[m:], self.SQUARES, out=right[m:])
        return (each_row(right),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(np.split(vector, 2))


class PresentProducts(_Present):
    """Sums of products of two columns, and numbers of rows that lack both; two symmetric matrices (m, m).

    With a = clip((x - center) / scale, -limit, limit), 0 where there is no value, the row a is shortened to
    |a| <= radius, and e holds 1 for each missing value, else 0. Released are the sums of a a' and of e e'.

    Parameters
    ----------
    design : PublicDesign
        Its columns hold NaN where a row has no value.
    chosen, center, scale
        As of :class:`PresentMoments`.
    radius, limit : float
        Longest row and longest value; positive.

    Notes
    -----
    Sensitivity: D^2 = 2 radius^4 + m^2, of symmetric parts that are released as svec. For rows a, b of
    length at most r, |a a' - b b'|^2 <= 2 r^4 (docs/theory/privacy.md#sensitivity-of-a-statistic), attained
    by orthogonal rows of full length. Entries of e e' - f f' are 0, 1 or -1: m^2 of them. A row that weighs
    nothing has a = 0 and e = 0: r^4 and m^2 at most.
    """

    name = "present_products"

    def __init__(
        self,
        design: PublicDesign,
        *,
        chosen: np.ndarray,
        center: np.ndarray,
        scale: np.ndarray,
        radius: float,
        limit: float,
    ) -> None:
        super().__init__(design, chosen, center, scale)
        check_positive(radius=radius, limit=limit)
        self._radius, self._limit = float(radius), float(limit)
        m = self._count
        self.parts = (Part(np.full(m, min(radius, limit))), Part(np.ones(m)))
        self.sensitivity = math.sqrt(2 * radius**4 + m**2)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        values, missing = self._values(block, scratch, self._limit)
        np.multiply(values, shorten(values, self._radius, scratch), out=values)
        return Factor(values.T), Factor(missing.T.astype(float))

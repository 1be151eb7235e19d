"""Where the columns of a design and its response lie: means, spreads and counts by cells in declared boxes.

The first things a fit asks for. They cost the same however wide the declared bounds are against the data.

See docs/theory/first_stage.md#octaves-of-a-generalised-linear-model and, of linear and survival fits,
docs/theory/first_stage.md#sensitivities.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, events
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import predictor
from dpstats.curator.statistics.base import Statistic, each_row


class _Columns(Statistic):
    """Covariates, response and, if there is one, offset of a row in their declared boxes; shape (m,)."""

    def __init__(self, design: PublicDesign, center: np.ndarray, half: np.ndarray) -> None:
        self._center, self._half = np.asarray(center, dtype=float), np.asarray(half, dtype=float)
        self._first = int(design.has_intercept)
        self._width = len(design.names) - self._first
        self._offset = design.offset_bounds != (0.0, 0.0)
        shape = (self._width + 1 + self._offset,)
        if not (self._center.shape == self._half.shape == shape and (self._half > 0).all()):
            raise ValueError(f"center and half hold {shape[0]} numbers, half positive ones")

    def _boxed(self, block: Block, scratch: Scratch) -> np.ndarray:
        out = scratch("boxed", len(self._center), len(block.ok))
        out[: self._width] = block.exog.T[self._first :]
        out[self._width] = block.time
        if self._offset:
            out[-1] = block.offset
        np.subtract(out, self._center[:, None], out=out)
        np.multiply(out, 1 / self._half[:, None], out=out)
        return np.clip(out, -1.0, 1.0, out=out)


class ColumnMeans(_Columns):
    """Sums of the covariates, the response and any offset in declared boxes; shape (m,).

    A row gives a = clip(((x, y, offset) - center) / half, -1, 1), m = d + 1, or d + 2 with an offset. Of
    columns that are levels of one category it gives a + 1, shortened where they add up to more than 2.
    Last are its prior weight q and q^2, where these are asked for.

    Parameters
    ----------
    design : PublicDesign
    center, half : array_like, shape (m,)
        Public middle and half-width of the d covariates, of the response and of any offset.
    levels : sequence of array_like of int
        Columns of each category. Of each row one is 1 at most and the others are 0, so that nothing is
        shortened; privacy does not rest on that.
    weights : bool
        Whether q and q^2 are asked for.

    Notes
    -----
    Sensitivity: 2 sqrt(m'), where each category counts as two columns at most. |a - b| <= 2 in each column,
    which are the *ranges*. Those of a category are from 0 up and add up to 2 at most, so that |a - b|^2 <=
    |a|^2 + |b|^2 <= 8. Attained by opposite corners, at two levels of each category. A row that weighs
    nothing is 0, and no farther from any other than these are. As 0 <= q <= 1, q and q^2 differ by at most 1
    each, their *ranges*: with them it is 2 sqrt(m' + 1/2), attained by such corners of weights 1 and 0.
    In the L1 norm it is 2 m', as each category adds up to 2 at most in both rows, and 2 m' + 2 with q and
    q^2; attained by the same rows.
    """

    name = "column_means"
    flat = True

    def __init__(
        self,
        design: PublicDesign,
        *,
        center: np.ndarray,
        half: np.ndarray,
        levels: Sequence[np.ndarray] = (),
        weights: bool = False,
    ) -> None:
        super().__init__(design, center, half)
        count, self._weights = len(self._center), weights
        self._levels = [np.asarray(own, dtype=int) for own in levels]
        taken = np.concatenate([np.zeros(0, dtype=int), *self._levels])
        if len(np.unique(taken)) < len(taken) or (taken < 0).any() or (taken >= self._width).any():
            raise ValueError("levels holds numbers of covariates, each once")
        self.parts = (Part(np.ones(1), 1.0 + np.isin(np.arange(count + 2 * weights), taken)),)
        halves = count - len(taken) + sum(min(len(own), 2) for own in self._levels)
        self.sensitivity = 2 * math.sqrt(halves + weights / 2)
        self.sensitivity_l1 = 2.0 * (halves + weights)
        self.ranges = np.append(np.full(count, 2.0), np.ones(2 * weights))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        columns = self._boxed(block, scratch)
        for own in self._levels:
            values = columns[own] + 1.0
            together = predictor(np.ones(len(own)), values, scratch)
            columns[own] = values * np.minimum(1.0, 2.0 / np.maximum(together, 1.0))
        if self._weights:
            columns = np.vstack([columns, block.weight, np.square(block.weight)])
        return (each_row(columns),)


_MOST_CELLS = 126  # numbered by bytes with a sign


class _Reach(Statistic):
    """Chosen covariates of every valid row, and the response of rows with an event, in declared boxes."""

    def __init__(
        self,
        design: PublicDesign,
        center: np.ndarray,
        half: np.ndarray,
        log: bool,
        chosen: np.ndarray,
        apart: bool = False,
    ) -> None:
        middle, width = np.asarray(center, dtype=float), np.asarray(half, dtype=float)
        self._map = Map(
            design, middle[:-1], width[:-1], float(middle[-1]), float(width[-1]), log, apart=apart
        )
        chosen = np.asarray(chosen, dtype=bool)
        if chosen.shape != (len(middle) - 1,):
            raise ValueError(f"chosen holds {len(middle) - 1} truth values, one for each covariate")
        self._chosen = self._map.first + np.flatnonzero(chosen)
        self._middle, self._unit = middle[:-1][chosen], 1 / self._map.scale[chosen, None]
        self._count = len(self._chosen) + 1

    def _boxed(self, block: Block, scratch: Scratch) -> np.ndarray:
        """Shape (m, B), response last."""
        out = scratch("boxed", self._count, len(block.ok))
        for column, middle, own in zip(self._chosen, self._middle, out, strict=False):
            np.subtract(block.exog[:, column], middle, out=own)
        np.multiply(out[:-1], self._unit, out=out[:-1])
        out[-1] = self._response(block, scratch)
        return np.clip(out, -1.0, 1.0, out=out)

    def _response(self, block: Block, scratch: Scratch) -> np.ndarray:
        """Shape (B,), 0 where a row is not ok."""
        return self._map.y(block, scratch)


class ReachMeans(_Reach):
    """Sums of covariates over all rows, and of the response over the rows with an event; shape (m,).

    With a = clip(((x, y) - center) / half, -1, 1), of which m - 1 covariates are `chosen`, a row gives
    (a_1, ..., a_(m-1), delta a_m); delta is 1 for an event, else 0.

    Parameters
    ----------
    design : PublicDesign
    center, half : array_like, shape (d + 1,)
        Public middle and half-width of the covariates and, last, of the response on the model's scale.
    log : bool
        Whether the response is log time.
    chosen : array_like of bool, shape (d,)
        Which covariates.
    apart : bool
        Whether y is the response as it is; by default it is the response less its offset.

    Notes
    -----
    Sensitivity: 2 sqrt m; 2 m in the L1 norm; range 2. Each coordinate of a row lies in [-1, 1], also where
    delta is 0, so two rows differ by at most 2 in each; attained by events at opposite corners. A row that
    weighs nothing is 0, at most 1 away in each coordinate.
    """

    name = "reach_means"
    flat = True

    def __init__(self, design: PublicDesign, **public: Any) -> None:
        super().__init__(design, **public)
        self.parts = (Part(np.ones(1), np.ones(self._count)),)
        self.sensitivity, self.sensitivity_l1 = 2 * math.sqrt(self._count), 2.0 * self._count
        self.ranges = np.full(self._count, 2.0)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        columns = self._boxed(block, scratch)
        np.multiply(columns[-1], events(block, scratch), out=columns[-1])
        return (each_row(columns),)


class ReachCounts(_Reach):
    """How many rows lie in each cell of a column; shape (m, cells).

    With a as in :class:`ReachMeans`, cells of a column are equal parts of [-1, 1], or octaves of the distance
    from an origin: with h = cells / 2, a row with a >= origin counts in cell h + j if 2^(j - h + 1) <= a -
    origin < 2^(j - h + 2), in cell h where a is nearer, and as far below in cell h - 1 - j. A row at the
    upper end of a box counts in the last cell. Rows without an event do not count in the response.

    Where it is asked how many rows are `lost`, the response has two cells more: that of valid rows without an
    event, and that of rows which are meant to count, as the subset and the unit's choice leave them, and are
    not valid. They are released by themselves, shape (2,).

    Where both sides count together, h = cells, and a row counts in cell j if 2^(j - h + 1) <= |a - origin| <
    2^(j - h + 2), in cell 0 where a is nearer, and in the last if it is 2 away.

    Parameters
    ----------
    design, center, half, log, chosen, apart
        As in :class:`ReachMeans`.
    cells : int
        Even.
    origin : array_like, shape (m,)
        In [-1, 1]; NaN for equal cells, of the first columns.
    together : bool
        Whether rows on both sides of an origin count together.
    lost : bool
        Whether it is asked how many rows cannot be used.

    Notes
    -----
    Sensitivity: sqrt(2 m); 2 m in the L1 norm; range 1. A row adds 1 to at most one cell of a column, so two
    rows differ by at most two entries of 1 in each column, attained by events that share no cell. A row that
    weighs nothing adds to none: at most one entry a column. Which cell it is depends on the one value alone.

    Of `lost` rows it is the same: whether a row has an event, has none, or is not valid, excludes the others,
    so that it is still in one cell of the response at most; and a row that is not valid is in no other cell.
    A row that the subset or its unit leaves out is in none, whatever it holds. Attained by the same events.
    """

    name = "reach_counts"

    def __init__(
        self,
        design: PublicDesign,
        *,
        cells: int,
        origin: np.ndarray,
        together: bool = False,
        lost: bool = False,
        **public: Any,
    ) -> None:
        super().__init__(design, **public)
        origin, self._together = np.asarray(origin, dtype=float), together
        if origin.shape != (self._count,) or (np.abs(origin) > 1).any():
            raise ValueError("origin holds a number between -1 and 1, or NaN, for each column")
        self._even = int(np.isnan(origin).sum())
        if not np.isnan(origin[: self._even]).all():
            raise ValueError("columns of equal cells come first")
        if cells % 2 or not 2 <= cells <= _MOST_CELLS:
            raise ValueError(f"cells must be an even number up to {_MOST_CELLS}")
        self._cells, self._origin, self._lost = cells, origin, lost
        own = Part(np.ones(1), np.ones(cells))
        self.parts = (own,) * (self._count - 1) + (Part(np.ones(1), np.ones(cells + 2 * lost)),)
        self.sensitivity, self.sensitivity_l1 = math.sqrt(2 * self._count), 2.0 * self._count
        self.ranges = np.ones(cells * self._count + 2 * lost)

    def counted(self, block: Block) -> np.ndarray:
        return block.kept if self._lost else block.ok

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        counted = [block.ok] * (self._count - 1) + [events(block, scratch) == 1.0]
        columns = self._boxed(block, scratch)
        cells = scratch("cells", *columns.shape, dtype=np.int8)
        self._equal(columns[: self._even], cells[: self._even])
        self._octaves(columns[self._even :], cells[self._even :], scratch)
        if self._lost:
            cells[-1] = np.where(counted[-1], cells[-1], np.where(block.ok, self._cells, self._cells + 1))
            counted[-1] = block.kept
        return tuple(Factor(rows[:, None], column) for rows, column in zip(counted, cells, strict=True))

    def _equal(self, columns: np.ndarray, cells: np.ndarray) -> None:
        """Numbers of equal cells; columns are overwritten."""
        np.add(columns, 1.0, out=columns)
        np.multiply(columns, self._cells / 2, out=columns)
        np.fmin(columns, self._cells - 1, out=columns)
        np.copyto(cells, columns, casting="unsafe")

    def _octaves(self, columns: np.ndarray, cells: np.ndarray, scratch: Scratch) -> None:
        """Numbers of octaves, on both sides or of both together; columns are overwritten."""
        half = self._cells if self._together else self._cells // 2
        e = scratch("e", *columns.shape, dtype=np.int32)
        bits = scratch("bits", 3, *columns.shape, dtype=np.int8)
        last, some, below = bits.view(bool)
        np.equal(columns, 1.0, out=last)
        np.subtract(columns, self._origin[self._even :, None], out=columns)
        np.not_equal(columns, 0.0, out=some)
        np.less(columns, 0.0, out=below)
        # frexp: |a - origin| = |mantissa| 2^e with |mantissa| in [1/2, 1)
        np.frexp(columns, out=(columns, e))
        np.add(e, half - 2, out=e)
        np.copyto(cells, np.clip(e, 0, half - 1, out=e), casting="unsafe")
        np.multiply(cells, some, out=cells)
        if self._together:
            return
        np.bitwise_xor(cells, np.negative(bits[2], out=bits[2]), out=cells)  # ~j = -1 - j
        np.add(cells, half, out=cells)
        np.copyto(cells, self._cells - 1, where=last)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        ends = self._cells * self._count
        return vector[:ends].reshape(self._count, -1), *[vector[ends:]] * self._lost


class RowsApart(_Reach):
    """How many rows reach an end of the box of any column, and how many come near one; shape (2,).

    With a as in :class:`ReachMeans`, whether there is an event or not, and u = max |a_j|, a row adds (1, 0)
    if u = 1, for a value at an end of its box or beyond, and (0, 1/2) if u is less, but at least `near`.

    Parameters
    ----------
    design, center, half, log, chosen, apart
        As in :class:`ReachMeans`.
    near : float
        From 0 to 1.
    line : array_like, shape (p,), optional
        Released coefficients, on the scale of the design's columns, of the logarithm of a mean: y - center of
        a row is divided by the mean that they give it, as far as that exceeds `usual`.
    usual : float
        A mean.

    Notes
    -----
    Sensitivity: sqrt 5 / 2; 3/2 in the L1 norm; ranges 1 and 1/2. A row adds one of (1, 0), (0, 1/2) and, as
    one that weighs nothing, (0, 0); which of these it is follows from the row alone, whatever the line is.
    All are attained by a row at an end of a box against one near to it.
    """

    name = "rows_apart"
    flat = True
    NEAR = 0.5  # what a row near an end adds

    def __init__(
        self,
        design: PublicDesign,
        *,
        near: float,
        line: np.ndarray | None = None,
        usual: float = 1.0,
        **public: Any,
    ) -> None:
        super().__init__(design, **public)
        if not (0 <= near <= 1 and usual > 0 and (line is None or np.shape(line) == (len(design.names),))):
            raise ValueError("near must lie between 0 and 1, usual above 0, and line have a number a column")
        self._line, self._usual = line, math.log(usual)
        self._near, self.ranges = near, np.array([1.0, self.NEAR])
        self.parts = (Part(np.ones(1), self.ranges),)
        self.sensitivity, self.sensitivity_l1 = math.hypot(1.0, self.NEAR), 1.0 + self.NEAR

    def _response(self, block: Block, scratch: Scratch) -> np.ndarray:
        y = super()._response(block, scratch)
        if self._line is None:
            return y
        offset = block.offset if self._map.design.offset_bounds != (0.0, 0.0) else 0.0
        more = predictor(self._line, block.exog.T, scratch) + offset - self._usual
        return y * np.exp(-np.maximum(more, 0.0))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        columns = self._boxed(block, scratch)
        farthest = np.abs(columns, out=columns).max(axis=0)
        found = scratch("found", 2, len(farthest))
        np.equal(farthest, 1.0, out=found[0])
        np.greater_equal(farthest, self._near, out=found[1])
        np.multiply(found[1] - found[0], self.NEAR, out=found[1])
        return (each_row(found),)

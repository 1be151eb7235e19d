"""Where the columns of a design and its response lie: means and spreads in declared boxes.

The first things a fit asks for. Both cost the same however wide the declared bounds are against the data.

See docs/theory/first_stage.md#octaves-of-a-generalised-linear-model.
"""

from __future__ import annotations

import math

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic


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

    A row gives a = clip(((x, y, offset) - center) / half, -1, 1), m = d + 1, or d + 2 with an offset.

    Parameters
    ----------
    design : PublicDesign
    center, half : array_like, shape (m,)
        Public middle and half-width of the d covariates, of the response and of any offset.

    Notes
    -----
    Sensitivity: 2 sqrt m. |a - b| <= 2 in each column, which are the *ranges*, attained by opposite corners;
    against a row that weighs nothing |a| <= sqrt m.
    """

    name = "column_means"

    def __init__(self, design: PublicDesign, *, center: np.ndarray, half: np.ndarray) -> None:
        super().__init__(design, center, half)
        count = len(self._center)
        self.parts = (Part(np.ones(1), np.ones(count)),)
        self.sensitivity = 2 * math.sqrt(count)
        self.ranges = np.full(count, 2.0)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        return (Factor(block.ok[:, None].astype(float), self._boxed(block, scratch).T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)


class ColumnOctaves(_Columns):
    """How many rows lie how far from an origin, by octaves; shape (m, J).

    With a as in :class:`ColumnMeans` and u = |a - origin| / 2 in [0, 1], a row counts in octave j < J - 1 of
    a column if 2^-(j+1) <= u < 2^-j (u = 1 belongs to the first), else in the last.

    Parameters
    ----------
    design : PublicDesign
    center, half : array_like, shape (m,)
    origin : array_like, shape (m,)
        In [-1, 1], on the scale of the box.

    Notes
    -----
    Sensitivity: sqrt(2 m), *L1*: 2 m. A row counts once in each column, so two rows differ by at
    most two entries of 1 a column, attained where all columns fall into other octaves; against a row that
    weighs nothing sqrt m and m.
    """

    name = "column_octaves"
    OCTAVES = 12

    def __init__(
        self, design: PublicDesign, *, center: np.ndarray, half: np.ndarray, origin: np.ndarray
    ) -> None:
        super().__init__(design, center, half)
        self._origin = np.asarray(origin, dtype=float)
        if self._origin.shape != self._center.shape or not (np.abs(self._origin) <= 1).all():
            raise ValueError("origin holds a number between -1 and 1 for each column")
        count = len(self._center)
        self.parts = (Part(np.ones(1), np.ones(count * self.OCTAVES)),)
        self.sensitivity, self.sensitivity_l1 = math.sqrt(2 * count), 2.0 * count

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        count, size, octaves = len(self._origin), len(block.ok), self.OCTAVES
        distance = self._boxed(block, scratch)
        np.subtract(distance, self._origin[:, None], out=distance)
        np.abs(distance, out=distance)
        at, e = (
            scratch(name, count, size, dtype=dtype) for name, dtype in (("at", np.int8), ("e", np.int32))
        )
        near = scratch("near", count, size, dtype=bool)
        np.logical_not(np.greater(distance, 0, out=near), out=near)
        # frexp: distance = mantissa 2^e with mantissa in [1/2, 1), hence octave 1 - e; 0 and NaN last
        np.frexp(distance, out=(distance, e))
        np.subtract(1, e, out=e)
        np.copyto(at, np.clip(e, 0, octaves - 1, out=e), casting="unsafe")
        np.copyto(at, octaves - 1, where=near)
        counts = scratch("octaves", octaves, count, size, dtype=bool)
        for j in range(octaves):
            np.equal(at, j, out=counts[j])
        return (Factor(block.ok[:, None], counts.reshape(octaves * count, size).T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector.reshape(self.OCTAVES, -1).T,)

"""What every statistic must say about itself."""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from dpstats.curator.blocks import Block, Scratch
from dpstats.curator.lattice import Factor, Part


def each_row(columns: np.ndarray) -> Factor:
    """What sums so many numbers of each row, shape (m, B), one by one; they are scales on the right."""
    return Factor(np.ones((columns.shape[1], 1)), columns.T)


class Statistic(ABC):
    """A sum over rows of bounded products, with its sensitivity.

    A subclass is built as ``Class(design, **public)`` and sets `parts` and `sensitivity`. Its docstring
    proves the sensitivity for real-valued rows, the row that weighs nothing included; a test searches
    neighbours for a violation and another attains it.

    Attributes
    ----------
    parts : tuple of Part
    sensitivity : float
        L2 norm of the difference of two rows, in released coordinates, at most.
    sensitivity_l1 : float, optional
        L1 norm of that difference, at most. It and the next three let a pure budget choose among more laws of
        noise (:func:`dpstats.curator.law.pure_law`) and are proved like `sensitivity`.
    sensitivity_head : float, optional
        L2 norm of all coordinates of that difference but the last, at most, where `ranges` bounds the last.
    sensitivity_trace : float, optional
        Of a statistic that is one symmetric matrix: the sum of the sizes of the eigenvalues of that
        difference, at most.
    ranges : ndarray, shape (m,), optional
        Size of each coordinate of that difference, at most; infinite where nothing is said of it.
    spherical : bool
        Whether noise of pure epsilon must be spherical, as a paper has it, whatever else would do better.
    by_unit : bool
        Whether a row that stands for several units adds as often what it adds
        (:func:`dpstats.curator.partial.summed`). Other statistics weigh rows by themselves, or do not.
    flat : bool
        Whether all coordinates are released as one array of shape (m,), whatever the shapes of the parts.
    """

    name: ClassVar[str]
    by_unit: ClassVar[bool] = False
    flat: ClassVar[bool] = False
    parts: tuple[Part, ...]
    sensitivity: float
    sensitivity_l1: float | None = None
    sensitivity_head: float | None = None
    sensitivity_trace: float | None = None
    ranges: np.ndarray | None = None
    spherical: bool = False

    @abstractmethod
    def factors(self, block: Block, scratch: Scratch) -> Sequence[Factor]:
        """Factors of the rows of one block, one for each part.

        Entries stay within the scales of the part and are computed to 2^-32 of them, with W x as
        :mod:`dpstats.curator.products` rounds it. They depend on the row alone and not, by a bit, on where it
        stands in the block: sums over columns are those of that module. Rows that are not ok may hold
        anything: the lattice switches them off, and rows with a NaN too, and clips entries, in place, but
        those of a :class:`Factor` whose `most` says that none is too large. It must not raise, warn or branch
        on values. Its arrays of floats are its own, best from `scratch`, and never those of the block; they
        are filled anew for each block. The statistic holds public numbers only.
        """

    def counted(self, block: Block) -> np.ndarray:
        """Which rows may add anything, shape (B,): the valid ones, unless it is asked how many are not."""
        return block.ok

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        """Released coordinates as one array for each part, in natural shape, or all in one.

        Every entry is one coordinate times a positive number, so that it unpacks noise sds too.
        """
        if self.flat:
            return (vector,)
        ends = itertools.accumulate(part.size for part in self.parts)
        return tuple(
            part.unpack(vector[end - part.size : end]) for part, end in zip(self.parts, ends, strict=True)
        )


def cells_between(edges: Sequence[float] | np.ndarray, apart: bool = True) -> np.ndarray:
    """Where cells end, as numbers.

    Raises
    ------
    ValueError
        Unless they increase, or, where they need not lie `apart`, do not decrease.
    """
    found = np.asarray(edges, dtype=float)
    steps = np.diff(found)
    if found.ndim != 1 or len(found) < apart or not (steps > 0 if apart else steps >= 0).all():
        raise ValueError(f"the edges must be numbers that {'increase' if apart else 'do not decrease'}")
    return found


def check_positive(**public: float | np.ndarray) -> None:
    """Check public numbers.

    Raises
    ------
    ValueError
        Unless all are positive and finite.
    """
    for name, value in public.items():
        if not (np.greater(value, 0) & np.isfinite(value)).all():
            raise ValueError(f"{name} must be positive and finite")


class Counts(Statistic):
    """Weights of rows by cells, of which each row is in one at most.

    Notes
    -----
    A row adds its weight, 1 at most, to one cell, or nothing. For rows with weights v and w in cells c and d
    the difference is v e_c - w e_d, 0 <= v, w <= 1:

    *L2*: sqrt 2, *L1*: 2, *ranges*: 1; all attained by two rows of full weight in different cells.
    """

    sensitivity, sensitivity_l1 = math.sqrt(2), 2.0

    def lay_out(self, cells: int) -> None:
        """So many cells."""
        self.parts = (Part(np.ones(1), np.ones(cells)),)
        self.ranges = np.ones(cells)

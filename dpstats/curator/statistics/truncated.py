"""Second moments of truncated rows, as public moment truncation releases them (docs/theory/pmt.md#ridge)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic
from dpstats.curator.statistics.pilot import PilotRow


class TruncatedGram(Statistic):
    """The sum of a a', for rows a = W x~ shortened to |a| <= radius.

    Parameters
    ----------
    design : PublicDesign
    **pilot
        The rows, see :class:`dpstats.curator.statistics.pilot.PilotRow`; only a is used.

    Notes
    -----
    Sensitivity: D = sqrt2 radius^2, and radius^2 for one column (docs/theory/pmt.md#sensitivities). For rows
    a and b, |aa' - bb'|_F^2 = |a|^4 + |b|^4 - 2 (a.b)^2 <= 2 radius^4, attained by orthogonal rows of full
    length; in one dimension it is (a^2 - b^2)^2 <= radius^4, attained by b = 0. A row that weighs nothing is
    b = 0. A symmetric part is released as svec, whose L2 norm is the Frobenius norm, so that off-diagonal
    entries get noise of 1 / sqrt2 the sd; the noise has the same law in every rotation of a.
    """

    name = "truncated_gram"

    def __init__(self, design: PublicDesign, **pilot: Any) -> None:
        self._rows = PilotRow(design, **pilot)
        self.parts = (Part(np.full(self._rows.k, self._rows.radius)),)
        self.sensitivity = (math.sqrt(2) if self._rows.k > 1 else 1.0) * self._rows.radius**2

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        return (Factor(self._rows.rows(block, scratch).T),)


class TruncatedTriangle(Statistic):
    """The same sum with noise of one sd on every entry of the upper triangle, as large as published.

    Released as a symmetric matrix. The law of its noise depends on the rotation of a.

    Parameters
    ----------
    design : PublicDesign
    **pilot
        As of :class:`TruncatedGram`.

    Notes
    -----
    Sensitivity: D = 2 radius^2, that of the paper's Theorem 3.2. The upper triangle is no longer than the
    Frobenius norm, which is at most sqrt2 radius^2 (:class:`TruncatedGram`), so that this is private and
    sqrt2 times too large.
    """

    name = "truncated_triangle"

    def __init__(self, design: PublicDesign, **pilot: Any) -> None:
        self._rows = PilotRow(design, **pilot)
        self._triangle = np.triu_indices(self._rows.k)
        square = self._rows.radius**2
        self.parts = (Part(np.ones(1), np.full(len(self._triangle[0]), square)),)
        self.sensitivity = 2 * square

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        row = self._rows.rows(block, scratch)
        first, second = self._triangle
        products = np.multiply(row[first], row[second], out=scratch("products", len(first), row.shape[1]))
        ones = scratch("ones", 1, row.shape[1])
        ones[0] = block.ok
        return (Factor(ones.T, products.T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        matrix = np.zeros((self._rows.k, self._rows.k))
        matrix[self._triangle] = vector
        return (matrix + np.triu(matrix, 1).T,)


class TruncatedCross(Statistic):
    """The sum of a r, for rows a = W x~ shortened to |a| <= radius and responses r clipped to the limit.

    Parameters
    ----------
    design : PublicDesign
    whole : bool
        Whether r is scaled down with a, as it must be for E(r | a) to stay a line; the paper leaves it.
    **pilot
        The rows, see :class:`dpstats.curator.statistics.pilot.PilotRow`.

    Notes
    -----
    Sensitivity: D = 2 radius limit. |a r - b s| <= |a| |r| + |b| |s|, attained by a = b of full length and
    r = -s = limit. A row that weighs nothing is b = 0.
    """

    name = "truncated_cross"

    def __init__(self, design: PublicDesign, *, whole: bool = True, **pilot: Any) -> None:
        self._rows = PilotRow(design, whole=whole, **pilot)
        radius, limit = self._rows.radius, self._rows.limit
        self.parts = (Part(np.full(self._rows.k, radius), np.array([limit])),)
        self.sensitivity = 2 * radius * limit

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        row, k = self._rows.read(block, scratch), self._rows.k
        return (Factor(row[:k].T, row[k:].T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)

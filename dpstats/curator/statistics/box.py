"""Second moments of rows in a box, whose entries are bounded one by one: for pure epsilon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic


class BoxMoments(Statistic):
    """The sum of z z', z = sqrt(weight) (x~, y~) / limits with every entry clipped to [-1, 1].

    A symmetric matrix of order m = k + 1, the response last.

    Parameters
    ----------
    design : PublicDesign
    limits : array_like, shape (k + 1,)
        Positive; that of a leading 1 is at least 1.
    **row
        The public map of rows, see :class:`dpstats.curator.geometry.Map`.

    Notes
    -----
    For rows z, w in [-1, 1]^m let s = z + w and t = z - w, so that |s_i| + |t_i| = 2 max(|z_i|, |w_i|) <= 2
    and z_i z_j - w_i w_j = (s_i t_j + t_i s_j) / 2. Released are the diagonal and, times sqrt 2, what is
    above it.

    *L2*: sqrt 2 m. The norm is the Frobenius norm of z z' - w w', and rows have length at most sqrt m (the
    proof for outer products, docs/theory/privacy.md#sensitivity-of-a-statistic); attained by orthogonal rows
    of signs.
    *Ranges*: 1 on the diagonal and 2 sqrt 2 above it, attained by z_i = 1 = z_j = w_i = -w_j; with z_j of a
    row off, 1 on the diagonal.
    *L1*: m^2 / sqrt 2 + (1 - 1 / sqrt 2) m. With S = sum |s_i|, T = sum |t_i| and P = sum |s_i t_i|, entries
    above the diagonal add up to at most (S T - P) / 2 and those on it to P. S + T <= 2 m gives S T <= m^2,
    and |s_i t_i| <= 1 gives P <= m: sqrt 2 (S T - P) / 2 + P <= m^2 / sqrt 2 + (1 - 1 / sqrt 2) m. Attained
    by a row of ones against a row that weighs nothing.
    """

    name = "box_moments"

    def __init__(self, design: PublicDesign, *, limits: np.ndarray, **row: Any) -> None:
        self._map, self._weighted = Map(design, **row), design.weights is not None
        m = self._map.k + 1
        self._limits = np.asarray(limits, dtype=float)
        if self._limits.shape != (m,) or not (np.isfinite(self._limits) & (self._limits > 0)).all():
            raise ValueError(f"limits must be {m} positive numbers")
        self.parts = (Part(np.ones(m)),)
        self.sensitivity = math.sqrt(2) * m
        self.sensitivity_l1 = m**2 / math.sqrt(2) + (1 - 1 / math.sqrt(2)) * m
        rows, columns = np.triu_indices(m)
        self.ranges = np.where(rows == columns, 1.0, 2 * math.sqrt(2))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        k = self._map.k
        row = scratch("row", k + 1, len(block.ok))
        row[:k] = self._map.x(block, scratch)
        row[k] = self._map.y(block, scratch)
        np.divide(row, self._limits[:, None], out=row)
        np.clip(row, -1.0, 1.0, out=row)
        if self._weighted:
            np.multiply(row, np.sqrt(block.weight), out=row)
        return (Factor(row.T),)

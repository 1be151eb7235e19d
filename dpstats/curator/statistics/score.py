"""The score of a least squares line, for laws of noise that grow with the number of coordinates.

See docs/theory/linear.md#pure-epsilon.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic
from dpstats.curator.statistics.pilot import PilotRow


class ResidualScore(Statistic):
    """The sums of a r and of c r^2 for rows a = W x~ and residuals r = (y~ - line'x~) / sigma.

    The rows are those of :class:`PilotRow`, and c = sqrt 2 radius / limit.

    Parameters
    ----------
    design : PublicDesign
    **pilot
        The rows, see :class:`dpstats.curator.statistics.pilot.PilotRow`.

    Notes
    -----
    Sensitivity: 2 radius limit. Take radius = limit = 1. For rows with |r| = p >= q = |r'|,
    |a r - a' r'| <= p + q, and D^2 <= (p + q)^2 + 2 (p^2 - q^2)^2 = (p + q)^2 (1 + 2 (p - q)^2), which grows
    with p. At p = 1 it is (1 + q)^2 + 2 (1 - q^2)^2, whose slope 2 (1 + q)(1 - 4 q (1 - q)) is not negative:
    D^2 <= 4, attained by rows a and -a of full length with r = r' = limit. A row that weighs nothing is
    q = 0.
    """

    name = "residual_score"

    def __init__(self, design: PublicDesign, **pilot: Any) -> None:
        self._rows = PilotRow(design, **pilot)
        radius, limit = self._rows.radius, self._rows.limit
        # the last column of the left factor is c r, so that its sum with r is that of c r^2
        self._c = math.sqrt(2) * radius / limit
        scale = np.append(np.full(self._rows.k, radius), self._c * limit)
        self.parts = (Part(scale, np.array([limit])),)
        self.sensitivity = 2 * radius * limit

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        row, k = self._rows.read(block, scratch), self._rows.k
        residual = scratch("residual", 1, row.shape[1])
        residual[0] = row[k]
        np.multiply(row[k], self._c, out=row[k])
        return (Factor(row.T, residual.T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return vector[:-1], vector[-1:]

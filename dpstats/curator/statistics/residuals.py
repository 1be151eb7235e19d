"""Second moments of whitened rows and of their residuals about a pilot line.

See docs/theory/linear.md#one-joint-release.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import shorten
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic
from dpstats.curator.statistics.pilot import PilotRow


class ResidualMoments(Statistic):
    """Of rows a = W x~ and residuals r = (y~ - line'x~) / sigma: the sums of z z', u u', q and e e'.

    With the rows of :class:`PilotRow`, z = (a, c r) with c = radius / limit; u = a r, shortened to
    |u| <= meat_limit and brought to |u|^2 <= k radius^2; q = f radius^2 (r / limit)^4, with k = `meat` and
    f = `fourth`; e = sqrt(h) radius (y~ / spread_limit, 1/2), its first entry clipped to sqrt(h) radius and
    all times the square root of the row's weight, with h = `spread`.

    Parameters
    ----------
    design : PublicDesign
    meat : float
        k, from 0 (nothing but z z' is released) to 1.
    meat_limit : float
        At most radius * limit.
    fourth : float
        f, positive with k and at most sqrt 1/2.
    spread, spread_limit : float
        h and the limit of y~, positive with k.
    **pilot
        The rows, see :class:`dpstats.curator.statistics.pilot.PilotRow`.

    Notes
    -----
    Sensitivity: D^2 = radius^4 (8 + 2 k^4 / (1 + k^2) + 2 h^2). At k = h = 0 this is that of z z' alone, so
    that u and q are nearly free: 1.2 % of D^2 at k = 1/2.

    Take radius = limit = 1, b = meat_limit <= 1. For two rows let T, T' be |a|^2 and |a'|^2, v, v' be r^2 and
    r'^2, and s the cosine between a and a' with the sign of r r'. |u|^2 = k m with m = min(1, sqrt(T v) / b)
    squared, so put M = min(1, T v / b^2), M' alike, and K = k^2 M M'. The three parts add up to

        (T + v)^2 + (T' + v')^2 - 2 (sqrt(T T') s + sqrt(v v'))^2 + k^2 (M^2 + M'^2 - 2 M M' s^2)
        + f^2 (v^2 - v'^2)^2.

    Over s, a concave quadratic, this is at most (s = -sqrt(T T' v v') / (T T' + K))

        F = (T + v)^2 + (T' + v')^2 + k^2 (M^2 + M'^2) - 2 v v' K / (T T' + K) + f^2 (v^2 - v'^2)^2.

    *F grows with T* (and T'): where M = 1, K does not depend on T and K / (T T' + K) falls; where M < 1, M
    and so K is proportional to T, and the ratio is constant. Take T = T' = 1.
    *F grows with v* if v >= v'. The slope of -2 v v' K / (1 + K) is at least -2 v' K / (1 + K)
    - 2 v v' k^2 M' dM/dv. The first is at least -2, outweighed by that of (1 + v)^2. The second is outweighed
    by that of k^2 M^2: where dM/dv is not 0, M = v / b^2 >= v v' M'. Take v = 1.
    *F grows with v'*: as before, but for two terms. 2 (1 + v') - 2 K / (1 + K) - 4 f^2 v' (1 - v'^2)
    >= 2 / (1 + k^2) + 2 v' (1 - 2 f^2 (1 - v'^2)) >= 0 if f^2 <= 1/2. Take v' = 1.
    There F = 8 + 2 k^2 - 2 k^2 / (1 + k^2), attained by two rows of full length with r = r' = limit and the
    cosine -1 / (1 + k^2), which exist in two dimensions. A row that weighs nothing is T' = v' = 0.

    *The last part* adds at most 2 h^2: in units of h, e = w (p, 1/2) and e' = w' (p', 1/2) with |p|, w <= 1
    and the like, and |ee' - e'e''|^2 = |e|^4 + |e'|^4 - 2 (e.e')^2, a convex function of w^2 and w'^2. At
    w = w' = 1 it is (p^2 - p'^2)^2 + (p - p')^2 / 2, at most 2 (p = 1 = -p'); at w' = 0, (p^2 + 1/4)^2 < 2.
    A pair attains both, as y~ = line'x~ + sigma r may be large of either sign where r = limit.
    """

    name = "residual_moments"

    def __init__(
        self,
        design: PublicDesign,
        *,
        meat: float = 0.0,
        meat_limit: float = 0.0,
        fourth: float = 0.7,
        spread: float = 0.35,
        spread_limit: float = 4.0,
        **pilot: Any,
    ) -> None:
        self._rows = PilotRow(design, **pilot)
        self._meat, self._meat_limit, self._fourth = float(meat), float(meat_limit), float(fourth)
        self._spread, self._spread_limit = float(spread), float(spread_limit)
        self._check()
        k, radius = self._rows.k, self._rows.radius
        self.parts = (Part(np.full(k + 1, radius)),)
        if meat:
            self.parts += (
                Part(np.full(k, math.sqrt(meat) * radius)),
                Part(np.full(1, math.sqrt(fourth) * radius)),
                Part(math.sqrt(spread) * radius * np.array([1.0, 0.5])),
            )
        extra = 2 * meat**4 / (1 + meat**2) + 2 * spread**2 if meat else 0.0
        self.sensitivity = radius**2 * math.sqrt(8 + extra)

    def _check(self) -> None:
        most = self._rows.radius * self._rows.limit * (1 + 1e-12)
        if not 0 <= self._meat <= 1 or (self._meat and not 0 < self._meat_limit <= most):
            raise ValueError("meat must lie between 0 and 1, meat_limit between 0 and radius * limit")
        if not 0 < self._fourth <= math.sqrt(0.5):
            raise ValueError("fourth must be positive and at most sqrt 1/2")
        if not (0 < self._spread < math.inf and 0 < self._spread_limit < math.inf):
            raise ValueError("spread and spread_limit must be positive and finite")

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        row, k = self._rows.read(block, scratch), self._rows.k
        extra = (*self._extra(row, scratch), self._response(block, scratch)) if self._meat else ()
        np.multiply(row[k], self._rows.radius / self._rows.limit, out=row[k])
        return (Factor(row.T), *extra)

    def _extra(self, row: np.ndarray, scratch: Scratch) -> tuple[Factor, Factor]:
        """u and q, from a and r before r is scaled."""
        k, size = self._rows.k, row.shape[1]
        stretch = math.sqrt(self._meat) * self._rows.radius / self._meat_limit
        u = np.multiply(row[:k], row[k], out=scratch("u", k, size))
        np.multiply(u, stretch * shorten(u, self._meat_limit, scratch), out=u)
        q = np.multiply(row[k:], row[k:], out=scratch("q", 1, size))
        np.multiply(q, math.sqrt(self._fourth) * self._rows.radius / self._rows.limit**2, out=q)
        return Factor(u.T), Factor(q.T)

    def _response(self, block: Block, scratch: Scratch) -> Factor:
        """e of each row."""
        e = self._rows.response(block, scratch)
        size = math.sqrt(self._spread) * self._rows.radius
        np.clip(e[0], -self._spread_limit, self._spread_limit, out=e[0])
        np.multiply(e[0], size / self._spread_limit, out=e[0])
        np.multiply(e[1], size / 2, out=e[1])
        return Factor(e.T)

"""Rows in the coordinates of a pilot fit, and sums of their residuals about its line.

Rows are of bounded length, with bounded residuals. Their second moments are released together
(docs/theory/linear.md#one-joint-release), or, for laws of noise that grow with the number of coordinates, the
score of the line alone (docs/theory/linear.md#pure-epsilon). How many residuals have which size, however
large they may be, is counted (docs/theory/linear.md#reach-of-residuals), and so is how far rows reach in
which direction, however long they may be (docs/theory/linear.md#rows-that-hold-a-variance).
"""

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, shorten, weighed, weights_of
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import squared_norms
from dpstats.curator.statistics.base import Counts, Statistic, cells_between, check_positive


class PilotRow:
    """a = W x~ and r = (y~ - line'x~) / sigma of a row.

    The row (a, r), times the square root of its weight, is shortened to |a| <= radius, and r clipped to
    [-limit, limit].

    Parameters
    ----------
    design : PublicDesign
    whitening : array_like, shape (k, k)
        The transpose of W.
    line : array_like, shape (k,)
    sigma, radius, limit : float
        Positive.
    whole : bool
        Whether r is scaled down with a.
    **row
        The public map of rows, see :class:`dpstats.curator.geometry.Map`.
    """

    def __init__(
        self,
        design: PublicDesign,
        *,
        whitening: np.ndarray,
        line: np.ndarray,
        sigma: float,
        radius: float,
        limit: float,
        whole: bool = True,
        **row: Any,
    ) -> None:
        self._map, self._weighted, self.whole = Map(design, **row), design.weights is not None, whole
        self.k = k = self._map.k
        self._whitened, self._line = self._map.whitened(whitening), np.asarray(line, dtype=float)
        if self._line.shape != (k,):
            raise ValueError(f"line must have {k} entries")
        self._sigma, self.radius, self.limit = float(sigma), float(radius), float(limit)
        check_positive(sigma=sigma, radius=radius, limit=limit)

    def response(self, block: Block, scratch: Scratch) -> np.ndarray:
        """sqrt(weight) (y~, 1) of each row, shape (2, B); a reused array."""
        out = scratch("response", 2, len(block.ok))
        out[0], out[1] = self._map.y(block, scratch), 1.0
        return weighed(out, block, self._weighted, root=True)

    def read(self, block: Block, scratch: Scratch) -> tuple[np.ndarray, np.ndarray]:
        """a and, last, r of each row, shape (k + 1, B), a reused array; and what no entry of a exceeds.

        Where r lies beyond the limit it is the limit, with its sign.
        """
        row, most, _ = self.unclipped(block, scratch)
        np.clip(row[self.k], -self.limit, self.limit, out=row[self.k])
        return row, most

    def unclipped(self, block: Block, scratch: Scratch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `read`, with r as large as it is; and what shortens each row, (B,), or all."""
        x, k = self._map.centred(block, scratch), self.k
        row = scratch("row", k + 1, len(block.ok))
        row[k] = self._map.residuals(x, block, scratch, self._line, self._sigma)
        return row, *self._bounded(x, row, block, scratch)

    def rows(self, block: Block, scratch: Scratch) -> np.ndarray:
        """a of each row alone, shape (k, B); a reused array."""
        row = scratch("row", self.k, len(block.ok))
        self._bounded(self._map.centred(block, scratch), row, block, scratch)
        return row

    def _bounded(
        self, x: np.ndarray, row: np.ndarray, block: Block, scratch: Scratch
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fill in a, from x, and shorten the row, which may have r as well.

        What no entry of a exceeds, and by what each row is multiplied, or all are.
        """
        a, shorter = row[: self.k], np.ones(1)
        most = self._map.filled(self._whitened, x, block, a, scratch)
        weighed(row, block, self._weighted, root=True)
        if not most @ most <= self.radius**2:  # else no row is longer
            long, shorter = row if self.whole else a, scratch("shorter", 1, row.shape[1])[0]
            shorter[:] = shorten(a, self.radius, scratch)
            np.multiply(long, shorter, out=long)
        return most, shorter


class ResidualMoments(Statistic):
    """Of rows a = W x~ and residuals r = (y~ - line'x~) / sigma: the sums of z z', u u', q, e e' and v.

    With the rows of :class:`PilotRow`, z = (a, c r) with c = radius / limit; u = a r, shortened to
    |u| <= meat_limit and brought to |u|^2 <= k radius^2; q = f radius^2 (r / limit)^4, with k = `meat` and
    f = `fourth`; e = sqrt(h) radius (y~ / spread_limit, 1/2), its first entry clipped to sqrt(h) radius and
    all times the square root of the row's weight, with h = `spread`.

    A row at the limit, of the sign t, is far. With j = `kept` its z is (a, c j r), so that it moves a line
    less, and what that takes is released by itself, as the sum of v w' with
    v = radius (sqrt(2 (1 - j^2)) t a, g radius). w is the row of `code` for how far r lies beyond the limit.

    So is, with `light`, any other row that was shortened to less than half of its weight. The last entry
    of its w is 1 and the only one, which is 0 in others, and its v is radius (sqrt(2 (1 - j^2)) p a, g
    radius p^2), where p is its residual over the limit, from -1 to 1, before the row was shortened.

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
    kept : float
        j, positive; at 1 no row is far.
    edges : array_like, shape (cells - 1,)
        Between the cells of sizes beyond the limit, not decreasing.
    code : array_like, shape (cells, m)
        The w of each cell: not negative, and of a length of at most 1.
    light : bool
        Whether rows of less than half of their weight are told apart.
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

    *Far rows*, with m = 1 - j^2 and g^2 = m (2 / (1 + k^2) - m), which is positive. Two of them, v = v' = 1,
    of the same w, |w| = 1, differ by as much as without j: where they add c r a to z z' and nothing else,
    they now add j and sqrt m times as much to the two sums, whose squares add up to 1, and 1 - m to the
    square of r, equally. For any w and w', with p = w'w' between 0 and 1, they differ by at most

        T^2 + T'^2 - 2 T T' s^2 + 2 (T + T' - 2 (1 - m (1 - p)) sqrt(T T') s) + 2 g^2 (1 - p)
        + k^2 (M^2 + M'^2 - 2 M M' s^2),

    over s at most that with 2 (1 - m (1 - p))^2 T T' / (T T' + K) for the terms in s, which grows with T and
    T' as F does. At T = T' = 1 it is 6 + 2 k^2 + 2 (1 - m (1 - p))^2 / (1 + k^2) + 2 g^2 (1 - p), convex in p
    and at p = 1 what it was. At p = 0, m^2 / (1 + k^2) - 2 m / (1 + k^2) + g^2 is added to half of that:
    m^2 (1 / (1 + k^2) - 1), which is not positive. One and a row that is not far, T' and v' <= 1, differ by

        T^2 + T'^2 - 2 T T' s^2 + 2 (T + T' v' - 2 j sqrt(T T' v') s) + (v' - j^2)^2 + g^2
        + k^2 (M^2 + M'^2 - 2 M M' s^2) + f^2 (1 - v'^2)^2,

    over s at most that with 2 j^2 v' T T' / (T T' + K) for the terms in s. It grows with T and T' as F does,
    as K / (T T' + K) falls; take T = T' = 1. It grows with v': 2 M' k^2 dM'/dv' outweighs what K takes, and
    the rest of the slope is at least 2 + 2 (v' - j^2) - 4 f^2 v' (1 - v'^2) >= 2 m. At v' = 1 it is
    6 + 2 k^2 + 2 j^2 / (1 + k^2) + m^2 + g^2, which is 8 + 2 k^2 - 2 k^2 / (1 + k^2) by the choice of g. One
    and a row that weighs nothing: T^2 + 2 T + j^4 + g^2 + k^2 + f^2, less than 7.

    *Light rows*, with p^2 = w >= v. Let k^2 / (1 + k^2) <= j^2 <= 2/5, g^2 <= m and 32 f^2 / 27 <= j^4 +
    2 j^2 / (1 + k^2). All that follows grows with T and T' as F does, and at 1 is over s at most the
    following. One and a row that is neither light nor far:

        2 + 2 (j^2 v + m w + v') + (v' - j^2 v)^2 + g^2 w^2 + k^2 (M^2 + M'^2) + 2 j^2 v v' / (1 + K)
        + f^2 (v^2 - v'^2)^2.

    It grows with w, and with v', as 2 - 2 j^2 exceeds 4 f^2 v' (v^2 - v'^2) and K costs what it did: take
    both as 1. It is convex in M, and less at M = 0. At M = 1 it lacks, of what it is at v = 1, where the
    row is as one that is far, (1 - v) (j^4 (1 + v) + 2 j^2 / (1 + k^2) - f^2 (1 - v) (1 + v)^2), which is
    not negative, as (1 - v) (1 + v)^2 <= 32 / 27. Two light rows:

        2 + 2 (j^2 (v + v') + m (w + w')) + j^4 (v - v')^2 + g^2 (w - w')^2 + k^2 (M^2 + M'^2)
        + 2 (j^2 sqrt(v v') + m sqrt(w w'))^2 / (1 + K) + f^2 (v^2 - v'^2)^2.

    It grows with the larger of w and w', and then with the other, as g^2 <= m: take both as 1. So it does
    with the larger of v and v', v say: take v = M = 1. It is convex in M', which lies between v' and 1.
    If M' is the one or the other, it grows with v', as 2 j^2 + 2 j^2 / (1 + k^2) - 2 j^4 > 4 f^2 v' (1 -
    v'^2) and j^2 >= k^2 / (1 + k^2). At v' = 1 it is what it is without j. One and a row that is far:

        2 + 2 (j^2 (1 + v) + m (1 + w)) + j^4 (1 - v)^2 + g^2 (1 + w^2) + k^2 (1 + M^2) + 2 j^4 v / (1 + K)
        + f^2 (1 - v^2)^2.

    It grows with w, and is largest at M = 1, where it lacks (1 - v) (2 j^2 + 2 j^4 / (1 + k^2) - j^4 (1 -
    v) - f^2 (1 - v) (1 + v)^2) of what it is at v = 1, the case of p = 0 above. One and a row that weighs
    nothing: as a far row, or less.
    """

    name = "residual_moments"

    def __init__(  # noqa: PLR0913 - all that is public of one release
        self,
        design: PublicDesign,
        *,
        meat: float = 0.0,
        meat_limit: float = 0.0,
        fourth: float = 0.7,
        spread: float = 0.35,
        spread_limit: float = 4.0,
        kept: float = 1.0,
        edges: Any = (),
        code: Any = ((1.0,),),
        light: bool = False,
        **pilot: Any,
    ) -> None:
        self._rows, self._kept, self._light = PilotRow(design, **pilot), float(kept), bool(light)
        self._meat, self._meat_limit, self._fourth = float(meat), float(meat_limit), float(fourth)
        self._spread, self._spread_limit = float(spread), float(spread_limit)
        self._edges, self._code = cells_between(edges, apart=False), np.asarray(code, dtype=float)
        self._check()
        k, radius = self._rows.k, self._rows.radius
        self.parts = (Part(np.full(k + 1, radius)),)
        if meat:
            self.parts += (
                Part(np.full(k, math.sqrt(meat) * radius)),
                Part(np.full(1, math.sqrt(fourth) * radius)),
                Part(math.sqrt(spread) * radius * np.array([1.0, 0.5])),
            )
        if kept < 1:
            lost = 1 - kept**2
            self._along, self._one = (
                radius**2 * math.sqrt(square) for square in (2 * lost, lost * (2 / (1 + meat**2) - lost))
            )
            most = np.append(self._code.max(axis=0), np.ones(int(self._light)))
            self.parts += (Part(np.append(np.full(k, self._along), self._one), most),)
        extra = 2 * meat**4 / (1 + meat**2) + 2 * spread**2 if meat else 0.0
        self.sensitivity = radius**2 * math.sqrt(8 + extra)

    def _check(self) -> None:
        if not 0 < self._kept <= 1:
            raise ValueError("kept must be positive and at most 1")
        if (self._code < 0).any() or ((self._code**2).sum(axis=1) > 1 + 1e-12).any():
            raise ValueError("a row of code has a length of at most 1, and no negative entry")
        if len(self._code) != len(self._edges) + 1:
            raise ValueError("code needs a row for each cell between the edges")
        most = self._rows.radius * self._rows.limit * (1 + 1e-12)
        if not 0 <= self._meat <= 1 or (self._meat and not 0 < self._meat_limit <= most):
            raise ValueError("meat must lie between 0 and 1, meat_limit between 0 and radius * limit")
        if not 0 < self._fourth <= math.sqrt(0.5):
            raise ValueError("fourth must be positive and at most sqrt 1/2")
        check_positive(spread=self._spread, spread_limit=self._spread_limit)
        if self._light and not (self._rows.whole and self._room_for_light()):
            raise ValueError("light needs whole rows, and kept, meat and fourth that leave room for it")

    def _room_for_light(self) -> bool:
        j, k, f = (size**2 for size in (self._kept, self._meat, self._fourth))
        few = j**2 + 2 * j / (1 + k) >= 32 * f / 27
        return few and k / (1 + k) <= j <= 2 / 5 and (1 - k) / (1 + k) <= 1 - j

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        (row, most, shorter), k, limit = self._rows.unclipped(block, scratch), self._rows.k, self._rows.limit
        size = np.abs(row[k], out=scratch("size", 1, row.shape[1])[0])
        np.clip(row[k], -limit, limit, out=row[k])
        extra = [*self._extra(row, scratch), self._response(block, scratch)] if self._meat else []
        if self._kept < 1:
            extra.append(self._beyond(row, most, size, shorter, scratch))
        np.multiply(row[k], self._rows.radius / self._rows.limit, out=row[k])
        return (Factor(row.T, most=np.append(most, np.abs(row[k]).max())), *extra)

    def _extra(self, row: np.ndarray, scratch: Scratch) -> tuple[Factor, Factor]:
        """u and q, from a and r before r is scaled."""
        k, size = self._rows.k, row.shape[1]
        stretch = math.sqrt(self._meat) * self._rows.radius / self._meat_limit
        u = np.multiply(row[:k], row[k], out=scratch("u", k, size))
        np.multiply(u, stretch * shorten(u, self._meat_limit, scratch), out=u)
        q = np.multiply(row[k:], row[k:], out=scratch("q", 1, size))
        np.multiply(q, math.sqrt(self._fourth) * self._rows.radius / self._rows.limit**2, out=q)
        return Factor(u.T), Factor(q.T)

    def _beyond(
        self, row: np.ndarray, most: np.ndarray, size: np.ndarray, shorter: np.ndarray, scratch: Scratch
    ) -> Factor:
        """v and w of each row that is far or light, whose r then becomes j times as large.

        A row's r was of this size before it was clipped, and is that of the shortened row.
        """
        k, m, far = self._rows.k, self._code.shape[1], np.flatnonzero(size >= self._rows.limit)
        v, w = scratch("v", k + 1, len(size)), scratch("w", m + int(self._light), len(size))
        part, along = row[k] / self._rows.limit, self._along / self._rows.radius
        w[:] = 0.0
        if self._light:
            shorter = np.broadcast_to(shorter, size.shape)
            light = np.flatnonzero((shorter**2 < 1 / 2) & (size < self._rows.limit))
            w[m, light] = 1.0
            part[light] = np.clip(part[light] / shorter[light], -1.0, 1.0)
            row[k, light] *= self._kept
        np.multiply(row[:k], along * part, out=v[:k])
        np.multiply(part**2, self._one, out=v[k])
        w[:m, far] = self._code[np.searchsorted(self._edges, size[far], side="right")].T
        row[k, far] *= self._kept
        return Factor(v.T, w.T, np.append(most * along, self._one))

    def _response(self, block: Block, scratch: Scratch) -> Factor:
        """e of each row."""
        e = self._rows.response(block, scratch)
        size = math.sqrt(self._spread) * self._rows.radius
        np.clip(e[0], -self._spread_limit, self._spread_limit, out=e[0])
        np.multiply(e[0], size / self._spread_limit, out=e[0])
        np.multiply(e[1], size / 2, out=e[1])
        return Factor(e.T)


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
        (row, _), k = self._rows.read(block, scratch), self._rows.k
        residual = scratch("residual", 1, row.shape[1])
        residual[0] = row[k]
        np.multiply(row[k], self._c, out=row[k])
        return (Factor(row.T, residual.T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return vector[:-1], vector[-1:]


class ResidualCounts(Counts):
    """The weights of the rows by the size of their residuals r = sqrt(weight) (y~ - line'x~) / sigma.

    A row counts in cell j if edges[j - 1] <= |r| < edges[j]; the first cell begins at 0, the last has no end.

    Parameters
    ----------
    design : PublicDesign
    line : array_like, shape (k,)
    sigma : float
        Positive.
    edges : array_like, shape (cells - 1,)
        Between the cells, not decreasing.
    **row
        The public map of rows, see :class:`dpstats.curator.geometry.Map`.

    Notes
    -----
    Sensitivity: sqrt 2; 2 in the L1 norm; range 1. A row adds its weight, at most 1, to one cell, so two rows
    differ by at most 1 in each of two cells, attained by residuals that share no cell. A row that weighs
    nothing adds to none: at most 1 in one cell.
    """

    name = "residual_counts"
    flat = True

    def __init__(
        self, design: PublicDesign, *, line: np.ndarray, sigma: float, edges: np.ndarray, **row: Any
    ) -> None:
        self._map, self._weighted = Map(design, **row), design.weights is not None
        self._line, self._sigma = np.asarray(line, dtype=float), float(sigma)
        self._edges = cells_between(edges, apart=False)
        check_positive(sigma=sigma)
        if self._line.shape != (self._map.k,):
            raise ValueError(f"line must have {self._map.k} entries")
        self.lay_out(len(self._edges) + 1)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        centred = self._map.centred(block, scratch)
        r = np.abs(self._map.residuals(centred, block, scratch, self._line, self._sigma))
        cell = np.searchsorted(self._edges, weighed(r, block, self._weighted, root=True), side="right")
        return (Factor(weights_of(block, self._weighted)[:, None], cell),)


class RowReach(Statistic):
    """Shares of squared lengths of rows a = sqrt(weight) W x~ by coordinate and length; shape (k, cells).

    A row adds a_j^2 / |a|^2 to entry j of cell i, if edges[i] <= |a| < edges[i + 1]; the last cell has no
    end. Shorter rows add nothing.

    Parameters
    ----------
    design : PublicDesign
    whitening : array_like, shape (k, k)
        The transpose of W.
    edges : array_like, shape (cells,)
        Positive, not decreasing.
    **row
        The public map of rows, see :class:`dpstats.curator.geometry.Map`.

    Notes
    -----
    Sensitivity: sqrt 2; 2 in the L1 norm; range 1. A row adds numbers that are not negative and add up to at
    most 1. So do two rows, u and u', and |u - u'|_1 <= |u|_1 + |u'|_1 <= 2. As u'u' >= 0 and no entry exceeds
    1, |u - u'|_2^2 <= |u|_2^2 + |u'|_2^2 <= |u|_1 + |u'|_1 <= 2. Both are attained by rows along two axes.
    """

    name = "row_reach"

    def __init__(self, design: PublicDesign, *, whitening: np.ndarray, edges: np.ndarray, **row: Any) -> None:
        self._map, self._weighted = Map(design, **row), design.weights is not None
        self._whitened, self._edges = self._map.whitened(whitening), cells_between(edges, apart=False)
        if not self._edges[0] > 1e-150:
            raise ValueError("edges hold numbers of which no square underflows")
        k = self._map.k
        self.parts = (Part(np.ones(k), np.ones(len(self._edges))),)
        self.sensitivity, self.sensitivity_l1 = math.sqrt(2), 2.0
        self.ranges = np.ones(k * len(self._edges))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        size, cells = len(block.ok), len(self._edges)
        a = scratch("row", self._map.k, size)
        self._map.filled(self._whitened, self._map.centred(block, scratch), block, a, scratch)
        weighed(a, block, self._weighted, root=True)
        square = squared_norms(a, scratch)
        inside = np.greater_equal(square, (self._edges**2)[:, None], out=scratch("cells", cells, size))
        inside[:-1] -= inside[1:]
        np.multiply(a, a, out=a)
        np.maximum(square, self._edges[0] ** 2, out=square)
        np.multiply(a, np.divide(1.0, square, out=square), out=a)
        return (Factor(a.T, inside.T),)

"""First and second moments of the rows with an event, and second moments of rows of bounded length.

Those of events are the first a survival fit asks for (docs/theory/first_stage.md), those of rows the first a
linear fit under pure epsilon does.
"""

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, events, shorten, weighed
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic, check_positive


class EventMoments(Statistic):
    """Count, means and mean squares of the event rows, in declared boxes.

    With ``a = ((x, y) - center) / half``, clipped to [-1, 1], a row gives ``delta a``, ``1.6 delta a^2``
    and ``1.5 delta``; released as arrays of shape (k,), (k,) and (1,), k = d + 1 for d covariates.

    Parameters
    ----------
    design : PublicDesign
    center, half : array_like, shape (k,)
        Public middle and half-width of the covariates and, last, of the response on the model's scale.
    log : bool
        Whether the response is log time.

    Notes
    -----
    Sensitivity: D^2 = max(4 k, 3.56 k + 2.25).

    *Two events.* The counts cancel. One column gives (a - b)^2 + 2.56 (a^2 - b^2)^2 = d^2 (1 + 2.56 s^2)
    with d = |a - b|, s = |a + b| and s <= 2 - d, as both lie in [-1, 1]. It remains to bound
    f(d) = d^2 (1 + 2.56 (2 - d)^2) on [0, 2]. With u = 2 - d, 4 - f = u (4 - u - 2.56 u (2 - u)^2), and
    g(u) = u + 2.56 u (2 - u)^2 is largest on [0, 2] where g'(u) = 1 + 2.56 (2 - u)(2 - 3u) = 0: the
    smaller root u = 0.7727, g = 3.752 < 4 (and g(2) = 2). So f <= 4, with equality at d = 2: a = 1, b = -1.
    *One event against none* (censored, or a row that weighs nothing): a column gives a^2 + 2.56 a^4 <= 3.56
    and the count 1.5^2 = 2.25, attained at |a_j| = 1. *No event:* 0.

    Ranges: 2, 1.6 and 1.5, attained by a = 1 against -1, and by |a| = 1 against a = 0 or no event.
    """

    name, by_unit = "event_moments", True

    def __init__(self, design: PublicDesign, *, center: np.ndarray, half: np.ndarray, log: bool) -> None:
        middle, width = np.asarray(center, dtype=float), np.asarray(half, dtype=float)
        self._map = Map(design, middle[:-1], width[:-1], float(middle[-1]), float(width[-1]), log)
        self._k = k = self._map.k
        scale = np.concatenate([np.full(k, 1.0), np.full(k, 1.6), [1.5]])
        self.parts = (Part(np.ones(1), scale),)
        self.sensitivity = math.sqrt(max(4 * k, 3.56 * k + 2.25))
        self.ranges = np.repeat([2.0, 1.6, 1.5], [k, k, 1])

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        k = self._k
        right = scratch("right", 2 * k + 1, len(block.ok))
        np.clip(self._map.x(block, scratch)[1:], -1.0, 1.0, out=right[: k - 1])
        np.clip(self._map.y(block, scratch), -1.0, 1.0, out=right[k - 1])
        np.multiply(right[:k], right[:k], out=right[k:-1])
        np.multiply(right[k:-1], 1.6, out=right[k:-1])
        right[-1] = 1.5
        return (Factor(events(block, scratch)[:, None], right.T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(np.split(vector, [self._k, 2 * self._k]))


class EventMatrix(Statistic):
    """Second moments of the event rows (x~, y~), each row shortened to a public length.

    With z = W x~, ``r = min(1, radius / |z|) delta (z, clip(y~, -4, 4))``, scaled down to |r| <= limit where
    longer; the sum of r r', a symmetric matrix of order k + 1 (y last).

    Parameters
    ----------
    design : PublicDesign
    **row
        The public map of rows: center, scale, y_center, y_scale and log of
        :class:`dpstats.curator.geometry.Map`.
    radius, limit : float
        Longest covariates, and longest row; positive.
    whitening : array_like, shape (k, k), optional
        The transpose of W; the identity if left out.

    Notes
    -----
    Sensitivity: D = sqrt2 limit^2 (docs/theory/privacy.md#sensitivity-of-a-statistic). For rows r, s of
    length at most L, |rr' - ss'|_F^2 = |r|^4 + |s|^4 - 2 (r's)^2 <= 2 L^4, attained by orthogonal rows of
    length L. A row that weighs nothing is r = 0: L^2. A symmetric part is released as svec, whose L2 norm is
    the Frobenius norm. The sizes of the eigenvalues of rr' - ss' add up to |r|^2 + |s|^2 <= 2 L^2 at most,
    by the triangle inequality, attained by the same rows. Rows are shortened after W, which is public.
    """

    name, by_unit = "event_matrix", True
    Y_CLIP = 4.0

    def __init__(
        self,
        design: PublicDesign,
        *,
        radius: float,
        limit: float,
        whitening: np.ndarray | None = None,
        **row: Any,
    ) -> None:
        check_positive(radius=radius, limit=limit)
        self._map = Map(design, **row)
        self._radius, self._limit = radius, limit
        k, self._whitened = self._map.k, None if whitening is None else self._map.whitened(whitening)
        # the leading 1 is shortened too, so it never exceeds min(1, radius)
        first = radius if whitening is not None else min(1.0, radius)
        entry = np.concatenate([[first], np.full(k - 1, radius), [self.Y_CLIP]])
        self.parts = (Part(np.minimum(entry, limit)),)
        self.sensitivity, self.sensitivity_trace = math.sqrt(2) * limit**2, 2 * limit**2

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        k = self._map.k
        row = scratch("row", k + 1, len(block.ok))
        if self._whitened is None:
            row[:k] = self._map.x(block, scratch)
        else:
            self._map.filled(self._whitened, self._map.centred(block, scratch), block, row[:k], scratch)
        np.clip(self._map.y(block, scratch), -self.Y_CLIP, self.Y_CLIP, out=row[k])
        weight = shorten(row[:k], self._radius, scratch)
        np.multiply(weight, events(block, scratch), out=weight)
        np.multiply(row, weight, out=row)
        np.multiply(row, shorten(row, self._limit, scratch), out=row)
        return (Factor(row.T),)


class BallMoments(Statistic):
    """The sum of z z', z = sqrt(weight) (W x~, y~) shortened to a public length.

    A symmetric matrix of order k + 1, the response last.

    Parameters
    ----------
    design : PublicDesign
    whitening : array_like, shape (k, k)
        The transpose of W.
    radius : float
        Longest row; positive.
    **row
        The public map of rows, see :class:`dpstats.curator.geometry.Map`.

    Notes
    -----
    Sensitivity: sqrt 2 radius^2, and 2 radius^2 by eigenvalues, those of :class:`EventMatrix`: rows have
    length at most radius. Attained by orthogonal rows of that length.
    """

    name = "ball_moments"

    def __init__(self, design: PublicDesign, *, whitening: np.ndarray, radius: float, **row: Any) -> None:
        self._map, self._weighted = Map(design, **row), design.weights is not None
        check_positive(radius=radius)
        self._whitened = self._map.whitened(whitening)
        self._radius = float(radius)
        self.parts = (Part(np.full(self._map.k + 1, self._radius)),)
        self.sensitivity, self.sensitivity_trace = math.sqrt(2) * self._radius**2, 2 * self._radius**2

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        k = self._map.k
        row = scratch("row", k + 1, len(block.ok))
        self._map.filled(self._whitened, self._map.centred(block, scratch), block, row[:k], scratch)
        row[k] = self._map.y(block, scratch)
        weighed(row, block, self._weighted, root=True)
        np.multiply(row, shorten(row, self._radius, scratch), out=row)
        return (Factor(row.T),)

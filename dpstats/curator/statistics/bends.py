"""Residuals and scores about a released fit times curves of columns: does a response bend along them?"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, shorten, weighed
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import RowProducts, predictor, squared_norms
from dpstats.curator.statistics.base import Statistic, check_positive, each_row
from dpstats.curator.statistics.hazard_score import HazardTimes
from dpstats.curator.statistics.martingale import LocationScore
from dpstats.families.bounded_score import square_weight


class Curves:
    """q_j = t_j^2 - level_j - tilt_j t_j of forms t of a row that are clipped at +-edge.

    They are to be shortened to |q| <= span.

    Parameters
    ----------
    level, tilt : array_like, shape (m,)
    edge, span : float
        Positive.
    """

    def __init__(self, level: np.ndarray, tilt: np.ndarray, edge: float, span: float) -> None:
        self.level, self.tilt = (np.asarray(each, dtype=float)[:, None] for each in (level, tilt))
        check_positive(edge=edge, span=span)
        if len(self.level) != len(self.tilt) or not np.isfinite([self.level, self.tilt]).all():
            raise ValueError("level and tilt must be finite, and a tilt for each level")
        self.size = self.forms = len(self.level)
        self._edge, self.span = edge, span

    def of(self, t: np.ndarray, scratch: Scratch) -> tuple[np.ndarray, np.ndarray]:
        """q of forms (m, B), which are clipped in place, and by what it is shortened, (B,); reused arrays."""
        np.clip(t, -self._edge, self._edge, out=t)
        q = np.subtract(t, self.tilt, out=scratch("curves", *t.shape))
        np.subtract(np.multiply(q, t, out=q), self.level, out=q)
        return q, shorten(q, self.span, scratch)


class Beyond:
    """q_j: how far a form t of a row lies beyond +-near, and no farther than +-edge, with the sign of t.

    They are to be shortened to |q| <= span, which is the longest of one form.

    Parameters
    ----------
    forms : int
    near, edge : float
        Positive, the first the smaller one.
    """

    def __init__(self, forms: int, near: float, edge: float) -> None:
        check_positive(near=near, edge=edge, span=edge - near)
        self.size = self.forms = forms
        self._near, self._edge, self.span = near, edge, edge - near

    def of(self, t: np.ndarray, scratch: Scratch) -> tuple[np.ndarray, np.ndarray]:
        """q of forms (m, B), which are clipped in place, and by what it is shortened, (B,); reused arrays."""
        np.clip(t, -self._edge, self._edge, out=t)
        q = np.clip(t, -self._near, self._near, out=scratch("curves", *t.shape))
        return np.subtract(t, q, out=q), shorten(q, self.span, scratch)


class Pairs:
    """q: products of pairs of forms t of a row, each form clipped at +-edge and each product at +-1.

    Parameters
    ----------
    forms : int
    pairs : array_like of int, shape (m, 2)
        Which two forms.
    edge : float
        Positive.
    """

    def __init__(self, forms: int, pairs: np.ndarray, edge: float) -> None:
        check_positive(edge=edge)
        self.forms, self._pairs, self._edge = forms, np.asarray(pairs, dtype=int), edge
        self.size, self.span = len(self._pairs), math.sqrt(len(self._pairs))

    def of(self, t: np.ndarray, scratch: Scratch) -> tuple[np.ndarray, float]:
        """q of forms, which are clipped in place, shape (m, B), reused; nothing shortens it."""
        np.clip(t, -self._edge, self._edge, out=t)
        q = scratch("curves", self.size, t.shape[1])
        for own, (first, second) in zip(q, self._pairs, strict=True):
            np.multiply(t[first], t[second], out=own)
        return np.clip(q, -1.0, 1.0, out=q), 1.0


class ColumnBends(Statistic):
    """Residuals times the squares of m columns, and the squares of these products, released jointly.

    With t a column of x~ over its `unit`, clipped at +-edge, and the residual r = (y~ - line'x~) / sigma,
    clipped at +-limit, a row gives

        (v, kappa v^2),   v = r q,   q = t^2 - level - tilt t of each column,   kappa = 1 / (2 span limit),

    where q is shortened to |q| <= span and v^2 are the squares of entries. At the truth the mean of v is 0,
    whatever the covariates.

    Parameters
    ----------
    design : PublicDesign
    chosen : array_like of int, shape (m,)
        Which of the columns that are no intercept.
    unit, level, tilt : array_like, shape (m,)
        The first positive.
    edge, span, limit, sigma : float
        Positive.
    line : array_like, shape (k,)
    **row
        The public map of rows, see :class:`dpstats.curator.geometry.Map`.

    Notes
    -----
    Sensitivity: 2 M with M = span limit >= |v|. For two rows, marked ' and not, let d = v - v' and
    s = v + v', so that |d|^2 + |s|^2 = 2 |v|^2 + 2 |v'|^2 <= 4 M^2. No entry of s exceeds |s|, so with
    x = |d|^2 / (4 M^2), in [0, 1], and kappa = 1 / (2 M)

        D^2 = sum_j d_j^2 (1 + kappa^2 s_j^2) <= |d|^2 (1 + kappa^2 |s|^2) <= 4 M^2 x (1 + (1 - x)),

    and x (2 - x) <= 1. Attained by v' = -v of length M. A row that weighs nothing is v = 0, and a weight is
    at most 1 and only shrinks v. See docs/theory/linear.md#columns-that-bend.
    """

    name = "column_bends"

    def __init__(  # noqa: PLR0913 - a curve, a residual, and their bounds
        self,
        design: PublicDesign,
        *,
        chosen: np.ndarray,
        unit: np.ndarray,
        level: np.ndarray,
        tilt: np.ndarray,
        edge: float,
        span: float,
        limit: float,
        line: np.ndarray,
        sigma: float,
        **row: Any,
    ) -> None:
        self._map, self._weighted = Map(design, **row), design.weights is not None
        self._at = np.asarray(chosen, dtype=int) + int(self._map.constant)
        unit, self._curves = np.asarray(unit, dtype=float)[:, None], Curves(level, tilt, edge, span)
        self._line = np.asarray(line, dtype=float)
        if not len(self._at) == len(unit) == len(self._curves.level) or self._line.shape != (self._map.k,):
            raise ValueError("unit, level and tilt hold a number for each chosen column, line for all")
        check_positive(unit=unit, limit=limit, sigma=sigma)
        self._unit, self._limit, self._sigma = unit * self._map.unit[self._at][:, None], limit, sigma
        most = span * limit
        self._kappa = 1 / (2 * most)
        size = len(self._at)
        self.parts = (
            Part(np.full(size, most), np.ones(1)),
            Part(np.full(size, self._kappa * most**2), np.ones(1)),
        )
        self.sensitivity = 2 * most

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        centred = self._map.centred(block, scratch)
        r = self._map.residuals(centred, block, scratch, self._line, self._sigma)
        r = weighed(np.clip(r, -self._limit, self._limit), block, self._weighted)
        t, square = scratch("bends", 2, len(self._at), len(r))
        for column, unit, own in zip(self._at, self._unit, t, strict=True):
            np.divide(centred[column], unit, out=own)
        q, shorter = self._curves.of(t, scratch)
        np.multiply(q, r * shorter, out=q)
        np.multiply(np.square(q, out=square), self._kappa, out=square)
        one = np.ones((len(r), 1))
        return Factor(q.T, one), Factor(square.T, one)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        size = len(self._at)
        return vector[:size], vector[size:]


class _Products:
    """Products v = psi q of scores |psi| <= limit with curves q of forms of a row, and kappa |v|^2.

    Of forms t = way'x, see :class:`Curves`, of what has a `near` :class:`Beyond`, and of `pairs`
    :class:`Pairs`.

    Notes
    -----
    Sensitivity: 2 most, most = limit span >= |v|, with kappa = sqrt(11) / (2 most): the proof of
    :class:`dpstats.curator.statistics.glm.FarScores`. A row that weighs nothing is v = 0.
    """

    _kinds: ClassVar[dict[str, type[Beyond | Pairs]]] = {"near": Beyond, "pairs": Pairs}

    def __init__(self, unit: np.ndarray, limit: float, *, ways: np.ndarray, **curves: Any) -> None:
        kind = next((kind for name, kind in self._kinds.items() if name in curves), None)
        self._curves: Curves | Beyond | Pairs = kind(len(ways), **curves) if kind else Curves(**curves)
        if len(ways) != self._curves.forms or not np.isfinite(ways).all():
            raise ValueError("ways must be finite, and one for each curve")
        self._forms = RowProducts(ways / unit, unit)
        most = limit * self._curves.span
        self._kappa = square_weight(most)
        self.parts = (
            Part(np.full(self._curves.size, self._curves.span), np.array([limit])),
            Part(np.ones(1), np.array([self._kappa * most**2])),
        )
        self.sensitivity = 2 * most

    def factors(self, rows: np.ndarray, psi: np.ndarray, scratch: Scratch) -> tuple[Factor, ...]:
        """Of rows times their unit, (k, B), and their scores (B,)."""
        t = self._forms(rows, scratch("ways", self._curves.forms, len(psi)), scratch)
        q, shorter = self._curves.of(t, scratch)
        np.multiply(q, shorter, out=q)
        square = self._kappa * psi**2 * squared_norms(q, scratch)
        return Factor(q.T, psi[:, None]), each_row(square[None])


class LocationBend(LocationScore):
    """Location scores times curves of forms of a row, and the squares of these products, released jointly.

    With psi of :class:`LocationScore` and q of :class:`Curves` along `ways` of x~, a row gives

        (v, kappa |v|^2),   v = psi q (m,),   kappa = sqrt(11) / (2 most),   most = limit span >= |v|.

    At the truth the mean of v is 0, whatever the covariates.

    Parameters
    ----------
    design : PublicDesign
    curves : mapping
        `ways` of x~, shape (m, k), and level, tilt, edge and span of :class:`Curves`, near and edge of
        :class:`Beyond`, or pairs and edge of :class:`Pairs`.
    **score
        As of :class:`LocationScore`.

    Notes
    -----
    Sensitivity: 2 most, by :class:`_Products`, where limit is the larger of s and A1(c): psi lies in
    [-s, A1(c)], and a row that weighs nothing gives 0. Attained where the limit is A1(c) by two rows beyond
    the cut whose curves are opposite and as long as the span; where it is s by two early events.
    """

    name = "location_bend"

    def __init__(self, design: PublicDesign, *, curves: Mapping[str, Any], **score: Any) -> None:
        super().__init__(design, **score)
        self._bent = _Products(self._map.unit, float(self.parts[0].units.max()), **curves)
        self.parts, self.sensitivity = self._bent.parts, self._bent.sensitivity

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        return self._bent.factors(*self._scored(block, scratch), scratch)


class HazardBend(HazardTimes):
    """Scores of hazards times curves of forms of a row, and the squares of these products, released jointly.

    With u of :class:`dpstats.curator.statistics.hazard_score.HazardScore`, psi the sum of its entries and
    q of :class:`Curves` along `ways` of x, a row gives (v, kappa |v|^2) with v = psi q as
    :class:`LocationBend` does, with limit = c. At the truth the mean of v is 0, whatever the covariates.

    Parameters
    ----------
    design : PublicDesign
    curves : mapping
        `ways` of x, shape (m, d), and what :class:`LocationBend` has.
    **times
        See :class:`HazardTimes`.

    Notes
    -----
    Sensitivity: 2 most, by :class:`_Products`. psi is a failure less the hazards, which add up to no more
    than c: it lies in [-c, 1], and c is at least 1. Attained by two rows of hazard c without a failure, whose
    curves are opposite and as long as the span.
    """

    name = "hazard_bend"

    def __init__(self, design: PublicDesign, *, curves: Mapping[str, Any], **times: Any) -> None:
        super().__init__(design, **times)
        self._bent = _Products(self._map.scale, self._c, **curves)
        self.parts, self.sensitivity = self._bent.parts, self._bent.sensitivity

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        centred, hazards, piece = self._watched(block, scratch)
        return self._bent.factors(
            centred, (piece >= 0) - predictor(np.ones(len(hazards)), hazards, scratch), scratch
        )

"""Scores, information and variability of a generalised linear model (docs/theory/glm.md)."""

import functools
import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import weighed
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import ROUNDED, RowProducts, squared_norms
from dpstats.curator.statistics.base import Statistic, each_row
from dpstats.families.bounded_score import (
    BoundedScore,
    PredictorTable,
    logistic_information_weight,
    square_weight,
)
from dpstats.families.glm import RowsOf

# Times this `ScoreSquares` releases what goes along columns, beside what is of all rows
_ALONG = math.sqrt(1 / 3)


class _Rows(NamedTuple):
    """Rows of a block, in reused arrays.

    Attributes
    ----------
    rows : array, shape (k, B)
        Whitened.
    weight : array, shape (B,), or float
        At most 1.
    eta : array, shape (B,)
        Linear predictors.
    most : array, shape (k,)
        No entry of whitened rows is larger in size; NaN where one may be NaN.
    """

    rows: np.ndarray
    weight: np.ndarray | float
    eta: np.ndarray
    most: np.ndarray


class _Score(Statistic):
    """What the scores of all families share: standardised, whitened and weighted rows."""

    def __init__(
        self,
        design: PublicDesign,
        *,
        center: np.ndarray,
        scale: np.ndarray,
        beta: np.ndarray,
        whitening: np.ndarray,
        radius: float,
    ) -> None:
        center, scale = np.asarray(center, dtype=float), np.asarray(scale, dtype=float)
        beta, whitening = np.asarray(beta, dtype=float), np.asarray(whitening, dtype=float)
        self._k = k = len(design.names)
        if not center.shape == scale.shape == beta.shape == (k,):
            raise ValueError(f"center, scale and beta must hold {k} numbers, one for each column")
        if whitening.shape != (k, k) or not (0 < radius < math.inf and (scale > 0).all()):
            raise ValueError("whitening must be square, radius and scale positive and finite")
        # the last product is the linear predictor
        self._products = RowProducts(np.vstack([whitening, beta]) / scale, scale, center)
        self._radius = radius
        self._weighted, self._offset = design.weights is not None, design.offset_bounds != (0.0, 0.0)

    def _rows(self, block: Block, scratch: Scratch) -> _Rows:
        """Rows of a block.

        Weights are 1 for all where none is longer than the radius, which need not be asked of each row if
        the largest products of the block say so.
        """
        size = len(block.ok)
        products = scratch("products", self._k + 1, size)
        make = functools.partial(self._products.rounded, block.exog.T, span=block.span)
        rounded = scratch.kept("rounded", block, self._products.grids, make)
        most = self._products.filled(rounded, products, scratch)[:-1]
        rows, eta = products[:-1], products[-1]
        weight: np.ndarray | float = 1.0
        if not most @ most <= self._radius**2:
            weight = np.minimum(1.0, self._radius**2 / squared_norms(rows, scratch))
        if self._weighted:
            weight = np.multiply(weight, block.weight)
        if self._offset:
            np.add(eta, block.offset, out=eta)
        return _Rows(rows, weight, eta, most)

    @staticmethod
    def _scaled(found: _Rows, information: np.ndarray, scratch: Scratch) -> tuple[np.ndarray, Factor]:
        """Rows times their weights, and times the root of weight and information; one of them in `rows`."""
        rows, weight, _, most = found
        other, root = scratch("scaled", *rows.shape), np.sqrt(weight * information)
        weighted, curved = (rows, other) if isinstance(weight, float) else (other, rows)
        if weighted is other:
            np.multiply(rows, weight, out=other)
        np.multiply(rows, root, out=curved)
        return weighted, Factor(curved.T, most=most * (root.max() * ROUNDED))

    @abstractmethod
    def _score(self, y: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The bounded score psi of each row, and its expected information h."""


@functools.lru_cache(maxsize=64)  # most steps of a fit release the same
def _parts(k: int, radius: float, limit: float, *scales: float) -> tuple[Part, ...]:
    """Scores within a limit of rows of k entries, and symmetric matrices whose rows have these entries."""
    scores = Part(np.full(k, radius), np.array([limit]))
    return scores, *(Part(np.full(k, scale)) for scale in scales)


class LogisticScore(_Score):
    """Weighted scores and information of a logistic regression, released jointly.

    With whitened rows a = W (x - center) / scale, w = min(1, (radius / |a|)^2) times the prior weight,
    p = expit(beta'(x - center) / scale + offset) and y in {0, 1}, a row gives

        w a (y - p) (k,),   tau w p (1 - p) a a' (k, k),   tau = 4 sqrt 1.5 / radius;

    the values released carry tau.

    Parameters
    ----------
    design : PublicDesign
    center, scale, beta : array_like, shape (k,)
        For all columns of the design, the intercept's included; scale positive.
    whitening : array_like, shape (k, k)
        W.
    radius : float
        No row counts as longer.

    Notes
    -----
    Sensitivity: 2 radius, that of the scores alone. Take radius = 1 and let q = |y - p|, so that
    p (1 - p) = q (1 - q). w |a| <= 1 and w |a|^2 <= 1, hence the score is a vector of length x <= q, and the
    information a matrix of norm H <= q (1 - q) along it. For two rows, marked ' and not, c the cosine between
    one score and minus the other, and 16 k = 24 (k = 1.5),

        D^2 = x^2 + x'^2 + 2 x x' c + 24 (H^2 + H'^2 - 2 H H' c^2).

    Replacing c by |c| does not lower it; then it does not fall in x nor in x', which are set to q and q'. For
    fixed q, q', c it is a convex quadratic form in (H, H'), largest at a corner of [0, q (1 - q)] x
    [0, q' (1 - q')]:

    *(0, 0).* (q + q')^2 <= 4, attained by antiparallel rows with q = q' = 1 (in the limit of beta).
    *One of them, say H.* q' = 1 and c = 1 are worst: (1 + q)^2 + 24 q^2 (1 - q)^2 <= 3.97.
    *Both.* D^2 is concave in c, with its maximum over [0, 1] at c* = 1 / (32 k (1 - q)(1 - q')) or at 1.
    At c = 1, with s = q + q', D^2 = s^2 + 16 k (q - q')^2 (1 - s)^2, where |q - q'| <= min(s, 2 - s). For
    s <= 1 that is at most s^2 + 16 k s^2 (1 - s)^2 <= 1 + k; for s in [1, 2] it is at most 4 where
    16 k (2 - s)(s - 1)^2 <= 2 + s, which holds up to k = 1.5425. At c* < 1, D^2 = G(q) + G(q') + q q' c* with
    G(t) = t^2 (1 + 16 k (1 - t)^2), G <= 1.773 on [0, 1] and <= 1.254 on [.8, 1]. If q, q' < .8, q q' c* =
    q q' / (48 (1 - q)(1 - q')) <= 16/48 and D^2 <= 3.88; if one is not below .8, D^2 <= 1.254 + 1.773 + .8;
    if both, D^2 <= 2.508 + 1.

    A row that weighs nothing is x = H = 0, among these cases. A weight below 1 only shortens x and H.
    """

    name = "logistic_score"

    def __init__(self, design: PublicDesign, *, radius: float, **row: Any) -> None:
        super().__init__(design, radius=radius, **row)
        self._tau = logistic_information_weight(radius)
        self.parts = _parts(self._k, radius, 1.0, radius * math.sqrt(self._tau * 0.25))
        self.sensitivity = 2 * radius

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        found = self._rows(block, scratch)
        score, curvature = self._score(block.time, found.eta)
        weighted, curved = self._scaled(found, self._tau * curvature, scratch)
        return Factor(weighted.T, score[:, None], found.most), curved

    def _score(self, y: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        half = np.tanh(eta / 2) / 2  # p - 1/2, without overflow
        return (y > 0.5) - 0.5 - half, 0.25 - half * half


class GlmScore(_Score):
    """Weighted scores, information and their variability, released jointly.

    With rows a and weights w as in :class:`LogisticScore`, and the score |psi| <= limit and curvature
    0 <= h <= curvature_limit of a :class:`dpstats.families.bounded_score.BoundedScore`, a row gives

        g = w psi a (k,),   tau w h a a' (k, k),   kappa g g' (k, k),

    tau = sqrt(1/2) limit / (radius curvature_limit), kappa = sqrt(1/2) / (radius limit); the values released
    carry tau and kappa.

    Parameters
    ----------
    design : PublicDesign
    center, scale, beta : array_like, shape (k,)
    whitening : array_like, shape (k, k)
    radius : float
    score : BoundedScore

    Notes
    -----
    Sensitivity: sqrt(4.5) radius limit. Take radius = limit = curvature_limit = 1. A row gives a score of
    length p <= 1 (w |a| <= 1), an information matrix of norm e <= 1 along it (w |a|^2 <= 1), and the square
    of the score, of norm p^2. For two rows, marked ' and not, and t the cosine between one score and minus
    the other,

        D^2 = p^2 + p'^2 + 2 p p' t + (p^4 + p'^4 - 2 p^2 p'^2 t^2) / 2 + (e^2 + e'^2 - 2 e e' t^2) / 2.

    It is a convex quadratic form in (e, e'), largest at a corner of the unit square.

    *(0, 0) or one of them.* It grows in t, as p p' t <= 1, so t = 1: with s = p + p' and |p - p'| <= min(s,
    2 - s), D^2 <= s^2 + s^2 min(s, 2 - s)^2 / 2 + 1/2. For s <= 1 that is at most 2. For s = 1 + v it is
    (1 + v)^2 + (1 - v^2)^2 / 2 + 1/2, whose derivative 2 (1 + v)(1 - v + v^2) is positive: at most 4.5, at
    v = 1.
    *(1, 1).* With m = p p' <= 1, 2 m t - (m^2 + 1) t^2 <= m^2 / (1 + m^2) <= 1/2, and D^2 <= p^2 + p'^2 +
    (p^4 + p'^4) / 2 + 1 + 1/2 <= 4.5.

    Attained by antiparallel rows of full length and score, one of which has the largest curvature and the
    other none. A row that weighs nothing is p = e = 0.
    """

    name = "glm_score"

    def __init__(self, design: PublicDesign, *, radius: float, score: BoundedScore, **row: Any) -> None:
        super().__init__(design, radius=radius, **row)
        self._bounded = score
        limit, steepest = score.limit, score.curvature_limit
        self._tau, self._kappa = score.matrix_weights(radius)
        tau, kappa = math.sqrt(self._tau * steepest), math.sqrt(self._kappa)
        self.parts = _parts(self._k, radius, limit, radius * tau, radius * kappa * limit)
        self.sensitivity = math.sqrt(4.5) * radius * limit

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        found = self._rows(block, scratch)
        psi, curvature = self._score(block.time, found.eta)
        weighted, curved = self._scaled(found, self._tau * curvature, scratch)
        root = math.sqrt(self._kappa) * psi
        square = np.multiply(weighted, root, out=scratch("square", *weighted.shape))
        squared = Factor(square.T, most=found.most * (np.abs(root).max() * ROUNDED))
        return Factor(weighted.T, psi[:, None], found.most), curved, squared

    def _score(self, y: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._bounded(y, eta)


class FarScores(GlmScore):
    """Scores of what long rows have lost with their weight, and squares of its length, released jointly.

    With rows a and weights w as in :class:`LogisticScore`, but for the prior weight, and the score |psi| <=
    limit of a :class:`dpstats.families.bounded_score.BoundedScore`, a row gives

        g = psi (1 - w) a, shortened to |psi| reach (k,),   kappa |g|^2,

    times the prior weight, and its square; kappa is sqrt(11) / (2 reach limit), of several `ends` 1 / (reach
    limit). The value released carries kappa. Under a link that stalls, and of counts whose curvature grows
    with their mean, w is also times the weight v of the score, which takes most from rows far out, or of
    large means. Rows that weigh 1 give nothing. Of rows as long as each of
    `ends`, and not as the next, both are summed apart.

    Parameters
    ----------
    design : PublicDesign
    center, scale, beta : array_like, shape (k,)
    whitening : array_like, shape (k, k)
    radius : float
    reach : float
        Positive.
    score : BoundedScore
    ends : sequence of float, length m
        Rising; by default one, at which all begin.

    Notes
    -----
    Sensitivity: 2 reach limit. For two rows, marked ' and not, of lengths p, p' <= m = reach limit that are
    summed together, |g - g'| <= p + p', so that D^2 <= (p + p')^2 + kappa^2 (p^2 - p'^2)^2 = (p + p')^2 (1 +
    kappa^2 (p - p')^2). With v = p and v' = -p' that is D^2 of
    :class:`dpstats.curator.statistics.at_line.PredictorBend` with most = m, at most 4 m^2 by the proof there,
    which holds for all smaller kappa. Attained by antiparallel long rows of full score. Of two that are
    summed apart D^2 = p^2 + kappa^2 p^4 + p'^2 + kappa^2 p'^4, with kappa = 1 / m at most 4 m^2, attained
    where both are long and of full score. A row that weighs nothing is p = 0, and a prior weight, at most 1,
    only shortens p.
    """

    name = "far_scores"

    def __init__(
        self,
        design: PublicDesign,
        *,
        radius: float,
        reach: float,
        score: BoundedScore,
        ends: Sequence[float] = (0.0,),
        **row: Any,
    ) -> None:
        super().__init__(design, radius=radius, score=score, **row)
        if not 0 < reach < math.inf:
            raise ValueError("reach must be positive and finite")
        self._ends, self._reach, most = np.array(ends), reach, reach * score.limit
        self._kappa = square_weight(most, len(ends))
        self.parts = (
            Part(np.full(self._k, reach), np.full(len(ends), score.limit)),
            Part(np.ones(1), np.full(len(ends), self._kappa * most**2)),
        )
        self.sensitivity = 2 * most

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        rows, _, eta, _ = self._rows(block, scratch)
        margin = RowsOf(self._bounded.family, block.time, eta)
        psi = self._bounded.of(margin)
        lengths = np.sqrt(squared_norms(rows, scratch))
        kept = np.minimum(1.0, (self._radius / lengths) ** 2)
        if self._bounded.family.stalls or self._bounded.family.steepens:
            kept *= self._bounded.weight_of(margin)
        share = weighed(np.minimum(1 - kept, self._reach / lengths), block, self._weighted)
        square = self._kappa * (psi * share * lengths) ** 2
        far = np.multiply(rows, share, out=scratch("far", *rows.shape))
        apart = np.arange(len(self._ends))[:, None] == np.searchsorted(self._ends, lengths, side="right") - 1
        return Factor(far.T, (psi * apart).T), each_row(square * apart)


class ScoreSquares(GlmScore):
    """Squares of scores of counts, and what laws make of them, in all and along each column; (k + 1, m + 1).

    With rows a and weights w as in :class:`LogisticScore`, but for the prior weight q, and the score |psi| <=
    L of a :class:`dpstats.families.bounded_score.BoundedScore`, a row gives

        q (1, w a / (sqrt(3) radius)) (psi^2, s_1, ..., s_m)',

    with s_j = E psi^2 under variance mu + alpha_j mu^2 at its linear predictor, by linear interpolation
    between the nearest entries of a public table, whose largest is S_j. What is unpacked is without the
    factor 1 / (sqrt(3) radius).

    Parameters
    ----------
    design : PublicDesign
    center, scale, beta : array_like, shape (k,)
    whitening : array_like, shape (k, k)
    radius : float
    score : BoundedScore
        Of counts.
    alphas : sequence of float, length m

    Notes
    -----
    Sensitivity: sqrt(4/3 (L^4 + S_1^2 + ... + S_m^2)). Let s be the second vector times q, with entries
    between 0 and m_i, the largest, and u = w a / radius, |u| <= 1. For two rows, marked ' and not, since
    u'u' >= -1 and s's' >= 0,

        D^2 = |s - s'|^2 + |s u - s' u'|^2 / 3 <= |s - s'|^2 + |s + s'|^2 / 3,

    a sum over entries of (x - x')^2 + (x + x')^2 / 3, convex, and so largest at a corner of the square from 0
    to m_i: 4/3 m_i^2 where one of the two is 0, and where both are m_i. A row that weighs nothing is s = 0.
    Attained by a row of full length and score L whose s_j are largest, as where all grow with the mean,
    against one that weighs nothing, or an antiparallel one. See docs/theory/glm.md#scatter-of-counts.
    """

    name = "score_squares"

    def __init__(
        self, design: PublicDesign, *, radius: float, score: BoundedScore, alphas: Sequence[float], **row: Any
    ) -> None:
        super().__init__(design, radius=radius, score=score, **row)
        self._squares = PredictorTable(np.maximum([score.squares(alpha) for alpha in alphas], 0.0))
        largest = np.append(score.limit**2, self._squares.values.max(axis=1))
        full = np.append(1.0, np.full(self._k, _ALONG))
        self.parts, self._units = (Part(full, largest),), 1 / full * np.append(1.0, np.full(self._k, radius))
        self.sensitivity = math.sqrt(4 / 3) * float(np.linalg.norm(largest))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        rows, weight, eta, most = self._rows(block, scratch)
        left = scratch("rows", self._k + 1, len(eta))
        left[0] = block.weight if self._weighted else 1.0
        np.multiply(rows, weight * (_ALONG / self._radius), out=left[1:])
        scored = RowsOf(self._bounded.family, block.time, eta)
        found = scratch("squares", len(self._squares.values) + 1, len(eta))
        np.square(self._bounded.of(scored), out=found[0])
        found[1:] = self._bounded.interpolated(self._squares, scored)
        return (Factor(left.T, found.T, np.append(left[0].max(), most * (_ALONG / self._radius * ROUNDED))),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        (found,) = super().unpack(vector)
        return (found * self._units[:, None],)

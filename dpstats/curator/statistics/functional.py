"""Weights of a quadratic likelihood in declared boxes: docs/theory/functional.md."""

import math

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic


class FunctionalWeights(Statistic):
    """The sum of a a', a = (1, u, v), whose entries are the weights of a log likelihood of second order.

    With d covariates in declared boxes, u_j = (x_j - center_j) / (half_j sqrt d) and v = (y - center) / half,
    clipped, so that |u_j| <= 1 / sqrt d and |v| <= 1. The response counts as observed in every row.

    Parameters
    ----------
    design : PublicDesign
    center, half : array_like, shape (d + 1,)
        Public middle and half-width of the covariates and, last, of the response on the model's scale.
    log : bool
        Whether the response is log time.
    published : float, optional
        Release what the paper does: an entry for each order of two covariates, the weight of q, which is a
        multiple of the number of rows, and noise for twice the sensitivity. The number is the curvature c of
        the family, 1 (SEV) or 1/2 (logistic), on which the multiple rests.

    Notes
    -----
    *Coordinates.* The upper triangle of a a', entries off the diagonal twice. The paper's weights are -c/2
    times these coordinates, plus functions of n, in which w_(p_j p_h) of both orders are one number: noise
    for one is noise for the other, and c cancels.

    *L1*: L^2, L = 2 + sqrt d (Lemma 1). The L1 norm of the difference of two rows a, b is the sum over all
    entries of |a a' - b b'|, and a a' - b b' = [(a - b)(a + b)' + (a + b)(a - b)'] / 2, so that it is at most
    s t, s = |a - b|_1, t = |a + b|_1. As |x - y| + |x + y| = 2 max(|x|, |y|), s + t <= 2 max (1 + sum |u_j| +
    |v|) <= 2 L, hence s t <= L^2. Attained by u = (1, ..., 1) / sqrt d, v = 1 against u = 0, v = -1, where s
    = t = L and all squares differ in one direction. A row that weighs nothing is a = 0: |a|_1^2 <= L^2. Times
    c / 2: L^2 / 2 for SEV and L^2 / 4 for logistic, half of what the paper has.

    *L2*: 6, or 4 without covariates: the square of the norm of the coordinates is at most twice that of a a'
    - b b', which is |a|^4 + |b|^4 - 2 (a'b)^2 <= 18, as |a|^2 <= 3; without covariates 8, as |a|^2 <= 2.

    *Published.* Entries of both orders, each once, have the L1 norm of the coordinates above, and the
    weight of q, 4 / c for each row, is the same for two rows: at most L^2, noised for the paper's 2 L^2. A
    row that weighs nothing adds 4 / c: L^2 + 4 / c. No other norm is declared, which leaves Laplace noise.
    """

    name = "functional_weights"

    def __init__(
        self,
        design: PublicDesign,
        *,
        center: np.ndarray,
        half: np.ndarray,
        log: bool,
        published: float | None = None,
    ) -> None:
        middle, width = np.asarray(center, dtype=float), np.asarray(half, dtype=float)
        d = len(middle) - 1
        root = math.sqrt(max(d, 1))
        self._map = Map(design, middle[:-1], width[:-1] * root, float(middle[-1]), float(width[-1]), log)
        self._bounds = np.concatenate([[1.0], np.full(d, 1 / root), [1.0]])
        self._published = published
        longest = float(self._bounds.sum()) ** 2
        if published is None:
            self.parts = (Part(self._bounds, off_diagonal=2.0),)
            self.sensitivity, self.sensitivity_l1 = (6.0 if d else 4.0), longest
            return
        location, self._twice = self._bounds[:-1], np.append(np.full(d + 1, 2.0), 1.0)
        self._of_q = 4 / published
        self.parts = (
            Part(location, location),
            Part(self._twice * self._bounds, np.ones(1)),
            Part(np.ones(1), np.array([self._of_q])),
        )
        self.sensitivity = self.sensitivity_l1 = max(2 * longest, longest + self._of_q)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        k = self._map.k
        row = scratch("row", k + 1, len(block.ok))
        row[:k] = self._map.x(block, scratch)
        row[k] = self._map.y(block, scratch)
        np.clip(row, -self._bounds[:, None], self._bounds[:, None], out=row)
        if not self._published:
            return (Factor(row.T),)
        location, v = row[:k].T, row[k:].T
        twice = np.multiply(row, self._twice[:, None], out=scratch("twice", *row.shape))
        of_q = scratch("of_q", 1, len(block.ok))
        of_q[0] = self._of_q
        return Factor(location, location), Factor(twice.T, v), Factor(row[:1].T, of_q.T)

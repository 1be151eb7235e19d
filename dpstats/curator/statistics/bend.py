"""Whether responses bend: scores against the square of the linear predictor."""

from __future__ import annotations

import math

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.at_line import AtLine
from dpstats.families.bounded_score import BoundedScore, square_weight


class PredictorBend(AtLine):
    """Scores times the square of the linear predictor, and the squares of these products, released jointly.

    With the score |psi| <= limit of a :class:`dpstats.families.bounded_score.BoundedScore`, t the linear
    predictor less `middle` over `spread`, clipped at +-edge, and v = psi (t^2 - edge^2 / 2), a row gives

        (v, kappa v^2),   kappa = sqrt(11) / (2 most),   most = limit edge^2 / 2 >= |v|;

    the value released carries kappa. At the truth the mean of v is 0, whatever the covariates.

    Parameters
    ----------
    design : PublicDesign
    center, scale, beta : array_like, shape (k,)
        As of :class:`dpstats.curator.statistics.glm.LogisticScore`.
    score : BoundedScore
    middle, spread, edge : float
        The last two positive.
    alone : bool
        Whether t is of what covariates predict, without the offset.

    Notes
    -----
    Sensitivity: 2 most. For two rows, marked ' and not, |v - v'| + |v + v'| <= 2 most, so that with
    x = |v + v'| / (2 most), in [0, 1],

        D^2 = (v - v')^2 (1 + kappa^2 (v + v')^2) <= 4 most^2 (1 - x)^2 (1 + 11 x^2).

    (1 - x)^2 (1 + K x^2) <= 1 where K <= (2 - x) / (x (1 - x)^2), whose logarithm has the derivative
    2 / (1 - x) - 2 / (x (2 - x)), zero at x = (3 - sqrt 5) / 2 alone: there it is least, phi^5 = 11.09 with
    the golden ratio phi. Attained by v = most and v' = -most. A row that weighs nothing is v = 0.
    A prior weight is at most 1 and only shrinks v. Ranges: 2 most, and kappa most^2. See
    docs/theory/glm.md#whether-responses-bend.
    """

    name = "predictor_bend"

    def __init__(
        self,
        design: PublicDesign,
        *,
        score: BoundedScore,
        middle: float,
        spread: float,
        edge: float,
        alone: bool = False,
        **row: np.ndarray,
    ) -> None:
        super().__init__(design, **row)
        if not (0 < spread < math.inf and 0 < edge < math.inf):
            raise ValueError("spread and edge must be positive and finite")
        self._score, self._middle, self._spread, self._edge = score, middle, spread, edge
        self._alone = alone
        most = score.limit * edge**2 / 2
        self._kappa = square_weight(most)
        self.parts = (Part(np.ones(1), np.array([most, self._kappa * most**2])),)
        self.sensitivity = 2 * most
        self.ranges = np.array([2 * most, self._kappa * most**2])

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        size, eta = len(block.ok), self.line(block, scratch)
        if not self._alone:
            eta = self.shifted(eta, block)
        t = np.clip((eta - self._middle) / self._spread, -self._edge, self._edge)
        psi, _ = self._score(block.time, self.shifted(eta, block) if self._alone else eta)
        right = scratch("bend", 2, size)
        np.multiply(psi, t**2 - self._edge**2 / 2, out=right[0])
        if self._weighted:
            np.multiply(right[0], block.weight, out=right[0])
        np.multiply(self._kappa, right[0] ** 2, out=right[1])
        return (Factor(np.ones((size, 1)), right.T),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)

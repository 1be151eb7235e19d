"""Statistics of rows about a released line of a generalised linear model: does it bend, what do limits take?

Whether responses bend is told by scores against the square of the linear predictor; what a limit takes from
the scores, by a wider one.
"""

import functools

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import weighed
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import predictor
from dpstats.curator.statistics.base import Statistic, check_positive, each_row
from dpstats.families.bounded_score import BoundedScore, square_weight
from dpstats.families.glm import GlmFamily, RowsOf


class AtLine(Statistic):
    """Knows the linear predictor of a row, with its offset or without.

    Parameters
    ----------
    design : PublicDesign
    center, scale, beta : array_like, shape (k,)
        As of :class:`dpstats.curator.statistics.glm.LogisticScore`.
    """

    def __init__(self, design: PublicDesign, center: np.ndarray, scale: np.ndarray, beta: np.ndarray) -> None:
        center, scale, beta = (np.asarray(row, dtype=float) for row in (center, scale, beta))
        if not center.shape == scale.shape == beta.shape == (len(design.names),):
            raise ValueError(f"center, scale and beta must hold {len(design.names)} numbers each")
        self._center, self._beta = center, beta / scale
        self._key = center.tobytes(), self._beta.tobytes()
        self._weighted, self._offset = design.weights is not None, design.offset_bounds != (0.0, 0.0)

    def line(self, block: Block, scratch: Scratch) -> np.ndarray:
        """What covariates make of the linear predictors of a block, shape (B,); not to be changed."""
        return scratch.passing("line", block, self._key, functools.partial(self._line, block))

    def eta(self, block: Block, scratch: Scratch) -> np.ndarray:
        """Linear predictors of the rows of a block, shape (B,); not to be changed."""
        line = self.line(block, scratch)
        return line + block.offset if self._offset else line

    def rows(self, family: GlmFamily, block: Block, scratch: Scratch) -> RowsOf:
        """Rows about their linear predictors, which statistics of other limits ask for, too."""
        key = self._key, family
        return scratch.passing(
            "rows", block, key, lambda _: RowsOf(family, block.time, self.eta(block, scratch))
        )

    def _line(self, block: Block, memory: Scratch) -> np.ndarray:
        return predictor(self._beta, block.exog.T, memory, self._center)


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
    flat = True

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
        check_positive(spread=spread, edge=edge)
        self._score, self._middle, self._spread, self._edge = score, middle, spread, edge
        self._alone = alone
        most = score.limit * edge**2 / 2
        self._kappa = square_weight(most)
        self.parts = (Part(np.ones(1), np.array([most, self._kappa * most**2])),)
        self.sensitivity = 2 * most
        self.ranges = np.array([2 * most, self._kappa * most**2])

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        rows = self.rows(self._score.family, block, scratch)
        line = self.line(block, scratch) if self._alone else rows.eta
        t = np.clip((line - self._middle) / self._spread, -self._edge, self._edge)
        psi = self._score.of(rows)
        right = scratch("bend", 2, len(block.ok))
        np.multiply(psi, t**2 - self._edge**2 / 2, out=right[0])
        weighed(right[0], block, self._weighted)
        np.multiply(self._kappa, right[0] ** 2, out=right[1])
        return (each_row(right),)


class ScoreTails(AtLine):
    """Sum of what a wider limit adds to the scores of rows.

    With the scores psi and psi_w of two limits, L and L_w, a row gives v = psi_w - psi, clipped to
    [least, L_w - L]. Both scores have mean 0 under the family; where its tail is longer, v holds what is
    clipped from psi. Of counts, whose scores have another law at each mean, the clip also leaves out what
    counts far below a large mean would take off.

    Parameters
    ----------
    design : PublicDesign
    center, scale, beta : array_like, shape (k,)
        As of :class:`dpstats.curator.statistics.glm.LogisticScore`.
    score, wider : BoundedScore
        Of one family; the second of the larger limit.

    Notes
    -----
    Sensitivity: L_w - L - least, which is how far two values lie apart at most; `least` is at most 0, so that
    a row that weighs nothing, v = 0, is one of them, and a prior weight, at most 1, keeps a row between. It
    is L - L_w, or where no score lies below -L what v is of rows below both limits: the difference of what
    is put back for clipping. Attained by a row beyond the wider limit and one below both. See
    docs/theory/glm.md#what-lies-beyond-the-limit.
    """

    name = "score_tails"
    flat = True

    def __init__(
        self,
        design: PublicDesign,
        *,
        score: BoundedScore,
        wider: BoundedScore,
        **row: np.ndarray,
    ) -> None:
        super().__init__(design, **row)
        self._score, self._wider, self._range = score, wider, score.gain(wider)
        least, most = self._range
        self.parts = (Part(np.ones(1), np.array([max(-least, most)])),)
        self.sensitivity = most - least

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        rows = self.rows(self._score.family, block, scratch)
        v = np.clip(self._wider.of(rows) - self._score.of(rows), *self._range)
        return (each_row(weighed(v, block, self._weighted)[None]),)

"""Curvature and squared scores of losses of a margin (docs/theory/objective.md#curvature-and-scores)."""

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import RowProducts, predictor
from dpstats.curator.statistics.base import Statistic, check_positive
from dpstats.curator.unit_rows import SignedRows, UnitRows
from dpstats.families import MarginLoss


class _AtParams(Statistic):
    """What the three share: rows a with weights w (:class:`UnitRows`), and a loss f about released params."""

    def __init__(
        self, design: PublicDesign, loss: MarginLoss, params: np.ndarray, rows: dict[str, Any]
    ) -> None:
        self._rows, self._loss = UnitRows(design, **rows), loss
        self._params = np.asarray(params, dtype=float)
        if self._params.shape != (self._rows.k,) or not np.isfinite(self._params).all():
            raise ValueError(f"params must be {self._rows.k} finite numbers")
        self._pulled, self._steepest = self._rows.pulled(loss, self._params), loss.steepest

    def _matrix(self, scale: np.ndarray, longest: float, published: bool) -> None:
        """Declare the sum of r r', |r_j| <= scale_j and |r|^2 <= longest, by itself.

        Two rows differ by |rr' - ss'|_F^2 <= |r|^4 + |s|^4 <= 2 longest^2, both matrices being positive
        semi-definite; in one dimension by `longest`. Eigenvalues of the difference have sizes of at most
        |r|^2 + |s|^2 together. Off the diagonal |r_i r_j| <= longest / 2.
        """
        if published:
            self.parts = (Part(scale, scale),)
            self.sensitivity, self.spherical = 2 * longest, True
            return
        self.parts = (Part(scale),)
        self.sensitivity_trace = (2 if len(scale) > 1 else 1) * longest
        self.sensitivity = math.sqrt(self.sensitivity_trace * longest)
        self.ranges = _ranges(self.parts[0], longest)

    def _sloped(self, block: Block, scratch: Scratch) -> tuple[SignedRows, np.ndarray, np.ndarray]:
        """Rows y a with weights w, and of each -f' and f'', which counts up to the steepest."""
        rows = self._rows.read(block, scratch)
        slope, curvature = self._loss.derivatives(rows.margin(predictor(self._params, rows.signed, scratch)))
        return rows, slope, np.minimum(curvature, self._steepest)

    def _curved_scale(self, weight: float) -> np.ndarray:
        """Bounds of the entries of sqrt(weight w f'') a, where w a_j^2 <= min(reach_j^2, longest)."""
        reach = np.minimum(self._rows.reach, math.sqrt(self._rows.longest))
        return math.sqrt(weight * self._steepest) * reach

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        parts = super().unpack(vector)
        return tuple((one + one.T) / 2 if one.shape == (self._rows.k,) * 2 else one for one in parts)


def _ranges(part: Part, longest: float) -> np.ndarray:
    """By how much each coordinate of two matrices r r' can differ, |r|^2 <= longest."""
    off = 2 * np.minimum(part.units, longest / 2)
    np.fill_diagonal(off, np.diag(part.units))
    return part.pack(off)


class MarginCurvature(_AtParams):
    """The sum of w min(f''(m), steepest) a a'.

    Parameters
    ----------
    design : PublicDesign
    loss : MarginLoss
    params : array_like, shape (k,)
        Released.
    published : bool
        Release all k^2 entries with noise of twice the norm, as the paper does, and their symmetric part.
    steepest : float, optional
        Public, positive: curvatures beyond it count as this. That of the loss if left out.
    **rows
        The public map, see :class:`UnitRows`.

    Notes
    -----
    Sensitivity: sqrt2 steepest longest. A row gives rr' with |r|^2 = w min(f'', steepest) |a|^2 <= steepest
    longest; see `_matrix`. Attained by orthogonal rows of full length in the steepest place (logistic:
    params orthogonal to both). The paper has 2 (Lemmas 3 and 5); its symmetric part of independent noise
    has the law of noise on svec.
    """

    name = "margin_curvature"

    def __init__(
        self,
        design: PublicDesign,
        *,
        loss: MarginLoss,
        params: np.ndarray,
        published: bool = False,
        steepest: float | None = None,
        **rows: Any,
    ) -> None:
        super().__init__(design, loss, params, rows)
        if steepest is not None:
            self._steepest = min(float(steepest), loss.steepest)
        check_positive(steepest=self._steepest)
        self._matrix(self._curved_scale(1.0), self._steepest * self._rows.longest, published)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        rows, _, curvature = self._sloped(block, scratch)
        curved = np.multiply(
            rows.signed, np.sqrt(rows.weight * curvature), out=scratch("curved", *rows.signed.shape)
        )
        return (Factor(curved.T) if self.parts[0].symmetric else Factor(curved.T, curved.T),)


class MarginScores(_AtParams):
    """The sum of g g', g = w f'(m) y a being a row's gradient.

    Parameters
    ----------
    design, loss, params, published, **rows
        As of :class:`MarginCurvature`.

    Notes
    -----
    Sensitivity: sqrt2 S^2, where S is the largest -f' that a margin can have, given the params
    and the longest row. |g| <= S since w |a| <= 1; see `_matrix`. Attained by orthogonal rows with that
    slope, where there are such. The params are released: S is public (Lemma 2 of the paper says theta_0,
    which is not).
    """

    name = "margin_scores"

    def __init__(
        self,
        design: PublicDesign,
        *,
        loss: MarginLoss,
        params: np.ndarray,
        published: bool = False,
        **rows: Any,
    ) -> None:
        super().__init__(design, loss, params, rows)
        self._matrix(self._pulled * self._rows.entries, self._pulled**2, published)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        rows, slope, _ = self._sloped(block, scratch)
        score = np.multiply(rows.signed, rows.weight * slope, out=scratch("pulled", *rows.signed.shape))
        return (Factor(score.T) if self.parts[0].symmetric else Factor(score.T, score.T),)


class MarginSandwich(_AtParams):
    """Both: the sums of g g' and, times `weight`, of w f''(m) a a', released jointly.

    Parameters
    ----------
    design, loss, params, **rows
        As of :class:`MarginCurvature`.
    groups : array_like, shape (m, k), optional
        Public. A row x is in group j if row j of `groups` times x exceeds 1/2. What rows of each group have
        lost of their slopes, the sum of w (1 + f'(m)), is released, too, over the root of `overlap`. The
        loss must have a straight part.
    overlap : int
        Of how many groups a row is part at most; of one that is in more, each gets less.

    Notes
    -----
    Sensitivity: sqrt(2 joint), with weight = together / longest. Both parts of a row are
    positive semi-definite, of norms at most s^2 and together f''(m), s = -f'(m), which satisfy s^4 +
    (together f'')^2 <= joint (:class:`MarginLoss`). Two rows differ by at most the sum of their squared
    norms, 2 joint. Logistic: joint = 1 with together = 3.85, no more than the scores alone; attained by
    orthogonal rows where s = 1 or s = .5437.

    Groups cost nothing. Their part of a row has norm 1 - s at most and no negative entry, so that two rows
    still differ by no more than their squared norms add up to. On the parabola of a Huber hinge s^4 + 1 +
    (1 - s)^2 <= 2, as s^4 <= s and (1 - s)^2 <= 1 - s; beside it two parts are 0 and one is 1. Attained by
    orthogonal rows of other groups where s is next to 0.
    """

    name = "margin_sandwich"

    def __init__(
        self,
        design: PublicDesign,
        *,
        loss: MarginLoss,
        params: np.ndarray,
        groups: np.ndarray | None = None,
        overlap: int = 1,
        **rows: Any,
    ) -> None:
        super().__init__(design, loss, params, rows)
        self.weight = loss.together / self._rows.longest
        self.parts = (Part(self._pulled * self._rows.entries), Part(self._curved_scale(self.weight)))
        self.sensitivity = math.sqrt(2 * loss.joint)
        longest = (self._pulled**2, loss.steepest * loss.together)
        self.ranges = np.concatenate(list(map(_ranges, self.parts, longest)))
        self._member = None
        if groups is not None:
            if not loss.straight:
                raise ValueError("groups are of losses with a straight part")
            self._member, self._overlap = RowProducts(groups), overlap
            share = np.full(len(groups), 1 / math.sqrt(overlap))
            self.parts = (*self.parts, Part(np.ones(1), share))
            self.ranges = np.append(self.ranges, share)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        rows, slope, curvature = self._sloped(block, scratch)
        root = math.sqrt(self.weight) * np.sqrt(rows.weight * curvature)
        curved, score = scratch("curved", 2, *rows.signed.shape)
        np.multiply(rows.signed, root, out=curved)
        np.multiply(rows.signed, rows.weight * slope, out=score)
        if self._member is None:
            return Factor(score.T), Factor(curved.T)
        missed = rows.weight * (1 - slope)
        within = self._member(block.exog.T, scratch("within", self.parts[2].size, len(missed)), scratch) > 0.5
        share = within / np.sqrt(np.maximum(within.sum(axis=0), self._overlap))
        return Factor(score.T), Factor(curved.T), Factor(missed[:, None], share.T)

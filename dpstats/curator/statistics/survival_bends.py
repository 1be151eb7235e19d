"""Scores of survival models times squares of a line or of columns: does it bend along them?"""

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import shorten
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import RowProducts, squared_norms
from dpstats.curator.statistics.hazard_score import HazardTimes
from dpstats.curator.statistics.martingale import LocationScore
from dpstats.families.bounded_score import square_weight


class _Curves:
    """Products v = psi q of scores |psi| <= limit with curves q of forms of a row, and kappa |v|^2.

    Of m forms t = way'x, clipped at +-edge, q_j = t_j^2 - level_j - tilt_j t_j, shortened to |q| <= span.

    Notes
    -----
    Sensitivity: 2 most, most = limit span >= |v|, with kappa = sqrt(11) / (2 most): the proof of
    :class:`dpstats.curator.statistics.glm.FarScores`. A row that weighs nothing is v = 0.
    """

    def __init__(  # noqa: PLR0913 - a curve and its bounds
        self,
        ways: np.ndarray,
        unit: np.ndarray,
        level: np.ndarray,
        tilt: np.ndarray,
        edge: float,
        span: float,
        limit: float,
    ) -> None:
        level, tilt = (np.asarray(each, dtype=float)[:, None] for each in (level, tilt))
        if not (len(ways) == len(level) == len(tilt) and np.isfinite([*level, *tilt]).all()):
            raise ValueError("ways, level and tilt must be finite, and one of each for each curve")
        if not (0 < edge < math.inf and 0 < span < math.inf and np.isfinite(ways).all()):
            raise ValueError("edge and span must be positive and finite, and ways finite")
        self._products, self._level, self._tilt = RowProducts(ways / unit, unit), level, tilt
        self._edge, self._span, most = edge, span, limit * span
        self._kappa = square_weight(most)
        self.parts = (
            Part(np.full(len(ways), span), np.array([limit])),
            Part(np.ones(1), np.array([self._kappa * most**2])),
        )
        self.sensitivity = 2 * most

    def factors(self, rows: np.ndarray, psi: np.ndarray, scratch: Scratch) -> tuple[Factor, ...]:
        """Of rows times their unit, (k, B), and their scores (B,)."""
        t = self._products(rows, scratch("ways", len(self._level), len(psi)), scratch)
        np.clip(t, -self._edge, self._edge, out=t)
        q = np.subtract(t, self._tilt, out=scratch("curves", *t.shape))
        np.subtract(np.multiply(q, t, out=q), self._level, out=q)
        np.multiply(q, shorten(q, self._span, scratch), out=q)
        square = self._kappa * psi**2 * squared_norms(q, scratch)
        return Factor(q.T, psi[:, None]), Factor(np.ones((len(psi), 1)), square[:, None])


class LocationBend(LocationScore):
    """Location scores times curves of forms of a row, and the squares of these products, released jointly.

    With psi of :class:`LocationScore` and q of :class:`_Curves` along `ways` of x~, a row gives

        (v, kappa |v|^2),   v = psi q (m,),   kappa = sqrt(11) / (2 most),   most = limit span >= |v|.

    At the truth the mean of v is 0, whatever the covariates.

    Parameters
    ----------
    design : PublicDesign
    ways : array_like, shape (m, k)
        Of x~.
    level, tilt : array_like, shape (m,)
    edge, span : float
        Positive.
    **score
        As of :class:`LocationScore`.

    Notes
    -----
    Sensitivity: 2 most, by :class:`_Curves`, where limit is the larger of s and A1(c): psi lies in
    [-s, A1(c)], and a row that weighs nothing gives 0. Attained where the limit is A1(c) by two rows beyond
    the cut whose curves are opposite and as long as the span; where it is s by two early events.
    """

    name = "location_bend"

    def __init__(
        self,
        design: PublicDesign,
        *,
        ways: np.ndarray,
        level: np.ndarray,
        tilt: np.ndarray,
        edge: float,
        span: float,
        **score: Any,
    ) -> None:
        super().__init__(design, **score)
        limit = float(self.parts[0].units.max())
        self._curves = _Curves(ways, self._map.unit, level, tilt, edge, span, limit)
        self.parts, self.sensitivity = self._curves.parts, self._curves.sensitivity

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        return self._curves.factors(*self._scored(block, scratch), scratch)


class HazardBend(HazardTimes):
    """Scores of hazards times curves of forms of a row, and the squares of these products, released jointly.

    With u of :class:`dpstats.curator.statistics.hazard_score.HazardScore`, psi the sum of its entries and
    q of :class:`_Curves` along `ways` of x, a row gives (v, kappa |v|^2) with v = psi q as
    :class:`LocationBend` does, with limit = c. At the truth the mean of v is 0, whatever the covariates.

    Parameters
    ----------
    design : PublicDesign
    ways : array_like, shape (m, d)
        Of x.
    level, tilt : array_like, shape (m,)
    edge, span : float
        Positive.
    **times
        See :class:`HazardTimes`.

    Notes
    -----
    Sensitivity: 2 most, by :class:`_Curves`. psi is a failure less the hazards, which add up to no more than
    c: it lies in [-c, 1], and c is at least 1. Attained by two rows of hazard c without a failure, whose
    curves are opposite and as long as the span.
    """

    name = "hazard_bend"

    def __init__(
        self,
        design: PublicDesign,
        *,
        ways: np.ndarray,
        level: np.ndarray,
        tilt: np.ndarray,
        edge: float,
        span: float,
        **times: Any,
    ) -> None:
        super().__init__(design, **times)
        self._curves = _Curves(ways, self._map.scale, level, tilt, edge, span, self._c)
        self.parts, self.sensitivity = self._curves.parts, self._curves.sensitivity

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        centred, hazards, piece = self._watched(block, scratch)
        return self._curves.factors(centred, (piece >= 0) - hazards.sum(axis=0), scratch)

"""Scores of survival models times squares of a line or of columns: does it bend along them?"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import RowProducts, predictor, squared_norms
from dpstats.curator.statistics.base import each_row
from dpstats.curator.statistics.bends import Curves
from dpstats.curator.statistics.hazard_score import HazardTimes
from dpstats.curator.statistics.martingale import LocationScore
from dpstats.families.bounded_score import square_weight


class _Products:
    """Products v = psi q of scores |psi| <= limit with curves q of forms of a row, and kappa |v|^2.

    Of m forms t = way'x, see :class:`dpstats.curator.statistics.bends.Curves`.

    Notes
    -----
    Sensitivity: 2 most, most = limit span >= |v|, with kappa = sqrt(11) / (2 most): the proof of
    :class:`dpstats.curator.statistics.glm.FarScores`. A row that weighs nothing is v = 0.
    """

    def __init__(self, unit: np.ndarray, limit: float, *, ways: np.ndarray, **curves: Any) -> None:
        self._curves = Curves(**curves)
        finite = (np.isfinite(each).all() for each in (ways, self._curves.level, self._curves.tilt))
        if len(ways) != len(self._curves.level) or not all(finite):
            raise ValueError("ways, level and tilt must be finite, and one of each for each curve")
        self._forms = RowProducts(ways / unit, unit)
        most = limit * self._curves.span
        self._kappa = square_weight(most)
        self.parts = (
            Part(np.full(len(ways), self._curves.span), np.array([limit])),
            Part(np.ones(1), np.array([self._kappa * most**2])),
        )
        self.sensitivity = 2 * most

    def factors(self, rows: np.ndarray, psi: np.ndarray, scratch: Scratch) -> tuple[Factor, ...]:
        """Of rows times their unit, (k, B), and their scores (B,)."""
        t = self._forms(rows, scratch("ways", len(self._curves.level), len(psi)), scratch)
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
        `ways` of x~, shape (m, k), and level, tilt, edge and span of :class:`Curves`.
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
        `ways` of x, shape (m, d), and level, tilt, edge and span of :class:`Curves`.
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

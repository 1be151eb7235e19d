"""Scores of survival models times the square of a line, and the squares of these products: does it bend?"""

import math
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.products import predictor
from dpstats.curator.statistics.hazard_score import HazardTimes
from dpstats.curator.statistics.martingale import LocationScore
from dpstats.families.bounded_score import square_weight


class _Curve:
    """Products v = psi (t^2 - edge^2 / 2) of scores |psi| <= limit, and kappa v^2, for t clipped at +-edge.

    Notes
    -----
    Sensitivity: 2 most, most = limit edge^2 / 2 >= |v|, with kappa = sqrt(11) / (2 most): the proof of
    :class:`dpstats.curator.statistics.at_line.PredictorBend`. Ranges: 2 most, and kappa most^2.
    """

    def __init__(self, line: np.ndarray, edge: float, limit: float) -> None:
        self._line, self._edge = np.asarray(line, dtype=float), edge
        if not (0 < edge < math.inf and np.isfinite(self._line).all()):
            raise ValueError("edge must be positive, and it and the line finite")
        self.sensitivity = limit * edge**2
        most = self.sensitivity / 2
        self._kappa = square_weight(most)
        self.parts = (Part(np.ones(1), np.array([most, self._kappa * most**2])),)
        self.ranges = np.array([2 * most, self._kappa * most**2])

    def factors(self, rows: np.ndarray, psi: np.ndarray, scratch: Scratch) -> tuple[Factor, ...]:
        """Of rows (k, B) and their scores (B,)."""
        t = np.clip(predictor(self._line, rows, scratch), -self._edge, self._edge)
        right = scratch("bend", 2, len(psi))
        np.multiply(psi, t**2 - self._edge**2 / 2, out=right[0])
        np.multiply(self._kappa, right[0] ** 2, out=right[1])
        return (Factor(np.ones((len(psi), 1)), right.T),)


class LocationBend(LocationScore):
    """Location scores times the square of a line, and the squares of these products, released jointly.

    With psi of :class:`LocationScore`, t = line'x~ clipped at +-edge and v = psi (t^2 - edge^2 / 2), a row
    gives

        (v, kappa v^2),   kappa = sqrt(11) / (2 most),   most = limit edge^2 / 2 >= |v|.

    At the truth the mean of v is 0, whatever the covariates.

    Parameters
    ----------
    design : PublicDesign
    line : array_like, shape (k,)
        Of x~.
    edge : float
        Positive.
    **score
        As of :class:`LocationScore`.

    Notes
    -----
    Sensitivity: 2 most, by :class:`_Curve`, where limit is the larger of s and A1(c): psi lies in
    [-s, A1(c)], and a row that weighs nothing gives 0. Attained where the limit is A1(c) by two rows beyond
    the cut, one in the middle of the line and one at the edge; where it is s by two early events.
    """

    name = "location_bend"
    flat = True

    def __init__(self, design: PublicDesign, *, line: np.ndarray, edge: float, **score: Any) -> None:
        super().__init__(design, **score)
        limit = self.parts[0].units.max()
        self._curve = _Curve(np.asarray(line, dtype=float) / self._map.unit, edge, float(limit))
        self.parts, self.sensitivity = self._curve.parts, self._curve.sensitivity
        self.ranges = self._curve.ranges

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        return self._curve.factors(*self._scored(block, scratch), scratch)


class HazardBend(HazardTimes):
    """Scores of hazards times the square of a line, and the squares of these products, released jointly.

    With u of :class:`dpstats.curator.statistics.hazard_score.HazardScore`, psi the sum of its entries,
    t = line'x clipped at +-edge and v = psi (t^2 - edge^2 / 2), a row gives (v, kappa v^2) as
    :class:`LocationBend` does, with limit = c. At the truth the mean of v is 0, whatever the covariates.

    Parameters
    ----------
    design : PublicDesign
    line : array_like, shape (d,)
        Of x.
    edge : float
        Positive.
    **times
        See :class:`HazardTimes`.

    Notes
    -----
    Sensitivity: 2 most, by :class:`_Curve`. psi is a failure less the hazards, which add up to no more than
    c: it lies in [-c, 1], and c is at least 1. Attained by two rows of hazard c without a failure, one in the
    middle of the line and one at the edge.
    """

    name = "hazard_bend"
    flat = True

    def __init__(self, design: PublicDesign, *, line: np.ndarray, edge: float, **times: Any) -> None:
        super().__init__(design, **times)
        self._curve = _Curve(np.asarray(line, dtype=float) / self._map.scale, edge, self._c)
        self.parts, self.sensitivity = self._curve.parts, self._curve.sensitivity
        self.ranges = self._curve.ranges

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        centred, hazards, piece = self._watched(block, scratch)
        return self._curve.factors(centred, (piece >= 0) - hazards.sum(axis=0), scratch)

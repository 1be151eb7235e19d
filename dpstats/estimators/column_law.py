"""Where the rows of columns lie, as the first stage has counted them, and what curves of these are."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpstats.estimators.bends import EDGE
from dpstats.estimators.matrices import ROUNDING
from dpstats.estimators.row_scale import RowScale
from dpstats.families.quantiles import even_shares

OCTAVE = 2.0
# mean of a curve, and its covariance with its column, as far as octaves may be wrong of them: a tenth of what
# they are of the square of an exponential column
CROOKED = 0.2
_CELLS = 3  # with rows within the edge: fewer tell no square from a line
_POINTS = 32  # by which a law stands for columns that were not seen
# sds from the end of a gamma law to its mean, at least: nearer, 32 points hardly vary
_LEAST_NEAR = 0.5


@dataclass(frozen=True)
class ColumnLaw:
    """Where the rows of m columns lie, in sds.

    Attributes
    ----------
    at, shares : array, shape (m, points)
    """

    at: np.ndarray
    shares: np.ndarray

    @classmethod
    def counted(cls, scale: RowScale, chosen: np.ndarray, near: np.ndarray | float = math.inf) -> "ColumnLaw":
        """Of the columns of these numbers.

        Where too little was seen, gamma laws that begin `near` sds from the mean, below it or, if that is
        negative, above, or normal ones if it is infinite.
        """
        at = scale.places[chosen] / np.sqrt(scale.ratio[chosen])[:, None]
        shares = scale.shares[chosen]
        more = (0, 0), (0, max(_POINTS - at.shape[1], 0))
        at, shares = np.pad(at, more), np.pad(shares, more)
        chances, near = even_shares(at.shape[1]), np.broadcast_to(near, len(at))[:, None]
        far = np.maximum(np.where(np.isinf(near), 1.0, np.abs(near)), _LEAST_NEAR)
        gamma = np.sign(near) * (special.gammaincinv(far**2, chances) / far - far)
        usual = np.where(np.isinf(near), special.ndtri(chances), gamma)
        seen = ((shares > 0) & (np.abs(at) < EDGE)).sum(axis=1, keepdims=True) >= _CELLS
        whole = np.where(seen, shares.sum(axis=1, keepdims=True), 1.0)
        return ColumnLaw(np.where(seen, at, usual), np.where(seen, shares / whole, 1 / at.shape[1]))

    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """`level` and `tilt` that make a clipped square correlated with neither constant nor column.

        Without a tilt for a column that noise leaves in one place, where any will do.
        """
        clipped = np.clip(self.at, -EDGE, EDGE)
        middle, square = self.mean(clipped), self.mean(clipped**2)
        less = self.at - self.mean(self.at)[:, None]
        along, varies = self.mean(less * clipped), self.mean(less * clipped**2)
        spread = along > ROUNDING * self.mean(np.abs(self.at * clipped))
        tilt = np.where(spread, varies / np.where(spread, along, 1.0), 0.0)
        return square - tilt * middle, tilt

    def curved(self, level: np.ndarray, tilt: np.ndarray) -> np.ndarray:
        """Values of the curves at the points."""
        clipped = np.clip(self.at, -EDGE, EDGE)
        return np.asarray(clipped**2 - level[:, None] - tilt[:, None] * clipped)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Over the rows of each column, of values at the points; shape (m,)."""
        return np.asarray(np.sum(self.shares * values, axis=1))

    def line(self, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Intercept and slope of values at the points on their column, of rows so weighted; (2, ..., m)."""
        weights = self.shares * weights
        weights = weights / weights.sum(axis=-1, keepdims=True)
        mean = np.sum(weights * self.at, axis=-1)
        off = self.at - mean[..., None]
        level = np.sum(weights * values, axis=-1)
        slope = np.sum(weights * off * values, axis=-1) / np.sum(weights * off**2, axis=-1)
        return np.array([level - slope * mean, slope])

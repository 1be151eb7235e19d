"""Bounded scores of a generalised linear model (docs/theory/glm.md#bounded-scores).

    psi* = clip(clip(v psi) - c(eta)),   h* = v h,   clip at +-limit,
    v(eta) = min(1, limit / (spread sd(psi)), curvature_limit / h).

v is a weight that depends on the covariates alone: it makes room for `spread` sds of the score below the
limit, and holds the curvature below its own, where the mean is large. Of a response that is 0 or 1 it holds
the larger of its two scores below the limit, in the place of the sds, so that nothing is clipped and c is 0.
c(eta) = E clip(v psi) under the family keeps what is left of clipping from moving the mean of the score. So
the estimating equation has its root at the truth however narrow the limits. No response is beyond its
declared end: c counts what the law has between the limit and the score there, and nothing beyond.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy import special

from dpstats.families.glm import GlmFamily, RowsOf, count_clipped_square
from dpstats.families.quantiles import even_shares

_POINTS = 4096
_LAW = 500  # normal predictors
_TINY = np.finfo(float).tiny


def logistic_information_weight(radius: float) -> float:
    """What the information of a logistic regression is released times, beside its score.

    See docs/theory/glm.md#the-information-comes-free.
    """
    return 4 * math.sqrt(1.5) / radius


def square_weight(most: float, sums: int = 1) -> float:
    """What squares of values of at most this size are released times, beside the values.

    sqrt(11) / (2 most); the proof in :class:`dpstats.curator.statistics.at_line.PredictorBend` holds up to
    ((1 + sqrt 5) / 2)^5 = 11.09 in the place of 11. Of several sums, to one of which a row adds, 1 / most by
    the proof in :class:`dpstats.curator.statistics.glm.FarScores`.
    """
    return (math.sqrt(11.0) / 2 if sums == 1 else 1.0) / most


@dataclass(frozen=True)
class BoundedScore:
    """Public numbers that bound the score and the curvature of a row.

    Attributes
    ----------
    family : GlmFamily
    limit : float
        Largest absolute score.
    curvature_limit : float
        Largest curvature.
    spread : float
        Sds of the score for which there is room below the limit; 0 weighs no row for its spread.
    dispersion : float
        Of the law assumed in the weights and in the correction, see `GlmFamily.score_variance`.
    predictors : tuple of float
        Range of eta on which the correction is tabulated; beyond it is held constant.
    top : float
        Largest response.
    """

    family: GlmFamily
    limit: float
    curvature_limit: float
    spread: float = 0.0
    dispersion: float = 0.0
    predictors: tuple[float, float] = (-30.0, 30.0)
    top: float = math.inf

    def __post_init__(self) -> None:
        if not (0 < self.limit < math.inf and 0 < self.curvature_limit < math.inf and self.spread >= 0):
            raise ValueError("limits must be positive and finite, and spread not negative")

    @classmethod
    def unclipped(cls, family: GlmFamily) -> "BoundedScore":
        """Of a family whose own scores and curvature are bounded."""
        return cls(family, family.largest_score, family.most_curved)

    def __call__(self, y: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """psi* and h* of each row, within the limits; shape (B,) each."""
        rows = RowsOf(self.family, y, eta)
        return self.of(rows), np.minimum(self.weight_of(rows) * rows.curvature, self.curvature_limit)

    def of(self, rows: RowsOf) -> np.ndarray:
        """psi* of rows; scores of other limits that weigh these alike have made most of it."""
        weighted = rows.once(("weighted", self._weighs), lambda: self.weight_of(rows) * rows.score)
        score = np.clip(weighted, -self.limit, self.limit)
        score -= self._table if isinstance(self._table, float) else self.interpolated(self._table, rows)
        return np.clip(score, -self.limit, self.limit, out=score)

    def weight(self, eta: np.ndarray) -> np.ndarray:
        """Weight v of a row with this linear predictor."""
        return self.weight_of(RowsOf(self.family, eta, eta))

    def square_moves(self, middle: float, spread: float, ends: np.ndarray) -> float:
        """How far weights move a line with a square of coefficient 1, of normal predictors up to these ends.

        Its intercept, or its slope, in sds of the predictor, against the line of rows that count alike.
        """
        at = np.clip(middle + spread * special.ndtri(even_shares(_LAW)), *ends)
        rows, curvature = np.vander((at - middle) / spread, 3, increasing=True), self.family.curvature(at)
        lines = [
            np.linalg.lstsq(rows[:, :2] * root, rows[:, 2:] * root, rcond=None)[0]
            for root in np.sqrt([curvature, curvature * self.weight(at)])[..., None]
        ]
        return float(np.abs(lines[0] - lines[1]).max())

    @property
    def _weighs(self) -> tuple[float, ...]:
        """What the weight of a row depends on, beside the row."""
        spread = self.limit / self.spread if self.spread > 0 else math.inf
        both = self.limit if self.family.two_valued and self.family.unlimited else spread
        return self.curvature_limit, both, self.dispersion

    def weight_of(self, rows: RowsOf) -> np.ndarray:
        """The same of rows, once for all that ask."""
        return rows.once(("weight", self._weighs), lambda: self._weights(rows))

    def _weights(self, rows: RowsOf) -> np.ndarray:
        weight = np.minimum(1.0, self.curvature_limit / np.maximum(rows.curvature, _TINY))
        if self.family.two_valued and self.family.unlimited:
            return np.minimum(weight, self.limit / rows.largest_score)
        if self.spread > 0:
            sd = np.sqrt(rows.score_variance(self.dispersion))
            np.minimum(weight, self.limit / (self.spread * sd), out=weight)
        return weight

    def matrix_weights(self, radius: float) -> tuple[float, float]:
        """What information and variability are released times, beside the score (docs/theory/glm.md)."""
        half = math.sqrt(0.5) / radius
        return half * self.limit / self.curvature_limit, half / self.limit

    def correction(self, eta: np.ndarray, dispersion: float | None = None) -> np.ndarray:
        """c(eta), from the closed form, under the law that is assumed or one of this dispersion."""
        weight, law = self.weight(eta), self.dispersion if dispersion is None else dispersion
        limit, most = self.limit / weight, self.family.score(np.full_like(eta, self.top), eta)
        lost = self.family.clipped_mean(eta, limit, law)
        if math.isfinite(self.top):
            lost = lost - self.family.clipped_mean(eta, np.maximum(limit, most), law)
        return weight * lost

    def gain(self, wider: "BoundedScore") -> tuple[float, float]:
        """Least and most that a wider limit adds to a score.

        Where no score lies below -limit, the least is the difference of what is put back for clipping, which
        the declared end of the response makes smaller for large means. What counts far below a large mean
        would take off is left out.

        Raises
        ------
        ValueError
            If the limit of `wider` is not the larger one.
        """
        if not wider.limit > self.limit:
            raise ValueError("the limit of `wider` must be the larger one")
        most, least = wider.limit - self.limit, np.array([self.family.support[0], self.predictors[0]])
        if float(self.family.score(least[:1], least[1:])[0]) < -self.limit:
            return -most, most
        return max(-most, min(0.0, float(np.min(self._put_back - wider._put_back)))), most

    def put_back(self, dispersion: float, eta: float) -> float:
        """Mean of a score whose dispersion is this, and not what was put back for.

        No more than there may be below the declared end of the response: nothing, if no score is clipped.
        """
        at = np.array([eta])
        return float((self.correction(at, dispersion) - self.correction(at))[0])

    def squares(self, alpha: float) -> np.ndarray:
        """Mean squares of the scores of counts whose variance is m + alpha m^2, at tabulated predictors.

        But for the second clip, which lowers a clipped score by no more than was put back.
        """
        eta = np.linspace(*self.predictors, _POINTS)
        weight, mean, back = self.weight(eta), self.family.mean(eta), self._put_back
        unit = weight * self.family.curvature(eta) / mean  # of a score, in counts
        limit = self.limit / unit
        top = np.clip(self.top - mean, 0.0, limit)
        counts = count_clipped_square(mean, limit, top, alpha)
        moved = self.family.clipped_mean(eta, self.limit / weight, alpha - (self.family.alpha or 0.0))
        return unit**2 * counts - 2 * weight * moved * back + back**2

    @cached_property
    def _table(self) -> "PredictorTable | float":
        """c at equally spaced eta; one number where it is the same for all."""
        return _tabulated(self)

    @property
    def _put_back(self) -> np.ndarray | float:
        """The same as numbers."""
        return self._table if isinstance(self._table, float) else self._table.values

    def interpolated(self, table: "PredictorTable", rows: RowsOf) -> np.ndarray:
        """From values at tabulated predictors."""
        return table.at(*rows.once(("places", self.predictors), lambda: self._places(rows.eta)))

    def _places(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of tabulated predictors before each, and the share of the step to the next."""
        low, high = self.predictors
        at = np.clip((eta - low) * ((_POINTS - 1) / (high - low)), 0.0, _POINTS - 1.0)
        left = at.astype(np.intp)  # anything where eta is NaN, and so is what is returned
        return left, at - left


class PredictorTable:
    """Values at equally spaced predictors, along the last axis, and the steps between them.

    Far faster than np.interp, which searches for each place.
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values, self._steps = values, np.diff(values, append=values[..., -1:])

    def at(self, left: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Linear between the nearest values."""
        below, step = (np.take(each, left, axis=-1, mode="clip") for each in (self.values, self._steps))
        return np.asarray(below + share * step)


@lru_cache(maxsize=16)  # steps of a fit, and fits of one design, ask for few limits
def _tabulated(score: BoundedScore) -> PredictorTable | float:
    """See `BoundedScore._table`."""
    values = score.correction(np.linspace(*score.predictors, _POINTS))
    return PredictorTable(values) if np.ptp(values) > 1e-12 * score.limit else float(values[0])

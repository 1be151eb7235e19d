"""Where to bound the scores under pure epsilon: noise is that of a cylinder, and there are no matrices.

See docs/theory/survival.md#pure-epsilon.
"""

import functools
import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from dpstats.estimators.engine.bounds import FREE, LENGTHS, ladder
from dpstats.estimators.location_scale.bounds import USUAL_WIDTH, Bounding, Choice, bias_of_length
from dpstats.estimators.location_scale.event_law import Floor
from dpstats.estimators.location_scale.events import Whitening
from dpstats.estimators.location_scale.placement import PlacedByLine
from dpstats.estimators.row_scale import longest_square
from dpstats.families.score_bounds import LOG_SIGMA_SHARE, ScoreBounds, Truncation

_LENGTHS = ladder(LENGTHS[0] / 2, LENGTHS[-1])
# sd of linf noise for three numbers, in ranges over epsilon
SIZE_SD = math.sqrt(20 / 3)
# noise, in sampling sds, up to which the radius grows with the rows of rare levels, at a typical cut
_FOR_LEVELS, _USUAL_CUT = 0.3, 2.0
# the information on log sigma against that of rows censored at one hazard, where almost all are censored;
# and where the correlation with the intercept lies between that of such rows (0) and that of rows censored at
# any hazard (1): fits without noise of all families, 0 to 60 % censored, have 0.9 to 1.8, and 0.5 to 2.2
_MIXED, _TOWARDS_ANY = 1.5, 0.8


@dataclass(frozen=True)
class PureBounding(Bounding[PlacedByLine]):
    """As :class:`Bounding`; `tail_mu` is the epsilon of the steps that the estimate combines, per row.

    Attributes
    ----------
    sizes : float
        Epsilon, per row, of a release of the information's sizes.
    """

    sizes: float

    def bounds(self, where: Truncation) -> ScoreBounds:
        """Sizes of the scores, and the sensitivities that Gaussian noise of the same variances would have."""
        bounds, m = super().bounds(where), self.k + 1
        if where.known_scale:
            location = 2 * bounds.psi * math.sqrt(m)  # spherical, of k numbers
            matrix = location * self.sizes / self.tail_mu / math.sqrt(2)  # Laplace's, of one
            return replace(bounds, sensitivity=location, matrix_weight=matrix)
        location = 2 * bounds.psi * math.sqrt(m + 2)
        log_sigma = LOG_SIGMA_SHARE * bounds.psi * math.sqrt((m + 1) * (m + 2) / 3)
        return replace(
            bounds,
            sensitivity=location,
            log_sigma_weight=bounds.log_sigma_weight * location / log_sigma,
            matrix_weight=location * self.sizes / self.tail_mu / SIZE_SD,
        )

    def _best_radius(
        self, c: float, floor: Floor, whitening: Whitening, point: np.ndarray, least: float
    ) -> tuple[float, Choice] | None:
        """Of the least variance, and squared bias, of a coefficient."""
        count = self.n * self.placement.events.fraction
        k, box = self.k, longest_square(whitening.matrix, self.placement.scale)
        # a level whose rows weigh less than others' is not seen as well as the events' matrix has it
        rows = self.placement.scale.typical(self.placement.scale.levels) @ whitening.matrix
        levels = float(np.max(np.sum(rows**2, axis=1), initial=0.0))
        choice = Choice(c, 0.0, floor.z, USUAL_WIDTH, 0.0, 0.0)
        where, bias = self.truncation(choice, point), self._bias(choice, floor, point)
        bounds, (slope, variance) = self.bounds(where), self._left(where)
        log_sigma, per_length = self._log_sigma_noise(bounds, point), self._per_length(bounds)
        best = (math.inf, choice)
        for length in (max(length, levels / k) for length in _LENGTHS):
            square = min(k * length, box)
            slope_w, variance_w = _kept_rows(k, square) if square < box else (1.0, 1.0)
            longer = float(bias_of_length(length)) if square < box else 0.0
            noise = per_length * math.sqrt(square)
            value = (variance * variance_w + max(noise, FREE) ** 2) / (slope * slope_w) ** 2
            value += count * (bias + longer) ** 2 + max(log_sigma, FREE) ** 2
            if value < best[0]:
                best = (value, replace(choice, radius=math.sqrt(square), location_noise=noise))
        return None if best[1].location_noise ** 2 > least else best

    def _per_length(self, bounds: ScoreBounds) -> float:
        """Noise, in sampling sds, over R: of an event, over the root of what it says."""
        return bounds.sensitivity / self._events_mu / self.placement.expected.slope

    def share(self, choice: Choice, point: np.ndarray) -> float:
        """E[h1*^2] of the events that cut and row weights leave, as the model has it."""
        slope, _ = self._left(self.truncation(choice, point))
        return self.placement.expected.slope * slope * _kept_rows(self.k, choice.radius**2)[0]

    def affordable_square(self, point: np.ndarray) -> float:
        """Square of the longest row that noise leaves room for."""
        choice = Choice(_USUAL_CUT, 0.0, self.placement.expected.floors[-1].z, USUAL_WIDTH, 0.0, 0.0)
        return (_FOR_LEVELS / self._per_length(self.bounds(self.truncation(choice, point)))) ** 2

    def log_sigma_square(self, where: Truncation) -> float:
        """Mean square of the log sigma score of an event, as the model has it."""
        f = self.placement.events.fraction
        return (f + _MIXED * (1 - f)) * self.placement.expected.watched().left(where.cut).log_sigma

    def correlation(self, where: Truncation) -> tuple[float, float]:
        """Of the scores of intercept and log sigma: a guess, and its sd.

        The pivot takes it away, and the cut brings it back: by little if all rows are censored at one hazard,
        by much if at any hazard.
        """
        one, every = (self.placement.expected.watched(f).left(where.cut).correlation for f in (None, 1.0))
        return one + _TOWARDS_ANY * (every - one), 0.3 * abs(one - every) + 0.05

    def _left(self, where: Truncation) -> tuple[float, float]:
        """Share of the location information that is left, as slope and as variance of the score."""
        law = self.placement.expected.watched()
        g, slope, _ = where.cut.at(law.z)
        return law.slope_and_variance(g * slope, law.slope)


@functools.lru_cache(maxsize=64)
def _kept_rows(k: int, square: float) -> tuple[float, float]:
    """Share of the second moments of normal rows that weights w = min(1, R^2 / |x|^2) leave, and w^2."""
    inside = float(special.chdtr(k + 2, square))
    outside = float(special.chdtrc(k, square))
    once = inside + square / k * outside
    lengths = np.linspace(0.0, 1.0, 202)[1:-1]
    beyond = special.chdtri(k, lengths * outside)
    return once, inside + square**2 / k * float(np.mean(1 / beyond)) * outside

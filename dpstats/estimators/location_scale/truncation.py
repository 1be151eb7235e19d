"""Where to bound the scores: the cut c, the longest row R and the limits of rho and h1*, from releases.

Privacy noise grows with all of them. Bounding loses information and, where the model is only roughly true,
moves the estimand away from the maximum likelihood one. Each choice minimises

    lost information + (noise / sampling sd)^2 + (error of the information)^2 + events * (assumed bias)^2,

noise below `FREE` sampling sds not counted, so that bounds widen to nothing as the budget grows. The assumed
bias falls exponentially in each bound. Its rates were read off noise-free fits of hdfail, rotterdam and the
C-MAPSS engines; its size was set so that simulated data, where there is no bias, lose little by it.

See docs/theory/survival.md#choice-of-bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpstats.estimators.location_scale.event_law import LEAST_KEPT, LEAST_SAID, Floor, first_of
from dpstats.estimators.location_scale.placement import LEAST_SPREAD, Placement, declared_range
from dpstats.estimators.location_scale.whitening import Whitening
from dpstats.families.score_bounds import ScoreBounds, Truncation, score_bounds

Array = np.ndarray

CUTS = (1.34, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0)
LENGTHS = (1.25, 1.5, 1.8, 2.2, 2.7, 3.3, 4.0, 6.0, 9.0, 16.0, 32.0, 64.0)
WIDTHS = (2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 10.0, 14.0, 20.0, 40.0)
FREE = 0.45
# below this many sampling sds, noise is nothing beside the data, and nothing is bounded: the estimate is then
# the maximum likelihood one
_NOTHING = 0.01
# the hazard that rows collect more than this many sigmas below their pivot is nothing too
_FAR = 60.0
# below minus this, a normal row collects a hazard of 1e-19: freezing h1* there changes no compensator
_UNSEEN = 9.0
# pivots are clipped to this many sds of the pivots of the events
_PIVOT_SDS = 3.0
# with delayed entry the first cut leaves this share of the information
_FIRST_KEPT = 0.5
# width at which the cut is chosen, before the width itself is
USUAL_WIDTH = 4.0


@dataclass(frozen=True)
class Choice:
    """Bounds in units that do not change as the iteration moves.

    Attributes
    ----------
    c : float
        Cumulative hazard of the cut.
    radius : float
        R.
    floor : float
        z below which h1* is frozen, where that matters.
    width : float
        Lower limit of rho, in residual sds below the events' mean.
    location_noise, log_sigma_noise : float
        Privacy noise of the averaged steps, in sampling sds of a coefficient and of log sigma.
    """

    c: float
    radius: float
    floor: float
    width: float
    location_noise: float
    log_sigma_noise: float


@dataclass(frozen=True)
class Bounding(Placement):
    """Everything a choice of bounds depends on: public facts and releases.

    Attributes
    ----------
    matrix_share : float
        Size of the released information matrix against the location score.
    tail_mu : float
        mu of the averaged steps, per row: a unit of k rows gets the noise of a k-th of it.
    n : int
    cuts : tuple of float
        Values of c to choose from.
    """

    matrix_share: float
    tail_mu: float
    n: int
    cuts: ClassVar[tuple[float, ...]] = CUTS

    def residual_square(self, gamma: Array, sigma: float) -> float:
        """By the line, or by the family where the line may be all noise."""
        share = self.believed(gamma, sigma) if self.events.shrunk else 1.0
        return share * self.line_square + (1 - share) * sigma**2 * self.expected.residual_square

    def truncation(self, choice: Choice, gamma: Array, sigma: float) -> Truncation:
        """Public limits of the scores at these values; an infinite width bounds nothing but the hazard."""
        narrow = math.isfinite(choice.width)
        pivots = self._pivots(gamma, sigma) if narrow else self._declared_pivots(gamma, sigma)
        floor = choice.floor
        if not self.problem.family.bounded and not math.isfinite(floor):
            lowest = (self.scale.lower[-1] - declared_range(gamma, self.scale)[1]) / sigma
            floor = min(max(lowest, -_FAR), -_UNSEEN)
        limits, delayed = self._limits(choice.width, gamma, sigma), self.problem.delayed
        return Truncation(self.problem.family, choice.c, pivots, limits, floor=floor, delayed=delayed)

    def bounds(self, where: Truncation) -> ScoreBounds:
        return score_bounds(where, self.matrix_share)

    def _pivots(self, gamma: Array, sigma: float) -> tuple[float, float]:
        mean, sd = self.over_events(self.pivot(gamma, sigma))
        return mean - _PIVOT_SDS * sd - 0.1, mean + _PIVOT_SDS * sd + 0.1

    def _declared_pivots(self, gamma: Array, sigma: float) -> tuple[float, float]:
        return declared_range(self.pivot(gamma, sigma), self.scale)

    def _limits(self, width: float, gamma: Array, sigma: float) -> tuple[float, float]:
        sd, offset = self.residual_sd(gamma, sigma), self.centre(gamma, sigma)
        least, most = self.declared_residuals(gamma, sigma)
        if not math.isfinite(width):
            return min(least, -_FAR), max(most, 0.0)
        low = min(max(-offset - width * sd, least), -1.2)
        high = self.expected.upper(width * sd, 1 + 0.3 * width * sd)
        return low, max(min(-offset + high, most), 0.0)

    def first(self, gamma: Array, sigma: float) -> Choice:
        """Narrow bounds for the first steps, where noise and the start are worse than any bias."""
        radius = math.sqrt(LENGTHS[0] * len(self.events.square))
        enough = [c for c in CUTS if self._kept(c, gamma, sigma) >= _FIRST_KEPT] or CUTS[-1:]
        c = enough[0] if self.problem.delayed else CUTS[0]
        floor = first_of(self._floors(gamma, sigma))
        return Choice(c, radius, floor, USUAL_WIDTH, math.inf, math.inf)

    def _floors(self, gamma: Array, sigma: float) -> tuple[Floor, ...]:
        if self.problem.delayed:
            return self.residuals(gamma, sigma).floors
        return self.expected.floors

    def _kept(self, c: float, gamma: Array, sigma: float) -> float:
        """Share of the information that a cut at c leaves."""
        if self.problem.delayed:
            return self.residuals(gamma, sigma).kept(c)
        cut = self.problem.family.cut
        return 1 - cut.size * self.events.fraction * math.exp(-cut.loss * c)

    def choose(self, whitening: Whitening, gamma: Array, sigma: float) -> Choice:
        """The bounds for these values."""
        widest = self._widest(whitening, gamma, sigma)
        if max(widest.location_noise, widest.log_sigma_noise) < _NOTHING:
            return widest
        return self._with_width(self._cut_and_radius(whitening, gamma, sigma), gamma, sigma)

    def _widest(self, whitening: Whitening, gamma: Array, sigma: float) -> Choice:
        """Bounds that no row of the declared box reaches, save by a cumulative hazard beyond the last cut."""
        floor = self._floors(gamma, sigma)[-1]
        radius = math.sqrt(whitening.longest_square(self.scale))
        choice = Choice(CUTS[-1], radius, floor.z, math.inf, 0.0, 0.0)
        bounds = self.bounds(self.truncation(choice, gamma, sigma))
        noise = bounds.sensitivity * radius / self._events_mu / floor.size
        log_sigma = self._log_sigma_noise(bounds, gamma, sigma)
        return replace(choice, location_noise=noise, log_sigma_noise=log_sigma)

    @property
    def _events_mu(self) -> float:
        return self.tail_mu * math.sqrt(self.n * self.events.fraction)

    def _log_sigma_noise(self, bounds: ScoreBounds, gamma: Array, sigma: float) -> float:
        information = self._log_sigma_information(gamma, sigma)
        return bounds.sensitivity / bounds.log_sigma_weight / (self._events_mu * math.sqrt(information))

    def _log_sigma_matrix_error(self, bounds: ScoreBounds, gamma: Array, sigma: float) -> float:
        """Relative error of the information on log sigma, which grows with the square of the width."""
        size = self._log_sigma_information(gamma, sigma) * self.n * self.events.fraction * self.tail_mu
        return 2 * bounds.sensitivity / (bounds.matrix_weight * bounds.log_sigma_unit**2 * size)

    def _log_sigma_information(self, gamma: Array, sigma: float) -> float:
        """Expected square of the log sigma score of an event."""
        if self.problem.delayed:
            law = self.residuals(gamma, sigma)
            return float(np.clip(law.left(law.cut(CUTS[-1])).log_sigma, LEAST_SPREAD, 4.0))
        return self.expected.log_sigma_information(self.residual_sd(gamma, sigma) ** 2)

    def _location_share(self, gamma: Array, sigma: float) -> float:
        """Typical h1*^2 of an event, nothing cut."""
        if self.problem.delayed:
            law = self.residuals(gamma, sigma)
            return max(law.left(law.cut(CUTS[-1])).location, LEAST_SAID)
        return self.expected.slope**2

    def _cut_and_radius(self, whitening: Whitening, gamma: Array, sigma: float) -> Choice:
        best, cuts = (math.inf, self.first(gamma, sigma)), list(self.cuts)
        for floor in self._floors(gamma, sigma):
            before = best[0]
            for c in cuts:
                found = self._best_radius(c, floor, whitening, gamma, sigma, best[0])
                if found is None:
                    break  # noise only grows with c
                best = min(best, found, key=lambda pair: pair[0])
            if best[0] == before:
                break  # and as the floor falls
            cuts = cuts[max(cuts.index(best[1].c) - 1, 0) :]  # a lower floor leaves room for a larger c
        return best[1]

    def _best_radius(
        self, c: float, floor: Floor, whitening: Whitening, gamma: Array, sigma: float, least: float
    ) -> tuple[float, Choice] | None:
        """The criterion and the choice, or None where noise alone exceeds the least criterion so far."""
        count, cut = self.n * self.events.fraction, self.problem.family.cut
        k, box = len(self.events.square), whitening.longest_square(self.scale)
        choice = Choice(c, 0.0, floor.z, USUAL_WIDTH, 0.0, 0.0)
        bounds = self.bounds(self.truncation(choice, gamma, sigma))
        per_length = bounds.sensitivity / self._events_mu / floor.size
        log_sigma = self._log_sigma_noise(bounds, gamma, sigma)
        if per_length * math.sqrt(min(k * LENGTHS[0], box)) > math.sqrt(least):
            return None
        bias = 0.016 * math.exp(-c / cut.bias) + floor.bias
        kept = max(self._kept(c, gamma, sigma) - floor.lost, LEAST_KEPT)
        # relative error of the information matrix, which grows with the square of the radius
        share = self._location_share(gamma, sigma)
        matrix = 2 * bounds.sensitivity / (bounds.matrix_weight * self.tail_mu * count * share)
        best = (math.inf, choice)
        for length in LENGTHS:
            square = min(k * length, box)
            longer = 0.018 * math.exp(-1.35 * length) if square < box else 0.0
            noise = per_length * math.sqrt(square)
            value = 1 / kept - 1 + max(noise, FREE) ** 2 + count * (bias + longer) ** 2
            value += max(log_sigma, FREE) ** 2 - FREE**2 + (matrix * square) ** 2
            if value < best[0]:
                best = (value, replace(choice, radius=math.sqrt(square), location_noise=noise))
        return best

    def _with_width(self, choice: Choice, gamma: Array, sigma: float) -> Choice:
        count = self.n * self.events.fraction
        least, best = math.inf, choice
        for width in WIDTHS:
            tried = replace(choice, width=width)
            where = self.truncation(tried, gamma, sigma)
            bounds = self.bounds(where)
            noise = self._log_sigma_noise(bounds, gamma, sigma)
            if noise > max(FREE, math.sqrt(least)):
                break  # and with the width
            declared = where.limits[0] <= self.declared_residuals(gamma, sigma)[0]
            bias = 0.0 if declared else 0.75 * math.exp(-0.9 * width)
            matrix = self._log_sigma_matrix_error(bounds, gamma, sigma)
            value = max(noise, FREE) ** 2 + count * bias**2 + matrix**2
            if value < least:
                least, best = value, replace(tried, log_sigma_noise=noise)
        return best

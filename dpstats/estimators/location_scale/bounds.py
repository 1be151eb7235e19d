"""Where to bound the scores: the cut c, the longest row R and the limits of rho and h1*, from releases.

Privacy noise grows with all of them. Bounding loses information and, where the model is only roughly true,
moves the estimand away from the maximum likelihood one. Each choice minimises

    lost information + (noise / sampling sd)^2 + (error of the information)^2 + events * (assumed bias)^2,

noise below `FREE` sampling sds not counted, so that bounds widen to nothing as the budget grows. The assumed
bias falls exponentially in each bound. Its rates were read off noise-free fits of hdfail, rotterdam and the
C-MAPSS engines; its size was set so that simulated data, where there is no bias, lose little by it.

See docs/theory/survival.md#choice-of-bounds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from dpstats.estimators.engine.bounds import FREE, LENGTHS, NEARLY_ALL, NOTHING, ladder
from dpstats.estimators.location_scale.event_law import FLOOR_BIAS, LEAST_KEPT, UNSEEN, Floor
from dpstats.estimators.location_scale.events import Whitening
from dpstats.estimators.location_scale.placement import Placement, declared_range
from dpstats.estimators.location_scale.problem import sigma_of
from dpstats.estimators.row_scale import longest_square
from dpstats.families.score_bounds import ScoreBounds, Truncation, score_bounds

P = TypeVar("P", bound=Placement, covariant=True)

# cumulative hazards, from that of two thirds of the rows to one that no row reaches; sds of residuals, from
# what keeps most to where the assumed bias, e^(-.9 width), is that of rounding
CUTS, WIDTHS = ladder(1.0, 64.0), ladder(2.0, 40.0)
# size of the largest information of a row, against the largest score of its location: with .5 intervals of
# fits of 6 to 24 levels are 4 % longer
MATRIX_SHARE = 0.7
_WIDTH_RATE = 0.9  # at which the assumed bias falls in the width
# sigmas from its pivot beyond which a row gives nothing: the hazard that it collects below is none
FAR = 60.0
# with delayed entry the first cut leaves this share of the information
_FIRST_KEPT = 0.5
# width at which the cut is chosen, before the width itself is
USUAL_WIDTH = 4.0
# Bias of log sigma against maximum likelihood, per share of the failures that come at other times than the
# law says, were a bound at 0. It falls half as fast in each as what is assumed where no share is known.
_OFF = 3.0


def bias_of_length(length: np.ndarray | float) -> np.ndarray:
    """Assumed bias of a slope, in sds of one event, if no row has a larger square than this, per column."""
    return np.asarray(0.018 * np.exp(-1.35 * np.asarray(length)))


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
class Bounding(Generic[P]):
    """Everything a choice of bounds depends on: public facts and releases.

    Attributes
    ----------
    placement : Placement
    tail_mu : float
        mu of the averaged steps, per row: a unit of k rows gets the noise of a k-th of it, and so do
        rows that count up to k units.
    n : float
        Number of rows, times the most units that one counts.
    doubt : float
        Share of the failures that come at other times than the law says, as far as that is known.
    """

    placement: P
    tail_mu: float
    n: float
    doubt: float = field(default=0.0, kw_only=True)

    def truncation(self, choice: Choice, point: np.ndarray) -> Truncation:
        """Public limits of the scores at these values; an infinite width bounds nothing but the hazard."""
        placement, problem, floor = self.placement, self.placement.problem, choice.floor
        if not problem.family.bounded and not math.isfinite(floor):
            farthest = declared_range(point[:-1], placement.scale)[1]
            lowest = (placement.scale.lower[-1] - farthest) / sigma_of(point)
            floor = min(max(lowest, -FAR), -UNSEEN)
        known = problem.known_scale
        limits = pivots = (0.0, 0.0)  # where log sigma has no score
        if not known:
            limits = self._limits(choice.width, point)
            pivots = self._pivots(point, math.isfinite(choice.width))
        rows = dict(delayed=problem.delayed, intervals=problem.intervals, strata=problem.strata is not None)
        return Truncation(problem.family, choice.c, pivots, limits, floor=floor, known_scale=known, **rows)

    def public(self, choice: Choice, whitening: np.ndarray, point: np.ndarray) -> dict[str, Any]:
        """Parameters of a release of scores at (gamma, log sigma) `point`."""
        return dict(
            self.placement.scale.public(),
            where=self.truncation(choice, point),
            gamma=point[:-1],
            sigma=sigma_of(point),
            pivot=self.placement.pivot(point),
            whitening=whitening,
            radius=choice.radius,
        )

    @property
    def k(self) -> int:
        """Number of location coefficients."""
        return len(self.placement.events.floored)

    def bounds(self, where: Truncation) -> ScoreBounds:
        return score_bounds(where, MATRIX_SHARE)

    def off(self, choice: Choice, point: np.ndarray) -> float:
        """Bias of log sigma against maximum likelihood by these bounds, per share of failures in doubt."""
        floors = self.placement.expectations(point).floors
        beyond = max(floor.bias for floor in floors if floor.z <= choice.floor) / FLOOR_BIAS
        early = 0.0 if self.placement.problem.known_scale else math.exp(-_WIDTH_RATE * choice.width)
        late = math.exp(-choice.c / self.placement.problem.family.cut.bias)
        return _OFF * (math.sqrt(late) + math.sqrt(beyond) + math.sqrt(early))

    def _pivots(self, point: np.ndarray, narrow: bool) -> tuple[float, float]:
        pivot = self.placement.pivot(point)
        if not narrow:
            return declared_range(pivot, self.placement.scale)
        mean, sd = self.placement.over_events(pivot)
        return mean - NEARLY_ALL * sd - 0.1, mean + NEARLY_ALL * sd + 0.1

    def _limits(self, width: float, point: np.ndarray) -> tuple[float, float]:
        placement = self.placement
        sd, offset = placement.residual_sd(point), placement.expectations(point).offset
        least, most = placement.declared_residuals(point)
        if not math.isfinite(width):
            return min(least, -FAR), max(most, 0.0)
        low = min(max(-offset - width * sd, least), -1.2)
        high = placement.expected.upper(width * sd, 1 + 0.3 * width * sd)
        return low, max(min(-offset + high, most), 0.0)

    def first(self, point: np.ndarray) -> Choice:
        """Narrow bounds for the first steps, where noise and the start are worse than any bias."""
        radius, usual = math.sqrt(LENGTHS[0] * self.k), self.placement.expectations(point)
        c = next((c for c in CUTS if usual.kept(c) >= _FIRST_KEPT), CUTS[-1])
        return Choice(c, radius, usual.first_floor, USUAL_WIDTH, math.inf, math.inf)

    def choose(self, whitening: Whitening, point: np.ndarray) -> Choice:
        """The bounds for these values."""
        widest = self._widest(whitening, point)
        if max(widest.location_noise, widest.log_sigma_noise) < NOTHING:
            return widest
        choice = self._cut_and_radius(whitening, point)
        return choice if self.placement.problem.known_scale else self._with_width(choice, point)

    def _widest(self, whitening: Whitening, point: np.ndarray) -> Choice:
        """Bounds that no row of the declared box reaches, save by a cumulative hazard beyond the last cut."""
        floor = self.placement.expectations(point).floors[-1]
        radius = math.sqrt(longest_square(whitening.matrix, self.placement.scale))
        choice = Choice(CUTS[-1], radius, floor.z, math.inf, 0.0, 0.0)
        bounds = self.bounds(self.truncation(choice, point))
        noise = bounds.sensitivity * radius / self._events_mu / floor.size
        log_sigma = self._log_sigma_noise(bounds, point)
        return replace(choice, location_noise=noise, log_sigma_noise=log_sigma)

    @property
    def _events_mu(self) -> float:
        return self.tail_mu * math.sqrt(self.n * self.placement.events.fraction)

    def _log_sigma_noise(self, bounds: ScoreBounds, point: np.ndarray) -> float:
        if self.placement.problem.known_scale:
            return 0.0
        information = self._log_sigma_information(point)
        return bounds.sensitivity / bounds.log_sigma_weight / (self._events_mu * math.sqrt(information))

    def _log_sigma_information(self, point: np.ndarray) -> float:
        """Expected square of the log sigma score of an event."""
        spread = self.placement.residual_sd(point) ** 2
        return self.placement.expectations(point).log_sigma_information(spread)

    def _cut_and_radius(self, whitening: Whitening, point: np.ndarray) -> Choice:
        best, cuts = (math.inf, self.first(point)), list(CUTS)
        for floor in self.placement.expectations(point).floors:
            before, last, rises = best[0], math.inf, 0
            for c in cuts:
                found = self._best_radius(c, floor, whitening, point, best[0])
                if found is None:
                    break  # noise only grows with c
                best = min(best, found, key=lambda pair: pair[0])
                rises = rises + 1 if found[0] > last else 0
                if rises == 2:  # noise grows in ripples, by the cells of its bounds
                    break
                last = found[0]
            if best[0] == before:
                break  # and as the floor falls
            cuts = cuts[max(cuts.index(best[1].c) - 1, 0) :]  # a lower floor leaves room for a larger c
        return best[1]

    def _best_radius(
        self, c: float, floor: Floor, whitening: Whitening, point: np.ndarray, least: float
    ) -> tuple[float, Choice] | None:
        """The criterion and the choice, or None where noise alone exceeds the least criterion so far."""
        count, usual = self.n * self.placement.events.fraction, self.placement.expectations(point)
        lengths, box = np.array(LENGTHS), longest_square(whitening.matrix, self.placement.scale)
        squares = np.minimum(self.k * lengths, box)
        choice = Choice(c, 0.0, floor.z, USUAL_WIDTH, 0.0, 0.0)
        bounds = self.bounds(self.truncation(choice, point))
        per_length = bounds.sensitivity / self._events_mu / floor.size
        if per_length * math.sqrt(squares[0]) > math.sqrt(least):
            return None
        log_sigma, bias = self._log_sigma_noise(bounds, point), self._bias(choice, floor, point)
        kept = max(usual.kept(c) - floor.lost, LEAST_KEPT)
        # relative error of the information matrix, which grows with the square of the radius
        matrix = 2 * bounds.sensitivity / (bounds.matrix_weight * self.tail_mu * count * usual.share)
        longer = np.where(squares < box, bias_of_length(lengths), 0.0)
        noise, left = per_length * np.sqrt(squares), self._kept_by(tuple(squares))
        # a variance of 1 without bounds; noise goes by the inverse information on both sides
        value = np.mean(1 / (kept * left) + np.maximum(noise[:, None] / left, FREE) ** 2, axis=1) - 1
        value += count * (bias + longer) ** 2
        value += max(log_sigma, FREE) ** 2 - FREE**2 + (matrix * squares) ** 2
        best = int(np.argmin(np.fmin(value, math.inf)))  # a length of which nothing is known is not the best
        chosen = dict(radius=math.sqrt(squares[best]), location_noise=float(noise[best]))
        return float(value[best]), replace(choice, **chosen)

    def _bias(self, choice: Choice, floor: Floor, point: np.ndarray) -> float:
        """Of a coefficient by the cut and the floor, and by another law that the check leaves open."""
        by_cut = FLOOR_BIAS * math.exp(-choice.c / self.placement.problem.family.cut.bias)
        return by_cut + floor.bias + self.doubt * self.off(replace(choice, width=math.inf), point)

    @cached_property
    def _kept_by(self) -> Callable[[tuple[float, ...]], np.ndarray]:
        """What rows of these squares leave of the information on each coefficient, 1 of the intercept."""

        def kept(squares: tuple[float, ...]) -> np.ndarray:
            lost = map(self.placement.scale.squares_beyond, squares)
            shares = [1 - (below + above) / np.maximum(whole, 1e-300) for below, above, whole in lost]
            return np.array([np.append(1.0, np.maximum(share, LEAST_KEPT)) for share in shares])

        return cache(kept)  # every cut and floor is tried with the same rows

    def _with_width(self, choice: Choice, point: np.ndarray) -> Choice:
        count = self.n * self.placement.events.fraction
        size = self._log_sigma_information(point) * count * self.tail_mu
        least, best = math.inf, choice
        for width in WIDTHS:
            tried = replace(choice, width=width)
            where = self.truncation(tried, point)
            bounds = self.bounds(where)
            noise = self._log_sigma_noise(bounds, point)
            if noise > max(FREE, math.sqrt(least)):
                break  # and with the width
            declared = where.limits[0] <= self.placement.declared_residuals(point)[0]
            bias = 0.0 if declared else 0.75 * math.exp(-_WIDTH_RATE * width)
            bias += self.doubt * self.off(tried, point)
            # relative error of the information on log sigma, which grows with the square of the width
            matrix = 2 * bounds.sensitivity / (bounds.matrix_weight * bounds.log_sigma_unit**2 * size)
            value = max(noise, FREE) ** 2 + count * bias**2 + matrix**2
            if value < least:
                least, best = value, replace(tried, log_sigma_noise=noise)
        return best

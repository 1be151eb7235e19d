"""Gaussian noise: every step releases the scores and the information matrix jointly.

Early steps find the neighbourhood of the root, damped ones are averaged. A step solves with the best
information that is known so far (:class:`~dpstats.curator.statistics.martingale.MartingaleScore`).
See docs/theory/survival.md#steps-and-covariance.
"""

import math
from dataclasses import replace

import numpy as np
import scipy

from dpstats.curator import Curator
from dpstats.estimators.bent_times import costs_of
from dpstats.estimators.engine.information import Information
from dpstats.estimators.engine.plan import TAIL_STEPS, Plan
from dpstats.estimators.engine.route import CHOOSE, DAMPING
from dpstats.estimators.engine.some import early_rows
from dpstats.estimators.known.structure import Structure
from dpstats.estimators.location_scale.bent_line import straightened
from dpstats.estimators.location_scale.bounds import Bounding
from dpstats.estimators.location_scale.checks import Question, contrasted, law_checked
from dpstats.estimators.location_scale.delayed_expectations import late_information
from dpstats.estimators.location_scale.estimate import (
    LastSteps,
    SurvivalEstimate,
    averaged,
    estimate,
    needed,
    off_line,
    step_to_params,
)
from dpstats.estimators.location_scale.event_law import LEAST_SAID
from dpstats.estimators.location_scale.events import (
    Events,
    Whitening,
    located,
    release_events,
    starting_values,
    with_correlations,
)
from dpstats.estimators.location_scale.information import KnownMatrix, ReleasedMatrices, estimated, stretch
from dpstats.estimators.location_scale.inspections import PlacedByInspections, placed
from dpstats.estimators.location_scale.placement import PlacedByLine
from dpstats.estimators.location_scale.problem import SurvivalProblem, sigma_of
from dpstats.estimators.location_scale.route import Reading, WhitenedNewton, WhitenedScores, release_scores
from dpstats.estimators.matrices import SMALLEST, by_precision
from dpstats.estimators.row_scale import RowScale

# Of the early steps where noise is below this many sampling sds, and bounds therefore wide: if the model does
# not hold there, the events' matrix may be less than half the slope of the scores, and full steps would go to
# and fro. Where there is more noise, half steps would not arrive. But of rows that are inspected, whose
# information follows from a guess of where they failed, 3 of 100 fits of 10,000 rows went to and fro, their
# law was doubted at such a point, and its bounds left nothing to estimate; with half steps none.
_EARLY_DAMPING, _QUIET = 0.5, 0.3
# relative sd of the spread of residuals about the events' line that the family expects: in simulations it was
# .9 to 2 times as large, and up to 3 times with all but 5 % censored at random
_SPREAD_SD = 0.5
# Where signs are no way out, this many times the square of the order of matrices leave intervals as they are:
# they have the error of the matrix. With 1.9 and 2.6 times, of 50 and 30 columns, slopes held, and log sigma
# in 81 and 71 % of fits.
MATRIX_SEEN = 4.0
_BY_ALL = 2  # early steps by all rows, the last, which leave little of what some rows are off by
_INSPECTED = 0.15  # relative sd of what inspections say of E[h1*^2]
_UNTOLD = 0.5  # sd of log sigma, a factor of e at two, that tells too little of it
_LEAST_TOLD = 1e-5  # square of the score of log sigma, where inspections tell nothing of it


class GaussianRoute(WhitenedNewton):
    """Noisy Newton; correlations and line of the events are shrunk where they may be all noise."""

    def __init__(
        self, curator: Curator, problem: SurvivalProblem, plan: Plan, scale: RowScale, noisy: bool = False
    ) -> None:
        super().__init__(curator, plan["early"], plan["tail"])
        self._plan, self.released = plan, ReleasedMatrices()
        events = release_events(curator, plan.cost("matrix"), scale, noisy, problem.alone)
        start = self._held(starting_values(events, problem), PlacedByLine(problem, scale, events))
        self._all = curator
        self.curator = early_rows(curator, plan.total, len(events.square), events.fraction)
        point = located(self.curator, problem, plan["location"], scale, start, events.fraction)
        self._signal = curator.n * curator.cost_per_row(plan.total)
        placement = placed(curator, plan["inspections"][0], problem, scale, events, point)
        tail, units = curator.cost_per_row(plan.cost("tail")), problem.units
        self.bounding = Bounding(placement, tail / units, curator.n * units)
        self.choice, self.point = self.bounding.first(point), point
        self.whitening = self._whitened()

    def _held(self, point: np.ndarray, placement: PlacedByLine) -> np.ndarray:
        """The starting values, as far as something is known of them."""
        return placement.problem.held(point, placement.scale)

    def _whitened(self) -> Whitening:
        return Whitening.of_events(self.events, self.bounding.placement.scale)

    @property
    def typical(self) -> np.ndarray:
        """(gamma, log sigma) by which bounds are chosen."""
        return self.point

    @property
    def sigma(self) -> float | np.ndarray:
        """Of all rows, or of each stratum."""
        return sigma_of(self.point)

    def prepare(self, t: int) -> None:
        super().prepare(t)
        if t >= len(self.early) - _BY_ALL:
            self.curator = self._all
        if t != CHOOSE and not self.arrived:
            return
        if self.bounding.placement.problem.intervals:
            self._place_again(self._plan["inspections"][2 if self.arrived else 1])
        if self.arrived:
            placement, mu = self.bounding.placement, self._plan.cost("check")
            steep = self.need(self.order) <= 1
            off = off_line(*self.moved, self.information, sigma_of(self.typical), self.bounding.k)
            question = Question(self._ways(), off, steep)
            self._law = contrasted(self.curator, mu, placement, self.typical, self.sigma, question)
            self.bounding = replace(self.bounding, doubt=self._law.clear)
        self.choice = self.bounding.choose(self.whitening, self.typical)
        if not self.arrived:
            # narrow bounds gave a smaller matrix; mixed with the wide ones' it would make steps too long
            self.released = ReleasedMatrices()

    def _ways(self) -> np.ndarray:
        """Whitened rows along which another spread of the errors is looked for."""
        return self.whitening.matrix[1:]

    def _place_again(self, mu: float) -> None:
        """By what inspections say where the steps have come to; a matrix about another pivot is forgotten."""
        old = self.bounding.placement
        new = placed(self.curator, mu, old.problem, old.scale, old.events, self.point)
        self.bounding, self.released = replace(self.bounding, placement=new), ReleasedMatrices()

    def approach(self, t: int, cost: float) -> None:
        super().approach(t, cost)
        if t > 0:
            self._rewhiten()

    def read(self, cost: float) -> Reading:
        read = self._release(cost)
        self.released.add(read.matrix, read.matrix_sd, self.whitening.matrix, forget=not self.arrived)
        self.information = self._informed(self.released.known(self.whitening.matrix, self.events))
        return read

    def _release(self, mu: float) -> Reading:
        return release_scores(self.curator, mu, self.bounding, self.choice, self.whitening.matrix, self.point)

    def towards(self, read: WhitenedScores, damping: float = 1.0) -> None:
        halved = self.choice.location_noise < _QUIET or self.bounding.placement.problem.intervals
        super().towards(read, _EARLY_DAMPING if halved else damping)

    def about(self, read: WhitenedScores) -> bool:
        # few go as far together as many
        damping = max(DAMPING, 1 - (1 - DAMPING) ** (TAIL_STEPS / len(self.last)))
        return self.move(damping * np.linalg.solve(self.information.matrix, read.scores), read)

    def _rewhiten(self) -> None:
        k, scale = self.bounding.k, self.bounding.placement.scale
        location = self.information.matrix[:k, :k] / self.information.unit[0] ** 2
        self.whitening = self.whitening.improved(location, self.choice.radius, scale)

    def finish(self) -> SurvivalEstimate:
        bounding, problem, w = self.bounding, self.bounding.placement.problem, self.whitening.matrix
        known = self.released.known(w, self.events).levelled(w, bounding.placement.scale)
        self.information = self._informed(known)
        last = np.mean(self.steps.points[len(self.last) // 2 :], axis=0)
        to_params = step_to_params(last, bounding.placement.pivot(last), w)
        found = averaged(self.steps, to_params)
        released = known.alone(self.information.unit[0])
        result = estimate(found, bounding, self.choice, w, self.need(self.order), released)
        if problem.intervals and not problem.known_scale:
            result = self._told(result, found)
        result = straightened(*self.place, costs_of(self._plan), result)
        result = law_checked(result, self._law, bounding, self.choice, found.points.mean(axis=0))
        return replace(result, columns=with_correlations(result.columns, self.events))

    @property
    def _by_inspections(self) -> PlacedByInspections:
        """Where the events of rows are that were inspected."""
        assert isinstance(self.bounding.placement, PlacedByInspections)
        return self.bounding.placement

    def _told(self, result: SurvivalEstimate, found: LastSteps) -> SurvivalEstimate:
        """With an interval of log sigma as wide as what inspections tell at its ends, or with nothing.

        What rows tell that have one end falls as 1 / sigma^2: how much ends vary is known, and sigma is not.
        So the half-length h of an sd of r is 2 r e^h if all events are such, and from r = 1 / (2 e)
        on there is none: all coefficients over sigma may be known, and none of them is. That holds at the
        least information that its error allows; and a last step of log sigma that is as long says that those
        before have not come to where they lead, either.
        """
        r, law = math.sqrt(max(result.cov[-1, -1], SMALLEST)), self._by_inspections.law_of_rows
        falls = law.mean(law.one_end)
        along = found.information.vectors[-1] ** 2
        error = (along @ found.information.sds) / (along @ found.information.used)
        least = max(1 - 2 * float(error), SMALLEST)
        if r > _UNTOLD or 2 * math.e * falls * math.hypot(r / least, found.step[-1]) > 1:
            return replace(result, problems=()).lost(np.arange(len(result.params)))
        longer = math.exp(-float(scipy.special.lambertw(-2 * falls * r).real))
        way = result.cov[:, -1] / r
        more = (longer**2 - 1) * np.outer(way, way)
        return result.noisier(more)

    @property
    def order(self) -> float:
        """That of a matrix of the location, or of one that has as many numbers as levels leave free."""
        structure = Structure.of(self.bounding.placement.scale.alike)
        return self.bounding.k if structure is None else math.sqrt(2 * structure.numbers)

    def need(self, order: float) -> float:
        """How far noise is beyond what can be used; also that of matrices, where they cannot be done without.

        They are of this order.
        """
        need, placement = needed(self.choice, self.bounding), self.bounding.placement
        if placement.problem.shrinks and placement.problem.strata is None:
            return need
        return max(
            need, order * math.sqrt(MATRIX_SEEN / max(self._signal * placement.scale.fraction, 1e-300))
        )

    def _informed(self, known: KnownMatrix) -> Information:
        """What releases say of the information, and what the events lead one to expect of it."""
        problem, events = self.bounding.placement.problem, self.events
        late: tuple[np.ndarray | float, float] = (0.0, 1.0)
        if problem.delayed:
            share, square, late = self._delayed(known)
        elif problem.intervals:
            share, square = self._inspected(known)
        else:
            share, square = self._by_fraction(known)
        error = events.slope_noise / sigma_of(self.point)
        per_row = None if problem.known_scale else events.fraction * square
        return estimated(known, events, self.whitening, per_row, share, error, late)

    def _by_fraction(self, known: KnownMatrix) -> tuple[float, float]:
        """Squares of the scores of location and log sigma, per event, by the event fraction."""
        usual, share = self.bounding.placement.expected, self.bounding.placement.expected.location_share
        if not self.bounding.placement.problem.family.proportional:
            share = self._share(known, share, 0.15 * usual.slope**2, 0.2, usual.largest_share)
        spread = spread_of(self.events, usual.residual_square, sigma_of(self.point))
        return share, float(np.clip(usual.log_sigma_square(spread, share), 0.6, 4.0))

    def _delayed(self, known: KnownMatrix) -> tuple[float, float, tuple[np.ndarray, float]]:
        """The same where rows enter late: the fraction does not tell how much events say, nor where."""
        placement, k = self.bounding.placement, self.bounding.k
        late = late_information(placement, self.whitening, self.choice, self.point)
        largest = 1.0 if placement.problem.family.bounded else max(1.0, 1.5 * late.share)
        share = self._share(known, late.share, 0.3 * late.share, LEAST_SAID, largest)
        m = k + (not placement.problem.known_scale)
        beyond = late.beyond(share, self.events.fraction)[:m, :m]
        return share, late.log_sigma, (beyond, late.error(self.events.spread))

    def _inspected(self, known: KnownMatrix) -> tuple[float, float]:
        """The same where failures lie between two times: it follows from between which residuals they do."""
        placement = self._by_inspections
        cut = placement.law_of_rows.cut(self.choice.c, self.choice.floor)
        left = placement.law_of_rows.left(cut)
        # of rows that noise puts far before or after all failures a score says nothing at all
        said = max(left.location, LEAST_SAID)
        share = self._share(known, said, _INSPECTED * said, LEAST_SAID, max(1.0, 1.5 * said))
        return share, max(placement.log_sigma(self.point, cut), _LEAST_TOLD)

    def _share(self, known: KnownMatrix, guess: float, sd: float, least: float, largest: float) -> float:
        """E[h1*^2] of the events: what is expected, with the sd of that, corrected by the releases.

        They tell it along each direction, as far as noise does not hide how far events spread there.
        """
        k, events = self.bounding.k, self.events
        axes = self.whitening.matrix @ known.axes[:k, :k]
        seen = np.diag(known.axes.T @ known.mean @ known.axes)[:k]
        size = np.maximum(np.sum(axes * (events.square @ axes), axis=0), 0.0)
        error = np.hypot(np.diag(known.sds)[:k], guess * events.noise * stretch(events, axes) ** 2)
        weights = size / np.maximum(error, 1e-12) ** 2
        whole = max(float(weights @ size), 1e-300)
        found = by_precision(float(weights @ seen) / whole, max(whole**-0.5, 1e-9), guess, sd)
        return float(np.clip(found, least, largest))


def spread_of(events: Events, usual: float, sigma: float) -> float:
    """Variance of the events' residuals: as measured, and as the family has it where noise made that up.

    With a response that is well explained noise is several times what is left of it, and more information on
    log sigma than there is would give it a short interval about a place where the steps do not arrive.
    """
    unit = events.fraction * sigma**2
    measured, noise = events.residual / unit, events.residual_noise / unit
    return float(by_precision(measured, noise, usual, _SPREAD_SD * usual))

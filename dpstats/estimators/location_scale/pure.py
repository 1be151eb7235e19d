"""Location-scale regression under pure epsilon: one matrix, then scores alone.

Noise of pure epsilon grows with the number of coordinates. The information matrix is not released with the
scores: its shape is that of the event matrix, which is released once, and its size two numbers. The error of
the shape enters only by what the last step moves. See docs/theory/survival.md#pure-epsilon.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from dpstats.curator import Curator
from dpstats.estimators.bent_times import costs_of
from dpstats.estimators.engine.information import Information
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.known.level_shares import expected_moments, of_levels
from dpstats.estimators.known.structure import Structure
from dpstats.estimators.known.unrelated import Known, pairs
from dpstats.estimators.location_scale.bent_line import straightened
from dpstats.estimators.location_scale.checks import Contrasted, Question, contrasted, law_checked
from dpstats.estimators.location_scale.estimate import LastSteps, SurvivalEstimate, estimate, off_line
from dpstats.estimators.location_scale.events import (
    Events,
    Whitening,
    events_of,
    in_full,
    levels_in_full,
    located,
    starting_values,
)
from dpstats.estimators.location_scale.information import KnownMatrix, estimated
from dpstats.estimators.location_scale.placement import PlacedByLine
from dpstats.estimators.location_scale.problem import SurvivalProblem, sigma_of
from dpstats.estimators.location_scale.pure_bounds import PureBounding
from dpstats.estimators.location_scale.route import WhitenedNewton, WhitenedScores
from dpstats.estimators.matrices import by_precision, symmetric_power
from dpstats.estimators.row_scale import STRETCH, RowScale, shortened, sums_of_levels
from dpstats.estimators.zoom import HIDDEN
from dpstats.families.score_bounds import score_bounds

# relative sd of what the model says of the information on log sigma
_SQUARE_SD = 0.18
# relative sd of what the model says of the size of the information, and of what its trace says beyond noise,
# as scores are outer products of which another law makes another mean: .2 and .05 where laws are right, and
# .35 and .2 on real rows (70 random and 60 real fits); and the most by which steps may find it off
_SIZE_SD, _TRACE_SD, _MOST_SIZE = 0.3, 0.1, 4.0
# the least that is believed of it, against what the model says: noise can make it negative
_LEAST_SQUARE = 0.1
# sd with which correlations of coefficients and log sigma enter the information, so that its own guess, which
# is none at all, hardly counts
_CROSS_ENTERS = 0.03
# noise of the eigenvalues of the events' matrix, per event, up to which rows may be longer than is expected;
# and the square that a response adds
_AFFORDABLE, _RESPONSE = 0.03, 6.0
# share of the events in which a column may differ from its one value, if the first stage saw none of them
_FEW = 0.1
_UNTOLD = 1e150  # sd of what was not released
# share of the pivot's slopes that is too much once rows are cut and weighted, as the events' line is not:
# 0.28 to 0.49 of them with 30 and 60 % censored, in all families
_PIVOT_EXCESS = 0.35
# share of fits in which noise alone makes the last two steps differ by more than is taken for its work
_CHANCE = 0.05


class PureRoute(WhitenedNewton):
    """One event matrix, then scores and sizes of their information; the last two steps are the estimate."""

    bounding: PureBounding
    _along: Contrasted | None = None  # what is found along whitened rows

    def __init__(self, curator: Curator, problem: SurvivalProblem, plan: Plan, scale: RowScale) -> None:
        *early, before_last = plan["early"]
        super().__init__(curator, early, (before_last, *plan["last"]))
        self._sizes, self._plan = plan["sizes"], plan
        events, scale = _events(curator, plan.cost("matrix"), scale, problem)
        point = problem.held(starting_values(events, problem), scale)
        if problem.family.bounded:
            # slopes of that line are about f of the model's, f the fraction of events, in simulations of 30
            # and 60 % censored, and f^0.4 for the drives, of which 6 % fail
            point[1:-1] = events.line[1:] * (2 - events.fraction)
        self.point = located(curator, problem, plan["location"], scale, point, events.fraction)
        self.bounding = PureBounding(
            PlacedByLine(problem, scale, events),
            # of one step with the noise of the last two, combined by their precision
            curator.cost_per_row(math.hypot(*self.last)) / problem.units,
            curator.n * problem.units,
            curator.cost_per_row(self._sizes[-1]) / problem.units,
        )
        self.whitening = self._whitened()
        # how far the point may be off, as a covariance: at first by a sigma any way, and log sigma by 1
        self._off = np.eye(len(self.point) - problem.known_scale)
        self._known = events  # with the spread of residuals that the last sizes told

    def _whitened(self) -> Whitening:
        """By the events; rows of levels no longer than the radius can be, or the information would take in
        rows that weigh less, and be too large where they alone tell.
        """
        placement = self.bounding.placement
        square = self.bounding.affordable_square(self.point)
        return Whitening.of_events(placement.events, placement.scale, square)

    def _public(self) -> dict[str, Any]:
        """Parameters of the releases where the iteration stands."""
        return self.bounding.public(self.choice, self.whitening.matrix, self.point)

    def prepare(self, t: int) -> None:
        super().prepare(t)
        self.bounding = replace(self.bounding, placement=replace(self.bounding.placement, events=self._known))
        if self.arrived and self.bounding.k > 1:
            self._along = self._checked("spread", *self.moved, self.information, self.whitening.matrix[1:])
            self.bounding = replace(self.bounding, doubt=self._along.clear)
        self.choice = self.bounding.choose(self.whitening, self.point)
        self.information = self._informed(self._sizes[t])

    def read(self, cost: float) -> WhitenedScores:
        public = self._public()
        release = self.curator.release("score_alone", cost, **public)
        kappa = self.choice.radius * score_bounds(public["where"], 1.0).log_sigma_weight
        unit = np.append(np.ones(self.bounding.k), np.full(len(release.values) - 1, kappa))
        scores, noise = (
            np.concatenate([part.ravel() for part in parts]) / (release.n * unit)
            for parts in (release.values, release.sds)
        )
        return WhitenedScores(scores, noise, public["pivot"])

    def _checked(
        self,
        stage: str,
        step: np.ndarray,
        noise: np.ndarray,
        information: Information,
        ways: np.ndarray | None = None,
    ) -> Contrasted:
        """Does the law hold, or along `ways` alone, where a step with noise of this covariance has led?"""
        cost, sigma, placement = self._plan.cost(stage), sigma_of(self.point), self.bounding.placement
        off = off_line(step, noise, information, sigma, self.bounding.k)
        question = Question(ways, off, steep=True, general=2 if ways is None else 0)
        return contrasted(self.curator, cost, placement, self.point, sigma, question)

    def towards(self, read: WhitenedScores, damping: float = 1.0) -> None:
        """Move by as much of a step as its noise leaves, against what earlier ones say of the point.

        A step that is longer than both explain says that the point is farther off. What it leaves is in
        doubt by its noise, and by the size of the information.
        """
        inverse = self.information.inverse
        way, noise = inverse @ read.scores, (inverse * read.noise**2) @ inverse
        self.moved = way, noise
        off = self._off * max(1.0, float(way @ np.linalg.solve(self._off + noise, way)) / len(way))
        gain = np.linalg.solve(off + noise, off).T
        step = gain @ way
        self._off = off - gain @ off + _SIZE_SD**2 * np.outer(step, step)
        self._off += self.information.error_of(step) + self.information.error_across(step)
        self.move(step, read, damping)

    def about(self, read: WhitenedScores) -> bool:
        if self._kept:
            return self.move(np.linalg.solve(self.information.matrix, read.scores), read)
        self.towards(read)
        return False

    def finish(self) -> SurvivalEstimate:
        found = _combined(self)
        result = estimate(
            found, self.bounding, self.choice, self.whitening.matrix, released=found.information
        )
        result = straightened(*self.place, costs_of(self._plan), result)
        inverse = found.information.inverse
        law = self._checked("check", found.step, (inverse * found.noise) @ inverse, found.information)
        law = law if self._along is None else law.beside(self._along)
        return law_checked(result, law, self.bounding, self.choice, self.point)

    def _informed(self, cost: float) -> Information:
        """Shape of the event matrix, times released sizes; those of an unknown sigma tell of residuals."""
        release, k = self.curator.release("information_sizes", cost, **self._public()), self.bounding.k
        (trace, *found), (trace_sd, *sds) = release.values[0].ravel(), release.sds[0].ravel()
        share, events = self._share(trace, trace_sd, release.n), self.events
        if not found:
            nothing = KnownMatrix(np.zeros((k, k)), self._axes, np.full((k, k), _UNTOLD))
            return estimated(nothing, events, self.whitening, None, share)
        where, usual = self.bounding.truncation(self.choice, self.point), self.bounding.placement.expected
        unit = score_bounds(where, 1.0).log_sigma_unit ** np.array([2, 1])
        (square, cross), (square_sd, cross_sd) = np.array([found, sds]) / release.n / unit
        guess = events.fraction * self.bounding.log_sigma_square(where)
        square = max(by_precision(square, square_sd, guess, _SQUARE_SD * guess), _LEAST_SQUARE * guess)
        size = math.sqrt(share * events.fraction * square)
        guess, guess_sd = self.bounding.correlation(where)
        cross = by_precision(cross, cross_sd, guess * size, guess_sd * size)
        self._known = replace(events, residual=usual.spread(square, share) * math.exp(2 * self.point[-1]))
        excess = -_PIVOT_EXCESS * share * self.bounding.placement.pivot(self.point)[1:]
        shape = self._crossed(np.append(cross / events.fraction, excess), size)
        return estimated(shape, events, self.whitening, square, share)

    def _share(self, trace: float, sd: float, n: int) -> float:
        """E[h1*^2] of the events, by the trace of the information over R^2, its noise sd, and the model."""
        w, largest = self.whitening.matrix, self.bounding.placement.expected.largest_share
        unit = self.choice.radius**2 / n / np.trace(w @ self.events.floored @ w)
        guess = self.bounding.share(self.choice, self.point)
        share = by_precision(trace * unit, math.hypot(sd * unit, _TRACE_SD * guess), guess, _SIZE_SD * guess)
        return float(np.clip(share, 0.1, largest))

    def _crossed(self, cross: np.ndarray, size: float) -> KnownMatrix:
        """What location and log sigma share: an event at x gives x (cross'x)."""
        k, w = self.bounding.k, self.whitening.matrix
        matrix, sds, axes = np.zeros((k + 1, k + 1)), np.full((k + 1, k + 1), _UNTOLD), np.eye(k + 1)
        matrix[:k, k] = matrix[k, :k] = w @ self.events.floored @ cross
        sds[:k, k] = sds[k, :k] = _CROSS_ENTERS * size
        axes[:k, :k] = self._axes
        return KnownMatrix(matrix, axes, sds)

    @property
    def _axes(self) -> np.ndarray:
        """Directions in which the events' matrix has noise of its own, of whitened rows; in columns."""
        return np.asarray(np.linalg.eigh(self.whitening.matrix)[1])

    def shape_error(self, step: np.ndarray) -> np.ndarray:
        """Variance of the scores that an error of the information makes of a step."""
        w, k = self.whitening.matrix, self.bounding.k
        share = self.information.unit[0] ** 2 / self.events.fraction
        location = share**2 * np.diag(w @ self.events.covariance_by_noise(w @ step[:k]) @ w)
        return np.pad(location, (0, len(step) - k))


def _combined(route: PureRoute) -> LastSteps:
    """The last steps, weighted by precision."""
    points, (first, last), noise, _, information = route.steps
    variances = noise**2
    # the change of the point in whitened coordinates, as the step made it
    sigma, change = sigma_of(points[0]), points[1] - points[0]
    pivot = route.bounding.placement.pivot(points[0])
    location = np.linalg.solve(route.whitening.matrix, change[:-1] / sigma + pivot * change[-1])
    moved = np.append(location, change[-1])[: len(first)]
    explained = variances[0] + variances[1] + route.shape_error(moved)
    information, off = _sized(information, moved, first - last, explained)
    spread = float(np.mean((last - first + information.matrix @ moved) ** 2 / explained))
    weight = noise[0, 0] ** -2 / (noise[0, 0] ** -2 + noise[1, 0] ** -2)
    weights = np.array([weight, 1 - weight])
    step = information.inverse @ (weights @ [first, last])
    return LastSteps(
        np.array([weights @ points]),
        step,
        # what else an error of the information does to the step is that of any iteration
        weights[0] ** 2 * variances[0] + weights[1] ** 2 * variances[1],
        information,
        max(1.0, spread / float(special.chdtri(len(first), _CHANCE) / len(first))),
        False,  # noise makes steps that are cut short, and what the two scatter beyond theirs is counted
        off,
    )


def _sized(
    information: Information, moved: np.ndarray, fell: np.ndarray, variances: np.ndarray
) -> tuple[Information, float]:
    """The information with the size by which scores fell on the way that was moved, and its relative sd.

    Where the law is another, or the point far off, the mean square of scores, of which the trace tells, may
    be three times their slope; steps then went a third of the way each.
    """
    expected, before = information.matrix @ moved, _SIZE_SD**-2
    told = float(expected @ (expected / variances))
    size = (float(expected @ (fell / variances)) + before) / (told + before)
    size = float(np.clip(size, 1 / _MOST_SIZE, _MOST_SIZE))
    values, used, sds = (size * each for each in (information.values, information.used, information.sds))
    return replace(information, values=values, used=used, sds=sds), (told + before) ** -0.5 / size


def _events(
    curator: Curator, cost: float, scale: RowScale, problem: SurvivalProblem
) -> tuple[Events, RowScale]:
    """The event matrix, and the scale with what it tells of that.

    Correlations that may be none are shrunk by what noise makes of none.
    """
    k, public = len(scale.center) + 1, scale.public()
    radius, limit = _event_lengths(curator, cost, scale)
    whitening = _of_levels(scale, radius)
    if whitening is not None:
        public["whitening"] = whitening
    release = curator.release("event_matrix", cost, **public, radius=radius, limit=limit)
    matrix, noise = release.values[0] / release.n, release.sd / release.n
    structure, way = Structure.of(scale.alike), None
    if structure is not None:
        way = of_levels(scale) if whitening is None else whitening @ of_levels(scale)
    scale, apart = _with_rows_apart(scale, matrix[0, 1:k], np.diag(matrix)[1:k], noise, radius)
    known = Known(_pairs(scale, problem.alone & ~apart), scale.present, structure, way)
    matrix[:k, :k], left = known.read(matrix[:k, :k], noise)
    events = replace(events_of(matrix, noise, scale, release.n, left.free), left=left)
    # no less than noise may hide
    least = HIDDEN * noise * (1 + float(events.line @ events.line))
    events = replace(events, residual=max(events.residual, least))
    if whitening is not None:
        events = events.unwhitened(whitening)
    events = levels_in_full(events, scale, problem.box.levels, radius**2)
    events = in_full(events, scale, problem.alone, radius**2)
    return events if whitening is None else events.above_noise(whitening), scale


def _with_rows_apart(
    scale: RowScale, sums: np.ndarray, squares: np.ndarray, noise: float, radius: float
) -> tuple[RowScale, np.ndarray]:
    """The scale with columns of one value as far as it knew, but for events far away; and which these are.

    Were their squares whitened as others' are, those rows would be so long that scores weigh them away, and
    the information, which counts them, would say that a step has gone all of a way that it has begun. How far
    they lie is their square over their mean, by which they are a few of the events. None is longer than the
    radius: where that is larger, rows lie on both sides.

    Parameters
    ----------
    scale : RowScale
    sums, squares : array, shape (d,)
        Of x~ and its square over the events, per row, rows being shortened to `radius`.
    noise : float
        sd of a square.
    radius : float
    """
    seen = ~scale.varies & ~scale.binary & (np.abs(sums) > noise / math.sqrt(2)) & (squares > 0)
    away = np.where(seen, squares / np.maximum(np.abs(sums), 1e-300), 1.0)
    away = np.minimum(away, np.minimum(np.maximum(-scale.lower, scale.upper)[:-1], radius))
    counted = squares * (len(sums) + away**2) / (radius * away) ** 2 / scale.present
    apart = seen & (counted < _FEW)
    ratio = np.where(apart, np.minimum(squares / scale.present, 1.0), scale.ratio)
    return replace(scale, away=np.where(apart, away, scale.away), ratio=ratio), apart


def _pairs(scale: RowScale, alone: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Places of moments of (1, x~) of which nothing public says that they are not 0, in groups."""
    categories = [places for places, _, _ in sums_of_levels(scale) if len(places) > 1]
    return pairs(1, 1 + np.flatnonzero(alone), categories, None)


def _of_levels(scale: RowScale, radius: float) -> np.ndarray | None:
    """What makes rows of a category's levels as long as each is rare, by their shares so far; symmetric.

    No column stretches rows of a reference level, and noise of how many events it has was that of all others
    together. No row becomes longer than a share of the radius, if it is not so long as it is. None where
    no category has a third level.
    """
    places = [each for each, _, _ in sums_of_levels(scale) if len(each) > 1]
    if not places:
        return None
    found, moments = expected_moments(scale), np.eye(len(scale.center) + 1)
    for own in places:
        moments[np.ix_(own, own)] = found[np.ix_(own, own)]
    rows = scale.typical(scale.levels)
    rows[:, 0] = 0.0
    longest = np.maximum(np.sum(rows**2, axis=1), (STRETCH * radius) ** 2)
    return symmetric_power(shortened(moments, rows, longest), -0.5)


def _event_lengths(curator: Curator, cost: float, scale: RowScale) -> tuple[float, float]:
    """Lengths of covariates, and of rows with their response, to which longer ones are shortened.

    As long as noise can afford, so that few rows are shortened; at least as long as rows are expected.
    """
    k = len(scale.center) + 1
    one = curator.noise("event_matrix", cost, **scale.public(), radius=1.0, limit=1.0)[1][0][0, 0]
    room = _AFFORDABLE * curator.n * scale.fraction / (float(one) * math.sqrt(2 * k))
    farthest = 1 + float(np.sum(np.maximum(scale.lower[:-1] ** 2, scale.upper[:-1] ** 2)))
    square = max(k, min(farthest, room - _RESPONSE))
    return math.sqrt(square), math.sqrt(max(k + 1, min(square + _RESPONSE, room)))

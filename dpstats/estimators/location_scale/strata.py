"""The iteration where strata have a sigma each: one location for all, and a log sigma for each stratum.

Rows are those of a design in which each stratum has a level of its own, so that a log sigma can be moved with
the failures of its stratum held; the formula's coefficients are those of its columns up to a public matrix,
and every step is one of them. See docs/theory/survival.md#strata.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from dpstats.curator import Curator
from dpstats.estimators.columns import find_columns
from dpstats.estimators.engine.finish import to_user
from dpstats.estimators.engine.information import Information
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.engine.step import CHOOSE, DAMPING, LONGEST, capped
from dpstats.estimators.location_scale.bounds import Bounding, Choice
from dpstats.estimators.location_scale.event_law import LEAST_SAID
from dpstats.estimators.location_scale.events import release_events, starting_values
from dpstats.estimators.location_scale.information import Released
from dpstats.estimators.location_scale.newton import located
from dpstats.estimators.location_scale.placement import PlacedByLine, declared_range
from dpstats.estimators.location_scale.problem import (
    LARGEST_LOG_SIGMA,
    LOG_SIGMA_RANGE,
    Problem,
    Strata,
    sigma_of,
)
from dpstats.estimators.location_scale.whitening import Whitening
from dpstats.estimators.matrices import not_noise, symmetric_power
from dpstats.estimators.row_scale import RowScale
from dpstats.estimators.stretch import STRETCH, shortened, unstretched
from dpstats.families.score_bounds import Truncation

Array = np.ndarray

# sds of what is expected of the information, against its size: on the location, and on log sigma
_LOCATION, _LOG_SIGMA = 0.2, 0.3
_LATE = 3.0  # the same with late entries, against these
_APART = 0.5  # sd of what log sigmas have left to go
_LEAST_INFORMATION = 0.6  # against what is expected, that steps are taken by


@dataclass(frozen=True)
class Layout:
    """Strata on the scale of the rows.

    Attributes
    ----------
    inside : array, shape (G, k)
        Coefficients of x~ that make 1 in one stratum and 0 in all others.
    tied : array, shape (k, p)
        Orthonormal directions of the location coefficients that those of the formula make.
    to_user : array, shape (p, p)
        The formula's coefficients, on the user's scale, of these directions.
    shares : array, shape (G,)
        Of the failures, by stratum.
    means : array, shape (G, k)
        Of x~ over the failures of each stratum.
    square : array, shape (k, k)
        Second moments of x~, per failure.
    """

    inside: Array
    tied: Array
    to_user: Array
    shares: Array
    means: Array
    square: Array

    @classmethod
    def of(cls, strata: Strata, placement: PlacedByLine) -> Layout:
        scale, events = placement.scale, placement.events
        inside = np.linalg.solve(to_user(scale.center, scale.scale, True), strata.inside.T).T
        made = np.linalg.solve(to_user(scale.center, scale.scale, True, scale.y_scale), strata.tied)
        lengths = np.linalg.norm(made, axis=0)  # columns may be in any units
        tied, turn = np.linalg.qr(made / lengths)
        back = np.linalg.inv(turn) / lengths[:, None]
        square = events.floored / events.fraction
        first = square @ inside.T
        own = np.einsum("gk,kg->g", inside, first)
        # rows of rare strata are shortened in the matrix; the first stage has means of all failures
        shares = np.maximum(strata.inside @ np.append(1.0, scale.center), own)
        means = (first / own).T
        square = square + np.einsum("g,gi,gj->ij", shares - own, means, means)
        return cls(inside, tied, back, shares / shares.sum(), means, square)

    @cached_property
    def within(self) -> Array:
        """Second moments about the means of strata, as far as noise leaves them positive."""
        values, vectors = np.linalg.eigh(self.square - (self.means.T * self.shares) @ self.means)
        return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)

    def stretched(self, factors: Array) -> Array:
        """Second moments of rows that count by these factors, if strata differ in their means alone."""
        shares = factors * self.shares
        return np.asarray(shares.sum() * self.within + (self.means.T * shares) @ self.means)

    def squared_lengths(self, whitening: Array) -> Array:
        """Mean squares of whitened rows of each stratum, by the same."""
        own = np.trace(whitening @ self.within @ whitening)
        return np.asarray(own + np.sum((self.means @ whitening) ** 2, axis=1))

    def rows(self, longer: Array) -> Array:
        """The mean row of each stratum, by the squares of their lengths."""
        return np.asarray(np.sqrt(longer)[:, None] * self.means)

    def longest(self, square: float) -> Array:
        """Square of the length up to which mean rows are stretched, of each stratum."""
        return np.full(len(self.shares), STRETCH**2 * square)

    def other_columns(self, scale: RowScale) -> RowScale:
        """The scale, where columns of strata are not among those of rare 0/1 values."""
        return replace(scale, binary=scale.binary & (np.abs(self.inside[:, 1:]) < 1e-9).all(axis=0))

    def whitening(self, longer: Array, scale: RowScale) -> Array:
        """What whitens rows of these squared lengths, if strata differ in their means alone."""
        square = 1.5 * len(self.square)
        moments = unstretched(self.stretched(longer), math.sqrt(square), self.other_columns(scale))
        return symmetric_power(shortened(moments, self.rows(longer), self.longest(square)), -0.5)

    def held(self, gamma: Array) -> Array:
        """The nearest location of the formula."""
        return np.asarray(self.tied @ self.along(gamma))

    def along(self, gamma: Array) -> Array:
        """This location, or the nearest one, by the directions of the formula."""
        metric = self.tied.T @ self.square
        return np.asarray(np.linalg.solve(metric @ self.tied, metric @ gamma))


@dataclass(frozen=True)
class StrataBounding(Bounding[PlacedByLine]):
    """Bounds of scores that are at a right angle where they are of two log sigmas."""

    def truncation(self, choice: Choice, point: Array) -> Truncation:
        return replace(super().truncation(choice, point), strata=True)


class Point(NamedTuple):
    """Location coefficients (k,), and log sigma of each stratum (G,)."""

    gamma: Array
    log_sigma: Array

    @property
    def sigma(self) -> Array:
        return np.exp(self.log_sigma)

    def typical(self, shares: Array) -> Array:
        """(gamma, log sigma), with the sigma by which rows are as long as before on the whole."""
        return np.append(self.gamma, -0.5 * math.log(float(shares @ np.exp(-2 * self.log_sigma))))


class StrataReading(NamedTuple):
    """Scores of the location (k) and of each log sigma (G), and the information, with their noise sds."""

    scores: Array
    noise: Array
    matrix: Array
    matrix_sd: Array
    to_params: Array


class Steps(NamedTuple):
    """The averaged steps: points, scores and their noise sds, (T, k + G), whether each was cut short, and the
    last of the information that they share."""

    points: Array
    scores: Array
    noise: Array
    capped: Array
    information: Information

    def after(self, left: int) -> Steps:
        """Without so many of the first."""
        return self._replace(
            points=self.points[left:],
            scores=self.scores[left:],
            noise=self.noise[left:],
            capped=self.capped[left:],
        )

    @property
    def rms(self) -> Array:
        """Root mean squares of the noise sds, (k + G,)."""
        return np.sqrt(np.mean(self.noise**2, axis=0))


class _Step(NamedTuple):
    """A step of the p location coefficients and G log sigmas, the covariance of its noise, its whitening."""

    change: Array
    noise: Array
    tied: Array

    @classmethod
    def of(cls, read: StrataReading, information: Information, tied: Array) -> _Step:
        solve = np.linalg.solve(tied.T @ _at_least(information) @ tied, tied.T)
        return cls(solve @ read.scores, (solve * read.noise**2) @ solve.T, tied)

    @property
    def whitened(self) -> Array:
        """The step in whitened coordinates, where a log sigma moves with the failures of its stratum held."""
        return np.asarray(self.tied @ self.change)

    def shrunk(self, groups: int) -> Array:
        """The same by what noise would have made of the location, and by its share in each log sigma."""
        whitened, noise = self.whitened, np.diag(self.tied @ self.noise @ self.tied.T)
        location = not_noise(float(np.sum(whitened[:-groups] ** 2)), float(noise[:-groups].sum()))
        own = _APART**2 / (_APART**2 + noise[-groups:])
        return whitened * np.append(np.full(len(whitened) - groups, location), own)


def _at_least(information: Information) -> Array:
    """The matrix, nowhere far below what is expected: away from the root rows say little."""
    values = np.maximum(information.used, _LEAST_INFORMATION)
    return (
        (information.vectors * values) @ information.vectors.T * np.outer(information.unit, information.unit)
    )


@dataclass
class State:
    """Where the iteration stands: released and public numbers only."""

    point: Point
    whitening: Whitening
    choice: Choice
    layout: Layout
    bounding: StrataBounding
    released: Released = field(default_factory=Released)

    @property
    def typical(self) -> Array:
        return self.point.typical(self.layout.shares)

    def stand(self, point: Array) -> None:
        """At this point (gamma, log sigmas)."""
        k = self.bounding.k
        self.point = Point(point[:k], point[k:])

    @property
    def longer(self) -> Array:
        """Square of the length of rows of each stratum, by that of rows of a typical sigma."""
        return np.asarray((sigma_of(self.typical) / self.point.sigma) ** 2)

    def pivots(self) -> Array:
        """Of each stratum, the residual of its failures by their line, less the offset."""
        placement = self.bounding.placement
        off = self.layout.means @ (placement.events.line - self.point.gamma) / self.point.sigma
        return placement.expectations(self.typical).offset + off

    def to_params(self, pivots: Array) -> Array:
        """Matrix from a whitened step to a change of (gamma, log sigmas)."""
        k, groups = self.bounding.k, len(pivots)
        matrix = np.eye(k + groups)
        matrix[:k, :k] = sigma_of(self.typical) * self.whitening.matrix
        matrix[:k, k:] = -(self.point.sigma * pivots) * self.layout.inside.T
        return matrix

    def tied(self, to_params: Array) -> Array:
        """Matrix from changes of what is estimated to whitened steps."""
        own = scipy.linalg.block_diag(self.layout.tied, np.eye(len(self.layout.shares)))
        return np.linalg.solve(to_params, own)

    def move(self, whitened: Array, to_params: Array, damping: float) -> bool:
        """Move by a whitened change, no longer than the caps; whether that of the location was binding.

        Noise may make steps of the log sigma of a small stratum longer than theirs.
        """
        k, stretch = self.bounding.k, float((sigma_of(self.typical) / self.point.sigma).max())
        location, short = capped(whitened[:k], LONGEST / stretch)
        own = np.clip(whitened[k:], -LARGEST_LOG_SIGMA, LARGEST_LOG_SIGMA)
        change = to_params @ np.append(location, own) * damping
        gamma = self.layout.held(self.point.gamma + change[:k])
        self.point = Point(gamma, np.clip(self.point.log_sigma + change[k:], *LOG_SIGMA_RANGE))
        return short


def start(curator: Curator, problem: Problem, plan: Plan) -> State:
    """The first point, where all strata have one sigma."""
    assert problem.strata is not None
    scale = find_columns(curator, plan.columns, problem.box, problem.log)
    events = release_events(curator, plan.cost("matrix"), scale, False, problem.alone)
    point = starting_values(events, problem)
    placement = PlacedByLine(problem, scale, events)
    layout = Layout.of(problem.strata, placement)
    point[:-1] = layout.held(point[:-1])
    point = located(curator, problem, plan["location"], scale, point, events.fraction)
    certain = curator.n * curator.cost_per_row(plan.total) ** 2 * events.fraction
    share = float(np.clip(0.5 * math.sqrt(certain / 1000), 0.4, 1.0))
    tail, units = curator.cost_per_row(plan.cost("tail")), problem.units
    bounding = StrataBounding(placement, share, tail / units, curator.n * units)
    each = np.full(len(layout.shares), point[-1])
    first = layout.whitening(np.ones(len(each)), scale)
    whitening = Whitening(first, first)
    return State(Point(point[:-1], each), whitening, bounding.first(point), layout, bounding)


def iterate(curator: Curator, plan: Plan, state: State) -> Steps:
    """Early steps towards the root, shrunk by what noise makes of them; then damped ones."""
    for t, mu in enumerate(plan["early"]):
        if t == CHOOSE:
            state.choice = state.bounding.choose(state.whitening, state.typical)
            state.released = Released()
        read, information = _step(curator, mu, state, forget=True)
        step = _Step.of(read, information, state.tied(read.to_params))
        state.move(step.shrunk(len(state.layout.shares)), read.to_params, 1.0)
        if t > 0:
            _rewhiten(state, information)
    state.choice = state.bounding.choose(state.whitening, state.typical)
    points, scores, noise, short = [], [], [], []
    for mu in plan["tail"]:
        read, information = _step(curator, mu, state, forget=False)
        points.append(np.concatenate(state.point))
        scores.append(read.scores)
        noise.append(read.noise)
        step = _Step.of(read, information, state.tied(read.to_params))
        short.append(state.move(step.whitened, read.to_params, DAMPING))
    return Steps(np.array(points), np.array(scores), np.array(noise), np.array(short), information)


def _step(curator: Curator, mu: float, state: State, forget: bool) -> tuple[StrataReading, Information]:
    read = _release(curator, mu, state)
    state.released.add(read.matrix, read.matrix_sd, state.whitening.matrix, forget)
    return read, _information(state)


def _release(curator: Curator, mu: float, state: State) -> StrataReading:
    bounding, choice, point, pivots = state.bounding, state.choice, state.point, state.pivots()
    where = _where(state, pivots)
    release = curator.release(
        "strata_score",
        mu,
        **bounding.placement.scale.public(),
        where=where,
        gamma=point.gamma,
        sigma=point.sigma,
        pivot=pivots,
        stretch=sigma_of(state.typical) / point.sigma,
        whitening=state.whitening.matrix,
        radius=choice.radius,
        matrix_share=bounding.matrix_share,
    )
    location, log_sigma, matrix = release.values
    bounds, n, sd = bounding.bounds(where), release.n, release.sd / release.n
    kappa, tau = choice.radius * bounds.log_sigma_weight, bounds.matrix_weight / choice.radius
    own = np.ones(log_sigma.size)
    unit = np.append(np.ones(location.size), own / (choice.radius * bounds.log_sigma_unit))
    per_unit = np.outer(unit, unit) / tau
    return StrataReading(
        np.append(location.ravel(), log_sigma / kappa) / n,
        np.append(np.full(location.size, sd), own * sd / kappa),
        matrix / n * per_unit,
        sd * per_unit,
        state.to_params(pivots),
    )


def _where(state: State, pivots: Array) -> Truncation:
    """Limits of the scores about the pivots of strata; an infinite width bounds nothing."""
    where = replace(
        state.bounding.truncation(state.choice, state.typical),
        pivots=(pivots.min() - 0.1, pivots.max() + 0.1),
    )
    if math.isfinite(state.choice.width):
        return where
    scale, sigma = state.bounding.placement.scale, float(state.point.sigma.min())
    low, high = declared_range(state.point.gamma, scale)
    least, most = (scale.lower[-1] - high) / sigma, (scale.upper[-1] - low) / sigma
    limits = min(where.limits[0], least - where.pivots[1]), max(where.limits[1], most - where.pivots[0])
    return replace(where, limits=limits)


def _information(state: State) -> Information:
    """What is released, and what the failures lead one to expect where noise hides it."""
    placement, layout, k = state.bounding.placement, state.layout, state.bounding.k
    events, typical = placement.events, state.typical
    usual, delayed = placement.expectations(typical), placement.problem.delayed
    share = max(usual.share if delayed else placement.expected.location_share, LEAST_SAID)
    # of a stratum's own failures, whose residuals are of one sigma
    log_sigma = usual.log_sigma_information(placement.expected.residual_square)
    w, longer = state.whitening.matrix, state.longer
    counted = longer * np.minimum(1.0, state.choice.radius**2 / (longer * layout.squared_lengths(w)))
    expected = scipy.linalg.block_diag(
        share * events.fraction * (w @ layout.stretched(counted) @ w),
        np.diag(events.fraction * layout.shares * log_sigma),
    )
    known = state.released.known(w, events)
    expected = known.axes.T @ expected @ known.axes
    size = np.maximum(np.diag(expected), 0.05 * share * events.fraction * layout.shares.min())
    unit = np.sqrt(np.append(np.full(k, size[:k].mean()), size[k:]))
    late = _LATE if delayed else 1.0
    relative = np.repeat([_LOCATION, _LOG_SIGMA], [k, len(layout.shares)]) * late
    sds = np.sqrt(np.outer(relative * size, relative * size))
    apart = ~np.eye(len(layout.shares), dtype=bool)  # no row is of two strata
    known.mean[k:, k:][apart] = 0.0
    sds[k:, k:][apart] = known.sds[k:, k:][apart] = 1e-12
    return known.mixed(expected, sds, unit)


def _rewhiten(state: State, information: Information) -> None:
    k, placement, layout = state.bounding.k, state.bounding.placement, state.layout
    usual = placement.expectations(state.typical).share * placement.events.fraction
    first, radius, w = (
        layout.whitening(state.longer, placement.scale),
        state.choice.radius,
        state.whitening.matrix,
    )
    seen = shortened(
        information.matrix[:k, :k] / usual, layout.rows(state.longer) @ w, layout.longest(radius**2)
    )
    better = replace(state.whitening, first=first).improved(
        seen, radius, layout.other_columns(placement.scale)
    )
    state.whitening = better

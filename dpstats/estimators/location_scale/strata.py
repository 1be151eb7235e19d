"""Strata that have a sigma each: one location for all, and a log sigma for each stratum.

Rows are those of a design in which each stratum has a level of its own, so that a log sigma can be moved with
the failures of its stratum held; the formula's coefficients are those of its columns up to a public matrix,
and every step is one of them. See docs/theory/survival.md#strata.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
import scipy

from dpstats._codes import ALL_LOST, UNSETTLED, WEAK, problems_at
from dpstats.curator import Curator
from dpstats.estimators.bent_times import costs_of
from dpstats.estimators.engine.average import SCATTER, Steps, far, scatter
from dpstats.estimators.engine.finish import weak
from dpstats.estimators.engine.information import Information, step_covariances
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.engine.route import DAMPING, LONGEST, capped
from dpstats.estimators.level_scores import FEWEST_EVENTS, LevelScores
from dpstats.estimators.location_scale.bent_line import straightened
from dpstats.estimators.location_scale.bounds import MATRIX_SHARE
from dpstats.estimators.location_scale.checks import law_checked
from dpstats.estimators.location_scale.delayed_expectations import UNSURE
from dpstats.estimators.location_scale.estimate import (
    HOPELESS,
    OF_LOG_SIGMA,
    USABLE,
    SurvivalEstimate,
    as_found,
    unseen,
    without_scale,
)
from dpstats.estimators.location_scale.event_law import LEAST_SAID
from dpstats.estimators.location_scale.events import Whitening
from dpstats.estimators.location_scale.gaussian import GaussianRoute
from dpstats.estimators.location_scale.information import KnownMatrix, stretch, structure_sd
from dpstats.estimators.location_scale.level_lines import LevelRows, Reader, few_events, lines, read_levels
from dpstats.estimators.location_scale.placement import PlacedByLine, declared_range
from dpstats.estimators.location_scale.problem import (
    LARGEST_LOG_SIGMA,
    LOG_SIGMA_RANGE,
    SurvivalProblem,
    sigma_of,
)
from dpstats.estimators.location_scale.route import Reading, WhitenedScores, scores_of
from dpstats.estimators.location_scale.strata_layout import Layout
from dpstats.estimators.matrices import ROUNDING
from dpstats.estimators.row_scale import RowScale, shortened
from dpstats.families.score_bounds import Truncation
from dpstats.moments.solution import not_noise

_APART = 0.5  # sd of what log sigmas have left to go
# error of log sigma over the square of the last step's length beyond noise: 1.4 to 3.2 in most fits that had
# not arrived, where slopes together are 5 to 10 sigmas
_CURVED = 1.5
_LEAST_INFORMATION = 0.6  # against what is expected, that steps are taken by


class _Step(NamedTuple):
    """A step of the p location coefficients and G log sigmas, the covariance of its noise, its whitening."""

    change: np.ndarray
    noise: np.ndarray
    tied: np.ndarray

    @classmethod
    def of(cls, read: WhitenedScores, matrix: np.ndarray, tied: np.ndarray) -> Self:
        # wild noise may leave a log sigma nothing that moves it
        solve = np.linalg.pinv(tied.T @ matrix @ tied, hermitian=True) @ tied.T
        return cls(solve @ read.scores, (solve * read.noise**2) @ solve.T, tied)

    @property
    def whitened(self) -> np.ndarray:
        """The step in whitened coordinates, where a log sigma moves with the failures of its stratum held."""
        return np.asarray(self.tied @ self.change)

    def shrunk(self, groups: int) -> np.ndarray:
        """The same by what noise would have made of the location, and by its share in each log sigma."""
        whitened, noise = self.whitened, np.diag(self.tied @ self.noise @ self.tied.T)
        location = not_noise(float(np.sum(whitened[:-groups] ** 2)), float(noise[:-groups].sum()))
        own = _APART**2 / (_APART**2 + noise[-groups:])
        return whitened * np.append(np.full(len(whitened) - groups, location), own)


class Stratified(GaussianRoute):
    """The iteration for many log sigmas: `point` is (gamma, log sigmas)."""

    def __init__(self, curator: Curator, problem: SurvivalProblem, plan: Plan, scale: RowScale) -> None:
        super().__init__(curator, problem, plan, scale)
        # at first, all strata have one sigma
        self.point = np.append(self.point[:-1], np.full(len(self.layout.shares), self.point[-1]))

    def _held(self, point: np.ndarray, placement: PlacedByLine) -> np.ndarray:
        strata = placement.problem.strata
        assert strata is not None
        self.strata, self.layout = strata, Layout.of(strata, placement)
        return np.append(self.layout.held(point[:-1]), point[-1])

    def _ways(self) -> np.ndarray:
        """Within strata: each has a sigma of its own, whose error is no other law."""
        return self.layout.ways_within(self.whitening.matrix)

    def _whitened(self) -> Whitening:
        first = self.layout.whitening(np.ones(len(self.layout.shares)), self.bounding.placement.scale)
        return Whitening(first, first)

    @property
    def gamma(self) -> np.ndarray:
        return self.point[: self.bounding.k]

    @property
    def log_sigma(self) -> np.ndarray:
        """Of each stratum."""
        return self.point[self.bounding.k :]

    @property
    def sigma(self) -> np.ndarray:
        return np.exp(self.log_sigma)

    @property
    def typical(self) -> np.ndarray:
        """(gamma, log sigma), with the sigma by which rows are as long as before on the whole."""
        square = float(self.layout.shares @ np.exp(-2 * self.log_sigma))
        return np.append(self.gamma, -0.5 * math.log(square))

    @property
    def longer(self) -> np.ndarray:
        """Square of the length of rows of each stratum, by that of rows of a typical sigma."""
        return np.asarray((sigma_of(self.typical) / self.sigma) ** 2)

    @property
    def share(self) -> float:
        """Expected square of the location score of a failure of a typical sigma."""
        placement = self.bounding.placement
        usual = placement.expected.location_share
        delayed = placement.problem.delayed
        return max(placement.expectations(self.typical).share if delayed else usual, LEAST_SAID)

    def pivots(self) -> np.ndarray:
        """Of each stratum, the residual of its failures by their line, less the offset."""
        placement = self.bounding.placement
        off = self.layout.means @ (placement.events.line - self.gamma) / self.sigma
        return placement.expectations(self.typical).offset + off

    def to_params(self, pivots: np.ndarray) -> np.ndarray:
        """Matrix from a whitened step to a change of (gamma, log sigmas)."""
        k, groups = self.bounding.k, len(pivots)
        matrix = np.eye(k + groups)
        matrix[:k, :k] = sigma_of(self.typical) * self.whitening.matrix
        matrix[:k, k:] = -(self.sigma * pivots) * self.layout.inside.T
        return matrix

    def tied(self, to_params: np.ndarray) -> np.ndarray:
        """Matrix from changes of what is estimated to whitened steps."""
        own = scipy.linalg.block_diag(self.layout.tied, np.eye(len(self.layout.shares)))
        return np.linalg.solve(to_params, own)

    def towards(self, read: WhitenedScores, damping: float = 1.0) -> None:
        step = self._step(read)
        self.moved = step.whitened, step.tied @ step.noise @ step.tied.T
        self.move(step.shrunk(len(self.layout.shares)), read, damping)

    def about(self, read: WhitenedScores) -> bool:
        return self.move(self._step(read).whitened, read, DAMPING)

    def _step(self, read: WhitenedScores) -> _Step:
        # nowhere far below what is expected: away from the root rows say little
        vectors, unit = self.information.vectors, np.outer(self.information.unit, self.information.unit)
        usual = np.einsum("ij,ik,kj->j", vectors, self._expected / unit, vectors)
        values = np.maximum(self.information.used, _LEAST_INFORMATION * usual)
        matrix = (vectors * values) @ vectors.T * unit
        return _Step.of(read, matrix, self.tied(self.to_params(read.pivot)))

    def move(self, step: np.ndarray, read: WhitenedScores, damping: float = 1.0) -> bool:
        """Move by a whitened step, no longer than the caps; whether that of the location was binding.

        Noise may make steps of the log sigma of a small stratum longer than theirs.
        """
        k, stretch = self.bounding.k, float((sigma_of(self.typical) / self.sigma).max())
        location, short = capped(damping * step[:k], LONGEST / stretch)
        own = damping * np.clip(step[k:], -LARGEST_LOG_SIGMA, LARGEST_LOG_SIGMA)
        change = self.to_params(read.pivot) @ np.append(location, own)
        gamma = self.layout.held(self.gamma + change[:k])
        self.point = np.append(gamma, np.clip(self.log_sigma + change[k:], *LOG_SIGMA_RANGE))
        return short

    def _release(self, mu: float) -> Reading:
        pivots = self.pivots()
        public = dict(
            self.bounding.placement.scale.public(),
            where=self._where(pivots),
            gamma=self.gamma,
            sigma=self.sigma,
            pivot=pivots,
            stretch=sigma_of(self.typical) / self.sigma,
            whitening=self.whitening.matrix,
            radius=self.choice.radius,
            matrix_share=MATRIX_SHARE,
        )
        return scores_of(self.curator.release("strata_score", mu, **public), self.bounding, public)

    def _where(self, pivots: np.ndarray) -> Truncation:
        """Limits of the scores about the pivots of strata; an infinite width bounds nothing."""
        where = replace(
            self.bounding.truncation(self.choice, self.typical),
            pivots=(pivots.min() - 0.1, pivots.max() + 0.1),
        )
        if math.isfinite(self.choice.width):
            return where
        scale, sigma = self.bounding.placement.scale, float(self.sigma.min())
        low, high = declared_range(self.gamma, scale)
        least, most = (scale.lower[-1] - high) / sigma, (scale.upper[-1] - low) / sigma
        limits = min(where.limits[0], least - where.pivots[1]), max(where.limits[1], most - where.pivots[0])
        return replace(where, limits=limits)

    def _informed(self, known: KnownMatrix) -> Information:
        placement, layout, k = self.bounding.placement, self.layout, self.bounding.k
        usual, delayed, share = placement.expectations(self.typical), placement.problem.delayed, self.share
        fraction, groups = placement.events.fraction, len(layout.shares)
        # of a stratum's own failures, whose residuals are of one sigma
        log_sigma = usual.log_sigma_information(placement.expected.residual_square)
        w, longer = self.whitening.matrix, self.longer
        counted = longer * np.minimum(1.0, self.choice.radius**2 / (longer * layout.squared_lengths(w)))
        expected = scipy.linalg.block_diag(
            share * fraction * (w @ layout.stretched(counted) @ w),
            np.diag(fraction * layout.shares * log_sigma),
        )
        self._expected = expected.copy()
        # as released: what a floor adds where columns nearly repeat each other would be taken for seen
        counts = share * float(counted @ layout.shares)
        expected[:k, :k] += counts * w @ (self.events.square - self.events.floored) @ w
        expected = known.axes.T @ expected @ known.axes
        size = np.maximum(np.diag(expected), 0.05 * share * fraction * layout.shares.min())
        unit = np.sqrt(np.append(np.full(k, size[:k].mean()), size[k:]))
        stretched = stretch(self.events, w @ known.axes[:k, :k])
        sds = structure_sd(self.events, stretched, size, counts) * (UNSURE if delayed else 1.0)
        apart = ~np.eye(groups, dtype=bool)  # no row is of two strata
        known.mean[k:, k:][apart] = 0.0
        sds[k:, k:][apart] = known.sds[k:, k:][apart] = 1e-12
        return known.mixed(expected, sds, unit)

    def _rewhiten(self) -> None:
        layout, scale, w = self.layout, self.bounding.placement.scale, self.whitening.matrix
        usual = self.bounding.placement.expectations(self.typical).share * self.events.fraction
        k, radius, rows = self.bounding.k, self.choice.radius, layout.rows(self.longer) @ w
        seen = self.information.matrix[:k, :k] / usual
        seen = shortened(seen, rows, layout.longest(radius**2))
        first = replace(self.whitening, first=layout.whitening(self.longer, scale))
        self.whitening = first.improved(seen, radius, layout.other_columns(scale))

    def finish(self) -> SurvivalEstimate:
        layout = self.layout
        result = straightened(*self.place, costs_of(self._plan), _estimated(self), layout)
        # location coefficients are tied, and what moves one log sigma moves all
        k, groups = self.bounding.k, len(layout.shares)
        each = np.vstack([np.eye(k, k + 1), np.tile(np.eye(1, k + 1, k), (groups, 1))])
        onto = scipy.linalg.block_diag(np.linalg.pinv(self.strata.tied), np.eye(groups)) @ each
        return law_checked(result, self._law, self.bounding, self.choice, self.typical, onto)


def _estimated(state: Stratified) -> SurvivalEstimate:
    """One step from the mean point, along the formula's coefficients; sandwich covariance."""
    bounding, layout, information = state.bounding, state.layout, state.information
    scale, k = bounding.placement.scale, bounding.k
    steps, to_params, spread, moves = _arrived(state)
    tied, variances = state.tied(to_params), steps.rms**2 / len(steps.scores)
    solve = np.linalg.solve(tied.T @ information.matrix @ tied, tied.T)
    inverse, back = tied @ solve, solve @ information.matrix
    step = inverse @ steps.scores.mean(axis=0)
    guess, vague = unseen(information, to_params, bounding, sigma_of(state.typical))
    noise, sampling, privacy = step_covariances(information, inverse, variances, inverse / bounding.n)
    privacy = privacy * spread + guess + sampling * (spread - 1)
    privacy += information.error_of(step)
    privacy += np.diag(np.append(np.zeros(k), _on_the_way(state, step, noise)))
    need = state.need(len(step))
    excess = max(1.0, need) ** 3
    privacy, sampling = (back @ part @ back.T for part in (privacy, sampling))
    cov_privacy = _off_the_line(state, privacy * excess + sampling * (excess - 1))
    cov = cov_privacy + sampling

    slopes = np.concatenate([[0.0], state.gamma[1:], np.zeros(len(step) - k)])
    moved = np.linalg.solve(to_params, slopes) + step
    change = back @ (step - information.part(moved, information.seen < 0.5))
    params = np.append(layout.along(state.gamma), state.log_sigma) + change
    user = scipy.linalg.block_diag(layout.to_user, np.eye(len(layout.shares)))
    params, cov, cov_privacy = user @ params, user @ cov @ user.T, user @ cov_privacy @ user.T
    to_user = user @ back
    guess, vague = (to_user @ part @ to_user.T for part in (guess, vague))
    params[0] += scale.y_center
    params[layout.tied.shape[1] :] += math.log(scale.y_scale)
    result = SurvivalEstimate(params, cov, cov_privacy, (UNSETTLED,) * moves)
    result = as_found(result, need, bounding, state.choice, state.typical)
    if ALL_LOST in result.problems:
        return result
    result = result.saying(*problems_at(WEAK, weak(vague, cov)))
    p = layout.tied.shape[1]
    points = (layout.to_user @ layout.along(steps.points[:, :k].T)).T
    parts = ((cov - guess)[:p, :p], (user @ sampling @ user.T)[:p, :p])
    said = LevelScores(points, (to_user @ step)[:p], *parts)
    blind, few, sigma = np.zeros(p, dtype=bool), np.zeros((p, 0)), scale.y_scale * sigma_of(state.typical)
    at = Reader(bounding.placement, bounding.truncation(state.choice, state.typical).cut, sigma)
    result = read_levels(result, _lines(state), said, guess[:p, :p], at, blind, few)
    return result.wider(_factors(state, need))


def _lines(state: Stratified) -> Iterator[LevelRows]:
    """Levels and flags that are of no stratum, by the coefficients of the formula."""
    tied, inside = state.strata.tied, state.strata.inside
    others, along = (np.abs(inside[:, 1:]) < ROUNDING).all(axis=0), np.linalg.pinv(tied)
    for row, way, apart, share in lines(state.bounding.placement):
        if others[np.abs(way[1:]) > ROUNDING].all():
            yield LevelRows(row @ tied, along @ way, apart @ tied, share)


def _arrived(state: Stratified) -> tuple[Steps, np.ndarray, float, bool]:
    """The steps without the first, up to half of all, that were on the way to what the others scatter about.

    And the way to parameters at their mean, where the state then stands; their scatter; whether they move.
    """
    steps = state.steps
    for left in (*range(len(steps.points) // 2 + 1), 0):
        found = steps.after(left)
        state.point = found.points.mean(axis=0)
        to_params = state.to_params(state.pivots())
        _, spread = scatter(found.points, found.scores, found.rms, steps.information.matrix, to_params)
        tied = state.tied(to_params)
        score, variances = tied.T @ found.scores.mean(axis=0), found.rms**2 / len(found.scores)
        still = float(score @ np.linalg.solve((tied.T * variances) @ tied, score))
        moves = bool(spread > SCATTER or far(still, len(score)))
        if not moves:
            break
    return found, to_params, spread, moves


def _on_the_way(state: Stratified, step: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Variances of log sigmas for a last step beyond noise, which is no longer in proportion to the scores.

    One that is e off is found e^2 off, if no more; a level that was d of its stratum's sigmas off spread
    residuals by the square of that.
    """
    layout = state.layout
    lines = layout.rows(state.longer) @ state.whitening.matrix
    ways = scipy.linalg.block_diag(lines, np.eye(len(lines)))
    level, own = np.split(np.maximum((ways @ step) ** 2 - np.diag(ways @ noise @ ways.T), 0.0), 2)
    return np.asarray((_CURVED * level) ** 2 + own**2)


def _off_the_line(state: Stratified, privacy: np.ndarray) -> np.ndarray:
    """The covariance with what noise in the level of a stratum does to its log sigma.

    Residuals of a line that is off spread by the square of that, in sigmas.
    """
    layout = state.layout
    lines, p = layout.means @ layout.tied, layout.tied.shape[1]
    off = np.einsum("gi,ij,gj->g", lines, privacy[:p, :p], lines) / state.sigma**2
    return privacy + np.diag(np.append(np.zeros(p), (_CURVED * off) ** 2))


def _factors(state: Stratified, need: float) -> np.ndarray:
    """Longer standard errors where noise is beyond use in a stratum; infinite where hardly a row failed."""
    layout, events = state.layout, state.bounding.placement.events
    strata, scale = state.strata, state.bounding.placement.scale
    # by the first stage, whose means are of all failures, or by the matrix, whose floor raises small shares
    shares = np.minimum(strata.inside @ np.append(1.0, scale.center), layout.shares)
    count = state.bounding.n * events.fraction * shares
    noise = state.bounding.n * np.maximum(events.noise * np.sum(layout.inside**2, axis=1), scale.fraction_sd)
    beyond = state.choice.log_sigma_noise / OF_LOG_SIGMA / USABLE / np.sqrt(layout.shares)
    lost = (count - 2 * noise < FEWEST_EVENTS) | (beyond > HOPELESS / USABLE)
    own = np.where(lost, np.inf, (np.maximum(beyond, 1.0) / max(need, 1.0)).clip(1.0) ** 1.5)
    # what coefficients add to the line of each stratum
    levels = np.linalg.pinv(strata.inside.T) @ strata.tied
    location = np.ones(levels.shape[1])
    if np.linalg.matrix_rank(levels) == len(levels):
        location[(np.abs(np.linalg.pinv(levels)[:, lost]) > 1e-9).any(axis=1)] = np.inf
    # by releases alone: what is expected says no more of a rare level than the first stage knew of it
    whitening = state.whitening.matrix
    released = state.released.known(whitening, events).alone(
        math.sqrt(state.share * events.fraction * state.longer.max())
    )
    blind = np.eye(state.bounding.k)[:, without_scale(state.bounding, released)]
    missing = np.column_stack([few_events(state.bounding, released, whitening), blind])
    location[(np.abs(np.linalg.pinv(strata.tied) @ missing) > 1e-9).any(axis=1)] = np.inf
    return np.append(location, own)

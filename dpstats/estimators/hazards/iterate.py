"""The iteration: early steps find the neighbourhood, damped tail steps are averaged.

Every step releases scores and information jointly (HazardScore). The number of steps is public; nothing stops
early. See docs/theory/coxph.md#steps.
"""

from dataclasses import replace

import numpy as np
import scipy

from dpstats.curator import Curator
from dpstats.estimators.bent_times import costs_of, looking
from dpstats.estimators.columns import find_columns
from dpstats.estimators.engine.information import Information
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.engine.route import CHOOSE, DAMPING, LONGEST, Newton, Scores, capped, iterated
from dpstats.estimators.hazards.bounds import HAZARD_MATRIX_SHARE, Chooser, watched
from dpstats.estimators.hazards.checks import bends, checked, straightened
from dpstats.estimators.hazards.estimate import HazardEstimate, estimate, followed
from dpstats.estimators.hazards.failing import Failing, find_follows
from dpstats.estimators.hazards.grid import Grid, find_grid
from dpstats.estimators.hazards.information import Known
from dpstats.estimators.hazards.level_steps import bent, hardly_failing
from dpstats.estimators.hazards.predictors import misplaced, predictors
from dpstats.estimators.hazards.problem import Problem
from dpstats.estimators.known.level_shares import expected_moments
from dpstats.estimators.matrices import SMALLEST, symmetric_power
from dpstats.estimators.newton.information import drawn, floored
from dpstats.estimators.row_scale import RowScale, with_levels
from dpstats.moments.solution import not_noise

_HIGHEST = 1.0  # cap of one step of a log hazard
_GROWS = 0.02  # of slopes, in a derivative


def fit_hazards(curator: Curator, problem: Problem, plan: Plan) -> HazardEstimate:
    """Fit a regression of hazards from noisy releases.

    Parameters
    ----------
    curator : Curator
        Its design has no intercept; `plan.total`, a mu, must be left of its total.
    problem : Problem
    plan : Plan

    Returns
    -------
    HazardEstimate
    """
    return iterated(_Steps(curator, problem, plan))


class _Steps(Newton[Scores, HazardEstimate]):
    """Where the iteration stands, in log hazards of pieces and coefficients of standardised columns.

    Attributes
    ----------
    scale : RowScale
        Of the columns, without a constant.
    grid : Grid
        Whose clock runs as the baseline does, as far as that is known.
    whitening : array, shape (d, d)
    bounds : Bounds
    known : Known
        Of the information.
    """

    def __init__(self, curator: Curator, problem: Problem, plan: Plan) -> None:
        box = problem.box
        scale = find_columns(curator, plan.columns, box, False, lost=curator.leaves_out)
        self.scale = replace(scale, constant=False, levels=box.levels, alike=box.alike)
        self._box = box
        self._plan = plan = looking(plan, "tail", self.scale, curator.n)
        super().__init__(curator, plan["early"], plan["tail"])
        self.chooser = Chooser(self.scale, curator.n, curator.cost_per_row(plan.cost("tail")))
        expected = _expected(self.scale)
        radius = self.chooser.first(np.eye(problem.d)).radius
        self.whitening = _whitening(expected, radius, self.scale)
        self.bounds, self.known = self.chooser.first(self.whitening), Known(expected, self.scale.error)
        self._counted = find_grid(curator, plan, problem)
        self.grid = self._marginal = self._divided(0.0)
        self.point = np.zeros(self.grid.count + problem.d)

    @property
    def log_hazards(self) -> np.ndarray:
        """Of pieces, against the clock, where standardised columns are 0; shape (J,)."""
        return self.point[: self.grid.count]

    @property
    def beta(self) -> np.ndarray:
        """Of standardised columns, shape (d,)."""
        return self.point[self.grid.count :]

    @property
    def axes(self) -> np.ndarray:
        """From coordinates in which the information is nearly that of all events, times 1, to a point."""
        return scipy.linalg.block_diag(np.diag(self.grid.shares**-0.5), self.whitening)

    def prepare(self, t: int) -> None:
        super().prepare(t)
        if t == CHOOSE or self.arrived:
            self._choose()
        elif t > CHOOSE:
            self.grid = self._marginal.of_baseline(*self._predictors(1.0)[0])

    def read(self, cost: float) -> Scores:
        """Scores per row in the coordinates of `axes`; the matrix is remembered."""
        release = self.curator.release(
            "hazard_score",
            cost,
            **watched(self.scale, self.grid, self.bounds, self.point),
            whitening=self.whitening,
            radius=self.bounds.radius,
            matrix_share=HAZARD_MATRIX_SHARE,
        )
        n, tau = release.n, self.bounds.of_row.matrix_weight
        matrix = [part / n / tau for part in release.values[2:]]
        self.known.add(matrix, release.sd / n / tau, self.whitening)
        stretch = np.append(self.grid.shares**-0.5, np.ones(len(self.beta)))
        self.information = self._informed()
        return Scores(np.concatenate(release.values[:2]) / n * stretch, release.sd / n * stretch)

    def approach(self, t: int, cost: float) -> None:
        super().approach(t, cost)
        if t > 0:
            self._rewhiten()
        self.known.forget()

    def towards(self, read: Scores) -> None:
        """Move by a step whose slopes are shrunk by what noise alone would have made of them."""
        step, j = self._step(read), self.grid.count
        matrix, slopes = self.information.matrix[j:, j:], step[j:]
        by_noise = float(np.diag(np.linalg.inv(matrix)) @ read.noise[j:] ** 2)
        slopes *= not_noise(float(slopes @ matrix @ slopes), by_noise)
        self._move(step)

    def about(self, read: Scores) -> bool:
        return self._move(self._step(read), DAMPING)

    def finish(self) -> HazardEstimate:
        error = misplaced(self.scale, self.beta, self._failed)
        grid = replace(self.grid, follows=self._follows(), misplaced=error)
        steps, parts = self.steps, (self.scale, grid, self.bounds)
        few = hardly_failing(self.scale, self.known, self.curator.n, float(self.grid.events.sum()))
        found, levels = estimate(steps, self.axes, parts, self.curator.n, few, self._box)
        bent = bends(self.curator, costs_of(self._plan), self.whitening, parts, found)
        # at the root, which a line that is taken for a bend is not
        seen, (law,) = (steps.information, self.axes), self._predictors(1.0)
        found = checked(self.curator, self._plan.cost("check"), seen, parts, law, found, levels)
        return straightened(found, bent, levels)

    def _informed(self) -> Information:
        """What is known of the information, in the coordinates of `axes`."""
        return self.known.information(self.grid.shares, self.grid.stratum, self.whitening)

    def _follows(self) -> float:
        """By what share of themselves slopes grow once more with the clock, once that turns with them."""
        if self.grid is self._marginal:
            return 0.0
        law, *others = self._predictors(1.0, 1 + _GROWS, 1 - _GROWS)
        larger, smaller = (self._marginal.of_baseline(*other).rates for other in others)
        turn = np.log(larger / smaller) / (2 * _GROWS)
        failing = Failing.before(self.bounds.c, self.grid, self.log_hazards, law)
        return find_follows(failing, self.grid.pieces, turn)

    def _step(self, read: Scores) -> np.ndarray:
        """Newton's, in the coordinates of `axes`, and what the clock makes of it."""
        slopes = np.linalg.solve(self.whitening, self.beta)
        return followed(self.information, slopes, self._follows()) @ self.information.solve(read.scores)

    def _move(self, step: np.ndarray, damping: float = 1.0) -> bool:
        """Take a step in the coordinates of `axes`, no longer than the caps; whether slopes were."""
        j = self.grid.count
        slopes, short = capped(step[j:], LONGEST)
        rise = np.clip(step[:j] * self.grid.shares**-0.5, -_HIGHEST, _HIGHEST)
        log_hazards = self.log_hazards + damping * rise
        self.point = np.append(log_hazards, self.beta + damping * bent(self.whitening @ slopes, self.scale))
        return short

    def _choose(self) -> None:
        before, pieces, (law,) = self.bounds, self.grid.pieces, self._predictors(1.0)
        slopes = np.linalg.solve(self.whitening, self.beta)
        missed = self.grid.within(self.log_hazards) / self.grid.coarseness
        self.bounds = self.chooser.choose(self.whitening, self.known.expected, self._counted, slopes, missed)
        self._marginal = self._divided(float(np.linalg.norm(slopes)))
        grid = self._marginal.of_baseline(*law)
        sums = np.bincount(grid.pieces, self.log_hazards[pieces] * grid.seen)
        self.grid, self.point = grid, np.append(sums / np.bincount(grid.pieces, grid.seen), self.beta)
        if self.bounds != before or not np.array_equal(pieces, grid.pieces):
            self.known = Known(self.known.expected, self.scale.error)

    def _divided(self, spread: float) -> Grid:
        """The clock of the counts, in pieces by the events that are seen."""
        return self.chooser.divided(self._counted, self.bounds, spread)

    def _predictors(self, *sizes: float) -> list[tuple[np.ndarray, np.ndarray]]:
        """Linear predictors of those at risk, as far as they are known, of slopes so many times as large."""
        information, j = self._informed().matrix / self.known.level, self.grid.count
        back = np.linalg.inv(self.whitening)
        middle = back @ information[j:, :j] @ np.sqrt(self.grid.shares)
        covariance = back @ information[j:, j:] @ back - np.outer(middle, middle)
        longest = self.bounds.radius / np.linalg.norm(self.whitening, axis=0)
        return [predictors(self.scale, size * self.beta, longest, covariance, self._failed) for size in sizes]

    @property
    def _failed(self) -> float:
        """Share of the rows."""
        return min(float(self._counted.events.sum()) / self.curator.n, 1.0)

    def _rewhiten(self) -> None:
        own, level = self.known.own, self.known.level
        back = np.linalg.inv(own)
        moments = back @ (drawn(floored(self.known.drawn, own), level) / level) @ back
        self.whitening = _whitening(moments, self.bounds.radius, self.scale)


def _expected(scale: RowScale) -> np.ndarray:
    """Second moments of standardised columns by the shares of levels, of which a row has one."""
    d, ids = len(scale.center), scale.alike.max(initial=0) + 1
    alike = np.full((d + 1, d + 1), ids)
    alike[0, 1:] = alike[1:, 0] = ids + 1 + np.arange(d)
    alike[1:, 1:] = scale.alike
    return expected_moments(replace(scale, constant=True, alike=alike))[1:, 1:]


def _whitening(moments: np.ndarray, radius: float, scale: RowScale) -> np.ndarray:
    """The root that makes these moments 1, but stretches no column of unknown spread.

    Where few rows differ in it, they would soon be longer than R and count for less, so that the column
    seemed to vary the less and was stretched again (docs/theory/coxph.md#steps).
    """
    least = (scale.hardly_varies & ~scale.binary) * np.maximum(1 - np.diag(moments), 0.0)
    return symmetric_power(with_levels(moments + np.diag(least), radius**2, scale), -0.5, SMALLEST)

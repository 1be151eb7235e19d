"""The iteration: early steps find the neighbourhood, damped tail steps are averaged.

Every step releases scores and information jointly (HazardScore). The number of steps is public; nothing stops
early. See docs/theory/coxph.md#steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.columns import find_columns
from dpstats.estimators.engine.information import Information
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.engine.step import CHOOSE, DAMPING, LONGEST, capped
from dpstats.estimators.gram.levels import expected_moments
from dpstats.estimators.hazards.bounds import MATRIX_SHARE, Bounds, Chooser
from dpstats.estimators.hazards.estimate import Averaged, Estimate, estimate
from dpstats.estimators.hazards.grid import Grid, find_grid
from dpstats.estimators.hazards.information import Known
from dpstats.estimators.hazards.predictors import predictors
from dpstats.estimators.hazards.problem import Problem
from dpstats.estimators.hazards.trend import checked
from dpstats.estimators.matrices import SMALLEST, not_noise, symmetric_power
from dpstats.estimators.newton.information import drawn
from dpstats.estimators.row_scale import RowScale
from dpstats.estimators.stretch import with_levels

Array = np.ndarray

_HIGHEST = 1.0  # cap of one step of a log hazard


@dataclass
class _State:
    """Where the iteration stands: released and public numbers only.

    Attributes
    ----------
    log_hazards : array, shape (J,)
        Of pieces, against the clock, where standardised columns are 0.
    beta : array, shape (d,)
        Of standardised columns.
    whitening : array, shape (d, d)
    """

    scale: RowScale
    grid: Grid
    counted: Grid
    log_hazards: Array
    beta: Array
    whitening: Array
    bounds: Bounds
    known: Known
    capped: bool = False

    @property
    def point(self) -> Array:
        return np.append(self.log_hazards, self.beta)

    @property
    def axes(self) -> Array:
        """From coordinates in which the information is nearly that of all events, times 1, to a point."""
        j = self.grid.count
        axes = np.zeros((j + len(self.beta),) * 2)
        axes[:j, :j] = np.diag(self.grid.shares**-0.5)
        axes[j:, j:] = self.whitening
        return axes

    def release(self, curator: Curator, mu: float) -> tuple[Array, Array]:
        """Scores per row in the coordinates of `axes`, and their noise sds; the matrix is remembered."""
        release = curator.release(
            "hazard_score",
            mu,
            center=self.scale.center,
            scale=self.scale.scale,
            beta=self.beta,
            edges=self.grid.edges,
            hazards=self.grid.hazards(self.log_hazards),
            pieces=self.grid.pieces,
            c=self.bounds.c,
            whitening=self.whitening,
            radius=self.bounds.radius,
            matrix_share=MATRIX_SHARE,
        )
        n, tau = release.n, self.bounds.of_row.matrix_weight
        matrix = [part / n / tau for part in release.values[2:]]
        self.known.add(matrix, release.sd / n / tau, self.whitening)
        stretch = np.append(self.grid.shares**-0.5, np.ones(len(self.beta)))
        return np.concatenate(release.values[:2]) / n * stretch, release.sd / n * stretch

    def information(self) -> Information:
        """What is known of it, in the coordinates of `axes`."""
        return self.known.information(self.grid.shares, self.grid.stratum, self.whitening)

    def turn(self, n: int) -> None:
        """Let the clock run as the baseline does, as far as linear predictors of those at risk are known."""
        information, j = self.information().matrix, self.grid.count
        of_slopes, across = information[j:, j:], information[j:, :j]
        within = (of_slopes - across @ across.T / self.known.level) / self.known.level
        slopes = np.linalg.solve(self.whitening, self.beta)
        variance = max(float(slopes @ within @ slopes), 0.0)
        failed = min(float(self.counted.events.sum()) / n, 1.0)
        self.grid = self.counted.of_baseline(*predictors(self.scale, self.beta, variance, failed))

    def move(self, step: Array, damping: float = 1.0) -> None:
        """Take a step in the coordinates of `axes`, no longer than the caps."""
        j = self.grid.count
        slopes, short = capped(step[j:], LONGEST)
        rise = step[:j] * self.grid.shares**-0.5
        self.log_hazards = self.log_hazards + damping * np.clip(rise, -_HIGHEST, _HIGHEST)
        self.beta = self.beta + damping * self.whitening @ slopes
        self.capped |= short


def fit_hazards(curator: Curator, problem: Problem, plan: Plan) -> Estimate:
    """Fit a regression of hazards from noisy releases.

    Parameters
    ----------
    curator : Curator
        Its design has no intercept; `plan.total`, a mu, must be left of its total.
    problem : Problem
    plan : Plan

    Returns
    -------
    Estimate
    """
    box = problem.box
    scale = find_columns(curator, plan.columns, box, False)
    scale = replace(scale, constant=False, levels=box.levels, alike=box.alike)
    chooser = Chooser(scale, curator.n, curator.cost_per_row(plan.cost("tail")))
    bounds = chooser.first(np.eye(problem.d))
    expected = _expected(scale)
    whitening = _whitening(expected, bounds.radius, scale)
    bounds = chooser.first(whitening)
    grid = find_grid(curator, plan, problem, bounds.of_row.sensitivity / chooser.mu)
    state = _State(
        scale, grid, grid, np.zeros(grid.count), np.zeros(problem.d), whitening, bounds, Known(expected)
    )
    _early(curator, plan, chooser, state)
    averaged = _averaged(curator, plan, state)
    grid = state.grid
    found = estimate(averaged, scale, grid, state.bounds, curator.n)
    return checked(curator, plan.cost("check"), averaged, (scale, grid, state.bounds), found)


def _early(curator: Curator, plan: Plan, chooser: Chooser, state: _State) -> None:
    """Steps towards the root, each shrunk by what noise alone would have made of it."""
    for t, mu in enumerate(plan["early"]):
        if t == CHOOSE:
            _choose(chooser, state)
        scores, noise = state.release(curator, mu)
        information = state.information()
        step, j = information.solve(scores), state.grid.count
        step[j:] *= _signal(step[j:], information.matrix[j:, j:], noise[j:])
        state.move(step)
        if t > 0:
            _rewhiten(state)
        state.known.forget()
    _choose(chooser, state)
    state.capped = False  # of early steps some are meant to be


def _signal(step: Array, information: Array, noise: Array) -> float:
    """Share of a step that noise of these sds in its scores does not explain."""
    by_noise = float(np.diag(np.linalg.inv(information)) @ noise**2)
    return not_noise(float(step @ information @ step), by_noise)


def _choose(chooser: Chooser, state: _State) -> None:
    before = state.bounds
    state.turn(chooser.n)
    spread = float(np.linalg.norm(np.linalg.solve(state.whitening, state.beta)))
    state.bounds = chooser.choose(state.whitening, state.grid, spread)
    if state.bounds != before:
        state.known = Known(state.known.expected)


def _rewhiten(state: _State) -> None:
    own, level = state.known.own, state.known.level
    slopes = state.known.of_slopes(own)
    back = np.linalg.inv(own)
    moments = back @ (drawn(slopes, level) / level) @ back
    state.whitening = _whitening(moments, state.bounds.radius, state.scale)


def _expected(scale: RowScale) -> np.ndarray:
    """Second moments of standardised columns by the shares of levels, of which a row has one."""
    d, ids = len(scale.center), scale.alike.max(initial=0) + 1
    alike = np.full((d + 1, d + 1), ids)
    alike[0, 1:] = alike[1:, 0] = ids + 1 + np.arange(d)
    alike[1:, 1:] = scale.alike
    return expected_moments(replace(scale, constant=True, alike=alike))[1:, 1:]


def _whitening(moments: np.ndarray, radius: float, scale: RowScale) -> np.ndarray:
    return symmetric_power(with_levels(moments, radius**2, scale), -0.5, SMALLEST)


def _averaged(curator: Curator, plan: Plan, state: _State) -> Averaged:
    points, scores, noise = [], [], []
    for mu in plan["tail"]:
        score, sds = state.release(curator, mu)
        points.append(state.point)
        scores.append(score)
        noise.append(sds**2)
        information = state.information()
        state.move(information.solve(score), DAMPING)
    rms = np.sqrt(np.mean(noise, axis=0))
    return Averaged(
        np.array(points), np.array(scores), rms, information, state.axes, state.capped, math.sqrt(len(points))
    )

"""The iteration: early steps find the neighbourhood, damped tail steps are averaged.

Every step releases scores and information jointly; a step solves with the best information known so far.
The number of steps is public; nothing stops early. See docs/theory/glm.md#steps.
"""

import functools
import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.engine.bounds import LENGTHS
from dpstats.estimators.engine.information import FORGET, Accumulator
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.engine.route import CHOOSE, DAMPING, LONGEST, Scores, iterated
from dpstats.estimators.engine.some import early_rows, some_rows
from dpstats.estimators.matrices import (
    SMALLEST,
    by_precision,
    inverted,
    longest_image,
    symmetric_power,
)
from dpstats.estimators.newton.beyond_limit import tailed
from dpstats.estimators.newton.bounds import LEAST_DISPERSED, Bounds, Chooser
from dpstats.estimators.newton.check import Read, by_one_pass, checked, explained, set_apart
from dpstats.estimators.newton.dispersion import ALPHAS, Uneven, told_alpha
from dpstats.estimators.newton.estimate import Averaged, GlmEstimate, estimate
from dpstats.estimators.newton.far import long_rows
from dpstats.estimators.newton.information import CHANGE, dispersion, drawn, past
from dpstats.estimators.newton.level_coefficients import level_moments, stretched_no_further
from dpstats.estimators.newton.located import Located, locate
from dpstats.estimators.newton.plan import hearing_more, stepping
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.newton.rarer import expecting_no_more
from dpstats.estimators.newton.ray import Along, reaches
from dpstats.estimators.newton.steps import GlmSteps
from dpstats.estimators.newton.unlike import uneven_levels, unlike
from dpstats.estimators.row_scale import SURE
from dpstats.families.bounded_score import BoundedScore
from dpstats.moments.normal_rows import mean_weight
from dpstats.moments.solution import not_noise

_STEEPEST = 3.0  # cap of what a step may add to the log mean of any row that counts in full
_DISPERSION_SD = 0.5  # relative, of what is known of the dispersion before any release
_ALIKE = 1.25  # bounds that differ by no more give matrices that may be mixed
# Sampling sds: where noise is less, one early step of all rows would not take back what some rows are off by,
# of scores that grow with the exponential of the line
_QUIET = 0.1
# share of the rows that give the rarer answer, from which on they are not few whatever noise hides: of 296
# such designs 1 was silently off, by chance
_FEW = 0.05
_RARE = 4.0  # sds of noise of the first early step, below which scores of all rarer answers are rare
_LOST = 1 / 16  # share of weight that rows may have lost whose information grows with their means


def fit_newton(curator: Curator, problem: Problem, plan: Plan) -> GlmEstimate:
    """Fit a generalised linear model from noisy releases.

    Parameters
    ----------
    curator : Curator
        `plan.total`, a mu, must be left of its total.
    problem : Problem
    plan : Plan

    Returns
    -------
    GlmEstimate
    """
    # privacy noise of a coefficient in sampling sds, if scores were limited to 4 sds
    noise = 2 * 4 * math.sqrt(1.25 * problem.k / curator.n) / curator.cost_per_row(plan.cost("tail"))
    some, rarer = some_rows(curator, plan.total, problem.k), math.inf
    located = locate(some, plan.columns, plan.cost("octaves"), problem, noise)
    if problem.family.two_valued:
        some = early_rows(curator, plan.total, problem.k, located.telling(problem))
        # rows of unit score and length in all columns, as which noise of the first step is as large
        noisy = 2 * math.sqrt(1.25 * problem.k) / curator.cost_per_row(plan["early"][0])
        rarer = curator.n * located.rarer / noisy
        if rarer < _RARE:
            plan = stepping(plan)
        rarer = rarer if located.rarer < _FEW * located.usable else math.inf
    plan = located.found(problem).spent(plan, "tail")
    if located.skewed:
        plan = hearing_more(plan, problem.family.two_valued)
    chooser = Chooser(problem, located, curator.n, curator.cost_per_row(plan.cost("tail")))
    last = 1 + (noise < _QUIET and not problem.family.two_valued)
    steps = _Steps(some, curator, plan, chooser, last, rarer)
    del some  # lest both are in memory
    averaged = iterated(steps)
    plan, problem = steps.plan, steps.chooser.problem
    found = estimate(averaged, problem, located, steps.bounds, curator.n)
    moved = located.to_user(problem.intercept) @ steps.chooser.left(steps.bounds.score, steps.level)
    found = found.doubted(np.outer(moved, moved))
    read = _read(steps.lost, problem, located, steps.bounds, averaged, found, curator.n)
    # of counts and amounts what long rows may do is counted last: errors so large would leave no bend to tell
    far, bends = (
        long_rows(plan.cost("far"), problem, located, read, found),
        checked(plan.cost("check"), problem, located, read, found),
    )
    farther = functools.partial(reaches, problem, located, Along.of_steps(averaged), read, curator.n)
    checks = (
        tailed(plan.cost("beyond"), located, read, found),
        *((far, bends) if problem.family.two_valued else (bends, far)),
        explained(plan.cost("told"), problem, located, read, found, farther),
        set_apart(plan.cost("apart"), problem, located, found),
    )
    found = by_one_pass(curator, checks, found)
    for group in uneven_levels(averaged, problem, located, steps.bounds.score, curator.n):
        found = found.doubted(np.outer(group, group))
    return replace(found, columns=located.columns, unasked=plan.unasked)


def _read(
    lost: float,
    problem: Problem,
    located: Located,
    bounds: Bounds,
    averaged: Averaged,
    found: GlmEstimate,
    n: int,
) -> Read:
    """How rows were read at the end."""
    phi = (1.0, 0.0) if found.dispersion is None else (found.dispersion.value, found.dispersion.se)
    read = Read(
        averaged.whitening, lost, bounds.score, *phi, bounds.radius, averaged.steps.information.matrix
    )
    if not problem.family.free_dispersion or bounds.score is None:
        return read
    return replace(read, unlike=unlike(averaged, problem, located, bounds.score.limit, n))


class _Squares(NamedTuple):
    """What squares of scores say of counts: alpha of the variance m + alpha m^2, its noise, and the rest."""

    score: BoundedScore
    alpha: float
    noise: float
    uneven: Uneven


class _Steps(GlmSteps):
    """The iteration with bounds that are chosen, each early step shrunk by what noise alone makes of it.

    Attributes
    ----------
    plan : Plan
    chooser : Chooser
        Where an alpha is sought, at last of the family whose alpha was found.
    level, dispersion : float
        Mean curvature per row, and the dispersion of the responses, as far as they are known.
    """

    damping = DAMPING

    def __init__(
        self, some: Curator, curator: Curator, plan: Plan, chooser: Chooser, last: int, rarer: float
    ) -> None:
        """Of some rows until so many of the early steps are left; `rarer` as of :class:`Averaged`."""
        problem, located = chooser.problem, chooser.located
        whitening = _rewhitened(
            np.eye(problem.k),
            level_moments(problem, located),
            problem,
            located,
            math.sqrt(LENGTHS[0] * problem.k),
        )
        least = min(max(2 / curator.n, 1e-4), 0.5) if problem.family.two_valued else 1e-6
        start = located.start(problem, least)
        costs = plan["early"], plan["tail"]
        super().__init__(some, costs, problem, located, start, whitening, chooser.first(whitening))
        self.plan, self.chooser = plan, chooser
        self._all, self._from, self._rarer = curator, len(self.early) - last, rarer
        self._scatter: _Squares | None = None
        self._first = Accumulator()
        self.level, self.dispersion = chooser.start_level, chooser.start_dispersion

    @property
    def longest(self) -> float:
        score = self.bounds.score
        if score is None or not score.family.counts:
            return LONGEST
        return min(LONGEST, _STEEPEST / self.bounds.radius)

    @property
    def lost(self) -> float:
        """Share of weight that rows have lost which are long, or of large means; none if none is long."""
        located, problem = self.located, self.chooser.problem
        longest = longest_image(self.whitening, located.lower, located.upper)
        if self.bounds.radius**2 >= longest * (1 - 1e-9):
            return 0.0
        least = _LOST * (problem.family.unlimited and not problem.family.free_dispersion)
        return max(1 - mean_weight(problem.k, self.bounds.radius), least)

    def prepare(self, t: int) -> None:
        super().prepare(t)
        if t == self._from:
            # an alpha that is sought is that of the steps to come, and is told where they begin
            if self.curator is not self._all and self.chooser.problem.family.seek is None:
                self._scatter = self._squares()
            self.curator = self._all
        if self.arrived:
            self._count(self._scatter or self._squares())
        if t == CHOOSE or self.arrived:
            self._choose()
        if self.arrived:
            score = self.bounds.score
            even = score is None or not np.ptp(
                score.weight(np.linspace(*self.located.ends(self.point, self.chooser.problem, score)))
            )
            # nothing is asked of long rows if there are none, of bends if all rows count alike, nor beyond a
            # limit that no score reaches
            spare = ("far",) * (not self.lost) + ("check",) * (even and not self.lost)
            spare += ("beyond",) * (score is None or score.limit >= score.top)
            self.plan = functools.reduce(lambda plan, name: plan.given(name, to="tail"), spare, self.plan)
            self.last = self.plan["tail"]

    def towards(self, read: Scores) -> None:
        information = self.information
        if not self._first.releases:
            self._first = Accumulator(self.released.releases[-1:])
        self.level = self._level()
        if self.bounds.score is not None:
            self.dispersion = self._dispersion()
        move = information.solve(read.scores)
        by_noise = float(read.noise) ** 2 * float(np.sum(information.seen / information.used))
        self.move(move * not_noise(read.scores @ move, by_noise))
        expected = drawn(information, self.level) / self.level
        problem = self.chooser.problem
        located = self.located.where_told(self.point, problem)
        self.whitening = _rewhitened(self.whitening, expected, problem, located, self.bounds.radius)
        curved = not problem.family.free_dispersion
        self.released.forget(past(self.released, information, self.whitening) if curved else FORGET)
        self.variability.forget(FORGET)

    def move(self, step: np.ndarray) -> bool:
        short = super().move(step)
        if self._rarer < SURE and self.chooser.problem.intercept and not self.arrived:
            self.point = expecting_no_more(self.point, self.located, self.chooser.problem.family)
        return short

    def finish(self) -> Averaged:
        if not self.chooser.problem.family.two_valued:
            return super().finish()
        return replace(super().finish(), first=self._first, rarer=self._rarer)

    def _squares(self) -> _Squares | None:
        """How counts scatter about the line where the iteration stands, if that is asked."""
        score, cost = self.bounds.score, self.plan.cost("laws")
        if not cost or score is None:
            return None
        public = dict(**self.located.public(), beta=self.point, score=score, alphas=ALPHAS)
        release = self.curator.release(
            "score_squares", cost, **public, whitening=self.whitening, radius=self.bounds.radius
        )
        told = told_alpha(release.values[0][0], release.sds[0][0])
        return _Squares(score, *told, Uneven.of(release, self.whitening, score.limit))

    def _count(self, squares: _Squares | None) -> None:
        """The dispersion of counts that squares of scores tell whatever the rows, as far as noise lets it."""
        if squares is None:
            return
        score, alpha, noise, uneven = squares
        self.chooser = replace(self.chooser, uneven=uneven)
        self.level = max(self.level, self.chooser.start_level)
        curvature = self.level / self.located.usable
        seen = 1 + (alpha - (score.family.alpha or 0.0)) * curvature
        known = self.dispersion, _DISPERSION_SD * self.dispersion
        self.dispersion = by_precision(seen, noise * curvature, *known)

    def _choose(self) -> None:
        """Bounds, for the family whose alpha releases tell, if one is sought."""
        found, level = self.chooser.sought(self.level, self.dispersion)
        if found is not self.chooser:
            if not 1 / _ALIKE < level / self.level < _ALIKE:
                self.forget()
            self.chooser, self.level, self.dispersion = found, level, 1.0
        before = self.bounds
        self.bounds = found.choose(self.whitening, self.level, self.dispersion, self.arrived)
        if _changed(before, self.bounds):
            # matrices under narrower bounds are smaller, and less noisy: they would outweigh what counts now
            self.forget()

    def _level(self) -> float:
        """Mean curvature: the information on the intercept alone, or the mean of the eigenvalues."""
        information, k = self.information, len(self.whitening)
        squares = np.full(k, 1 / k)
        if self.chooser.problem.intercept:
            squares = (information.vectors.T @ np.linalg.solve(self.whitening, np.eye(k)[0])) ** 2
        seen = float(squares @ information.values)
        noise = float(np.linalg.norm(squares * information.sds))
        return max(by_precision(seen, noise, self.level, CHANGE * self.level), self.chooser.least_level)

    def _dispersion(self) -> float:
        """Variability over information of a row of weight 1, by their traces; no less than its noise."""
        weight, expected = self.located.weights.own, self.chooser.start_dispersion
        found = dispersion(self.variability, self.information, self.whitening)
        seen, noise = (each / weight for each in found)
        known = by_precision(seen, noise, expected, _DISPERSION_SD * expected)
        return max(known, min(noise, expected), LEAST_DISPERSED)


def _rewhitened(
    whitening: np.ndarray, information: np.ndarray, problem: Problem, located: Located, radius: float
) -> np.ndarray:
    """W, symmetric, that also whitens `information`, given in today's coordinates with a level of 1.

    Whitened rows are W times the standardised ones.
    """
    back = inverted(whitening)
    moments = stretched_no_further(back @ information @ back, problem, located, radius)
    return symmetric_power(moments, -0.5, SMALLEST)


def _changed(before: Bounds, after: Bounds) -> bool:
    pairs = [(before.radius, after.radius)]
    if before.score is not None and after.score is not None:
        pairs.append((before.score.limit, after.score.limit))
        pairs.append((before.score.curvature_limit, after.score.curvature_limit))
    return any(not 1 / _ALIKE < new / old < _ALIKE for old, new in pairs)

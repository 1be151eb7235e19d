"""Generalised linear models on rows whitened by public moments (Cao, Bi and Zhang, Algorithms 3 and 4).

The iteration of the paper with its errors and its waste taken out
(docs/theory/pmt.md#generalised-linear-models). Algorithms 3 and 4 to the letter, where they are private, are
in :mod:`dpstats.estimators.published.truncated`.
"""

import math

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.engine.bounds import NEARLY_ALL
from dpstats.estimators.engine.information import FORGET
from dpstats.estimators.engine.plan import left
from dpstats.estimators.engine.route import Scores, iterated
from dpstats.estimators.newton.bounds import LEAST_DISPERSED, MOST_DISPERSED, Bounds
from dpstats.estimators.newton.estimate import GlmEstimate, estimate
from dpstats.estimators.newton.information import dispersion
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.newton.steps import GlmSteps
from dpstats.estimators.pmt.ridge import Frame, frame, reach
from dpstats.families.bounded_score import BoundedScore
from dpstats.moments import PublicColumns

STEPS = 8
"""T, known in advance; steps are t = 0, ..., T - 1, of which the last half is averaged."""

MEAN = 0.05
"""Share of mu squared for the mean response, from which the bounds of a score follow; none for a logit."""


def costs(mu: float, problem: Problem) -> dict[str, float]:
    """mu of all releases of each kind together; their squares add up to that of mu."""
    if not problem.family.unlimited:
        return {"score and information": mu}
    return {"column means": mu * math.sqrt(MEAN), "score and information": left(mu, MEAN)}


def fit_pmt_glm(curator: Curator, problem: Problem, public: PublicColumns, mu: float) -> GlmEstimate:
    """Fit by Newton's method on rows whitened by public moments.

    Parameters
    ----------
    curator : Curator
        Of a budget of Gaussian noise; `mu` must be left of its total.
    problem : Problem
    public : PublicColumns
        Of the design's columns.
    mu : float
        To be spent in all.

    Notes
    -----
    As in the paper the radius is public, d (1 + log(2 n / eta)) squared, and so is the number of steps.
    Otherwise than there, long rows count less as a whole instead of being shortened, so that the estimating
    equation keeps its root at the truth; scores and curvatures are bounded row by row, by the 1 and 1/4 of a
    logit or by the released mean response, instead of over a ball of coefficients; scores and information
    are one release; eigenvalues are raised to the size of their error; the last half of the steps is
    averaged.
    """
    where, spent = frame(public, problem.intercept), costs(mu, problem)
    located = _located(curator, problem, where, spent.get("column means"))
    each = [spent["score and information"] / math.sqrt(STEPS)] * STEPS
    steps = _Steps(curator, (each[: STEPS // 2], each[STEPS // 2 :]), problem, located, where.whitening)
    return estimate(iterated(steps), problem, located, steps.bounds, curator.n)


class _Steps(GlmSteps):
    """Newton steps with public bounds, which the dispersion of the early ones sets for the last."""

    def __init__(
        self,
        curator: Curator,
        costs: tuple[list[float], list[float]],
        problem: Problem,
        located: Located,
        whitening: np.ndarray,
    ) -> None:
        self._problem, self._level = problem, problem.family.level_at(located.mean)
        self._radius = reach(curator.n) * math.sqrt(problem.k)
        bounds = Bounds(self._radius, _score(problem, located, 1.0, self._level))
        super().__init__(curator, costs, problem, located, located.start(problem, 0.0), whitening, bounds)

    def prepare(self, t: int) -> None:
        super().prepare(t)
        if self.arrived:
            phi = 1.0 if self.bounds.score is None else self._phi()
            self.bounds = Bounds(self._radius, _score(self._problem, self.located, phi, self._level))
            self.forget()

    def towards(self, read: Scores) -> None:
        self.move(self.information.solve(read.scores))
        self.released.forget(FORGET)
        self.variability.forget(FORGET)

    def _phi(self) -> float:
        """The dispersion that scores showed so far, as far as noise allows; else 1."""
        seen, noise = dispersion(self.variability, self.information, self.whitening)
        return float(np.clip((seen + noise**2) / (1 + noise**2), LEAST_DISPERSED, MOST_DISPERSED))


def _located(curator: Curator, problem: Problem, where: Frame, mu: float | None) -> Located:
    """Columns as public moments have them; the mean response, and that of an offset, from a release."""
    first = np.zeros(int(problem.intercept))
    center, scale = np.append(first, where.center), np.append(first + 1, where.scale)
    mean, offset, noise = 0.5, 0.0, 0.0
    if mu is not None:
        (middle, half), d = problem.boxes, len(problem.lower)
        means: Release = curator.release("column_means", mu, center=middle, half=half)
        found = middle + half * np.clip(means.values[0] / means.n, -1.0, 1.0)
        noise = means.sd / means.n
        mean = max(float(found[d]), float(half[d] * noise))
        offset = float(found[-1]) if len(found) > d + 1 else 0.0
    lower, upper = (
        np.append(first + 1, (end - where.center) / where.scale) for end in (problem.lower, problem.upper)
    )
    return Located(
        center,
        scale,
        np.zeros(problem.k),
        lower,
        upper,
        squares=np.ones(problem.k),
        rare=(),
        mean=mean,
        sd=math.sqrt(mean),
        offset=offset,
        noise=noise,
        prior=np.ones(problem.k),
        dim=np.zeros(problem.k, dtype=bool),
    )


def _score(problem: Problem, located: Located, phi: float, level: float) -> BoundedScore | None:
    """Bounds of a row from the mean response, for responses of dispersion phi.

    See docs/theory/pmt.md#generalised-linear-models.
    """
    family, top = problem.family, problem.response[1]
    if not family.unlimited:
        return None
    predictors = (-12.0, math.log(max(top, 1.0)) + 1.0)
    if family.free_dispersion:
        return BoundedScore(family, NEARLY_ALL * family.longer_tail, 1.0, 0.0, phi, predictors)
    limit, steepest = min(top, 2 + 3 * math.sqrt(located.mean)), min(top, 3 * located.mean + 1)
    excess = max(phi - 1, 0.0) / level
    return BoundedScore(family, limit, steepest, NEARLY_ALL, excess if excess > 1e-3 else 0.0, predictors)

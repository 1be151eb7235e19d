"""Beyond which the curvature of a row is cut, and the coordinates in which rows are at most 1 long.

See docs/theory/objective.md#the-penalty-taken-off.
"""

import math
from typing import NamedTuple, Self

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.engine.bounds import FREE, LENGTHS, of_weighting
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.matrices import SMALLEST, noise_edge, symmetric_power
from dpstats.estimators.newton.level_coefficients import level_moments, stretched_no_further
from dpstats.estimators.newton.located import Located, weighted_square
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.objective.tuning import Tuning
from dpstats.families import LOGISTIC_LOSS
from dpstats.formula.ball import UnitBall

# normal deviates of log odds, and how many rows have them
NODES = np.linspace(-6, 6, 121)
WEIGHTS = np.exp(-(NODES**2) / 2) / np.exp(-(NODES**2) / 2).sum()


class Cut(NamedTuple):
    """Beyond which the curvature of a row is cut, and what share of all curvature that leaves, about.

    Where log odds are all about those of a rare answer, no row has nearly as much curvature as even odds, and
    the noise of what is released falls with the most that a row may have.
    """

    steepest: float = LOGISTIC_LOSS.steepest
    kept: float = 1.0

    @classmethod
    def of(
        cls,
        problem: Problem,
        located: Located,
        line: np.ndarray,
        error: float,
        tuning: Tuning,
        more: float = 0.0,
    ) -> Self:
        """The nearest that keeps a share of the curvature of normal log odds, if noise is worth it.

        Parameters
        ----------
        problem, located, tuning
        line : array
            Coefficients of standardised columns.
        error : float
            Noise over the curvature, if nothing is cut; as much as is free is left.
        more : float
            By what sd log odds vary beside the line.
        """
        least = LOGISTIC_LOSS.steepest * FREE * tuning.resolved / error
        if not problem.intercept or any(problem.offset) or least >= LOGISTIC_LOSS.steepest:
            return cls()  # an offset varies as it may
        spread = math.hypot(more, float(np.linalg.norm(line[1:] * np.sqrt(located.squares[1:]))))
        _, curvature = LOGISTIC_LOSS.derivatives(line[0] + spread * NODES)
        steepest = np.maximum(curvature, least)
        whole = curvature @ WEIGHTS
        if whole == 0:
            return cls()  # noise took log odds to where no float is as small as their curvature
        kept = np.minimum(curvature, steepest[:, None]) @ WEIGHTS / whole
        best = int(np.where(kept >= tuning.kept * (1 - 1e-9), steepest, math.inf).argmin())  # rounding
        return cls(float(steepest[best]), float(kept[best]))


def unit_ball(curator: Curator, located: Located, problem: Problem, plan: Plan, tuning: Tuning) -> UnitBall:
    """Rows in the scales of the columns; those beyond a radius count less.

    The radius is that of least loss: noise of the minimum beyond `FREE` sampling sds, what weighting rows is
    taken to bias, and the error of the curvature, with which columns that are correlated are hidden.
    """
    n, k, level = curator.n, problem.k, level_of(located, problem, tuning)
    # both for a length of 1: they grow with its root, and with it
    tilt = 2 * math.sqrt(k + 1) / curator.cost_per_row((1 - tuning.slack) * plan.cost("minimum"))
    noise = tilt * math.sqrt(k / (level * n))
    error = noise_share(curator, _of_length(LENGTHS[0], located, problem), plan, level) / LENGTHS[0]
    start = start_of(located, problem)
    error *= Cut.of(problem, located, start, error, tuning, 1.0).steepest / LOGISTIC_LOSS.steepest

    def loss(length: float) -> float:
        tails = n * level * _bias_of_tails(located, k, length, tuning.of_lost) / k
        seen = max(error * length / tuning.resolved, FREE) ** 2
        return of_weighting(length, n * level) + tails + max(noise * math.sqrt(length), FREE) ** 2 + seen

    return _of_length(min(LENGTHS, key=loss), located, problem)


def noise_share(curator: Curator, ball: UnitBall, plan: Plan, level: float) -> float:
    """Noise of the curvature, as an operator, over its size, if that of no row is cut."""
    public = dict(ball.public(), loss=LOGISTIC_LOSS, params=np.zeros(ball.k))
    law, (sds,) = curator.noise("margin_curvature", plan.cost("matrices"), **public)
    return noise_edge(sds, law) * ball.radius**2 / (level * curator.n)


def level_of(located: Located, problem: Problem, tuning: Tuning) -> float:
    """Curvature of a row, about: where most responses are alike, it is far less than where odds are even."""
    least, family = min(located.noise, 0.5), problem.family
    mean = float(np.clip(located.mean, least, 1 - least))
    return tuning.level * located.usable * family.level_at(mean) / family.most_curved


def _bias_of_tails(located: Located, k: int, length: float, of_lost: float) -> float:
    """Squares of what weighting is taken to bias of coefficients of columns of sd 1, added up.

    A column loses the square of its long values with their weight. Where few rows hold much of it, that is
    more than of a normal column, of which `of_weighting` speaks.
    """
    kept = (
        weighted_square(*each, length * k, k - 1) / (each[0] @ each[1]) for each in located.tails.values()
    )
    return sum((of_lost * (1 - float(share))) ** 2 for share in kept)


def _of_length(length: float, located: Located, problem: Problem) -> UnitBall:
    """Rows whose square length is this times the number of columns count in full."""
    radius = math.sqrt(length * problem.k)
    reach, whitening = np.maximum(np.abs(located.lower), np.abs(located.upper)), None
    if problem.intercept and problem.categories:
        # rows of a reference level, which no column stretches, become as long as others
        moments = stretched_no_further(level_moments(problem, located), problem, located, radius)
        whitening = symmetric_power(moments, -0.5, SMALLEST)
        for own in problem.categories:
            rows = (np.eye(len(own) + 1)[:, 1:] - located.center[own]) / located.scale[own]
            reach[own] = np.abs(rows @ whitening[np.ix_(own, own)]).max(axis=0)
    return UnitBall(
        located.center,
        located.scale,
        np.maximum(reach / radius, 1e-9),
        radius,
        1.0,
        problem.intercept,
        whitening,
    )


def start_of(located: Located, problem: Problem) -> np.ndarray:
    """Where the minimum is sought, no farther out than noise leaves the mean response."""
    return located.start(problem, min(max(located.noise, 1e-4), 0.5))

"""Beyond which the curvature of a row is cut, see docs/theory/objective.md#the-penalty-taken-off."""

import math
from typing import NamedTuple, Self

import numpy as np

from dpstats.estimators.engine.bounds import FREE
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.objective.tuning import Tuning
from dpstats.families import LOGISTIC_LOSS

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

"""Do responses follow the line? Scores against its square."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.bends import Line, look, standardised
from dpstats.estimators.engine.finish import Estimate
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.families.bounded_score import BoundedScore

Array = np.ndarray
E = TypeVar("E", bound=Estimate)


@dataclass(frozen=True)
class Read:
    """How a fit has read its rows.

    Attributes
    ----------
    whitening : array, shape (k, k)
        Of standardised rows, symmetric, about.
    lost : float
        Share of the rows' weight that long rows, or rows of large means, have lost.
    score : BoundedScore, optional
        By default that of the family, unclipped.
    phi : float
        Dispersion of the responses.
    """

    whitening: Array
    lost: float
    score: BoundedScore | None = None
    phi: float = 1.0


def checked(curator: Curator, cost: float, problem: Problem, located: Located, read: Read, found: E) -> E:
    """A fit that tells by the caution "bends" if responses surely do, and counts what they may as error.

    Rows that are long, or of large means, count less than in the fit without privacy. Where the formula
    holds, both have one estimand; where responses bend, they differ by about the coefficient of the square.
    Without an intercept nothing is looked for, and where no row has lost weight it does not matter.
    """
    if not problem.intercept:
        return found
    forth = located.to_user(problem.intercept)
    back = np.linalg.inv(forth)
    line = Line(
        located.center,
        located.scale,
        back @ found.params,
        read.whitening,
        *standardised(back, found.cov, found.cov_privacy),
        located.offset,
        read.phi,
        read.lost,
    )
    bend = look(curator, cost, line, read.score or BoundedScore.unclipped(problem.family))
    if not read.lost:
        return found
    first = np.eye(problem.k)[0]
    moved = np.outer(first, first) + np.outer(line.slopes, line.slopes) / max(line.spread, 1e-9) ** 2
    return found.doubted(bend.square * forth @ moved @ forth.T, *("bends",) * bend.told)

"""Do responses follow the line? Scores against its square."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.bends import Line, look, standardised
from dpstats.estimators.newton.estimate import to_user
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.families.bounded_score import BoundedScore

Array = np.ndarray


class Found(Protocol):
    """Coefficients on the user's scale, with their covariance and its part due to privacy noise."""

    @property
    def params(self) -> Array: ...

    @property
    def cov(self) -> Array: ...

    @property
    def cov_privacy(self) -> Array: ...


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


def check_bends(
    curator: Curator, cost: float, problem: Problem, located: Located, read: Read, found: Found
) -> tuple[Array, tuple[str, ...]]:
    """Covariance of what a bend may have moved coefficients by, and the caution "bends" if it stands out.

    Rows that are long, or of large means, count less than in the fit without privacy. Where the formula
    holds, both have one estimand; where responses bend, they differ by about the coefficient of the square.
    Without an intercept nothing is looked for, and where no row has lost weight it does not matter.
    """
    if not problem.intercept:
        return np.zeros_like(found.cov), ()
    forth = to_user(problem, located)
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
    score = read.score or BoundedScore.unclipped(problem.family)
    bend = look(curator, cost, line, score)
    if not read.lost:
        return np.zeros_like(found.cov), ()
    first = np.eye(problem.k)[0]
    moved = np.outer(first, first) + np.outer(line.slopes, line.slopes) / max(line.spread, 1e-9) ** 2
    return bend.square * forth @ moved @ forth.T, ("bends",) * bend.told

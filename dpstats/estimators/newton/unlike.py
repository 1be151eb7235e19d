"""Levels whose amounts scatter more than others, of which clipping takes more than is put back.

See docs/theory/glm.md#levels-of-unlike-scatter.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
import scipy

from dpstats.estimators.newton.estimate import Averaged
from dpstats.estimators.newton.information import of_row
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.row_scale import SURE
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.quantiles import even_shares

# sds of the log of amounts that are tried, and of how many quantiles of a normal law
_TRIED, _QUANTILES = np.linspace(0.05, 3.0, 60), 4000


@dataclass(frozen=True)
class Group:
    """Rows of a level, or all others, whose amounts surely scatter more than those of the whole.

    Attributes
    ----------
    direction : array, shape (k,)
        What a change of their log mean by 1 makes of the user's coefficients.
    share : float
        Of the rows, by their information.
    square : float
        Mean square of their clipped scores.
    """

    direction: np.ndarray
    share: float
    square: float

    def lost(self, score: BoundedScore) -> float:
        """What clipping takes from the mean of a score, if amounts are log-normal and scatter so much."""
        scores = np.clip(_amounts() - 1, -score.limit, score.limit)
        squares, means = np.mean(scores**2, axis=1), np.mean(scores, axis=1)
        rising = slice(int(np.argmax(squares)) + 1)
        back = score.family.clipped_mean(np.zeros(1), np.array(score.limit), score.dispersion)
        return abs(float(np.interp(self.square, squares[rising], means[rising]) - back[0]))


@functools.cache
def _amounts() -> np.ndarray:
    """Log-normal amounts of mean 1, for each sd that is tried."""
    normal = scipy.special.ndtri(even_shares(_QUANTILES))
    return np.asarray(np.exp(_TRIED[:, None] * normal - _TRIED[:, None] ** 2 / 2))


def unlike(averaged: Averaged, problem: Problem, located: Located, limit: float, n: int) -> tuple[Group, ...]:
    """Groups whose clipped scores surely have a larger mean square than those of all rows.

    Squared scores and information of rows of 0/1 columns are the released matrices along the column, or along
    what is left of the constant. Long rows count less in both, and more so in the first: a rare level is not
    found before it scatters more still.
    """
    if not problem.intercept or problem.family.support[0] < 0:
        return ()
    forth, axes = located.to_user(True), np.eye(problem.k)
    turn = np.linalg.solve(averaged.whitening.T, np.linalg.inv(forth))
    whole, _, every = _square(averaged, turn[:, 0], limit, n)
    found = []
    for j in problem.levels:
        pairs = (axes[j], axes[j]), (axes[0] - axes[j], axes[0] - axes[j])
        for column, direction in pairs:
            square, sd, rows = _square(averaged, turn @ column, limit, n)
            if square - SURE * sd > whole:
                found.append(Group(direction, rows / every, square))
    return tuple(found)


def _square(averaged: Averaged, row: np.ndarray, limit: float, n: int) -> tuple[float, float, float]:
    """Mean square of the scores of rows of a 0/1 column, its sd by noise and sampling, and information."""
    length, (rows, rows_noise) = float(np.linalg.norm(row)), of_row(averaged.steps.information, row)
    square = float(row @ averaged.variability.mean(averaged.whitening) @ row) / rows
    noise = float(averaged.variability.sds(averaged.whitening, row[:, None] / length)[0]) * length**2
    sampling = math.sqrt(max(square, 0.0) / (n * rows)) * limit
    return square, math.hypot(noise / rows, square * rows_noise / rows, sampling), rows

"""Levels whose amounts scatter more than others, of which clipping takes more than is put back.

See docs/theory/glm.md#levels-of-unlike-scatter.
"""

import math

import numpy as np

from dpstats.estimators.newton.estimate import Averaged
from dpstats.estimators.newton.information import of_row
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.row_scale import SURE


def unlike(averaged: Averaged, problem: Problem, located: Located, limit: float, n: int) -> list[np.ndarray]:
    """Of groups of rows whose clipped scores surely have a larger mean square than those of all rows.

    What a mean score of all, 1 if these alone have any, makes of the user's coefficients. Groups are levels,
    and all rows but those of a level.
    Squared scores and information of rows of 0/1 columns are the released matrices along the column, or along
    what is left of the constant. Long rows count less in both, and more so in the first: a rare level is not
    found before it scatters more still.
    """
    if not problem.intercept or problem.family.support[0] < 0:
        return []
    forth, axes = located.to_user(True), np.eye(problem.k)
    turn = np.linalg.solve(averaged.whitening.T, np.linalg.inv(forth))
    whole, _, every = _square(averaged, turn[:, 0], limit, n)
    found = []
    for j in problem.levels:
        pairs = (axes[j], axes[j]), (axes[0] - axes[j], axes[0] - axes[j])
        for column, direction in pairs:
            square, sd, rows = _square(averaged, turn @ column, limit, n)
            if square - SURE * sd > whole:
                found.append(direction * every / rows)
    return found


def _square(averaged: Averaged, row: np.ndarray, limit: float, n: int) -> tuple[float, float, float]:
    """Mean square of the scores of rows of a 0/1 column, its sd by noise and sampling, and information."""
    length, (rows, rows_noise) = float(np.linalg.norm(row)), of_row(averaged.steps.information, row)
    square = float(row @ averaged.variability.mean(averaged.whitening) @ row) / rows
    noise = float(averaged.variability.sds(averaged.whitening, row[:, None] / length)[0]) * length**2
    sampling = math.sqrt(max(square, 0.0) / (n * rows)) * limit
    return square, math.hypot(noise / rows, square * rows_noise / rows, sampling), rows

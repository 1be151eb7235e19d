"""Levels whose amounts scatter more than others, of which clipping takes more than is put back.

See docs/theory/glm.md#levels-of-unlike-scatter.
"""

import math
from dataclasses import replace

import numpy as np

from dpstats.estimators.newton.dispersion import SeenScatter, overdispersion
from dpstats.estimators.newton.estimate import Averaged
from dpstats.estimators.newton.information import of_row
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.row_scale import SURE
from dpstats.families.bounded_score import BoundedScore


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
    turn = _turn(averaged, located)
    whole, _, every = _square(averaged, turn[:, 0], limit, n)
    found = []
    for group in _groups(problem):
        square, sd, rows = _square(averaged, turn @ group, limit, n)
        if square - SURE * sd > whole:
            found.append(group * every / rows)
    return found


def uneven_levels(
    averaged: Averaged, problem: Problem, located: Located, score: BoundedScore | None, n: int
) -> list[np.ndarray]:
    """What clipping moves the user's coefficients by, of groups whose counts surely scatter more than all.

    Groups as of `unlike`. What is put back for clipping is that of the law of all counts. That of a group has
    the mean square of its scores.
    """
    if score is None or not (problem.intercept and problem.family.counts):
        return []
    turn, shares = _turn(averaged, located), np.append(1.0, located.center[1:])
    found = []
    for group in _groups(problem):
        square, sd, rows = _square(averaged, turn @ group, score.limit, n)
        curvature = rows / (max(float(group @ shares), located.noise) * located.usable)
        lowest = SeenScatter(square - SURE * sd, 0.0, 0.0, curvature, n * rows)
        if overdispersion(lowest, score).value > 1:
            phi = overdispersion(replace(lowest, ratio=square), score).value
            eta = math.log(score.family.mean_at(curvature, score.predictors))
            found.append(group * score.put_back((phi - 1) / curvature, eta) / curvature)
    return found


def _turn(averaged: Averaged, located: Located) -> np.ndarray:
    """What takes 0/1 columns of the user's to whitened rows."""
    return np.asarray(np.linalg.solve(averaged.whitening.T, np.linalg.inv(located.to_user(True))))


def _groups(problem: Problem) -> list[np.ndarray]:
    """Of each level the column that tells its rows, and one that tells all others."""
    axes = np.eye(problem.k)
    return [group for j in problem.levels for group in (axes[j], axes[0] - axes[j])]


def _square(averaged: Averaged, row: np.ndarray, limit: float, n: int) -> tuple[float, float, float]:
    """Mean square of the scores of rows of a 0/1 column, its sd by noise and sampling, and information."""
    length, (rows, rows_noise) = float(np.linalg.norm(row)), of_row(averaged.steps.information, row)
    square = float(row @ averaged.variability.mean(averaged.whitening) @ row) / rows
    noise = float(averaged.variability.sds(averaged.whitening, row[:, None] / length)[0]) * length**2
    sampling = math.sqrt(max(square, 0.0) / (n * rows)) * limit
    return square, math.hypot(noise / rows, square * rows_noise / rows, sampling), rows

"""Averaged steps from scattered points: what the curvature of scores would leave of their scatter."""

import numpy as np
import pytest

from dpstats.estimators.newton.estimate import Averaged, _bent
from dpstats.estimators.newton.information import Accumulator, usable

STRAIGHT, CURVED = np.diag([1.0, 0.5]), np.array([0.3, 0.2])


def averaged(points: np.ndarray) -> Averaged:
    """Scores -A x - x^2 b / 2 of each column, with information A + b x; the root is at 0."""
    scores = -(points @ STRAIGHT + points**2 * CURVED / 2)
    matrices = np.array([STRAIGHT + np.diag(CURVED * point) for point in points])
    releases = Accumulator()
    for matrix in matrices:
        releases.add(matrix, 1e-9, np.eye(2))
    return Averaged(
        points, scores, matrices, 1e-9, usable(releases, np.eye(2), 1.0), np.eye(2), Accumulator(), False,
        np.zeros(2),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_scatter_of_points_leaves_a_bias_of_third_order(seed: int) -> None:
    points = 0.2 * np.random.default_rng(seed).normal(size=(8, 2))
    found = averaged(points)
    step = found.information.solve(found.scores.mean(axis=0))
    straight = points.mean(axis=0) + step
    bent = straight + found.information.solve(_bent(found, step))
    assert np.linalg.norm(bent) < 0.3 * np.linalg.norm(straight)


def test_nothing_bends_where_information_is_the_same_everywhere() -> None:
    found = averaged(0.2 * np.random.default_rng(3).normal(size=(8, 2)))
    found.matrices[:] = STRAIGHT
    assert _bent(found, np.ones(2)) == pytest.approx(np.zeros(2))

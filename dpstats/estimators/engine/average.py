"""Whether steps that are averaged have settled."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def scatter(
    points: Array, scores: Array, noise: Array | float, matrix: Array, axes: Array
) -> tuple[Array, float]:
    """Scores about the line that the points predict, and their mean square over that of noise, at least 1.

    Parameters
    ----------
    points, scores : array, shape (T, k)
    noise : float or array, shape (k,)
        sds of the noise of scores.
    matrix : array, shape (k, k)
        Information.
    axes : array, shape (k, k)
        From whitened steps, in whose coordinates scores are, to changes of a point.
    """
    moves = (points - points.mean(axis=0)) @ np.linalg.inv(axes).T
    rest, steps = scores - scores.mean(axis=0) + moves @ matrix, len(scores)
    return rest, max(float(np.mean((rest / noise) ** 2)) * steps / (steps - 1), 1.0)

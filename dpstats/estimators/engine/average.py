"""Steps that are averaged, and whether they have settled."""

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from dpstats.estimators.bends import DOUBTFUL
from dpstats.estimators.engine.information import Information, step_covariances

# scatter of scores, in variances of their noise, beyond which they do not follow a line; and the share of the
# sampling variance that this must make up, to matter
SCATTER, MATTERS = 2.0, 0.1
# a mean step, in sds of the linear predictor, that counts as error even if noise explains it: curvature may
# change by half on its way
LONG = 0.5
# square of the mean score that noise leaves, where the iteration has arrived, in variances of each: times
# their number, and sds of it beyond
_LEFT, _BEYOND = 3.0, 10.0


class Steps(NamedTuple):
    """Steps that count alike.

    Attributes
    ----------
    points, scores, noise : array, shape (T, m)
        Where the scores were read, and the sds of their noise.
    capped : array of bool, shape (T,)
        Whether each was cut short.
    information : Information
        Of all of them.
    """

    points: np.ndarray
    scores: np.ndarray
    noise: np.ndarray
    capped: np.ndarray
    information: Information

    def after(self, left: int) -> "Steps":
        """Without so many of the first."""
        points, scores, noise, capped = (each[left:] for each in self[:4])
        return Steps(points, scores, noise, capped, self.information)

    @property
    def rms(self) -> np.ndarray:
        """Root mean squares of the noise sds, (m,)."""
        return np.asarray(np.sqrt(np.mean(self.noise**2, axis=0)))

    @property
    def step(self) -> np.ndarray:
        """Newton's, by the mean score, (m,)."""
        return self.information.solve(self.scores.mean(axis=0))


def scatter(
    points: np.ndarray, scores: np.ndarray, noise: np.ndarray | float, matrix: np.ndarray, axes: np.ndarray
) -> tuple[np.ndarray, float]:
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


def averaged_covariances(
    steps: Steps, axes: np.ndarray, per_row: np.ndarray, n: int, own: slice = slice(None)
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Covariances of a Newton step from the mean point, in its coordinates, and whether the steps still move.

    Scatter beyond noise matters where the noise does, and a drift where it is not over soon.

    Parameters
    ----------
    steps : Steps
    axes : array, shape (k, k)
        As of :func:`scatter`.
    per_row : array, shape (k, k)
        n times the covariance by sampling, were the information known.
    n : int
        Number of rows.
    own : slice
        Numbers of a step whose length and scatter matter.

    Returns
    -------
    sampling, privacy : array, shape (k, k)
        The second by noise, scatter beyond it, and drift.
    unsettled : bool
    """
    information, rms, count, step = steps.information, steps.rms, len(steps.points), steps.step
    noise, sampling, privacy = step_covariances(information, information.inverse, rms**2 / count, per_row / n)
    _, spread = scatter(steps.points, steps.scores, rms, information.matrix, axes)
    drift, long = drifts(steps.scores, rms), bool(np.linalg.norm(step[own]) > LONG)
    privacy = privacy * spread + (drift or long) * np.outer(step, step)
    scatters = scattered(spread, (count - 1) * len(step))
    scatters &= np.trace(noise[own, own]) * (spread - 1) > MATTERS * np.trace(sampling[own, own])
    return sampling, privacy, bool(scatters or (drift and long))


def scattered(spread: float, numbers: int) -> bool:
    """Whether scores scatter beyond what noise and chance make of so many numbers."""
    return spread > max(SCATTER, float(special.chdtri(numbers, DOUBTFUL)) / numbers)


def drifts(scores: np.ndarray, noise: np.ndarray | float) -> bool:
    """Whether the mean score is further from zero than noise leaves it where the iteration has arrived.

    Parameters as of :func:`scatter`.
    """
    squares, k = (scores.mean(axis=0) / noise) ** 2 * len(scores), scores.shape[1]
    return far(float(squares.sum()), k)


def far(square: float, k: int) -> bool:
    """The same of the square of a mean score of k numbers, in variances of its noise."""
    return square > _LEFT * k + _BEYOND * math.sqrt(2 * k)

"""How failures come with time where noise hides in which cells they are: as a power of time.

A line in the logarithms of time and of the cumulative hazard is what lives of a Weibull law have. Its slope
is one number for all cells and strata, which noisy counts tell long before they tell cells apart. See
docs/theory/coxph.md#the-shape-of-the-clock.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpstats.estimators.hazards.problem import Problem
from dpstats.estimators.row_scale import SURE

# sd of the logarithm of the shape before anything is known: 19 of 20 are between 1/4 and 4
_BEFORE = 0.7
_STEP = 0.1  # of logarithms of shapes
_SHAPES = np.exp(np.arange(-3 * _BEFORE, 3 * _BEFORE + _STEP, _STEP))
_PRIOR = -((np.log(_SHAPES) / _BEFORE) ** 2) / 2
_SCALES = 40  # of Weibull laws of the rows that leave


@dataclass(frozen=True)
class ClockShape:
    """What a clock gains in cells if it is a power of time.

    Attributes
    ----------
    gains : array, shape (m,)
        Of each cell, up to a factor for each stratum.
    error : array, shape (m,)
        By what the logarithm of `gains` changes with one sd of what is not known of the shape.
    """

    gains: np.ndarray
    error: np.ndarray


def find_shape(problem: Problem, counts: np.ndarray, at_risk: np.ndarray, sd: float) -> ClockShape:
    """The shape of all strata by noisy failures, and about how many rows are at risk, in cells.

    Parameters
    ----------
    problem : Problem
    counts, at_risk : array, shape (m,)
    sd : float
        Of the noise of each count.
    """
    gains = gained(problem, _SHAPES)
    logs = np.log(np.tile(np.maximum(gains, np.finfo(float).tiny), problem.strata))
    expected = _as_many(np.exp(logs) * at_risk, counts, problem.strata)
    likely = special.softmax(_likely(counts, expected, sd**2) + _PRIOR)
    apart = np.log(_SHAPES) - likely @ np.log(_SHAPES)
    spread = max(math.sqrt(likely @ apart**2), _STEP)
    return ClockShape(np.exp(likely @ logs), (likely * apart) @ logs / spread)


def gained(problem: Problem, shapes: np.ndarray) -> np.ndarray:
    """What time to the power of these shapes gains in each cell of a stratum, shape (shapes, F).

    Before a lower bound of 0 no time passes: that cell gains as much as the next one.
    """
    gains = np.diff(_times(problem) ** shapes[:, None])
    if problem.edges[0] < 0:
        gains[:, 0] = gains[:, 1]
    return np.asarray(gains)


def smoothed(problem: Problem, counts: np.ndarray, variance: float) -> tuple[np.ndarray, np.ndarray]:
    """Noisy counts in cells, drawn towards those of a Weibull law of each stratum where noise explains more.

    Also variances of errors of the sums of each count and of those after it in its stratum: of the law and of
    how many counts there are, of noise that is left, and of what the law may lack where it is followed, which
    is what noise does not explain.

    Parameters
    ----------
    problem : Problem
    counts : array, shape (m,)
    variance : float
        Of the noise of each.
    """
    times, strata = _times(problem), problem.strata
    scales = np.geomspace(times[times > 0][0], 2.0, _SCALES)
    shares = np.diff(-np.expm1(-((times / scales[:, None, None]) ** _SHAPES[:, None])))
    found, errors = [], []
    waves = _waves(len(times) - 1)
    for own in np.split(counts, strata):
        expected = _as_many(shares.reshape(-1, len(own)), own, 1)
        likely = special.softmax(_likely(own, expected, variance) + np.tile(_PRIOR, _SCALES))
        middle, number = likely @ expected, max(float(own.sum()), 1.0)
        sums = until_the_end(expected)
        of_law = likely @ sums**2 * (1 + len(own) * variance / number**2) - (likely @ sums) ** 2
        parts = waves @ (own - middle)
        sure = np.maximum(1 - SURE**2 * variance / np.maximum(parts**2, 1e-300), 0.0)
        found.append(middle + waves.T @ (sure * parts))
        left = sure**2 * variance + (1 - sure) ** 2 * np.maximum(parts**2 - variance, 0.0)
        errors.append(np.maximum(of_law, 0.0) + left @ until_the_end(waves) ** 2)
    return np.concatenate(found), np.concatenate(errors)


def until_the_end(rows: np.ndarray) -> np.ndarray:
    """Sums of each number and of those after it in its row."""
    return np.asarray(np.cumsum(rows[:, ::-1], axis=1)[:, ::-1])


def _times(problem: Problem) -> np.ndarray:
    """Ends of the cells of a stratum, in shares of its length, and its beginning."""
    times = problem.edges[: (len(problem.edges) - 1) // problem.strata + 1] - max(problem.edges[0], 0.0)
    return np.asarray(np.maximum(times / times[-1], 0.0))


def _as_many(expected: np.ndarray, counts: np.ndarray, strata: int) -> np.ndarray:
    """Numbers in proportion to those of each row that add up to the counts of each stratum."""
    each = expected.reshape(len(expected), strata, -1)
    sums = np.maximum(counts.reshape(strata, -1).sum(axis=1), 1.0)
    each = each * (sums / np.maximum(each.sum(axis=2), 1e-300))[:, :, None]
    return np.asarray(each.reshape(expected.shape))


def _likely(counts: np.ndarray, expected: np.ndarray, variance: float) -> np.ndarray:
    """Log-likelihood of noisy counts, which have the variance of Poisson ones and of their noise."""
    variances = variance + np.maximum(expected, 1e-6)
    return np.asarray(-np.sum((counts - expected) ** 2 / variances + np.log(variances), axis=1) / 2)


@functools.cache
def _waves(count: int) -> np.ndarray:
    """The wavelets of Haar, orthonormal, on so many cells, shape (m, count)."""
    waves = np.ones((1, 1))
    while len(waves) < count:
        waves = np.vstack([np.kron(waves, [1, 1]), np.kron(np.eye(len(waves)), [1, -1])]) / math.sqrt(2)
    return waves[:, :count]

"""Intercept and log sigma, the slopes held: two numbers, which noise hides far less than all coefficients.

They are the scores of :class:`~dpstats.curator.statistics.martingale.MartingaleScore` of rows that hold
nothing but a 1; of a known scale, the first alone. Far from the root the scores saturate and a Newton step is
of little use, so a step solves for the shift and the scale of the residuals at which the scores would be
expected, those of typical rows.
See docs/theory/survival.md#slopes-by-the-signs-of-residuals.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.location_scale.bounds import Bounding, Choice
from dpstats.estimators.location_scale.placement import Placement
from dpstats.estimators.location_scale.problem import LARGEST_LOG_SIGMA
from dpstats.estimators.location_scale.route import release_scores
from dpstats.estimators.location_scale.sign_tuning import TUNING
from dpstats.estimators.matrices import by_precision
from dpstats.families.martingale import scores
from dpstats.families.quantiles import MOST_FAILED, even_shares
from dpstats.families.score_bounds import Truncation

# typical rows; steps of the solver, and of its numerical derivative
_ROWS, _ITERATIONS, _CHANGE = 60, 8, 1e-4
# of a step; of rare events there is another root at a log sigma that is 1.5 larger
_LOWEST, _HIGHEST = np.array([-2.5, -1.5]), np.array([2.5, 1.0])


@dataclass(frozen=True)
class LevelRelease:
    """One release: scores per row of intercept and log sigma, their noise, the information; where.

    Of a known scale, those of the intercept.
    """

    scores: np.ndarray
    noise: np.ndarray
    information: np.ndarray
    where: Truncation
    pivot: float

    @property
    def error(self) -> np.ndarray:
        """sds of what noise does to a step of each alone."""
        return self.noise / np.diag(self.information)


def release_level(
    curator: Curator, mu: float, bounding: Bounding[Placement], choice: Choice, point: np.ndarray
) -> LevelRelease:
    """Release both scores and their information at these values."""
    first = np.eye(1, len(point) - 1)
    read = release_scores(curator, mu, bounding, replace(choice, radius=1.0), first, point)
    information = _information(read.matrix, read.matrix_sd, bounding, read.where)
    return LevelRelease(read.scores, read.noise, information, read.where, float(read.pivot[0]))


def _information(
    seen: np.ndarray, sd: np.ndarray, bounding: Bounding[Placement], where: Truncation
) -> np.ndarray:
    """Released and expected one, by precision, no eigenvalue far below what is expected."""
    usual = bounding.placement.expected
    guess = usual.fraction * usual.watched().left(where.cut).matrix
    guess = guess[: len(seen), : len(seen)]
    size = np.sqrt(np.diag(guess))
    guess_sd = TUNING.level_structure * np.outer(size, size)
    mean = by_precision(seen, sd, guess, guess_sd)
    values, vectors = np.linalg.eigh(mean / np.outer(size, size))
    return (vectors * np.maximum(values, TUNING.least_level)) @ vectors.T * np.outer(size, size)


def solved(level: LevelRelease, fraction: float, prior: np.ndarray | float) -> tuple[float, float]:
    """Shift of the location, in sigmas, and change of log sigma.

    Parameters
    ----------
    level : LevelRelease
    fraction : float
        Event fraction: rows are taken to be watched to the hazard by which it has failed.
    prior : float or array, shape (2,)
        sds of both, which shrink what noise may have made; none if infinite.
    """
    m = len(level.scores)
    point, scale = np.zeros(2), np.append(level.noise, np.broadcast_to(prior, 2)[:m])
    target, free = np.append(level.scores, np.zeros(m)), np.eye(2)[:m]
    typical = _Typical(level, fraction)
    for _ in range(_ITERATIONS):
        here, *beside = typical.scores(np.vstack([point, point + _CHANGE * free]))[:, :m]
        slope = np.vstack([np.column_stack([other - here for other in beside]) / _CHANGE, np.eye(m)])
        rest = (target - np.append(here, point[:m])) / scale
        step = np.linalg.lstsq(slope / scale[:, None], rest, rcond=None)[0] @ free
        point = np.clip(point + np.clip(step, -LARGEST_LOG_SIGMA, LARGEST_LOG_SIGMA), _LOWEST, _HIGHEST)
    return float(point[0]), float(point[1])


class _Typical:
    """Typical rows, of which so many fail: those that do, evenly, and one that does not, for all others."""

    def __init__(self, level: LevelRelease, fraction: float) -> None:
        self._where = level.where
        f = min(fraction, MOST_FAILED)
        failed = f * even_shares(_ROWS)
        self._quantiles = self._where.family.quantile(np.append(failed, f))
        self._weights = np.append(np.full(_ROWS, f / _ROWS), 1 - f)
        self._event = np.append(np.ones(_ROWS), 0.0)
        self._pivot = np.clip(level.pivot, *self._where.pivots)

    def scores(self, points: np.ndarray) -> np.ndarray:
        """Mean scores where residuals are shifted, and spread; shape (points, 2)."""
        z = points[:, :1] + np.exp(points[:, 1:]) * self._quantiles
        event = np.tile(self._event, len(points))
        pivot = np.full(z.size, self._pivot)
        found = scores(self._where.cut, z.ravel(), event, pivot, self._where.limits)
        return np.column_stack([score.reshape(z.shape) @ self._weights for score in (found.psi, found.chi)])

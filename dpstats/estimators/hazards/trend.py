"""A check of a fit of hazards: do covariates act alike early and late?

Scores against the share of rows alike that have failed, docs/theory/coxph.md#proportional-hazards.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from dpstats.curator import Curator
from dpstats.estimators.bends import DOUBTFUL
from dpstats.estimators.engine.information import Information
from dpstats.estimators.hazards.bounds import Bounds, watched
from dpstats.estimators.hazards.estimate import HazardEstimate, to_user
from dpstats.estimators.hazards.failing import Failing, Law
from dpstats.estimators.hazards.grid import Grid
from dpstats.estimators.matrices import SMALLEST
from dpstats.estimators.row_scale import RowScale
from dpstats.moments.baseline import Trend
from dpstats.moments.roots import chi_square


@dataclass(frozen=True)
class Change:
    """What failures tell of effects that change with g, the share of rows alike that have failed.

    The mean of g is taken off it, and u is a covariate of mean square 1: any one that hazards do not go
    with, or the linear predictor.

    Attributes
    ----------
    middle : float
        Mean share of rows alike that have failed.
    square : float
        Mean of g^2 u^2, by which a change of the effect of any u is known.
    along : float
        That of the linear predictor, less what its own effect and log hazards of pieces explain.
    response : array, shape (J + 1,)
        Sums of g u on pieces and of g u^2, of the linear predictor, over failures.
    clock : array, shape (m,)
        By what its mean of g u moves where the clock is wrong by a factor in one cell.
    """

    middle: float
    square: float
    along: float
    response: np.ndarray
    clock: np.ndarray

    @classmethod
    def of(cls, failing: Failing, pieces: np.ndarray) -> "Change":
        failed, cells = -np.expm1(-failing.spent), np.arange(len(pieces))
        middle = min(max(failing.mean(failed), SMALLEST), 1 - SMALLEST)
        u, g = failing.values / max(failing.mean(failing.values**2), SMALLEST) ** 0.5, failed - middle
        number, first, second = (failing.sums(each, pieces) for each in (1.0, u, g * u))
        means = np.array([first, second]) / np.maximum(number, 1e-300)
        products = np.array([[failing.mean(u**2), failing.mean(g * u**2)], [0.0, failing.mean((g * u) ** 2)]])
        (own, both), (_, change) = products - means @ np.transpose([first, second])
        clock = failing.sums(g * u, cells) - failing.sums(1.0, cells) * means[1][pieces]
        along = (change - both**2 / own) / own if own > 0 else 0.0
        return cls(middle, failing.mean(g**2), along, np.append(second, products[0, 1]), clock)


def checked(
    curator: Curator,
    cost: float,
    seen: tuple[Information, np.ndarray],
    parts: tuple[RowScale, Grid, Bounds],
    law: Law,
    found: HazardEstimate,
    open_ended: np.ndarray,
) -> HazardEstimate:
    """A fit with what its coefficients change by, and the caution "changing" if they surely do.

    Parameters
    ----------
    curator : Curator
    cost : float
    seen : tuple of Information and array
        And the axes in whose coordinates it is.
    parts : tuple of RowScale, Grid and Bounds
    law : tuple of array
        Of linear predictors.
    found : HazardEstimate
    open_ended : array, shape (J + d, J + d)
        Covariance of log hazards and coefficients by lines that may be anywhere.
    """
    (scale, grid, bounds), (information, axes) = parts, seen
    j, d = grid.count, len(found.params)
    back = np.linalg.inv(to_user(scale, j))
    point = back @ np.append(found.baseline.log_hazards, found.params)
    whitening, matrix = axes[j:, j:], information.matrix
    told = Change.of(Failing.before(bounds.c, grid, point[:j], law), grid.pieces)
    release = curator.release(
        "hazard_trend",
        cost,
        **watched(*parts, point),
        whitening=whitening,
        radius=bounds.radius,
        middle=told.middle,
    )
    if not min(told.square, told.along) > SMALLEST:
        return found
    slopes = np.linalg.solve(whitening, point[j:])
    ray = slopes / max(float(np.linalg.norm(slopes)), SMALLEST)
    level, across = matrix[0, 0], np.outer(ray, ray)
    own = matrix[j:, j:] - matrix[j:, :j] @ np.linalg.solve(matrix[:j, :j], matrix[:j, j:])
    turn = np.eye(d) * np.sqrt(told.square) + across * (np.sqrt(told.along) - np.sqrt(told.square))
    inverse = np.linalg.inv(turn @ own @ turn)
    user = whitening / scale.scale[:, None]
    change = user @ inverse @ (release.values[0] / release.n)
    # of log hazards and of slopes that noise has moved, and of a wrong clock, scores along the ray move
    *of_pieces, of_slope = level * told.response
    moved = np.append(of_pieces, of_slope * np.linalg.solve(whitening, ray)) @ back
    within = grid.within_by(told.clock, point[:j])
    clock = level * math.hypot(within, grid.unknown(told.clock), grid.clock_error(told.clock))
    noise = (release.sd / release.n) ** 2 * np.eye(d)
    noise += across * (moved @ (found.baseline.cov_privacy + open_ended) @ moved + clock**2)
    cov = user @ (inverse / release.n + inverse @ noise @ inverse) @ user.T
    # a variance that noise makes negative tells nothing of its change
    known = np.isfinite(np.diag(found.cov)) & (np.diag(cov) > 0)
    if not known.any():
        return found
    trend_of = Trend(change, np.where(np.outer(known, known), cov, 0.0))
    statistic, directions = chi_square(change[known], trend_of.rooted[known])
    changes = special.chdtrc(directions, statistic) < DOUBTFUL
    return replace(found, trend=trend_of).doubted(0.0, *("changing",) * bool(changes))

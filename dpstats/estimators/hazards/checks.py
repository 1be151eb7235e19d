"""Checks of a fit of hazards: do they follow the line, and do covariates act alike early and late?

Scores against the square of the line, docs/theory/survival.md#whether-times-bend, and against the share of
rows alike that have failed, docs/theory/coxph.md#proportional-hazards.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from dpstats._codes import CHANGING
from dpstats.curator import Curator
from dpstats.estimators.bends import DOUBTFUL, standardised
from dpstats.estimators.bent_times import Asked, Bent, Costs, FarLook, SquareLook, WeightedRows, found_by
from dpstats.estimators.engine.finish import to_user
from dpstats.estimators.engine.information import Information
from dpstats.estimators.hazards.bounds import Bounds, watched
from dpstats.estimators.hazards.estimate import HazardEstimate
from dpstats.estimators.hazards.failing import Failing, Law
from dpstats.estimators.hazards.grid import Grid
from dpstats.estimators.matrices import SMALLEST
from dpstats.estimators.one_bend import MeanScore
from dpstats.estimators.paired import with_pairs
from dpstats.estimators.row_scale import RowScale
from dpstats.moments.baseline import Trend
from dpstats.moments.roots import chi_square

_LEAST = 1.0  # cumulative hazard to which rows far out are watched: whatever it is, noise is no less


def bends(
    curator: Curator,
    costs: Costs,
    whitening: np.ndarray,
    parts: tuple[RowScale, Grid, Bounds],
    found: HazardEstimate,
) -> Bent:
    """What bends of log hazards move log hazards of pieces and coefficients by, in the user's units.

    The level, which has no coefficient, is the mean log hazard of the failures.

    Parameters
    ----------
    curator : Curator
    costs : Costs
        Of the look for bends, and of that at rows far out, if there is one.
    whitening : array, shape (d, d)
    parts : tuple of RowScale, Grid and Bounds
    found : HazardEstimate
    """
    (scale, grid, bounds), baseline, d = parts, found.baseline, len(found.params)
    j, forth = grid.count, to_user(scale.center, scale.scale, grid.count)
    back = np.linalg.inv(forth)
    point = back @ np.append(baseline.log_hazards, found.params)
    level = np.zeros((d + 1, j + d))
    level[0, :j], level[1:, j:] = grid.shares, np.eye(d)
    moments = np.eye(d + 1)
    moments[1:, 1:] = np.linalg.matrix_power(np.linalg.inv(whitening), 2)
    way, lost = level @ back, np.isinf(np.diag(found.cov)).any()
    cov, privacy = standardised(way, baseline.cov, baseline.cov_privacy)
    kept = 1 - grid.lost(bounds.c, float(np.linalg.norm(np.linalg.solve(whitening, point[j:]))))
    covs = np.full_like(cov, np.inf) if lost else cov, privacy
    failed = min(float(grid.events.sum()) / curator.n, 1.0)
    heard, whole, near = map(MeanScore.of_hazards, (bounds.c, math.inf, _LEAST))
    rows = WeightedRows(level @ point, moments, covs, scale, curator.n, failed, kept, bounds.radius)
    look = SquareLook.along(rows, (heard, whole, heard)).or_line()
    asked = [Asked(look, costs.bend, watched(*parts, point), bounds.c)]
    if costs.far:
        beside, least = FarLook.along(rows, (heard, whole, near)), replace(bounds, c=_LEAST)
        asked += with_pairs(Asked(beside, costs.far, watched(scale, grid, least, point), _LEAST), costs.pure)
    bent = attenuated(found_by(curator, "hazard_bend", asked, lead=1), rows.beta, heard.family.sd)
    # log hazards of all pieces move with the level of rows in the middle of the columns
    onto = forth @ np.vstack([np.eye(1, d + 1).repeat(j, axis=0), np.eye(d, d + 1, 1)])
    return Bent(onto @ bent.shift, onto @ bent.cov @ onto.T, bent.told)


def attenuated(bent: Bent, beta: np.ndarray, sd: float) -> Bent:
    """With what other slopes lose where log hazards of rows lie off the line of all rows.

    They are smaller by the share of what lies off it in the variance of log lives, whose own sd is `sd`, if
    all rows fail and the fit has heard nothing of it, and as large if it has heard all: half of that, give or
    take as much.
    """
    lost = bent.spread / (bent.spread + sd**2) / 2 * beta
    lost[[0, *bent.told]] = 0.0
    return bent._replace(shift=bent.shift - lost, cov=bent.cov + np.outer(lost, lost))


def straightened(found: HazardEstimate, bent: Bent, open_ended: np.ndarray) -> HazardEstimate:
    """A fit that tells by the caution "bends" if log hazards surely do, and counts what they may as error.

    And the covariance of log hazards and coefficients by lines that may be anywhere, of which no check tells.
    """
    if not np.isfinite(np.vstack([bent.shift, bent.cov])).all():  # noise left numbers that floats do not hold
        return found.hopeless()
    baseline, j = found.baseline, len(found.baseline.log_hazards)
    cov, privacy = baseline.cov + bent.cov + open_ended, baseline.cov_privacy + open_ended
    log_hazards, params = np.split(np.append(baseline.log_hazards, found.params) + bent.shift, [j])
    baseline = replace(baseline, log_hazards=log_hazards, cov=cov, cov_privacy=privacy)
    cov, privacy = (each + open_ended[j:, j:] for each in (found.cov, found.cov_privacy))
    found = replace(found, params=params, cov=cov, cov_privacy=privacy, baseline=baseline)
    return found.doubted(bent.cov[j:, j:], *bent.problems(lead=1))


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
    back = np.linalg.inv(to_user(scale.center, scale.scale, j))
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
    return replace(found, trend=trend_of).saying(*(CHANGING,) * bool(changes))

"""Checks of a fit of hazards: do they follow the line, and do covariates act alike early and late?

Scores against the square of the line, docs/theory/survival.md#whether-times-bend, and against the share of
the failures that have happened, docs/theory/coxph.md#proportional-hazards.
"""

from dataclasses import replace

import numpy as np
from scipy import special

from dpstats.curator import Curator
from dpstats.estimators.bends import DOUBTFUL, ReleasedLine, standardised
from dpstats.estimators.bent_times import Bent, Look
from dpstats.estimators.engine.information import Information
from dpstats.estimators.hazards.bounds import Bounds, watched
from dpstats.estimators.hazards.estimate import HazardEstimate, to_user
from dpstats.estimators.hazards.grid import Grid, middles
from dpstats.estimators.row_scale import RowScale
from dpstats.moments.baseline import Trend
from dpstats.moments.roots import chi_square

_ZONES = 8  # of time, with as many failures each: a straight line has no use for more


def bends(
    curator: Curator,
    cost: float,
    whitening: np.ndarray,
    parts: tuple[RowScale, Grid, Bounds],
    found: HazardEstimate,
) -> Bent:
    """What bends of log hazards move log hazards of pieces and coefficients by, in the user's units.

    The level, which has no coefficient, is the mean log hazard of the failures.

    Parameters
    ----------
    curator : Curator
    cost : float
    whitening : array, shape (d, d)
    parts : tuple of RowScale, Grid and Bounds
    found : HazardEstimate
    """
    (scale, grid, bounds), baseline, d = parts, found.baseline, len(found.params)
    j = grid.count
    back = np.linalg.inv(to_user(scale, j))
    point = back @ np.append(baseline.log_hazards, found.params)
    level = np.zeros((d + 1, j + d))
    level[0, :j], level[1:, j:] = grid.shares, np.eye(d)
    moments = np.eye(d + 1)
    moments[1:, 1:] = np.linalg.matrix_power(np.linalg.inv(whitening), 2)
    way, lost = level @ back, np.isinf(np.diag(found.cov)).any()
    cov, cov_privacy = standardised(way, baseline.cov, baseline.cov_privacy)
    kept = 1 - grid.lost(bounds.c, float(np.linalg.norm(np.linalg.solve(whitening, point[j:]))))
    line = ReleasedLine(
        np.append(0.0, scale.center),
        np.append(1.0, scale.scale),
        level @ point,
        moments,
        np.full_like(cov, np.inf) if lost else cov,
        cov_privacy,
        None,
        1.0,
        1 - kept * (1 - scale.lost_along(point[j:], bounds.radius**2)),
        np.zeros(d + 1),
    )
    look = Look.along(line, scale, kept * float(grid.events.sum()), bounds.radius)
    curves = look.public()
    curves["ways"] = curves["ways"][:, 1:]
    release = curator.release("hazard_bend", cost, **watched(*parts, point), curves=curves)
    bent = look.judged(release, bounds.c)
    # log hazards of all pieces move with the level of rows in the middle of the columns
    onto = to_user(scale, j) @ np.vstack([np.eye(1, d + 1).repeat(j, axis=0), np.eye(d, d + 1, 1)])
    return Bent(onto @ bent.shift, onto @ bent.cov @ onto.T, bent.told)


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
    told = (f"bends:{column - 1}" if column else "bends" for column in bent.told)
    return found.doubted(bent.cov[j:, j:], *told)


def checked(
    curator: Curator,
    cost: float,
    seen: tuple[Information, np.ndarray],
    parts: tuple[RowScale, Grid, Bounds],
    found: HazardEstimate,
) -> HazardEstimate:
    """A fit with what its coefficients change by, and the caution "changing" if they surely do.

    Parameters
    ----------
    curator : Curator
    cost : float
    seen : tuple of Information and array
        And the axes in whose coordinates it is.
    parts : tuple of RowScale, Grid and Bounds
    found : HazardEstimate
    """
    (scale, grid, bounds), (information, axes) = parts, seen
    j, d = grid.count, len(found.params)
    zones, trend = _in_zones(grid)
    shares = np.bincount(zones, grid.seen) / grid.seen.sum()
    back = np.linalg.inv(to_user(scale, j))
    point = back @ np.append(found.baseline.log_hazards, found.params)
    whitening = axes[j:, j:]
    release = curator.release(
        "hazard_trend",
        cost,
        **(watched(*parts, point) | dict(pieces=zones)),
        whitening=whitening,
        radius=bounds.radius,
        trend=trend,
    )
    if len(shares) == grid.strata:
        return found
    # covariances of covariates at failures are taken for the same early and late: those within pieces
    matrix, square = information.matrix, float(shares @ trend**2)
    within = matrix[j:, j:] - matrix[j:, :j] @ np.linalg.solve(matrix[:j, :j], matrix[:j, j:])
    inverse = np.linalg.inv(within * square)
    user = whitening / scale.scale[:, None]
    change = user @ inverse @ (release.values[0] / release.n)
    # of pieces and of slopes that noise has moved, scores move: the pieces', as far as covariates drift
    of_pieces = np.bincount(grid.pieces, trend[zones] * grid.seen) / np.bincount(grid.pieces, grid.seen)
    moved = (matrix[j:, :j] * of_pieces) @ np.linalg.inv(axes)[:j, :j]
    noise = (release.sd / release.n) ** 2 * np.eye(d)
    noise += moved @ (back @ found.baseline.cov_privacy @ back.T)[:j, :j] @ moved.T
    cov = user @ (inverse / release.n + inverse @ noise @ inverse) @ user.T
    # a variance that noise makes negative tells nothing of its change
    known = np.isfinite(np.diag(found.cov)) & (np.diag(cov) > 0)
    if not known.any():
        return found
    trend_of = Trend(change, np.where(np.outer(known, known), cov, 0.0))
    statistic, directions = chi_square(change[known], trend_of.rooted[known])
    told = special.chdtrc(directions, statistic) < DOUBTFUL
    return replace(found, trend=trend_of).doubted(0.0, *("changing",) * bool(told))


def _in_zones(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """The zone of each cell, and by how much of the failures each zone is later than those that are seen.

    Zones and failures are those of the stratum, and as many of each zone are seen. So the mean of the trend
    over what is seen is 0 in each, where slopes that noise moves move no score of it, and nothing is read off
    how strata differ. Ones, if all strata are one zone each.
    """
    seen = grid.seen.reshape(grid.strata, -1)
    spent, counted = (middles(each, grid.strata) for each in (grid.events, grid.seen))
    each = np.minimum((counted * _ZONES).astype(int), _ZONES - 1) + _ZONES * np.arange(grid.strata)[:, None]
    zones = np.unique(each.ravel(), return_inverse=True)[1]
    if zones[-1] + 1 == grid.strata:
        return zones, np.ones(grid.strata)
    later = spent - np.sum(spent * seen, axis=1, keepdims=True) / seen.sum(axis=1, keepdims=True)
    return zones, np.bincount(zones, (later * seen).ravel()) / np.bincount(zones, grid.seen)

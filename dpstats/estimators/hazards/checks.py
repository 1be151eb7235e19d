"""A check of a fit of hazards: do they follow the line?

Scores against the square of the line, docs/theory/survival.md#whether-times-bend.
"""

from dataclasses import replace

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.bends import standardised
from dpstats.estimators.bent_times import Bent, Look
from dpstats.estimators.hazards.bounds import Bounds, watched
from dpstats.estimators.hazards.estimate import HazardEstimate, to_user
from dpstats.estimators.hazards.grid import Grid
from dpstats.estimators.one_bend import MeanScore
from dpstats.estimators.row_scale import RowScale


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
    cov, privacy = standardised(way, baseline.cov, baseline.cov_privacy)
    kept = 1 - grid.lost(bounds.c, float(np.linalg.norm(np.linalg.solve(whitening, point[j:]))))
    covs = np.full_like(cov, np.inf) if lost else cov, privacy
    failed = min(float(grid.events.sum()) / curator.n, 1.0)
    scores, rows = (MeanScore.of_hazards(bounds.c), MeanScore.of_hazards()), (curator.n, failed, kept)
    look = Look.along(level @ point, moments, covs, scale, *rows, bounds.radius, scores)
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

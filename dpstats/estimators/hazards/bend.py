"""Do hazards follow the line? Scores against its square, docs/theory/survival.md#whether-times-bend."""

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.bends import FAR, NEAR, Line, judged, standardised
from dpstats.estimators.hazards.bounds import Bounds, watched
from dpstats.estimators.hazards.estimate import Estimate, to_user
from dpstats.estimators.hazards.grid import Grid
from dpstats.estimators.row_scale import RowScale


def straight(
    curator: Curator,
    cost: float,
    whitening: np.ndarray,
    parts: tuple[RowScale, Grid, Bounds],
    found: Estimate,
) -> Estimate:
    """A fit that tells by the caution "bends" if log hazards surely do, and counts what they may as error.

    The level, which has no coefficient, is the mean log hazard of the failures.

    Parameters
    ----------
    curator : Curator
    cost : float
    whitening : array, shape (d, d)
    parts : tuple of RowScale, Grid and Bounds
    found : Estimate
    """
    (scale, grid, bounds), baseline, d = parts, found.baseline, len(found.params)
    assert baseline is not None
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
    line = Line(
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
    release = curator.release(
        "hazard_bend",
        cost,
        **watched(*parts, point),
        line=point[j:] / line.some_spread,
        edge=NEAR.edge,
    )
    bend = judged(release, line, bounds.c, NEAR, min(FAR * line.unheard, 1.0))
    moved = bend.square * line.moved[1:, 1:] / np.outer(scale.scale, scale.scale)
    return found.doubted(moved, *("bends",) * bend.told)

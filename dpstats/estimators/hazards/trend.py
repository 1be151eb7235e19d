"""Do covariates act alike early and late? Scores against the share of the failures that have happened.

See docs/theory/coxph.md#proportional-hazards.
"""

from dataclasses import replace

import numpy as np
from scipy import special

from dpstats.curator import Curator
from dpstats.estimators.bends import DOUBTFUL
from dpstats.estimators.engine.information import Information
from dpstats.estimators.hazards.bounds import Bounds, watched
from dpstats.estimators.hazards.estimate import HazardEstimate, to_user
from dpstats.estimators.hazards.grid import Grid
from dpstats.estimators.row_scale import RowScale
from dpstats.moments.baseline import Trend
from dpstats.moments.roots import chi_square

_ZONES = 8  # of time, with as many failures each: a straight line has no use for more


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
    shares = np.bincount(zones, grid.events) / grid.events.sum()
    back = np.linalg.inv(to_user(scale, j))
    assert found.baseline is not None
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
    of_pieces = np.bincount(grid.pieces, trend[zones] * grid.events) / np.bincount(grid.pieces, grid.events)
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
    """The zone of each cell, and by how much of the failures each zone is later than their mean.

    Zones and failures are those of the stratum. So the mean of the trend is 0 in each, and nothing is read
    off how strata differ. Ones, if all strata are one zone each.
    """
    events = grid.events.reshape(grid.strata, -1)
    spent = (np.cumsum(events, axis=1) - events / 2) / events.sum(axis=1, keepdims=True)
    each = np.minimum((spent * _ZONES).astype(int), _ZONES - 1) + _ZONES * np.arange(grid.strata)[:, None]
    zones = np.unique(each.ravel(), return_inverse=True)[1]
    if zones[-1] + 1 == grid.strata:
        return zones, np.ones(grid.strata)
    middle = np.bincount(zones, (spent * events).ravel()) / np.bincount(zones, grid.events)
    return zones, middle - 0.5

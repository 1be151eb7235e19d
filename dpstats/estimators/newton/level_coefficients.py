"""Coefficients of levels, by what their scores say.

See docs/theory/levels.md.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dpstats._codes import OPEN_ENDED, problems_at
from dpstats.estimators.engine.bounds import LENGTHS
from dpstats.estimators.engine.finish import E, told_beside
from dpstats.estimators.engine.information import Information
from dpstats.estimators.halving import halved
from dpstats.estimators.level_scores import (
    END,
    FEWEST_EVENTS,
    OPEN,
    REACH,
    SHIFTS,
    LevelScores,
    level,
    slope_in_middle,
)
from dpstats.estimators.matrices import SMALLEST
from dpstats.estimators.newton.located import Located, level_shares
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.row_scale import STRETCH, SURE
from dpstats.families.glm import GlmFamily
from dpstats.moments.roots import variance_along

_FLAT = 1e-300  # slope of a mean that may be 0 in floats, whose scores say nothing


def read_levels(problem: Problem, located: Located, result: E, scores: LevelScores) -> E:
    """A fit with coefficients and standard errors of levels by what their scores say.

    Where these leave an end of an interval open, as of a level that may have no events at all, it reaches as
    far as linear predictors go, from within reach of the other levels of its category, and no farther.
    Without an intercept it is not known where the other columns are, and nothing is done.

    Parameters
    ----------
    problem : Problem
    located : Located
    result : Estimate
        As if scores were in proportion to coefficients.
    scores : LevelScores
    """
    if not problem.intercept:
        return result
    params, added, moved = result.params.copy(), 0.0 * scores.cov, list(moved_alone(problem, scores.moments))
    if scores.rarer < SURE and not problem.categories:
        moved.append((scores.moments[0] / scores.moments[0, 0], np.eye(problem.k)[0]))
    gone: list[tuple[np.ndarray, np.ndarray]] = []
    for row, direction in moved:
        points, step, sd, sampling = scores.along(row)
        curve, share = _said(problem, located, row, direction, scores.points.mean(axis=0))
        found, more = level(curve, 0.0, points, step, sd, sampling), 0.0
        if problem.family.free_dispersion:
            # its curvature is 1 at all points, whose matrices do not tell how scores bend
            params += (found.shift - step) * direction
        else:
            more = (found.shift - step) ** 2
        if math.isinf(found.factor) or _may_say_the_same(problem, located, scores, row, direction):
            # steps run on where rows of a level lose their curvature, and so do their errors
            beside = [each for each, _ in moved if row[0] and each[0] and each @ direction == 0]
            apart, more = row @ params - _middle(params, scores, beside), OPEN
            direction = direction - round(share) * np.eye(problem.k)[0]  # of a flag, the side that says less
            params += (np.clip(apart, -REACH, REACH) - apart) * direction
            gone.append((direction, row))
        else:
            more += (found.factor**2 - 1) * sd**2
        added += more * np.outer(direction, direction)
    left = told_beside(*np.array(gone).reshape(-1, 2, problem.k).transpose(1, 2, 0))
    lost, by_sampling = (part - left @ part @ left.T for part in (scores.cov, scores.sampling))
    cov, privacy = result.cov + added - lost, result.cov_privacy + added - (lost - by_sampling)
    compared = {int(j) for way, _ in gone for j in np.flatnonzero(way) if j and cov[j, j] < math.inf}
    result = result.saying(*problems_at(OPEN_ENDED, sorted(compared)))
    return replace(result, params=params, cov=cov, cov_privacy=privacy)


def _middle(params: np.ndarray, scores: LevelScores, rows: list[np.ndarray]) -> float:
    """Mean linear predictor of these rows, the less of one the less is known of it; 0 of none."""
    weights = [1 / (1 + variance_along(scores.cov, row)) for row in rows]
    return float(np.average([row @ params for row in rows], weights=weights)) if rows else 0.0


def moved_alone(problem: Problem, moments: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Of each level of a category, that of the reference among them, and of each flag, two vectors (k,).

    The first takes coefficients to the linear predictor of rows of the level, other columns being as they
    are in the mean of these rows, or to what differs between those of the two values of a flag; the second is
    what a change of that alone makes of them, which also tells the rows. What goes along with a level, as a
    dose that only its rows have, is thus no change of the level.
    """
    axes, flags = np.eye(problem.k), set(problem.levels).difference(*problem.categories)

    for own in problem.categories:
        ways = np.array([axes[0] - axes[own].sum(axis=0), *axes[own]])
        yield from ((_mean_row(moments, way, own), way) for way in ways)
    for j in sorted(flags):
        (flagged, way), (others, _) = _sides(moments, axes[j])
        yield flagged - others, way


def _sides(moments: np.ndarray, flag: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of rows with a flag, the axis of its column, and without: their mean, and what a change of their line
    makes of coefficients."""
    ways = flag, np.eye(len(flag))[0] - flag
    return [(_mean_row(moments, way, np.flatnonzero(flag)), way) for way in ways]


def _mean_row(moments: np.ndarray, tells: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Of the rows of a level, or of one value of a flag, that are told so and have columns of their own.

    Of 0 and 1 mean and mean square are one. Noise makes them two, and the larger takes no row far away.
    """
    told, mean = moments @ tells, moments[0] / moments[0, 0]
    row = mean + (told - told[0] * mean) / max(told[0], float(tells @ told))
    row[own] = np.maximum(tells[own], 0.0)
    return np.asarray(row)


def row_moments(
    information: Information, whitening: np.ndarray, located: Located, intercept: bool
) -> np.ndarray:
    """Second moments of rows by what they weigh, on the user's scale.

    Columns of unknown spread, and all without an intercept, are taken for uncorrelated. W takes whitened
    coefficients to those of standardised columns.
    """
    own, back = np.linalg.inv(whitening).T @ information.vectors, np.linalg.inv(located.to_user(intercept))
    found = (own * np.maximum(information.values, SMALLEST * information.used)) @ own.T
    told = intercept & ~(located.dim | located.dim[:, None])
    np.fill_diagonal(told, True)
    return np.asarray(back.T @ (found * told) @ back)


def level_moments(problem: Problem, located: Located) -> np.ndarray:
    """Second moments of standardised columns, by the shares of levels, others being independent."""
    moments = np.eye(problem.k)
    for own in problem.categories:
        shares = level_shares(located.center[own], located.noise / 2)[1:]
        moments[np.ix_(own, own)] = (np.diag(shares) - np.outer(shares, shares)) / np.outer(
            located.scale[own], located.scale[own]
        )
    return moments


def _may_say_the_same(
    problem: Problem, located: Located, scores: LevelScores, row: np.ndarray, direction: np.ndarray
) -> bool:
    """Whether all rows of a level, or of a value of a flag, may say the same, where their curvature is told.

    Their rarer answers are those that are expected at the point, and what scores there say beyond. Noise of
    the curvature, and of the point, may make them up.
    """
    if scores.curvature is None:
        return False
    for mean, way in [(row, direction)] if row[0] else _sides(scores.moments, direction):
        points, step, sd, sampling = scores.along(mean)
        found, error = scores.curvature(way)
        noise = math.hypot(error, found * math.sqrt(max(sd**2 - sampling**2, 0.0)))
        yes = float(problem.family.mean(np.clip(points.mean() + located.offset, -END, END)))
        rarer = found * (1 / max(yes, 1 - yes) - math.copysign(step, step * (yes - 0.5)))
        if rarer - SURE * noise < FEWEST_EVENTS:
            return True
    return False


def stretched_no_further(
    moments: np.ndarray, problem: Problem, located: Located, radius: float
) -> np.ndarray:
    """Moments of standardised columns with so much of each that it is stretched no further than its scale is.

    Of a column that holds one value in most rows the others become no longer than a share of the radius.
    A level has more rows then. With more of its column alone a reference level, in whose rows all columns of
    the others move together, would seem to have more rows, too. It has more of its own where it is rare, as
    rows that grew longer would count the less, and the information they leave would make them longer still.
    """
    rows, axes = (np.eye(problem.k + len(problem.categories), problem.k) for _ in range(2))
    for own, row, axis in zip(problem.categories, rows[problem.k :], axes[problem.k :], strict=True):
        # noise may say that all rows are of a level that is rare
        shares = np.minimum(located.center[own], 0.5)
        rows[np.ix_(own, own)] = (np.eye(len(own)) - shares) / located.scale[own]
        row[own] = level_shares(located.center[own], located.noise / 2)[1:] / located.scale[own]
        axis[own] = located.scale[own]
    variances, moved = np.sum((axes @ moments) * axes, axis=1), np.sum(rows * axes, axis=1)
    few = located.away / (STRETCH * radius)
    least = np.append(np.maximum(located.least, few**2), located.references)
    lacking = np.maximum(0.0, least - variances) / moved**2
    moments = np.asarray(moments + rows.T * lacking @ rows)
    for own in problem.crossed:
        # of rows of a level without a product, in which a number moves alone, no two become farther apart
        alone = 1 / float(np.linalg.pinv(moments[np.ix_(own, own)])[0, 0])
        moments[own[0], own[0]] += max(0.0, 1 / (STRETCH**2 * LENGTHS[0] * problem.k) - alone)
    return moments


def _said(
    problem: Problem, located: Located, row: np.ndarray, direction: np.ndarray, mean: np.ndarray
) -> tuple[np.ndarray, float]:
    """Newton steps of what one of `moved_alone` is of, and what rows with a flag hold of the information."""
    family, middle = problem.family, float(mean[0] + mean[1:] @ located.center[1:]) + located.offset
    if row[0]:
        return _curve(family, float(row @ mean) + located.offset), 0.0
    share = float(np.clip(direction @ located.center, 0.0, 1.0))
    shares = np.array([1 - share, share])
    ends = np.clip(middle + row @ mean * np.array([-share, 1 - share]), -END, END)
    # the intercept makes up for a change as far as the rows of a 1 hold the information
    weights = shares * family.curvature(ends)
    share = float(weights[1] / max(weights.sum(), 1e-300))
    return _against(_curve(family, float(ends[0])), _curve(family, float(ends[1])), share), share


def _against(without: np.ndarray, flagged: np.ndarray, share: float) -> np.ndarray:
    """Newton steps of a flag, by those of rows without and with it.

    Rows with it hold a share of the information. The intercept makes up for a change so that its own score
    stays 0: of rows that lose all their events others gain no more than these were.
    """

    def of_rows(intercept: np.ndarray) -> np.ndarray:
        moved = (intercept, without), (intercept + SHIFTS, flagged)
        return np.array([np.interp(at, SHIFTS, steps) for at, steps in moved])

    start = np.minimum(-SHIFTS, 0.0), np.maximum(-SHIFTS, 0.0)
    steps = of_rows(halved(lambda intercept: np.array([1 - share, share]) @ of_rows(intercept) < 0, *start))
    return np.asarray(steps[1] - steps[0])


def _curve(family: GlmFamily, eta: float) -> np.ndarray:
    """Newton steps of rows of this linear predictor, if the true one lies further by `SHIFTS`."""
    means = family.mean(np.clip(eta, -END, END) + SHIFTS)
    return np.asarray((means - means[len(means) // 2]) / max(slope_in_middle(means), _FLAT))

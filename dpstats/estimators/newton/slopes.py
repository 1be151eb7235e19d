"""Slopes of numbers by what the scores may say: of a yes or no, and of doses that few rows have.

See docs/theory/levels.md#numbers.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from dpstats.estimators.engine.finish import E
from dpstats.estimators.engine.information import Accumulator
from dpstats.estimators.halving import rooted
from dpstats.estimators.level_scores import END, FARTHEST, REACH, SHIFTS, LevelScores
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.row_scale import SURE
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.quantiles import even_shares
from dpstats.moments.spread import Z95

# linear predictors of rows that are alike in a column, in sds
_OTHERS = ndtri(even_shares(4))
# the same on one side of their middle
_ONE_SIDE = ndtri((1 + even_shares(4)) / 2)
# of an octave, its root mean square over its lower end
_INNER = math.sqrt(7 / 3)
# half-lengths from the estimate, beyond which a limit of scores that bend and do not level off is told: told
# from 1 on, intervals of rare answers are 15 % longer in the median, and hold too often
_FAR_OFF = 1.5
# of the error of a slope and of that of the level of all rows, as far off as both together are
_BOTH = math.sqrt(0.5)
_ROUNDED = 2.0**-45  # of a sum, which rounding may leave of it


class Doubt(NamedTuple):
    """What may be otherwise than points say: the side to which rows lean, and a step of the level of all."""

    lean: float = 0.0
    level: float = 0.0


NONE = Doubt()


def read_slopes(
    problem: Problem,
    located: Located,
    result: E,
    scores: LevelScores,
    score: BoundedScore | None,
    leans: Callable[[], np.ndarray],
) -> E:
    """A fit in which intervals of slopes reach the limits that scores give, where these level off or bend.

    Where all rows that lie far on one side say yes, a slope may be any that is steeper. Under a complementary
    log-log link a Newton step towards it is exp(-eta) long, so that steps stop short where noise hides them.
    Those of a probit and a logit are longer, and short enough but where most rows hold one value and the
    others are few and far, or where few rows give the rarer answer, of which there may be fewer still than
    points expect. Scores bend under every link, the most where one answer is rare and its rows lie far from
    the middle of a number. Where most rows hold one value and the others lean to one side of the middle by
    all other columns, these may all lie there. Heights of a spline are of a usual size. Scores of counts and
    amounts level off below: of these, numbers that hold one value in most rows are asked. Without an
    intercept nothing is done.

    Parameters
    ----------
    problem, located, result, scores
        As of :func:`.level_coefficients.read_levels`.
    score : BoundedScore, optional
        None of a logistic regression.
    leans : callable
        What :func:`leaning` tells.
    """
    if not problem.intercept:
        return result
    score = score or BoundedScore.unclipped(problem.family)
    point, added = scores.points.mean(axis=0), 0.0 * scores.cov
    rare, levels = scores.rarer < SURE, {0.0, _fewer(scores, located) if scores.rarer < 1 else 0.0}
    for covariate, (shares, squares) in located.tails.items():
        j = covariate + 1
        row = located.scale[j] * np.eye(problem.k)[j]
        at, ends = np.sqrt(squares), (-located.lower[j], located.upper[j])
        sides = [] if problem.usual[covariate] else sides_of_most(shares, at, *ends)
        if not (problem.family.two_valued or (sides and located.away[j])):
            continue
        opened = bool(sides) or problem.family.stalls or rare
        # no slope is steeper than those of a usual size, of the rows that tell it or of an sd
        far = _far(shares, squares) if sides else math.sqrt(located.squares[j])
        steepest = REACH / far if sides or rare else FARTHEST
        slopes = np.linspace(-steepest, steepest, len(SHIFTS))
        slope, sd = float(row @ result.params), located.scale[j] * math.sqrt(result.cov[j, j])
        ways = []
        leaned = {0.0, float(leans()[j]) if sides else 0.0}
        for (below, above), lean, level in product(sides or [ends], leaned, levels):
            rows = placed(shares, at, below, above)
            of_shifts = partial(said, j, rows, located, point, score, doubt=Doubt(lean, level))
            step, *errors = scores.along(row)[1:]
            errors = [(_BOTH if level else 1.0) * each for each in errors]
            limits, middle = _told(of_shifts, slopes, _near(slopes, slope, sd), row @ point, step, *errors)
            ways.append((_reaching(limits, slope, sd, steepest, opened), middle))
        longer, middle = max(ways)
        if longer > sd:
            direction = row / (row @ row)
            direction[0] = -located.center[j] / located.scale[j] - middle
            added += (longer**2 - sd**2) * np.outer(direction, direction)
    return result.noisier(added)


def _fewer(scores: LevelScores, located: Located) -> float:
    """The step of the level of all rows if as few give the rarer answer as noise allows."""
    _, step, sd, _ = scores.along(scores.moments[0] / scores.moments[0, 0])
    side = 1.0 if located.mean < 0.5 else -1.0
    return side * min(side * step - _BOTH * Z95 * sd, 0.0)


def leaning(first: Accumulator, whitening: np.ndarray, line: np.ndarray, intercept: bool) -> np.ndarray:
    """The sign of each column's product with the predictor by all others, shape (k,); 0 if it may be noise.

    `first` is information where all rows have one curvature, so that it holds mean products of the columns. W
    takes whitened coefficients to those of standardised columns, as `line` has.
    """
    if not (intercept and first.releases):
        return np.zeros(len(line))
    slopes = np.append(0.0, line[1:])
    own = np.linalg.inv(whitening).T
    others = own @ (slopes[:, None] - np.diag(slopes))
    found = np.sum(own * (first.mean(whitening) @ others), axis=0)
    noise = np.ones(len(line))
    for part in (own, others):
        lengths = np.maximum(np.linalg.norm(part, axis=0), 1e-300)
        noise *= lengths * np.sqrt(first.sds(whitening, part / lengths))
    return np.asarray(np.sign(found) * (np.abs(found) > SURE * noise))


def _near(slopes: np.ndarray, slope: float, sd: float) -> np.ndarray:
    """Which slopes tell limits that are not far off: those that are not, and two beyond."""
    cell = slopes[1] - slopes[0]
    return np.asarray(np.abs(slopes - np.clip(slope, *slopes[[0, -1]])) < _FAR_OFF * Z95 * sd + 2 * cell)


def _told(
    of_shifts: Callable[[np.ndarray], tuple[np.ndarray, float]],
    slopes: np.ndarray,
    near: np.ndarray,
    point: float,
    *error: float,
) -> tuple[np.ndarray, float]:
    """The limits that scores give, and where rows tell the intercept.

    Few slopes are asked where these tell all: limits between them depend on none of the others.
    """
    for some in slopes[near], slopes:
        curve, middle = of_shifts(some - point)
        limits = _limits(curve, some, *error)
        if some[1] < limits[0] and limits[1] < some[-2]:
            break
    return limits, middle


def _limits(curve: np.ndarray, slopes: np.ndarray, step: float, sd: float, sampling: float) -> np.ndarray:
    """Where the score differs from that of the root by as much as error may make it, within all slopes.

    Of a score that is flatter at the root, sampling makes as much less.
    """
    root = np.interp(step, curve, slopes)
    flat = np.interp(root, slopes, np.gradient(curve, slopes))
    half = Z95 * math.sqrt(max(sd**2 - sampling**2, 0.0) + (flat * sampling) ** 2)
    return np.asarray(np.interp([step - half, step + half], curve, slopes))


def _reaching(limits: np.ndarray, slope: float, sd: float, steepest: float, opened: bool = True) -> float:
    """The sd of an interval that reaches the farther limit, or that of now, if scores bend and it is near.

    Or if nothing has `opened` it and they level off: intervals of a number with rows all over its range hold
    without that.
    """
    longer = float(np.abs(limits - slope).max()) / Z95
    if float(np.abs(limits).max()) >= steepest:
        return longer if opened and longer > sd else sd
    return longer if longer > _FAR_OFF * sd else sd


def _far(shares: np.ndarray, squares: np.ndarray) -> float:
    """Root mean square distance from the mean of all rows but those of the octave that holds most."""
    others = np.arange(len(shares)) != np.argmax(shares)
    return math.sqrt(float(shares[others] @ squares[others]) / float(shares[others].sum()))


def sides_of_most(
    shares: np.ndarray, at: np.ndarray, below: float, above: float
) -> list[tuple[float, float]]:
    """Where a column may end if most rows hold one value, and all others lie beyond it, on one side.

    As of a dose that few have: noise may hide on which side of the mean they lie, and declared ends may
    allow both. None of a column that has no such value.

    Parameters
    ----------
    shares, at, below, above
        As of :func:`placed`.
    """
    most, seen = int(np.argmax(shares)), np.flatnonzero(shares)
    if shares[most] <= 1 / 2 or most == seen[0]:
        return []
    near, far = float(at[most]), float(at[seen[0]])
    pairs = (min(below, near), above), (below, min(above, near))
    return [pair for pair, other in zip(pairs, (above, below), strict=True) if far <= _INNER * other]


def placed(shares: np.ndarray, at: np.ndarray, below: float, above: float) -> tuple[np.ndarray, np.ndarray]:
    """Where rows of a column lie, and their shares, by octaves of the distance from the mean, farthest first.

    Beyond one declared end all rows are on the other side. Those nearer lie below and above so that the mean
    is 0; where none is nearer still they hold one value, and all are on the side of that end.

    Parameters
    ----------
    shares, at : array, shape (m,)
        Of the rows, and their distances.
    below, above : float
        Distances of the declared ends.
    """
    side = np.where(at > _INNER * below, 0.0, np.where(at > _INNER * above, 1.0, 0.5))
    under, over = (shares * np.minimum(at, end) for end in (below, above))
    both = side == 0.5
    lacking = float(np.sum((over * (1 - side) - under * side)[~both]))
    part = (float(over[both].sum()) + lacking) / max(float((under + over)[both].sum()), 1e-300)
    alone = (np.append(shares[1:], 0.0) == 0) & (lacking != 0)
    side = np.where(both, np.where(alone, float(lacking > 0), np.clip(part, 0.0, 1.0)), side)
    places = np.append(-np.minimum(at, below), np.minimum(at, above))
    return places, np.append(side * shares, (1 - side) * shares)


def said(
    j: int,
    rows: tuple[np.ndarray, np.ndarray],
    located: Located,
    params: np.ndarray,
    score: BoundedScore,
    shifts: np.ndarray,
    doubt: Doubt = NONE,
) -> tuple[np.ndarray, float]:
    """Newton steps of a slope if the true one lies further by `shifts`, and where rows tell the intercept.

    Both are in the scale of the column. The intercept makes up for a change so that its own score stays 0, or
    what makes a step of `level`; where that is of fewer answers than none it is as far off as any may be. By
    all other columns rows lie evenly about the middle; or all but those of the value that most hold do so on
    the side to which the product of the two has them `lean`.
    """
    # most octaves have no row
    family, slopes, (places, shares) = score.family, params * located.scale, np.array(rows)[:, rows[1] > 0]
    others = math.sqrt(float(np.sum(np.delete(slopes**2 * located.squares, [0, j]))))
    middle = float(params[0] + params[1:] @ located.center[1:]) + located.offset
    at = np.repeat(places, len(_OTHERS))
    beside, most = np.tile(_OTHERS, (len(places), 1)), int(np.argmax(shares))
    if doubt.lean:
        beside[np.arange(len(places)) != most] = -doubt.lean * np.sign(places[most]) * _ONE_SIDE
    eta = middle + slopes[j] * at + others * beside.ravel()
    kept = score.weight(eta) * np.repeat(shares, len(_OTHERS))
    mean, information = family.mean(eta), kept * family.curvature(eta)
    kept *= family.score(np.ones_like(eta), eta) - family.score(np.zeros_like(eta), eta)
    moved = eta[:, None] + np.multiply.outer(at, shifts)

    def off(intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        means = family.mean(moved + intercept)
        slopes = np.sqrt(family.curvature(moved + intercept) * family.variance(means))
        return kept @ (means - mean[:, None]) - doubt.level * information.sum(), kept @ slopes

    heart = float(information @ at / information.sum())
    low, high = np.sort(np.multiply.outer([-at.max(), -at.min()], shifts), axis=0)
    low, high = low - 2 * END * (doubt.level < 0), high + 2 * END * (doubt.level > 0)
    intercept = rooted(off, -heart * shifts, low, high, _ROUNDED * float(kept.sum()))
    far = at - heart
    steps = (kept * far) @ (family.mean(moved + intercept) - mean[:, None])
    return np.maximum.accumulate(steps / float(information @ far**2)), heart

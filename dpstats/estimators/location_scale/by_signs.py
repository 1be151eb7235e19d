"""Where noise outweighs what rows say of curvature: slopes by the signs of residuals, no matrices.

Newton's matrix costs noise of k^2 numbers, and steps by a matrix that is mostly noise do not arrive. Here the
slopes move by a score of k - 1 numbers that asks of each row only on which side of its predicted median it
failed (:mod:`dpstats.families.signs`), the most that noise leaves; intercept and log sigma, two numbers, follow
each step (:mod:`.level`). Noise of a step is a share of sigma, and sigma falls as slopes improve, so that few
steps lead from no slopes at all to the neighbourhood. The last steps are averaged, each by what it estimates.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.location_scale.check import law_in_doubt
from dpstats.estimators.location_scale.estimate import Averaged, Estimate, estimate
from dpstats.estimators.location_scale.events import Events
from dpstats.estimators.location_scale.information import usable
from dpstats.estimators.location_scale.level import Level, release_level, solved
from dpstats.estimators.location_scale.problem import Problem
from dpstats.estimators.location_scale.signs_plan import SignsPlan
from dpstats.estimators.location_scale.truncation import Bounding, Choice
from dpstats.estimators.location_scale.whitening import Whitening
from dpstats.estimators.matrices import pooled, symmetric_power
from dpstats.estimators.row_scale import RowScale
from dpstats.families.signs import largest_slope, sizes

Array = np.ndarray

import os
env = os.environ.get
_RADIUS = float(env("R2", ".5"))  # squared length of rows, against their number of covariates: shorter says no less of directions
_LONGEST = 4.0  # and where they add no more to the sizes of the information
_MATRIX_LIMIT = 1.0  # squared length of the response beside them, in the event matrix
_LEAST_EIGENVALUE = 0.02
_MATRIX_SHARE = 0.4
_DAMPING, _LEVEL_DAMPING = float(env("DAMP", "0.5")), float(env("LDAMP", "0.5"))
_STEP = float(env("ETA", "0.8"))
_LONGEST_STEP = 2.0
_START_PRIOR, _EARLY_PRIOR, _LATE_PRIOR = (1.0, 1.0), (0.7, 0.6), (0.3, 0.3)
_SIZE_SD = 0.2  # relative sd of what the family says of the information
_STRUCTURE = 0.15  # relative error of the information, by direction
_LOG_SIGMA_RANGE = (-6.0, 3.0)


@dataclass(frozen=True)
class _Place:
    """What stays as the steps go: released and public numbers only.

    whitening (d, k) leaves the intercept out; slope and square are those of the score, per row and covariate.
    """

    bounding: Bounding
    choice: Choice
    whitening: Array
    radius: float
    slope: float
    square: float

    @property
    def fraction(self) -> float:
        return self.bounding.events.fraction


@dataclass(frozen=True)
class _Slopes:
    """One release of the score of the slopes, per row, and its noise."""

    scores: Array
    noise: float


def fit_by_signs(curator: Curator, problem: Problem, plan: SignsPlan, scale: RowScale) -> Estimate:
    """Fit a location-scale regression with covariates by the signs of residuals.

    Parameters
    ----------
    curator : Curator
    problem : Problem
    plan : SignsPlan
    scale : RowScale
        Of the event moments.

    Returns
    -------
    Estimate
    """
    place = _place(curator, problem, plan, scale)
    point = _start(curator, plan, place)
    past = []
    for slopes_mu, level_mu in plan.early:
        before = point
        point, found = _early_step(curator, slopes_mu, place, point)
        past.append((before, found))
        point = _level_step(curator, level_mu, place, point, _EARLY_PRIOR)
    past = past[-int(env("PAST","3")):] if env("PAST","3")!="0" else []
    place = _sized(curator, plan.sizes, place, point)
    averaged, spread, start = _averaged(curator, plan, place, point, past)
    need = _need(averaged, place)
    result = estimate(
        averaged, place.bounding, place.choice, _whole(place), spread, need
    )
    end = averaged.points[0]
    if law_in_doubt(curator, plan.check, problem, scale, place.bounding.hazard(end), end):
        return replace(result, problems=(*result.problems, "law"))
    return result


def _place(curator: Curator, problem: Problem, plan: SignsPlan, scale: RowScale) -> _Place:
    events = _events(curator, plan.shape, scale)
    d = len(scale.center)
    tail = curator.cost_per_row(math.hypot(*plan.level))
    bounding = Bounding(problem, scale, events, _MATRIX_SHARE, tail, curator.n)
    gamma, log_sigma = np.zeros(d + 1), -0.5 * math.log(bounding.expected.residual_square)
    shape = events.floored[1:, 1:] / events.fraction
    whitening = np.column_stack([np.zeros(d), symmetric_power(shape, -0.5)])
    usual, (once, twice) = sizes(problem.family, events.fraction), _kept_rows(d)
    return _Place(
        bounding, bounding.first(gamma, math.exp(log_sigma)), whitening, math.sqrt(_RADIUS * d),
        events.fraction * usual.slope * once, events.fraction * usual.square * twice,
    )  # fmt: skip


def _events(curator: Curator, mu: float, scale: RowScale) -> Events:
    """Correlations of the covariates that stand out of the noise; there is no line."""
    d = len(scale.center)
    square = _RADIUS * (d + 1)
    release = curator.release(
        "event_matrix", mu, **scale.public(), radius=math.sqrt(square),
        limit=math.sqrt(square + _MATRIX_LIMIT),
    )  # fmt: skip
    matrix, noise = release.values[0][1:-1, 1:-1] / release.n, release.sd / release.n
    size = max(float(np.trace(matrix)) / d, 0.8 * _RADIUS * scale.fraction)
    relative = noise / size
    clean = pooled(matrix / size, 1 + relative * math.sqrt(2 * d) * (1 + 1 / math.sqrt(d)))
    values, vectors = np.linalg.eigh(clean * d / np.trace(clean))
    structured = values[-1] > 1.001
    least = max(_LEAST_EIGENVALUE, 0.5 * relative) if structured else _LEAST_EIGENVALUE
    moments = np.eye(d + 1)
    moments[1:, 1:] = (vectors * np.maximum(values, least)) @ vectors.T
    f = scale.fraction
    return Events(f, f * moments, f * moments, math.inf, np.zeros(d + 1), f, relative, float(structured))


def _start(curator: Curator, plan: SignsPlan, place: _Place) -> Array:
    point = np.zeros(place.whitening.shape[1] + 1)
    point[-1] = -0.5 * math.log(place.bounding.expected.residual_square)
    for mu in plan.start:
        point = _level_step(curator, mu, place, point, _START_PRIOR)
    return point


def _level_step(
    curator: Curator, mu: float, place: _Place, point: Array, prior: tuple[float, float]
) -> Array:
    return _leveled(point, solved(_level(curator, mu, place, point), place.fraction, prior))


def _level(curator: Curator, mu: float, place: _Place, point: Array) -> Level:
    return release_level(curator, mu, place.bounding, place.choice, point[:-1], math.exp(point[-1]))


def _leveled(point: Array, move: tuple[float, float]) -> Array:
    point = point.copy()
    point[0] += math.exp(point[-1]) * move[0]
    point[-1] = float(np.clip(point[-1] + move[1], *_LOG_SIGMA_RANGE))
    return point


def _slopes(curator: Curator, mu: float, place: _Place, point: Array) -> _Slopes:
    scale, family = place.bounding.scale, place.bounding.problem.family
    release = curator.release(
        "sign_score", mu, **scale.public(), family=family, gamma=point[:-1], sigma=math.exp(point[-1]),
        whitening=place.whitening, radius=place.radius,
    )  # fmt: skip
    return _Slopes(release.values[0].ravel() / release.n, release.sd / release.n)


def _moved(place: _Place, point: Array, step: Array) -> Array:
    """The point after a whitened step of the slopes, no longer than the cap."""
    step = step * min(1.0, _LONGEST_STEP / max(float(np.linalg.norm(step)), 1e-300))
    point = point.copy()
    point[:-1] += math.exp(point[-1]) * (place.whitening.T @ step)
    return point


def _early_step(curator: Curator, mu: float, place: _Place, point: Array) -> Array:
    """A step shrunk by what noise alone would have made of it."""
    found = _slopes(curator, mu, place, point)
    by_noise = len(found.scores) * found.noise**2
    left = max(0.0, 1 - by_noise / max(float(found.scores @ found.scores), 1e-300))
    return _moved(place, point, _STEP * left * found.scores / place.slope), found


def _sized(curator: Curator, mu: float, place: _Place, point: Array) -> _Place:
    """With the sizes of the information as released and as expected, by precision."""
    d, radius, family = len(place.whitening), place.radius, place.bounding.problem.family
    longest = math.sqrt(_LONGEST * d)
    release = curator.release(
        "sign_sizes", mu, **place.bounding.scale.public(), family=family, gamma=point[:-1],
        sigma=math.exp(point[-1]), whitening=place.whitening, radius=radius, longest=longest,
    )  # fmt: skip
    units = np.array([largest_slope(family) * radius * longest, (2 * radius) ** 2]) / d / release.n
    guess = np.array([place.slope, place.square])
    precision, usual = (release.sd * units) ** -2, (_SIZE_SD * guess) ** -2
    slope, square = (release.values[0] * units * precision + guess * usual) / (precision + usual)
    slope, square = np.maximum([slope, square], 0.3 * guess)
    return replace(place, slope=float(slope), square=float(square))


def _averaged(
    curator: Curator, plan: SignsPlan, place: _Place, point: Array, past
) -> tuple[Averaged, float, Array]:
    """What the last steps estimate, weighted by precision, and its scatter over what noise explains."""
    d, start = len(place.whitening), point
    estimates, sigmas, points = [], [], []
    noises = []
    for before, found in past:
        sigma = math.exp(before[-1])
        points.append(before[1:-1]); estimates.append(before[1:-1] + sigma * (place.whitening.T @ (found.scores / place.slope))[1:])
        sigmas.append(sigma * found.noise / place.slope)
    for slopes_mu, level_mu in plan.averaged:
        found = _slopes(curator, slopes_mu, place, point)
        sigma, step = math.exp(point[-1]), found.scores / place.slope
        points.append(point[1:-1])
        estimates.append(point[1:-1] + sigma * (place.whitening.T @ step)[1:])
        sigmas.append(sigma * found.noise / place.slope)
        point = _moved(place, point, _DAMPING * step)
        point = _level_step(curator, level_mu, place, point, _LATE_PRIOR)
    sigmas, estimates, points = np.array(sigmas), np.array(estimates), np.array(points)
    weights = sigmas ** -2
    weights /= weights.sum()
    mean = weights @ estimates
    back = np.linalg.inv(place.whitening[:, 1:])
    whitened = (estimates - mean) @ back / sigmas[:, None]
    spread = float(np.mean(whitened ** 2)) * len(sigmas) / (len(sigmas) - 1)
    point[1:-1] = mean
    # the level at the average
    levels = []
    for mu in plan.level:
        level = _level(curator, mu, place, point)
        step = solved(level, place.fraction, (2.0, 1.5))
        levels.append((point[0] + math.exp(point[-1]) * step[0], point[-1] + step[1], level))
        point = _leveled(point, solved(level, place.fraction, _FINAL_PRIOR))
    use = levels[1:]
    final_i, final_s = np.mean([l[0] for l in use]), np.mean([l[1] for l in use])
    final = math.exp(final_s)
    eff = math.sqrt(float(weights**2 @ sigmas**2)) / final
    v = d * eff**2
    if env("VC", "1") == "1":
        final_s -= 0.5 * v / place.bounding.expected.residual_square * float(env("VF", "1"))
    point = np.concatenate([[final_i], mean, [final_s]])
    # slopes: error of the information times what the last steps moved
    moved = float(np.sum(((mean - weights @ points) @ back / final) ** 2)) - v
    eff = math.sqrt(eff**2 + (_SIZE_ERR * math.sqrt(max(moved, 0.0))) ** 2 / d)
    ratio = place.slope / place.square
    information = np.eye(d + 2) * place.slope * ratio
    level = use[-1][2]
    information[np.ix_([0, d + 1], [0, d + 1])] = np.mean([l[2].information for l in use], axis=0)
    unit = np.sqrt(np.diag(information))
    error = _STRUCTURE * np.outer(unit, unit)
    events = place.bounding.events
    if events.left:
        values, vectors = np.linalg.eigh(events.floored[1:, 1:] / events.fraction)
        rel = np.where(values < 0.8, np.hypot(_STRUCTURE, events.spread / values), _STRUCTURE)
        e = (vectors * rel**2) @ vectors.T
        error[1:-1, 1:-1] = np.sqrt(np.maximum(np.diag(e), 0))[:, None] * information[1, 1] * np.ones(d)
    noise_vector = np.concatenate([
        [level.noise[0] / math.sqrt(len(use))], np.full(d, eff * information[1, 1]), [level.noise[1] / math.sqrt(len(use))],
    ])
    averaged = Averaged(
        point[None, :], np.zeros((1, d + 2)), noise_vector, usable(information, error, np.eye(d + 2), unit), False,
    )
    return averaged, max(1.0, spread), start


_FINAL_PRIOR = (0.5, 0.5)
_SIZE_ERR = float(env("SE", ".25"))


def _need(averaged: Averaged, place: _Place) -> float:
    d = len(place.whitening)
    info = averaged.information.matrix
    a = math.sqrt(d) * averaged.noise[1] / info[1, 1]
    ls = averaged.noise[-1] / info[-1, -1]
    if env('DBG'): print('DBG', round(a,3), round(ls,3), place.slope/place.fraction, place.square/place.fraction, place.fraction, place.bounding.scale.fraction_sd/place.fraction)
    count = place.bounding.scale.fraction_sd / place.fraction / float(env('NC', '.1'))
    return max(a / float(env("NA", ".5")), ls / .3, count)


def _whole(place: _Place) -> Whitening:
    full = np.eye(place.whitening.shape[1])
    full[1:, 1:] = place.whitening[:, 1:]
    return Whitening(full, full)


@functools.lru_cache(maxsize=64)
def _kept_rows(d: int) -> tuple[float, float]:
    """Second moments of normal rows that weights w = min(1, R / |x|) leave, once and squared, per covariate."""
    lengths = np.random.default_rng(0).chisquare(d, 20_000) / d
    weights = np.minimum(1, np.sqrt(_RADIUS / lengths))
    return float(np.mean(weights * lengths)), float(np.mean(weights**2 * lengths))

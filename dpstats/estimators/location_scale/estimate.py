"""The estimate, its covariance and its flags, from the averaged steps."""

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from dpstats._codes import ALL_LOST, RANGE, UNSETTLED, WEAK, problems_at
from dpstats.estimators.alike import alike
from dpstats.estimators.engine.average import Steps, scatter, scattered
from dpstats.estimators.engine.finish import Estimate, to_user, weak
from dpstats.estimators.engine.information import SHOWN, Information, step_covariances, together
from dpstats.estimators.level_scores import FARTHEST, LevelScores
from dpstats.estimators.location_scale.bounds import Bounding, Choice
from dpstats.estimators.location_scale.level_lines import Reader, few_events, lines, read_levels, widths
from dpstats.estimators.location_scale.placement import PlacedByFamily, Placement
from dpstats.estimators.location_scale.problem import LOG_SIGMA_RANGE, SurvivalProblem, sigma_of
from dpstats.estimators.matrices import ROUNDING, beside
from dpstats.moments import Quantity

# privacy noise, in sampling sds of a coefficient, beyond which intervals widen, and none is given, and of
# log sigma against it: to 1.8, intervals hold without (3,000 to 150,000 rows, 0 to 96 % censored, 3 a unit),
# and to 2.9 of log sigma (random designs of 10,000 to 200,000 rows at epsilon 0.2 to 0.6)
USABLE, HOPELESS, OF_LOG_SIGMA = 3.0, 5.0, 1.6
# relative noise of the number of events at which the same happens: scale and start of the fit rest on it
COUNT_USABLE = 0.15
# a column is long on one side if the row weight takes this share of its squares away there, and three times
# what it takes on the other: its effect is then that of the bulk
_LONG_RANGE, _ONE_SIDED = 0.5, 3.0


@dataclass(frozen=True)
class LastSteps:
    """What the last steps found together.

    Attributes
    ----------
    points : array, shape (T, k + 1)
        (gamma, log sigma) at which the scores were read.
    step : array, shape (k + 1,)
        From their mean to the root, in whitened coordinates; shape (k,) where sigma is known.
    noise : array, shape (k + 1,)
        Variances of the noise of the mean score, per row; shape (k,) where sigma is known.
    information : Information
    spread : float
        Scatter of the scores over what their noise explains, at least 1.
    unsettled : bool
        Whether a step was cut short, or the points still moved, or scattered beyond what noise explains.
    off : float
        Relative sd of the size of the information, beside errors of its entries: the step may be as much too
        long, or too short.
    """

    points: np.ndarray
    step: np.ndarray
    noise: np.ndarray
    information: Information
    spread: float
    unsettled: bool
    off: float = 0.0


@dataclass(frozen=True)
class SurvivalEstimate(Estimate):
    """Intercept, slopes and log sigma, for the response on the model's scale.

    Attributes
    ----------
    by_signs : bool
        Whether the slopes are those of the signs of residuals.
    looked : bool
        Whether the fit has asked if times bend.
    events : Quantity, optional
        Number of failures, with the noise of the release that placed columns where rows fail.
    law : Quantity, optional
        Failures that come at other times than the family says, as a share of all: of the contrasts that
        :mod:`.checks` asks for, the one that stands out most.
    """

    by_signs: bool = False
    looked: bool = False
    events: Quantity | None = None
    law: Quantity | None = None


def averaged(steps: Steps, to_params: np.ndarray) -> LastSteps:
    """Of steps that scatter about the line that the points predict, and drift if they go along it.

    The first, up to half of all, are left out where they were on the way to what the others scatter about.
    """
    found = [_averaged(steps.after(left), to_params) for left in range(len(steps.points) // 2 + 1)]
    return next((each for each in found if not each.unsettled), found[0])


def _averaged(steps: Steps, to_params: np.ndarray) -> LastSteps:
    points, scores, _, capped, information = steps
    (count, k), rms = scores.shape, steps.rms
    rest, spread = scatter(points[:, :k], scores, rms, information.matrix, to_params[:k, :k])
    time = np.arange(count) - (count - 1) / 2
    slope = (time @ rest) / math.sqrt(float(time @ time))
    drift = float(np.sum((slope / rms) ** 2)) > k + 5 * math.sqrt(2 * k)
    step = information.inverse @ scores.mean(axis=0)
    moves = capped.any() or drift or scattered(spread, (count - 1) * k)
    return LastSteps(points, step, rms**2 / count, information, spread, bool(moves))


def estimate(
    found: LastSteps,
    bounding: Bounding[Placement],
    choice: Choice,
    whitening: np.ndarray,
    need: float | None = None,
    released: Information | None = None,
) -> SurvivalEstimate:
    """One Newton step from the mean point; sandwich covariance.

    `need` stands in for how far noise is beyond what Newton's steps can use. Failures are counted by what was
    `released` of the information, as what is expected says no more of them than the first stage knew.
    """
    information, spread = found.information, found.spread
    mean, m = found.points.mean(axis=0), len(found.step)
    to_params = step_to_params(mean, bounding.placement.pivot(mean), whitening)[:m, :m]
    step = to_params @ found.step

    inverse = information.inverse
    _, sampling, privacy = step_covariances(information, inverse, found.noise, inverse / bounding.n)
    privacy = privacy * spread + sampling * (spread - 1)
    beyond = _beyond_first_order(information, found.step, sampling + privacy, bounding.k)
    left = information.at_least(sampling + privacy + np.outer(found.step, found.step))
    guess, vague = unseen(information, to_params, bounding, sigma_of(mean), left)
    privacy += guess + information.error_of(found.step) + information.error_across(found.step)
    privacy += found.off**2 * np.outer(found.step, found.step) + beyond
    need = needed(choice, bounding) if need is None else need
    excess = max(1.0, need) ** 3
    scale = bounding.placement.scale
    back = beside(to_user(scale.center, scale.scale, True, scale.y_scale), np.ones(1))
    shift = np.concatenate([[scale.y_center], np.zeros(len(scale.center)), [math.log(scale.y_scale)]])
    back, shift = back[:m, :m], shift[:m]
    axes = back @ to_params
    privacy, sampling, hidden, vague = (axes @ part @ axes.T for part in (privacy, sampling, guess, vague))
    cov_privacy = privacy * excess + sampling * (excess - 1)
    cov = cov_privacy + sampling

    params = back @ (mean[:m] + step) + shift
    result = SurvivalEstimate(params, cov, cov_privacy, (UNSETTLED,) * found.unsettled)
    result = replace(as_found(result, need, bounding, choice, mean), columns=scale.moments(bounding.n))
    result = _with_known_scale(result, bounding.placement.problem)
    blind, few = without_scale(bounding, information), few_events(bounding, released, whitening)
    k = bounding.k
    points = (found.points @ np.eye(k + 1, k)) @ back[:k, :k].T
    scores = LevelScores(points, (back @ step)[:k], *(part[:k, :k] for part in (cov - hidden, sampling)))
    # a last step by a matrix that is all noise may lead anywhere
    log_sigma = np.clip(result.params[-1] - math.log(scale.y_scale), *LOG_SIGMA_RANGE)
    cut = bounding.truncation(choice, mean).cut
    at = Reader(bounding.placement, cut, scale.y_scale * math.exp(log_sigma))
    box = bounding.placement.problem.box
    if ALL_LOST not in result.problems:
        result = read_levels(result, lines(at.placement), scores, hidden[:k, :k], at, blind, few)
        result = result.lost(np.flatnonzero(blind & ~np.append(False, box.binary)))
        result = result.lost(_within_levels(information, axes, box.slopes_within))
    return result.saying(*problems_at(WEAK, weak(vague, result.cov[:m, :m])))


def _beyond_first_order(information: Information, step: np.ndarray, noise: np.ndarray, k: int) -> np.ndarray:
    """Covariance by what a step leaves of log sigma, after k: half its square without its noise.

    By the information an event has, the square is a mean over events of a change of residuals, in sigmas, and
    residuals about a line that is off by so much spread by half of it more.
    """
    matrix = (information.vectors * information.used) @ information.vectors.T
    square = float(step @ matrix @ step - np.sum(matrix * noise))
    return np.diag((np.arange(len(step)) >= k) * (max(square, 0.0) / 2) ** 2)


def as_found(
    result: SurvivalEstimate, need: float, bounding: Bounding[Placement], choice: Choice, point: np.ndarray
) -> SurvivalEstimate:
    """With events and bounds, these at (gamma, log sigma) `point`; no intervals if noise is too much."""
    scale, settings = bounding.placement.scale, settings_of(choice, bounding, point)
    events = bounding.n * scale.fraction, bounding.n * scale.fraction_sd
    result = replace(result, settings=settings, events=Quantity(*events, events[1]))
    return result.hopeless() if need > HOPELESS / USABLE else result


def unseen(
    information: Information,
    to_params: np.ndarray,
    bounding: Bounding[Placement],
    sigma: float,
    left: np.ndarray | float = math.inf,
) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of a whitened step along directions that are not seen: it may be any that is plausible.

    But for what scores have `left` of it, as variances along each. What slopes together do along a direction
    explains at most the whole response, in sds; at two sds the effect of a level, the location and log sigma
    go as far as any do (`FARTHEST`, and a factor of e^2). A direction may go as far as the one that is the
    first to come to its end allows. The second covariance is the part of the first along directions in which
    columns cancel each other: slopes may be still larger there, since noise hides how little these vary.
    """
    scale, width = bounding.placement.scale, widths(bounding.placement)
    level, binary = FARTHEST / 2 * max(sigma, 1.0), bounding.placement.problem.box.binary
    along = np.abs(to_params @ information.vectors)
    slopes = along[1 : bounding.k]
    levels = slopes[binary] * (width / scale.scale)[binary, None] / level
    alone = slopes * np.sqrt(scale.ratio)[:, None]
    share, _ = together(alone[~binary], alone[binary], sigma * np.sqrt(information.used))
    largest, flags = alone[~binary].max(axis=0, initial=0.0), np.linalg.norm(alone[binary], axis=0)
    levels *= np.maximum(share, 1 - largest / np.maximum(flags, ROUNDING))
    ends = np.vstack([along[:1] / level, levels, share * largest, along[bounding.k :]])
    variance = np.max(ends, axis=0) ** -2
    cancelled = information.cancelled(to_params, slice(1, bounding.k), binary, len(along), most_seen=0.0)
    return information.blind(np.minimum(variance, left)), information.blind(variance * cancelled)


def _with_known_scale(result: SurvivalEstimate, problem: SurvivalProblem) -> SurvivalEstimate:
    """With the log sigma that is known, if it is: it has no variance, whatever noise does to the others."""
    if problem.known_sigma is None:
        return result
    cov, privacy = (scipy.linalg.block_diag(each, 0.0) for each in (result.cov, result.cov_privacy))
    params = np.append(result.params, math.log(problem.known_sigma))
    return replace(result, params=params, cov=cov, cov_privacy=privacy)


def without_scale(bounding: Bounding[Placement], information: Information) -> np.ndarray:
    """Columns that may vary far less than their scale, and are not seen in full; shape (k,), intercept first.

    No guess in units of the scale is then wide enough, and where nothing bounds a slope, nothing bounds the
    intercept. Effects of levels have an end. By signs, which see no column, what columns share tells of one
    that may hold one value, if any surely varies.
    """
    scale = bounding.placement.scale
    hidden = (information.vectors[1 : bounding.k] ** 2) @ (information.seen < 0.5)
    vague = (hidden > SHOWN) & scale.hardly_varies
    if isinstance(bounding.placement, PlacedByFamily):
        vague = scale.unknown | (~scale.varies & (not scale.varies.any()))
    return np.append((vague & ~bounding.placement.problem.box.binary).any(), vague)


def _within_levels(information: Information, axes: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Coefficients that rest on slopes in levels of which it is not seen that the number varies there."""
    moved = np.abs(axes @ alike(information, np.linalg.inv(axes)[:, : slopes.shape[2]], slopes))
    return np.flatnonzero((moved > ROUNDING * moved.max(axis=0, initial=0.0)).any(axis=1))


def step_to_params(point: np.ndarray, pivot: np.ndarray, whitening: np.ndarray) -> np.ndarray:
    """Matrix from a whitened step to a change of (gamma, log sigma)."""
    sigma, log_sigma = sigma_of(point), np.eye(1, len(pivot) + 1, len(pivot))
    return np.vstack([np.column_stack([sigma * whitening, -sigma * pivot]), log_sigma])


def off_line(step: np.ndarray, noise: np.ndarray, information: Information, sigma: float, k: int) -> float:
    """Variance of rows about their line, in sigmas: by a step, by its noise, and by what noise hides.

    Of a line that may explain the whole response, that is the share of the information that is not seen.
    Lengths are those that rows have along the first k numbers of a step, of the location.
    """
    location, rows = step[:k], information.matrix[:k, :k] / information.unit[0] ** 2
    hidden = float(np.sum(rows * information.blind()[:k, :k]) / np.trace(rows)) / sigma**2
    return float(location @ rows @ location) + float(np.sum(rows * noise[:k, :k])) + hidden


def needed(choice: Choice, bounding: Bounding[Placement]) -> float:
    """How far noise is beyond what the method can use; variances widen with its cube where it exceeds 1.

    That is a matter of noise, and not of sampling, which is less where rows count several units.
    """
    noise = max(choice.location_noise, choice.log_sigma_noise / OF_LOG_SIGMA) / USABLE
    noise /= math.sqrt(bounding.placement.problem.units)
    count = bounding.placement.scale.fraction_sd / bounding.placement.scale.fraction / COUNT_USABLE
    return max(noise, count)


def ranged(result: SurvivalEstimate, bounding: Bounding[Placement], choice: Choice) -> SurvivalEstimate:
    """A fit that nothing asks whether its line bends, with the columns along which that would matter.

    Of their squares, as far as they are seen, most lie in long rows on one side.
    """
    below, above, whole = bounding.placement.scale.squares_beyond(choice.radius**2)
    least, most = np.minimum(below, above), np.maximum(below, above)
    long = (most > _LONG_RANGE * whole) & (most > _ONE_SIDED * least)
    ranges = problems_at(RANGE, 1 + np.flatnonzero(long))
    return result if ALL_LOST in result.problems else result.saying(*ranges)


def settings_of(choice: Choice, bounding: Bounding[Placement], mean: np.ndarray) -> dict[str, float | str]:
    """Bounds that are part of the estimand, at a point (gamma, log sigma)."""
    where = bounding.truncation(choice, mean)
    early = {} if where.known_scale else {"z_l": where.limits[0]}
    settings: dict[str, float | str] = {"cut c": choice.c, **early, "R": choice.radius}
    return settings | ({"floor": where.floor} if math.isfinite(where.floor) else {})

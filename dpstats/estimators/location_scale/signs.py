"""Where noise outweighs what rows say of curvature: slopes by the signs of residuals.

A matrix of k^2 numbers costs more noise than its k coefficients, and steps by one that is mostly noise do not
arrive. Here the slopes move by a score that asks of each row only on which side of its predicted median it
failed (:mod:`dpstats.families.signs`), the most that noise leaves; intercept and log sigma, two numbers,
follow each step (:mod:`.intercept_scale`). Noise of a step is a share of sigma, which falls as the slopes
improve, so that few steps lead from no slopes at all to the neighbourhood. The last are averaged by what each
estimates.
See docs/theory/survival.md#slopes-by-the-signs-of-residuals.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpstats._codes import SHAPE
from dpstats.curator import Curator
from dpstats.estimators.bent_times import costs_of
from dpstats.estimators.engine.average import SCATTER
from dpstats.estimators.engine.information import Information
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.engine.route import LONGEST, Route, capped
from dpstats.estimators.location_scale.bent_line import quietest, straightened
from dpstats.estimators.location_scale.checks import contrasted, law_checked
from dpstats.estimators.location_scale.estimate import LastSteps, SurvivalEstimate, estimate, ranged
from dpstats.estimators.location_scale.event_expectations import expected
from dpstats.estimators.location_scale.information import floored
from dpstats.estimators.location_scale.intercept_scale import LevelRelease, release_level, solved
from dpstats.estimators.location_scale.problem import LOG_SIGMA_RANGE, SurvivalProblem, sigma_of
from dpstats.estimators.location_scale.sign_frame import SignFrame, framed, sized
from dpstats.estimators.location_scale.sign_tuning import TUNING
from dpstats.estimators.row_scale import RowScale
from dpstats.families import NORMAL
from dpstats.moments.solution import not_noise


@dataclass(frozen=True)
class Step:
    """One release of the score of the slopes, per row: where, what, its noise, and its slope there."""

    point: np.ndarray
    scores: np.ndarray
    noise: float
    slope: float

    @property
    def shrunk(self) -> np.ndarray:
        """The step, in sigmas, shrunk by what noise alone would have made of it."""
        by_noise = len(self.scores) * self.noise**2
        return not_noise(np.sum(self.scores**2), by_noise) * self.scores / self.slope


@dataclass(frozen=True)
class Average:
    """Slopes, the sd of noise in each whitened one, and the scatter of steps over what noise explains.

    And how far the slopes lie from the mean of those at which scores were read, whitened.
    """

    slopes: np.ndarray
    noise: float
    spread: float
    moved: np.ndarray


def average(steps: list[Step], frame: SignFrame, scales: np.ndarray) -> Average:
    """What each step estimates, by precision; `scales` are the sigmas at which the scores were read."""
    last, scores = steps[-1].point, np.array([step.scores for step in steps])
    told = told_of(frame, last[1:-1], math.exp(last[-1])) * frame.slope
    noise = np.array([step.noise for step in steps]) / frame.slope * scales
    points = np.array([step.point[1:-1] for step in steps])
    estimates = points + scales[:, None] * (np.linalg.solve(told, scores.T).T @ frame.whitening[:, 1:])
    weights = noise**-2 / np.sum(noise**-2)
    mean = weights @ estimates
    scatter = np.mean(((estimates - mean) @ frame.back * frame.ratio / noise[:, None]) ** 2)
    return Average(
        mean,
        float(np.sum(noise**-2)) ** -0.5,
        float(scatter) * len(steps) / (len(steps) - 1),
        (mean - weights @ points) @ frame.back,
    )


def told_of(frame: SignFrame, slopes: np.ndarray, sigma: float) -> np.ndarray:
    """Information about whitened slopes over that about one of a covariate of variance 1, (d, d)."""
    size = np.sqrt(frame.ratio)
    return by_selection(frame, slopes, sigma) * np.outer(size, size)


def by_selection(frame: SignFrame, slopes: np.ndarray, sigma: float) -> np.ndarray:
    """What selection leaves of the information along the slopes, (d, d); elsewhere the identity.

    Rows that are expected to live long are the more likely censored, so that predictions vary less over the
    events than over all rows: as a normal does below its quantile of the event fraction where all rows are
    censored at one time, and not at all where censoring goes with the prediction. Half of it is expected, and
    nothing where correlations of the events stand out, as this would be among them.
    """
    if frame.shape.structured:
        return np.eye(len(slopes))
    whitened = slopes @ frame.back
    square = float(whitened @ whitened)
    explained = square / (
        square + sigma**2 * expected(frame.bounding.placement.problem.family, 1.0).residual_square
    )
    lost = TUNING.selection * (1 - expected(NORMAL, frame.shape.fraction).residual_square) * explained
    return np.eye(len(whitened)) - lost * np.outer(whitened, whitened) / max(square, 1e-300)


def combined(
    found: Average, frame: SignFrame, levels: Sequence[LevelRelease], level: np.ndarray
) -> tuple[LastSteps, float]:
    """All coefficients, with their information; and how far noise is beyond what can be used.

    Noise in the slopes is taken off log sigma (:func:`spread_by_noise`).
    """
    d, sigma = len(frame.whitening), math.exp(level[1])
    noise, bias = found.noise / sigma, spread_by_noise(found, frame, sigma)
    point = np.concatenate([[level[0]], found.slopes, [level[1] - bias]])
    pair = np.mean([each.information for each in levels], axis=0)
    relative, unseen = _relative_error(frame)
    level_noise, log_sigma_error = _level_noise(levels, pair, bias, _hidden(unseen, sigma, frame), frame)
    events = frame.bounding.placement.scale.fraction_sd / frame.shape.fraction
    # steps are too long or too short by it, and what noise did to one is then still in the next
    wrong = math.hypot(log_sigma_error, 1.5 * events)
    # scores are scaled so that their variance is the information
    size = frame.slope**2 / frame.square
    m, ends = d + len(pair), [0, -1][: len(pair)]
    information = np.zeros((m, m))
    information[1 : d + 1, 1 : d + 1] = size * told_of(frame, found.slopes, sigma)
    information[np.ix_(ends, ends)] = pair
    noises = np.insert(level_noise, 1, np.full(d, noise * (1 + wrong) * size))
    errors = np.insert(np.full(len(pair), TUNING.structure), 1, relative) * np.diag(information)
    used = _along(frame, information, errors)
    need = max(
        math.sqrt(_many(frame)) * noise / TUNING.slopes_usable,
        log_sigma_error / TUNING.log_sigma_usable,
        events / TUNING.count_usable,
    )
    way = used.error_of(np.pad(found.moved / sigma, (1, m - d - 1)))
    variances = noises**2 + np.diag(used.matrix @ way @ used.matrix)
    return LastSteps(
        point[None, :], np.zeros(m), variances, used, max(1.0, found.spread), found.spread > SCATTER
    ), need


def _along(frame: SignFrame, information: np.ndarray, errors: np.ndarray) -> Information:
    """The information as it is used; its errors are those along the axes of the covariates."""
    axes, d = np.eye(len(information)), len(frame.whitening)
    axes[1 : d + 1, 1 : d + 1] = frame.shape.axes
    turned = axes.T @ information @ axes
    found = floored(turned, np.diag(errors), np.eye(len(axes)), np.sqrt(np.diag(information)))
    return replace(found, vectors=axes @ found.vectors)


def spread_by_noise(found: Average, frame: SignFrame, sigma: float) -> float:
    """What noise in the slopes adds to log sigma: half its variance over that of residuals."""
    noise = found.noise / sigma
    return float(min(0.5 * _many(frame) * noise**2 / frame.residual_square, TUNING.largest_bias))


def _many(frame: SignFrame) -> float:
    """What noise in all slopes that are known adds to the spread of residuals, in variances of one."""
    return float(np.sum(~frame.bounding.placement.scale.unknown / frame.ratio))


def _level_noise(
    levels: Sequence[LevelRelease], pair: np.ndarray, bias: float, hidden: float, frame: SignFrame
) -> tuple[np.ndarray, float]:
    """sds of the scores of intercept and log sigma, and the error of log sigma.

    A known log sigma has none, but the spread that the slopes leave has: the intercept moves with it.
    """
    noise = np.mean([each.noise for each in levels], axis=0) / math.sqrt(len(levels))
    if len(noise) == 1:
        usual = frame.bounding.placement.expected
        moved = (usual.residual_mean + usual.offset) * math.hypot(bias, hidden)
        return np.hypot(noise, pair[0] * moved), 0.0
    return np.array([noise[0], math.hypot(noise[1], pair[1, 1] * hidden)]), math.hypot(
        noise[1] / pair[1, 1], bias
    )


def _relative_error(frame: SignFrame) -> tuple[np.ndarray, int]:
    """Of the information along each axis of the covariates; and along how many it may be all noise."""
    if not frame.shape.structured:
        return np.hypot(TUNING.structure, np.minimum(frame.bounding.placement.scale.error, 1.0)), 0
    errors = np.hypot(TUNING.structure, frame.shape.relative)
    return errors, int(np.sum(errors > 0.5))


def _hidden(unseen: int, sigma: float, frame: SignFrame) -> float:
    """What effects in directions that are not seen may have added to log sigma."""
    unseen += int(np.sum(frame.bounding.placement.scale.unknown))
    return 0.5 * math.log1p(
        unseen * TUNING.hidden_square / sigma**2 / frame.residual_square / len(frame.whitening)
    )


class SignRoute(Route[tuple[float, float], SurvivalEstimate]):
    """Each step moves the slopes, and then intercept and log sigma at a cost of their own."""

    def __init__(self, curator: Curator, problem: SurvivalProblem, plan: Plan, scale: RowScale) -> None:
        super().__init__(
            curator,
            list(zip(plan["early"], plan["early_level"], strict=True)),
            list(zip(plan["last"], plan["last_level"], strict=True)),
        )
        self._plan, self._problem = plan, problem
        # the spread about slopes that are not found yet is not sigma: it is followed though sigma be known
        self.frame = framed(curator, replace(problem, known_sigma=None), plan, scale)
        self.point: np.ndarray = self.frame.bounding.placement.start
        self._steps: list[Step] = []
        self._prior = np.full(2, TUNING.last_prior)
        for mu in plan["start"]:
            self._follow(mu)

    def prepare(self, t: int) -> None:
        if t == len(self.early):
            self.frame = sized(self.curator, self._plan.cost("sizes"), self.frame, self.point)
            self._steps = self._steps[-TUNING.kept :]

    def approach(self, t: int, cost: tuple[float, float]) -> None:
        step = self._read(cost[0])
        move, _ = capped(TUNING.early * step.shrunk, LONGEST)
        self.point = np.append(
            self.point[:-1] + math.exp(self.point[-1]) * (self.frame.whitening.T @ move), self.point[-1]
        )
        self._follow(cost[1])

    def settle(self, cost: tuple[float, float]) -> None:
        """From the average of the steps so far; what is known of the level shrinks its moves."""
        self._read(cost[0])
        slopes = average(self._steps, self.frame, np.exp([step.point[-1] for step in self._steps])).slopes
        self.point = np.concatenate([self.point[:1], slopes, self.point[-1:]])
        level = self._follow(cost[1], self._prior)
        self._prior = np.hypot((self._prior**-2 + level.error**-2) ** -0.5, TUNING.drift)

    def finish(self) -> SurvivalEstimate:
        """Intercept and log sigma at the average of the slopes, and all of it with its uncertainty."""
        self._hold()
        found = [(self._follow(mu, math.inf), self.point) for mu in self._plan["level"]]
        levels, ends = zip(*found[1:], strict=True)  # the first was read before the level had settled
        level = np.mean(ends, axis=0)[[0, -1]]
        whole, need = combined(self._average(math.exp(level[1])), self.frame, levels, level)
        return self._estimate(whole, need)

    def _read(self, mu: float) -> Step:
        """Release the score of the slopes, and keep what it says of them."""
        release, frame = self.curator.release("sign_score", mu, **self.frame.public(self.point)), self.frame
        step = Step(self.point, release.values[0].ravel() / release.n, release.sd / release.n, frame.slope)
        self._steps = [*self._steps, step]
        return step

    def _follow(self, mu: float, prior: np.ndarray | float = TUNING.prior) -> LevelRelease:
        """Intercept and log sigma follow the slopes, shrunk by what is expected of their move."""
        level = release_level(self.curator, mu, self.frame.bounding, self.frame.choice, self.point)
        self.point = _moved(self.point, solved(level, self.frame.shape.fraction, prior))
        return level

    def _average(self, sigma: float) -> Average:
        """Of all steps, whose residuals spread by sigma and by what their slopes were off."""
        frame, slopes = self.frame, self.point[1:-1]
        away = [np.sum(((step.point[1:-1] - slopes) @ frame.back) ** 2) for step in self._steps]
        scales = np.sqrt(sigma**2 + np.array(away) / frame.residual_square)
        return average(self._steps, frame, scales)

    def _hold(self) -> None:
        """A known sigma is that of residuals about the true slopes: about these, noise in them adds to it."""
        placement = replace(self.frame.bounding.placement, problem=self._problem)
        if not self._problem.known_scale:
            return
        self.point = self._problem.held(self.point, placement.scale)
        self.frame = replace(self.frame, bounding=replace(self.frame.bounding, placement=placement))
        sigma = math.exp(self.point[-1])
        self.point[-1] += spread_by_noise(self._average(sigma), self.frame, sigma)

    def _estimate(self, whole: LastSteps, need: float) -> SurvivalEstimate:
        frame, placement = self.frame, self.frame.bounding.placement
        whitening = np.eye(len(frame.whitening) + 1)
        whitening[1:, 1:] = frame.whitening[:, 1:]
        result = estimate(whole, frame.bounding, frame.choice, whitening, need)
        result = replace(
            # errors are then up to 1 / (1 - hidden^2)^1/2 = 2 times too short, or more
            result.saying(*[SHAPE] * (frame.shape.hidden**2 > 0.75)),
            settings={**result.settings, "slopes": "signs of residuals"},
            by_signs=True,
        )
        cost, (point, *_) = self._plan.cost("check"), whole.points
        if "bend" in self._plan.stages:
            choice = quietest(frame.bounding, replace(frame.choice, radius=frame.radius), point)
            result = straightened(
                self.curator, frame.bounding, choice, whitening, costs_of(self._plan), result
            )
        else:
            result = ranged(result, frame.bounding, frame.choice)
        law = contrasted(self.curator, cost, placement, point, sigma_of(point))
        return law_checked(result, law, frame.bounding, frame.choice, point)


def _moved(point: np.ndarray, move: tuple[float, float]) -> np.ndarray:
    """The point after a step of intercept and log sigma."""
    log_sigma = np.clip(point[-1] + move[1], *LOG_SIGMA_RANGE)
    return np.concatenate([point[:1] + math.exp(point[-1]) * move[0], point[1:-1], [log_sigma]])

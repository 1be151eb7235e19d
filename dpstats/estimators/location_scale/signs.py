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
from dataclasses import replace

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.engine.route import Route
from dpstats.estimators.engine.step import LONGEST, capped
from dpstats.estimators.location_scale.estimate import LastSteps, SurvivalEstimate, estimate, ranged
from dpstats.estimators.location_scale.hazard_calibration import contrasted, doubted
from dpstats.estimators.location_scale.intercept_scale import LevelRelease, release_level, solved
from dpstats.estimators.location_scale.problem import LOG_SIGMA_RANGE, Problem, sigma_of
from dpstats.estimators.location_scale.sign_average import Average, Step, average, combined, spread_by_noise
from dpstats.estimators.location_scale.sign_frame import framed, sized
from dpstats.estimators.location_scale.sign_tuning import TUNING
from dpstats.estimators.row_scale import RowScale


class SignRoute(Route[tuple[float, float], SurvivalEstimate]):
    """Each step moves the slopes, and then intercept and log sigma at a cost of their own."""

    def __init__(self, curator: Curator, problem: Problem, plan: Plan, scale: RowScale) -> None:
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
        result = ranged(result, frame.bounding, frame.choice)
        result = replace(
            # errors are then up to 1 / (1 - hidden^2)^1/2 = 2 times too short, or more
            result.doubted(0.0, *["shape"] * (frame.shape.hidden**2 > 0.75)),
            settings={**result.settings, "slopes": "signs of residuals"},
            by_signs=True,
        )
        cost, (point, *_) = self._plan.cost("check"), whole.points
        law = contrasted(self.curator, cost, placement, point, sigma_of(point))
        return doubted(result, law, frame.bounding, frame.choice, point)


def _moved(point: np.ndarray, move: tuple[float, float]) -> np.ndarray:
    """The point after a step of intercept and log sigma."""
    log_sigma = np.clip(point[-1] + move[1], *LOG_SIGMA_RANGE)
    return np.concatenate([point[:1] + math.exp(point[-1]) * move[0], point[1:-1], [log_sigma]])

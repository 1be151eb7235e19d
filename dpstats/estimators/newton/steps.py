"""Steps of a generalised linear model: what is released at a point, and what the last ones say together.

See docs/theory/glm.md#steps.
"""

from collections.abc import Sequence

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.engine.information import Accumulator
from dpstats.estimators.engine.route import LONGEST, Newton, Scores, capped
from dpstats.estimators.newton.bounds import Bounds
from dpstats.estimators.newton.estimate import Averaged
from dpstats.estimators.newton.information import Public, floored
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.families.bounded_score import logistic_information_weight


class GlmSteps(Newton[Scores, Averaged]):
    """Steps of a generalised linear model by scores and the information released with them.

    Attributes
    ----------
    point : array, shape (k,)
        Coefficients of the standardised columns.
    located : Located
    start : array, shape (k,)
        Where the iteration began.
    whitening : array, shape (k, k)
    bounds : Bounds
    released, variability : Accumulator
        Of the curvature, and of the squared scores, which some families do not release.
    """

    damping = 1.0  # of the last steps

    def __init__(
        self,
        curator: Curator,
        costs: tuple[Sequence[float], Sequence[float]],
        problem: Problem,
        located: Located,
        start: np.ndarray,
        whitening: np.ndarray,
        bounds: Bounds,
    ) -> None:
        super().__init__(curator, *costs)
        self.located, self.start, self.point = located, start, start
        self.whitening, self.bounds = whitening, bounds
        self._public = Public.of(problem, located)
        self._matrices: list[np.ndarray] = []
        self.forget()

    @property
    def longest(self) -> float:
        """Cap of a step, in sds of the linear predictor."""
        return LONGEST

    def read(self, cost: float) -> Scores:
        """Release scores per row; take their matrices into account."""
        bounds = self.bounds
        public = dict(
            **self.located.public(), beta=self.point, whitening=self.whitening, radius=bounds.radius
        )
        if bounds.score is None:
            release = self.curator.release("logistic_score", cost, **public)
            tau = logistic_information_weight(bounds.radius)
        else:
            release = self.curator.release("glm_score", cost, **public, score=bounds.score)
            tau, kappa = bounds.score.matrix_weights(bounds.radius)
            per_row = release.n * kappa
            self.variability.add(release.values[2] / per_row, release.sd / per_row, self.whitening)
        n, sd = release.n, release.sd / release.n
        self.released.add(release.values[1] / n / tau, sd / tau, self.whitening)
        self.information = floored(self.released, self.whitening)
        return Scores(release.values[0].ravel() / n, np.array(sd))

    def about(self, read: Scores) -> bool:
        self._matrices.append(self.released.releases[-1].matrix)
        return self.move(self.damping * self.information.solve(read.scores))

    def move(self, step: np.ndarray) -> bool:
        """Take a whitened step, no longer than the cap; whether it was cut short."""
        step, short = capped(step, self.longest)
        self.point = self.point + self.whitening @ step
        return short

    def forget(self) -> None:
        """Begin to collect matrices anew."""
        self.released, self.variability = Accumulator(), Accumulator()

    def finish(self) -> Averaged:
        """Steps that count alike, about the root."""
        steps = self.steps._replace(information=floored(self.released, self.whitening, self._public))
        return Averaged(steps, np.array(self._matrices), self.whitening, self.variability, self.start)

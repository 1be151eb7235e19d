"""Releases of scores and information at a point, the step that they give, and steps that are averaged.

See docs/theory/glm.md#steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.engine.accumulate import Accumulator
from dpstats.estimators.engine.information import Information
from dpstats.estimators.engine.step import capped
from dpstats.estimators.newton.bounds import Bounds
from dpstats.estimators.newton.estimate import Averaged
from dpstats.estimators.newton.information import usable
from dpstats.estimators.newton.located import Located
from dpstats.families.bounded_score import logistic_information_weight

Array = np.ndarray


@dataclass
class State:
    """Where an iteration stands: released and public numbers only.

    Attributes
    ----------
    located : Located
    beta : array, shape (k,)
        Coefficients of the standardised columns.
    whitening : array, shape (k, k)
    bounds : Bounds
    information, variability : Accumulator
        Of the curvature, and of the squared scores, which some families do not release.
    """

    located: Located
    beta: Array
    whitening: Array
    bounds: Bounds
    information: Accumulator = field(default_factory=Accumulator)
    variability: Accumulator = field(default_factory=Accumulator)

    def release(self, curator: Curator, mu: float) -> tuple[Array, float]:
        """Release scores per row, whose noise sd is returned, too; take their matrices into account."""
        bounds = self.bounds
        public = dict(**self.located.public(), beta=self.beta, whitening=self.whitening, radius=bounds.radius)
        if bounds.score is None:
            release = curator.release("logistic_score", mu, **public)
            tau = logistic_information_weight(bounds.radius)
        else:
            release = curator.release("glm_score", mu, **public, score=bounds.score)
            tau, kappa = bounds.score.matrix_weights(bounds.radius)
            per_row = release.n * kappa
            self.variability.add(release.values[2] / per_row, release.sd / per_row, self.whitening)
        n, sd = release.n, release.sd / release.n
        self.information.add(release.values[1] / n / tau, sd / tau, self.whitening)
        return release.values[0].ravel() / n, sd

    @property
    def usable(self) -> Information:
        """The information as far as it is known, in today's coordinates."""
        return usable(self.information, self.whitening)

    def move(self, step: Array, longest: float) -> None:
        """Take a whitened step, no longer than the cap."""
        step, _ = capped(step, longest)
        self.beta = self.beta + self.whitening @ step

    def forget(self) -> None:
        """Begin to collect matrices anew."""
        self.information, self.variability = Accumulator(), Accumulator()


def averaged_steps(
    curator: Curator, costs: Sequence[float], state: State, start: Array, longest: float, damping: float = 1.0
) -> Averaged:
    """Take steps that count alike, about the root; `start` is where the iteration began."""
    points, scores, matrices, noise = [], [], [], []
    for mu in costs:
        score, sd = state.release(curator, mu)
        points.append(state.beta)
        scores.append(score)
        matrices.append(state.information.releases[-1].matrix)
        noise.append(sd**2)
        information = state.usable
        state.move(damping * information.solve(score), longest)
    return Averaged(
        np.array(points),
        np.array(scores),
        np.array(matrices),
        math.sqrt(np.mean(noise)),
        information,
        state.whitening,
        state.variability,
        start,
    )

"""The curvature of the loss at the minimum, as it is released and as it is seen."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpstats.curator import Curator, Minimum
from dpstats.estimators.engine.information import FLOOR, Information
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.gram.unrelated import Known, NoiseLeft, pairs
from dpstats.estimators.matrices import SMALLEST, noise_edge
from dpstats.estimators.newton.information import Public
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.objective.bounds import Cut
from dpstats.estimators.objective.tuning import Tuning
from dpstats.families import LOGISTIC_LOSS
from dpstats.formula.ball import UnitBall
from dpstats.moments.solution import believed, seen_share

_LEAST_LEFT = 1e-6  # share of a variance of noise that is left, at least


@dataclass(frozen=True)
class Matrices:
    """Of a row, released at the minimum: its curvature, law and sds of the noise, squared scores if asked.

    What breaks what is public of both is taken off, and so is what noise makes of pairs of columns that are
    not correlated: the sds are those before, and `left` tells what is left.
    """

    curvature: np.ndarray
    law: str
    sds: np.ndarray
    scores: np.ndarray | None
    left: NoiseLeft

    @property
    def edge(self) -> float:
        """The largest eigenvalue of the noise of the curvature, about: it goes by its mean square."""
        return noise_edge(self.sds, self.law) * math.sqrt(self.left.free)

    def noise_of_product(self, second: np.ndarray) -> np.ndarray:
        """Covariance of N v for v with these second moments, N being the noise of the curvature."""
        return self._sd**2 * self.left.of_product(second)

    def noise_along(self, vectors: np.ndarray) -> np.ndarray:
        """Sds of the noise of the curvature along these unit vectors, in columns."""
        return self._sd * np.sqrt(np.maximum(self.left.along(vectors), _LEAST_LEFT))

    @property
    def _sd(self) -> float:
        """Along any direction, of all that was released."""
        return float(np.diag(self.sds).max())

    @cached_property
    def information(self) -> Information:
        """The curvature as it is seen.

        An eigenvalue exceeds what it is without noise by no more than noise has on the space of the
        eigenvectors up to it: of j, sqrt(2 j) of its sds, and one more in less than 1 % of them.
        """
        values, vectors = np.linalg.eigh(self.curvature)
        noise = self.noise_along(vectors)
        edges = noise * (1 + np.minimum(np.sqrt(2 * np.arange(1, len(values) + 1)), self.edge / self._sd))
        sizes = np.maximum(np.maximum(believed(noise), edges), SMALLEST * float(np.max(noise)))
        used, seen = np.maximum(values, FLOOR * sizes), seen_share(values, sizes)
        return Information(values, vectors, used, noise, seen, np.ones(len(values)), self.noise_of_product)

    @property
    def floored(self) -> np.ndarray:
        """The curvature with eigenvalues raised to what noise may have made of them."""
        return self.information.matrix


def known_of(problem: Problem, located: Located, ball: UnitBall, level: float) -> Known:
    """What is known of the curvature before it is released, that of a row being about `level`."""
    lead, public = int(problem.intercept), Public.of(problem, located)
    free = np.setdiff1d(np.arange(lead, problem.k), np.concatenate([[], *problem.categories]))
    groups = pairs(lead, free.astype(int), problem.categories, problem.alike)
    most = level / ball.radius**2
    if public is None:
        return Known(groups, most)
    return Known(groups, most, public.structure, ball.turned / ball.radius @ public.way)


def released(
    curator: Curator, ball: UnitBall, plan: Plan, minimum: Minimum, robust: bool, known: Known, cut: Cut
) -> Matrices:
    """The curvature at the minimum, cut, and squared scores beside one that is not, if asked for."""
    about, n = dict(ball.public(), loss=LOGISTIC_LOSS, params=minimum.params), minimum.n
    cost = plan.cost("matrices")
    if not robust:
        release = curator.release("margin_curvature", cost, steepest=cut.steepest, **about)
        found, sds = (part[0] / cut.kept / n for part in (release.values, release.sds))
        curvature, left = known.read(found, float(np.diag(sds).max()))
        return Matrices(curvature, release.law, sds, None, left)
    release = curator.release("margin_sandwich", cost, **about)
    weight = LOGISTIC_LOSS.together / ball.longest
    found, sds = (part[1] / weight / n for part in (release.values, release.sds))
    scores, _ = known.read(release.values[0] / n, float(np.diag(release.sds[0]).max()) / n)
    curvature, left = known.read(found, float(np.diag(sds).max()))
    return Matrices(curvature, release.law, sds, scores, left)


def steep(matrices: Matrices, tuning: Tuning) -> np.ndarray:
    """A factor of errors by noise of the curvature.

    The correction falls with the curvature: two sds less make it larger by more than twice what one does to
    first order, which the factor makes up for.
    """
    seen, far = matrices.information, tuning.far
    sizes = np.maximum(seen.used, believed(seen.sds))
    factor = 1 + seen.seen * far * seen.sds / (sizes - far * seen.sds)
    return np.asarray((seen.vectors * factor) @ seen.vectors.T)

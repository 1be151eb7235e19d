"""The curvature of the loss at the minimum, as it is released and as it is seen."""

import math
from typing import NamedTuple

import numpy as np

from dpstats.curator import Curator, Minimum
from dpstats.estimators.engine.information import Information
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.gram.structure import Left
from dpstats.estimators.matrices import noise_edge, noise_of_product, with_floor
from dpstats.estimators.newton.information import Public
from dpstats.estimators.objective.bounds import Cut
from dpstats.estimators.objective.tuning import Tuning
from dpstats.families import LOGISTIC_LOSS
from dpstats.formula.ball import UnitBall
from dpstats.moments.solution import believed, seen_share


class Matrices(NamedTuple):
    """Of a row, released at the minimum: its curvature, law and sds of the noise, squared scores if asked.

    What breaks what is public of both is taken off: the sds are those before, and `left` tells what is left.
    """

    curvature: np.ndarray
    law: str
    sds: np.ndarray
    scores: np.ndarray | None
    left: Left | None = None

    @property
    def edge(self) -> float:
        """The largest eigenvalue of the noise of the curvature, about: it goes by its mean square."""
        return noise_edge(self.sds, self.law) * math.sqrt(self.left.free if self.left else 1.0)

    def noise_of_product(self, second: np.ndarray) -> np.ndarray:
        """Covariance of N v for v with these second moments, N being the noise of the curvature."""
        if self.left is None:
            return noise_of_product(self.sds, second)
        return self._sd**2 * self.left.of_product(second)

    def noise_along(self, vectors: np.ndarray) -> np.ndarray:
        """Sds of the noise of the curvature along these unit vectors, in columns."""
        if self.left is None:
            return np.array(
                [math.sqrt(v @ noise_of_product(self.sds, np.outer(v, v)) @ v) for v in vectors.T]
            )
        return self._sd * np.sqrt(self.left.along(vectors))

    @property
    def _sd(self) -> float:
        """Along any direction, of all that was released."""
        return float(np.diag(self.sds).max())

    @property
    def floored(self) -> np.ndarray:
        """The curvature with its eigenvalues raised to its noise as an operator, s sqrt k."""
        return with_floor(self.curvature, self.edge / math.sqrt(2))


def released(
    curator: Curator,
    ball: UnitBall,
    plan: Plan,
    minimum: Minimum,
    robust: bool,
    public: Public | None,
    cut: Cut,
) -> Matrices:
    """The curvature at the minimum, cut, and squared scores beside one that is not, if asked for."""
    about, n = dict(ball.public(), loss=LOGISTIC_LOSS, params=minimum.params), minimum.n
    cost, way = plan.cost("matrices"), ball.turned / ball.radius
    left = None if public is None else public.noise(way)

    def obeying(matrix: np.ndarray) -> np.ndarray:
        return matrix / n if public is None else public.nearest(matrix / n, way)

    if not robust:
        release = curator.release("margin_curvature", cost, steepest=cut.steepest, **about)
        curvature, sds = (part[0] / cut.kept for part in (release.values, release.sds))
        return Matrices(obeying(curvature), release.law, sds / n, None, left)
    release = curator.release("margin_sandwich", cost, **about)
    weight = LOGISTIC_LOSS.together / ball.longest
    scores, curvature = (obeying(each) for each in release.values)
    return Matrices(curvature / weight, release.law, release.sds[1] / weight / n, scores, left)


def seen_curvature(matrices: Matrices, tuning: Tuning) -> tuple[Information, np.ndarray]:
    """The curvature as it is seen, and a factor of errors.

    The correction falls with the curvature: two sds less make it larger by more than twice what one does to
    first order, which the factor makes up for.
    """
    far = tuning.far
    values, vectors = np.linalg.eigh(matrices.curvature)
    noise = matrices.noise_along(vectors)
    sizes = np.maximum(believed(noise), matrices.edge)
    raised, seen = np.maximum(values, sizes), seen_share(values, sizes)
    steep = 1 + seen * far * noise / (raised - far * noise)
    information = Information(
        values, vectors, raised, noise, seen, np.ones(len(values)), matrices.noise_of_product
    )
    return information, (vectors * steep) @ vectors.T

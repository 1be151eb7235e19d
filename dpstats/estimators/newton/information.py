"""What is known of a matrix released step by step, and how it is made usable (docs/theory/glm.md#steps)."""

from dataclasses import dataclass, replace

import numpy as np

from dpstats.estimators.engine.information import FLOOR, FORGET, Accumulator, Information
from dpstats.estimators.known.structure import Left, Structure
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem

# sd of the relative change of an eigenvalue, or of their mean, between two such steps, where curvature
# depends on the means
CHANGE = 0.3


@dataclass(frozen=True)
class Public:
    """What is public of the information: some products of columns are the same in every row, or 0.

    It is a sum of rows, each with a weight of its own, so that the same entries of it are. See
    docs/theory/levels.md#in-the-information.

    Attributes
    ----------
    structure : Structure
    way : array, shape (k, k)
        What takes rows in which columns of levels and flags are 0 or 1 to standardised ones.
    """

    structure: Structure
    way: np.ndarray

    @classmethod
    def of(cls, problem: Problem, located: Located) -> "Public | None":
        """None where all entries are free."""
        if problem.alike is None or (structure := Structure.of(problem.alike)) is None:
            return None
        if not problem.intercept:  # nothing is centred
            return cls(structure, np.diag(1 / located.scale))
        plain = np.append(True, problem.plain)
        way = np.diag(1 / np.where(plain, located.scale, 1.0))
        way[1:, 0] = -(plain * located.center / located.scale)[1:]
        return cls(structure, way)

    def nearest(self, matrix: np.ndarray, whitening: np.ndarray) -> np.ndarray:
        """The nearest matrix that obeys; W whitens standardised rows."""
        return self.structure.nearest(matrix, whitening @ self.way)

    def noise(self, whitening: np.ndarray) -> Left:
        """What `nearest` leaves of noise of sd 1 along any direction."""
        return Left(self.structure, whitening @ self.way)


def floored(releases: Accumulator, whitening: np.ndarray, public: Public | None = None) -> Information:
    """Raise eigenvalues that the error could explain, less the noise that breaks what is public."""
    mean = releases.mean(whitening)
    values, vectors = np.linalg.eigh(mean if public is None else public.nearest(mean, whitening))
    sds = releases.sds(whitening, vectors)
    if public is None:
        return Information.of(values, vectors, sds)
    left, root = public.noise(whitening), (vectors * np.sqrt(sds)) @ vectors.T

    def of_product(second: np.ndarray) -> np.ndarray:
        return np.asarray(root @ left.of_product(root @ second @ root) @ root)

    sds = sds * np.sqrt(left.along(vectors))
    return replace(Information.of(values, vectors, sds), of_product=of_product)


def of_row(information: Information, row: np.ndarray) -> tuple[float, float]:
    """The matrix in the direction of a row, whatever its length, and the sd of its error."""
    sd = float(np.linalg.norm((information.vectors.T @ row) ** 2 * information.sds))
    return float(row @ information.matrix @ row), sd


def drawn(information: Information, level: float) -> np.ndarray:
    """The matrix, drawn to `level` along directions of which the releases say little."""
    values, vectors, sizes = information.values, information.vectors, information.sizes
    prior = level**2 / (level**2 + sizes**2)
    values = prior * values + (1 - prior) * level
    values = np.maximum(values, FLOOR * np.minimum(sizes, level))
    return np.asarray((vectors * values) @ vectors.T)


def past(releases: Accumulator, information: Information, whitening: np.ndarray) -> float:
    """What matrices of earlier points weigh beside those of the next, where curvature depends on the means.

    A release of relative noise r says as much as an average of earlier ones that are off by a share of sd c,
    if these weigh r^2 / (r^2 + c^2): by the noisiest direction that is seen.
    """
    last = Accumulator(releases.releases[-1:]).sds(whitening, information.vectors)
    noise = float(np.max(last / information.used, where=information.seen > 0.5, initial=0.0))
    return min(noise**2 / (noise**2 + CHANGE**2), FORGET) if noise else FORGET


def dispersion(
    variability: Accumulator, information: Information, whitening: np.ndarray
) -> tuple[float, float]:
    """Variability over information, by directions that are seen well; and its noise."""
    vectors = information.vectors
    sds = variability.sds(whitening, vectors)
    seen = np.einsum("ij,ik,kj->j", vectors, variability.mean(whitening), vectors)
    weights = 1 / (1 + (information.sizes / information.used) ** 2)
    total = float(weights @ information.used)
    return float(weights @ seen) / total, float(np.linalg.norm(weights * sds)) / total

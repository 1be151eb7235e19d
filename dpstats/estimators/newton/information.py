"""What is known of a matrix released step by step, and how it is made usable (docs/theory/glm.md#steps)."""

import numpy as np

from dpstats.estimators.engine.accumulate import Accumulator
from dpstats.estimators.engine.information import FLOOR, FORGET, Information

# sd of the relative change of an eigenvalue between two such steps, where curvature depends on the means
_CHANGE = 0.3


def usable(releases: Accumulator, whitening: np.ndarray) -> Information:
    """Raise eigenvalues that the error could explain."""
    values, vectors = np.linalg.eigh(releases.mean(whitening))
    return Information.of(values, vectors, releases.sds(whitening, vectors))


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
    return min(noise**2 / (noise**2 + _CHANGE**2), FORGET) if noise else FORGET


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

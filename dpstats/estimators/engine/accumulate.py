"""What is known of a matrix that was released step by step, each time in the coordinates of that step.

See docs/theory/glm.md#steps.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from dpstats.estimators.matrices import conjugate_gradients


@dataclass
class Accumulator:
    """Releases of one matrix H under changing whitenings, M_t = W_t H W_t' + noise of sd s_t.

    Their noise has the same size in all directions of its own coordinates only. Seen from others, a
    direction that was stretched since is noisier by the square of the stretch.
    """

    releases: "list[_Seen]" = field(default_factory=list)
    _means: dict[bytes, np.ndarray] = field(default_factory=dict, repr=False)

    def add(self, matrix: np.ndarray, sd: float, whitening: np.ndarray) -> None:
        self._means.clear()
        self.releases.append(_Seen(matrix, sd**-2, whitening))

    def forget(self, share: float) -> None:
        """Trust what is there less."""
        self._means.clear()
        self.releases = [replace(seen, weight=seen.weight * share) for seen in self.releases]

    def mean(self, whitening: np.ndarray) -> np.ndarray:
        """Least squares estimate of W H W' in these coordinates, by conjugate gradients.

        Minimises sum of weight_t |A_t X A_t' - M_t|_F^2 with A_t = W_t W^-1.
        """
        if whitening.tobytes() not in self._means:  # the end of a fit asks for the same mean again and again
            self._means[whitening.tobytes()] = self._mean(whitening)
        return self._means[whitening.tobytes()]

    def _mean(self, whitening: np.ndarray) -> np.ndarray:
        back = np.linalg.inv(whitening)
        turns = [seen.whitening @ back for seen in self.releases]
        pairs = list(zip(self.releases, turns, strict=True))
        metrics = np.array([math.sqrt(seen.weight) * turn.T @ turn for seen, turn in pairs])
        right = sum(seen.weight * turn.T @ seen.matrix @ turn for seen, turn in pairs)
        return _solved(metrics, np.asarray(right), self.releases[-1].matrix)

    def sds(self, whitening: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Noise sd along each of the unit vectors, shape (k,)."""
        turned = np.array([seen.whitening for seen in self.releases]) @ (np.linalg.inv(whitening) @ vectors)
        weighed = [[seen.weight] for seen in self.releases] * np.sum(turned**2, axis=1) ** 2
        return np.asarray(np.sum(weighed, axis=0) ** -0.5)


@dataclass(frozen=True)
class _Seen:
    matrix: np.ndarray
    weight: float
    whitening: np.ndarray


def _solved(metrics: np.ndarray, right: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Solve sum of P X P = right over the metrics P, shape (T, k, k)."""
    side = np.hstack(list(metrics))  # two products of long matrices take less time than 2 T of square ones
    stacked = np.ascontiguousarray(side.T)

    def times(matrix: np.ndarray) -> np.ndarray:
        turned = (matrix @ side).reshape(len(right), *metrics.shape[:2]).swapaxes(0, 1)
        return np.asarray(side @ turned.reshape(stacked.shape))

    solution = conjugate_gradients(times, right, start)
    return (solution + solution.T) / 2

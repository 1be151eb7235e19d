"""Second moments that obey what is public of them: entries that are 0, and such that are the same number.

A row has one level of a category, so that moments of two of its columns are 0. Least squares under such
conditions takes off a noisy matrix all noise that breaks them.

See docs/theory/linear.md#levels.
"""

from collections.abc import Callable, Iterable

import numpy as np
import scipy

from dpstats.estimators.matrices import ROUNDING, conjugate_gradients

_LEAST_LEFT = 1e-6  # share of a variance of noise that conditions leave, at least


class Structure:
    """Of the second moments of rows x.

    Parameters
    ----------
    alike : array of int, shape (k, k)
        Number of each entry, the same where entries are; -1 where they are 0.

    Attributes
    ----------
    numbers : int
        How many numbers the moments are.
    """

    def __init__(self, alike: np.ndarray) -> None:
        self._square = np.where(alike < 0, alike.max() + 1, alike)
        self._place = self._square.ravel()
        self.numbers = int(alike.max()) + 1

    @classmethod
    def of(cls, alike: np.ndarray) -> "Structure | None":
        """None where nothing is known, or no entry is 0 or another."""
        known = alike.size > 0 and int(alike.max()) + 1 < len(alike) * (len(alike) + 1) // 2
        return cls(alike) if known else None

    def nearest(self, matrix: np.ndarray, way: np.ndarray) -> np.ndarray:
        """The nearest matrix way X way' to one of rows way x, X of this structure.

        Parameters
        ----------
        matrix, way : array, shape (k, k)
            Symmetric; the second invertible.
        """
        metric, back = way.T @ way, np.linalg.inv(way)
        size = self.sizes(metric)
        # what obeys already stands to the last digits
        first = self.summed(back @ matrix @ back.T) / self.summed(np.ones_like(matrix))
        left = matrix - way @ self.spread(first) @ way.T

        def normal(numbers: np.ndarray) -> np.ndarray:
            return self.summed(metric @ self.spread(numbers / size) @ metric) / size

        right = self.summed(way.T @ left @ way) / size
        numbers = conjugate_gradients(normal, right, np.zeros(self.numbers))
        return np.asarray(way @ self.spread(first + numbers / size) @ way.T)

    def sizes(self, metric: np.ndarray) -> np.ndarray:
        """Lengths of way X way', about, X having one number alone; `metric` is way' way."""
        return np.sqrt(self.summed(np.outer(np.diag(metric), np.diag(metric)) + metric**2))

    def summed(self, matrix: np.ndarray) -> np.ndarray:
        """Sums of the entries that are the same number."""
        return np.bincount(self._place, matrix.ravel(), self.numbers + 1)[: self.numbers]

    def spread(self, numbers: np.ndarray) -> np.ndarray:
        """The matrix of these numbers, or of each of some; shape (..., k, k)."""
        whole = np.concatenate((numbers, np.zeros((*numbers.shape[:-1], 1))), axis=-1)
        return np.asarray(whole[..., self._square])


def covariance_of_product(
    second: np.ndarray, told: Callable[[Iterable[np.ndarray]], np.ndarray], way: np.ndarray
) -> np.ndarray:
    """Covariance of N v for v with these second moments, by what is `told` of N in the columns of `way`."""
    values, vectors = np.linalg.eigh(second)
    some = values > ROUNDING * values[-1]
    turned = (way.T @ (vectors[:, some] * np.sqrt(values[some]))).T
    parts = (told(np.outer(one, each) for one in way) for each in turned)
    return np.asarray(sum((part.T @ part for part in parts), np.zeros_like(second)))


class Left:
    """Noise of sd 1 along any direction, less what :meth:`Structure.nearest` takes off.

    Parameters
    ----------
    structure : Structure
    way : array, shape (k, k)
    """

    def __init__(self, structure: Structure, way: np.ndarray) -> None:
        metric, unit, self.order = way.T @ way, np.eye(structure.numbers), len(way)
        self._structure, self._way, self._size = structure, way, structure.sizes(metric)
        alone = metric @ structure.spread(unit / self._size) @ metric
        normal = np.array([structure.summed(one) for one in alone]) / self._size
        self._root = np.linalg.cholesky(normal + ROUNDING * unit)

    @property
    def free(self) -> float:
        """Share of the numbers of a symmetric matrix that are free."""
        return 2 * self._structure.numbers / (self.order * (self.order + 1))

    def along(self, vectors: np.ndarray) -> np.ndarray:
        """Its variance along each of these unit vectors, in columns; shape (m,)."""
        found = self._told(np.outer(one, one) for one in (self._way.T @ vectors).T)
        return np.clip(np.sum(found**2, axis=0), _LEAST_LEFT, 1.0)  # rounding may make it 0, or less

    def told(self, matrices: Iterable[np.ndarray]) -> np.ndarray:
        """Whose inner products are covariances of <M, N> of these matrices M with the noise N, in columns."""
        return self._told(self._way.T @ one @ self._way for one in matrices)

    def of_product(self, second: np.ndarray) -> np.ndarray:
        """Covariance of N v for v with these second moments, shape (k, k)."""
        return covariance_of_product(second, self._told, self._way)

    def _told(self, matrices: Iterable[np.ndarray]) -> np.ndarray:
        """The same of matrices that are in the columns of the structure."""
        rows = np.array([self._structure.summed(one) for one in matrices]) / self._size
        return np.asarray(scipy.linalg.solve_triangular(self._root, rows.T, lower=True))

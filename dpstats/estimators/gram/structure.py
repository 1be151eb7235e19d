"""Second moments that obey what is public of them: entries that are 0, and such that are the same number.

A row has one level of a category, so that moments of two of its columns are 0. Least squares under such
conditions takes off a noisy matrix all noise that breaks them.

See docs/theory/linear.md#levels.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from dpstats.estimators.matrices import conjugate_gradients

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
        self._order = len(alike)
        self._place = np.where(alike < 0, alike.max() + 1, alike).ravel()
        self.numbers = int(alike.max()) + 1

    @classmethod
    def of(cls, alike: np.ndarray) -> Structure | None:
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
        size = np.sqrt(self._summed(np.outer(np.diag(metric), np.diag(metric)) + metric**2))
        # what obeys already stands to the last digits
        first = self._summed(back @ matrix @ back.T) / self._summed(np.ones_like(matrix))
        left = matrix - way @ self._spread(first) @ way.T

        def normal(numbers: np.ndarray) -> np.ndarray:
            return self._summed(metric @ self._spread(numbers / size) @ metric) / size

        right = self._summed(way.T @ left @ way) / size
        numbers = conjugate_gradients(normal, right, np.zeros(self.numbers))
        return np.asarray(way @ self._spread(first + numbers / size) @ way.T)

    def left(self, way: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """What `nearest` leaves of the variance of noise along each of these unit vectors, shape (m,)."""
        turned = way.T @ vectors
        found = self._noise(way, np.array([self._summed(np.outer(one, one)) for one in turned.T]))
        return np.clip(np.diag(found), _LEAST_LEFT, 1.0)  # rounding may make it 0, or less

    def of_product(self, way: np.ndarray, vector: np.ndarray) -> np.ndarray:
        """Covariance of N v, N being what `nearest` leaves of noise of sd 1 along any direction."""
        turned = way.T @ vector
        return self._noise(way, np.array([self._summed(np.outer(one, turned)) for one in way]))

    def _noise(self, way: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Covariance of products of these rows with the numbers that `nearest` makes of noise of sd 1."""
        metric, unit = way.T @ way, np.eye(self.numbers)
        size = np.sqrt(self._summed(np.outer(np.diag(metric), np.diag(metric)) + metric**2))
        normal = np.array([self._summed(metric @ self._spread(one) @ metric) for one in unit / size]) / size
        rows = rows / size
        return np.asarray(rows @ scipy.linalg.solve(normal, rows.T, assume_a="sym"))

    def _summed(self, matrix: np.ndarray) -> np.ndarray:
        """Sums of the entries that are the same number."""
        return np.bincount(self._place, matrix.ravel(), self.numbers + 1)[: self.numbers]

    def _spread(self, numbers: np.ndarray) -> np.ndarray:
        """The matrix of these numbers."""
        return np.append(numbers, 0.0)[self._place].reshape(self._order, self._order)

"""Second moments that obey what is public of them: entries that are 0, and such that are the same number.

A row has one level of a category, so that moments of two of its columns are 0. Least squares under such
conditions takes off a noisy matrix all noise that breaks them.

See docs/theory/linear.md#levels.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from dpstats.estimators.matrices import ROUNDING, conjugate_gradients

# numbers, or conditions on them, of which noise is reckoned: their matrix then takes 128 MB and a second
_MOST = 4000
_AT_ONCE = 2**20  # products of two entries that are made at a time


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
        # lengths of way X way', about, X having one number alone
        size = np.sqrt(self.summed(np.outer(np.diag(metric), np.diag(metric)) + metric**2))
        # what obeys already stands to the last digits
        first = self.summed(back @ matrix @ back.T) / self.summed(np.ones_like(matrix))
        left = matrix - way @ self.spread(first) @ way.T

        def normal(numbers: np.ndarray) -> np.ndarray:
            return self.summed(metric @ self.spread(numbers / size) @ metric) / size

        right = self.summed(way.T @ left @ way) / size
        numbers = conjugate_gradients(normal, right, np.zeros(self.numbers))
        return np.asarray(way @ self.spread(first + numbers / size) @ way.T)

    def summed(self, matrix: np.ndarray) -> np.ndarray:
        """Sums of the entries that are the same number."""
        return np.bincount(self._place, matrix.ravel(), self.numbers + 1)[: self.numbers]

    def spread(self, numbers: np.ndarray) -> np.ndarray:
        """The matrix of these numbers."""
        return np.asarray(np.append(numbers, 0.0)[self._square])

    @cached_property
    def bound(self) -> np.ndarray:
        """Columns that have an entry that is 0, or the same as another."""
        free = np.bincount(self._place)[self._square] == 2 - np.eye(len(self._square), dtype=int)
        return np.flatnonzero(~(free & (self._square < self.numbers)).all(axis=0))

    @cached_property
    def span(self) -> "Sums":
        """What spans matrices that obey, or all beside them, whichever are fewer, among the bound columns."""
        square = self._square[np.ix_(self.bound, self.bound)]
        unique, numbers = np.unique(square, return_inverse=True)
        nothing, b = int(unique[-1] == self.numbers), len(square)
        alike = np.where(square == self.numbers, -1, numbers.reshape(b, b))
        count = len(unique) - nothing
        if count > min(b * (b + 1) // 2 - count, _MOST):
            return _differences(alike)
        rows, columns = np.nonzero(alike >= 0)
        return Sums(1, rows, columns, alike[rows, columns], np.ones(len(rows)))


class Sums(NamedTuple):
    """Sums of weighted entries of symmetric matrices: their places, of which sum each is, and its weight.

    `sign` is 1 if they span matrices that obey, -1 if all beside them.
    """

    sign: int
    rows: np.ndarray
    columns: np.ndarray
    number: np.ndarray
    weights: np.ndarray


def _differences(alike: np.ndarray) -> Sums:
    """What is 0: entries, and how others differ from the first that is the same; `_MOST` of them at most."""
    rows, columns = np.triu_indices(len(alike))
    number = alike[rows, columns]
    first = np.unique(number, return_index=True)[1][int(number.min() < 0) :]
    own = np.setdiff1d(np.arange(len(rows)), first)[:_MOST]
    same = np.flatnonzero(number[own] >= 0)
    place = np.append(own, first[number[own[same]]])
    which = np.append(np.arange(len(own)), same)
    weight = np.repeat([0.5, -0.5], [len(own), len(same)])
    both = np.append(rows[place], columns[place]), np.append(columns[place], rows[place])
    return Sums(-1, *both, np.tile(which, 2), np.tile(weight, 2))


class Left:
    """Noise N of sd 1 along any direction, less what :meth:`Structure.nearest` takes off.

    That is a projection. It leaves all noise but that in the space which conditions are on, and there what
    numbers can be, or all but what differences are, whichever are fewer. Of too many differences the first
    count, which leaves more noise.

    Parameters
    ----------
    structure : Structure
    way : array, shape (k, k)

    Attributes
    ----------
    order : int
        k.
    free : float
        Share of the numbers of a symmetric matrix that are free.
    """

    def __init__(self, structure: Structure, way: np.ndarray) -> None:
        self._sums, self.order = structure.span, len(way)
        self.free = 2 * structure.numbers / (self.order * (self.order + 1))
        beside = np.linalg.inv(way)[structure.bound]
        axes, turn = np.linalg.qr(beside.T)
        obeys = self._sums.sign > 0
        self._axes = axes if obeys else axes[:, :0]
        self._inside = np.asarray(np.linalg.inv(turn) @ axes.T if obeys else beside)
        metric = self._inside @ self._inside.T
        self._into = _onto(self._sums.number, self._sums.weights, int(self._sums.number.max()) + 1)
        normal = _paired(self._into, metric, self._sums.rows, metric, self._sums.columns)
        size = np.sqrt(np.diag(normal))
        root = np.linalg.cholesky(normal / np.outer(size, size) + ROUNDING * np.eye(len(size)))
        self._half = scipy.linalg.solve_triangular(root, np.diag(1 / size), lower=True)

    def along(self, vectors: np.ndarray) -> np.ndarray:
        """Its variance along each of these unit vectors, in columns; shape (m,)."""
        within = self._axes.T @ vectors
        found = np.sum(vectors**2, axis=0) ** 2 - np.sum(within**2, axis=0) ** 2
        found += self._sums.sign * np.sum(self._told(vectors, vectors) ** 2, axis=0)
        return np.clip(found, ROUNDING, 1.0)  # rounding may make it 0, or less

    def of_matrix(self, matrix: np.ndarray) -> float:
        """Variance of <M, N>, M symmetric."""
        inside, within = (each @ matrix @ each.T for each in (self._inside, self._axes.T))
        told = self._half @ (self._into @ inside[self._sums.rows, self._sums.columns])
        return float(np.sum(matrix**2) - np.sum(within**2) + self._sums.sign * np.sum(told**2))

    def of_pairs(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Covariance of v'N w for the v in columns of `one`, and w beside them in those of `other`."""
        told = self._told(one, other)
        found = _of_pairs(one, other) - _of_pairs(self._axes.T @ one, self._axes.T @ other)
        return np.asarray(found + self._sums.sign * told.T @ told)

    def of_product(self, second: np.ndarray) -> np.ndarray:
        """Covariance of N v for v with these second moments, shape (k, k)."""
        _, rows, columns, number, weights = self._sums
        there = self._inside @ second @ self._inside.T
        told = _paired(_onto(rows, weights, len(there)), self._half.T @ self._half, number, there, columns)
        within = _of_product(self._axes.T @ second @ self._axes)
        found = _of_product(second) - self._axes @ within @ self._axes.T
        return np.asarray(found + self._sums.sign * self._inside.T @ told @ self._inside)

    def _told(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Of v w' for these, side by side, in the space of conditions: what is in the span of the sums."""
        first, second = self._inside @ one, self._inside @ other
        return np.asarray(self._half @ (self._into @ (first[self._sums.rows] * second[self._sums.columns])))


def _onto(places: np.ndarray, weights: np.ndarray, count: int) -> "scipy.sparse.csr_array":
    """What sums weighted entries by their places, of so many."""
    return scipy.sparse.csr_array((weights, (places, np.arange(len(places)))), shape=(count, len(places)))


def _paired(
    into: "scipy.sparse.csr_array", one: np.ndarray, at: np.ndarray, other: np.ndarray, beside: np.ndarray
) -> np.ndarray:
    """Products of entries of two symmetric matrices at places of both of a pair, summed over both."""
    found = np.zeros((into.shape[0],) * 2)
    size = max(_AT_ONCE // len(at), 1)
    for some in range(0, len(at), size):
        own = slice(some, some + size)
        products = one[at[own]][:, at] * other[beside[own]][:, beside]
        found += (into if size >= len(at) else into[:, own]) @ (into @ products.T).T
    return found


def _of_pairs(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Covariance of v'N w, without conditions."""
    across = one.T @ other
    return np.asarray((one.T @ one) * (other.T @ other) + across * across.T) / 2


def _of_product(second: np.ndarray) -> np.ndarray:
    """Covariance of N v, without conditions."""
    return (second + np.trace(second) * np.eye(len(second))) / 2

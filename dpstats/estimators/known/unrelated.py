"""Moments of pairs of columns that are correlated or not, and what is left of their noise.

Most pairs of columns of most tables are hardly correlated, some are strongly. How large moments of pairs are
is told by all of a group together; each then has a posterior, with its mean and variance.

See docs/theory/objective.md#pairs-that-may-have-no-correlation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpstats.estimators.known.structure import Left, Structure
from dpstats.estimators.matrices import ROUNDING, covariance_by_free_entries

# Variances that moments may have, over that of their noise; each counts for one pair beforehand.
_SIZES = 4.0 ** np.arange(-2, 8)
_ROUNDS = 30  # of expectation and maximisation; a group's weights then stand to a hundredth


@dataclass(frozen=True)
class NoiseLeft:
    """Noise N of sd 1 along any direction, less what was taken off it.

    Attributes
    ----------
    kept : array, shape (k, k)
        Share of the variance of each entry that is left.
    obeying : Left, optional
        What is public leaves.
    """

    kept: np.ndarray
    obeying: Left | None

    @property
    def free(self) -> float:
        """How many numbers are left, of those of a symmetric matrix."""
        k = len(self.kept)
        free = 1.0 if self.obeying is None else self.obeying.free
        return free - float(np.sum(1 - self.kept)) / (k * (k + 1))

    def along(self, vectors: np.ndarray) -> np.ndarray:
        """Its variance along these vectors, in columns, of any length; shape (m,)."""
        if self.obeying is None:
            squares = vectors**2
            return np.asarray(np.sum(squares * (self.kept @ squares), axis=0))
        return np.array([self.obeying.of_matrix(self._root * np.outer(one, one)) for one in vectors.T])

    def of_product(self, second: np.ndarray) -> np.ndarray:
        """Covariance of N v for v with these second moments, shape (k, k)."""
        unit = np.eye(len(second))
        if self.obeying is None:
            return covariance_by_free_entries(np.sqrt(self.kept * (1 + unit) / 2), second)
        values, vectors = np.linalg.eigh(second)
        some = values > ROUNDING * values[-1]
        each = (vectors[:, some] * np.sqrt(values[some])).T
        found = (self.obeying.of_pairs(unit, one[:, None] * self._root) for one in each)
        return sum(found, np.zeros_like(second))

    @property
    def _root(self) -> np.ndarray:
        return np.sqrt(self.kept)


class Known(NamedTuple):
    """What is known of second moments before they are released.

    Attributes
    ----------
    groups : sequence of pair of array
        Rows and columns of the entries of each group of pairs.
    most : float
        The most that such an entry is, about.
    structure : Structure, optional
        What is public of them.
    way : array, shape (k, k), optional
        What takes columns of the structure to those of the moments.
    """

    groups: Sequence[tuple[np.ndarray, np.ndarray]]
    most: float
    structure: Structure | None = None
    way: np.ndarray | None = None

    def read(self, matrix: np.ndarray, noise: float) -> tuple[np.ndarray, NoiseLeft]:
        """Moments that obey what is public, with pairs as far as they are told; and the noise that is left.

        `noise` is the sd of a diagonal entry, in any direction.
        """
        found, kept, obeying = matrix.copy(), np.ones_like(matrix), None
        if self.structure is not None and self.way is not None:
            found, obeying = self.structure.nearest(matrix, self.way), Left(self.structure, self.way)
        for first, second in self.groups:
            entries, left = shrunk(found[first, second], noise / math.sqrt(2), self.most)
            found[first, second] = found[second, first] = entries
            kept[first, second] = kept[second, first] = left
        return found, NoiseLeft(kept, obeying)


def shrunk(entries: np.ndarray, noise: float, most: float) -> tuple[np.ndarray, np.ndarray]:
    """Means of entries that were seen with noise of this sd, and their variances over that of the noise.

    They are normal, of variances that all of them tell the shares of, and none is more than `most`, about.
    """
    if noise <= 0:
        return entries, np.ones_like(entries)
    sizes, seen = _SIZES[_SIZES <= max((most / noise) ** 2, _SIZES[0])], (entries / noise) ** 2
    logs = -(np.log1p(sizes) + seen[:, None] / (1 + sizes)) / 2
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))

    def chances(weights: np.ndarray) -> np.ndarray:
        each = likely * weights
        return each / each.sum(axis=1, keepdims=True)

    weights = np.full(len(sizes), 1 / len(sizes))
    for _ in range(_ROUNDS):
        weights = chances(weights).sum(axis=0) + 1
        weights /= weights.sum()
    each = chances(weights)
    gains = sizes / (1 + sizes)
    gain = each @ gains
    return gain * entries, gain + (each @ gains**2 - gain**2) * seen


def pairs(
    lead: int, free: np.ndarray, categories: Sequence[np.ndarray], alike: np.ndarray | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Places of moments of which nothing public says that they are not 0, in groups.

    Parameters
    ----------
    lead : int
        How many constant columns come first.
    free : array
        Places of columns that are no levels.
    categories : sequence of array
        Places of the levels of each category.
    alike : array of int, shape (k, k), optional
        See :class:`dpstats.estimators.known.structure.Structure`; entries that are 0, or the same as another,
        are not among the pairs.

    Notes
    -----
    One group is that of the free columns, one of these with the constant; others are of a category with each
    of them, and with another category. So a number that is strongly correlated with another stands out
    however many levels there are.
    """
    first, second = np.triu_indices(len(free), 1)
    found = [(free[first], free[second]), (np.zeros(lead * len(free), dtype=int), np.tile(free, lead))]
    for number, places in enumerate(categories):
        for others in [*free[:, None], *categories[:number]]:
            found.append((np.repeat(places, len(others)), np.tile(others, len(places))))
    if alike is not None and alike.size:
        once = np.bincount(alike[alike >= 0].ravel()) <= 2
        found = [
            (one[own], other[own])
            for one, other in found
            if (own := (alike[one, other] >= 0) & once[alike[one, other]]).any()
        ]
    return [(one, other) for one, other in found if len(one)]

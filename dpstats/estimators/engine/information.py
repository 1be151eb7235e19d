"""An information matrix with noise: as what it is used, and how its error widens what it gives.

It may be released step by step, each time in the coordinates of that step (docs/theory/glm.md#steps).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dpstats.estimators.matrices import ROUNDING, conjugate_gradients, inverted
from dpstats.moments.solution import believed, not_noise, seen_share

# weight of the past in an early step, while whitening and residuals still change
FORGET = 0.85
# eigenvalues are raised to this share of the size at which half of them is believed
FLOOR = 0.75
# sds of its error that an eigenvalue is taken to be too large by, where it may be; and sizes of it, below
# which the largest eigenvalue says nothing
_BY_ERROR = 2.0
# variance of the coefficient of a column whose scale may be a million times too large
ANY = 1e12
# share of a column's square that may lie where nothing is seen without this counting
SHOWN = 0.05
# sds of noise that the information on a column of unknown spread exceeds where it is seen. Its logarithm may
# be anywhere in the 8 units of twelve octaves, or lie within 1 / z of what z sds say: noise made all that was
# seen with odds of 8 z exp(-z^2 / 2) / sqrt(2 pi), which are 1 to 200 at 4 sds and 1 to 10 at 3
SURELY = 4.0


@dataclass(frozen=True)
class Information:
    """An information matrix in whitened coordinates, per row, and its error.

    Attributes
    ----------
    values, vectors : array
        Eigenvalues, before any floor, and eigenvectors of the matrix in its units.
    used : array, shape (k,)
        The eigenvalues after the floor.
    sds : array, shape (k,)
        Of the error along each eigenvector, in these units.
    seen : array, shape (k,)
        From 0 to 1: whether there is more information along each eigenvector than noise may make.
    unit : array, shape (k,)
        Square root of the diagonal that is expected.
    of_product : callable, optional
        Takes second moments of a vector to the covariance of its product with the error, where more is known
        of that than its sds.
    """

    values: np.ndarray
    vectors: np.ndarray
    used: np.ndarray
    sds: np.ndarray
    seen: np.ndarray
    unit: np.ndarray
    of_product: Callable[[np.ndarray], np.ndarray] | None = None

    @classmethod
    def of(cls, values: np.ndarray, vectors: np.ndarray, sds: np.ndarray) -> "Information":
        """With eigenvalues raised that noise of these sds along their eigenvectors explains."""
        sizes = np.maximum(believed(sds), 1e-12)
        return cls(
            values,
            vectors,
            used=np.maximum(values, FLOOR * sizes),
            sds=sds,
            seen=seen_share(values, sizes),
            unit=np.ones(len(values)),
        )

    @cached_property
    def matrix(self) -> np.ndarray:
        """The matrix as it is used, positive definite."""
        return (self.vectors * self.used) @ self.vectors.T * np.outer(self.unit, self.unit)

    @cached_property
    def inverse(self) -> np.ndarray:
        """Its inverse, from eigenvalues that in the matrix drown where another is huge."""
        return (self.vectors / self.used) @ self.vectors.T / np.outer(self.unit, self.unit)

    def along(self, direction: np.ndarray) -> tuple[float, float]:
        """The matrix along a direction, of any length, and the sd of its error; before any floor."""
        squares = (self.vectors.T @ direction) ** 2
        return float(squares @ self.values), float(squares @ self.sds)

    def beside(self, direction: np.ndarray, other: np.ndarray) -> np.ndarray:
        """What is left of a direction beside another one, with which it has no product then."""
        product = self.matrix @ other
        return np.asarray(direction - other * float(product @ direction / (product @ other)))

    @property
    def sizes(self) -> np.ndarray:
        """Operator norm of such an error, along each eigenvector."""
        return self.sds * math.sqrt(2 * len(self.values))

    @property
    def stands_out(self) -> bool:
        """Whether the error explains less than half of the largest eigenvalue."""
        return bool(np.max(self.values / self.sizes) > _BY_ERROR)

    def solve(self, scores: np.ndarray) -> np.ndarray:
        """Newton's step; none along directions that are not seen."""
        return np.asarray(self.vectors @ (self.seen / self.used * (self.vectors.T @ scores)))

    def shrunk(self, scores: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Newton's step along all directions, shrunk by what noise alone would have made of it."""
        step = self.inverse @ scores
        return np.asarray(step * not_noise(scores @ step, float(np.diag(self.inverse) @ noise**2)))

    def part(self, step: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """These shares of a step along the eigenvectors."""
        return np.asarray(self.vectors @ (shares * (self.vectors.T @ (step * self.unit))) / self.unit)

    @property
    def inflation(self) -> np.ndarray:
        """Widening by direction for the error of the matrix: 1 + (2 sd / eigenvalue)^2 of a variance."""
        factor = np.sqrt(1 + (2 * self.sds / self.used) ** 2)
        return (self.vectors * factor) @ self.vectors.T * np.outer(1 / self.unit, self.unit)

    def error_of(self, step: np.ndarray) -> np.ndarray:
        """Variance of a step by the error of the matrix, along each direction as far as it goes."""
        error = 2 * self.sds / self.used * (self.vectors.T @ (step * self.unit))
        return (self.vectors * error**2) @ self.vectors.T / np.outer(self.unit, self.unit)

    def error_across(self, step: np.ndarray) -> np.ndarray:
        """Variance of a step by the error of the matrix between directions.

        The score of one direction takes from that of another what the error makes of the step along that one.
        Directions that are not seen are in doubt as it is.
        """
        return self._across((self.vectors.T @ (step * self.unit)) ** 2)

    def error_beside(self, missed: np.ndarray) -> np.ndarray:
        """The same of all that a point lacks, by its covariance, shape (k, k)."""
        if self.of_product is not None:
            way = (self.vectors * (np.sqrt(self.seen) / self.used)) @ self.vectors.T
            return np.asarray(way @ self.of_product(missed) @ way)
        turned = self.vectors * self.unit[:, None]
        return self._across(np.sum(turned * (missed @ turned), axis=0))

    def _across(self, along: np.ndarray) -> np.ndarray:
        error = self.seen * self.sds * (float(self.sds @ along) - self.sds * along) / 2 / self.used**2
        return (self.vectors * error) @ self.vectors.T / np.outer(self.unit, self.unit)

    def at_least(self, cov: np.ndarray) -> np.ndarray:
        """Variances along eigenvectors of a step of this covariance, at the least information there may be.

        A root is as far as scores are over the information. Along a direction of which there is none the
        least eigenvalue exceeds no more of the error than that of a single number.
        """
        own, least = np.sum(self.vectors * (cov @ self.vectors), axis=0), self.values - _BY_ERROR * self.sds
        return np.where(least > 0, own * (self.used / np.where(least > 0, least, 1.0)) ** 2, math.inf)

    def blind(self, variance: np.ndarray | float = 1.0) -> np.ndarray:
        """Variance along directions that are not seen, if steps have this one there, or one for each.

        See docs/theory/intervals.md#what-noise-hides.
        """
        return (self.vectors * ((1 - self.seen) * variance)) @ self.vectors.T

    def cancelled(
        self, to_params: np.ndarray, columns: slice, binary: np.ndarray, noisy: int, most_seen: float = 1.0
    ) -> np.ndarray:
        """Directions in which columns do less together than noise makes of uncorrelated ones; (k,).

        What each column alone does is its own part of the information. Of uncorrelated columns noise takes at
        most the operator norm of the error from a direction. What is left, or is used in its place, is no
        less than a share of what they have.

        Parameters
        ----------
        to_params : array, shape (k, k)
            From whitened steps to parameters.
        columns : slice
            Which of these are the coefficients of columns, m of them.
        binary : array of bool, shape (m,)
            Columns of two values.
        noisy : int
            Rows of the block of the matrix that has the error.
        most_seen : float
            How far a direction may be seen.
        """
        root = np.sqrt(self.used)
        own = np.linalg.norm(root[:, None] * (self.vectors.T @ np.linalg.inv(to_params)), axis=0)[columns]
        alone = own[:, None] * np.abs(to_params @ self.vectors)[columns]
        _, left = together(alone[~binary], alone[binary], root)
        least = self.used / (self.used + math.sqrt(2 * noisy) * self.sds)
        return np.asarray((self.seen <= most_seen) & (left < least))

    def unbounded(self, axes: np.ndarray, vague: np.ndarray) -> np.ndarray:
        """Next to any variance for coefficients of columns of unknown spread that are not surely seen.

        Parameters
        ----------
        axes : array, shape (k, m)
            In its columns, changes of the coefficient of each column by 1.
        vague : array of bool, shape (m,)
            Of which the spread is not known.
        """
        unseen = self.vectors[:, self.values < np.maximum(SURELY * self.sds, 1e-12)]
        hidden = np.sum((unseen.T @ axes) ** 2, axis=0) > SHOWN * np.sum(axes**2, axis=0)
        return (axes * (hidden & vague) * ANY) @ axes.T


def together(numbers: np.ndarray, levels: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What columns do to rows together: over the largest effect, and as a share of what uncorrelated ones do.

    The share is one of squares; both have shape (m,).

    Together they do as much as the largest, unless the others may cancel it, as those of columns that nearly
    repeat each other do: then it is as much as the information along the direction can be. A number may
    cancel levels; each other they cancel in a reference level, which goes as far as they do.

    Parameters
    ----------
    numbers, levels : array, shape (d, m)
        sds of the effects of each column alone along m directions.
    most : array, shape (m,)
        sds of what all do, by the information.
    """
    largest = numbers.max(axis=0, initial=0.0)
    alone = np.vstack([numbers, np.minimum(np.linalg.norm(levels, axis=0), 2 * largest)])
    largest = alone.max(axis=0, initial=ROUNDING)
    effect = np.maximum(2 * largest - alone.sum(axis=0), most)
    return np.minimum(effect / largest, 1.0), effect**2 / np.maximum(np.sum(alone**2, axis=0), ROUNDING**2)


def step_covariances(
    information: Information, inverse: np.ndarray, variances: np.ndarray, sampling: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Covariances of a step: by noise alone, and by sampling and noise with the error of the information.

    Parameters
    ----------
    information : Information
    inverse : array, shape (m, m)
        From scores to the step.
    variances : array, shape (m,)
        Of the noise of the mean score.
    sampling : array, shape (m, m)
        The covariance by sampling, were the information known.
    """
    noise, inflate = (inverse * variances) @ inverse, information.inflation
    return noise, inflate @ sampling @ inflate.T, inflate @ noise @ inflate.T


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
        turns = np.array([seen.whitening for seen in self.releases]) @ inverted(whitening)
        weights = np.array([seen.weight for seen in self.releases])[:, None, None]
        weighed = weights * np.array([seen.matrix for seen in self.releases])
        back = turns.swapaxes(1, 2)
        right = np.sum(back @ weighed @ turns, axis=0)
        return _solved(np.sqrt(weights) * back @ turns, right, self.releases[-1].matrix)

    def sds(self, whitening: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Noise sd along each of the unit vectors, shape (k,)."""
        turned = np.array([seen.whitening for seen in self.releases]) @ (inverted(whitening) @ vectors)
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

"""Rows whose residuals lie beyond the limit: what they move a line by, told from a release of them alone.

A limit takes from a line what such rows would make of it, and nobody knows beforehand along which covariates.
Where the final release tells how many there are, where they lie and how far, the line is moved by what they
are likely to hold, and intervals count what is not known of it.

See docs/theory/linear.md#far-rows.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dpstats.curator import Release
from dpstats.estimators.gram.bounds import MEAT, Bounds, lost_of_mean, moved_share
from dpstats.moments import LinearMoments

# Share of the limit that a far row keeps in the score of the line. The less, the more is told of where far
# rows lie, and the more of those that noise hides is lost.
KEPT = 0.6
# Up to so many limits rows are told apart from those that lie farther.
_NEAR = 2.0
# The mean of |r| of rows up to there, in limits, and the sd of what is not known of it, as a share. Between
# 1 and 2 limits it is 1.39 if a share y^-2 is farther than y limits, and for exponential errors at a limit of
# 3 sds 1.28.
_NEAR_MEAN, _NEAR_DOUBT = 1.3, 0.15
# The mean of |r| of farther rows over the exponential of its mean logarithm, and the sd of what is not known
# of it, as a share. If all are alike it is 1, for exponential errors 1.8.
_MEAN, _DOUBT = 1.3, 0.5
# How much likelier a release has to be with farther rows than without. By chance alone it is so in one of so
# many fits at most.
_LIKELIER = 5.0
# sizes of the number of farther rows that are weighed, from half of its noise on
_SIZES, _LEAST, _MOST = 14, 0.5, 8.0
_PARTS = 10  # of the rows up to `_NEAR` limits, that may lie on one side
_COUNTED = 0.85  # of sums over cosines and sines of angles, which add up to 1 to 1.41


class Distances(NamedTuple):
    """How far rows beyond a limit lie, as the final release tells it.

    Those up to `_NEAR` limits are summed by themselves. Of the others, in half octaves up to what the
    declared bounds allow, each adds the cosine and the sine of an angle that grows with the logarithm.

    Attributes
    ----------
    edges : array, shape (cells,)
        In limits: where the cells begin that lie farther than `_NEAR`.
    code : array, shape (1 + cells, m)
        What a row of each cell, and of that before them, adds to.
    """

    edges: np.ndarray
    code: np.ndarray

    @classmethod
    def within(cls, widest: float) -> "Distances":
        """Of residuals of at most so many limits."""
        cells = max(math.ceil(2 * math.log2(widest / _NEAR)), 0)
        sums = min(cells, 2)
        angles = np.linspace(0, math.pi / 2, max(cells, 2))[:cells]
        code = np.zeros((1 + cells, 1 + sums))
        code[0, 0] = 1.0
        code[1:, 1:] = np.column_stack([np.cos(angles), np.sin(angles)])[:, :sums]
        return cls(_NEAR * math.sqrt(2) ** np.arange(cells), code)

    def public(self, limit: float) -> dict[str, np.ndarray]:
        """Parameters of a release."""
        return dict(edges=limit * self.edges, code=self.code)


def missing(limit: np.ndarray) -> np.ndarray:
    """How far the mean of exponential errors may be off at a limit, in sds, once far rows were told.

    Of those up to `_NEAR` limits it is not known how far they lie; farther ones noise may hide.
    """
    farther = np.exp(-(_NEAR * limit + 1))
    near = _NEAR_DOUBT * (_NEAR_MEAN - KEPT) * limit * (lost_of_mean(limit) - farther)
    return np.hypot(near, ((_NEAR - 1) * limit + 1) * farther)


@dataclass(frozen=True)
class FarRows:
    """What was released of rows beyond the limit.

    Attributes
    ----------
    shares : array, shape (m,)
        Of the rows, by the code of distances.
    share_sd : float
        Noise of each.
    sides : array, shape (k, m)
        Mean over all rows of a times the sign of r, by the code of distances, and 0 for other rows.
    sides_sd : float
        Noise of each entry.
    distances : Distances
    """

    shares: np.ndarray
    share_sd: float
    sides: np.ndarray
    sides_sd: float
    distances: Distances

    @classmethod
    def of(cls, release: Release, bounds: Bounds, n: int, distances: Distances) -> "FarRows":
        """From what a release says of n rows that count."""
        lost, found = 1 - KEPT**2, release.values[4][:, : distances.code.shape[1]]
        along = n * bounds.radius * math.sqrt(2 * lost)
        one = n * bounds.radius**2 * math.sqrt(lost * (2 / (1 + MEAT**2) - lost))
        return cls(found[-1] / one, release.sd / one, found[:-1] / along, release.sd / along, distances)

    @property
    def _weights(self) -> np.ndarray:
        """What adds up the codes of distances to about 1, whatever the distance."""
        return np.array([1.0, _COUNTED, _COUNTED])[: len(self.shares)]

    def clipped(self, moments: LinearMoments, limit: float) -> LinearMoments:
        """Moments in whose score these rows are at the limit."""
        rest, told = (1 - KEPT) * limit, moments.released
        noise = rest * self.sides_sd * np.linalg.norm(self._weights)
        cross = told.cross + rest * self.sides @ self._weights
        return replace(
            moments,
            released=replace(told, cross=cross, noise_cross=math.hypot(told.noise_cross, noise)),
        )

    def heard(self, moments: LinearMoments, limit: float) -> LinearMoments:
        """Moments in whose score these rows count as far as it was told where they lie, and how far."""
        gram = moments.positive_gram
        told = moments.released
        near, farther = self._near(gram, told.n), self._farther(gram, told.n)
        moved, unknown, share = near[0] + farther[0], near[1] + farther[1], near[2] + farther[2]
        lost = (1 - KEPT**2) * limit**2
        noise = lost * self.share_sd * math.sqrt(len(self.shares))
        told = replace(
            told,
            cross=told.cross + limit * moved,
            square=told.square + lost * share,
            noise_square=math.hypot(told.noise_square, noise),
        )
        found = replace(moments, released=told)
        inverse = found.normal_equations().inverse
        return found.bending(limit**2 * inverse @ unknown @ inverse)

    def _near(self, gram: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, float]:
        """What rows up to `_NEAR` limits move A'r by, in limits, its covariance, and their share.

        The share is what noise does not explain of it, by James and Stein's rule. With even chances they lie
        on both sides alike, or a part of them on one side, any part alike, which moves two of the k entries
        of a line: any direction may be one of these, with a chance of 2 / k.
        """
        told = max(float(self.shares[0]), self.share_sd)
        share = min(told - self.share_sd**2 / told, 1.0)
        spread, axes = np.linalg.eigh(gram)
        side, missing = self.sides[:, 0] @ axes, _NEAR_MEAN - KEPT
        trusts, likely = self._told(share * np.arange(_PARTS + 1) / _PARTS, spread, side[None])
        weights = np.append(1.0, np.full(_PARTS, 1 / _PARTS)) * np.exp(likely[:, 0] - likely.max())
        weights /= weights.sum()
        trust = weights @ trusts
        moved, other = trust * side, (trusts - trust) * side
        unknown = missing**2 * (other.T * weights) @ other + _NEAR_DOUBT**2 * np.outer(moved, moved)
        # so many rows have residuals of that size, where sampling was reckoned with those at the limit
        sampling = (_NEAR_MEAN**2 - 1) * share / n * trust**2 * spread
        unknown += np.diag(missing**2 * self.sides_sd**2 * trust + sampling)
        return missing * axes @ moved, axes @ unknown @ axes.T, share

    def _told(
        self, shares: np.ndarray, spread: np.ndarray, sides: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """How much of sums (r, k) is told if they are of so many rows on one side, and how likely these are.

        By the variances of the entries of rows, `spread`; shapes (s, k) and, as logarithms, (s, r).
        """
        gain = moved_share(len(spread)) * np.outer((shares / self.sides_sd) ** 2, spread)
        trust = gain / (1 + gain)
        likely = trust @ (sides.T / self.sides_sd) ** 2 - np.log1p(gain).sum(axis=1, keepdims=True)
        return trust, likely / 2

    def _farther(self, gram: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, float]:
        """The same of rows that lie farther, as far as the release is likelier with them than without.

        Each share and each distance is weighed by what it says of counts and sides: a half-Cauchy prior of
        the share, on the scale of its noise, and one over the distance.
        """
        if not len(self.distances.edges):
            return np.zeros(len(gram)), np.zeros_like(gram), 0.0
        spread, axes = np.linalg.eigh(gram)
        code, reach = self.distances.code[1:, 1:], _MEAN * self.distances.edges
        count, side = code @ self.shares[1:] / self.share_sd, code @ self.sides[:, 1:].T @ axes
        sizes = np.geomspace(_LEAST, max(2 * count.max(), _MOST), _SIZES)
        trust, likely = self._told(sizes * self.share_sd, spread, side)
        likely += np.outer(sizes, count) - sizes[:, None] ** 2 / 2
        prior = np.outer(sizes / (1 + sizes**2), 1 / reach)
        weights, most = prior / prior.sum() * np.exp(likely - likely.max()), float(likely.max())
        chance = max(1 - _LIKELIER * math.exp(-np.clip(most + math.log(weights.sum()), -100, 100)), 0.0)
        weights *= chance / weights.sum()
        told, missing = trust[:, None] * side, reach - KEPT
        moved = np.einsum("sr,srk->k", weights * missing, told)
        square = np.einsum("sr,srj,srk->jk", weights * (missing**2 + (_DOUBT * reach) ** 2), told, told)
        noise = self.sides_sd**2 * np.einsum("sr,sk->k", weights * missing**2, trust)
        many = sizes * self.share_sd
        sampling = spread / n * np.einsum("sr,s,sk->k", weights * reach**2, many, trust**2)
        unknown = square - np.outer(moved, moved) + np.diag(noise + sampling)
        return axes @ moved, axes @ unknown @ axes.T, float(weights.sum(axis=1) @ many)

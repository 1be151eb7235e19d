"""Strata on the scale of the rows: their levels, their shares of the failures, and what whitens their rows.

See docs/theory/survival.md#strata.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from dpstats.estimators.engine.finish import to_user
from dpstats.estimators.location_scale.placement import PlacedByLine
from dpstats.estimators.location_scale.problem import ScaleGroups
from dpstats.estimators.matrices import symmetric_power
from dpstats.estimators.row_scale import STRETCH, RowScale, shortened, unstretched


@dataclass(frozen=True)
class Layout:
    """Strata on the scale of the rows.

    Attributes
    ----------
    inside : array, shape (G, k)
        Coefficients of x~ that make 1 in one stratum and 0 in all others.
    tied : array, shape (k, p)
        Orthonormal directions of the location coefficients that those of the formula make.
    to_user : array, shape (p, p)
        The formula's coefficients, on the user's scale, of these directions.
    shares : array, shape (G,)
        Of the failures, by stratum.
    means : array, shape (G, k)
        Of x~ over the failures of each stratum.
    square : array, shape (k, k)
        Second moments of x~, per failure.
    """

    inside: np.ndarray
    tied: np.ndarray
    to_user: np.ndarray
    shares: np.ndarray
    means: np.ndarray
    square: np.ndarray

    @classmethod
    def of(cls, strata: ScaleGroups, placement: PlacedByLine) -> "Layout":
        scale, events = placement.scale, placement.events
        inside = np.linalg.solve(to_user(scale.center, scale.scale, True), strata.inside.T).T
        made = np.linalg.solve(to_user(scale.center, scale.scale, True, scale.y_scale), strata.tied)
        lengths = np.linalg.norm(made, axis=0)  # columns may be in any units
        tied, turn = np.linalg.qr(made / lengths)
        back = np.linalg.inv(turn) / lengths[:, None]
        square = events.floored / events.fraction
        first = square @ inside.T
        own = np.einsum("gk,kg->g", inside, first)
        # rows of rare strata are shortened in the matrix; the first stage has means of all failures
        shares = np.maximum(strata.inside @ np.append(1.0, scale.center), own)
        means = (first / own).T
        square = square + np.einsum("g,gi,gj->ij", shares - own, means, means)
        return cls(inside, tied, back, shares / shares.sum(), means, square)

    @cached_property
    def within(self) -> np.ndarray:
        """Second moments about the means of strata, as far as noise leaves them positive."""
        values, vectors = np.linalg.eigh(self.square - (self.means.T * self.shares) @ self.means)
        return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)

    def ways_within(self, whitening: np.ndarray) -> np.ndarray:
        """Of rows less the mean row of their stratum, whitened, shape (k - G, k): none between strata."""
        across = scipy.linalg.null_space(np.linalg.solve(whitening, self.inside.T).T)
        return np.asarray(across.T @ whitening @ (np.eye(len(whitening)) - self.means.T @ self.inside))

    def stretched(self, factors: np.ndarray) -> np.ndarray:
        """Second moments of rows that count by these factors, if strata differ in their means alone."""
        shares = factors * self.shares
        return np.asarray(shares.sum() * self.within + (self.means.T * shares) @ self.means)

    def squared_lengths(self, whitening: np.ndarray) -> np.ndarray:
        """Mean squares of whitened rows of each stratum, by the same."""
        own = np.trace(whitening @ self.within @ whitening)
        return np.asarray(own + np.sum((self.means @ whitening) ** 2, axis=1))

    def rows(self, longer: np.ndarray) -> np.ndarray:
        """The mean row of each stratum, by the squares of their lengths."""
        return np.asarray(np.sqrt(longer)[:, None] * self.means)

    def longest(self, square: float) -> np.ndarray:
        """Square of the length up to which mean rows are stretched, of each stratum."""
        return np.full(len(self.shares), STRETCH**2 * square)

    def other_columns(self, scale: RowScale) -> RowScale:
        """The scale, where columns of strata are not among those of rare 0/1 values."""
        return replace(scale, binary=scale.binary & (np.abs(self.inside[:, 1:]) < 1e-9).all(axis=0))

    def whitening(self, longer: np.ndarray, scale: RowScale) -> np.ndarray:
        """What whitens rows of these squared lengths, if strata differ in their means alone."""
        square = 1.5 * len(self.square)
        moments = unstretched(self.stretched(longer), math.sqrt(square), self.other_columns(scale))
        return symmetric_power(shortened(moments, self.rows(longer), self.longest(square)), -0.5)

    def held(self, gamma: np.ndarray) -> np.ndarray:
        """The nearest location of the formula."""
        return np.asarray(self.tied @ self.along(gamma))

    def along(self, gamma: np.ndarray) -> np.ndarray:
        """This location, or the nearest one, by the directions of the formula."""
        metric = self.tied.T @ self.square
        return np.asarray(np.linalg.solve(metric @ self.tied, metric @ gamma))

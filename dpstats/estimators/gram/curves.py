"""Columns that bend: residuals against their squares, and what rows of less weight make of a line by that.

The square of one column, looked for before the last release, says how long rows may have to be in it, and
what is left counts in the variance. See docs/theory/linear.md#columns-that-bend.
"""

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from dpstats._codes import BENDS, problems_at
from dpstats.curator import Curator
from dpstats.estimators.bends import EDGE, WORTH, sure_of_each
from dpstats.estimators.column_law import CROOKED, ColumnLaw
from dpstats.estimators.engine.bounds import base_square
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.gram.bounds import Variances, pilot_bounds
from dpstats.estimators.gram.coordinates import Coordinates
from dpstats.estimators.gram.lengths import LongRows, slopes_of
from dpstats.moments import LinearMoments
from dpstats.moments.normal_rows import normal_squares

_SQUARE = 2.0  # mean square of the square of a normal column, less its mean
_OTHERS = 8  # quantiles of the square of the other coordinates of a row
MOVED = 1.4  # what a square, of a column or of the predictor, moves a line by at most, over its coefficient
# sd of how far least squares lies from a line of weighted rows, over what a square says. Without noise, at
# the usual radius, that was .8 to 1.6 times in nine of ten lines with a forgotten square, and of other bends
# .7 to 1.4 times in the middle half; in the median 1.2 and .9
_OTHER_BENDS = 0.5


@dataclass(frozen=True)
class Law(ColumnLaw):
    """Where the rows of m columns lie, in sds, by the counts of the first stage and of long rows.

    Attributes
    ----------
    along : array, shape (m,)
        Square of a whitened row along the column, of an sd.
    others : array, shape (m, quantiles)
        What the other coordinates add to its square.
    """

    along: np.ndarray
    others: np.ndarray

    @classmethod
    def of(cls, place: Coordinates, chosen: np.ndarray, long: LongRows) -> "Law":
        """Of the columns of these numbers; normal ones where too little was seen."""
        scale, counted = place.scale, ColumnLaw.counted(place.scale, chosen)
        at, shares = counted.at, counted.shares
        squares = _squares(place)
        along = squares[1 + chosen]
        rest, number = squares[1:].sum() - along, max(len(squares) - 2, 1)
        others = squares[0] + np.outer(rest / number, normal_squares(number, _OTHERS))
        ends = np.array([scale.lower[chosen], scale.upper[chosen]]) / np.sqrt(scale.ratio[chosen])
        return cls(at, shares, along, others)._with(long, 1 + chosen, ends)

    def _with(self, long: LongRows, axes: np.ndarray, ends: np.ndarray) -> "Law":
        """The same with long rows that were counted along these axes, as far as the first stage saw fewer.

        They lie on the side to which the column is skewed, unless only the other one has room within `ends`.
        """
        rest, edges = self.others.mean(axis=1)[:, None], np.append(long.lower, math.inf)
        lengths = np.sqrt(rest + self.along[:, None] * self.at**2)[..., None]
        seen = np.sum(self.shares[..., None] * ((lengths >= edges[:-1]) & (lengths < edges[1:])), axis=1)
        more = np.maximum(long.shares[axes] - seen, 0.0)
        far = np.sqrt(np.maximum(long.lower * long.upper - rest, 0.0) / self.along[:, None])
        skewed, below, above = (each[:, None] for each in (self.mean(self.at**3) > 0, -ends[0], ends[1]))
        up = np.where(skewed, (far <= above) | (below < above), (far > below) & (above >= below))
        far = np.where(up, np.minimum(far, above), -np.minimum(far, below))
        others = self.shares * (1 - more.sum(axis=1, keepdims=True))
        return replace(self, at=np.hstack([self.at, far]), shares=np.hstack([others, more]))

    def weights(self, radius: float | np.ndarray) -> np.ndarray:
        """Mean weights at the points of rows shortened to a radius, or to each of some; (..., m, points)."""
        squares = self.others[:, None] + (self.along[:, None] * self.at**2)[..., None]
        longest = np.asarray(radius)[..., None, None, None] ** 2
        return np.asarray(np.mean(np.minimum(1.0, longest / squares), axis=-1))

    @functools.cached_property
    def whole(self) -> np.ndarray:
        """The line of rows that are not shortened."""
        return self.shortened_line(math.inf)

    def shortened_line(self, radius: float | np.ndarray) -> np.ndarray:
        """Intercept and slope of the square on its column, of rows shortened to a radius; (2, ..., m)."""
        return self.line(self.at**2, self.weights(radius))


@dataclass(frozen=True)
class Curves:
    """What residuals say of the squares of m columns.

    Attributes
    ----------
    place : Coordinates
    law : Law
    chosen : array of int, shape (m,)
        The columns, among those that are no intercept.
    found, error, sure : array, shape (m,)
        Coefficients of their squares in residual sds, their standard errors, and what chance makes of these
        once in 1,000 fits.
    """

    place: Coordinates
    law: Law
    chosen: np.ndarray
    found: np.ndarray
    error: np.ndarray
    sure: np.ndarray

    def spent(self, plan: Plan) -> Plan:
        """A plan whose last stage has the shares of rows apart and of bends, where there can be none."""
        plan = self.place.found.spent(plan, "final")
        return plan if len(self.chosen) else plan.given("curves", "final")

    def moved(self, radius: float | np.ndarray) -> np.ndarray:
        """How far least squares lies from the line of rows so shortened by each; whitened, (..., k, m)."""
        return self.found * self.per_square(radius)

    def per_square(self, radius: float | np.ndarray) -> np.ndarray:
        """The same for squares whose coefficients are 1."""
        intercept, slope = (
            whole - short
            for whole, short in zip(self.law.whole, self.law.shortened_line(radius), strict=True)
        )
        by = np.zeros((*slope.shape[:-1], len(self.place.line), len(self.chosen)))
        by[..., 0, :] = intercept
        units = np.sqrt(self.place.scale.ratio[self.chosen])
        by[..., 1 + self.chosen, np.arange(len(self.chosen))] = slope / units
        found = np.linalg.solve(self.place.whitening, by)
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=-2, keepdims=True) / MOVED, 1.0))

    def told(self, radius: float, moments: LinearMoments) -> tuple[str, ...]:
        """Codes of the columns that surely bend, by which a coefficient may be moved beyond its error."""
        if not len(self.chosen):
            return ()
        errors = np.sqrt(np.diag(moments.solve().cov))[:, None]
        far = (np.abs(moments.frame.map @ self.moved(radius)) > WORTH * errors).any(axis=0)
        told = self.chosen[(np.abs(self.found) > self.sure) & far]
        return problems_at(BENDS, 1 + told)

    def without(self, columns: np.ndarray) -> "Curves":
        """Where nothing was found of these columns."""
        return replace(self, found=np.where(np.isin(self.chosen, columns), 0.0, self.found))

    def shift(self, radius: float) -> np.ndarray:
        """What is to be added to the line of rows so shortened; in whitened coordinates, shape (k,)."""
        return np.asarray(self.moved(radius) @ self._known)

    def variance(self, radius: float | np.ndarray) -> np.ndarray:
        """Covariance of a line to which that was added; in whitened coordinates, shape (..., k, k)."""
        by, known = self.moved(radius), self._known
        return np.asarray(by * (known * (1 - known) + (_OTHER_BENDS * known) ** 2) @ np.swapaxes(by, -1, -2))

    @functools.cached_property
    def _known(self) -> np.ndarray:
        """Shares of the coefficients that chance leaves, by James and Stein's rule: 0 where it may be all."""
        return np.asarray(np.maximum(1 - (self.error / np.maximum(np.abs(self.found), 1e-300)) ** 2, 0.0))


def _squares(place: Coordinates) -> np.ndarray:
    """Mean squares of whitened rows along the images of the constant and of each column, all rows in full.

    Given one column, the others lie on their lines on it in the mean. Coordinates whiten rows of which long
    ones weigh less, and where noise leaves nothing of what is expected of them, they are as if none did.
    """
    back = np.linalg.inv(place.whitening)
    heard = back @ (place.expected if place.expected.any() else np.eye(len(back))) @ back
    images = place.whitening @ heard / np.diag(heard)
    return np.asarray(np.sum(images**2, axis=0) * np.append(1.0, place.scale.ratio))


def straight(place: Coordinates) -> Curves:
    """Of a fit that looks for no bend."""
    none, empty = np.zeros(0), np.zeros((0, 1))
    return Curves(place, Law(empty, empty, none, empty), np.zeros(0, dtype=int), none, none, none)


def look_for_curves(curator: Curator, cost: float, place: Coordinates, long: LongRows) -> Curves:
    """Release residuals against the squares of all columns that are not of two values."""
    scale, n = place.scale, place.scale.rows(curator.n)
    chosen = np.flatnonzero(scale.amounts)
    m = len(chosen)
    if not m or not cost:
        return straight(place)
    law = Law.of(place, chosen, long)
    level, tilt = law.curve()
    span = math.sqrt(_SQUARE * base_square(m))
    limit = pilot_bounds(n, 1.0, len(place.line), place.allowed).limit
    units = np.sqrt(scale.ratio[chosen])
    release = curator.release(
        "column_bends",
        cost,
        chosen=chosen,
        unit=units,
        level=level,
        tilt=tilt,
        edge=EDGE,
        span=span,
        limit=limit,
        line=place.line,
        sigma=place.sigma,
        **scale.public(),
    )
    q = law.curved(level, tilt)
    shortened = q * np.minimum(1.0, span / np.sqrt(q**2 + _SQUARE * (m - 1)))
    per_square = n * np.sum(law.shares * shortened * law.at**2, axis=1)
    squares = np.maximum(release.values[1] * 2 * span * limit, n * np.sum(law.shares * shortened**2, axis=1))
    off = np.diag(place.whitening @ place.prior @ place.whitening.T)
    by_line = (CROOKED * n) ** 2 * (off[0] + off[1 + chosen] * units**2)
    noise = release.sds[0]
    sds = np.sqrt(squares + noise**2 + by_line)
    sure = sure_of_each(release.law, noise, sds)
    return Curves(place, law, chosen, release.values[0] / per_square, sds / per_square, sure / per_square)


def may_bend(long: LongRows, curves: Curves, place: Coordinates) -> Variances:
    """What counts, and columns that bend, tell of how far a line may move with its long rows."""
    slopes, moved = slopes_of(place, place.line)

    def variances(radius: np.ndarray, noise: np.ndarray) -> np.ndarray:
        bent = long.axes.T @ curves.variance(radius) @ long.axes
        return long.variances(radius, noise, slopes, moved) + long.n * np.diagonal(bent, axis1=-2, axis2=-1)

    return variances

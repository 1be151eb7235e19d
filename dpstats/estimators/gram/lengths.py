"""Rows that hold a column's variance: counts by their length and direction, and what they may move a line by.

A few rows may be most of the variance of a column, as the largest incomes are. Least squares then follows
these few, and a line of rows of which long ones weigh less follows the others. Where effects level off, the
two differ by up to as much as the share of the variance that is not heard.

See docs/theory/linear.md#rows-that-hold-a-variance.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.column_law import OCTAVE
from dpstats.estimators.gram.bounds import base_square
from dpstats.estimators.gram.coordinates import Coordinates
from dpstats.estimators.gram.reach import BULK
from dpstats.estimators.likely import beside_errors
from dpstats.estimators.matrices import SMALLEST
from dpstats.estimators.row_scale import SURE
from dpstats.estimators.zoom import least_seen
from dpstats.families.quantiles import even_shares
from dpstats.moments.normal_rows import normal_squares
from dpstats.moments.roots import with_floor

# A cell that noise hides holds at most so many of the rows of the one before: it then adds as much to a
# variance, as where squares have no mean.
NEXT = 0.25
# standard error of a slope along a direction, over what the rows that are not heard would take of it if all
# of its effect levelled off, where their length is chosen
_LEVELLED = 0.5
# Chance that an effect is a line in long rows, too, and shares by which its slope may be another there.
_STRAIGHT, _CHANGES = 0.5, even_shares(20) * 2 - 1
# share of normal rows in a cell by which those of other laws may be more; a line of nearly normal columns
# that are most of a response would pay for it
_SHAPE = 0.1
_QUANTILES = 4000  # by which squares of normal rows are known


@dataclass(frozen=True)
class LongRows:
    """What was counted of rows beyond the usual length, by the direction in which they are longer.

    Attributes
    ----------
    axes : array, shape (k, k)
        Orthonormal directions of whitened rows, in columns: of the constant, if any, and as nearly as can be
        of the covariates.
    shares : array, shape (k, cells)
        Of the rows, by axis and length.
    lower, upper : array, shape (cells,)
        Of these cells.
    noise : float
        sd of the noise of a share.
    largest : float
        In residual sds, where residuals were seen.
    n : int
        Number of rows.
    level, size : float
        Of normal rows: length of the constant along its axis, 0 without one, and mean square of a coordinate.
    """

    axes: np.ndarray
    shares: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    noise: float
    largest: float
    n: int
    level: float
    size: float

    def heard(self, radius: float | np.ndarray) -> np.ndarray:
        """Mean squares along the axes of rows shortened to a radius, or to each of some; shape (..., k).

        Beside what normal rows lose, and no less than if all were as long as the usual radius.
        """
        more = self._lost(self.lower[0]) - self._lost(np.asarray(radius)[..., None])
        least = np.minimum(np.asarray(radius)[..., None] / self.lower[0], 1.0) ** 2
        return np.asarray(np.maximum(1 + more.sum(axis=-1), least))

    def lost(self, radius: float) -> float:
        """Share of all weight that these rows lose, if shortened to a radius."""
        return float(np.sum(self.shares @ np.maximum(1 - radius**2 / (self.lower * self.upper), 0.0)))

    def longer(self, radius: float) -> tuple[float, np.ndarray]:
        """Share of the rows in cells beyond a radius, and their squares along the axes, (k,)."""
        shares = self.shares * (self.lower * self.upper > radius**2)
        return float(shares.sum()), np.asarray(shares @ (self.lower * self.upper))

    def light(self, radius: float, shorter: float) -> np.ndarray:
        """Lengths over the radius, in sum, of rows that count less than half if shortened so; by axis, (k,).

        Normal ones, 1 / shorter long, and counted ones.
        """
        usual = _usual(np.array([math.sqrt(2) * radius]), len(self.axes), self.level, self.size)
        return np.asarray(usual[:, 0] / shorter + self._light(radius))

    def more_at_full_length(self, radius: float) -> np.ndarray:
        """What counted ones would add to sums at full length, over what they do if r is not shortened; (k,).

        0 where none were counted.
        """
        squares, light = self._lost(radius).sum(axis=1), radius**2 * self._light(radius)
        return np.asarray(squares * (light > 0) / np.where(light > 0, light, 1.0))

    def _light(self, radius: float) -> np.ndarray:
        lengths = np.sqrt(self.lower * self.upper) / radius
        return np.asarray(self.shares @ (lengths * (lengths**2 > 2)))

    def lost_squares(self, radius: float) -> np.ndarray:
        """What they lose of second moments, so shortened, in whitened coordinates."""
        return np.asarray(self.axes * self._lost(radius).sum(axis=1) @ self.axes.T)

    def doubt_of_squares(self, radius: float) -> tuple[np.ndarray, np.ndarray]:
        """sds of what rows that were found, so shortened, lose of mean squares along the axes; each (k,).

        By noise of their counts, and by rows that noise hides beyond: no more than go with the cell before.
        """
        found = self.shares.T
        held = list(found[:1])
        for share in found[1:]:
            held.append(np.where(share > 0, share, np.minimum(self.noise, NEXT * held[-1])))
        lost = np.maximum(self.lower * self.upper - radius**2, 0.0)[:, None]
        noise, hidden = np.where(found > 0, self.noise, 0.0), np.where(found > 0, 0.0, held)
        return np.linalg.norm(noise * lost, axis=0), np.linalg.norm(hidden * lost, axis=0)

    def levelled(
        self,
        radius: float,
        gram: np.ndarray,
        noise: float,
        slopes: np.ndarray,
        moved: np.ndarray,
        unseen: float = 0.0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """What effects that level off may move a line by, in whitened coordinates.

        Parameters
        ----------
        radius : float
            To which rows are shortened.
        gram : array, shape (k, k)
            Second moments of rows so shortened.
        noise : float
            sd of that of a diagonal entry.
        slopes : array, shape (k,)
            Of the line, without its constant, in these coordinates.
        moved : array, shape (k,)
            By how much it is another than the one about which residuals were seen.
        unseen : float
            Share of longer rows whose residuals may be of any size.

        Returns
        -------
        array, shape (k, k)
            A column for each axis: moves if in all longer rows the effect along it levels off altogether.
        array, shape (cells, k)
            Shares of these that rows from each length on make.
        """
        heard, along = self._sure(gram, noise), self.axes.T @ slopes
        # what longer rows than usual add along an axis, and along the others in the same rows
        more = heard - np.diag(np.minimum(np.diag(heard), 1.0))
        own = np.diag(more)[:, None]
        across = np.clip(more / np.maximum(own, 1e-12), -1, 1) * (own > SURE * noise)
        np.fill_diagonal(across, 0.0)
        lost, off = self._levelling(radius, np.hypot(along, across @ along), self.axes.T @ moved, unseen)
        # noise as an operator hides smaller eigenvalues
        least = max(noise * math.sqrt(2 * len(heard)), SMALLEST)
        whole = with_floor(heard, least) + np.diag(lost.sum(axis=-1))
        pull = np.cumsum((lost * off)[:, ::-1], axis=-1)[:, ::-1]
        by = self.axes @ np.linalg.solve(whole, np.diag(pull[:, 0]))
        return np.asarray(by), (pull / np.maximum(pull[:, :1], SMALLEST**2)).T

    def _sure(self, gram: np.ndarray, noise: float) -> np.ndarray:
        """Second moments along the axes, where those of two axes are more than noise."""
        found = self.axes.T @ gram @ self.axes
        return np.where((np.abs(found) > SURE * noise) | np.eye(len(found), dtype=bool), found, 0.0)

    def variances(
        self, radius: float | np.ndarray, noise: float | np.ndarray, slopes: np.ndarray, moved: np.ndarray
    ) -> np.ndarray:
        """Of a line along the axes, n times, by sampling, noise, and effects that level off; (..., k).

        Parameters
        ----------
        radius : float or array
            To which rows would be shortened.
        noise : float or array
            sd of that of an entry of the score, over that of sampling if rows have second moments of 1.
        slopes, moved : array, shape (k,)
            As in :meth:`levelled`.
        """
        heard = self.heard(radius)
        lost, off = self._levelling(radius, np.abs(self.axes.T @ slopes), self.axes.T @ moved)
        pull = _LEVELLED * (lost * off).sum(axis=-1)
        levelled = pull / np.maximum(heard + lost.sum(axis=-1), 1e-12)
        return np.asarray((heard + np.asarray(noise)[..., None] ** 2) / heard**2 + self.n * levelled**2)

    def followed(self, step: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Covariance of a line by what its last step does not tell of long rows, in whitened coordinates.

        Where longer rows have moved it beyond chance, those that count less may move it as much again: on
        2,500 lines of real tables .25 times in the median, and 1 to 2 in one of twenty; on lines of skewed
        covariates that bend up to 1.7 times in the median, and 3.4.

        Parameters
        ----------
        step : array, shape (k,)
            From the line of rows of the usual radius.
        known : array, shape (k, k)
            Covariance of the step by chance.
        """
        chance = np.diag(self.axes.T @ known @ self.axes)
        more = np.maximum((self.axes.T @ step) ** 2 - SURE**2 * chance, 0.0)
        return np.asarray(self.axes * more @ self.axes.T)

    def _levelling(
        self, radius: float | np.ndarray, along: np.ndarray, moved: np.ndarray, unseen: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """What rows so shortened lose of mean squares along the axes, and of slopes; each (..., k, cells).

        `along` is the size of slopes along the axes, `moved` by how much these are others than before.
        """
        lost = self._lost(np.asarray(radius)[..., None])
        # rows so long whose effect levelled off would have residuals that were not seen about the line before
        seen = self.largest / np.sqrt(self.lower * self.upper) + np.abs(moved)[:, None]
        off = unseen * along[:, None] + (1 - unseen) * np.minimum(along[:, None], seen)
        return lost, off

    def _lost(self, radius: float | np.ndarray) -> np.ndarray:
        """What rows so shortened, to one radius or along each axis, have lost of mean squares, by cells."""
        beyond = np.maximum(self.lower * self.upper - np.asarray(radius)[..., None] ** 2, 0.0)
        return np.asarray(self.shares * beyond)


def likely_squares(sizes: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Mean squares, in squares of what may level off, by which intervals hold 95 % of what is likely; (k,).

    An effect is a line with even chances. Else it is another from one length on, each alike, and loses there
    any share of its slope, or has so much more.

    Parameters
    ----------
    sizes : array, shape (k,)
        In errors of a line.
    parts : array, shape (cells, k)
        See :meth:`LongRows.levelled`.
    """
    squares, other = np.zeros(len(sizes)), (1 - _STRAIGHT) / len(_CHANGES)
    for j in np.flatnonzero(sizes):
        ends = parts[np.diff(parts[:, j], append=0.0) < 0, j]
        moves = sizes[j] * np.append(np.outer(_CHANGES, ends), 0.0)
        chances = np.append(np.full(len(moves) - 1, other / len(ends)), _STRAIGHT)
        squares[j] = beside_errors(moves, chances) / sizes[j] ** 2
    return squares


def count_lengths(curator: Curator, cost: float, place: Coordinates, size: float = 1.0) -> LongRows:
    """Release how many rows are longer than usual, and say by how many more they are than normal rows.

    Parameters
    ----------
    curator : Curator
    cost : float
    place : Coordinates
    size : float
        Mean square of a coordinate of all rows, if they are normal.
    """
    k, axes = len(place.line), axes_of(place)
    edges = [math.sqrt(base_square(k))]
    while OCTAVE * edges[-1] < place.farthest:
        edges.append(OCTAVE * edges[-1])
    ends = np.append(edges, max(place.farthest, edges[-1]))
    release = curator.release(
        "row_reach", cost, whitening=place.whitening @ axes, edges=np.array(edges), **place.scale.public()
    )
    counts = release.values[0]
    rows = release.n * place.scale.fraction
    # the constant lies along its axis as far as 1 over that of u, as a'u = 1
    level = 0.0 if place.constant is None else 1 / float(np.linalg.norm(place.constant))
    usual = rows * _usual(np.array(edges), k, level, size)
    sd = float(release.sds[0].max())
    noise = np.sqrt(sd**2 + usual + (_SHAPE * usual) ** 2)
    sure = least_seen(release.law, counts.size) * noise
    found = [_likely(*each) for each in zip(counts, counts - usual, noise, sure, strict=True)]
    largest = float(np.max(place.reach.upper, initial=BULK))
    n = place.scale.rows(release.n)
    return LongRows(axes, np.array(found) / n, ends[:-1], ends[1:], sd / n, largest, n, level, size)


def _usual(edges: np.ndarray, k: int, level: float, size: float) -> np.ndarray:
    """Shares of normal rows by axis and cell, the first axis that of a constant of length `level`, if any."""
    first = int(level > 0)
    rest = size * normal_squares(k - first, _QUANTILES)
    square = level**2 + rest
    cell = np.searchsorted(edges**2, square, side="right")
    inside = (cell[:, None] == np.arange(1, len(edges) + 1)) / len(cell)
    across = (rest / square / max(k - first, 1)) @ inside
    return np.vstack([level**2 / square @ inside] * first + [across] * (k - first))


def _likely(counts: np.ndarray, extra: np.ndarray, noise: np.ndarray, sure: np.ndarray) -> np.ndarray:
    """Rows in each cell beyond what is usual and what noise explains, by James and Stein's rule.

    Where they may still be noise, no more than go with the cell before.
    """
    found, most = np.zeros(len(extra)), math.inf
    for cell, more in enumerate(extra):
        found[cell] = more - noise[cell] ** 2 / more if more > noise[cell] else 0.0
        if more < sure[cell]:
            found[cell] = min(found[cell], most)
        most = NEXT * (found[cell] if cell else max(counts[0], 0.0))
    return found


def slopes_of(place: Coordinates, line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What of a line may level off, and how far it is from that about which residuals were counted.

    Along whitened rows and in residual sds. Not the constant, nor effects of columns of two values, which lie
    on a line.
    """
    first = int(place.scale.constant)
    bent = line.copy()
    bent[:first] = 0.0
    bent[first:][place.scale.binary] = 0.0
    slopes, moved = np.linalg.solve(place.whitening, np.column_stack([bent, line - place.tail.about])).T
    return slopes / place.sigma, moved / place.sigma


def axes_of(place: Coordinates) -> np.ndarray:
    """The images of the covariates, made orthonormal; that of the constant is at right angles to all."""
    first = int(place.scale.constant)
    left, _, right = np.linalg.svd(place.whitening[first:].T, full_matrices=False)
    axes = left @ right  # of columns that repeat each other, too
    if place.constant is None:
        return axes
    return np.column_stack([place.constant / np.linalg.norm(place.constant), axes])

"""What scores say of an effect that bends once: anywhere, and by any amount of a usual size.

See docs/theory/survival.md#whether-times-bend.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy
from scipy.special import stdtrit

from dpstats.estimators.column_law import CROOKED
from dpstats.estimators.halving import rooted
from dpstats.estimators.likely import shortest
from dpstats.estimators.matrices import ROUNDING
from dpstats.families import SEV, Family
from dpstats.families.quantiles import EARLIEST, even_shares
from dpstats.families.tapers import Taper

# Where an effect may bend, in sds of all rows from their mean towards the long ones. A change of slope there
# has Student's law with two degrees of freedom; its unit is that whose effect has this sd, in sigmas, if the
# column is exponential, and the slope of the line beside it. Of 49 fits that bend 46 intervals hold, and with
# a normal law and .4 44, but 1 of 16 and not 4 of 8 of Weibull times that level off, where maximum likelihood
# goes farthest; right lines have intervals 4 % longer.
_PLACES, _EFFECT = np.array([-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0]), 0.3
# Mean of what lies beyond, of an exponential column; its mean square is twice that.
_BEYOND = np.exp(-1 - _PLACES)
_UNITS, _CHANGES = _EFFECT / np.sqrt(_BEYOND * (2 - _BEYOND)), stdtrit(2.0, even_shares(21))
# Offsets of rows from a line, and residuals to which they are watched, in sigmas: the same distance apart
_GRID = 0.1
_OFFSETS, _WATCHED = np.arange(-12.0, 12.0 + _GRID / 2, _GRID), np.arange(EARLIEST, 8.0, _GRID)
_STEPS, _NEAR = 40, 1e-3  # Newton's, and the shortest, in sigmas


@dataclass(frozen=True)
class MeanScore:
    """Mean score of a row by how far its location lies beyond a line, and until when it is watched.

    Attributes
    ----------
    values : array
        At `_OFFSETS`, rising, and of rows watched to `_WATCHED` on the line.
    family : Family
        Of the residuals.
    up : float
        How far an end moves as a line rises by 1: a residual falls, and a log hazard rises.
    """

    values: np.ndarray
    family: Family
    up: float = -1.0

    @classmethod
    @functools.lru_cache(maxsize=32)
    def of(cls, family: Family, cut: Taper) -> "MeanScore":
        """That of scores with a cut."""
        true, heard = _WATCHED - _OFFSETS[:, None], np.prod(cut.at(_WATCHED)[:2], axis=0)
        more = family.sf(true) * heard * (family.hazard(_WATCHED) - family.hazard(true))
        values = scipy.integrate.cumulative_trapezoid(more, dx=_GRID, axis=1, initial=0.0)
        return cls(_spread(values, family), family)

    @classmethod
    def of_hazards(cls, c: float = math.inf) -> "MeanScore":
        """The same of a log hazard, of rows that are observed until a cumulative hazard of c."""
        hazard = np.multiply.outer(np.exp(_OFFSETS), np.minimum(np.exp(_WATCHED), c))
        return cls(_spread(np.expm1(-hazard) * np.expm1(-_OFFSETS)[:, None], SEV), SEV, 1.0)

    def ends(self, failed: float, at: np.ndarray, shares: np.ndarray, rise: float) -> np.ndarray:
        """Residuals to which rows at these points are watched, all to one time, on a line that rises so.

        By that time a share of them has `failed`. Laws are (p,), or (q, p) of several.
        """
        moved, enough = self.up * rise * at, failed * shares.sum(axis=-1, keepdims=True)

        def off(end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            share, slope = (_along(np.interp(end + moved, _WATCHED, each), shares) for each in self._failing)
            return share - enough, slope

        first = _WATCHED[0] - moved.max(axis=-1, keepdims=True)
        last = _WATCHED[-1] - moved.min(axis=-1, keepdims=True)
        return rooted(off, (first + last) / 2, first, last, ROUNDING * enough) + moved

    def __call__(self, off: np.ndarray, ends: np.ndarray) -> np.ndarray:
        return _between(self.values.ravel(), *_places(off, ends))

    @cached_property
    def _failing(self) -> tuple[np.ndarray, np.ndarray]:
        """Share of rows on the line that fail by each of `_WATCHED`, and its slope."""
        share = _spread(self.family.cdf(_WATCHED), self.family)
        return share, np.gradient(share, _GRID)

    @cached_property
    def _tables(self) -> list[np.ndarray]:
        """Of the score, and its slope, not quite 0: in the offset, and as a line moves ends, too."""
        by_off, by_end = np.gradient(self.values, _GRID)
        slopes = np.maximum([by_off, by_off - self.up * by_end], 1e-6)
        return [np.array([self.values.ravel(), slope.ravel()]) for slope in slopes]

    def line(
        self,
        at: np.ndarray,
        shares: np.ndarray,
        effects: np.ndarray,
        ends: np.ndarray,
        moves: bool = False,
    ) -> np.ndarray:
        """Intercept and slopes about which scores of effects at these points are 0; shape (m, 2) of m.

        Points (p, c) of c columns, or (p,) of one; each column has a slope. Where arrays begin with one more
        axis it is that of several laws.
        Rows are watched to these ends on the line that is found or, if it `moves`, on the line of 0.
        """
        rows, tables = _rows(at, shares), self._tables[moves]
        across, k = rows.swapaxes(-1, -2), rows.shape[-1]
        products = (rows[..., None] * rows[..., None, :]).reshape(*rows.shape[:-1], k**2)

        def about(line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            along = line @ across
            where = _places(effects - along, ends[..., None, :] + moves * self.up * along)
            score, slope = shares[..., None, :] * _between(tables, *where)
            return score @ rows, (slope @ products).reshape(*line.shape, k) + least

        least = 1e-9 * np.eye(k)
        found, reach = np.zeros((*effects.shape[:-1], k)), np.ones((*effects.shape[:-1], 1))
        score, slope = about(found)
        for _ in range(_STEPS):
            step = np.linalg.solve(slope, score[..., None])[..., 0]
            longest = np.abs(step @ across).max(axis=-1, keepdims=True)
            if longest.max() < _NEAR:
                break
            step *= np.minimum(1.0, reach / np.maximum(longest, _NEAR))
            tried, curved = about(found + step)
            # a step is not gone that leads far beyond where scores along it are 0
            on = np.sum((tried + score / 2) * step, axis=-1, keepdims=True) > 0
            found, score = np.where(on, found + step, found), np.where(on, tried, score)
            slope, reach = np.where(on[..., None], curved, slope), reach * np.where(on, 2.0, 0.25)
        return found


def _rows(at: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(1, x) of rows at points, of one column or of several."""
    columns = at[..., None] if at.ndim == shares.ndim else at
    return np.concatenate([np.ones((*shares.shape, 1)), columns], axis=-1)


def _along(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Sums over the rows of each law, of values (..., p) and shares (..., p) that keep their last axis."""
    return np.asarray((values[..., None, :] @ shares[..., None])[..., 0])


def _spread(values: np.ndarray, family: Family) -> np.ndarray:
    """Means over ends that differ as residuals do, as not all rows are watched to one time."""
    return np.asarray(scipy.ndimage.gaussian_filter1d(values, family.sd / _GRID, mode="nearest"))


def _places(off: np.ndarray, ends: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """Of offsets and ends: the four numbers about them in a table, and how far they lie beyond the first."""
    (i, high), (j, late) = (
        _cells((each - grid[0]) / _GRID, len(grid)) for each, grid in ((off, _OFFSETS), (ends, _WATCHED))
    )
    first = i * len(_WATCHED) + j
    return (first, first + 1, first + len(_WATCHED), first + len(_WATCHED) + 1), high, late


def _cells(at: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Whole parts, of which the next one is among so many, and what is left; 0 of no number."""
    within = np.fmin(np.fmax(at, 0.0), count - 1.001)
    whole = within.astype(np.intp)
    return whole, within - whole


def _between(
    tables: np.ndarray, corners: tuple[np.ndarray, ...], high: np.ndarray, late: np.ndarray
) -> np.ndarray:
    """Values of tables, each a line, at places, and beyond their edges those at the edges."""
    a, b, c, d = (tables.take(corner, axis=-1) for corner in corners)
    return np.asarray((1 - high) * ((1 - late) * a + late * b) + high * ((1 - late) * c + late * d))


class Told(NamedTuple):
    """What a sum says of how far the line of all rows lies from that of weighted ones, (intercept, slope).

    And the mean square of what rows lie off it.
    """

    mean: np.ndarray
    square: np.ndarray
    spread: float

    def along(self, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By what coefficients move that `way` makes of these, and the covariance of what is not known."""
        return way @ self.mean, way @ (self.square - np.outer(self.mean, self.mean)) @ way.T

    def likely(self, chance: float) -> "Told":
        """The same of what is there with this chance only."""
        return Told(chance * self.mean, chance * self.square, chance * self.spread)


class Bends(NamedTuple):
    """Effects, each as likely as another: sums of scores that they have, and moves of the line.

    And mean squares of what rows lie off the line of all rows. Shapes (m,), (m, 1 + c) of c columns and (m,);
    several laws are the first axis of all, as of the arrays that they follow from.
    """

    sums: np.ndarray
    moves: np.ndarray
    spreads: np.ndarray

    @classmethod
    def of(  # noqa: PLR0913 - effects, rows with their weights, and three scores
        cls,
        effects: np.ndarray,
        at: np.ndarray,
        shares: np.ndarray,
        weights: np.ndarray,
        curve: np.ndarray,
        scores: Sequence[MeanScore],
        ends: np.ndarray,
    ) -> "Bends":
        """Of effects (m, p) of rows that lie at these points.

        Parameters
        ----------
        effects : array, shape (m, p)
        at : array, shape (p,) or (p, c)
            In sds of a column, or of several.
        shares : array, shape (p,)
        weights, curve : array, shape (p,)
            Of rows in the fit, and what scores are held against.
        scores : sequence of MeanScore
            Three: of the fit, of maximum likelihood, and of the sums.
        ends : array, shape (p,)
            Residuals on the line of the fit to which rows are watched.
        """
        bounded, likelihood, looked = scores
        fitted = bounded.line(at, shares * weights, effects, ends)
        across = _rows(at, shares).swapaxes(-1, -2)
        left = effects - fitted @ across
        moves = likelihood.line(at, shares, left, ends, moves=True)
        sums = looked(left, ends[..., None, :]) @ (shares * curve)[..., None]
        return cls(sums[..., 0], moves, ((left - moves @ across) ** 2 @ shares[..., None])[..., 0])

    def told(self, found: float, sd: float, odds: float = 1.0, errors: np.ndarray | None = None) -> Told:
        """By a sum with this sd, where a line bends with these odds before any look.

        Of a bend of another shape a sum is another one, which is not known better than its column. Where it
        may be chance, the shortest intervals that hold 95 % of what is likely say how far the line may lie,
        beside its `errors`: few bends move it so far that a variance would be theirs alone.
        """
        sd = math.hypot(sd, CROOKED * found)
        logs = -(((found - np.append(self.sums, 0.0)) / sd) ** 2) / 2
        chances = np.exp(logs - logs.max())
        chances[:-1] *= 1 / len(self.sums)
        chances[-1] /= odds
        chances /= chances.sum()
        if errors is None:
            mean, square = chances[:-1] @ self.moves, (self.moves.T * chances[:-1]) @ self.moves
        else:
            mean, square = shortest(np.pad(self.moves, ((0, 1), (0, 0))), chances, errors)
        return Told(mean, square, float(chances[:-1] @ self.spreads))


def bends_of_long_rows(at: np.ndarray, shares: np.ndarray, rise: float) -> np.ndarray:
    """Effects (m, p) of a column, whose rows lie at these points in its sds, that bend towards the long ones.

    They may end on a line of the slope `rise`, in sigmas, so that slopes may change by as much.
    """
    off = at - shares @ at
    sd = math.sqrt(float(shares @ off**2))
    up = math.copysign(1.0, shares @ at**3)
    return _of_all_sizes(np.maximum(up * off - sd * _PLACES[:, None], 0.0), sd, rise)


def bends_on_both_sides(at: np.ndarray, shares: np.ndarray, rise: float) -> np.ndarray:
    """The same of effects that bend on both sides alike."""
    off = at - shares @ at
    sd = math.sqrt(float(shares @ off**2))
    beyond = np.maximum(np.abs(off) - sd * np.maximum(_PLACES, 0.0)[:, None], 0.0)
    return _of_all_sizes(np.sign(off) * beyond, sd, rise)


def _of_all_sizes(beyond: np.ndarray, sd: float, rise: float) -> np.ndarray:
    """Effects by how far rows lie beyond each of `_PLACES`, for each of `_CHANGES`."""
    changes = np.multiply.outer(np.hypot(_UNITS / sd, rise), _CHANGES)
    return (changes[:, :, None] * beyond[:, None]).reshape(-1, beyond.shape[1])

"""What scores say of an effect that bends once: anywhere, and by any amount of a usual size.

See docs/theory/survival.md#whether-times-bend.
"""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from dpstats.estimators.column_law import CROOKED
from dpstats.families import Family
from dpstats.families.quantiles import EARLIEST, MOST_FAILED, even_shares
from dpstats.families.tapers import Taper

# Where an effect may bend, in sds from the mean towards the long rows. A change of slope there has Student's
# law with two degrees of freedom; its unit is that whose effect has this sd, in sigmas, if the column is
# exponential. Of 49 fits that bend 46 intervals hold, and with a normal law and .4 44, but 1 of 16 and not 4
# of 8 of Weibull times that level off, where maximum likelihood goes farthest; right lines have intervals 4 %
# longer.
_PLACES, _EFFECT = np.array([-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0]), 0.3
# Mean of what lies beyond, of an exponential column; its mean square is twice that.
_BEYOND = np.exp(-1 - _PLACES)
_CHANGES = np.multiply.outer(_EFFECT / np.sqrt(_BEYOND * (2 - _BEYOND)), stdtrit(2.0, even_shares(21)))
_OFFSETS = np.linspace(-8.0, 8.0, 321)  # of rows from a line, in sigmas
_STEPS, _LONGEST = 40, 1.0  # Newton's, and how far one moves a line at most, in sigmas


@dataclass(frozen=True)
class MeanScore:
    """Mean score of a row by how far its location lies beyond a line, in sigmas.

    Attributes
    ----------
    values : array
        At `_OFFSETS`, rising.
    """

    values: np.ndarray

    @classmethod
    @functools.lru_cache(maxsize=64)
    def of(cls, family: Family, cut: Taper, fraction: float) -> "MeanScore":
        """That of scores with a cut, of rows all watched to where a fraction fails on the line."""
        z = np.linspace(EARLIEST, family.quantile(min(fraction, MOST_FAILED)), 400)
        true, heard = z - _OFFSETS[:, None], np.prod(cut.at(z)[:2], axis=0)
        more = family.sf(true) * heard * (family.hazard(z) - family.hazard(true))
        return cls._of_unit_slope(np.trapezoid(more, z, axis=1))

    @classmethod
    def of_hazards(cls, fraction: float, c: float = math.inf) -> "MeanScore":
        """The same of a log hazard, of rows that are observed until a cumulative hazard of c."""
        hazard = min(-math.log1p(-min(fraction, MOST_FAILED)), c) * np.exp(_OFFSETS)
        return cls._of_unit_slope(np.expm1(-hazard) * np.expm1(-_OFFSETS))

    @classmethod
    def _of_unit_slope(cls, means: np.ndarray) -> "MeanScore":
        """With a slope of 1 on the line, where it is 0."""
        return cls(means / np.gradient(means, _OFFSETS)[len(means) // 2])

    def __call__(self, off: np.ndarray) -> np.ndarray:
        return np.interp(off, _OFFSETS, self.values)

    def slope(self, off: np.ndarray) -> np.ndarray:
        """Of the score, not quite 0 where it is flat."""
        return np.interp(off, _OFFSETS, np.maximum(np.gradient(self.values, _OFFSETS), 1e-3))

    def line(self, at: np.ndarray, shares: np.ndarray, effects: np.ndarray) -> np.ndarray:
        """Intercept and slope about which scores of effects at these points are 0; shape (m, 2) of m."""
        rows = np.column_stack([np.ones_like(at), at])
        gram = (rows.T * shares) @ rows + np.diag([0.0, 1e-9])
        found = np.linalg.solve(gram, (rows.T * shares) @ effects.T).T
        for _ in range(_STEPS):
            off = effects - found @ rows.T
            curved = np.einsum("mi,ia,ib->mab", shares * self.slope(off), rows, rows)
            step = np.linalg.solve(curved + 1e-9 * np.eye(2), ((shares * self(off)) @ rows)[:, :, None])[
                :, :, 0
            ]
            longest = np.abs(step @ rows.T).max(axis=1, keepdims=True)
            found = found + step * np.minimum(1.0, _LONGEST / np.maximum(longest, _LONGEST))
        return found


class Told(NamedTuple):
    """What a sum says of how far the line of all rows lies from that of weighted ones, (intercept, slope)."""

    mean: np.ndarray
    square: np.ndarray


class Bends(NamedTuple):
    """Effects that bend once, as likely as each other: sums of scores that they have, and moves of the line.

    Shapes (m,) and (m, 2).
    """

    sums: np.ndarray
    moves: np.ndarray

    @classmethod
    def of(  # noqa: PLR0913 - a column, its rows' weights, and two scores
        cls,
        at: np.ndarray,
        shares: np.ndarray,
        weights: np.ndarray,
        curve: np.ndarray,
        bounded: MeanScore,
        likelihood: MeanScore,
    ) -> "Bends":
        """Of a column whose rows lie at these points.

        Parameters
        ----------
        at, shares : array, shape (p,)
            In sds of the column.
        weights, curve : array, shape (p,)
            Of rows in the fit, and what scores are held against.
        bounded, likelihood : MeanScore
            Of the fit and the sums, and of maximum likelihood.
        """
        up = math.copysign(1.0, shares @ at**3)
        beyond = np.maximum(up * at - _PLACES[:, None], 0.0)
        effects = (_CHANGES[:, :, None] * beyond[:, None]).reshape(-1, len(at))
        fitted, whole = bounded.line(at, shares * weights, effects), likelihood.line(at, shares, effects)
        off = effects - fitted[:, :1] - fitted[:, 1:] * at
        return cls(bounded(off) @ (shares * curve), whole - fitted)

    def told(self, found: float, sd: float, odds: float = 1.0) -> Told:
        """By a sum with this sd, where a line bends with these odds before any look.

        Of a bend of another shape a sum is another one, which is not known better than its column.
        """
        sd = math.hypot(sd, CROOKED * found)
        logs = -(((found - np.append(self.sums, 0.0)) / sd) ** 2) / 2
        chances = np.exp(logs - logs.max())
        chances[:-1] *= odds / len(self.sums)
        chances = chances[:-1] / chances.sum()
        return Told(chances @ self.moves, (self.moves.T * chances) @ self.moves)

"""Do times follow the line, or bend along skewed columns? docs/theory/survival.md#whether-times-bend."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dpstats.curator import Release
from dpstats.estimators.bends import EDGE, FAR, NEAR, WORTH, Line, by_chance, judged
from dpstats.estimators.column_law import CROOKED, OCTAVE, ColumnLaw
from dpstats.estimators.engine.bounds import base_square
from dpstats.estimators.row_scale import RowScale
from dpstats.families.bounded_score import square_weight

Array = np.ndarray

# squares of its standard error that a bend must be worth, as by Akaike's criterion: with 1, as by James and
# Stein's rule, intervals of right lines are 10 % longer than without a look, not 6
_AKAIKE = 2.0
_ROUNDING = 1e-12  # of squares of curves of columns of variance 1
# skewness from which the long rows of a column lie on one side: of a gamma law of shape 4 it is 1, and noise
# makes .6 of that of a normal column
_SKEWED = 0.7
# sd of how far maximum likelihood lies from the line of weighted rows where an effect levels off, over what a
# square says that goes on straight: in the middle half of 72 fits .5 to 1.3 times as far
_OTHER_BENDS = 0.6


class Bent(NamedTuple):
    """What bends move coefficients of (1, x~) by.

    Attributes
    ----------
    shift : array, shape (k,)
    cov : array, shape (k, k)
        Of what is not known of it.
    told : tuple of int
        Columns of (1, x~) that surely bend; 0 where the line does.
    """

    shift: Array
    cov: Array
    told: tuple[int, ...]


@dataclass(frozen=True)
class Look:
    """A line, and what its scores are held against: squares of skewed columns, or its own if there are none.

    Attributes
    ----------
    line : Line
    scale : RowScale
    chosen : array of int, shape (m,)
        The skewed columns, among those that are no constant.
    law : ColumnLaw
        Of these.
    events : float
        How many failures are heard.
    radius : float
        Beyond which whitened rows weigh less.
    """

    line: Line
    scale: RowScale
    chosen: Array
    law: ColumnLaw
    events: float
    radius: float

    @classmethod
    def along(cls, line: Line, scale: RowScale, events: float, radius: float) -> "Look":
        """What is skewed of the columns that are not of two values, by counts or as their bounds have it."""
        chosen = np.flatnonzero(~scale.binary & ~scale.hardly_varies)
        near = scale.near_end[chosen]
        law = _farther(ColumnLaw.counted(scale, chosen, near), scale, chosen, 0.0)
        skewed = np.abs(law.mean(law.at**3)) > _SKEWED * np.maximum(law.mean(law.at**2), 1.0) ** 1.5
        skewed |= np.isfinite(near)
        law, chosen = ColumnLaw(law.at[skewed], law.shares[skewed]), chosen[skewed]
        law = _farther(law, scale, chosen, scale.missed[chosen])
        # where noise leaves nearly all rows of a column in two places no square differs from a line
        bends = law.mean(law.curved(*law.curve()) ** 2) > _ROUNDING
        return cls(line, scale, chosen[bends], ColumnLaw(law.at[bends], law.shares[bends]), events, radius)

    def public(self) -> dict[str, Any]:
        """Public parameters of the curves, along forms of (1, x~)."""
        first = np.eye(len(self.line.beta))[0]
        if not len(self.chosen):
            way, half = (self.line.beta - self.line.middle * first) / self.line.some_spread, NEAR.edge**2 / 2
            return dict(ways=way[None], level=[half], tilt=[0.0], edge=NEAR.edge, span=half)
        level, tilt = self.law.curve()
        ways = np.eye(len(first))[self._axes] / self._roots[:, None]
        return dict(ways=ways, level=level, tilt=tilt, edge=EDGE, span=self._span)

    def judged(self, release: Release, limit: float) -> Bent:
        """What scores up to a limit say of the curves that were released."""
        line, k = self.line, len(self.line.beta)
        if not len(self.chosen):
            bend = judged(release, line, limit, NEAR, min(FAR * line.unheard, 1.0))
            return Bent(np.zeros(k), bend.square * line.moved, (0,) * bend.told)
        if not np.isfinite(line.cov).all():
            return Bent(np.zeros(k), np.zeros((k, k)), ())
        found, noise = release.values[0].ravel(), float(release.sds[0].max())
        sds = self._sds(noise, float(release.values[1].item()) / square_weight(limit * self._span))
        sure = np.array([by_chance(release.law, noise, sd, len(sds))[0] for sd in sds])
        each = found[:, None] * self._per_score
        told = (np.abs(found) > sure) & (np.abs(each) > WORTH * np.sqrt(np.diag(line.cov))).any(axis=1)
        known = np.maximum(1 - _AKAIKE * (sds / np.maximum(np.abs(found), 1e-300)) ** 2, 0.0)
        # what rises ever faster may go on so, or not, as far as is heard: it is not moved, and all may be
        rises = each[np.arange(len(each)), self._axes] * line.beta[self._axes] > 0
        unknown = np.where(rises, known, known * (1 - known) + (_OTHER_BENDS * known) ** 2)
        shift = np.where(rises, 0.0, known) @ each
        return Bent(shift, each.T * unknown @ each, tuple(self._axes[told].tolist()))

    @property
    def _axes(self) -> Array:
        return np.asarray(1 + self.chosen)

    @property
    def _roots(self) -> Array:
        """sds of the skewed columns on their scale."""
        return np.asarray(np.sqrt(self.scale.ratio[self.chosen]))

    @cached_property
    def _curves(self) -> Array:
        """Values at the points, before they are shortened."""
        return self.law.curved(*self.law.curve())

    @cached_property
    def _span(self) -> float:
        return math.sqrt(float(self.law.mean(self._curves**2).mean()) * base_square(len(self.chosen)))

    @cached_property
    def _shortened(self) -> Array:
        """The same, shortened by what the others are in the mean as well."""
        squares = self.law.mean(self._curves**2)
        lengths = np.sqrt(self._curves**2 + (squares.sum() - squares)[:, None])
        return self._curves * np.minimum(1.0, self._span / np.maximum(lengths, 1e-300))

    def _sds(self, noise: float, square: float) -> Array:
        """Of the sums: by sampling, as the sum of all squares has it and at least as expected, by noise, and
        by errors of the line."""
        q, variances = self._shortened, np.diag(self.line.cov_privacy)
        expected = self.events * self.law.mean(q**2)
        squares = expected * max(square / float(expected.sum()), 1.0)
        level, tilt = (np.abs(self.law.mean(q * by)) + CROOKED for by in (1.0, self.law.at))
        off = level**2 * variances[0] + tilt**2 * variances[self._axes] * self._roots**2
        return np.asarray(np.sqrt(squares + noise**2 + self.events**2 * off))

    @property
    def _per_score(self) -> Array:
        """What a sum of scores against a curve, of 1, moves coefficients by; shape (m, k).

        A square goes on as straight as it is at the edge. Its line over all rows is another than that over
        rows as they were weighted, about which scores were summed.
        """
        size, at = np.abs(self.law.at), self.law.at
        straight = np.where(size > EDGE, EDGE * (2 * size - EDGE), at**2)
        fitted, whole = (self.law.line(straight, by) for by in (self._weights, np.ones_like(at)))
        left = straight - fitted[0][:, None] - fitted[1][:, None] * at
        level, slope = (whole - fitted) / (self.events * self.law.mean(self._shortened * left))
        each = np.zeros((len(level), len(self.line.beta)))
        each[:, 0], each[np.arange(len(level)), self._axes] = level, slope / self._roots
        return each

    @property
    def _weights(self) -> Array:
        """Of rows at the points, whitened as weighted rows are."""
        heard = np.diag(self.line.moments)[self._axes] / self.line.moments[0, 0]
        squares = self.law.at**2 * (self.scale.ratio[self.chosen] / heard)[:, None]
        return np.asarray(np.minimum(1.0, self.radius**2 / (squares + len(self.line.beta) - 1)))


def _farther(law: ColumnLaw, scale: RowScale, chosen: Array, missed: Array | float) -> ColumnLaw:
    """With rows in the octave beyond those counted, where columns are skewed to, as far as bounds go.

    A share that is `missed`, if bounds leave room for it, and what of a variance of 1 was counted nowhere.
    """
    up, bins = np.where(law.mean(law.at**3) > 0, 1.0, -1.0), scale.shares.shape[1]
    seen = np.max(np.where(law.shares > 0, up[:, None] * law.at, 0.0)[:, :bins], axis=1, initial=0.0)
    ends = np.where(up > 0, scale.upper[chosen], -scale.lower[chosen]) / np.sqrt(scale.ratio[chosen])
    far = np.clip(OCTAVE * seen, 1.0, np.maximum(ends, 1.0))
    more = np.maximum(1 - law.mean(law.at**2), 0.0) / far**2 + missed * (ends > seen)
    shares = np.column_stack([law.shares * (1 - more)[:, None], more])
    return ColumnLaw(np.column_stack([law.at, up * far]), shares)

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
from dpstats.estimators.matrices import symmetric_power
from dpstats.estimators.row_scale import RowScale
from dpstats.estimators.stretch import longest_square
from dpstats.families.bounded_score import square_weight

Array = np.ndarray

# squares of its standard error that a bend must be worth, as by Akaike's criterion: with 1, as by James and
# Stein's rule, intervals of right lines are 10 % longer than without a look, not 6
_AKAIKE = 2.0
# skewness from which the long rows of a column lie on one side: of a gamma law of shape 4 it is 1, and noise
# makes .6 of that of a normal column
_SKEWED = 0.7
# sd of how far maximum likelihood lies from the line of weighted rows, over what a square says that goes on
# straight: .4 to 1.6 times as far for logarithms, roots, squares and steps. Of logarithms 75, 94 and 97 % of
# intervals held with .2, this and .5, whose intervals are 25 % longer
_OTHER_BENDS = 0.35
# share of a variance that noise hides, where bounds leave room for two octaves more than were seen: of
# log-normal columns .1 to .5. Without it 79 % of intervals of logarithms held, not 94
_HIDDEN = 0.25


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
        """What is skewed of the columns that are not of two values."""
        chosen = np.flatnonzero(~scale.binary & ~scale.hardly_varies)
        law = _with_rest(ColumnLaw.counted(scale, chosen), scale, chosen)
        skewed = np.abs(law.mean(law.at**3)) > _SKEWED * np.maximum(law.mean(law.at**2), 1.0) ** 1.5
        law = ColumnLaw(law.at[skewed], law.shares[skewed])
        return cls(line, scale, chosen[skewed], law, events, radius)

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
        unknown = known * (1 - known) + (_OTHER_BENDS * known) ** 2
        return Bent(known @ each, each.T * unknown @ each, tuple(self._axes[told].tolist()))

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

        A square goes on as straight as it is at the edge, and the rows that are not heard lie there.
        """
        at, up = self.law.at, np.sign(self.law.mean(self.law.at**3))
        straight = np.where(np.abs(at) > EDGE, EDGE * (2 * np.abs(at) - EDGE), at**2)
        steep = 2 * EDGE - up * self.law.mean(straight * at) / self.law.mean(at**2)
        each = np.zeros((len(up), len(self.line.beta)))
        each[:, 0], each[np.arange(len(up)), self._axes] = 1 / self.radius, up / self._roots
        per_square = self.events * self.law.mean(self._shortened * straight)
        return np.asarray(each * (self._unheard * steep / per_square)[:, None])

    @property
    def _unheard(self) -> Array:
        """Shares of the variances of the skewed columns that long rows have lost with their weight.

        As moments of weighted rows have it, and at least as octaves do; of what noise does not hide.
        None where bounds allow no longer row.
        """
        first = 1 - self.scale.constant  # of the columns that lengths are of
        whitening = symmetric_power(self.line.moments[first:, first:], -0.5)
        if self.radius**2 * (1 + 1e-9) >= longest_square(whitening, self.scale):  # but for rounding
            return np.zeros(len(self.chosen))
        heard = np.diag(self.line.moments)[self._axes] / self.line.moments[0, 0]
        squares = self.law.at**2
        weights = np.minimum(1.0, self.radius**2 / (squares + len(self.line.beta) - 1))
        counted = self.law.mean(squares * weights) / self.law.mean(squares)
        heard = np.minimum(heard / self.scale.ratio[self.chosen], counted)
        return np.clip(1 - heard * (1 - self._hidden), 0.0, 1.0)

    @property
    def _hidden(self) -> Array:
        """Shares of variances that lie where noise hides rows, if bounds leave room for them."""
        _, seen, ends = _reach(self.law, self.scale, self.chosen)
        octaves = np.log2(np.maximum(ends, 1e-300) / np.maximum(seen, 1e-300))
        return np.asarray(_HIDDEN * np.clip(octaves - 1, 0.0, 1.0))


def _reach(law: ColumnLaw, scale: RowScale, chosen: Array) -> tuple[Array, Array, Array]:
    """The side to which columns are skewed, 1 or -1, how far rows were counted on it, and bounds go."""
    up = np.where(law.mean(law.at**3) > 0, 1.0, -1.0)
    bins = scale.shares.shape[1]
    seen = np.max(np.where(law.shares > 0, up[:, None] * law.at, 0.0)[:, :bins], axis=1, initial=0.0)
    ends = np.where(up > 0, scale.upper[chosen], -scale.lower[chosen]) / np.sqrt(scale.ratio[chosen])
    return up, seen, ends


def _with_rest(law: ColumnLaw, scale: RowScale, chosen: Array) -> ColumnLaw:
    """With rows in the next octave, as far as bounds go, for what of a variance of 1 was counted nowhere."""
    up, seen, ends = _reach(law, scale, chosen)
    far = np.clip(OCTAVE * seen, 1.0, np.maximum(ends, 1.0))
    more = np.maximum(1 - law.mean(law.at**2), 0.0) / np.maximum(far**2, 1.0)
    shares = np.column_stack([law.shares * (1 - more)[:, None], more])
    return ColumnLaw(np.column_stack([law.at, up * far]), shares)

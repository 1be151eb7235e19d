"""Do times follow the line, or bend along skewed columns? docs/theory/survival.md#whether-times-bend."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dpstats.curator import Release
from dpstats.estimators.bends import EDGE, FAR, NEAR, WORTH, ReleasedLine, by_chance, judged
from dpstats.estimators.column_law import CROOKED, OCTAVE, ColumnLaw
from dpstats.estimators.engine.bounds import base_square
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.matrices import ROUNDING
from dpstats.estimators.one_bend import Bends, MeanScore
from dpstats.estimators.row_scale import RowScale
from dpstats.families.bounded_score import square_weight

_LIMIT = 1.5  # of scores, about: what a look costs whose noise is as large as its sampling error
_OCTAVES = 12  # beyond those counted, at most
# skewness from which the long rows of a column lie on one side: of a gamma law of shape 4 it is 1, and noise
# makes .6 of that of a normal column
_SKEWED = 0.7
# The same, and how many times as far from the mean as the near end the far one lies, by signs, where noise
# makes up to 1.4 of it and ordinary columns would pay for a look: of 40 fits to three of these 29 looked.
_LOOSELY = 1.5, 16.0
# Of a bend, before any look; by signs a line bends as likely as not. Of 128 fits by Newton's steps whose
# effects bend 121 intervals held the slope with either; those of right lines were 13 % longer than by a rule
# before, and with evens 24 %.
_ODDS = 1 / 3


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

    shift: np.ndarray
    cov: np.ndarray
    told: tuple[int, ...]


@dataclass(frozen=True)
class Look:
    """A line, and what its scores are held against: squares of skewed columns, or its own if there are none.

    Attributes
    ----------
    line : ReleasedLine
    scale : RowScale
    chosen : array of int, shape (m,)
        The skewed columns, among those that are no constant.
    law, tail : ColumnLaw
        Of these, with rows that noise may hide in the next octave (by signs with none), and in all octaves
        beyond.
    rows, failed, events : float
        How many rows there are, what share of them fails, and how many failures are heard.
    radius : float
        Beyond which whitened rows weigh less.
    scores : sequence of MeanScore
        Two, of the fit and of maximum likelihood.
    by_signs : bool
        Whether the rows are those of a fit by signs: without a constant, and shortened once, by their scores
        alone.
    """

    line: ReleasedLine
    scale: RowScale
    chosen: np.ndarray
    law: ColumnLaw
    tail: ColumnLaw
    rows: float
    failed: float
    events: float
    radius: float
    scores: Sequence[MeanScore]
    by_signs: bool = False

    @classmethod
    def along(  # noqa: PLR0913 - a line, its rows, and two scores
        cls,
        beta: np.ndarray,
        moments: np.ndarray,
        covs: tuple[np.ndarray, np.ndarray],
        scale: RowScale,
        rows: float,
        failed: float,
        kept: float,
        radius: float,
        scores: Sequence[MeanScore],
        by_signs: bool = False,
    ) -> "Look":
        """What is skewed, or may be, of the columns that are not of two values.

        Of coefficients of standardised rows with these second moments as they were weighted, and their
        covariance and the part of noise in it. The cut leaves a share `kept` of what the failures say.
        """
        # how far failures spread where the first stage does not know, those that weigh tell
        heard = np.diag(moments)[1:] / moments[0, 0]
        scale = replace(scale, ratio=np.where(scale.unknown, heard, scale.ratio))
        lost = 1 - kept * (1 - scale.lost_along(beta[1:], radius**2))
        columns = np.append(0.0, scale.center), np.append(1.0, scale.scale), beta, moments
        line = ReleasedLine(*columns, *covs, offset=None, phi=1.0, lost=lost, squares=np.zeros(len(beta)))
        found = *_skewed(scale, by_signs), rows, failed, kept * failed * rows
        return cls(line, scale, *found, radius, scores, by_signs)

    def public(self) -> dict[str, Any]:
        """Public parameters of the curves, along forms of (1, x~)."""
        first = np.eye(len(self.line.beta))[0]
        if not len(self.chosen):
            way, half = (self.line.beta - self.line.middle * first) / self.line.some_spread, NEAR.edge**2 / 2
            return dict(ways=way[None], level=[half], tilt=[0.0], edge=NEAR.edge, span=half)
        (level, tilt), ways = self.law.curve(), np.eye(len(first))[self._axes] / self._roots[:, None]
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
        odds = 1.0 if self.by_signs else _ODDS
        told, seen = list[int](), np.abs(found) > sure
        shift, cov, errors = np.zeros(k), np.zeros((k, k)), WORTH * np.sqrt(np.diag(line.cov))
        laws = [(law, self.weights(law), self.shortened(law)) for law in (self.law, self.tail)]
        for j, (axis, root) in enumerate(zip(self._axes, self._roots, strict=True)):
            rise, sides = line.beta[axis] * root, dict[bytes, Bends]()
            for law, *of_points in laws:
                held = law.shares[j] > 0
                at, shares, weights, curves = (each[j, held] for each in (law.at, law.shares, *of_points))
                # where no octave beyond may hold rows both laws are one
                if (rows := at.tobytes() + shares.tobytes()) not in sides:
                    ends = self.scores[0].ends(self.failed, at, shares, rise)
                    sides[rows] = Bends.of(at, shares, weights, curves, self.scores, ends, rise)
            sums, moves = (np.concatenate(each) for each in zip(*sides.values(), strict=True))
            mean, square = Bends(self.rows * sums, moves).told(found[j], sds[j], odds)
            way = np.zeros((k, 2))
            way[0, 0], way[axis, 1] = 1.0, 1 / root
            shift, cov = shift + way @ mean, cov + way @ (square - np.outer(mean, mean)) @ way.T
            if seen[j] and (np.sqrt(np.diag(way @ square @ way.T)) > errors).any():
                told.append(int(axis))
        return Bent(shift, cov, tuple(told))

    @property
    def _axes(self) -> np.ndarray:
        return np.asarray(1 + self.chosen)

    @property
    def _roots(self) -> np.ndarray:
        """sds of the skewed columns on their scale."""
        return np.asarray(np.sqrt(self.scale.ratio[self.chosen]))

    @cached_property
    def _squares(self) -> np.ndarray:
        """Mean squares of the curves, before they are shortened."""
        return self.law.mean(self.law.curved(*self.law.curve()) ** 2)

    @cached_property
    def _span(self) -> float:
        return math.sqrt(float(self._squares.mean()) * base_square(len(self.chosen)))

    def shortened(self, law: ColumnLaw) -> np.ndarray:
        """Curves at the points of a law, shortened by what the others are in the mean as well."""
        curves, squares = law.curved(*self.law.curve()), self._squares
        lengths = np.sqrt(curves**2 + (squares.sum() - squares)[:, None])
        return np.asarray(curves * np.minimum(1.0, self._span / np.maximum(lengths, 1e-300)))

    def _sds(self, noise: float, square: float) -> np.ndarray:
        """Of the sums: by sampling, as the sum of all squares has it and at least as expected, by noise, and
        by errors of the line."""
        q, variances = self.shortened(self.law), np.diag(self.line.cov_privacy)
        expected = self.events * self.law.mean(q**2)
        squares = expected * max(square / float(expected.sum()), 1.0)
        level, tilt = (np.abs(self.law.mean(q * by)) + CROOKED for by in (1.0, self.law.at))
        off = level**2 * variances[0] + tilt**2 * variances[self._axes] * self._roots**2
        return np.asarray(np.sqrt(squares + noise**2 + self.events**2 * off))

    def weights(self, law: ColumnLaw) -> np.ndarray:
        """Of rows at the points, whitened as weighted rows are; 1 where counts that hide none lose none."""
        if max(self.line.lost, self.scale.missed.max(initial=0.0)) < ROUNDING:
            return np.ones_like(law.at)
        once, others, lengths = self.by_signs, len(self.line.beta) - 2, []
        for at, axis, root in zip(law.at, self._axes, self._roots, strict=True):
            own, rows = [0, axis][once:], np.column_stack([np.ones_like(at), root * at])[:, once:]
            block = self.line.moments[np.ix_(own, own)] / self.line.moments[0, 0] ** once
            lengths.append(np.sum(rows @ np.linalg.pinv(block) * rows, axis=1) + others)
        power = 0.5 if once else 1.0
        return np.minimum(1.0, (self.radius**2 / np.maximum(lengths, ROUNDING)) ** power)


def looking(plan: Plan, last: str, scale: RowScale, n: int) -> Plan:
    """A plan whose look takes more of the budget of the `last` steps where bounds leave room for long rows.

    Up to twice as much as is planned, or until its noise is no more than its error by sampling.
    """
    m = int(np.count_nonzero(np.isfinite(scale.near_end) & ~scale.binary & ~scale.hardly_varies))
    if not m:
        return plan
    size = math.sqrt((2 if plan.pure else 1) * 4 * base_square(m) / max(scale.rows(n), 1)) * _LIMIT
    cost = plan.cost("bend")
    return plan.lent(last, "bend", min(max(size, cost), 2 * cost))


def any_skewed(scale: RowScale) -> bool:
    """Whether a column is skewed, or may be, of those whose slopes signs tell."""
    return len(_skewed(scale, by_signs=True)[0]) > 0


def _skewed(scale: RowScale, by_signs: bool) -> tuple[np.ndarray, ColumnLaw, ColumnLaw]:
    """Columns that are skewed by counts, or may be by their bounds, and their laws; none that noise hides.

    The laws with rows in the next octave, and in all octaves beyond.
    """
    chosen = np.flatnonzero(~scale.binary & (scale.varies | (by_signs & ~scale.unknown)))
    near, missed = scale.near_end[chosen], scale.missed[chosen]
    seen, (least, room) = ColumnLaw.counted(scale, chosen, near), _LOOSELY if by_signs else (_SKEWED, 0.0)
    # by signs noise may hide more rows than there are: one law has none of these, and the other all
    by_next = 0.0 if by_signs else missed
    bare, law, tail = (
        _farther(seen, scale, chosen, *beyond) for beyond in ((0.0, 1), (by_next, 1), (missed, _OCTAVES))
    )
    skewed = np.abs(bare.mean(bare.at**3)) > least * np.maximum(bare.mean(bare.at**2), 1.0) ** 1.5
    skewed |= (2 > _SKEWED * np.abs(near)) | (scale.sided[chosen] > room)
    # where noise leaves nearly all rows of a column in two places no square differs from a line
    skewed &= law.mean(law.curved(*law.curve()) ** 2) > ROUNDING
    law, tail = (ColumnLaw(each.at[skewed], each.shares[skewed]) for each in (law, tail))
    return chosen[skewed], law, tail


def _farther(
    law: ColumnLaw, scale: RowScale, chosen: np.ndarray, missed: np.ndarray | float, octaves: int = 1
) -> ColumnLaw:
    """With rows in the octaves beyond those counted, on the side where declared bounds leave room.

    In the first a share that is `missed`, and what of a variance of 1 was counted nowhere; in each of the
    others a quarter of that before, so that it adds as much to the variance. Where bounds are about as far
    on both sides, columns are skewed as they were seen to be.
    """
    bins, near, roots = scale.shares.shape[1], scale.near_end[chosen], np.sqrt(scale.ratio[chosen])
    up = np.where(np.where(np.isinf(near), law.mean(law.at**3), near) > 0, 1.0, -1.0)
    ends = np.where(up > 0, scale.upper[chosen], -scale.lower[chosen]) / roots
    seen = np.max(np.where(law.shares > 0, up[:, None] * law.at, 0.0)[:, :bins], axis=1, initial=0.0)
    far = np.clip(OCTAVE * seen, 1.0, np.maximum(ends, 1.0))
    more = np.maximum(1 - law.mean(law.at**2), 0.0) / far**2 + missed * (ends > seen * (1 + ROUNDING))
    places = far[:, None] * OCTAVE ** np.arange(octaves)
    shares = more[:, None] * np.where(places <= ends[:, None], OCTAVE ** (-2.0 * np.arange(octaves)), 0.0)
    shares[:, 0] = more
    left = np.maximum(1 - shares.sum(axis=1, keepdims=True), 0.0)
    return ColumnLaw(
        np.column_stack([law.at, up[:, None] * places]), np.column_stack([law.shares * left, shares])
    )

"""Do times follow the line, or bend along skewed columns? docs/theory/survival.md#whether-times-bend."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dpstats.curator import Release
from dpstats.estimators.bends import EDGE, FAR, NEAR, WORTH, ReleasedLine, believed, by_chance, judged
from dpstats.estimators.column_law import CROOKED, OCTAVE, ColumnLaw
from dpstats.estimators.engine.bounds import base_square
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.matrices import ROUNDING
from dpstats.estimators.one_bend import Bends, MeanScore
from dpstats.estimators.row_scale import RowScale
from dpstats.families.bounded_score import square_weight

_LIMIT = 1.5  # of scores, about: what a look costs whose noise is as large as its sampling error
_OCTAVES = 12  # beyond those counted, at most
# what all rows lack of an effect that ends, over what they do of one that is straight up to an sd from the
# mean, by the same sum of scores: of logarithms of Pareto columns 1 to 4 times as much
_MORE = 2.0
# skewness from which the long rows of a column lie on one side: of a gamma law of shape 4 it is 1, and noise
# makes .6 of that of a normal column
_SKEWED = 0.7
# The same, and how many times as far from the mean as the near end the far one lies, by signs, where noise
# makes up to 1.4 of it and ordinary columns would pay for a look: of 40 fits to three of these 29 looked.
_LOOSELY = 1.5, 16.0
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
    events : float
        How many failures are heard.
    radius : float
        Beyond which whitened rows weigh less.
    by_signs : MeanScore, optional
        Of maximum likelihood, if the rows are those of a fit by signs: without a constant, and shortened
        once, by their scores alone.
    """

    line: ReleasedLine
    scale: RowScale
    chosen: np.ndarray
    law: ColumnLaw
    tail: ColumnLaw
    events: float
    radius: float
    by_signs: MeanScore | None = None

    @classmethod
    def along(
        cls,
        line: ReleasedLine,
        scale: RowScale,
        events: float,
        radius: float,
        by_signs: MeanScore | None = None,
    ) -> "Look":
        """What is skewed, or may be, of the columns that are not of two values."""
        return cls(line, scale, *_skewed(scale, by_signs is not None), events, radius, by_signs)

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
        if self.by_signs is not None:
            return self._bends_once(found, sds, np.abs(found) > sure, limit, self.by_signs)
        slopes, own = line.beta[self._axes], (np.arange(len(sds)), self._axes)
        on, ends = ShapedEffects.of(self, self.law, _goes_on), ShapedEffects.of(self, self.tail, _ends)
        near, far = self._per_score(on), self._per_score(ends)
        known, bent = believed(found, sds, _over(ends.sums, ends.heard[1]) * slopes * self._roots)
        goes_on = (known * found)[:, None] * near
        # what rises ever faster may end, too, and loses no more than rows that noise may hide make of it
        most = np.maximum(np.abs(slopes) * (1 - _over(ends.whole[1], ends.heard[1])), np.abs(goes_on[own]))
        size = -np.sign(slopes) * np.minimum(_MORE * np.abs(known * found * far[own]), most)
        ended = far * _over(size, far[own])[:, None]
        errors = WORTH * np.sqrt(np.diag(line.cov))
        told = (np.abs(found) > sure) & (np.maximum(np.abs(goes_on), np.abs(ended)) > errors).any(axis=1)
        middle, half, noisy = (goes_on + ended) / 2, (ended - goes_on) / 2, (near + far) / 2
        moved = np.where(goes_on[own] * slopes < 0, bent, 0.0)
        unknown = bent * (1 - moved + _OTHER_BENDS**2 * (moved > 0)), bent / 3, bent * known * sds**2
        cov = sum(by.T * square @ by for square, by in zip(unknown, (middle, half, noisy), strict=True))
        return Bent(moved @ middle, np.asarray(cov), tuple(self._axes[told].tolist()))

    def _bends_once(
        self, found: np.ndarray, sds: np.ndarray, seen: np.ndarray, limit: float, likelihood: MeanScore
    ) -> Bent:
        """What the sums say if each effect is a line, or bends anywhere: `seen` sums are not chance."""
        k, bounded, told = len(self.line.beta), MeanScore.bounded(limit), list[int]()
        shift, cov, errors = np.zeros(k), np.zeros((k, k)), WORTH * np.sqrt(np.diag(self.line.cov))
        laws = [(law, self.weights(law), self.shortened(law)) for law in (self.law, self.tail)]
        for j, (axis, root) in enumerate(zip(self._axes, self._roots, strict=True)):
            sides = [
                Bends.of(law.at[j], law.shares[j], weights[j], curves[j], bounded, likelihood)
                for law, weights, curves in laws
            ]
            sums, moves = (np.concatenate(each) for each in zip(*sides, strict=True))
            mean, square = Bends(self.events * sums, moves).told(found[j], sds[j])
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

    def _per_score(self, shape: "ShapedEffects") -> np.ndarray:
        """What a sum of scores against a curve, of 1, moves coefficients by; shape (m, k)."""
        level, slope = _over(shape.whole - shape.heard, shape.sums)
        forms = np.eye(len(self.line.beta))
        return np.asarray(level[:, None] * forms[0] + (slope / self._roots)[:, None] * forms[self._axes])

    def weights(self, law: ColumnLaw) -> np.ndarray:
        """Of rows at the points, whitened as weighted rows are."""
        heard = np.diag(self.line.moments)[self._axes] / self.line.moments[0, 0]
        squares = law.at**2 * (self.scale.ratio[self.chosen] / heard)[:, None]
        once = self.by_signs is not None
        lengths, power = squares + len(self.line.beta) - 1 - once, 0.5 if once else 1.0
        return np.asarray(np.minimum(1.0, (self.radius**2 / np.maximum(lengths, ROUNDING)) ** power))


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
    chosen = np.flatnonzero(~scale.binary & ~(scale.unknown if by_signs else scale.hardly_varies))
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


@dataclass(frozen=True)
class ShapedEffects:
    """Effects of one shape of m columns: lines, and what scores about these say of them.

    Attributes
    ----------
    heard, whole : array, shape (2, m)
        Intercept and slope of the line over rows as they were weighted, about which scores are summed, and
        over all in full.
    sums : array, shape (m,)
        Of scores against the curves; 0 where rows of the law lie where the effect is a line.
    """

    heard: np.ndarray
    whole: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(cls, look: Look, law: ColumnLaw, effect: Callable[[np.ndarray], np.ndarray]) -> "ShapedEffects":
        values, weights = effect(law.at), look.weights(law)
        heard, whole = (law.line(values, by) for by in (weights, np.ones_like(weights)))
        left = values - heard[0][:, None] - heard[1][:, None] * law.at
        left = np.where(law.mean(left**2)[:, None] > ROUNDING, left, 0.0)
        return cls(heard, whole, look.events * law.mean(look.shortened(law) * left))


def _over(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Quotients, 0 where there is nothing to divide by: a line moves by no effect that no score can tell."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole != 0)


def _goes_on(at: np.ndarray) -> np.ndarray:
    """A square that beyond the edge goes on as straight as it is there."""
    size = np.abs(at)
    return np.where(size > EDGE, EDGE * (2 * size - EDGE), at**2)


def _ends(at: np.ndarray) -> np.ndarray:
    """An effect that ends an sd from the mean."""
    return np.clip(at, -NEAR.edge, NEAR.edge)


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
    more = np.maximum(1 - law.mean(law.at**2), 0.0) / far**2 + missed * (ends > seen)
    places = far[:, None] * OCTAVE ** np.arange(octaves)
    shares = more[:, None] * np.where(places <= ends[:, None], OCTAVE ** (-2.0 * np.arange(octaves)), 0.0)
    shares[:, 0] = more
    left = np.maximum(1 - shares.sum(axis=1, keepdims=True), 0.0)
    return ColumnLaw(
        np.column_stack([law.at, up[:, None] * places]), np.column_stack([law.shares * left, shares])
    )

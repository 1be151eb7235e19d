"""Do times follow the line, or bend along skewed columns? docs/theory/survival.md#whether-times-bend."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from dpstats._codes import BENDS
from dpstats.curator import Curator, Release
from dpstats.estimators.bends import EDGE, FAR, NEAR, WORTH, ReleasedLine, judged, sure_of_each
from dpstats.estimators.column_law import CROOKED, OCTAVE, ColumnLaw
from dpstats.estimators.engine.bounds import base_square
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.matrices import ROUNDING
from dpstats.estimators.one_bend import Bends, MeanScore, bends_of_long_rows, bends_on_both_sides
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
# The same far out on both sides, where noise hides more: of 48 fits to effects that end there 11 are silent,
# with a third 14 and with evens 6, and intervals of 40 right lines are 1.05, .94 and 1.29 times as long as
# those of fits that do not look.
_ODDS_FAR = 1 / 2
# sds of a column beyond which rows are far out on either side, and beyond which no row is farther
_NEAR, _FAR = 1.5, 2.5
# chance that a column bends on both sides that surely bends along its square: what ends on both does so, too,
# where more rows fail on one of them
_ON_BOTH = 0.5


class Bent(NamedTuple):
    """What bends move coefficients of (1, x~) by.

    Attributes
    ----------
    shift : array, shape (k,)
    cov : array, shape (k, k)
        Of what is not known of it.
    told : tuple of int
        Columns of (1, x~) that surely bend; 0 where the line does.
    spread : float
        Mean square of what products of columns and effects that end far out put rows off the line of all.
    """

    shift: np.ndarray
    cov: np.ndarray
    told: tuple[int, ...]
    spread: float = 0.0

    @classmethod
    def no(cls, k: int) -> "Bent":
        """Nothing known, of k coefficients."""
        return cls(np.zeros(k), np.zeros((k, k)), ())

    def beside(self, other: "Bent") -> "Bent":
        """With what another look has found."""
        told, spread = self.told + other.told, self.spread + other.spread
        return Bent(self.shift + other.shift, self.cov + other.cov, told, spread)

    def problems(self, lead: int = 0) -> tuple[str, ...]:
        """Of the coefficients of columns that bend, `lead` places before these, and of the line."""
        return tuple(f"{BENDS}:{column - lead}" if column else BENDS for column in self.told)


class Look(Protocol):
    """What is asked about a line, and what is made of the answer."""

    @property
    def line(self) -> ReleasedLine: ...

    def public(self) -> dict[str, Any]:
        """Public parameters of the curves, along forms of (1, x~)."""

    def judged(self, release: Release, limit: float, known: Sequence[int] = ()) -> Bent:
        """What scores up to a limit say of the curves that were released, but of columns `known` to bend."""


class WeightedRows(NamedTuple):
    """The line of a fit, and how its rows were weighted.

    Attributes
    ----------
    beta : array, shape (k,)
        Coefficients of standardised rows.
    moments : array, shape (k, k)
        Second moments of these as they were weighted.
    covs : tuple of array, shape (k, k)
        Of `beta`, and the part of noise in it.
    scale : RowScale
    rows, failed, kept : float
        How many rows there are, what share of them fails, and what share the cut leaves of what these say.
    radius : float
        Beyond which whitened rows weigh less.
    """

    beta: np.ndarray
    moments: np.ndarray
    covs: tuple[np.ndarray, np.ndarray]
    scale: RowScale
    rows: float
    failed: float
    kept: float
    radius: float


@dataclass(frozen=True)
class LineLook:
    """A line whose scores are held against its own square."""

    line: ReleasedLine

    def public(self) -> dict[str, Any]:
        first, half = np.eye(len(self.line.beta))[0], NEAR.edge**2 / 2
        way = (self.line.beta - self.line.middle * first) / self.line.some_spread
        return dict(ways=way[None], level=[half], tilt=[0.0], edge=NEAR.edge, span=half)

    def judged(self, release: Release, limit: float, known: Sequence[int] = ()) -> Bent:
        line = self.line
        bend = judged(release, line, limit, NEAR, min(FAR * line.unheard, 1.0))
        return Bent(np.zeros(len(line.beta)), bend.square * line.moved, (0,) * bend.told)


@dataclass(frozen=True)
class ColumnLook(ABC):
    """A line whose scores are held against curves of columns.

    Attributes
    ----------
    line : ReleasedLine
    scale : RowScale
    chosen : array of int, shape (m,)
        The columns, among those that are no constant.
    law, tail : ColumnLaw
        Of these, with rows that noise may hide in the next octave (by signs with none), and in all octaves
        beyond.
    rows, failed, events : float
        How many rows there are, what share of them fails, and how many failures are heard.
    radius : float
        Beyond which whitened rows weigh less.
    scores : sequence of MeanScore
        Three, of the fit, of maximum likelihood and of the sums.
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
    def along(cls, weighted: WeightedRows, scores: Sequence[MeanScore], by_signs: bool = False) -> Self:
        """At the columns of a fit that such a look is about."""
        beta, moments, covs, scale, rows, failed, kept, radius = weighted
        # how far failures spread where the first stage does not know, those that weigh tell
        heard = np.diag(moments)[1:] / moments[0, 0]
        scale = replace(scale, ratio=np.where(scale.unknown, heard, scale.ratio))
        lost = 1 - kept * (1 - scale.lost_along(beta[1:], radius**2))
        columns = np.append(0.0, scale.center), np.append(1.0, scale.scale), beta, moments
        line = ReleasedLine(*columns, *covs, offset=None, phi=1.0, lost=lost, squares=np.zeros(len(beta)))
        found = *cls.columns(scale, by_signs), rows, failed, kept * failed * rows
        return cls(line, scale, *found, radius, scores, by_signs)

    @staticmethod
    @abstractmethod
    def columns(scale: RowScale, by_signs: bool) -> tuple[np.ndarray, ColumnLaw, ColumnLaw]:
        """Which are looked at, and their laws."""

    @staticmethod
    @abstractmethod
    def effects(at: np.ndarray, shares: np.ndarray, rise: float) -> np.ndarray:
        """Those that a column may have, as functions of :mod:`.one_bend` have them."""

    @abstractmethod
    def odds(self, seen: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Of a bend of each column, by which sums surely are not 0, and which are known to bend otherwise."""

    @property
    @abstractmethod
    def _span(self) -> float:
        """To which curves of a row are shortened together."""

    @abstractmethod
    def _curved(self, law: ColumnLaw) -> np.ndarray:
        """What scores are held against, at the points of a law."""

    @abstractmethod
    def _sds(self, noise: float, square: float) -> np.ndarray:
        """Of the sums, by noise and by the sum of all squares."""

    @abstractmethod
    def public(self) -> dict[str, Any]: ...

    def judged(self, release: Release, limit: float, known: Sequence[int] = ()) -> Bent:
        """What sums along columns say of the line of all rows."""
        line, k, bent = self.line, len(self.line.beta), Bent.no(len(self.line.beta))
        if not np.isfinite(line.cov).all():
            return bent
        found, noise = release.values[0].ravel(), float(release.sds[0].max())
        sds = self._sds(noise, float(release.values[1].item()) / square_weight(limit * self._span))
        seen, besides = np.abs(found) > sure_of_each(release.law, noise, sds), np.isin(self._axes, known)
        odds, errors = self.odds(seen, besides), WORTH * np.sqrt(np.diag(line.cov))
        laws = [(law, self.weights(law), self.shortened(law)) for law in (self.law, self.tail)]
        for j in np.flatnonzero(odds):
            axis, root = self._axes[j], self._roots[j]
            rise, sides = line.beta[axis] * root, dict[bytes, Bends]()
            for law, *of_points in laws:
                held = law.shares[j] > 0
                at, shares, weights, curves = (each[j, held] for each in (law.at, law.shares, *of_points))
                # where no octave beyond may hold rows both laws are one
                if (rows := at.tobytes() + shares.tobytes()) not in sides:
                    ends = self.scores[0].ends(self.failed, at, shares, rise)
                    effects = self.effects(at, shares, rise)
                    sides[rows] = Bends.of(effects, at, shares, weights, curves, self.scores, ends)
            sums, *others = (np.concatenate(each) for each in zip(*sides.values(), strict=True))
            usual = np.sqrt(np.diag(line.cov)[[0, axis]]) * [1.0, root]
            sure = math.isinf(odds[j]) or seen[j]
            by = Bends(self.rows * sums, *others).told(found[j], sds[j], odds[j], None if sure else usual)
            by = by.likely(_ON_BOTH) if besides[j] else by
            way = np.zeros((k, 2))
            way[0, 0], way[axis, 1] = 1.0, 1 / root
            news = bool((np.sqrt(np.diag(way @ by.square @ way.T)) > errors).any())
            told = (int(axis),) * (news and bool(seen[j] and not besides[j]))
            bent = bent.beside(Bent(*by.along(way), told, by.spread * (news and math.isinf(odds[j]))))
        return bent

    @property
    def _ways(self) -> np.ndarray:
        """From (1, x~) to the columns in their sds."""
        return np.asarray(np.eye(len(self.line.beta))[self._axes] / self._roots[:, None])

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
        return self.law.mean(self._curved(self.law) ** 2)

    def shortened(self, law: ColumnLaw) -> np.ndarray:
        """Curves at the points of a law, shortened by what the others are in the mean as well."""
        curves, squares = self._curved(law), self._squares
        lengths = np.sqrt(curves**2 + (squares.sum() - squares)[:, None])
        return np.asarray(curves * np.minimum(1.0, self._span / np.maximum(lengths, 1e-300)))

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


@dataclass(frozen=True)
class SquareLook(ColumnLook):
    """A line whose scores are held against squares of skewed columns."""

    effects = staticmethod(bends_of_long_rows)

    def or_line(self) -> "SquareLook | LineLook":
        """A look at the square of the line where no column is skewed."""
        return self if len(self.chosen) else LineLook(self.line)

    @staticmethod
    def columns(scale: RowScale, by_signs: bool) -> tuple[np.ndarray, ColumnLaw, ColumnLaw]:
        return _skewed(scale, by_signs)

    def public(self) -> dict[str, Any]:
        level, tilt = self.law.curve()
        return dict(ways=self._ways, level=level, tilt=tilt, edge=EDGE, span=self._span)

    def odds(self, seen: np.ndarray, known: np.ndarray) -> np.ndarray:
        return np.full(len(seen), 1.0 if self.by_signs else _ODDS)

    @cached_property
    def _span(self) -> float:
        return math.sqrt(float(self._squares.mean()) * base_square(len(self.chosen)))

    def _curved(self, law: ColumnLaw) -> np.ndarray:
        return law.curved(*self.law.curve())

    def _sds(self, noise: float, square: float) -> np.ndarray:
        q, variances = self.shortened(self.law), np.diag(self.line.cov_privacy)
        level, tilt = (np.abs(self.law.mean(q * by)) + CROOKED for by in (1.0, self.law.at))
        off = level**2 * variances[0] + tilt**2 * variances[self._axes] * self._roots**2
        return sds_of_sums(self.events, self.law.mean(q**2), square, noise, off)


@dataclass(frozen=True)
class FarLook(ColumnLook):
    """A line whose scores are held against how far out rows are in columns that are numbers, with a sign.

    What long rows on both sides say of a slope a square does not see, and which columns have such noise may
    hide.
    """

    effects = staticmethod(bends_on_both_sides)

    @staticmethod
    def columns(scale: RowScale, by_signs: bool) -> tuple[np.ndarray, ColumnLaw, ColumnLaw]:
        chosen = np.flatnonzero(scale.amounts)
        seen, missed = ColumnLaw.counted(scale, chosen), scale.missed[chosen]
        law, tail = (_farther(seen, scale, chosen, missed, octaves, True) for octaves in (1, _OCTAVES))
        return chosen, law, tail

    def public(self) -> dict[str, Any]:
        return dict(ways=self._ways, near=_NEAR, edge=_FAR)

    def odds(self, seen: np.ndarray, known: np.ndarray) -> np.ndarray:
        # sums that may be chance tell nothing where bounds leave no room far out on one of the sides
        room = np.abs(self.scale.near_end[self.chosen]) > _FAR
        return np.where(np.where(known, room, seen), math.inf, _ODDS_FAR * room)

    @property
    def _span(self) -> float:
        return _FAR - _NEAR

    def _sds(self, noise: float, square: float) -> np.ndarray:
        # scores of a row that is far out move with the line as their square says
        moved = max(square, 0.0) * _FAR / self._span * self._roots
        off = moved**2 * np.diag(self.line.cov_privacy)[self._axes]
        return np.asarray(np.sqrt(max(square, 0.0) + noise**2 + off))

    def _curved(self, law: ColumnLaw) -> np.ndarray:
        return np.asarray(np.clip(law.at, -_FAR, _FAR) - np.clip(law.at, -_NEAR, _NEAR))


def sds_of_sums(
    events: float, squares: np.ndarray, whole: float, noise: float, off: np.ndarray
) -> np.ndarray:
    """By sampling, as all squares have it and at least as expected, by noise and by errors of the line.

    Parameters
    ----------
    events : float
        How many rows have a score.
    squares, off : array, shape (m,)
        Mean squares of the curves, and variances of their mean scores by errors of the line.
    whole, noise : float
        The sum of all squares as it was released, and the sd of the noise of each sum.
    """
    expected = events * squares
    sampled = expected * max(whole / float(expected.sum()), 1.0)
    return np.asarray(np.sqrt(sampled + noise**2 + events**2 * off))


class Asked(NamedTuple):
    """A look that is to be made.

    Attributes
    ----------
    look : Look
    cost : float
    public : dict
        The other public parameters.
    limit : float
        Of the scores.
    """

    look: Look
    cost: float
    public: dict[str, Any]
    limit: float


def found_by(curator: Curator, statistic: str, asked: Sequence[Asked], lead: int = 0) -> Bent:
    """What looks find in one pass over the rows, each beside those before; `lead` where rows have no 1."""
    parts = []
    for look, cost, public, _ in asked:
        curves = look.public()
        curves["ways"] = curves["ways"][:, lead:]
        parts.append((statistic, cost, public | dict(curves=curves)))
    bent = Bent.no(len(asked[0].look.line.beta))
    for release, (look, _, _, limit) in zip(curator.release_together(*parts), asked, strict=True):
        bent = bent.beside(look.judged(release, limit, bent.told))
    return bent


class Costs(NamedTuple):
    """Of the look for bends, and of that at rows far out, which is not made by signs; epsilon if `pure`."""

    bend: float
    far: float
    pure: bool


def costs_of(plan: Plan) -> Costs:
    """Those of the looks of this module."""
    return Costs(plan.cost("bend"), plan.cost("far") if "far" in plan.stages else 0.0, plan.pure)


def looking(plan: Plan, last: str, scale: RowScale, n: int) -> Plan:
    """A plan whose look takes more of the budget of the `last` steps where bounds leave room for long rows.

    Up to twice as much as is planned, or until its noise is no more than its error by sampling.
    """
    if not scale.amounts.any():
        plan = plan.given("far", "early")
    m = int(np.count_nonzero(np.isfinite(scale.near_end) & scale.amounts))
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
    law: ColumnLaw,
    scale: RowScale,
    chosen: np.ndarray,
    missed: np.ndarray | float,
    octaves: int = 1,
    both: bool = False,
) -> ColumnLaw:
    """With rows in the octaves beyond those counted, on the side where declared bounds leave room.

    In the first a share that is `missed`, and what of a variance of 1 was counted nowhere; in each of the
    others a quarter of that before, so that it adds as much to the variance. Where bounds are about as far
    on both sides, columns are skewed as they were seen to be.
    """
    bins, near, roots = scale.shares.shape[1], scale.near_end[chosen], np.sqrt(scale.ratio[chosen])
    skewed = np.where(np.where(np.isinf(near), law.mean(law.at**3), near) > 0, 1.0, -1.0)
    lacking = np.maximum(1 - law.mean(law.at**2), 0.0)
    at, shares = [law.at], [law.shares]
    for up in (1.0, -1.0) if both else (skewed,):
        up = np.broadcast_to(up, len(chosen))
        ends = np.where(up > 0, scale.upper[chosen], -scale.lower[chosen]) / roots
        seen = np.max(np.where(law.shares > 0, up[:, None] * law.at, 0.0)[:, :bins], axis=1, initial=0.0)
        far = np.clip(OCTAVE * seen, 1.0, np.maximum(ends, 1.0))
        more = lacking / (1 + both) / far**2 + missed * (ends > seen * (1 + ROUNDING))
        places = far[:, None] * OCTAVE ** np.arange(octaves)
        beyond = more[:, None] * np.where(places <= ends[:, None], OCTAVE ** (-2.0 * np.arange(octaves)), 0.0)
        beyond[:, 0] = more
        at.append(up[:, None] * places)
        shares.append(beyond)
    left = np.maximum(1 - np.hstack(shares[1:]).sum(axis=1, keepdims=True), 0.0)
    return ColumnLaw(np.hstack(at), np.hstack([law.shares * left, *shares[1:]]))

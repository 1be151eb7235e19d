"""Do effects of two columns multiply? docs/theory/survival.md#products-that-the-formula-leaves-out."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.special import stdtrit

from dpstats.curator import Release
from dpstats.estimators.bends import WORTH, ReleasedLine, sure_of_each
from dpstats.estimators.bent_times import Asked, Bent, FarLook, sds_of_sums
from dpstats.estimators.column_law import CROOKED, ColumnLaw
from dpstats.estimators.engine.plan import left
from dpstats.estimators.matrices import ROUNDING
from dpstats.estimators.one_bend import Bends
from dpstats.families.bounded_score import square_weight
from dpstats.families.quantiles import even_shares

_SHARE = 0.25  # of what the look at rows far out costs, which has less where a pair is asked about
_EDGE = 2.5  # sds of a column, beyond which a product grows no more
_ALIKE = 0.5  # correlation from which columns say too much of each other for laws that are independent
# Change of the slope of one column for an sd of the other, in sigmas, or of the slopes of both: its law is
# Student's with two degrees of freedom. A pair is asked about if one of twice that size moves the line.
_EFFECT, _ASKED = 0.3, 2.0
_CHANGES = stdtrit(2.0, even_shares(20))
# Places of a column that say whether to ask about it, but where a move is so close to what is worth it, as a
# share of that, that all places say so; and pairs that are reckoned at once, in 70 kB an array
_POINTS, _CLOSE, _AT_ONCE = 8, 0.4, 64


class Pair(NamedTuple):
    """Two columns of (1, x~), and what the first stage knows of where their rows lie.

    Shapes (2,), (p, 2) and (p,), or of q pairs the same after a first axis.
    """

    columns: np.ndarray
    at: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(cls, columns: np.ndarray, one: "_Law", other: "_Law") -> "Pair":
        """Of columns each of which lies as if the other were not there."""
        both = np.broadcast_arrays(one.at[..., :, None], other.at[..., None, :])
        at, shares = np.stack(both, axis=-1), one.shares[..., :, None] * other.shares[..., None, :]
        return cls(columns, at.reshape(*at.shape[:-3], -1, 2), shares.reshape(*shares.shape[:-2], -1))

    @property
    def curve(self) -> np.ndarray:
        """What scores are held against, at these points."""
        return np.asarray(np.clip(np.prod(np.clip(self.at, -_EDGE, _EDGE), axis=-1), -1.0, 1.0))


class _Law(NamedTuple):
    """Places of a column in its sds, and shares; or of several columns."""

    at: np.ndarray
    shares: np.ndarray

    def fewer(self) -> "_Law":
        """The rule of Gauss for it: `_POINTS` places, whose means of polynomials are those of all places.

        They are the eigenvalues of multiplication by the place among polynomials, orthonormal by the shares.
        """
        whole, end = np.sqrt(self.shares), np.abs(self.at).max()
        basis, _ = np.linalg.qr(whole[:, None] * legvander(self.at / end, _POINTS - 1))
        at, ways = np.linalg.eigh(basis.T @ (self.at[:, None] * basis))
        more = (0, _POINTS - len(at))  # as a flag has
        return _Law(np.pad(at, more), np.pad((ways.T @ (basis.T @ whole)) ** 2, more))


@dataclass(frozen=True)
class PairLook:
    """Of which pairs of columns products may move the line of all rows, and what sums of scores say of them.

    Attributes
    ----------
    far : FarLook
        At the same line.
    """

    far: FarLook

    @property
    def line(self) -> ReleasedLine:
        return self.far.line

    @cached_property
    def pairs(self) -> Sequence[tuple[int, int]]:
        """Those whose product would move a coefficient by more than two standard errors, were it so large."""
        if not np.isfinite(self.line.cov).all():
            return ()
        asked = list(self._candidates())
        laws = {column: self._law(self.far.law, column - 1).fewer() for column in {*chain(*asked)}}
        parts = (asked[first : first + _AT_ONCE] for first in range(0, len(asked), _AT_ONCE))
        return [pair for part in parts for pair in self._moving(part, laws)]

    def public(self) -> dict[str, Any]:
        used = np.unique(self.pairs)
        ways = np.eye(len(self.line.beta))[used] / self._roots[used - 1, None]
        return dict(ways=ways, pairs=np.searchsorted(used, self.pairs), edge=_EDGE)

    def judged(self, release: Release, limit: float, known: Sequence[int] = ()) -> Bent:
        """What scores up to a limit say of products, but of those with columns `known` to bend."""
        k = len(self.line.beta)
        found, noise = release.values[0].ravel(), float(release.sds[0].max())
        square = float(release.values[1].item()) / square_weight(limit * math.sqrt(len(found)))
        sds = self._sds(noise, square)
        sure = sure_of_each(release.law, noise, sds)
        bent = Bent.no(k)
        for columns, each, sd, surely in zip(self.pairs, found, sds, np.abs(found) > sure, strict=True):
            if surely and not np.isin(columns, known).any():
                bent = bent.beside(self._told(columns, each, sd))
        return bent

    def _told(self, columns: tuple[int, int], found: float, sd: float) -> Bent:
        """Where a product that surely is there moves the line, by how large a sum it makes."""
        each = [self._bends(pair, _CHANGES) for pair in self._laws(columns)]
        sums, moves, _ = (np.concatenate(both) for both in zip(*each, strict=True))
        squares = np.tile((_CHANGES * self._unit(np.array(columns))) ** 2, len(each))
        by = Bends(self.far.rows * sums, moves, squares).told(found, sd, math.inf)
        used = np.array([0, *columns])
        way = np.zeros((len(self.line.beta), len(used)))
        way[used, range(3)] = 1 / np.append(1.0, self._roots[used[1:] - 1])
        news = np.sqrt(np.diag(way @ by.square @ way.T))[used] > WORTH * np.sqrt(np.diag(self.line.cov)[used])
        told = tuple(int(columns[j]) for j in range(2) if news[1 + j]) or (0,) * bool(news[0])
        return Bent(*by.along(way), told, by.spread)

    def _candidates(self) -> Iterator[tuple[int, int]]:
        """Pairs with a number, whose columns are not much correlated."""
        scale, middle = self.far.scale, self.line.moments[0] / self.line.moments[0, 0]
        cov = self.line.moments / self.line.moments[0, 0] - np.outer(middle, middle)
        numbers, (varying,) = 1 + self.far.chosen, np.nonzero(~scale.hardly_varies)
        for i, j in combinations((1 + varying).tolist(), 2):
            alike = cov[i, j] ** 2 > _ALIKE**2 * cov[i, i] * cov[j, j]
            if np.isin((i, j), numbers).any() and not alike:
                yield i, j

    def _moving(
        self, asked: Sequence[tuple[int, int]], laws: Mapping[int, _Law]
    ) -> Iterator[tuple[int, int]]:
        """Those of these pairs of which products of the largest size move a coefficient."""
        columns = np.array(asked)
        each = np.array([[laws[column] for column in pair] for pair in asked])  # (q, 2, 2, _POINTS)
        one, other = (_Law(*law.swapaxes(0, 1)) for law in each.swapaxes(0, 1))
        for pair, by_few in zip(asked, self._worth(Pair.of(columns, one, other)), strict=True):
            sure = abs(by_few - 1) > _CLOSE
            if (by_few if sure else self._worth(next(self._laws(pair)))) > 1:
                yield pair

    def _worth(self, pair: Pair) -> np.ndarray:
        """How far products of the largest size move a coefficient, over how far is worth it."""
        moves = np.abs(self._bends(pair, np.array([-_ASKED, _ASKED])).moves).max(axis=-2)
        sds = np.sqrt(np.diag(self.line.cov)) * np.append(1.0, self._roots)
        used = np.concatenate([np.zeros_like(pair.columns[..., :1]), pair.columns], axis=-1)
        return np.asarray((moves / (WORTH * sds[used])).max(axis=-1))

    def _bends(self, pair: Pair, changes: np.ndarray) -> Bends:
        """Of products of so many units."""
        rises = self._rises(pair.columns)
        unit = self._unit(pair.columns)[..., None, None]
        effects = unit * changes[:, None] * np.prod(pair.at, axis=-1)[..., None, :]
        along = (pair.at @ rises[..., None])[..., 0]
        ends = self.far.scores[0].ends(self.far.failed, along, pair.shares, 1.0)
        weights, curve = self._weights(pair), pair.curve
        return Bends.of(effects, pair.at, pair.shares, weights, curve, self.far.scores, ends)

    def _sds(self, noise: float, square: float) -> np.ndarray:
        """Of the sums, by noise and by the sum of all squares."""
        laws = [next(self._laws(columns)) for columns in self.pairs]
        squares = np.array([pair.shares @ pair.curve**2 for pair in laws])
        errors = np.diag(self.line.cov_privacy) * np.append(1.0, self._roots) ** 2
        off = np.array([CROOKED**2 * errors[[0, *columns]].sum() for columns in self.pairs])
        return sds_of_sums(self.far.events, squares, square, noise, off)

    def _rises(self, columns: np.ndarray) -> np.ndarray:
        return np.asarray(self.line.beta[columns] * self._roots[columns - 1])

    def _unit(self, columns: np.ndarray) -> np.ndarray:
        """Of a product of columns in their sds, in sigmas."""
        return np.asarray(np.sqrt(_EFFECT**2 + np.sum(self._rises(columns) ** 2, axis=-1)))

    def _weights(self, pair: Pair) -> np.ndarray:
        """Of rows at these points, beside which the other columns are as long as they are on average."""
        own = np.concatenate([np.zeros_like(pair.columns[..., :1]), pair.columns], axis=-1)
        columns = pair.at * self._roots[pair.columns - 1][..., None, :]
        rows = np.concatenate([np.ones((*pair.shares.shape, 1)), columns], axis=-1)
        block = self.line.moments[own[..., :, None], own[..., None, :]]
        inverse = np.linalg.pinv(block / self.line.moments[0, 0])
        lengths = np.sum(rows @ inverse * rows, axis=-1) + len(self.line.beta) - 3
        return np.asarray(np.minimum(1.0, self.far.radius**2 / np.maximum(lengths, ROUNDING)))

    def _laws(self, columns: tuple[int, int]) -> Iterator[Pair]:
        """With rows that noise may hide in the next octave, and in all beyond."""
        for law in (self.far.law, self.far.tail):
            one, other = (self._law(law, column - 1) for column in columns)
            yield Pair.of(np.array(columns), one, other)

    def _law(self, law: ColumnLaw, j: int) -> _Law:
        if j in self.far.chosen:
            (own,) = np.flatnonzero(self.far.chosen == j)
            held = law.shares[own] > 0
            return _Law(law.at[own, held], law.shares[own, held])
        low, high = self.far.scale.lower[j], self.far.scale.upper[j]
        share = min(max(-low / (high - low), ROUNDING), 1 - ROUNDING)
        return _Law(np.array([low, high]) / self._roots[j], np.array([1 - share, share]))

    @property
    def _roots(self) -> np.ndarray:
        """sds of all columns on their scale."""
        return np.asarray(np.sqrt(self.far.scale.ratio))


def with_pairs(asked: Asked, pure: bool) -> list[Asked]:
    """A look at rows far out and, if there are pairs to look at, one at these that has a part of its cost."""
    assert isinstance(asked.look, FarLook)
    pairs, far = PairLook(asked.look), left(asked.cost, _SHARE, pure)
    if not pairs.pairs:
        return [asked]
    own = asked.cost * (_SHARE if pure else math.sqrt(_SHARE))
    return [asked._replace(cost=far), asked._replace(look=pairs, cost=own)]

"""The way to the user's scale, and what a fit is there: how its intervals widen or are lost."""

from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

import numpy as np
import scipy

from dpstats._codes import ALL_LOST, LOST, WEAK, places_of, problems_at
from dpstats.moments.design import DesignMoments
from dpstats.moments.roots import root_of

# shares of the variance before any data: of a coefficient of which hardly anything is known, and of one that
# nothing bounds
_HIDDEN, _UNBOUNDED = 0.5, 100.0
WEAK_SHARE = 0.5  # of a variance that is a guess, from which on it is said to be


@dataclass(frozen=True)
class Estimate:
    """Coefficients on the user's scale.

    Attributes
    ----------
    params : array, shape (k,)
    cov, cov_privacy : array, shape (k, k)
        Of all uncertainty, and its part due to privacy noise. A variance is infinite where a coefficient
        cannot be estimated at this budget.
    problems : tuple of str
        Codes of `dpstats/_codes.py`, those of a coefficient with its place, such as "weak:2".
    settings : dict
        Bounds of rows and scores, which are part of the estimand.
    columns : DesignMoments, optional
        Where the columns were found, and how far they spread.
    bias : array, shape (k, k), or 0
        The part of `cov` that is what responses may do that do not follow the model, as far as checks tell.
    root : array, shape (k, r), optional
        With root root' = cov where that is finite, if coefficients are sums of those of other columns.
    unasked : frozenset of str
        What was planned, and was not released, as releases before left nothing to ask.
    """

    params: np.ndarray
    cov: np.ndarray
    cov_privacy: np.ndarray
    problems: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    columns: DesignMoments | None = field(default=None, kw_only=True)
    bias: np.ndarray | float = field(default=0.0, kw_only=True)
    root: np.ndarray | None = field(default=None, kw_only=True)
    unasked: frozenset[str] = field(default=frozenset(), kw_only=True)

    def wider(self, factors: np.ndarray) -> Self:
        """With standard errors longer by these factors; a coefficient is lost where one is infinite."""
        finite = np.where(np.isinf(factors), 1.0, factors)
        parts = self.cov, self.cov_privacy, self._bias
        cov, privacy, bias = (part * np.outer(finite, finite) for part in parts)
        wider = replace(self, cov=cov, cov_privacy=privacy, bias=bias)
        return wider.lost(np.flatnonzero(np.isinf(factors)))

    def lost(self, which: np.ndarray) -> Self:
        """Without intervals for these coefficients."""
        cov, privacy = self.cov.copy(), self.cov_privacy.copy()
        cov[which, which] = privacy[which, which] = np.inf
        told, lost = problems_at(WEAK, which), problems_at(LOST, which)
        problems = (*(each for each in self.problems if each not in told + lost), *lost)
        return replace(self, cov=cov, cov_privacy=privacy, problems=problems)

    def saying(self, *problems: str) -> Self:
        """With more that is to be said of it."""
        return replace(self, problems=(*self.problems, *problems))

    def doubted(self, cov: np.ndarray | float, *problems: str) -> Self:
        """With more uncertainty, by a bias that is possible, and what is to be said of it."""
        return replace(self.saying(*problems), cov=self.cov + cov, bias=self.bias + cov)

    def noisier(self, cov: np.ndarray, *problems: str) -> Self:
        """With more uncertainty, by what noise may hide, and what is to be said of it."""
        return replace(self.saying(*problems), cov=self.cov + cov, cov_privacy=self.cov_privacy + cov)

    @property
    def possible_bias(self) -> np.ndarray:
        """Variances that are a possible bias, shape (k,)."""
        return np.diag(self._bias)

    @property
    def _bias(self) -> np.ndarray:
        return np.broadcast_to(self.bias, self.cov.shape)

    def beside(self, partners: np.ndarray) -> Self:
        """Without what shows the effects of lost coefficients; see :meth:`dpstats.formula.Design.partners`.

        However good the rest of a fit is, it is then one without a column, in which others stand for it.
        """
        lost = np.isinf(np.diag(self.cov))
        beside = np.flatnonzero(partners @ lost[: len(partners)] & ~lost[: len(partners)])
        return self.lost(beside) if len(beside) and ALL_LOST not in self.problems else self

    def through(self, way: np.ndarray) -> Self:
        """Of the columns that these ones are sums of; see :attr:`dpstats.formula.Design.way`.

        Coefficients that follow those of columns stay. What rests on a lost coefficient is lost with it.
        """
        p = way.shape[1]
        if np.array_equal(way, np.eye(*way.shape)):
            return self
        whole = scipy.linalg.block_diag(way[:p], np.eye(len(self.params) - p))
        cov = carried(self.cov, whole)
        weakly, lost = places_of(WEAK, self.problems), np.isinf(np.diag(cov))
        part = whole[:, weakly] @ np.nan_to_num(self.cov[np.ix_(weakly, weakly)], posinf=0.0)
        rests = np.sum(part * whole[:, weakly], axis=1) > WEAK_SHARE * np.diag(cov)
        rests[weakly] = True
        problems = [each for each in self.problems if each.split(":")[0] not in (WEAK, LOST)]
        problems += problems_at(WEAK, np.flatnonzero(rests & ~lost))
        problems += problems_at(LOST, np.flatnonzero(lost)) if ALL_LOST not in problems else ()
        return replace(
            self,
            params=whole @ self.params,
            cov=cov,
            cov_privacy=carried(self.cov_privacy, whole),
            root=whole @ root_of(without_lost(self.cov)),
            bias=carried(self._bias, whole),
            problems=tuple(problems),
            columns=None if self.columns is None else self._columns_through(self.columns, way),
        )

    def _columns_through(self, columns: DesignMoments, way: np.ndarray) -> DesignMoments:
        p, d = way.shape[1], len(columns.mean)
        back = np.linalg.inv(way[:p])
        origin = -way[p] @ back if len(way) > p else back[0] * (p > d)
        return columns.through(back[p - d :, p - d :], origin[p - d :])

    def hopeless(self) -> Self:
        """Without an interval for any coefficient."""
        cov = np.where(np.eye(len(self.cov)) > 0, np.inf, 0.0)
        return replace(self, cov=cov, problems=(ALL_LOST,))


E = TypeVar("E", bound=Estimate)


def carried(cov: np.ndarray, way: np.ndarray) -> np.ndarray:
    """The covariance of way @ estimate; a variance is infinite where it rests on one that is."""
    rests = (way[:, np.isinf(np.diag(cov))] != 0).any(axis=1)
    found = way @ without_lost(cov) @ way.T
    found[rests, rests] = np.inf
    return np.asarray(found)


def without_lost(cov: np.ndarray) -> np.ndarray:
    """The covariance of what is estimable, 0 beside it."""
    lost = np.isinf(np.diag(cov))
    return np.where(lost | lost[:, None], 0.0, cov)


def told_beside(ways: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """What leaves of an error that part which is not of lines that may be anywhere, of which no step tells.

    Parameters
    ----------
    ways, rows : array, shape (k, m)
        What a change of each of these lines alone makes of coefficients, and what takes those to the line.
    """
    return np.asarray(np.eye(len(ways)) - ways @ np.linalg.pinv(rows.T @ ways) @ rows.T)


def weak(guess: np.ndarray, cov: np.ndarray, share: float = WEAK_SHARE) -> np.ndarray:
    """Coefficients more than this share of whose variance is a guess of what noise hides."""
    return np.flatnonzero(np.diag(guess) > share * np.diag(cov))


def guessed(result: E, guess: np.ndarray, before: np.ndarray, constant: bool, levels_alone: bool) -> E:
    """A fit whose intervals include a guess of what noise hides, without those that say nothing.

    A coefficient is lost where nothing bounds the guess; where noise hides every slope, so are all that it
    hides. Levels it has to hide along every direction: one alone, that of a rare reference level, is in all
    of them, and their effects have a usual size; differences of numbers that repeat each other have none.

    Parameters
    ----------
    result : Estimate
    guess, before : array, shape (k, k)
        Part of the covariance that is a guess, and what it would be if noise hid all.
    constant : bool
    levels_alone : bool
        Whether all slopes are of columns of two values.
    """
    unit = np.sqrt(np.diag(before))
    shares = guess / unit / unit[:, None]
    hidden, lost = (np.diag(shares) > limit for limit in (_HIDDEN, _UNBOUNDED))
    slopes = shares[int(constant) :, int(constant) :]
    along = np.linalg.eigvalsh(slopes) if levels_alone else np.diag(slopes)
    if (along > _HIDDEN).all():
        lost |= hidden
    return result.hopeless() if lost.all() else result.lost(np.flatnonzero(lost))


def to_user(center: np.ndarray, scale: np.ndarray, lead: int, y_scale: float = 1.0) -> np.ndarray:
    """Matrix from coefficients of standardised columns, after those of `lead` levels, to the user's."""
    matrix = np.diag(y_scale / np.append([1.0] * lead, scale))
    matrix[:lead, lead:] = -center * y_scale / scale
    return matrix

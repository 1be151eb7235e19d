"""A released baseline hazard that is constant on pieces of a public clock."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpstats._stored import Arrays
from dpstats.moments.roots import root_of

# variance of when a hazard comes within a cell, in squares of it, halfway through: that of any time as likely
_ANY_TIME = 1 / 12


@dataclass(frozen=True, eq=False)
class Baseline(Arrays):
    """Of a regression of hazards: exp(log_hazards[j]) for each unit of the clock on piece j.

    Attributes
    ----------
    edges : array, shape (m + 1,)
        Times, increasing.
    clock : array, shape (m + 1,)
        What the clock shows then, 0 at the first; it runs evenly between them.
    variances : array, shape (m,)
        Of what the clock gains between edges.
    pieces : array of int, shape (m,)
        To which piece the time before each edge but the first belongs: 0, ..., J - 1.
    log_hazards : array, shape (J,)
        Where all covariates are 0.
    cov, cov_privacy : array, shape (J + k, J + k)
        Covariance of `log_hazards` and of the k coefficients, and the part of it due to privacy noise.
    strata : int
        Each has as many edges, one stratum after the other on one axis; the clock runs on.
    failures : array, shape (m,), optional
        About how many there are between edges, positive; by default as many as the clock gains.
    until : array, shape (strata,), optional
        Time in each stratum since when nobody may be at risk; by default the last.
    root : array, shape (J + k, r), optional
        With root root' = cov, to more digits of what cancels, if coefficients are sums of others.
    """

    edges: np.ndarray
    clock: np.ndarray
    variances: np.ndarray
    pieces: np.ndarray
    log_hazards: np.ndarray
    cov: np.ndarray
    cov_privacy: np.ndarray
    strata: int = 1
    failures: np.ndarray | None = None
    until: np.ndarray | None = None
    root: np.ndarray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        pieces = np.array(self.pieces, dtype=int)
        pieces.setflags(write=False)
        object.__setattr__(self, "pieces", pieces)
        m, j, size = len(self.edges) - 1, len(self.log_hazards), len(self.cov)
        whole = (
            m > 0
            and np.isfinite(np.concatenate([self.edges, self.clock, self.log_hazards])).all()
            and (np.diff(self.edges) > 0).all()
            and self.clock.shape == (m + 1,)
            and (np.diff(self.clock, prepend=0.0) >= 0).all()
            and pieces.shape == self.variances.shape == (m,)
            and (self.variances >= 0).all()
            and pieces[0] == 0
            and pieces[-1] == j - 1
            and np.isin(np.diff(pieces), (0, 1)).all()
            and type(self.strata) is int
            and self.strata > 0 == m % self.strata
            and (self.failures is None or (self.failures.shape == (m,) and (self.failures > 0).all()))
            and (self.until is None or self.until.shape == (self.strata,))
            and self.cov.shape == self.cov_privacy.shape == (size, size)
            and size >= j
            and (self.root is None or (self.root.ndim == 2 and len(self.root) == size))
        )
        if not whole:
            raise ValueError(
                "a baseline has cells that follow each other, finite and increasing numbers of each, pieces "
                "in their order, as many cells in each stratum, and square covariances of its pieces at least"
            )

    @property
    def times(self) -> np.ndarray:
        """Those of `edges` that are of the first stratum, which are the times of each."""
        return np.asarray(self.edges[: (len(self.edges) - 1) // self.strata + 1])

    def on_axis(self, times: np.ndarray, stratum: np.ndarray) -> np.ndarray:
        """Where times of these strata lie among `edges`, shape (m,)."""
        return np.asarray(times + self._begin(stratum) - self.edges[0])

    def last(self, stratum: np.ndarray) -> np.ndarray:
        """Until when rows of these strata are surely at risk, shape (m,)."""
        return np.full(len(stratum), self.times[-1]) if self.until is None else self.until[stratum]

    def hazards(self, times: np.ndarray, stratum: np.ndarray) -> np.ndarray:
        """Cumulative hazard of each piece until each time in its stratum, shape (m, J)."""
        return np.asarray(self._since(times, stratum, self.clock) * np.exp(self.log_hazards))

    def clock_variances(self, times: np.ndarray, stratum: np.ndarray) -> np.ndarray:
        """Variance of the cumulative hazard until each time in its stratum by the clock, shape (m,).

        `log_hazards` make the hazard of a piece, a mean over its failures, right: where the clock is wrong by
        a factor, it is so by that factor less the mean of all such factors.
        """
        rates = np.diff(self.clock)
        failures = rates if self.failures is None else self.failures
        share = failures / np.maximum(np.bincount(self.pieces, failures), 1e-300)[self.pieces]
        weight = np.divide(share, rates, out=np.zeros_like(rates), where=rates > 0)
        before, common, whole = (
            np.append(0.0, np.cumsum(weight**power * self.variances)) for power in range(3)
        )
        spent = self._since(times, stratum, self.clock)
        variance = self._since(times, stratum, before) - 2 * spent * self._since(times, stratum, common)
        variance += spent**2 * np.diff(self._ends(whole), prepend=0.0)
        times = self.on_axis(times, stratum)
        cell = np.clip(np.searchsorted(self.edges, times) - 1, 0, len(self.pieces) - 1)
        inside = np.clip((times - self.edges[cell]) / np.diff(self.edges)[cell], 0.0, 1.0)
        within = 4 * _ANY_TIME * self._apart(rates * np.exp(self.log_hazards[self.pieces]), cell, inside) ** 2
        return np.asarray(np.maximum(variance, 0.0) @ np.exp(2 * self.log_hazards) + within)

    def _apart(self, gained: np.ndarray, cell: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """How far off an even hazard may be within a cell, this share of it after its beginning.

        It may come at any time of the cell, and one that is higher in a neighbour may reach into it.
        """
        steep = np.pad((gained / np.diff(self.edges)).reshape(self.strata, -1), ((0, 0), (1, 1)))
        own, ways = gained[cell], (inside, 1 - inside)
        found = own * np.sqrt(inside * (1 - inside))
        for near, (here, rest) in ((steep[:, :-2], ways), (steep[:, 2:], ways[::-1])):
            reaching = (near.ravel() * np.diff(self.edges))[cell]
            found = np.maximum(found, np.minimum(here * (reaching - own), rest * own))
        return np.asarray(found)

    def _begin(self, stratum: np.ndarray) -> np.ndarray:
        return np.asarray(self.edges[stratum * (len(self.times) - 1)])

    def _ends(self, sums: np.ndarray) -> np.ndarray:
        """Sums at the ends of the pieces."""
        return np.asarray(sums[np.append(np.flatnonzero(np.diff(self.pieces)) + 1, len(self.pieces))])

    def _parts(self, times: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """What sums at the edges gain on each piece until each time, shape (m, J)."""
        shown, ends = np.interp(times, self.edges, sums), self._ends(sums)
        begins = np.append(0.0, ends[:-1])
        return np.asarray(np.clip(shown[:, None], begins, ends) - begins)

    def _since(self, times: np.ndarray, stratum: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """What sums gain on each piece from the beginning of a stratum until each time, shape (m, J)."""
        return self._parts(self.on_axis(times, stratum), sums) - self._parts(self._begin(stratum), sums)

    @property
    def levelled(self) -> "tuple[float, Baseline]":
        """The largest log hazard, and a baseline that has 0 there: covariates may be far from 0."""
        level = float(self.log_hazards.max())
        return level, replace(self, log_hazards=self.log_hazards - level)

    def through(self, coef: np.ndarray, way: np.ndarray) -> "Baseline":
        """Beside coefficients ``way[:-1] @ coef``, while ``way[-1] @ coef`` is added to log hazards."""
        j, k = len(self.log_hazards), len(coef)
        whole = np.block([[np.eye(j), np.tile(way[k], (j, 1))], [np.zeros((k, j)), way[:k]]])
        return replace(
            self,
            log_hazards=self.log_hazards + way[k] @ coef,
            cov=whole @ self.cov @ whole.T,
            root=whole @ root_of(self.cov),
            cov_privacy=whole @ self.cov_privacy @ whole.T,
        )

    def to_dict(self) -> dict[str, Any]:
        found = super().to_dict() | {"pieces": self.pieces.tolist()}
        return {name: value for name, value in found.items() if (name, value) != ("strata", 1)}


@dataclass(frozen=True, eq=False)
class Trend(Arrays):
    """By what coefficients change until all rows alike have failed, were it in proportion to their share.

    Attributes
    ----------
    change : array, shape (k,)
    cov : array, shape (k, k)
        0 for a coefficient that is not estimable.
    root : array, shape (k, r), optional
        With root root' = cov, to more digits of what cancels; not in fits that were saved before it was kept.
    """

    change: np.ndarray
    cov: np.ndarray
    root: np.ndarray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        k, root = len(self.change), self.rooted
        numbers = np.concatenate([self.change, self.cov.ravel(), root.ravel()])
        if self.cov.shape != (k, k) or len(root) != k or not np.isfinite(numbers).all():
            raise ValueError("a trend has a finite change of each coefficient, and their covariance")

    @property
    def rooted(self) -> np.ndarray:
        """The root, or the best that the covariance tells of it."""
        return root_of(self.cov) if self.root is None else self.root

    def through(self, way: np.ndarray) -> "Trend":
        """Of coefficients way @ those of this one."""
        lost = (way[:, np.diag(self.cov) == 0] != 0).any(axis=1)
        root = np.where(lost[:, None], 0.0, way @ self.rooted)
        return Trend(way @ self.change, root @ root.T, root)

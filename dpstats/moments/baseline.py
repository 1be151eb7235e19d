"""A released baseline hazard that is constant on pieces of a public clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Baseline", "Trend"]

Array = np.ndarray
_ARRAYS = ("edges", "clock", "variances", "log_hazards", "cov", "cov_privacy")
# variance of when a hazard comes within a cell, in squares of it, halfway through: that of any time as likely
_ANY_TIME = 1 / 12


@dataclass(frozen=True, eq=False)
class Baseline:
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
    """

    edges: Array
    clock: Array
    variances: Array
    pieces: Array
    log_hazards: Array
    cov: Array
    cov_privacy: Array
    strata: int = 1

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            array = np.array(getattr(self, name), dtype=float)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        pieces = np.array(self.pieces, dtype=int)
        pieces.setflags(write=False)
        object.__setattr__(self, "pieces", pieces)
        m, j = len(self.edges) - 1, len(self.log_hazards)
        known = np.isfinite(np.concatenate([self.edges, self.clock, self.log_hazards])).all()
        rising = m > 0 and (np.diff(self.edges) > 0).all() and (np.diff(self.clock, prepend=0.0) >= 0).all()
        if not (known and rising and self.clock.shape == (m + 1,) and pieces.shape == (m,)) or (
            self.variances.shape != (m,) or not (self.variances >= 0).all()
        ):
            raise ValueError("edges and clock of a baseline must be finite and increase, one more than cells")
        steps = np.diff(pieces, prepend=0, append=j - 1)
        if not np.isin(steps, (0, 1)).all() or pieces[0] != 0 or pieces[-1] != j - 1:
            raise ValueError("pieces of a baseline must be numbered in the order of its cells")
        if (
            isinstance(self.strata, bool)
            or not isinstance(self.strata, int)
            or self.strata < 1
            or m % self.strata
        ):
            raise ValueError("each stratum of a baseline must have as many cells")
        if self.cov.ndim != 2 or len(self.cov) < j or self.cov.shape != self.cov.T.shape:
            raise ValueError("the covariance of a baseline must be square")
        if self.cov_privacy.shape != self.cov.shape:
            raise ValueError("both covariances of a baseline must be of one shape")

    @property
    def times(self) -> Array:
        """Those of `edges` that are of the first stratum, which are the times of each."""
        return np.asarray(self.edges[: (len(self.edges) - 1) // self.strata + 1])

    def on_axis(self, times: Array, stratum: Array) -> Array:
        """Where times of these strata lie among `edges`, shape (m,)."""
        return np.asarray(times + self._begin(stratum) - self.edges[0])

    def hazards(self, times: Array, stratum: Array) -> Array:
        """Cumulative hazard of each piece until each time in its stratum, shape (m, J)."""
        whole = self._parts(self.on_axis(times, stratum), self.clock)
        before = self._parts(self._begin(stratum), self.clock)
        return np.asarray((whole - before) * np.exp(self.log_hazards))

    def _begin(self, stratum: Array) -> Array:
        return np.asarray(self.edges[stratum * (len(self.times) - 1)])

    def clock_variances(self, times: Array, stratum: Array) -> Array:
        """Variance of the cumulative hazard until each time in its stratum by the clock, shape (m,).

        The hazard of a whole piece is known by `log_hazards`. Of what comes before and after a time within
        it, errors make up for each other in proportion.
        """
        times = self.on_axis(times, stratum)
        spent, whole = self._parts(times, self.clock), np.diff(self._ends(self.clock), prepend=0.0)
        before, all_of_it = self._parts(times, self._error), np.diff(self._ends(self._error), prepend=0.0)
        share = spent / np.maximum(whole, 1e-300)
        variance = before * (1 - share) ** 2 + (all_of_it - before) * share**2
        cell = np.clip(np.searchsorted(self.edges, times) - 1, 0, len(self.pieces) - 1)
        inside = np.clip((times - self.edges[cell]) / np.diff(self.edges)[cell], 0.0, 1.0)
        gained = np.diff(self.clock)[cell] * np.exp(self.log_hazards[self.pieces[cell]])
        within = 4 * _ANY_TIME * inside * (1 - inside) * gained**2
        return np.asarray(variance @ np.exp(2 * self.log_hazards) + within)

    @property
    def _error(self) -> Array:
        return np.append(0.0, np.cumsum(self.variances))

    def _ends(self, sums: Array) -> Array:
        """Sums at the ends of the pieces."""
        return np.asarray(sums[np.append(np.flatnonzero(np.diff(self.pieces)) + 1, len(self.pieces))])

    def _parts(self, times: Array, sums: Array) -> Array:
        """What sums at the edges gain on each piece until each time, shape (m, J)."""
        shown, ends = np.interp(times, self.edges, sums), self._ends(sums)
        begins = np.append(0.0, ends[:-1])
        return np.asarray(np.clip(shown[:, None], begins, ends) - begins)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; infinities as texts."""
        arrays = {name: _plain(getattr(self, name)) for name in _ARRAYS}
        return arrays | {"pieces": self.pieces.tolist(), "strata": self.strata}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Baseline:
        """The baseline that `to_dict` described."""
        return cls(
            pieces=np.array(content["pieces"], dtype=int),
            strata=content.get("strata", 1),
            **{name: np.array(content[name], dtype=float) for name in _ARRAYS},
        )


@dataclass(frozen=True, eq=False)
class Trend:
    """By what coefficients change from the first failure to the last, were it in proportion to their share.

    Attributes
    ----------
    change : array, shape (k,)
    cov : array, shape (k, k)
        0 for a coefficient that is not estimable.
    """

    change: Array
    cov: Array

    def __post_init__(self) -> None:
        for name in ("change", "cov"):
            array = np.array(getattr(self, name), dtype=float)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        k = len(self.change)
        if self.cov.shape != (k, k) or not np.isfinite(np.append(self.change, self.cov.ravel())).all():
            raise ValueError("a trend has a finite change of each coefficient, and their covariance")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"change": _plain(self.change), "cov": _plain(self.cov)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Trend:
        """The trend that `to_dict` described."""
        return cls(np.array(content["change"], dtype=float), np.array(content["cov"], dtype=float))


def _plain(array: Array) -> Any:
    if array.ndim:
        return [_plain(item) for item in array]
    return float(array) if np.isfinite(array) else str(float(array))

"""What the left side of a formula says of each row, and failures that are known to lie between two times.

Such failures are seen at inspections, or are left-censored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dpstats.formula.expressions import Expression


class Ends(NamedTuple):
    """Between which times each row failed: from -inf where it is left-censored, to inf where right-censored.

    Both are the same time where a failure was seen.
    """

    lower: np.ndarray
    upper: np.ndarray


class Observed(NamedTuple):
    """Of each row: the response, 1 where it failed and 0 where it is right-censored, its entry and its ends.

    Ends are None where no failure can lie between two times.
    """

    value: np.ndarray
    event: np.ndarray
    entry: np.ndarray
    ends: Ends | None = None


def within(values: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """Values moved into bounds; NaN to the lower one."""
    return np.fmin(np.fmax(values, bounds[0]), bounds[1])


@dataclass(frozen=True)
class IntervalResponse:
    """``Surv(lower, upper, type="interval2")``, or ``Surv(time, event, type="left")``, between public bounds.

    A row failed after `lower` and no later than `upper`; a missing or infinite end is open, and so is a
    lower end at or below 0 of a time that is positive by its bounds. Ends are used as they are, within their
    bounds or not: to cut an interval off at a bound, or to open it, would take from rows that failed beyond
    the bound what is left to those that survived it, and move the estimate. What a row may add is bounded
    without. A row whose ends are both open, or leave no time between them, is switched off.

    The point of a row, which the first stage of a fit takes for its time, is the time itself where it is
    known, the finite end where the other is open, and else the middle: of the logarithms of positive times.
    It is moved into the bounds.

    Attributes
    ----------
    text : str
    time_bounds : tuple of float
        Of the points.
    began, measured : Expression
        The lower and the upper end of the interval in which a unit failed.
    """

    text: str
    time_bounds: tuple[float, float]
    began: Expression = field(repr=False)
    measured: Expression = field(repr=False)
    _event: tuple[str, float] | None = field(default=None, repr=False)

    delayed = False
    all_failed = False
    entry_bounds = None
    entry = None

    @property
    def left(self) -> bool:
        """Whether a row without an event had failed before its time, and there are no other intervals."""
        return self._event is not None

    @property
    def variables(self) -> frozenset[str]:
        """The variables that are read."""
        event = frozenset(self._event[:1]) if self._event else frozenset()
        return self.began.variables | self.measured.variables | event

    @property
    def open(self) -> frozenset[str]:
        """Those of which a missing value says something: nothing is known of that end."""
        return frozenset() if self._event else self.variables

    def read(
        self, raw: Mapping[str, np.ndarray], leaves: Mapping[str, np.ndarray], ok: np.ndarray
    ) -> Observed:
        """Each row of a block from values before clipping; ``ok`` loses rows of which nothing is known."""
        lower, upper = (np.broadcast_to(each.values(raw), ok.shape) for each in (self.began, self.measured))
        if self._event is not None:
            name, failed = self._event
            lower = np.where(leaves[name] == failed, lower, np.nan)
        positive = self.time_bounds[0] > 0
        least = 0.0 if positive else -np.inf
        ok &= ~((lower > upper) | (lower == np.inf) | (upper <= least))  # NaN is neither
        before, after = ~(lower > least), ~(upper < np.inf)
        ok &= ~(before & after)
        lower, upper = np.where(before, -np.inf, lower), np.where(after, np.inf, upper)
        middle = np.sqrt(lower) * np.sqrt(upper) if positive else lower / 2 + upper / 2
        middle = np.where(lower == upper, upper, middle)
        point = within(np.where(before, upper, np.where(after, lower, middle)), self.time_bounds)
        entry = np.broadcast_to(-np.inf, ok.shape)
        return Observed(point, (~after).astype(np.float64), entry, Ends(lower, upper))

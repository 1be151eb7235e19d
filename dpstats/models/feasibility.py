"""Fits of which public numbers show that they are hopeless are refused before they spend.

See docs/theory/intervals.md#refusals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpstats._arguments import truth
from dpstats.budget import Budget, measure, scaled
from dpstats.curator import Curator
from dpstats.errors import BudgetError

_DOUBLINGS, _HALVINGS = 200, 30  # in the search of the budget that would do, from the least on


@dataclass(frozen=True)
class Least:
    """Where a route begins to estimate anything: at n mu = multiple * k^power, of k coefficients.

    Under pure epsilon it is n epsilon. Where the unit of privacy has several rows, it is so many times that.

    Attributes
    ----------
    multiple, power : float
    """

    multiple: float
    power: float

    def needed(self, k: int) -> float:
        """n mu, or n epsilon, for k coefficients."""
        return self.multiple * k**self.power


# Gaussian noise on k x k sums has a spectral norm that grows as k^1.5 / mu, and what it hides grows as n. But
# the more coefficients there are, the likelier one of them has an interval: powers are smaller. Chosen on
# random designs, and looked at where rows are even over tight bounds, see the theory.
LINEAR, TIMES = Least(18.0, 1.0), Least(10.0, 1.25)
# Scores of a yes or no hold at most a quarter of what those of counts do
YES_NO, SCORES = Least(45.0, 0.65), Least(65.0, 0.33)
PURE, PURE_YES_NO, PURE_TIMES = Least(100.0, 1.75), Least(62.0, 1.75), Least(45.0, 1.0)


def check_worth(curator: Curator, budget: Budget, k: int, least: Least, force: bool) -> None:
    """Refuse a fit of k coefficients of which hardly one would be estimable under bounds as most are.

    Rows, budget and coefficients decide, which are public. A fit under the noise of
    :mod:`dpstats.testing` spends nothing, and is not refused.

    Raises
    ------
    BudgetError
        Unless `force`; it says how many rows or how large a budget may do.
    """
    forced = truth("force", force)
    wanted = least.needed(k) * curator.unit.max_rows
    if forced or curator.not_private or curator.n * measure(budget) >= wanted:
        return
    rows, larger = math.ceil(wanted / measure(budget)), _enough(budget, wanted / curator.n)
    raise BudgetError(
        f"{budget} buys too little for {k} coefficients from n = {curator.n} rows: under bounds as most are, "
        "noise would hide nearly all of them, and the fit say 'not estimable'. At the least "
        f"{larger}, or n = {rows}, may do; dps.plan(model, budget, n) says what to expect, fewer terms need "
        "less, and force=True (--force) spends the budget all the same"
    )


def _enough(budget: Budget, wanted: float) -> Budget:
    """A budget of the same kind that measures what is wanted, rounded up to three digits."""
    high = next(2.0**i for i in range(_DOUBLINGS) if measure(scaled(budget, 2.0**i)) >= wanted)
    low = high / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if measure(scaled(budget, middle)) >= wanted else (middle, high)
    return scaled(budget, high * 1.005, digits=3)

"""Amounts of privacy: pure epsilon, zCDP, GDP and (epsilon, delta).

A budget is a value. It prints itself in the units it was given in, splits into shares, adds to budgets of
the same kind, and says how much Gaussian noise it buys: Gaussian releases with sensitivity / sd equal to
``mu_1, ..., mu_k`` cost ``sqrt(mu_1**2 + ... + mu_k**2)``, exactly, and also when each is chosen after
seeing the last (docs/theory/privacy.md#accounts). A budget affords them when this does not exceed its ``mu``.

Every rounding goes against the user: what may be spent is rounded down, what a spending implies is rounded
up.

Examples
--------
>>> from dpstats.budget import approx
>>> budget = approx(epsilon=1, delta=1e-6)
>>> print(budget)
epsilon = 1, delta = 1e-06
>>> round(budget.mu, 6)
0.236704
"""

from dpstats.budget.kinds import Approx, Budget, Gdp, Pure, Zcdp, as_budget
from dpstats.budget.making import (
    approx,
    delta_of,
    from_dict,
    gdp,
    measure,
    parse_budget,
    pure,
    scaled,
    stated_delta,
    worded,
    zcdp,
)
from dpstats.budget.rules import LEAST, LEAST_DELTA, MOST

__all__ = [
    "LEAST",
    "LEAST_DELTA",
    "MOST",
    "Approx",
    "Budget",
    "Gdp",
    "Pure",
    "Zcdp",
    "approx",
    "as_budget",
    "delta_of",
    "from_dict",
    "gdp",
    "measure",
    "parse_budget",
    "pure",
    "scaled",
    "stated_delta",
    "worded",
    "zcdp",
]

"""How a fit spends its budget, and in how many steps: public before any row is read.

See docs/theory/survival.md#releases-and-shares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpstats.estimators.columns import FirstCosts
from dpstats.estimators.steps import early_costs, equal_costs

# Shares of mu^2; they add up to 1.
COLUMNS, MATRIX, LOCATION, EARLY, TAIL, CHECK = 0.09, 0.10, 0.015, 0.135, 0.61, 0.05
EARLY_STEPS, TAIL_STEPS, LOCATION_STEPS = 10, 8, 4


@dataclass(frozen=True)
class Plan:
    """Cost, in mu, of each release of a fit, in order.

    Attributes
    ----------
    mu : float
        Total; the squares of all costs add up to its square.
    columns : FirstCosts
        Of where the columns lie.
    matrix, check : float
        Of the event matrix, and of the check of the error law at the end.
    location, early, tail : tuple of float
        Of each location step, each step that finds the neighbourhood, and each step that is averaged.
    """

    mu: float
    columns: FirstCosts
    matrix: float
    location: tuple[float, ...]
    early: tuple[float, ...]
    tail: tuple[float, ...]
    check: float

    @property
    def tail_total(self) -> float:
        """mu of the averaged steps together."""
        return math.hypot(*self.tail)

    @property
    def rest(self) -> float:
        """mu of all that follows the columns."""
        return math.sqrt(max(self.mu**2 - self.columns.total**2, 0.0))


def make_plan(mu: float, early_steps: int = EARLY_STEPS, tail_steps: int = TAIL_STEPS) -> Plan:
    """Split a total of Gaussian differential privacy over the releases of a fit.

    Parameters
    ----------
    mu : float
        Total, positive.
    early_steps, tail_steps : int
        See :mod:`dpstats.estimators.steps`.
    """
    return Plan(
        mu=mu,
        columns=FirstCosts(mu * math.sqrt(COLUMNS), False),
        matrix=mu * math.sqrt(MATRIX),
        location=equal_costs(mu, LOCATION, LOCATION_STEPS),
        early=early_costs(mu, EARLY, early_steps),
        tail=equal_costs(mu, TAIL, tail_steps),
        check=mu * math.sqrt(CHECK),
    )

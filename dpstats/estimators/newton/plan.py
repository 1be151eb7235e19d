"""How a fit spends its budget, and in how many steps: public before any row is read.

See docs/theory/glm.md#plan.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpstats.estimators.columns import FirstCosts
from dpstats.estimators.steps import early_costs, equal_costs

# Shares of mu^2; they add up to 1.
FIRST, OCTAVES, EARLY, TAIL, CHECK = 0.03, 0.03, 0.24, 0.67, 0.03
EARLY_STEPS, TAIL_STEPS = 8, 8
# with as many rows n mu / k^1.5 a step is hardly noisy: as Newton's method does without noise, fewer converge
_PLENTY, _FEW = 3000.0, (6, 3)


@dataclass(frozen=True)
class Plan:
    """Cost, in mu, of each release of a fit, in order.

    Attributes
    ----------
    mu : float
        Total; the squares of all costs add up to its square.
    first : FirstCosts
        Of where the columns lie.
    octaves : float
        Of how far they spread.
    early, tail : tuple of float
        Of each step that finds the neighbourhood, and each step that is averaged.
    check : float
        Of whether responses bend.
    """

    mu: float
    first: FirstCosts
    octaves: float
    early: tuple[float, ...]
    tail: tuple[float, ...]
    check: float

    @property
    def tail_total(self) -> float:
        """mu of the averaged steps together."""
        return math.hypot(*self.tail)

    @property
    def costs(self) -> dict[str, float]:
        """mu of all releases of each kind together, by name; their squares add up to that of the total."""
        costs = {
            "column means": self.first.total,
            "column octaves": self.octaves,
            "score and information": math.hypot(*self.early, *self.tail),
            "check for bends": self.check,
        }
        return {name: cost for name, cost in costs.items() if cost}


def count_steps(n: int, mu: float, k: int) -> tuple[int, int]:
    """Early and averaged steps of a fit of k coefficients to n rows; `mu` is the cost per row."""
    return _FEW if n * mu > _PLENTY * k**1.5 else (EARLY_STEPS, TAIL_STEPS)


def make_plan(
    mu: float, early_steps: int = EARLY_STEPS, tail_steps: int = TAIL_STEPS, constant: bool = True
) -> Plan:
    """Split a total of Gaussian differential privacy over the releases of a fit.

    Without an intercept no bend is looked for.
    """
    check = CHECK * constant
    return Plan(
        mu=mu,
        first=FirstCosts(mu * math.sqrt(FIRST), pure=False),
        octaves=mu * math.sqrt(OCTAVES),
        early=early_costs(mu, EARLY, early_steps),
        tail=equal_costs(mu, TAIL + CHECK - check, tail_steps),
        check=mu * math.sqrt(check),
    )

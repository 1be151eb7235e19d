"""How a fit of pure epsilon spends its budget: public before any row is read.

See docs/theory/survival.md#pure-epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpstats.estimators.columns import FirstCosts

# Shares of epsilon of columns, matrix, location, sizes, early steps, last step and check; they add up to 1.
# With n epsilon beyond these multiples of k^1.5, what comes first is precise enough at a smaller share.
# Then more early steps find their way from a start that many censored rows make bad.
SHARES = (
    (4000.0, 12, (0.05, 0.11, 0.01, 0.10, 0.36, 0.34, 0.03)),
    (1000.0, 2, (0.10, 0.12, 0.01, 0.04, 0.20, 0.50, 0.03)),
    (0.0, 2, (0.08, 0.25, 0.01, 0.06, 0.20, 0.38, 0.02)),
)
LOCATION_STEPS = 2


@dataclass(frozen=True)
class PurePlan:
    """Cost, in epsilon, of each release of a fit, in order; together they cost the total.

    Attributes
    ----------
    columns : FirstCosts
        Of where the columns lie.
    matrix, check : float
        Of the event matrix, and of the check of the error law at the end.
    location, sizes, steps : tuple of float
        Of each location step, each release of the information's sizes, and each score step.
    """

    columns: FirstCosts
    matrix: float
    location: tuple[float, ...]
    sizes: tuple[float, ...]
    steps: tuple[float, ...]
    check: float

    @property
    def combined(self) -> tuple[float, ...]:
        """Of the steps that the estimate combines."""
        return self.steps[-2:]

    @property
    def combined_total(self) -> float:
        """Epsilon of one step with the noise of those, combined by their precision."""
        return math.hypot(*self.combined)

    @property
    def costs(self) -> dict[str, float]:
        """Of all releases of each kind together, by name."""
        return {
            "columns": self.columns.total,
            "event matrix": self.matrix,
            "location score": sum(self.location),
            "sizes of the information": sum(self.sizes),
            "score": sum(self.steps),
            "check of the law": self.check,
        }


def make_pure_plan(epsilon: float, n: int, k: int) -> PurePlan:
    """Split a pure budget over the releases of a fit of n rows and k location coefficients."""
    steps, shares = next(plan[1:] for plan in SHARES if n * epsilon >= plan[0] * k**1.5)
    columns, matrix, location, sizes, early, last, check = (epsilon * share for share in shares)
    return PurePlan(
        columns=FirstCosts(columns, True),
        matrix=matrix,
        location=(location / LOCATION_STEPS,) * LOCATION_STEPS,
        sizes=(sizes / steps,) * steps,
        steps=(*((early / steps,) * steps), last),
        check=check,
    )

"""How a linear fit spends its budget: public before any row is read (docs/theory/linear.md#coordinates)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpstats.budget import Budget, Pure
from dpstats.estimators.columns import FirstCosts

# Gaussian noise: shares of mu^2, of which the last release has what the others leave. Pure epsilon: shares
# of epsilon, which add up to 1.
COLUMNS = 0.08
# Each pilot whitens what the noise of the one before hid, and is the prior of the next. With n mu beyond
# these multiples of k^1.5 there is less to hide, and fewer passes over the rows do.
# Public moments may be wrong; one pilot finds out, before residuals are clipped about their line.
PUBLIC_PILOT = 0.15
_PILOTS = ((4000.0, (0.29,)), (400.0, (0.1, 0.2)), (0.0, (0.05, 0.1, 0.2)))
PURE_COLUMNS, PURE_MATRIX, PURE_PILOTS, PURE_FINAL = 0.14, 0.31, (0.1, 0.15), 0.3


@dataclass(frozen=True)
class Plan:
    """Cost of each release of a fit, in order: in mu, or in epsilon if `pure`.

    Attributes
    ----------
    pure : bool
    columns : FirstCosts or None
        Of where the columns lie; None with public moments.
    matrix : float or None
        Of the second moments in the box of those, under pure epsilon and without public moments.
    pilots : tuple of float
        Of each release that only improves the coordinates of the next.
    final : float
        Of the release that gives the estimate.
    """

    pure: bool
    columns: FirstCosts | None
    matrix: float | None
    pilots: tuple[float, ...]
    final: float

    @property
    def costs(self) -> dict[str, float]:
        """Of all releases of each kind together, by name."""
        what = "score" if self.pure else "second moments"
        pilots = sum(self.pilots) if self.pure else math.hypot(*self.pilots)
        columns = self.columns.total if self.columns else None
        costs = {"columns": columns, "matrix": self.matrix, f"pilot {what}": pilots, what: self.final}
        return {name: cost for name, cost in costs.items() if cost}


def make_plan(budget: Budget, n: int, k: int, public: bool = False) -> Plan:
    """Split a budget; public moments stand in for all but the last stages.

    Parameters
    ----------
    budget : Budget
        Costs of a pure budget add up to its epsilon, the squares of others to its mu squared.
    n, k : int
        Number of rows and of coefficients.
    public : bool
        Whether there are public moments.
    """
    if isinstance(budget, Pure):
        epsilon = budget.epsilon
        if public:
            left = 1 - PURE_COLUMNS - PURE_MATRIX
            return Plan(
                True, None, None, tuple(epsilon * share / left for share in PURE_PILOTS),
                epsilon * PURE_FINAL / left,
            )  # fmt: skip
        return Plan(
            True, FirstCosts(epsilon * PURE_COLUMNS, True), epsilon * PURE_MATRIX,
            tuple(epsilon * share for share in PURE_PILOTS), epsilon * PURE_FINAL,
        )  # fmt: skip
    mu = budget.mu
    if public:
        return Plan(False, None, None, (mu * math.sqrt(PUBLIC_PILOT),), mu * math.sqrt(1 - PUBLIC_PILOT))
    shares = next(shares for multiple, shares in _PILOTS if n * mu >= multiple * k**1.5)
    pilots = tuple(mu * math.sqrt(share) for share in shares)
    columns = FirstCosts(mu * math.sqrt(COLUMNS), False)
    return Plan(False, columns, None, pilots, mu * math.sqrt(1 - COLUMNS - sum(shares)))

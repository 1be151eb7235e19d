"""How a linear fit spends its budget: public before any row is read (docs/theory/linear.md#coordinates)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpstats.budget import Budget, Pure
from dpstats.estimators.columns import FirstCosts

# Gaussian noise: shares of mu^2, of which the last release has what the others leave. Pure epsilon: shares
# of epsilon, which add up to 1.
COLUMNS, CHECK = 0.08, 0.03
# Each pilot whitens what the noise of the one before hid, and is the prior of the next. With n mu beyond
# these multiples of k^1.5 there is less to hide, and fewer passes over the rows do.
# Public moments may be wrong; one pilot finds out, before residuals are clipped about their line.
PUBLIC_PILOT = 0.15
_PILOTS = ((4000.0, (0.29,)), (400.0, (0.1, 0.2)), (0.0, (0.05, 0.1, 0.2)))
PURE_COLUMNS, PURE_MATRIX, PURE_PILOTS, PURE_FINAL, PURE_CHECK = 0.14, 0.3, (0.1, 0.15), 0.28, 0.03


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
    check : float
        Of whether the response bends.
    """

    pure: bool
    columns: FirstCosts | None
    matrix: float | None
    pilots: tuple[float, ...]
    final: float
    check: float

    @property
    def costs(self) -> dict[str, float]:
        """Of all releases of each kind together, by name."""
        what = "score" if self.pure else "second moments"
        pilots = sum(self.pilots) if self.pure else math.hypot(*self.pilots)
        columns = self.columns.total if self.columns else None
        costs = {
            "columns": columns,
            "matrix": self.matrix,
            f"pilot {what}": pilots,
            what: self.final,
            "check for bends": self.check,
        }
        return {name: cost for name, cost in costs.items() if cost}


def make_plan(budget: Budget, n: int, k: int, public: bool = False, constant: bool = True) -> Plan:
    """Split a budget; public moments stand in for all but the last stages.

    Parameters
    ----------
    budget : Budget
        Costs of a pure budget add up to its epsilon, the squares of others to its mu squared.
    n, k : int
        Number of rows and of coefficients.
    public : bool
        Whether there are public moments.
    constant : bool
        Whether the model has an intercept; without one no bend is looked for.
    """
    if isinstance(budget, Pure):
        epsilon, check = budget.epsilon, PURE_CHECK * constant
        final = PURE_FINAL + PURE_CHECK - check
        if public:
            left = 1 - PURE_COLUMNS - PURE_MATRIX
            return Plan(
                True,
                None,
                None,
                tuple(epsilon * share / left for share in PURE_PILOTS),
                epsilon * final / left,
                epsilon * check / left,
            )
        return Plan(
            True,
            FirstCosts(epsilon * PURE_COLUMNS, True),
            epsilon * PURE_MATRIX,
            tuple(epsilon * share for share in PURE_PILOTS),
            epsilon * final,
            epsilon * check,
        )
    mu, check = budget.mu, CHECK * constant
    if public:
        pilot, final = mu * math.sqrt(PUBLIC_PILOT), mu * math.sqrt(1 - PUBLIC_PILOT - check)
        return Plan(False, None, None, (pilot,), final, mu * math.sqrt(check))
    shares = next(shares for multiple, shares in _PILOTS if n * mu >= multiple * k**1.5)
    pilots = tuple(mu * math.sqrt(share) for share in shares)
    columns = FirstCosts(mu * math.sqrt(COLUMNS), False)
    final = mu * math.sqrt(1 - COLUMNS - check - sum(shares))
    return Plan(False, columns, None, pilots, final, mu * math.sqrt(check))

"""How a linear fit spends a budget of Gaussian noise: public before any row is read."""

from __future__ import annotations

import math
from dataclasses import dataclass

# Shares of mu^2 without public moments; they add up to 1 (spec/linear_glm.md C6, one stage more).
MOMENTS, PILOTS, FINAL = 0.04, (0.08, 0.16), 0.72


@dataclass(frozen=True)
class Plan:
    """Cost, in mu, of each release of a fit, in order; their squares add up to that of the total.

    Attributes
    ----------
    moments : float or None
        Of means and mean squares in the declared box; None with public moments.
    pilots : tuple of float
        Of each release of second moments that only improves the coordinates of the next.
    final : float
        Of the second moments that give the estimate.
    """

    moments: float | None
    pilots: tuple[float, ...]
    final: float

    @property
    def costs(self) -> dict[str, str]:
        """What is paid for, in words, for a ledger."""
        costs = {"second moments": f"mu = {self.final:.4g}"}
        if self.moments is not None:
            costs = {
                "moments": f"mu = {self.moments:.4g}",
                "pilot second moments": f"mu = {math.hypot(*self.pilots):.4g}",
            } | costs
        return costs


def make_plan(mu: float, public: bool = False) -> Plan:
    """Split a total of Gaussian differential privacy; with public moments one release takes it all."""
    if public:
        return Plan(None, (), mu)
    return Plan(
        mu * math.sqrt(MOMENTS), tuple(mu * math.sqrt(share) for share in PILOTS), mu * math.sqrt(FINAL)
    )

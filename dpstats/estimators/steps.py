"""How a budget is shared among the steps of an iteration that averages its last ones.

See docs/theory/survival.md#releases-and-shares.
"""

from __future__ import annotations

import math


def early_costs(mu: float, share: float, steps: int) -> tuple[float, ...]:
    """mu of steps towards the root: the first two get a third, the next two two thirds, of a later one."""
    weights = [1.0, 1.0, 2.0, 2.0][:steps] + [3.0] * (steps - 4)
    return tuple(mu * math.sqrt(share * weight / sum(weights)) for weight in weights)


def equal_costs(mu: float, share: float, steps: int) -> tuple[float, ...]:
    """mu of steps that are all alike, as those that are averaged."""
    return (mu * math.sqrt(share / steps),) * steps

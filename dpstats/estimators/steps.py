"""How a budget is shared among the steps of an iteration that averages its last ones."""

from __future__ import annotations

import math


def early_costs(mu: float, share: float, steps: int) -> tuple[float, ...]:
    """mu of steps towards the root: the first two get a third, the next two two thirds, of a later one."""
    weights = [1.0, 1.0, 2.0, 2.0][:steps] + [3.0] * (steps - 4)
    return tuple(mu * math.sqrt(share * weight / sum(weights)) for weight in weights)


def tail_costs(mu: float, share: float, steps: int) -> tuple[float, ...]:
    """mu of the steps that are averaged, all alike."""
    return (mu * math.sqrt(share / steps),) * steps

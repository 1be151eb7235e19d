"""How a fit of pure epsilon spends its budget: public before any row is read.

See docs/theory/survival.md#pure-epsilon.
"""

from __future__ import annotations

from dpstats.estimators.engine.plan import Plan, Stage, alike

# Shares of epsilon of columns, matrix, location, sizes, early steps, last step and check; they add up to 1.
# With n epsilon beyond these multiples of k^1.5, what comes first is precise enough at a smaller share.
# Then more early steps find their way from a start that many censored rows make bad.
SHARES = (
    (4000.0, 12, (0.05, 0.11, 0.01, 0.10, 0.36, 0.34, 0.03)),
    (1000.0, 6, (0.10, 0.14, 0.01, 0.07, 0.28, 0.37, 0.03)),
    (0.0, 2, (0.08, 0.25, 0.01, 0.06, 0.20, 0.38, 0.02)),
)
LOCATION_STEPS = 2


def make_pure_plan(epsilon: float, n: int, k: int) -> Plan:
    """Split a pure budget over the releases of a fit of n rows and k location coefficients."""
    steps, shares = next(plan[1:] for plan in SHARES if n * epsilon >= plan[0] * k**1.5)
    columns, matrix, location, sizes, early, last, check = shares
    stages = dict(
        columns=Stage(columns, "columns"),
        matrix=Stage(matrix, "event matrix"),
        location=Stage(location, "location score", alike(LOCATION_STEPS)),
        sizes=Stage(sizes, "sizes of the information", alike(steps)),
        early=Stage(early, "score", alike(steps)),
        last=Stage(last, "score"),
        check=Stage(check, "check of the law"),
    )
    return Plan(epsilon, True, stages)

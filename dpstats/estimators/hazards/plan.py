"""How a fit spends its budget, and in how many steps: public before any row is read.

See docs/theory/coxph.md#plan.
"""

from __future__ import annotations

from dpstats.estimators.engine.plan import EARLY_STEPS, TAIL_STEPS, Plan, Stage, alike, growing

# Shares of mu^2; the averaged steps have what the others leave. Those of columns and early steps are about
# those of survreg.
COLUMNS, COUNTS, EARLY, CHECK = 0.09, 0.08, 0.20, 0.05
ENTRIES = 0.05  # of rows that enter late


def make_plan(
    mu: float, early_steps: int = EARLY_STEPS, tail_steps: int = TAIL_STEPS, delayed: bool = False
) -> Plan:
    """Split a total of Gaussian differential privacy over the releases of a fit."""
    steps, entries = "score and information", ENTRIES * delayed
    stages = dict(
        columns=Stage(COLUMNS, "columns"),
        counts=Stage(COUNTS, "exit counts"),
        entries=Stage(entries, "entry counts"),
        early=Stage(EARLY, steps, growing(early_steps)),
        tail=Stage(1 - COLUMNS - COUNTS - entries - EARLY - CHECK, steps, alike(tail_steps)),
        check=Stage(CHECK, "check of proportional hazards"),
    )
    return Plan(mu, False, stages)

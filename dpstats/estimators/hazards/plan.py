"""How a fit spends its budget, and in how many steps: public before any row is read.

See docs/theory/coxph.md#plan.
"""

from dpstats.estimators.engine.plan import (
    EARLY_STEPS,
    FAR,
    FAR_BY_EARLY,
    LOOK,
    TAIL_STEPS,
    TIME_CHECK,
    TIME_COLUMNS,
    Plan,
    Stage,
    alike,
    growing,
)

# Shares of mu^2; the averaged steps have what the others leave. That of early steps is about that of survreg.
COUNTS, EARLY = 0.08, 0.20
ENTRIES = 0.05  # of rows that enter late


def make_plan(
    mu: float, early_steps: int = EARLY_STEPS, tail_steps: int = TAIL_STEPS, delayed: bool = False
) -> Plan:
    """Split a total of Gaussian differential privacy over the releases of a fit."""
    steps, entries = "score and information", ENTRIES * delayed
    stages = dict(
        columns=Stage(TIME_COLUMNS, "columns"),
        counts=Stage(COUNTS, "exit counts"),
        entries=Stage(entries, "entry counts"),
        early=Stage(EARLY - FAR_BY_EARLY, steps, growing(early_steps)),
        tail=Stage(
            1 - TIME_COLUMNS - COUNTS - entries - EARLY - TIME_CHECK - LOOK - FAR + FAR_BY_EARLY,
            steps,
            alike(tail_steps),
        ),
        check=Stage(TIME_CHECK, "check of proportional hazards"),
        bend=Stage(LOOK, "check of the line"),
        far=Stage(FAR, "check of the line"),
    )
    return Plan(mu, False, stages)

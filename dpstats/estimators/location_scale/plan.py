"""How a fit spends its budget, and in how many steps: public before any row is read.

See docs/theory/survival.md#releases-and-shares.
"""

from __future__ import annotations

import math

from dpstats.estimators.engine.plan import TAIL_STEPS, Plan, Stage, alike, growing

# Shares of mu^2; the averaged steps have what the others leave.
COLUMNS, MATRIX, LOCATION, EARLY, CHECK = 0.09, 0.10, 0.015, 0.135, 0.05
EARLY_STEPS, LOCATION_STEPS = 10, 4
# Counts of inspections, at the start, where bounds are chosen, and after the early steps. They tell of the
# information far better than the averaged steps, which pay for them.
INSPECTIONS, INSPECTED = 0.06, 3


def make_plan(
    mu: float, early_steps: int = EARLY_STEPS, tail_steps: int = TAIL_STEPS, intervals: bool = False
) -> Plan:
    """Split a total of Gaussian differential privacy over the releases of a fit.

    Parameters
    ----------
    mu : float
        Total, positive.
    early_steps, tail_steps : int
        See :class:`dpstats.estimators.engine.plan.Stage`.
    intervals : bool
        Whether failures may lie between two times.
    """
    steps, inspections = "score and information", INSPECTIONS * intervals
    rest = 1 - COLUMNS - MATRIX - LOCATION - EARLY - inspections - CHECK
    stages = dict(
        columns=Stage(COLUMNS, "columns"),
        matrix=Stage(MATRIX, "event matrix"),
        location=Stage(LOCATION, "location score", alike(LOCATION_STEPS)),
        early=Stage(EARLY, steps, growing(early_steps)),
        inspections=Stage(inspections, "inspections", alike(INSPECTED)),
        tail=Stage(rest, steps, alike(tail_steps)),
        check=Stage(CHECK, "check of the law"),
    )
    return Plan(mu, False, stages)


def after_columns(plan: Plan) -> float:
    """mu of all that follows the columns."""
    return math.sqrt(max(plan.total**2 - plan.cost("columns") ** 2, 0.0))

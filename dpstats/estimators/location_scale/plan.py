"""How a fit spends its budget, and in how many steps: public before any row is read.

See docs/theory/survival.md#releases-and-shares.
"""

from __future__ import annotations

import math

from dpstats.estimators.engine.plan import Plan, Stage, alike, growing

# Shares of mu^2; they add up to 1.
COLUMNS, MATRIX, LOCATION, EARLY, TAIL, CHECK = 0.09, 0.10, 0.015, 0.135, 0.61, 0.05
EARLY_STEPS, TAIL_STEPS, LOCATION_STEPS = 10, 8, 4


def make_plan(mu: float, early_steps: int = EARLY_STEPS, tail_steps: int = TAIL_STEPS) -> Plan:
    """Split a total of Gaussian differential privacy over the releases of a fit.

    Parameters
    ----------
    mu : float
        Total, positive.
    early_steps, tail_steps : int
        See :class:`dpstats.estimators.engine.plan.Stage`.
    """
    steps = "score and information"
    stages = dict(
        columns=Stage(COLUMNS, "columns"),
        matrix=Stage(MATRIX, "event matrix"),
        location=Stage(LOCATION, "location score", alike(LOCATION_STEPS)),
        early=Stage(EARLY, steps, growing(early_steps)),
        tail=Stage(TAIL, steps, alike(tail_steps)),
        check=Stage(CHECK, "check of the law"),
    )
    return Plan(mu, False, stages)


def after_columns(plan: Plan) -> float:
    """mu of all that follows the columns."""
    return math.sqrt(max(plan.total**2 - plan.cost("columns") ** 2, 0.0))

"""How a fit by the signs of residuals spends what is left after the columns.

See docs/theory/survival.md#slopes-by-the-signs-of-residuals.
"""

from __future__ import annotations

import math

from dpstats.estimators.engine.plan import EARLY_STEPS, TAIL_STEPS, Plan, Stage, alike

# Shares of what is left of mu^2; the last steps get what these leave.
START, EARLY, SIZES, CHECK = 0.02, 0.38, 0.01, 0.02
# The event matrix tells of few covariates how they are correlated, and nothing of one or many: its share is
# this over their number, between these.
_SHAPE, _LEAST_SHAPE, _MOST_SHAPE = 0.4, 0.02, 0.1
START_STEPS, LEVEL_STEPS = 3, 4
# of the last steps' share, slopes get this times sqrt k of what intercept and log sigma get: their noise is
# then about the same in sampling sds
_SLOPES = 0.55
# of what intercept and log sigma so get, the part that follows the slopes; the rest waits for their average
_EARLY_LEVEL, _FOLLOWING = 0.5, 0.3


def make_sign_plan(mu: float, k: int) -> Plan:
    """Split a total of Gaussian differential privacy over the releases of a fit of k coefficients."""
    shape = max(_LEAST_SHAPE, min(_MOST_SHAPE, _SHAPE / (k - 1))) if k > 2 else _LEAST_SHAPE
    last = 1 - shape - START - EARLY - SIZES - CHECK
    level = 1 / (1 + _SLOPES * math.sqrt(k))
    following, waiting = level * _FOLLOWING, level * (1 - _FOLLOWING)
    slopes, both = "signs of residuals", "score and information of intercept and log sigma"
    stages = dict(
        shape=Stage(shape, "event matrix"),
        start=Stage(START, both, alike(START_STEPS)),
        early=Stage(EARLY * (1 - level * _EARLY_LEVEL), slopes, alike(EARLY_STEPS)),
        early_level=Stage(EARLY * level * _EARLY_LEVEL, both, alike(EARLY_STEPS)),
        sizes=Stage(SIZES, slopes),
        last=Stage(last * (1 - level), slopes, alike(TAIL_STEPS)),
        last_level=Stage(last * following, both, alike(TAIL_STEPS)),
        level=Stage(last * waiting, both, alike(LEVEL_STEPS)),
        check=Stage(CHECK, "check of the law"),
    )
    return Plan(mu, False, stages)

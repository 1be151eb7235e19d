"""How a fit by the signs of residuals spends what is left after the columns.

See docs/theory/survival.md#slopes-by-the-signs-of-residuals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpstats.estimators.steps import equal_costs

# Shares of what is left of mu^2; the last steps get what these leave.
START, EARLY, SIZES, CHECK = 0.02, 0.38, 0.01, 0.02
# The event matrix tells of few covariates how they are correlated, and nothing of one or many: its share is
# this over their number, between these.
_SHAPE, _LEAST_SHAPE, _MOST_SHAPE = 0.4, 0.02, 0.1
START_STEPS, EARLY_STEPS, LAST_STEPS, LEVEL_STEPS = 3, 8, 8, 4
# of the last steps' share, slopes get this times sqrt k of what intercept and log sigma get: their noise is
# then about the same in sampling sds
_SLOPES = 0.55
# of what intercept and log sigma so get, the part that follows the slopes; the rest waits for their average
_EARLY_LEVEL, _FOLLOWING = 0.5, 0.3


@dataclass(frozen=True)
class SignPlan:
    """Cost, in mu, of each release, in order; the squares add up to that of the total.

    Attributes
    ----------
    shape, sizes, check : float
        Of the event matrix, of the sizes of the information, and of the check of the error law.
    start, level : tuple of float
        Of intercept and log sigma, before the slopes and after them.
    early, last : tuple of (float, float)
        Of the slopes, and of intercept and log sigma, at each step.
    """

    shape: float
    start: tuple[float, ...]
    early: tuple[tuple[float, float], ...]
    sizes: float
    last: tuple[tuple[float, float], ...]
    level: tuple[float, ...]
    check: float


def make_sign_plan(mu: float, k: int) -> SignPlan:
    """Split a total of Gaussian differential privacy over the releases of a fit of k coefficients."""
    shape = max(_LEAST_SHAPE, min(_MOST_SHAPE, _SHAPE / (k - 1))) if k > 2 else _LEAST_SHAPE
    last = 1 - shape - START - EARLY - SIZES - CHECK
    level = 1 / (1 + _SLOPES * math.sqrt(k))
    following, waiting = level * _FOLLOWING, level * (1 - _FOLLOWING)
    early = (EARLY * (1 - level * _EARLY_LEVEL), EARLY * level * _EARLY_LEVEL)
    return SignPlan(
        shape=mu * math.sqrt(shape),
        start=equal_costs(mu, START, START_STEPS),
        early=_pairs(mu, early, EARLY_STEPS),
        sizes=mu * math.sqrt(SIZES),
        last=_pairs(mu, (last * (1 - level), last * following), LAST_STEPS),
        level=equal_costs(mu, last * waiting, LEVEL_STEPS),
        check=mu * math.sqrt(CHECK),
    )


def _pairs(mu: float, shares: tuple[float, float], count: int) -> tuple[tuple[float, float], ...]:
    first, second = (equal_costs(mu, share, count) for share in shares)
    return tuple(zip(first, second, strict=True))

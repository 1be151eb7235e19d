"""How a fit by the signs of residuals spends what is left after the event moments."""

from __future__ import annotations

import math
from dataclasses import dataclass

# Shares of what is left of mu^2; they add up to 1. The averaged steps share theirs between slopes and level.
SHAPE, START, EARLY, SIZES, FINAL, CHECK = 0.05, 0.02, 0.36, 0.02, 0.52, 0.03
_TRACK=.15
_LEVEL=4
START_STEPS, EARLY_STEPS, AVERAGED_STEPS = 3, 7, 8
# of an early step, what intercept and log sigma get
_EARLY_LEVEL = 0.12
# of an averaged step, slopes get this times sqrt k of what intercept and log sigma do: with it, noise is about
# the same in sampling sds
_SLOPES = 0.43


@dataclass(frozen=True)
class SignsPlan:
    """Cost, in mu, of each release, in order; the squares add up to that of the total.

    Attributes
    ----------
    shape, sizes, check : float
        Of the event matrix, of the sizes of the information, and of the check of the error law.
    start : tuple of float
        Of intercept and log sigma, before the slopes.
    early, averaged : tuple of (float, float)
        Of slopes, and of intercept and log sigma, at each step.
    """

    shape: float
    start: tuple[float, ...]
    early: tuple[tuple[float, float], ...]
    sizes: float
    averaged: tuple[tuple[float, float], ...]
    level: tuple[float, ...]
    check: float


def make_signs_plan(mu: float, k: int) -> SignsPlan:
    """Split a total of Gaussian differential privacy over the releases of a fit of k location coefficients."""
    level = 1 / (1 + _SLOPES * math.sqrt(k))
    return SignsPlan(
        shape=mu * math.sqrt(SHAPE),
        start=(mu * math.sqrt(START / START_STEPS),) * START_STEPS,
        early=_steps(mu, EARLY, EARLY_STEPS, _EARLY_LEVEL),
        sizes=mu * math.sqrt(SIZES),
        averaged=_steps(mu, FINAL * (1 - level * (1 - _TRACK)), AVERAGED_STEPS, level * _TRACK / (1 - level * (1 - _TRACK))),
        level=(mu * math.sqrt(FINAL * level * (1 - _TRACK) / _LEVEL),) * _LEVEL,
        check=mu * math.sqrt(CHECK),
    )


def _steps(mu: float, share: float, count: int, level: float) -> tuple[tuple[float, float], ...]:
    return ((mu * math.sqrt(share / count * (1 - level)), mu * math.sqrt(share / count * level)),) * count

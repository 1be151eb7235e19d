"""How far responses lie from what a fit predicts: sigma of the error, R-squared, dispersion of a GLM."""

from __future__ import annotations

import math

import numpy as np

from dpstats.moments.linear import Quantity
from dpstats.results.intervals import Estimate, critical


def rsquared(found: Quantity, level: float = 0.95) -> Estimate:
    """Return R-squared, with an interval on the scale of log(1 - R-squared), kept inside [0, 1]."""
    low, high = (1 - left for left in _log_limits(1 - found.value, found.se, level)[::-1])
    value = min(max(found.value, 0.0), 1.0)
    low, high = max(min(low, value), 0.0), min(max(high, value), 1.0)  # 1 - (1 - x) may miss x by a bit
    return Estimate("R-squared", value, found.se, low, high, level, _share(found))


def positive(name: str, found: Quantity, level: float = 0.95) -> Estimate:
    """Return a positive quantity, with an interval on the log scale."""
    low, high = _log_limits(found.value, found.se, level)
    return Estimate(name, found.value, found.se, low, high, level, _share(found))


def root(found: Quantity) -> Quantity:
    """Return the square root, errors by the delta method; not estimable where it is 0."""
    root = math.sqrt(found.value)
    slope = 0.5 / root if root > 0 else math.inf
    return Quantity(root, *(slope * se if se > 0 else 0.0 for se in found[1:]))


def _log_limits(value: float, se: float, level: float) -> tuple[float, float]:
    """Return limits of a positive number from the log scale; of 0, for which there is none, from its own."""
    half = critical(level) * se
    if not value > 0:
        return 0.0, max(value + half, 0.0)
    with np.errstate(over="ignore"):
        factor = float(np.exp(half / value))
    return value / factor, value * factor


def _share(found: Quantity) -> float:
    usable = math.isfinite(found.se) and found.se > 0
    return (found.se_privacy / found.se) ** 2 if usable else math.nan

"""What clipping takes of the variance of residuals, told from the kurtosis of what is left."""

from __future__ import annotations

import functools
import math

from scipy import integrate, special

__all__ = ["tail_rate"]


def tail_rate(limit: float) -> tuple[float, float]:
    """Loss of variance per unit of kurtosis, and the kurtosis of clipped normal residuals.

    Parameters
    ----------
    limit : float
        Where residuals are clipped, in units of their sd after clipping.

    Returns
    -------
    rate : float
        Of exponential errors: the share of variance that clipping takes, relative to what it leaves, divided
        by how far the kurtosis of what is left exceeds that of clipped normal errors.
    normal : float
        The latter.
    """
    return _tail_rate(round(min(max(limit, 1.5), 12.0), 2))


@functools.lru_cache(maxsize=256)
def _tail_rate(limit: float) -> tuple[float, float]:
    tail = float(special.ndtr(-limit))
    density = math.exp(-(limit**2) / 2) / math.sqrt(2 * math.pi)
    # integrals of z^2 and z^4 within the limit, and the limit's own power beyond
    second = 1 - 2 * tail - 2 * limit * density + 2 * tail * limit**2
    fourth = 3 * (1 - 2 * tail) - 2 * density * (limit**3 + 3 * limit) + 2 * tail * limit**4
    normal = fourth / second**2
    left_second, left_fourth = (_clipped_exponential(limit, power) for power in (2, 4))
    excess = left_fourth / left_second**2 - normal
    return (1 - left_second) / left_second / excess, normal


def _clipped_exponential(limit: float, power: int) -> float:
    """E min(|e|, limit)^power of e = an exponential variable less its mean, whose variance is 1."""
    inside, _ = integrate.quad(lambda e: abs(e) ** power * math.exp(-e - 1), -1.0, limit)
    return float(inside + limit**power * math.exp(-limit - 1))

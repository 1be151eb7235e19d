"""The deterministic delta method: functions of the coefficients with standard errors and intervals.

Intervals are built on a scale where the range is unbounded and then transformed
(docs/theory/intervals.md#scales), so that times and ratios stay positive and probabilities stay inside
[0, 1]. Nothing is simulated: the same fit always prints the same interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpstats._arguments import shown
from dpstats.errors import SpecificationError
from dpstats.results.format import bracket, figures, level_percent

LEAST_LEVEL = 0.5  # an interval that more likely misses is no one's wish, but an alpha by mistake


def critical(level: float) -> float:
    """Return the normal quantile of a two-sided interval.

    Raises
    ------
    SpecificationError
        As `check_level`.
    """
    check_level(level)
    return float(special.ndtri(0.5 + level / 2))


def check_level(level: object) -> None:
    """Refuse what is no confidence level.

    Raises
    ------
    SpecificationError
        Unless `level` is a number strictly between 0 and 1.
    """
    if not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise SpecificationError(f"level must be between 0 and 1, e.g. level=0.95; got {shown(level)}")


def refuse_alpha(level: float) -> None:
    """Refuse an alpha of statsmodels, which is 1 less the level, in the place of the level.

    Raises
    ------
    SpecificationError
        If `level` is below 0.5, and as `check_level`.
    """
    check_level(level)
    if level < LEAST_LEVEL:
        raise SpecificationError(
            f"level is the confidence of an interval, e.g. level=0.95, and at least {LEAST_LEVEL}; got "
            f"{shown(level)}. An alpha, such as statsmodels takes, is 1 - level"
        )


def level_of(alpha: float | None, level: float) -> float:
    """Return the level that is asked for by `level`, or by statsmodels' `alpha`, where that is given.

    Raises
    ------
    SpecificationError
        If `alpha` is not strictly between 0 and 1.
    """
    if alpha is None:
        return level
    if not isinstance(alpha, int | float | np.number) or not 0 < alpha < 1:
        raise SpecificationError(f"alpha must be between 0 and 1, or use level=0.95; got {shown(alpha)}")
    return alpha if alpha >= LEAST_LEVEL else 1 - alpha


def standard_errors(gradient: np.ndarray, cov: np.ndarray) -> np.ndarray:
    """Return sqrt(g' cov g) for each row g of `gradient`.

    A coefficient with infinite variance makes every quantity that depends on it not estimable (infinite),
    and leaves the others alone.

    Parameters
    ----------
    gradient : array, shape (m, k)
    cov : array, shape (k, k)
        With covariances of zero beside an infinite variance, as in `Record`.

    Returns
    -------
    array, shape (m,)
    """
    lost = np.isinf(np.diagonal(cov))
    known = np.where(np.isinf(cov), 0.0, cov)
    variance = np.einsum("mi,ij,mj->m", gradient, known, gradient)
    se = np.sqrt(np.maximum(variance, 0.0))
    return np.where((gradient[:, lost] != 0).any(axis=1), np.inf, se)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number computed from a fit, with its interval.

    Attributes
    ----------
    name : str
    estimate, std_error, conf_low, conf_high, level : float
        `std_error` is on the scale of the estimate; the interval need not be symmetric about it.
    privacy_share : float
        Share of the variance due to privacy noise, where it is reported; else NaN.
    """

    name: str
    estimate: float
    std_error: float
    conf_low: float
    conf_high: float
    level: float = 0.95
    privacy_share: float = math.nan

    def __float__(self) -> float:
        return self.estimate

    def __repr__(self) -> str:
        if math.isinf(self.std_error):
            return f"{self.name}: not estimable at this budget"
        limits = bracket(self.conf_low, self.conf_high)
        return f"{self.name} {figures(self.estimate)} {limits} ({level_percent(self.level)} interval)"


Transform = Callable[[np.ndarray], np.ndarray]


def transformed(
    centre: np.ndarray, se: np.ndarray, level: float, back: Transform
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return estimate, lower and upper limit of back(centre), for a monotone `back`.

    Limits that overflow are infinite: an interval may say that nothing is known.
    """
    half = critical(level) * se
    middle = np.where(np.isinf(half), 0.0, centre)  # the whole line, also where the centre is infinite
    with np.errstate(over="ignore"):
        estimate, one, other = back(centre), back(middle - half), back(middle + half)
    return estimate, np.minimum(one, other), np.maximum(one, other)


def log_estimate(
    name: str, log_value: float, se: float, level: float, privacy_share: float = math.nan
) -> Estimate:
    """Return exp(log_value) with an interval on the log scale."""
    value, low, high = transformed(np.array(log_value), np.array(se), level, np.exp)
    std_error = float(value) * se if math.isfinite(se) else math.inf
    return Estimate(name, float(value), std_error, float(low), float(high), level, privacy_share)

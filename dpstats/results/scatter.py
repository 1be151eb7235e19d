"""How far responses lie from what a fit predicts: sigma of the error, R-squared, dispersion of a GLM."""

from __future__ import annotations

import math

import numpy as np

from dpstats.moments.linear import Quantity
from dpstats.results.base import Released
from dpstats.results.inference import bse, privacy_share
from dpstats.results.intervals import Estimate, critical, log_estimate
from dpstats.results.notreleased import missing, refusal
from dpstats.results.record import Record


def sigma(record: Record, level: float = 0.95) -> Estimate:
    """Return the scale of the error with an interval on the log scale.

    Raises
    ------
    NotReleased
        If the fit released nothing that tells it.
    """
    if record.linear is not None:
        return _positive("sigma", record.linear.sigma(), level)
    if record.is_survival:
        log_sigma, se = float(record.params[-1]), float(bse(record)[-1])
        return log_estimate("sigma", log_sigma, se, level, float(privacy_share(record)[-1]))
    if record.dispersion is not None and record.dist == "gaussian":
        return _positive("sigma", _root(record.dispersion), level)
    raise refusal(
        "sigma", f"was not released by this {record.model} fit", "dps.ols and dps.survreg release it."
    )


def dispersion(record: Record, level: float = 0.95) -> Estimate:
    """Return phi of Var(y) = phi V(mean), with an interval on the log scale.

    Raises
    ------
    NotReleased
        If the fit did not release it.
    """
    if record.dispersion is None:
        raise refusal(
            "dispersion",
            f"was not released by this {record.model} fit ({record.dist})",
            "dps.glm with family 'gamma' or 'poisson' releases it; that of a binomial family is 1.",
        )
    return _positive("phi", record.dispersion, level)


def rsquared(record: Record, level: float = 0.95) -> Estimate:
    """Return R-squared, with an interval on the scale of log(1 - R-squared), kept inside [0, 1].

    Raises
    ------
    NotReleased
        For other than linear fits.
    """
    if record.linear is None:
        raise missing("rsquared", "Fit")
    found = record.linear.rsquared()
    low, high = (1 - left for left in _log_limits(1 - found.value, found.se, level)[::-1])
    value = min(max(found.value, 0.0), 1.0)
    low, high = max(min(low, value), 0.0), min(max(high, value), 1.0)  # 1 - (1 - x) may miss x by a bit
    return Estimate("R-squared", value, found.se, low, high, level, _share(found))


def residual_sd(record: Record) -> float | None:
    """Return the sd of responses about the estimated means, where errors are taken as normal; else None.

    None also where rows have weights: the spread of a new response depends on a weight it does not have.
    """
    if record.weights is not None:
        return None
    if record.dispersion is not None and record.dist == "gaussian":
        return _root(record.dispersion).value
    if record.linear is None:
        return None
    return record.linear.residual_sd(record.alpha or 0.0)


def _positive(name: str, found: Quantity, level: float) -> Estimate:
    low, high = _log_limits(found.value, found.se, level)
    return Estimate(name, found.value, found.se, low, high, level, _share(found))


def _root(found: Quantity) -> Quantity:
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


class Scatter(Released):
    """Sigma, R-squared and dispersion, where they were released."""

    __slots__ = ()

    @property
    def sigma(self) -> Estimate:
        """Scale of the error (of log time for a Weibull); 95 % interval on the log scale."""
        return sigma(self.record)

    @property
    def rsquared(self) -> Estimate:
        """R-squared of a linear fit without penalty; 95 % interval on the scale of log(1 - R-squared)."""
        return rsquared(self.record)

    @property
    def dispersion(self) -> Estimate:
        """Dispersion phi of a GLM, statsmodels' ``scale``; 95 % interval on the log scale."""
        return dispersion(self.record)

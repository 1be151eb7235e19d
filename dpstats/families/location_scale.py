"""Location-scale families: y = location + sigma * W, one record of the standard variable W for each.

A record holds functions of the standard variable only (R survival's ``survreg.distributions``), so that
likelihoods, quantiles and intervals of every model follow from it (spec/results.md 3.2, spec/survreg.md C3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

Function = Callable[[ArrayLike], np.ndarray]


@dataclass(frozen=True, slots=True)
class Family:
    """The standard variable W of a location-scale family, as functions.

    Attributes
    ----------
    name : str
        ``"sev"`` (smallest extreme value) or ``"logistic"``.
    title : str
        How tables call it: ``"SEV"`` or ``"logistic"``.
    cdf, sf : callable
        P(W <= z) and P(W > z).
    quantile : callable
        Inverse of ``cdf``; p is the failed fraction.
    log_hazard, log_hazard_slope : callable
        Logarithm of the hazard of W at z, and its derivative.
    log_cumulative_hazard : callable
        log(-log P(W > z)), which neither overflows nor cancels.
    mean : float
        E[W].
    mean_factor, log_mean_factor_slope : callable
        E[exp(sigma W)], infinite where the mean does not exist, and the derivative of its logarithm
        with respect to sigma.
    interval_scale : str
        The scale of reliability that is a function of z alone; intervals of R(t) are named after it.
    """

    name: str
    title: str
    cdf: Function
    sf: Function
    quantile: Function
    log_hazard: Function
    log_hazard_slope: Function
    log_cumulative_hazard: Function
    mean: float
    mean_factor: Function
    log_mean_factor_slope: Function
    interval_scale: str

    def hazard(self, z: ArrayLike) -> np.ndarray:
        """Return the hazard of W at z."""
        return np.exp(self.log_hazard(z))


def _logistic_mean_factor(sigma: ArrayLike) -> np.ndarray:
    """pi sigma / sin(pi sigma) = Gamma(1 + sigma) Gamma(1 - sigma); infinite from sigma = 1 on."""
    s = np.asarray(sigma, dtype=float)
    inside = np.where(s < 1, s, 0.5)
    return np.where(s < 1, special.gamma(1 + inside) * special.gamma(1 - inside), np.inf)


def _logistic_mean_slope(sigma: ArrayLike) -> np.ndarray:
    s = np.asarray(sigma, dtype=float)
    inside = np.where(s < 1, s, 0.5)
    return np.where(s < 1, special.digamma(1 + inside) - special.digamma(1 - inside), np.nan)


def _log_softplus(z: ArrayLike) -> np.ndarray:
    """log(log(1 + e^z)), which is z itself where e^z is below the rounding of 1."""
    s = np.asarray(z, dtype=float)
    return np.where(s < -37, s, np.log(np.logaddexp(0, np.maximum(s, -37))))


SEV = Family(
    name="sev",
    title="SEV",
    cdf=lambda z: -np.expm1(-np.exp(z)),
    sf=lambda z: np.exp(-np.exp(z)),
    quantile=lambda p: np.log(-np.log1p(-np.asarray(p, dtype=float))),
    log_hazard=lambda z: np.asarray(z, dtype=float),
    log_hazard_slope=lambda z: np.ones_like(np.asarray(z, dtype=float)),
    log_cumulative_hazard=lambda z: np.asarray(z, dtype=float),
    mean=-float(np.euler_gamma),
    mean_factor=lambda sigma: special.gamma(1 + np.asarray(sigma, dtype=float)),
    log_mean_factor_slope=lambda sigma: special.digamma(1 + np.asarray(sigma, dtype=float)),
    interval_scale="cloglog",
)

LOGISTIC = Family(
    name="logistic",
    title="logistic",
    cdf=lambda z: special.expit(np.asarray(z, dtype=float)),
    sf=lambda z: special.expit(-np.asarray(z, dtype=float)),
    quantile=lambda p: special.logit(np.asarray(p, dtype=float)),
    log_hazard=lambda z: special.log_expit(np.asarray(z, dtype=float)),
    log_hazard_slope=lambda z: special.expit(-np.asarray(z, dtype=float)),
    log_cumulative_hazard=_log_softplus,
    mean=0.0,
    mean_factor=_logistic_mean_factor,
    log_mean_factor_slope=_logistic_mean_slope,
    interval_scale="logit",
)


@dataclass(frozen=True, slots=True)
class Dist:
    """A distribution of the response: a family, of the response itself or of its logarithm."""

    name: str
    title: str
    family: Family
    log: bool


DISTS = {
    dist.name: dist
    for dist in (
        Dist("weibull", "Weibull", SEV, log=True),
        Dist("loglogistic", "Log-logistic", LOGISTIC, log=True),
        Dist("sev", "Smallest-extreme-value", SEV, log=False),
        Dist("logistic", "Logistic", LOGISTIC, log=False),
    )
}

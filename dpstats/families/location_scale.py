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
    hazard, log_hazard_slope : callable
        The hazard of W at z, and the derivative of its logarithm.
    cumulative_hazard : callable
        -log P(W > z), without cancellation for small hazards.
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
    hazard: Function
    log_hazard_slope: Function
    cumulative_hazard: Function
    mean: float
    mean_factor: Function
    log_mean_factor_slope: Function
    interval_scale: str


def _logistic_mean_factor(sigma: ArrayLike) -> np.ndarray:
    """pi sigma / sin(pi sigma) = Gamma(1 + sigma) Gamma(1 - sigma); infinite from sigma = 1 on."""
    s = np.asarray(sigma, dtype=float)
    inside = np.where(s < 1, s, 0.5)
    return np.where(s < 1, special.gamma(1 + inside) * special.gamma(1 - inside), np.inf)


def _logistic_mean_slope(sigma: ArrayLike) -> np.ndarray:
    s = np.asarray(sigma, dtype=float)
    inside = np.where(s < 1, s, 0.5)
    return np.where(s < 1, special.digamma(1 + inside) - special.digamma(1 - inside), np.nan)


SEV = Family(
    name="sev",
    title="SEV",
    cdf=lambda z: -np.expm1(-np.exp(z)),
    sf=lambda z: np.exp(-np.exp(z)),
    quantile=lambda p: np.log(-np.log1p(-np.asarray(p, dtype=float))),
    hazard=lambda z: np.exp(z),
    log_hazard_slope=lambda z: np.ones_like(np.asarray(z, dtype=float)),
    cumulative_hazard=lambda z: np.exp(z),
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
    hazard=lambda z: special.expit(np.asarray(z, dtype=float)),
    log_hazard_slope=lambda z: special.expit(-np.asarray(z, dtype=float)),
    cumulative_hazard=lambda z: np.logaddexp(0, z),
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

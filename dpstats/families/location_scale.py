"""Location-scale families: y = location + sigma * W, one record of the standard variable W for each.

A record holds functions of the standard variable only (R survival's ``survreg.distributions``), so that
likelihoods, quantiles and intervals of every model follow from it (docs/theory/survival.md).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpstats.families.tapers import LogisticTaper, NormalTaper, SEVTaper, Taper

Function = Callable[[ArrayLike], np.ndarray]
_EARLY, _LATE = -100.0, 3.0  # z before every failure, and after most


class CutRates(NamedTuple):
    """What cutting at a cumulative hazard c costs, for the choice of c; wrong ones cost efficiency alone.

    Attributes
    ----------
    bias : float
        The bias that is assumed falls as exp(-c / bias).
    loss, size : float
        The information on the location that is lost is size * f * exp(-loss * c) of it, where a fraction f of
        rows fails.
    """

    bias: float
    loss: float
    size: float


@dataclass(frozen=True, slots=True)
class Family:
    """The standard variable W of a location-scale family, as functions.

    Attributes
    ----------
    name : str
        Such as ``"sev"`` (smallest extreme value).
    title : str
        How tables call it, such as ``"normal"``.
    cdf, sf : callable
        P(W <= z) and P(W > z).
    quantile : callable
        Inverse of ``cdf``; p is the failed fraction.
    log_hazard, log_hazard_slope : callable
        Logarithm of the hazard of W at z, and its derivative.
    log_cumulative_hazard : callable
        log(-log P(W > z)), which neither overflows nor cancels.
    mean, sd, skewness, kurtosis : float
        Of W; the kurtosis is that in excess of a normal one.
    curvature : float
        Minus the second derivative of the log density of W at 0, where the first is 0.
    mean_factor, log_mean_factor_slope : callable
        E[exp(sigma W)], infinite where the mean does not exist, and the derivative of its logarithm
        with respect to sigma.
    interval_scale : str
        The scale of reliability that is a function of z alone; intervals of R(t) are named after it.
    taper : callable
        The :class:`~dpstats.families.tapers.Taper` of (c, floor); h1*, the slope of the log hazard, must be
        positive and never rise.
    cut : CutRates
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
    sd: float
    skewness: float
    kurtosis: float
    curvature: float
    mean_factor: Function
    log_mean_factor_slope: Function
    interval_scale: str
    taper: Callable[[float, float], Taper]
    cut: CutRates

    def hazard(self, z: ArrayLike) -> np.ndarray:
        """Return the hazard of W at z."""
        return np.exp(self.log_hazard(z))

    def cumulative_hazard(self, z: ArrayLike) -> np.ndarray:
        """Return -log P(W > z), no larger than a float can be."""
        return _exp(self.log_cumulative_hazard(z))

    @property
    def bounded(self) -> bool:
        """Whether h1* is at most 1: early failures then are as frequent as an exponential law has them."""
        return bool(self.log_hazard_slope(_EARLY) <= 1)

    @property
    def proportional(self) -> bool:
        """Whether h1* is the same everywhere: hazards of rows whose locations differ are proportional."""
        return bool(self.log_hazard_slope(_EARLY) == self.log_hazard_slope(_LATE))


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


def _normal_log_hazard(z: ArrayLike) -> np.ndarray:
    """log(phi(z) / (1 - Phi(z))), by erfcx above 0, where its two parts would cancel."""
    s = np.asarray(z, dtype=float)
    above = 0.5 * np.log(2 / np.pi) - np.log(special.erfcx(np.maximum(s, 0) / np.sqrt(2)))
    below = np.minimum(s, 0)
    return np.where(s > 0, above, -(below**2) / 2 - 0.5 * np.log(2 * np.pi) - special.log_ndtr(-below))


def _normal_log_hazard_slope(z: ArrayLike) -> np.ndarray:
    """hazard - z, by its series where nothing is left of the difference."""
    s = np.asarray(z, dtype=float)
    near, far = np.minimum(s, 100.0), np.maximum(s, 100.0)
    return np.where(s > 100, (1 - 2 / far**2) / far, np.exp(_normal_log_hazard(near)) - near)


def _normal_log_cumulative_hazard(z: ArrayLike) -> np.ndarray:
    """log(-log Phi(-z)), which far below 0 is log Phi(z) + Phi(z) / 2."""
    s = np.asarray(z, dtype=float)
    near, far = np.maximum(s, -6), np.minimum(s, -6)
    return np.where(s < -6, special.log_ndtr(far) + special.ndtr(far) / 2, np.log(-special.log_ndtr(-near)))


def _lognormal_mean_factor(sigma: ArrayLike) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.exp(np.asarray(sigma, dtype=float) ** 2 / 2)


def _exp(z: ArrayLike) -> np.ndarray:
    """e^z, no larger than a float can be."""
    return np.exp(np.minimum(z, 700.0))


SEV = Family(
    name="sev",
    title="SEV",
    cdf=lambda z: -np.expm1(-_exp(z)),
    sf=lambda z: np.exp(-_exp(z)),
    quantile=lambda p: np.log(-np.log1p(-np.asarray(p, dtype=float))),
    log_hazard=lambda z: np.asarray(z, dtype=float),
    log_hazard_slope=lambda z: np.ones_like(np.asarray(z, dtype=float)),
    log_cumulative_hazard=lambda z: np.asarray(z, dtype=float),
    mean=-float(np.euler_gamma),
    sd=math.pi / math.sqrt(6),
    skewness=-1.1395470994046486,  # -12 sqrt6 zeta(3) / pi^3
    kurtosis=2.4,
    curvature=1.0,
    mean_factor=lambda sigma: special.gamma(1 + np.asarray(sigma, dtype=float)),
    log_mean_factor_slope=lambda sigma: special.digamma(1 + np.asarray(sigma, dtype=float)),
    interval_scale="cloglog",
    taper=SEVTaper,
    cut=CutRates(bias=1.6, loss=1.0, size=0.8),
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
    sd=math.pi / math.sqrt(3),
    skewness=0.0,
    kurtosis=1.2,
    curvature=0.5,
    mean_factor=_logistic_mean_factor,
    log_mean_factor_slope=_logistic_mean_slope,
    interval_scale="logit",
    taper=LogisticTaper,
    cut=CutRates(bias=0.8, loss=2.0, size=0.8),
)

NORMAL = Family(
    name="gaussian",
    title="normal",
    cdf=lambda z: special.ndtr(np.asarray(z, dtype=float)),
    sf=lambda z: special.ndtr(-np.asarray(z, dtype=float)),
    quantile=lambda p: special.ndtri(np.asarray(p, dtype=float)),
    log_hazard=_normal_log_hazard,
    log_hazard_slope=_normal_log_hazard_slope,
    log_cumulative_hazard=_normal_log_cumulative_hazard,
    mean=0.0,
    sd=1.0,
    skewness=0.0,
    kurtosis=0.0,
    curvature=1.0,
    mean_factor=_lognormal_mean_factor,
    log_mean_factor_slope=lambda sigma: np.asarray(sigma, dtype=float),
    interval_scale="probit",
    taper=NormalTaper,
    cut=CutRates(bias=1.2, loss=0.95, size=0.3),
)


@dataclass(frozen=True, slots=True)
class Dist:
    """A distribution of the response: a family, of the response itself or of its logarithm.

    Attributes
    ----------
    name, title : str
    family : Family
    log : bool
        Whether the family is that of the logarithm.
    shaped : bool
        Whether 1 / sigma is what engineers call the shape; that of a log-normal is sigma itself.
    scale : float, optional
        Sigma, where the distribution has no other: 1 of the exponential.
    aka : tuple of str
        Its names in R and SciPy, in small letters.
    remark : str
        What is said to who writes one of them, where there is more to say than its name here.
    """

    name: str
    title: str
    family: Family
    log: bool
    shaped: bool = False
    scale: float | None = None
    aka: tuple[str, ...] = ()
    remark: str = ""


DISTS = {
    dist.name: dist
    for dist in (
        Dist("weibull", "Weibull", SEV, log=True, shaped=True),
        Dist("exponential", "exponential", SEV, log=True, scale=1.0, aka=("exp", "expon")),
        Dist(
            "loglogistic",
            "log-logistic",
            LOGISTIC,
            log=True,
            shaped=True,
            aka=("llogis", "log-logistic", "log_logistic"),
        ),
        Dist("lognormal", "log-normal", NORMAL, log=True, aka=("lnorm", "log-normal", "log_normal")),
        Dist(
            "sev",
            "smallest-extreme-value",
            SEV,
            log=False,
            aka=("extreme", "gumbel", "gumbel_l", "gumbel_r"),
            remark="that of least values, scipy's gumbel_l, is 'sev', and of greatest, gumbel_r, 'sev' of -y",
        ),
        Dist("logistic", "logistic", LOGISTIC, log=False),
        Dist("gaussian", "Gaussian", NORMAL, log=False, aka=("norm", "normal")),
    )
}

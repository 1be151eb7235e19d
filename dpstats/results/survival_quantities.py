"""Survival quantities as functions of (coefficients, log sigma), each with its gradient for the delta method.

Notation: b the location coefficients, s = log sigma the coefficient after them, that of the point's stratum
where each has its own, z = (y - x'b) / sigma, where y is log t for distributions of log time and t otherwise,
and x'b includes the offset. Every function takes N
points and N values, and returns a centre of shape (N,) with its gradient of shape (N, k).
"""

from __future__ import annotations

import numpy as np

from dpstats.families import DISTS, Dist
from dpstats.results.newdata import Points
from dpstats.results.prediction import linear_predictor
from dpstats.results.record import Record

Linear = tuple[np.ndarray, np.ndarray]

_NOTHING = 2.0**-50  # a quantile below is 0 but for rounding, as that of eta, and sigma has no part in it


def dist_of(record: Record) -> Dist:
    """Return the distribution of a survival fit."""
    return DISTS[record.dist]


def sigma_at(record: Record, at: Points) -> np.ndarray:
    """Return sigma = exp(Log(scale)) of each point, that of its stratum."""
    return np.exp(record.params[_own(record, at)])


def _own(record: Record, at: Points) -> np.ndarray:
    """Return which coefficient is the log sigma of each point."""
    return record.n_location + at.stratum


def _along_log_sigma(record: Record, at: Points, gradient: np.ndarray, slope: np.ndarray | float) -> None:
    """Add to a gradient, shape (N, k), what moves with the log sigma of each point."""
    gradient[np.arange(len(gradient)), _own(record, at)] += slope


def quantile(record: Record, at: Points, failed: np.ndarray) -> Linear:
    """Return x'b + sigma q(failed): the quantile of y."""
    centre, gradient = linear_predictor(record, at)
    q = dist_of(record).family.quantile(failed)
    q = np.where(np.abs(q) < _NOTHING, 0.0, q)
    spread = sigma_at(record, at) * q
    _along_log_sigma(record, at, gradient, spread)
    return centre + spread, gradient


def standardized(record: Record, at: Points, times: np.ndarray) -> Linear:
    """Return z at `times`; minus infinity, with certainty, at time 0 of a log-time distribution."""
    location, gradient = linear_predictor(record, at)
    sigma = sigma_at(record, at)
    with np.errstate(divide="ignore"):
        y = np.log(times) if dist_of(record).log else np.asarray(times, dtype=float)
    z = (y - location) / sigma
    gradient = -gradient / sigma[:, None]
    _along_log_sigma(record, at, gradient, -z)
    gradient[np.isinf(z)] = 0.0
    return z, gradient


def log_hazard(record: Record, at: Points, times: np.ndarray) -> Linear:
    """Return log of the hazard per unit of time: log h0(z) - s, minus log t for log-time distributions."""
    dist = dist_of(record)
    z, gradient = standardized(record, at, times)
    centre = dist.family.log_hazard(z) - np.log(sigma_at(record, at)) - (np.log(times) if dist.log else 0.0)
    gradient = gradient * dist.family.log_hazard_slope(z)[:, None]
    _along_log_sigma(record, at, gradient, -1.0)
    return centre, gradient


def log_conditional_hazard(record: Record, at: Points, age: np.ndarray, times: np.ndarray) -> Linear:
    """Return log(H(age + t) - H(age)), so that exp(-exp(.)) is the chance to survive t more."""
    family = dist_of(record).family
    young, young_gradient = standardized(record, at, age)
    old, old_gradient = standardized(record, at, age + times)
    log_young, log_old = family.log_cumulative_hazard(young), family.log_cumulative_hazard(old)
    more = age + times > age
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.where(more, log_old + np.log(-np.expm1(log_young - log_old)), -np.inf)
        rate = np.exp(family.log_hazard(old) - centre)[:, None] * old_gradient
        rate -= np.exp(family.log_hazard(young) - centre)[:, None] * young_gradient
    return centre, np.where(np.isfinite(centre)[:, None], rate, 0.0)


def mean(record: Record, at: Points) -> Linear:
    """Return log E[T] for log-time distributions, E[T] otherwise; infinite where the mean does not exist."""
    dist, sigma = dist_of(record), sigma_at(record, at)
    centre, gradient = linear_predictor(record, at)
    if not dist.log:
        _along_log_sigma(record, at, gradient, sigma * dist.family.mean)
        return centre + sigma * dist.family.mean, gradient
    factor = np.array([float(dist.family.mean_factor(each)) for each in sigma])
    slopes = [
        each * float(dist.family.log_mean_factor_slope(each)) if np.isfinite(size) else 0.0
        for each, size in zip(sigma, factor, strict=True)
    ]
    _along_log_sigma(record, at, gradient, np.array(slopes))
    return centre + np.log(factor), gradient


def log_hazard_ratio(record: Record) -> Linear:
    """Return -b / sigma for every location coefficient: log hazard ratios of a Weibull model of one sigma."""
    p, sigma = record.n_location, float(np.exp(record.params[-1]))
    centre = -record.params[:p] / sigma
    gradient = np.zeros((p, len(record.names)))
    gradient[:, :p] = -np.eye(p) / sigma
    gradient[:, -1] = -centre
    return centre, gradient

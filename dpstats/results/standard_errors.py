"""Standard errors and what follows from them alone: tests, limits and shares of privacy, for a record."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from dpstats.results.intervals import Estimate, Joint, critical, half_widths
from dpstats.results.record import Record, given


def bse(record: Record) -> np.ndarray:
    """Return standard errors, infinite where a coefficient is not estimable; shape (k,)."""
    return np.sqrt(np.diagonal(record.cov))


def privacy_share(record: Record) -> np.ndarray:
    """Return the share of each variance that is privacy noise, NaN where that is undefined; shape (k,)."""
    total, noise = np.diagonal(record.cov), np.diagonal(record.cov_privacy)
    defined = np.isfinite(total) & (total > 0)
    return np.divide(noise, total, out=np.full(len(total), np.nan), where=defined)


def z_values(record: Record) -> np.ndarray:
    """Return estimate / standard error, NaN where a coefficient is not estimable; shape (k,)."""
    se = bse(record)
    usable = np.isfinite(se) & (se > 0)
    return np.divide(record.params, se, out=np.full(len(se), np.nan), where=usable)


def limits(record: Record, level: float, joint: Joint = None) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper limits of the coefficients, each of shape (k,)."""
    half = half_widths(level, record.cov, joint, record.tails)
    return record.params - half, record.params + half


def p_values(record: Record) -> np.ndarray:
    """Return two-sided p-values, NaN where a coefficient is not estimable; shape (k,)."""
    z = z_values(record)
    if record.tails is None:
        return np.asarray(2 * special.ndtr(-np.abs(z)))
    return np.where(np.isnan(z), np.nan, record.tails.two_sided(record.params, record.cov))


def criterion(record: Record, name: str) -> Estimate:
    """Return the log-likelihood "llf", "aic" or "bic", where it was released; limits are of the noise.

    See docs/theory/intervals.md#log-likelihood.
    """
    loglik, k = given(record.loglik), record.n_estimated
    penalties = {"llf": 0.0, "aic": 2.0 * k, "bic": math.log(record.nobs or 1) * k}
    factor, penalty = 1.0 if name == "llf" else -2.0, penalties[name]
    value, sd = factor * loglik.value + penalty, abs(factor) * loglik.se
    half = critical(0.95) * sd
    return Estimate(name, value, sd, value - half, value + half, 0.95, 1.0)


def off_the_law(record: Record) -> Estimate:
    """Return the share of failures at other times than the distribution says, where it was released.

    It is that of the clearer of two contrasts, and limits allow for both.
    """
    found = given(record.law)
    half = critical(1 - 0.05 / 2) * found.se
    share = (found.se_privacy / found.se) ** 2
    return Estimate("law", found.value, found.se, found.value - half, found.value + half, 0.95, share)


def failures(record: Record) -> Estimate:
    """Return the number of failures, where it was released; limits are of the noise."""
    found = given(record.nevents)
    half = critical(0.95) * found.se
    most = math.inf if record.nobs is None else record.nobs * record.design.max_weight
    low, high = (min(max(found.value + side, 0.0), most) for side in (-half, half))
    return Estimate("nevents", found.value, found.se, low, high, 0.95, 1.0)

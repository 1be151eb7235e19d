"""The log-likelihood of a fit, where it was released, and what is made of it.

See docs/theory/intervals.md#log-likelihood.
"""

from __future__ import annotations

import math

from dpstats.results.base import Released
from dpstats.results.format import figures
from dpstats.results.intervals import Estimate, critical
from dpstats.results.notreleased import missing
from dpstats.results.record import Record

__all__ = ["Likelihood", "criterion", "sentence"]


def criterion(record: Record, name: str, factor: float, penalty: float) -> Estimate:
    """Return factor * log-likelihood + penalty; limits are of the noise.

    Raises
    ------
    NotReleased
        If the log-likelihood was not released, or the penalty needs a number of rows that is not public.
    """
    if record.loglik is None or math.isnan(penalty):
        raise missing(name, "Fit")
    value, sd = factor * record.loglik.value + penalty, abs(factor) * record.loglik.se
    half = critical(0.95) * sd
    return Estimate(name, value, sd, value - half, value + half, 0.95, 1.0)


def sentence(record: Record) -> str:
    """Return the line of a summary."""
    value, aic = (criterion(record, name, *how) for name, *how in (("llf", 1.0, 0.0), ("aic", *_aic(record))))
    return (
        f"about {value.estimate:.0f} (sd of noise {figures(value.std_error)}), AIC about {aic.estimate:.0f} "
        f"({figures(aic.std_error)}); rows clipped"
    )


def _aic(record: Record) -> tuple[float, float]:
    return -2.0, 2.0 * len(record.names)


class Likelihood(Released):
    """Log-likelihood, AIC and BIC, each with the limits of its noise."""

    __slots__ = ()

    @property
    def llf(self) -> Estimate:
        """Log-likelihood of the estimates, of log time where that is modelled; rows clipped."""
        return criterion(self.record, "llf", 1.0, 0.0)

    @property
    def aic(self) -> Estimate:
        """-2 log-likelihood + 2 coefficients."""
        return criterion(self.record, "aic", *_aic(self.record))

    @property
    def bic(self) -> Estimate:
        """-2 log-likelihood + log(rows) coefficients."""
        n = self.record.nobs
        return criterion(self.record, "bic", -2.0, math.log(n) * len(self.record.names) if n else math.nan)

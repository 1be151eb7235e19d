"""Reliability and hazard of a fitted time to failure at given times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpstats._arguments import numbers, shown
from dpstats.errors import SpecificationError
from dpstats.families import DISTS, Dist
from dpstats.results import survival_quantities as quantities
from dpstats.results import survival_tables as tables
from dpstats.results.estimates import Estimates, with_limits
from dpstats.results.fit import Fit
from dpstats.results.format import plain
from dpstats.results.newdata import NewData, Points, points


def check_times(times: float | Sequence[float], asked: str, positive: bool = False) -> np.ndarray:
    """Return `times` as an array, refusing negative ones (and 0, where the quantity has no value there)."""
    values = np.atleast_1d(numbers("times", times))
    if not values.size:
        raise SpecificationError(f"{asked} needs finite times, such as times=[100, 500]")
    allowed = (values > 0) if positive else (values >= 0)
    if values.ndim != 1 or not (allowed & np.isfinite(values)).all():
        least = "above" if positive else "of at least"
        raise SpecificationError(f"{asked} needs finite times {least} 0; got {shown(times)}")
    return values


def _ages(age: float | Sequence[float], m: int) -> np.ndarray:
    """Return one age for each of m points, refusing another number of them."""
    ages = check_times(age, "conditional_reliability: age")
    if len(ages) not in (1, m):
        raise SpecificationError(f"age must be one number, or one for each of {m} row(s); got {shown(age)}")
    return np.broadcast_to(ages, (m,))


class AtTimes(Fit):
    """Quantities of a location-scale model of time at public points and times, with intervals."""

    __slots__ = ()

    @property
    def _dist(self) -> Dist:
        return DISTS[self.record.dist]

    def _at_times(
        self, newdata: NewData | None, times: np.ndarray, asked: str, clip: bool
    ) -> tuple[Points, np.ndarray]:
        """Return each point of new data at each time."""
        at = points(self.record, newdata, asked, clip)
        return at.repeated(len(times)), np.tile(times, len(at.exog))

    def reliability(
        self,
        newdata: NewData | None = None,
        times: float | Sequence[float] = (),
        level: float = 0.95,
        *,
        clip: bool = False,
    ) -> Estimates:
        """Return R(t), the fraction that survives `times`.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        times : float or sequence of float
            In the unit of the response.
        level : float
        clip : bool
            As in `predict`.

        Returns
        -------
        Estimates
            Intervals on the scale of z, that is cloglog for Weibull and SEV, logit for log-logistic and
            logistic, probit for log-normal and Gaussian: they stay inside [0, 1].

        Examples
        --------
        >>> fit.reliability(at, times=[500, 1000]).frame["time"].tolist()
        [500.0, 1000.0]
        """
        values, family = check_times(times, "reliability"), self._dist.family
        at, asked = self._at_times(newdata, values, "reliability", clip)
        linear = quantities.standardized(self.record, at, asked)
        columns = with_limits(*linear, self.record.cov, level, family.sf)
        return tables.by_time(
            [f"R({plain(time)})" for time in asked],
            at,
            {"time": asked},
            columns,
            level,
            family.interval_scale,
        )

    def conditional_reliability(
        self,
        newdata: NewData | None = None,
        age: float | Sequence[float] = 0.0,
        times: float | Sequence[float] = (),
        level: float = 0.95,
        *,
        clip: bool = False,
    ) -> Estimates:
        """Return the fraction of units that survive `times` more, of those that have survived until `age`.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        age : float or sequence of float
            One age for all rows of `newdata`, or one for each.
        times : float or sequence of float
            Beyond `age`.
        level : float
        clip : bool
            As in `predict`.

        Returns
        -------
        Estimates

        Examples
        --------
        >>> print(fit.conditional_reliability(at, age=500, times=200))
        At temp = 30...
        R(200 more | 500) = 0...
        """
        values = check_times(times, "conditional_reliability")
        at, asked = self._at_times(newdata, values, "conditional_reliability", clip)
        start = _ages(age, len(asked) // len(values)).repeat(len(values))
        linear = quantities.log_conditional_hazard(self.record, at, start, asked)
        columns = with_limits(*linear, self.record.cov, level, lambda v: np.exp(-np.exp(v)))
        heads = [f"R({plain(time)} more | {plain(old)})" for time, old in zip(asked, start, strict=True)]
        return tables.by_time(heads, at, {"age": start, "time": asked}, columns, level, "cloglog")

    def hazard(
        self,
        newdata: NewData | None = None,
        times: float | Sequence[float] = (),
        level: float = 0.95,
        *,
        clip: bool = False,
    ) -> Estimates:
        """Return the hazard (failure rate per unit of time) at `times`; interval on the log scale.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        times : float or sequence of float
        level : float
        clip : bool
            As in `predict`.

        Returns
        -------
        Estimates

        Examples
        --------
        >>> fit.hazard(at, times=[500, 1000]).frame["time"].tolist()
        [500.0, 1000.0]
        """
        values = check_times(times, "hazard", positive=True)
        at, asked = self._at_times(newdata, values, "hazard", clip)
        linear = quantities.log_hazard(self.record, at, asked)
        columns = with_limits(*linear, self.record.cov, level, np.exp)
        return tables.by_time(
            [f"h({plain(time)})" for time in asked], at, {"time": asked}, columns, level, "log"
        )

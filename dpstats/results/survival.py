"""Time to failure in a reliability engineer's words, from a fit of a location-scale model.

Numbers come from `life`, layout from `reports`. On a fit of another kind every name is refused with a reason.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpstats._arguments import among, numbers, shown
from dpstats.errors import SpecificationError
from dpstats.results import life, reports
from dpstats.results.base import Released
from dpstats.results.estimates import Estimates, with_limits
from dpstats.results.inference import bse
from dpstats.results.intervals import Estimate, log_estimate, standard_errors
from dpstats.results.notreleased import refusal
from dpstats.results.points import NewData, points
from dpstats.results.prediction import failed_fractions
from dpstats.results.record import Record

B_LIVES = (0.01, 0.05, 0.10, 0.50)


def require_survival(record: Record, asked: str) -> None:
    """Refuse `asked` on a fit that is not of a time to failure."""
    if not record.is_survival:
        raise refusal(
            asked, f"needs a time-to-failure model, and this is {record.model}", "Fit dps.survreg(...)."
        )


def require_log_time(record: Record, asked: str) -> None:
    """Refuse `asked` where the distribution is of time itself, and ratios depend on the location."""
    require_survival(record, asked)
    if not life.dist_of(record).log:
        raise refusal(
            asked,
            f"needs a distribution of log time, and {record.dist!r} is one of time itself",
            "Use dist='weibull', 'loglogistic' or 'lognormal'; fit.params are differences of time.",
        )


def check_times(times: float | Sequence[float], asked: str, positive: bool = False) -> np.ndarray:
    """Return `times` as an array, refusing negative ones (and 0, where the quantity has no value there)."""
    values = np.atleast_1d(numbers("times", times))
    allowed = (values > 0) if positive else (values >= 0)
    if values.ndim != 1 or not len(values) or not (allowed & np.isfinite(values)).all():
        least = "above" if positive else "of at least"
        raise SpecificationError(f"{asked} needs finite times {least} 0; got {shown(times)}")
    return values


class Survival(Released):
    """Lives, reliability and ratios."""

    __slots__ = ()

    @property
    def shape(self) -> Estimate:
        """Shape beta = 1 / sigma, above 1 for wear-out if Weibull; 95 % interval on the log scale."""
        require_log_time(self.record, "shape")
        return log_estimate("shape", -float(self.record.params[-1]), float(bse(self.record)[-1]), 0.95)

    def parameters(self, kind: str | None = None, level: float = 0.95) -> Estimates:
        """Return the parameters in one of the two usual parametrisations.

        Parameters
        ----------
        kind : {"sev", "weibull"} or, for other fits, {"logistic", "loglogistic"}, {"gaussian", "lognormal"}
            The first: location coefficients of log time and sigma. The second: the scale eta where all
            columns are 0, the factors by which each column multiplies it, and the shape. Default: ``dist``.
        level : float

        Raises
        ------
        SpecificationError
            If `kind` is not one of the fit's two.
        """
        record = self.record
        require_survival(record, "parameters")
        dist = life.dist_of(record)
        kinds = [dist.family.name] + [dist.name] * dist.log
        kind = dist.name if kind is None else kind
        if not among(kind, kinds):
            wrong = shown(kind)
            raise SpecificationError(f"kind must be one of {', '.join(kinds)} for this fit; got {wrong}")
        return reports.parameters(record, level, of_time=dist.log and kind == dist.name)

    def eta(self, newdata: NewData | None = None, level: float = 0.95) -> Estimates:
        """Return the scale eta at new data: the time by which 63.2 % have failed (others: 50 %).

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        level : float
        """
        require_log_time(self.record, "eta")
        at = points(self.record, newdata, "eta")
        centre, gradient = life.linear_predictor(self.record, at)
        return reports.by_point(
            "eta", at, with_limits(centre, gradient, self.record.cov, level, np.exp), level
        )

    def life(
        self, newdata: NewData | None = None, failed: float | Sequence[float] = B_LIVES, level: float = 0.95
    ) -> Estimates:
        """Return B-lives: the times by which given fractions have failed, with eta and the mean.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        failed : float or sequence of float
            Failed fractions: 0.10 gives B10.
        level : float

        Returns
        -------
        Estimates
            Intervals on the log scale for distributions of log time. The mean has none here; see `mttf`.
        """
        require_survival(self.record, "life")
        fractions = failed_fractions(failed)
        return reports.life(self.record, points(self.record, newdata, "life"), fractions, level)

    def reliability(
        self, newdata: NewData | None = None, times: float | Sequence[float] = (), level: float = 0.95
    ) -> Estimates:
        """Return R(t), the fraction that survives `times`.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        times : float or sequence of float
            In the unit of the response.
        level : float

        Returns
        -------
        Estimates
            Intervals on the scale of z, that is cloglog for Weibull and SEV, logit for log-logistic and
            logistic, probit for log-normal and Gaussian: they stay inside [0, 1].
        """
        require_survival(self.record, "reliability")
        values = check_times(times, "reliability")
        at = points(self.record, newdata, "reliability").repeated(len(values))
        repeated = np.tile(values, len(at.exog) // len(values))
        z, gradient = life.standardized(self.record, at, repeated)
        family = life.dist_of(self.record).family
        columns = with_limits(z, gradient, self.record.cov, level, family.sf)
        return reports.by_time("R({})", at, repeated, columns, level, family.interval_scale)

    def conditional_reliability(
        self,
        newdata: NewData | None = None,
        age: float = 0.0,
        times: float | Sequence[float] = (),
        level: float = 0.95,
    ) -> Estimates:
        """Return the fraction of units that survive `times` more, of those that have survived until `age`.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        age : float
        times : float or sequence of float
            Beyond `age`.
        level : float
        """
        require_survival(self.record, "conditional_reliability")
        values = check_times(times, "conditional_reliability")
        start = float(check_times(age, "conditional_reliability: age")[0])
        at = points(self.record, newdata, "conditional_reliability").repeated(len(values))
        repeated = np.tile(values, len(at.exog) // len(values))
        centre, gradient = life.log_conditional_hazard(self.record, at, start, repeated)
        columns = with_limits(centre, gradient, self.record.cov, level, lambda v: np.exp(-np.exp(v)))
        head = f"R({{}} more | {start:g})"
        return reports.by_time(head, at, repeated, columns, level, "cloglog")

    def hazard(
        self, newdata: NewData | None = None, times: float | Sequence[float] = (), level: float = 0.95
    ) -> Estimates:
        """Return the hazard (failure rate per unit of time) at `times`; interval on the log scale.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        times : float or sequence of float
        level : float
        """
        require_survival(self.record, "hazard")
        values = check_times(times, "hazard", positive=True)
        at = points(self.record, newdata, "hazard").repeated(len(values))
        repeated = np.tile(values, len(at.exog) // len(values))
        centre, gradient = life.log_hazard(self.record, at, repeated)
        columns = with_limits(centre, gradient, self.record.cov, level, np.exp)
        return reports.by_time("h({})", at, repeated, columns, level, "log")

    def mttf(self, newdata: NewData | None = None, level: float = 0.95) -> Estimates:
        """Return the mean time to failure; infinite for a log-logistic fit with sigma >= 1.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        level : float
        """
        require_survival(self.record, "mttf")
        at = points(self.record, newdata, "mttf")
        centre, gradient = life.mean(self.record, at)
        columns = with_limits(centre, gradient, self.record.cov, level, self.record.link.inverse)
        return reports.by_point("mttf", at, columns, level)

    def time_ratios(self, level: float = 0.95) -> Estimates:
        """Return exp(coef): the factor by which one unit of a column multiplies every B-life.

        Parameters
        ----------
        level : float
        """
        require_log_time(self.record, "time_ratios")
        return reports.ratios(self.record, "Time ratio", *reports.location(self.record), level)

    def hazard_ratios(self, level: float = 0.95) -> Estimates:
        """Return exp(-coef / sigma): the factor by which one unit of a column multiplies the hazard.

        Parameters
        ----------
        level : float

        Raises
        ------
        NotReleased
            For other than Weibull fits, whose hazards are not proportional.
        """
        require_survival(self.record, "hazard_ratios")
        if self.record.dist != "weibull":
            raise refusal(
                "hazard_ratios",
                f"exist only where hazards are proportional, and those of {self.record.dist!r} are not",
                "Use fit.time_ratios(), or fit.hazard(newdata, times) at two points.",
            )
        return reports.ratios(self.record, "Hazard ratio", *life.log_hazard_ratio(self.record), level)

    def acceleration(self, use: NewData, stress: NewData, level: float = 0.95) -> Estimate:
        """Return the acceleration factor: every B-life at `use` divided by the same at `stress`.

        Parameters
        ----------
        use, stress : dict
            One point each.
        level : float
        """
        record = self.record
        require_log_time(record, "acceleration")
        pair = [points(record, newdata, "acceleration") for newdata in (use, stress)]
        if any(len(at.exog) != 1 for at in pair):
            raise SpecificationError("acceleration compares one use point with one stress point")
        (centre, gradient), (other, its_gradient) = (life.linear_predictor(record, at) for at in pair)
        se = standard_errors(gradient - its_gradient, record.cov)
        return log_estimate("Acceleration factor", float((centre - other)[0]), float(se[0]), level)

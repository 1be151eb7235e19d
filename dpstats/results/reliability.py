"""Lives, reliability, hazard, ratios and accelerated life of a time to failure, as reliability engineers ask.

Numbers come from `survival_quantities`, layout from `survival_tables`; on activation energies, powers of
stress and factors of acceleration see docs/survreg.md#accelerated-tests.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpstats._arguments import among, shown
from dpstats.errors import SpecificationError
from dpstats.results import survival_quantities as quantities
from dpstats.results import survival_tables as tables
from dpstats.results.document import Document, Estimates, cells, with_interval
from dpstats.results.fit import Fit
from dpstats.results.intervals import Estimate, bse, limits, log_estimate, standard_errors, with_limits
from dpstats.results.newdata import NewData, beside, points
from dpstats.results.prediction import linear_predictor
from dpstats.results.record import Record
from dpstats.results.released import method_where, value_where
from dpstats.results.summary import ratio_row
from dpstats.results.table import plain
from dpstats.results.units import Units
from dpstats.schema import Bounded, Count


def _ages(age: float | Sequence[float], m: int, record: Record) -> np.ndarray:
    """Return one age for each of m points, refusing another number of them."""
    ages = quantities.check_times(age, "conditional_reliability: age", link=record.link)
    if len(ages) not in (1, m):
        raise SpecificationError(f"age must be one number, or one for each of {m} row(s); got {shown(age)}")
    return np.broadcast_to(ages, (m,))


B_LIVES = (0.01, 0.05, 0.10, 0.50)


def of_log_time(record: Record) -> bool:
    """Whether the distribution is of log time, so that coefficients are logarithms of ratios of times."""
    return record.distribution.log


class Reliability(Fit):
    """Quantities of a location-scale model of time at public points, with intervals."""

    __slots__ = ()
    _refused = {
        **dict.fromkeys(
            ("shape", "eta", "time_ratios", "acceleration", "acceleration_factors"),
            (
                "needs a distribution of log time, and {dist!r} is one of time itself",
                "Use dist='weibull', 'loglogistic' or 'lognormal'; fit.params are differences of time.",
            ),
        ),
        "activation_energy": (
            "needs a term arrhenius(temperature) of a distribution of log time",
            "Write arrhenius(tempC) in the formula; of others fit.acceleration(use, stress).",
        ),
        "hazard_ratios": (
            "exist only where hazards are proportional, and those of {dist!r} are not",
            "Use fit.time_ratios(), or fit.hazard(newdata, times) at two points.",
        ),
    }

    @property
    def _log_sigmas(self) -> list[tuple[str, float, float]]:
        """Of each stratum ``"[a]"``, or of all rows: the label, the estimate and the standard error."""
        record, p = self.record, self.record.n_location
        labels = [f"[{label}]" for label in record.scale_labels] or [""]
        return list(zip(labels, record.params[p:].tolist(), bse(record)[p:].tolist(), strict=True))

    @value_where(lambda record: of_log_time(record) and not record.scale_labels)
    def shape(self) -> Estimate:
        """Shape beta = 1 / sigma, above 1 for wear-out if Weibull; 95 % interval on the log scale.

        With strata, each of which has its own, `parameters` has them, and at other levels too.
        """
        _, log_sigma, se = self._log_sigmas[0]
        return log_estimate("shape", -log_sigma, se, 0.95)

    def parameters(self, kind: str | None = None, level: float = 0.95) -> Estimates:
        """Return the parameters in one of the two usual parametrisations.

        Parameters
        ----------
        kind : {"sev", "weibull"} or, for other fits, {"logistic", "loglogistic"}, {"gaussian", "lognormal"}
            The first: location coefficients of log time and sigma. The second: the scale eta where all
            columns are 0, the factors by which each column multiplies it, and the shape. Default: ``dist``.
        level : float

        Returns
        -------
        Estimates

        Raises
        ------
        SpecificationError
            If `kind` is not one of the fit's two.

        Examples
        --------
        >>> fit.parameters("weibull").frame["term"].tolist()
        ['eta', 'exp(temp)', 'shape']
        """
        dist = self.record.distribution
        kinds = [dist.family.name] + [dist.name] * dist.log
        kind = dist.name if kind is None else kind
        if not among(kind, kinds):
            wrong = shown(kind)
            raise SpecificationError(f"kind must be one of {', '.join(kinds)} for this fit; got {wrong}")
        return tables.parameters(self.record, level, of_time=dist.log and kind == dist.name)

    @method_where(of_log_time)
    def eta(self, newdata: NewData | None = None, level: float = 0.95, *, clip: bool = False) -> Estimates:
        """Return the scale eta at new data: the time by which 63.2 % have failed (others: 50 %).

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        level : float
        clip : bool
            As in `predict`.

        Returns
        -------
        Estimates

        Examples
        --------
        >>> fit.eta(at).frame.columns.tolist()
        ['temp', 'estimate', 'conf_low', 'conf_high']
        """
        at = points(self.record, newdata, "eta", clip)
        columns = with_limits(linear_predictor(self.record, at), self.record, level, self.record.link.inverse)
        return tables.by_point("eta", at, columns, level, self.record.time_unit)

    def life(
        self,
        newdata: NewData | None = None,
        failed: float | Sequence[float] = B_LIVES,
        level: float = 0.95,
        *,
        clip: bool = False,
    ) -> Estimates:
        """Return B-lives: the times by which given fractions have failed, with eta and the mean.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        failed : float or sequence of float
            Fractions that have failed: 0.10 gives B10.
        level : float
        clip : bool
            As in `predict`.

        Returns
        -------
        Estimates
            Intervals on the log scale for distributions of log time.

        Examples
        --------
        >>> print(fit.life(at, failed=0.1))
        Life at temp = 30    95 % intervals, log scale
        ...
        """
        fractions = quantities.failed_fractions(failed)
        return tables.life(self.record, points(self.record, newdata, "life", clip), fractions, level)

    def mttf(self, newdata: NewData | None = None, level: float = 0.95, *, clip: bool = False) -> Estimates:
        """Return the mean time to failure; infinite for a log-logistic fit with sigma >= 1.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        level : float
        clip : bool
            As in `predict`.

        Returns
        -------
        Estimates

        Examples
        --------
        >>> fit.mttf(at).frame.columns.tolist()
        ['temp', 'estimate', 'conf_low', 'conf_high']
        """
        at = points(self.record, newdata, "mttf", clip)
        means = tables.mean(self.record, at, level)
        notes = tables.unwatched(self.record, means["estimate"])
        return tables.by_point("mttf", at, means, level, self.record.time_unit, notes)

    @method_where(of_log_time)
    def time_ratios(self, level: float = 0.95, *, units: Units | None = None) -> Estimates:
        """Return exp(coef): the factor by which one unit of a column multiplies every B-life.

        Parameters
        ----------
        level : float
        units : dict, optional
            Of how many units of a variable, as in the summary: ``{"temp": 10}``.

        Returns
        -------
        Estimates

        Examples
        --------
        >>> fit.time_ratios().frame["term"].tolist()
        ['temp']
        """
        return tables.ratios(self.record, "Time ratio", level, units)

    @method_where(
        lambda record: (
            of_log_time(record) and record.distribution.family.proportional and not record.scale_labels
        )
    )
    def hazard_ratios(self, level: float = 0.95, *, units: Units | None = None) -> Estimates:
        """Return exp(-coef / sigma): the factor by which one unit of a column multiplies the hazard.

        Only Weibull fits have hazard ratios, because their hazards are proportional; and not with strata,
        each of which has a shape of its own.

        Parameters
        ----------
        level : float
        units : dict, optional
            Of how many units of a variable, as in the summary: ``{"temp": 10}``.

        Returns
        -------
        Estimates

        Examples
        --------
        >>> fit.hazard_ratios(level=0.9).frame["term"].tolist()
        ['temp']
        """
        return tables.ratios(self.record, "Hazard ratio", level, units, quantities.log_hazard_ratio)

    @method_where(of_log_time)
    def acceleration(
        self, use: NewData, stress: NewData, level: float = 0.95, *, clip: bool = False
    ) -> Estimate:
        """Return the acceleration factor: every B-life at `use` divided by the same at `stress`.

        Parameters
        ----------
        use, stress : dict
            One point each.
        level : float
        clip : bool
            As in `predict`.

        Returns
        -------
        Estimate

        Examples
        --------
        >>> fit.acceleration(use={"temp": 25}, stress={"temp": 40})
        Acceleration factor ... (95 % interval)
        """
        record = self.record
        named = (("use", use), ("stress", stress))
        pair = [points(record, given, "acceleration", clip, name) for name, given in named]
        if any(len(at.exog) != 1 for at in pair):
            raise SpecificationError("acceleration compares one use point with one stress point")
        (centre, gradient), (other, its_gradient) = (linear_predictor(record, at) for at in pair)
        se = standard_errors(gradient - its_gradient, record)
        far = ", extrapolated" if any(at.outside.any() for at in pair) else ""
        return log_estimate(f"Acceleration factor{far}", float((centre - other)[0]), float(se[0]), level)

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
        values = quantities.check_times(times, "reliability", link=self.record.link)
        family = self.record.distribution.family
        at, asked = points(self.record, newdata, "reliability", clip).at_each(values)
        columns = with_limits(quantities.standardized(self.record, at, asked), self.record, level, family.sf)
        return tables.by_time(
            [f"R({plain(time)})" for time in asked],
            at,
            {"time": asked},
            columns,
            level,
            family.interval_scale,
            tables.unwatched(self.record, asked),
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
        values = quantities.check_times(times, "conditional_reliability")
        at, asked = points(self.record, newdata, "conditional_reliability", clip).at_each(values)
        start = _ages(age, len(asked) // len(values), self.record).repeat(len(values))
        linear = quantities.log_conditional_hazard(self.record, at, start, asked)
        columns = with_limits(linear, self.record, level, lambda v: np.exp(-np.exp(v)))
        heads = [f"R({plain(time)} more | {plain(old)})" for time, old in zip(asked, start, strict=True)]
        notes = tables.unwatched(self.record, start + asked)
        return tables.by_time(heads, at, {"age": start, "time": asked}, columns, level, "cloglog", notes)

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
        values = quantities.check_times(times, "hazard", True, self.record.link)
        at, asked = points(self.record, newdata, "hazard", clip).at_each(values)
        columns = with_limits(quantities.log_hazard(self.record, at, asked), self.record, level, np.exp)
        heads, notes = [f"h({plain(time)})" for time in asked], tables.unwatched(self.record, asked)
        return tables.by_time(heads, at, {"time": asked}, columns, level, "log", notes)

    @method_where(lambda record: "arrhenius" in stress_terms(record).values())
    def activation_energy(self, level: float = 0.95) -> Estimates:
        """Return the activation energy of each Arrhenius term, in electronvolts.

        Parameters
        ----------
        level : float

        Returns
        -------
        Estimates

        Examples
        --------
        >>> hot = dps.survreg("Surv(time, status) ~ arrhenius(temp)", drives.data, drives.schema)
        >>> hot.fit(dps.zcdp(0.5)).activation_energy().frame["term"].tolist()
        ['arrhenius(temp)']
        """
        record = self.record
        names = [name for name, function in stress_terms(record).items() if function == "arrhenius"]
        where = [record.names.index(name) for name in names]
        columns = with_limits(
            (record.params[where], np.eye(len(record.names))[where]), record, level, np.array
        )
        return tables.terms("Activation energy, eV", names, columns, bse(record)[where], level)

    @method_where(lambda record: record.distribution.log)
    def acceleration_factors(
        self,
        use: NewData | None = None,
        stress: NewData | None = None,
        level: float = 0.95,
        *,
        clip: bool = False,
    ) -> Estimates:
        """Return how many times longer units live at a use level than at each of several stress levels.

        Parameters
        ----------
        use : dict
            One point.
        stress : dict, list of dict, or DataFrame, optional
            Default: the use level with each number of the formula at the public bound at which the fit has
            the shorter life, one by one, and then all of them.
        level : float
        clip : bool
            As in `predict`.

        Returns
        -------
        Estimates

        Raises
        ------
        NotReleased
            Without `use`.
        SpecificationError
            If `use` is not one point.

        Examples
        --------
        >>> fit.acceleration_factors({"temp": 25}, [{"temp": 35}, {"temp": 45}]).frame["temp"].tolist()
        [35, 45]
        """
        record = self.record
        base = points(record, use, "acceleration_factors", clip, "use")
        if len(base.exog) != 1:
            raise SpecificationError(f"use must be one point, such as {{'tempC': 55}}; got {shown(use)}")
        given = _harshest(record, base.frame.iloc[0].to_dict()) if stress is None else stress
        at = points(record, given, "acceleration_factors", clip, "stress")
        (centre, gradient), (other, its_gradient) = (linear_predictor(record, each) for each in (base, at))
        columns = with_limits((centre - other, gradient - its_gradient), record, level, np.exp)
        known = np.isfinite(columns["conf_high"])

        def layout() -> Document:
            written = zip(known, *columns.values(), strict=True)
            rows = [(at.label(i), *cells(values, sure)) for i, (sure, *values) in enumerate(written)]
            title = f"Acceleration from {base.label(0)}"
            return Document(tables=(with_interval("", ["factor"], rows, level, title=title),))

        return Estimates(beside(at, pd.DataFrame(columns)), layout)


TERM = re.compile(r"(arrhenius|power|inverse_power)\((?!.*\):).*\)")  # alone, not in a product
MEANING = {"arrhenius": ("Activation energy", "eV"), "power": ("Power", ""), "inverse_power": ("Power", "")}


def stress_terms(record: Record) -> dict[str, str]:
    """Return the coefficients that are of a stress, by name, with the function that each is of."""
    if not (record.is_survival and record.distribution.log):
        return {}
    found = ((name, TERM.fullmatch(name)) for name in record.names[: record.n_location])
    return {name: match[1] for name, match in found if match}


def stress_rows(record: Record, level: float) -> list[tuple[str, ...]]:
    """Return rows of a summary: what the coefficient of each stress means."""
    (low, high), se, rows = limits(record, level), bse(record), []
    for name, function in stress_terms(record).items():
        j, (kind, unit) = record.names.index(name), MEANING[function]
        value, error, least, most = (float(each[j]) for each in (record.params, se, low, high))
        rows.append(ratio_row(kind, Estimate(name, value, error, least, most, level), unit))
    return rows


def _line_at(record: Record, point: dict[str, Any]) -> float:
    """Return x'b at a point, without the warning that it may be beyond the bounds."""
    row = record.design.new_rows(point, False)
    return float((row.exog @ record.params[: record.n_location] + row.offset)[0])


def _harshest(record: Record, use: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a use level with its stresses at their harsher bounds, one by one and all of them."""
    design, terms, moved = record.design, stress_terms(record), {}
    read = [each for column, each in zip(design.names, design.reads, strict=True) if column in terms]
    for name in (each for each in design.covariates if not read or any(each in one for one in read)):
        variable = record.schema[name]
        if isinstance(variable, Bounded | Count) and name in use:
            moved[name] = min(variable.bounds, key=lambda bound: _line_at(record, use | {name: bound}))
    single = [use | {name: bound} for name, bound in moved.items()]
    return [*single, use | moved] if len(single) > 1 else single or [use]

"""Fits of times to failure: summary, predictions, plots, and residuals of public rows."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpstats._arguments import Axes, among, axes, warn
from dpstats.results import survival_plots as plots
from dpstats.results import survival_quantities as quantities
from dpstats.results.cautions import doubtful_law
from dpstats.results.document import FIXED, Estimates
from dpstats.results.fit import Fit
from dpstats.results.forecast import Forecast, ends_of, fleet_of, forecast
from dpstats.results.intervals import (
    Estimate,
    log_estimate,
    off_the_law,
    privacy_share,
    refuse_alpha,
    standard_errors,
)
from dpstats.results.newdata import NewData, Points, points
from dpstats.results.notreleased import refusal
from dpstats.results.plotting import per
from dpstats.results.prediction import TIMES_ONLY, linear_predictor, predicted, where_estimable
from dpstats.results.public_rows import LawFit, finite_numbers, public_responses
from dpstats.results.record import Record
from dpstats.results.released import method_where, value_where
from dpstats.results.reliability import Reliability, stress_rows, stress_terms
from dpstats.results.summary import bounding, ratio_row, ratio_rows, setting_text, table_of_ratios
from dpstats.results.survival_curve import CurveFit
from dpstats.results.survival_tables import contenders, of_rivals, unwatched
from dpstats.results.table import Table, capital, price

_EACH = "is of fits with one scale for all rows, and each stratum has its own here"
OF_ONE_SCALE = {
    "sigma": (_EACH, "Use fit.parameters(), or fit.parameters('sev') for scales of a Weibull's log time."),
    "shape": (_EACH, "Use fit.parameters(), which has a shape for each stratum."),
    "hazard_ratios": (
        "is one number for each column only where all rows have one shape",
        "Use fit.time_ratios(), or fit.hazard(newdata, times) at two points.",
    ),
}
"""What fits with strata lack, why, and what they have instead."""

OF_TIME = ("response", "standardized", "cox-snell", "martingale")


CODES = {"cut c": "H <= {}", "z_l": "early residual >= {}", "floor": "z >= {}", "R": "row norm <= {}"}
"""Of the settings that bound a score: as the theory writes them."""


def _percent(share: float) -> str:
    """Return a share in percent, with decimals where it is nearly all."""
    return f"{100 * share:.0f} %" if share < 0.985 else f"{100 * share:.4g} %"


def wear(shape: Estimate) -> str:
    """Say what a Weibull shape means, if its interval excludes 1."""
    if shape.conf_low > 1:
        return "wear-out (beta > 1)"
    if shape.conf_high < 1:
        return "infant mortality (beta < 1)"
    return "beta = 1 not excluded"


class SurvivalFit(Reliability, LawFit, models=("survreg",)):
    """A time to failure with a location-scale distribution: lives, reliability and ratios.

    Examples
    --------
    >>> import dpstats as dps
    >>> drives = dps.datasets.load("hdfail")
    >>> fit = dps.survreg("Surv(time, status) ~ temp", drives.data, drives.schema).fit(dps.zcdp(0.5))
    >>> fit.names
    ('Intercept', 'temp', 'Log(scale)')
    >>> at = {"temp": 30}
    """

    __slots__ = ()
    _bounds = {
        "cut c": lambda c: f"units count until {_percent(-math.expm1(-c))} of their kind have failed",
        "z_l": lambda z: f"failures more than {-z:.3g} sigmas early count less for the scale",
        "floor": lambda z: f"those more than {-z:.3g} sigmas early pull the location no harder",
        "R": lambda radius: f"covariates beyond {radius:.3g} sds count less",
    }
    _needs = TIMES_ONLY
    _predicts = (*Fit._predicts, *quantities.OF_QUANTILES, *quantities.AT_TIMES)
    _refused = {
        "alpha": (
            "is the scale of a Weibull distribution in some programs, and a penalty here",
            "Use fit.eta(newdata), or fit.parameters().",
        ),
        **dict.fromkeys(
            ("compare_dists", "preferred_dist"),
            (
                "was not asked for by this fit",
                'Fit with release=["dist"], which spends a fifth of mu^2 on it.',
            ),
        ),
        **{
            name: ("is of a regression of hazards, and this is {model}", f"Use fit.{own}(newdata{more}).")
            for name, own, more in (
                ("survival", "reliability", ", times"),
                ("cumulative_hazard", "predict", ", type='cumhaz', times"),
                ("plot_survival", "plot_reliability", ""),
            )
        },
        "marginal_effects": (
            "describe a mean, and this is {model}, of a time to failure",
            "Use fit.time_ratios(), or fit.mttf(newdata) at two points.",
        ),
    }

    def _refusal(self, name: str) -> AttributeError:
        if self.record.scale_labels and name in OF_ONE_SCALE:
            return refusal(name, *OF_ONE_SCALE[name])
        return super()._refusal(name)

    @property
    def _title(self) -> str:
        return f"{self.record.distribution.title} regression for time to failure"

    @property
    def _response(self) -> str:
        return "log time" if self.record.distribution.log else "time"

    def _remark(self) -> str:
        dist = self.record.distribution
        error = f"sigma * (standard {dist.family.title} error)"
        if self.record.scale_known:
            last = " Intervals of ratios are on the log scale." if dist.log else ""
            return f" {'log(time)' if dist.log else 'time'} = coef'x + {error}.{last}"
        own = ", shape and ratios" if dist.shaped else " and ratios" if dist.log else ""
        response = "log(time)" if dist.log else "time"
        each = f", a sigma for each of {len(labels)} strata" if (labels := self.record.scale_labels) else ""
        return f" {response} = coef'x + {error}{each}. Intervals of sigma{own} are on the log scale."

    @property
    def _last_remark(self) -> str:
        """Return the numbers that the estimand says in words."""
        settings = bounding(self.record)
        said = [
            words.format(setting_text(settings[name])) for name, words in CODES.items() if name in settings
        ]
        doubt = doubtful_law(self.record)
        return (f" Estimand: {', '.join(said)}." if said else "") + f" {doubt}" * bool(doubt)

    @property
    def _ratio(self) -> str:
        return "time ratio" if self.record.distribution.log else ""

    def _tables(self, level: float, scaled: Record) -> list[Table]:
        """Return sigma, the shape in words, and the time ratios of the covariates."""
        record, dist, title = self.record, self.record.distribution, self.record.distribution.family.title
        fixed = FIXED if record.scale_known else ""
        kind = f"{title[:1].upper()}{title[1:]} scale"
        rows: list[tuple[str, ...]] = []
        for label, log_sigma, se in self._log_sigmas:
            sigma = log_estimate(f"sigma{label}", log_sigma, se, level)
            rows.append(ratio_row("" if rows else kind, sigma, fixed))
        for i, (label, log_sigma, se) in enumerate(self._log_sigmas if dist.shaped else ()):
            shape = log_estimate(f"beta{label}" if label else "beta=1/sigma", -log_sigma, se, level)
            words = fixed or (wear(shape) if dist.family.proportional else "")
            rows.append(ratio_row("" if i else capital(f"{dist.title} shape"), shape, words))
        if dist.log:
            rows += stress_rows(record, level)
            rows += ratio_rows(scaled, "Time ratio", level, stress_terms(record))
        return table_of_ratios(rows, level)

    @value_where(lambda record: not record.scale_labels)
    def sigma(self) -> Estimate:
        """Scale of the error (of log time for a Weibull); 95 % interval on the log scale.

        With strata, each of which has its own, `parameters` has them.
        """
        return log_estimate("sigma", *self._log_sigmas[0][1:], 0.95, float(privacy_share(self.record)[-1]))

    @value_where(lambda record: record.law is not None)
    def law(self) -> Estimate:
        """Share of the failures that come at other times than the distribution says; 0 where it holds.

        It is a contrast of failures seen and expected (docs/theory/survival.md#check-of-the-law), whose sign
        says nothing by itself. Beyond 3.5 standard errors the fit has the caution ``law``.
        """
        return off_the_law(self.record)

    @method_where(lambda record: bool(record.rivals))
    def compare_dists(self, level: float = 0.95) -> Estimates:
        """Return how likely the rows are under other distributions, for ``release=["dist"]``.

        Each has an intercept and a scale of its own, and the slopes of the fit.

        Parameters
        ----------
        level : float
            Confidence level of limits, which are of the noise.

        Returns
        -------
        Estimates
            In ``.frame``: ``dist``, ``estimate``, the log-likelihood less that of the fitted distribution,
            ``std_error``, ``conf_low`` and ``conf_high``.

        Examples
        --------
        >>> model = dps.survreg("Surv(time, status) ~ temp", drives.data, drives.schema)
        >>> model.fit(dps.zcdp(0.5), release=["dist"]).compare_dists().frame["dist"].tolist()
        ['weibull', 'loglogistic', 'lognormal']
        """
        refuse_alpha(level)
        return of_rivals(self.record, level)

    @value_where(lambda record: bool(record.rivals))
    def preferred_dist(self) -> str | None:
        """Distribution under which the rows are likeliest, or None if noise hides which."""
        best, *left = contenders(self.record)
        return None if left else best

    def predict(
        self,
        newdata: NewData | None = None,
        type: str | None = None,
        p: float | Sequence[float] | None = None,
        times: float | Sequence[float] | None = None,
        *,
        se_fit: bool = False,
        clip: bool = False,
    ) -> pd.Series | pd.DataFrame:
        """Predict at new data.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
        type : {"response", "lp", "link", "quantile", "median", "survival", "hazard", "cumhaz"}, optional
            Default: "quantile" where `p` is given, "survival" where `times` are, and else "response". As in
            R: "response" is the linear predictor on the scale of time (exp of it for log-time models: the
            characteristic life of a Weibull), "lp" or "link" the linear predictor, offset included,
            "quantile" the time by which a fraction `p` has failed, and "median" that of p = 0.5. "survival",
            "hazard" (per unit of time) and "cumhaz", the cumulative hazard, are those at `times`.
        p : float or sequence of float
            Failed fractions for ``type="quantile"``, by default 0.1, 0.5 and 0.9; never surviving fractions.
        times : float or sequence of float
            For "survival", "hazard" and "cumhaz", in the unit of the response.
        se_fit : bool
            Add standard errors by the delta method, on the scale of what is predicted. Intervals are better
            made where the range is unbounded: `life`, `reliability` and `hazard` have them.
        clip : bool
            Move values to their public bounds. Else the fit is extrapolated, and a warning says so.

        Returns
        -------
        Series of m values; for several `p` or `times` a DataFrame with one column for each.
            With `se_fit` a DataFrame with columns ``predicted`` and ``se_fit``, each of them such a Series or
            DataFrame. What noise hides has an infinite standard error; NaN where a row lacks a value, which
            a warning says.

        Raises
        ------
        NotReleased
            Without `newdata`: predictions for the training rows would reveal them.
        SpecificationError
            For an unknown `type`, `p` outside (0, 1), a type that needs `times` without them, or `p` or
            `times` for a type that has none.

        Examples
        --------
        >>> fit.predict(at, p=[0.01, 0.1]).columns.tolist()
        [0.01, 0.1]
        >>> fit.predict(at, type="survival", times=1000, se_fit=True).columns.tolist()
        ['predicted', 'se_fit']
        """
        if type is not None and not among(type, self._predicts):
            return super().predict(newdata, type, clip=clip)
        kind = quantities.kind_asked(type, "response", p, times)
        if kind in Fit._predicts:
            return super().predict(newdata, kind, se_fit=se_fit, clip=clip)
        at = points(self.record, newdata, "predict", clip, gaps=True)
        found = predicted(self.record, *quantities.predictions(self.record, at, kind, p, times), se_fit)
        for text in () if times is None else unwatched(self.record, np.asarray(times)):
            warn(text)
        return at.among_given(found)

    def forecast(
        self,
        fleet: NewData | None = None,
        horizon: float | Sequence[float] = (),
        periods: int = 12,
        age: str = "age",
        units: str | None = None,
        level: float = 0.95,
        *,
        clip: bool = False,
    ) -> Forecast:
        """Forecast the failures of a fleet that works today, by period.

        Units fail as the fit says of units that have reached their age. None is replaced or retired.

        Parameters
        ----------
        fleet : dict, list of dict, or DataFrame
            Public: the covariates of each unit, and a column of ages in the unit of the response.
        horizon : float or sequence of float
            How far from now the forecast reaches, in the unit of the response: one number, which `periods`
            divide, or the ends of periods.
        periods : int
            The number of periods of equal length, where `horizon` is one number.
        age : str
            Name of the column of ages.
        units : str, optional
            Name of a column that says how many units a row stands for; default: one each.
        level : float
            The level of all limits.
        clip : bool
            As in `predict`.

        Returns
        -------
        Forecast
            Prints as a table; with ``.frame`` and ``.plot()``. Limits of the number of failures count what is
            not known of the parameters, and chance.

        Raises
        ------
        NotReleased
            Without a fleet: the training rows are private.
        SpecificationError
            For a fleet without ages, or if `horizon` is no horizon.

        Examples
        --------
        >>> fleet = {"age": [100, 500], "temp": [25, 30], "count": [400, 250]}
        >>> forecast = fit.forecast(fleet, horizon=365, periods=4, units="count")
        >>> forecast.frame.columns.tolist()[:3]
        ['start', 'end', 'expected']
        >>> forecast.units
        650.0
        """
        known = fleet_of(self.record, fleet, age, units, clip)
        return forecast(self.record, known, ends_of(horizon, periods), level)

    def residuals(
        self,
        newdata: NewData | None = None,
        y: ArrayLike | None = None,
        event: ArrayLike | None = None,
        type: str = "response",
    ) -> pd.Series:
        """Return residuals of public rows, such as a test set of your own.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
        y : array of m times
        event : array of m values 1 or 0, optional
            Which of them ended in a failure; default: all.
        type : {"response", "standardized", "cox-snell", "martingale"}
            "response" is y less the prediction, "standardized" z, "cox-snell" the cumulative hazard at y (a
            unit exponential variable under the fit, censored as y is) and "martingale" event less that.

        Returns
        -------
        Series of m values

        Raises
        ------
        NotReleased
            Without `newdata` and `y`: residuals of training rows would reveal them.
        SpecificationError
            If the lengths differ, or for an unknown `type`.

        Examples
        --------
        >>> fit.residuals(at, y=[900.0], event=[0], type="martingale")  # of a drive that still runs
        0   -...
        Name: residual, dtype: float64
        """
        record = self.record
        at, times = public_responses(record, newdata, y, type, OF_TIME)
        failed = np.ones(len(times)) if event is None else finite_numbers("event", event, len(times))
        response = type == "response"
        found, gradient = (
            linear_predictor(record, at) if response else quantities.standardized(record, at, times)
        )
        found = where_estimable(record, found, standard_errors(gradient, record))
        if response:
            found = times - record.link.inverse(found)
        if type in ("cox-snell", "martingale"):
            found = np.exp(self.record.distribution.family.log_cumulative_hazard(found))
        return pd.Series(failed - found if type == "martingale" else found, name="residual")

    def plot_life(
        self,
        newdata: NewData | None = None,
        times: plots.Range | None = None,
        level: float = 0.95,
        points: CurveFit | None = None,
        ax: Axes | None = None,
        *,
        clip: bool = False,
    ) -> Axes:
        """Plot failed fractions against time on probability paper, where fits are straight lines.

        Needs matplotlib.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
            One line with its band for each row.
        times : (float, float), optional
            Where lines begin and end; default: within the public bounds of the time, from 0.5 % to 99 %
            failed, and as far as there are points.
        level : float
            Of the bands, point by point.
        points : CurveFit, optional
            Of :func:`dpstats.kaplan_meier`, drawn as points with limits. It has a budget of its own; without
            it there are no points, because the times of the rows are private. Where `newdata` have a column
            of the factor of the curve, such as a stress level, each line has the points of its own group. A
            warning says which covariates of the fit the curve does not hold fixed, as lines do.
        ax : matplotlib Axes, optional
            Draw here; default: the axes of a new figure, ``plot_life(...).figure``.
        clip : bool
            As in `predict`.

        Returns
        -------
        matplotlib Axes
            Its vertical coordinate is z, the quantile of the standard variable.

        Examples
        --------
        >>> curve = dps.kaplan_meier("Surv(time, status) ~ 1", drives.data, drives.schema).fit(dps.zcdp(0.1))
        >>> fit.plot_life([at, {"temp": 40}], points=curve).figure.savefig("life.png")
        """
        record, at, ends, ax = self._lines("plot_life", newdata, times, ax, clip)
        dist = record.distribution
        if points is not None and times is None:
            ends = plots.holding(points, ends, level)
        grid = np.geomspace(*ends, plots.STEPS) if dist.log else np.linspace(*ends, plots.STEPS)
        first = plots.draw(record, at, grid, quantities.standardized, np.array, level, ax)
        if points is not None:
            plots.draw_points(record, at, points, ends, level, ax, first)
        plots.probability_paper(record, ends, ax)
        if dist.log:
            ax.axhline(0, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
        ax.set_ylabel("failed")
        note = plots.NO_POINTS if points is None else f"points: Kaplan-Meier, {price(points)}"
        ax.annotate(note, (0.98, 0.02), xycoords="axes fraction", ha="right", fontsize=8, color="0.35")
        return plots.finish(record, at, capital(f"{dist.title} probability plot"), level, ax, points)

    def plot_reliability(
        self,
        newdata: NewData | None = None,
        times: plots.Range | None = None,
        level: float = 0.95,
        ax: Axes | None = None,
        *,
        clip: bool = False,
    ) -> Axes:
        """Plot R(t), the fraction that survives, against time. Needs matplotlib.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        times : (float, float), optional
        level : float
        ax : matplotlib Axes, optional
        clip : bool
            As in `plot_life`.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> fit.plot_reliability(at, times=(100, 2000)).get_ylabel()
        'reliability'
        """
        record, at, ends, ax = self._lines("plot_reliability", newdata, times, ax, clip)
        dist = record.distribution
        start = 0.0 if dist.log and times is None else ends[0]  # all survive until time 0
        plots.draw(
            record,
            at,
            np.linspace(start, ends[1], plots.STEPS),
            quantities.standardized,
            dist.family.sf,
            level,
            ax,
        )
        ax.set(ylabel="reliability", ylim=(-0.02, 1.02), xlim=(start, ends[1]))
        return plots.finish(record, at, "Reliability", level, ax)

    def plot_hazard(
        self,
        newdata: NewData | None = None,
        times: plots.Range | None = None,
        level: float = 0.95,
        ax: Axes | None = None,
        *,
        clip: bool = False,
    ) -> Axes:
        """Plot the hazard, the failure rate per unit of time, against time. Needs matplotlib.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        times : (float, float), optional
        level : float
        ax : matplotlib Axes, optional
        clip : bool
            As in `plot_life`.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> fit.plot_hazard(at).get_ylabel()
        'hazard per day'
        """
        record, at, ends, ax = self._lines("plot_hazard", newdata, times, ax, clip)
        plots.draw(record, at, np.linspace(*ends, plots.STEPS), quantities.log_hazard, np.exp, level, ax)
        ax.set(ylabel=f"hazard{per(record.time_unit)}", xlim=ends)
        last = [float(np.asarray(line.get_ydata(), dtype=float)[-1]) for line in ax.get_lines()]
        last = [value for value in last if value > 0]
        if last and max(last) > plots.DECADE * min(last):
            ax.set_yscale("log")
        else:
            ax.ticklabel_format(axis="y", scilimits=(-3, 4))
        return plots.finish(record, at, "Hazard", level, ax)

    def _lines(
        self, asked: str, newdata: NewData | None, times: plots.Range | None, ax: Axes | None, clip: bool
    ) -> tuple[Record, Points, plots.Range, Axes]:
        at = points(self.record, newdata, asked, clip)
        return self.record, at, plots.time_range(self.record, at, times), axes(ax)

    def _draw(self, eta: np.ndarray, at: Points, rng: np.random.Generator) -> np.ndarray:
        z = self.record.distribution.family.quantile(rng.uniform(size=eta.shape))
        return np.asarray(self.record.link.inverse(eta + quantities.sigma_at(self.record, at)[:, None] * z))

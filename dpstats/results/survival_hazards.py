"""Fits of hazards without a distribution: hazard ratios, survival curves, a test of proportional hazards.

Curves are at given covariates. The test rests on released scores. See docs/theory/coxph.md, and its section
docs/theory/coxph.md#proportional-hazards.
"""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from scipy import special

from dpstats._arguments import Axes, among, axes
from dpstats.errors import SpecificationError
from dpstats.families.between import LARGEST
from dpstats.moments.roots import chi_square
from dpstats.results import survival_tables as tables
from dpstats.results.document import NOT_ESTIMABLE, Document, Estimates, limit_columns, point_columns
from dpstats.results.fit import Fit
from dpstats.results.intervals import (
    by_slope,
    critical,
    errors_of_sums,
    refuse_alpha,
    standard_errors,
    transformed,
)
from dpstats.results.newdata import NewData, Points, points
from dpstats.results.prediction import Prediction, linear_predictor, predicted
from dpstats.results.record import Record, given
from dpstats.results.released import method_where
from dpstats.results.summary import ratio_rows, table_of_ratios
from dpstats.results.survival_plots import draw_lines, finish
from dpstats.results.survival_quantities import check_times, kind_asked
from dpstats.results.table import (
    Column,
    Table,
    figures,
    p_value,
    percent,
    plain,
    z_value,
)
from dpstats.results.units import Units

GLOBAL = "GLOBAL"


def _laid_out(frame: pd.DataFrame, level: float) -> Document:
    heads = (Column("", "l"), *point_columns("change"), *limit_columns(level), Column("chi2"), Column("df"))
    rows = []
    for term, change, low, high, statistic, df, chance in frame.itertuples(index=False):
        test = (z_value(statistic), str(df), p_value(chance))
        if term == GLOBAL:
            rows.append((term, "", "", "", *test))
        else:
            rows.append(
                (term, *map(figures, (change, low, high)), *test)
                if df and np.isfinite(change)
                else (term, NOT_ESTIMABLE)
            )
    note = (
        "By what a coefficient is larger at the last failure than at the first, if it changes with the share "
        "of the failures. Tests count sampling and privacy noise."
    )
    return Document(
        tables=(Table((*heads, Column("P>chi2")), tuple(rows), title="Test of proportional hazards"),),
        notes=(note,),
    )


CURVES = ("survival", "cumhaz")  # kinds of prediction that are of a time
_OF_DISTRIBUTIONS = (
    "simulate",
    "parameters",
    "eta",
    "life",
    "shape",
    "reliability",
    "conditional_reliability",
    "hazard",
    "mttf",
    "time_ratios",
    "forecast",
    "plot_life",
    "plot_reliability",
    "plot_hazard",
)
_LEAST = 1e-300  # of a cumulative hazard, whose logarithm is taken


def log_hazard(record: Record, at: Points, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the log cumulative hazard of N points at N times, and its standard errors.

    What the clock has gained is log-normal, with its own mean and variance: near 0 the latter may be many
    times the square of the mean, and a delta method would leave a hazard any size.
    """
    level, baseline = given(record.baseline).levelled
    each = baseline.hazards(times, at.stratum)
    whole = np.maximum(each.sum(axis=1), _LEAST)
    linear, slopes = linear_predictor(record, at)
    gradient = np.hstack([each / whole[:, None], slopes])
    # covariance of log hazards and coefficients; what was lost of these has no covariances
    cov = np.array(given(record.baseline).cov)
    for i in np.flatnonzero(np.isinf(np.diagonal(record.cov))) + len(cov) - len(record.names):
        cov[i], cov[:, i] = 0.0, 0.0
        cov[i, i] = np.inf
    se = errors_of_sums(gradient, cov, given(record.baseline).root)
    se = np.hypot(se, np.sqrt(_of_clock(record, at, times)))
    return np.log(whole) + level + linear, se


def _of_clock(record: Record, at: Points, times: np.ndarray) -> np.ndarray:
    """The part of the clock in the variance of `log_hazard`."""
    _, baseline = given(record.baseline).levelled
    whole = np.maximum(baseline.hazards(times, at.stratum).sum(axis=1), _LEAST)
    return np.asarray(np.log1p((np.sqrt(baseline.clock_variances(times, at.stratum)) / whole) ** 2))


def curve(
    record: Record, at: Points, times: np.ndarray, level: float, kind: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a curve of `CURVES` at N points and N times, and its limits.

    Where nobody may be at risk any more, hazards have any size: the estimate is NaN, as in `predict`, and a
    limit is that of the last time before.
    """
    back, last = _survival if kind == "survival" else np.exp, given(record.baseline).last(at.stratum)
    beyond, until = times > last, np.minimum(times, last)
    estimate = np.where(beyond, np.nan, back(log_hazard(record, at, times)[0]))
    line, se = log_hazard(record, at, until)
    clock = _of_clock(record, at, until)
    # a log-normal of this mean has its median below
    _, low, high = transformed(line - clock / 2, se, level, back)
    # noise may have made up all failures that are less than its error, or hide as many; of a log-normal whose
    # error is several times its mean nearly all is near 0
    moved = critical(level) * np.sqrt(np.expm1(clock))
    least, most = (back(line + np.log(np.maximum(1 + way, _LEAST))) for way in (-moved, moved))
    if kind == "survival":
        low, high = np.where(beyond, 0.0, np.fmin(low, most)), np.fmax(high, least)
    else:
        low, high = np.fmin(low, least), np.where(beyond, np.inf, np.fmax(high, most))
    return estimate, low, high


class HazardFit(Fit, models=("coxph",)):
    """A regression of hazards with a baseline that no distribution gives.

    Examples
    --------
    >>> import dpstats as dps
    >>> drives = dps.datasets.load("hdfail")
    >>> fit = dps.coxph("Surv(time, status) ~ temp", drives.data, drives.schema).fit(dps.zcdp(0.5))
    >>> fit.names
    ('temp',)
    >>> at = {"temp": [25, 40]}
    """

    __slots__ = ()
    _title = "proportional hazards regression"
    _response = "log hazard"
    _ratio = "hazard ratio"
    _bounds = {
        "cut c": lambda c: (
            f"units count until {percent(-math.expm1(-c))} of their kind have failed (so early failures "
            "weigh more where effects change)"
        ),
        "R": lambda radius: f"covariates beyond {radius:.3g} sds count less",
        "pieces": lambda count: f"baseline hazard on {count:.0f} piece{'s' if count > 1 else ''}",
        "strata": lambda count: f"each of {count:.0f} strata has its own",
    }
    _needs = ("needs a regression of hazards, and this is {model}", "Fit dps.coxph(...).")
    _predicts = ("lp", "link", "risk", "response", *CURVES)
    _refused = {
        **dict.fromkeys(
            _OF_DISTRIBUTIONS,
            (
                "needs a distribution of the time, and {model} has none",
                "Use fit.survival(newdata, times), or fit dps.survreg(...).",
            ),
        ),
        "residuals": (
            "of the rows would reveal them, and those of others are not offered for hazards",
            "Use fit.survival(newdata, times).",
        ),
        "proportional_test": (
            "needs coefficients that are estimable, and failures enough to tell early from late",
            "fit.summary() says what is estimable; a larger budget makes more so.",
        ),
        "marginal_effects": (
            "describe a mean, and this is {model}, of a time to failure",
            "Use fit.hazard_ratios(), or fit.survival(newdata, times) at two points.",
        ),
    }

    def _remark(self) -> str:
        return " hazard = baseline * exp(coef'x). Intervals of ratios are on the log scale."

    def _tables(self, level: float, scaled: Record) -> list[Table]:
        return table_of_ratios(ratio_rows(scaled, "Hazard ratio", level), level)

    def hazard_ratios(self, level: float = 0.95, *, units: Units | None = None) -> Estimates:
        """Return exp(coef): the factor by which one unit of a column multiplies the hazard.

        Parameters
        ----------
        level : float
        units : dict, optional
            Of how many units of a variable, as in the summary: ``{"temp": 10}``.

        Returns
        -------
        Estimates
            In ``.frame``: ``term``, ``estimate``, ``conf_low``, ``conf_high``; intervals on the log scale.

        Examples
        --------
        >>> fit.hazard_ratios().frame["term"].tolist()
        ['temp']
        """
        return tables.ratios(self.record, "Hazard ratio", level, units)

    @method_where(lambda record: record.trend is not None)
    def proportional_test(self, level: float = 0.95) -> Estimates:
        """Test whether hazards are proportional, as R's ``cox.zph(fit)``.

        A coefficient is let change in proportion to the share of rows alike that have failed since they
        entered, by the fit. R's ``transform = "rank"`` takes the share of all failures that have happened.

        Parameters
        ----------
        level : float
            Of the limits of a change.

        Returns
        -------
        Estimates
            In ``.frame``: ``term``, ``estimate``, by what the coefficient is larger when nearly all rows
            alike have failed than when none has, ``conf_low``, ``conf_high``, ``statistic`` (chi-square),
            ``df`` and ``p_value``. The last row, ``GLOBAL``, tests all together. Noise counts in all of it.

        Examples
        --------
        >>> fit.proportional_test().frame["term"].tolist()
        ['temp', 'GLOBAL']
        """
        refuse_alpha(level)
        record, trend = self.record, given(self.record.trend)
        sds = np.sqrt(np.diagonal(trend.cov))
        known = sds > 0
        change, half = np.where(known, trend.change, np.nan), critical(level) * np.where(known, sds, np.nan)
        square = (change / np.where(known, sds, np.nan)) ** 2
        whole, df = chi_square(trend.change[known], trend.rooted[known])
        frame = pd.DataFrame(
            {
                "term": [*record.names, GLOBAL],
                "estimate": np.append(change, np.nan),
                "conf_low": np.append(change - half, np.nan),
                "conf_high": np.append(change + half, np.nan),
                "statistic": np.append(square, whole),
                "df": np.append(np.ones(len(sds), dtype=int), df),
            }
        )
        frame["p_value"] = special.chdtrc(frame["df"], frame["statistic"])
        return Estimates(frame, lambda: _laid_out(frame, level))

    def survival(
        self,
        newdata: NewData | None = None,
        times: float | Sequence[float] = (),
        level: float = 0.95,
        *,
        clip: bool = False,
    ) -> Estimates:
        """Return the fraction that survives, as R's ``survfit(fit, newdata)``.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        times : float or sequence of float
            In the unit of the response. Default: where the baseline hazard may change.
        level : float
        clip : bool
            As in `predict`.

        Returns
        -------
        Estimates
            Intervals on the scale of the log cumulative hazard: they stay inside [0, 1].

        Raises
        ------
        NotReleased
            Without `newdata`: the mean of the training rows was not released.
        SpecificationError
            For times that are none, or beyond the public bounds of the response.

        Examples
        --------
        >>> fit.survival(at, times=[500, 1000]).frame["time"].tolist()
        [500.0, 1000.0, 500.0, 1000.0]
        """
        return self._curve(newdata, times, level, "survival", clip)

    def cumulative_hazard(
        self,
        newdata: NewData | None = None,
        times: float | Sequence[float] = (),
        level: float = 0.95,
        *,
        clip: bool = False,
    ) -> Estimates:
        """Return the cumulative hazard, as R's ``basehaz(fit, newdata)``; else as `survival`.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        times : float or sequence of float
        level : float
        clip : bool

        Returns
        -------
        Estimates

        Examples
        --------
        >>> fit.cumulative_hazard({"temp": 30}, times=1000).frame.columns.tolist()
        ['temp', 'time', 'estimate', 'conf_low', 'conf_high']
        """
        return self._curve(newdata, times, level, "cumulative_hazard", clip)

    def predict(
        self,
        newdata: NewData | None = None,
        type: str | None = None,
        times: float | Sequence[float] | None = None,
        *,
        se_fit: bool = False,
        clip: bool = False,
    ) -> pd.Series | pd.DataFrame:
        """Predict at new data, as R's ``predict(coxph)``.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame of m rows
        type : {"lp", "link", "risk", "response", "survival", "cumhaz"}, optional
            Default: "survival" where `times` are given, and else "lp". "lp" or "link" is the linear
            predictor, offset included, which is 0 where all covariates are: R takes that of their means off
            it. "risk" or "response" is exp of it. "survival" and "cumhaz" are those at `times`.
        times : float or sequence of float
            For "survival" and "cumhaz", in the unit of the response.
        se_fit : bool
            Add standard errors by the delta method, on the scale of what is predicted.
        clip : bool
            Move values to their public bounds. Else the fit is extrapolated, and a warning says so.

        Returns
        -------
        Series of m values; for several `times` a DataFrame with one column for each.
            With `se_fit` a DataFrame with columns ``predicted`` and ``se_fit``, each of them such a Series or
            DataFrame. What noise hides has an infinite standard error; NaN where a row lacks a value, which
            a warning says.

        Raises
        ------
        NotReleased
            Without `newdata`: predictions for the training rows would reveal them.
        SpecificationError
            For an unknown `type`, one that needs `times` without them, or `times` for one that has none, and
            for risks that floats do not hold, where covariates lie far from 0.

        Examples
        --------
        >>> fit.predict(at, type="survival", times=[500, 1000]).shape
        (2, 2)
        """
        if type is not None and not among(type, self._predicts):
            return super().predict(newdata, type, clip=clip)
        kind = kind_asked(type, "lp", times=times, of_times=CURVES)
        if kind not in CURVES:
            kind = "response" if kind == "risk" else kind
            return super().predict(newdata, kind, se_fit=se_fit, clip=clip)
        at = points(self.record, newdata, "predict", clip, gaps=True)
        times = () if times is None else times
        asked = self._times(times, f"type={kind!r}")
        one = partial(self._at_time, at, kind)
        return at.among_given(predicted(self.record, one, asked, np.ndim(times) == 0, se_fit))

    def plot_survival(
        self,
        newdata: NewData | None = None,
        level: float = 0.95,
        ax: Axes | None = None,
        *,
        clip: bool = False,
    ) -> Axes:
        """Plot the survival curve of each row of new data with its band; needs matplotlib.

        No survival rises, so that the limits of the band are those of all times in falling order: where few
        are at risk, an upper limit by itself would rise again.

        Parameters
        ----------
        newdata : dict, list of dict, or DataFrame
        level : float
        ax : matplotlib Axes, optional
            Draw here; default: the axes of a new figure.
        clip : bool
            As in `predict`.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> fit.plot_survival(at).figure.savefig("survival.png")
        """
        record, at = self.record, points(self.record, newdata, "plot_survival", clip)
        made, edges = axes(ax), given(record.baseline).times
        lost = np.isinf(log_hazard(record, at, np.full(len(at.exog), edges[-1]))[1])

        def line(i: int) -> tuple[np.ndarray, ...]:
            one = at.rows(np.full(len(edges), i))
            estimate, low, high = curve(record, one, edges, level, "survival")
            known = np.isfinite(estimate)  # a band beyond, down to 0, would look like a fall
            return edges[known], estimate[known], np.sort(low[known])[::-1], np.sort(high[known])[::-1]

        draw_lines(made, at, ("coxph", "fit"), lost, line)
        made.set(ylabel="survival", xlim=(0, edges[-1]), ylim=(-0.02, 1.02))
        return finish(record, at, "Survival", level, made)

    def _prediction(self, at: Points, average: bool = False) -> Prediction:
        linear, gradient = linear_predictor(self.record, at)
        _check_risks(linear, standard_errors(gradient, self.record))
        return super()._prediction(at, average)

    def _times(self, times: float | Sequence[float], asked: str) -> np.ndarray:
        values, last = check_times(times, asked), float(given(self.record.baseline).times[-1])
        if values.max() > last:
            raise SpecificationError(
                f"{asked} needs times within the public bounds of the response, up to {plain(last)}: beyond "
                "them the fit knows of no hazard"
            )
        return values

    def _curve(
        self, newdata: NewData | None, times: float | Sequence[float], level: float, kind: str, clip: bool
    ) -> Estimates:
        record, default = self.record, given(self.record.baseline).times[1:]
        asked = default if isinstance(times, tuple) and not times else self._times(times, kind)
        every, each = points(record, newdata, kind, clip).at_each(asked)
        estimate, low, high = curve(record, every, each, level, kind)
        columns = {"estimate": estimate, "conf_low": low, "conf_high": high}
        head, scale = ("S", "cloglog") if kind == "survival" else ("H", "log")
        heads = [f"{head}({plain(time)})" for time in each]
        return tables.by_time(heads, every, {"time": each}, columns, level, scale)

    def _at_time(self, at: Points, kind: str, time: float) -> tuple[np.ndarray, np.ndarray]:
        centre, se = log_hazard(self.record, at, np.full(len(at.exog), time))
        se = np.where(time > given(self.record.baseline).last(at.stratum), np.inf, se)
        hazard = np.exp(centre)
        if kind == "cumhaz":
            return hazard, by_slope(hazard, se)
        return np.exp(-hazard), by_slope(hazard * np.exp(-hazard), se)


def _check_risks(linear: np.ndarray, se: np.ndarray) -> None:
    """Refuse to take exp of log risks that floats do not hold, of covariates far from 0.

    Raises
    ------
    SpecificationError
    """
    if (beyond := linear[np.isfinite(se) & (np.abs(linear) > LARGEST)]).size:
        raise SpecificationError(
            "a risk is relative to a row whose covariates are all 0, and floats do not hold "
            f"exp({beyond[0]:g}), that of a row of newdata; differences of type='lp' are of log hazards "
            "between its rows, and fit.survival(newdata, times) has curves"
        )


def _survival(log: np.ndarray) -> np.ndarray:
    return np.exp(-np.exp(np.minimum(log, LARGEST)))

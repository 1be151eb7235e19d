"""What a time to failure is predicted to be or do at new data, with standard errors on the scale predicted.

See docs/theory/results.md#survival-tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from dpstats.families import IDENTITY, LOG, Family, Link
from dpstats.results import survival_quantities as quantities
from dpstats.results.intervals import by_slope, standard_errors
from dpstats.results.newdata import Points
from dpstats.results.prediction import linear_predictor
from dpstats.results.record import Record
from dpstats.results.reliability import check_times, failed_fractions

AT_TIMES = ("survival", "hazard", "cumhaz")  # kinds of prediction that are of a time
OF_QUANTILES = ("quantile", "median")

Errors = tuple[np.ndarray, np.ndarray]  # predictions of m points, and their standard errors


def predictions(
    record: Record, at: Points, kind: str, p: float | Sequence[float], times: float | Sequence[float]
) -> tuple[pd.Series | pd.DataFrame, pd.Series | pd.DataFrame]:
    """Return predictions of m points and their standard errors.

    Parameters
    ----------
    record : Record
    at : Points
    kind : str
        Any type of :meth:`dpstats.results.SurvivalFit.predict`.
    p : float or sequence of float
        Failed fractions of the type "quantile".
    times : float or sequence of float
        Of the types `AT_TIMES`.

    Returns
    -------
    two Series, or two DataFrames with a column for each of several `p` or `times`

    Raises
    ------
    SpecificationError
        For wrong `p` or `times`, where they are used.
    """
    if kind in AT_TIMES:
        asked = check_times(times, f"type={kind!r}", positive=kind == "hazard")
        return _columns(lambda time: _at_time(record, at, kind, time), asked, np.ndim(times) == 0)
    if kind in OF_QUANTILES:
        p = 0.5 if kind == "median" else p
        return _columns(lambda q: _quantile(record, at, q), failed_fractions(p), np.ndim(p) == 0)
    linear = linear_predictor(record, at)
    back = record.link if kind == "response" else IDENTITY
    return _columns(lambda _: _transformed(record, linear, back), np.zeros(1), True)


def _columns(
    one: Callable[[float], Errors], asked: np.ndarray, scalar: bool
) -> tuple[pd.Series | pd.DataFrame, pd.Series | pd.DataFrame]:
    """Return what `one` gives for each of `asked`, and its standard errors."""
    found = [one(float(each)) for each in asked]
    names = asked.tolist()
    values, errors = (
        pd.DataFrame(dict(zip(names, parts, strict=True))) for parts in zip(*found, strict=True)
    )
    return (values.iloc[:, 0], errors.iloc[:, 0]) if scalar else (values, errors)


def _quantile(record: Record, at: Points, failed: float) -> Errors:
    return _transformed(record, quantities.quantile(record, at, np.array(failed)), record.link)


def _at_time(record: Record, at: Points, kind: str, time: float) -> Errors:
    """Return survival, hazard or cumulative hazard at a time; of log time, nothing has failed at 0."""
    asked = np.full(len(at.exog), time)
    if kind == "hazard":
        return _transformed(record, quantities.log_hazard(record, at, asked), LOG)
    z, gradient = quantities.standardized(record, at, asked)
    value, slope = _of_residual(quantities.dist_of(record).family, kind, z)
    return value, by_slope(slope, standard_errors(gradient, record.cov))


def _transformed(record: Record, linear: quantities.Linear, back: Link) -> Errors:
    centre, gradient = linear
    return back.inverse(centre), by_slope(back.slope(centre), standard_errors(gradient, record.cov))


def _of_residual(family: Family, kind: str, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return survival or cumulative hazard at z, with the size of its derivative."""
    begun = np.isfinite(z)
    inside = np.where(begun, z, 0.0)
    slope = np.where(begun, family.hazard(inside), 0.0)
    if kind == "survival":
        return family.sf(z), slope * family.sf(z)
    return np.where(begun, np.exp(family.log_cumulative_hazard(inside)), 0.0), slope

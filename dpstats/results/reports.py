"""Layout of survival estimates: B-lives, reliability at times, parameters, ratios (spec/results.md 3.3)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpstats.results import life as numbers
from dpstats.results.estimates import Estimates, limit_heads, with_limits
from dpstats.results.format import bracket, figures, level_percent, plain, times
from dpstats.results.intervals import standard_errors
from dpstats.results.points import Points
from dpstats.results.prediction import response_scale
from dpstats.results.record import Record
from dpstats.results.table import Column, Document, Table

NOT_ESTIMABLE = "not estimable"
Columns = dict[str, np.ndarray]


def life(record: Record, at: Points, failed: np.ndarray, level: float) -> Estimates:
    """Lay out quantiles, the scale and the mean, one table for each point."""
    log, family = numbers.dist_of(record).log, numbers.dist_of(record).family
    names = [*(f"B{100 * q:.6g}" for q in failed), "eta" if log else "mu", "mean"]
    fractions = np.append(failed, family.cdf(0.0))
    back = response_scale(record)
    location, gradient = numbers.linear_predictor(record, at.exog)
    location_se = standard_errors(gradient, record.cov)
    means = np.where(np.isinf(location_se), np.nan, back(numbers.mean(record, at.exog)[0]))
    aside = f"{level_percent(level)} intervals" + (", log scale" if log else "")
    tables, frames = [], []
    for row in range(len(at.exog)):
        exog = np.repeat(at.exog[row : row + 1], len(fractions), axis=0)
        columns = with_limits(*numbers.quantile(record, exog, fractions), record.cov, level, back)
        closing = {"estimate": means[row], "conf_low": np.nan, "conf_high": np.nan}
        frame = pd.DataFrame({"quantity": names, "failed": np.append(fractions, np.nan)})
        frame = frame.assign(**{name: np.append(columns[name], closing[name]) for name in columns})
        remark = f"{family.title} mu = {location[row]:.4g} ({location_se[row]:.3g})" if log else ""
        tables.append(_life_table(frame, level, _at("Life", at, row), aside, remark))
        frames.append(_beside(at, [row] * len(frame), frame))
    return Estimates(pd.concat(frames, ignore_index=True), Document(tables=tuple(tables)))


def _life_table(frame: pd.DataFrame, level: float, title: str, aside: str, remark: str) -> Table:
    rows: list[tuple[str, ...]] = []
    for name, q, *values in frame.itertuples(index=False):
        share = "" if np.isnan(q) else level_percent(q)
        if np.isnan(values[0]) or _unknown(values[1], values[2]):
            rows.append((name, share, NOT_ESTIMABLE))
        else:
            rows.append((name, share, *map(times, values), remark if name == "eta" else ""))
    limits = (Column(head, ".") for head in limit_heads(level))
    heads = (Column("", "l"), Column("failed"), Column("time", "."), *limits, Column("", "l"))
    return Table(heads, tuple(rows), title=title, aside=aside)


def by_time(
    head: str, at: Points, asked: np.ndarray, columns: Columns, level: float, scale: str
) -> Estimates:
    """Lay out a quantity at times, several to a line, as ``R(250) = 0.993 [0.969, 0.998]``.

    Parameters
    ----------
    head : str
        With ``{}`` where the time goes, e.g. ``"R({})"``.
    at : Points
        One row for each of `asked`, the times.
    columns : dict
        From `with_limits`.
    level : float
    scale : str
        On which the interval was made: ``"log"`` for rates, another for probabilities.
    """
    frame = _beside(at, list(range(len(asked))), pd.DataFrame({"time": asked, **columns}))
    lines: dict[str, list[str]] = {}
    for row, (time, estimate, low, high) in enumerate(zip(asked, *columns.values(), strict=True)):
        if _unknown(low, high) if scale == "log" else low == 0 and high == 1:
            text = NOT_ESTIMABLE
        elif scale == "log":
            text = f"{figures(estimate)} {bracket(low, high)}"
        else:
            text = _probability(estimate, low, high)
        lines.setdefault(at.label(row), []).append(f"{head.format(plain(time))} = {text}")
    aside = f"{level_percent(level)} intervals, {scale} scale"
    tables = tuple(
        Table((Column("", "l"),), tuple((line,) for line in _packed(items)), 1, _at("", at, i), aside)
        for i, items in zip(_first_rows(at), lines.values(), strict=True)
    )
    return Estimates(frame, Document(tables=tables))


def _probability(estimate: float, low: float, high: float) -> str:
    """Write a probability with three decimals, more where it is nearly 0 or 1 throughout its interval."""
    margin = min(1 - low, high)
    decimals = int(np.clip(1 - np.floor(np.log10(margin)), 3, 8)) if margin > 0 else 3
    return f"{estimate:.{decimals}f} {bracket(low, high, decimals)}"


def _first_rows(at: Points) -> list[int]:
    labels = [at.label(row) for row in range(len(at.exog))]
    return [row for row, label in enumerate(labels) if label not in labels[:row]]


def by_point(name: str, at: Points, columns: Columns, level: float) -> Estimates:
    """Lay out one quantity at each point."""
    low, high = limit_heads(level)
    rows = tuple(
        (at.label(i) or name, *((NOT_ESTIMABLE,) if _unknown(lo, hi) else map(times, (value, lo, hi))))
        for i, (value, lo, hi) in enumerate(zip(*columns.values(), strict=True))
    )
    heads = (Column("", "l"), Column(name, "."), Column(low, "."), Column(high, "."))
    frame = _beside(at, list(range(len(rows))), pd.DataFrame(columns))
    return Estimates(frame, Document(tables=(Table(heads, rows),)))


def parameters(record: Record, level: float, of_time: bool) -> Estimates:
    """Lay out coefficients and sigma, or, `of_time`, their exponentials and the shape."""
    k = len(record.names)
    sign = np.ones(k)
    terms = [*record.names[:-1], "sigma"]
    if of_time:
        sign[-1] = -1.0
        terms = ["eta" if name == "Intercept" else f"exp({name})" for name in record.names[:-1]] + ["shape"]
    centre, gradient = sign * record.params, np.diag(sign)
    columns = with_limits(centre, gradient, record.cov, level, np.exp)
    if not of_time:
        location = with_limits(centre, gradient, record.cov, level, np.array)
        columns = {name: np.append(location[name][:-1], columns[name][-1]) for name in columns}
    return _terms("parameter", terms, columns, standard_errors(gradient, record.cov), level)


def location(record: Record) -> numbers.Linear:
    """Return the location coefficients with their gradient."""
    p = record.n_location
    return record.params[:p], np.eye(p, len(record.names))


def ratios(record: Record, head: str, centre: np.ndarray, gradient: np.ndarray, level: float) -> Estimates:
    """Lay out exp(centre) for every location coefficient but the intercept."""
    keep = [j for j, name in enumerate(record.names[: record.n_location]) if name != "Intercept"]
    columns = with_limits(centre[keep], gradient[keep], record.cov, level, np.exp)
    se = standard_errors(gradient[keep], record.cov)
    return _terms(head, [record.names[j] for j in keep], columns, se, level)


def _terms(head: str, terms: list[str], columns: Columns, se: np.ndarray, level: float) -> Estimates:
    low, high = limit_heads(level)
    rows = tuple(
        (term, *((NOT_ESTIMABLE,) if np.isinf(s) else map(figures, values)))
        for term, s, *values in zip(terms, se, *columns.values(), strict=True)
    )
    heads = (Column(head, "l"), Column("estimate", "."), Column(low, "."), Column(high, "."))
    return Estimates(pd.DataFrame({"term": terms, **columns}), Document(tables=(Table(heads, rows),)))


def _unknown(low: float, high: float) -> bool:
    """Whether limits say nothing: the whole line, or all positive numbers."""
    return bool(low in (0.0, -np.inf) and high == np.inf)


def _at(what: str, at: Points, row: int) -> str:
    label = at.label(row)
    if not label:
        return what
    return f"{what} at {label}" if what else f"At {label}"


def _beside(at: Points, rows: list[int], frame: pd.DataFrame) -> pd.DataFrame:
    left = at.covariates.iloc[rows].reset_index(drop=True)
    return pd.concat([left, frame.reset_index(drop=True)], axis=1)


def _packed(items: list[str], width: int = 78) -> list[str]:
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 3 + len(item) <= width:
            lines[-1] += "   " + item
        else:
            lines.append(item)
    return lines

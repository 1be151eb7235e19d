"""Tables of a summary below its coefficients: scale, ratios, and how far responses scatter."""

from __future__ import annotations

import numpy as np

from dpstats.families import Dist
from dpstats.results import inference, life, scatter
from dpstats.results.estimates import NOT_ESTIMABLE, limit_heads
from dpstats.results.format import figures, percent
from dpstats.results.glm import ratio_name
from dpstats.results.intervals import Estimate, log_estimate
from dpstats.results.record import Record
from dpstats.results.table import Column, Table
from dpstats.schema import Bounded, Count


def tables_below(record: Record, level: float) -> list[Table]:
    """Return the tables that follow the coefficients, which depend on the kind of model."""
    if record.is_survival:
        return [_scale_and_ratios(record, level)]
    if record.no_errors:
        return []
    tables = []
    rows = _ratios(record, ratio_name(record).capitalize(), level) if ratio_name(record) else []
    if rows:
        tables.append(_table_of_ratios(rows, level))
    if record.dispersion is not None:
        tables.append(_scatter({"Dispersion": scatter.dispersion(record, level)}, level))
    if record.linear is not None:
        found = {"Residual sd": scatter.sigma(record, level), "Explained": scatter.rsquared(record, level)}
        tables.append(_scatter(found, level))
    return tables


def _scale_and_ratios(record: Record, level: float) -> Table:
    """Return sigma, the shape in words, and the time ratios of the covariates."""
    dist = life.dist_of(record)
    log_sigma, se = float(record.params[-1]), float(inference.bse(record)[-1])
    family = dist.family.title[:1].upper() + dist.family.title[1:]
    rows = [_estimate(f"{family} scale", log_estimate("sigma", log_sigma, se, level), "")]
    if has_shape(dist):
        shape = log_estimate("beta=1/sigma", -log_sigma, se, level)
        words = wear(shape) if dist.name == "weibull" else ""
        rows.append(_estimate(f"{dist.title} shape", shape, words))
    if dist.log:
        rows += _ratios(record, "Time ratio", level)
    return _table_of_ratios(rows, level)


def _table_of_ratios(rows: list[tuple[str, ...]], level: float) -> Table:
    columns = (
        Column("", "l"),
        Column("", "l"),
        Column("estimate", "."),
        *(Column(head, ".") for head in limit_heads(level)),
        Column("", "l"),
    )
    return Table(columns, tuple(rows), labels=2)


def _ratios(record: Record, kind: str, level: float) -> list[tuple[str, ...]]:
    """Return a row for exp of each location coefficient but the intercept; the first says what they are."""
    rows: list[tuple[str, ...]] = []
    for j, name in enumerate(record.names[: record.n_location]):
        if name != "Intercept":
            ratio = log_estimate(name, float(record.params[j]), float(inference.bse(record)[j]), level)
            rows.append(_estimate("" if rows else kind, ratio, _per(record, name)))
    return rows


def _estimate(kind: str, value: Estimate, words: str) -> tuple[str, ...]:
    if np.isinf(value.std_error):
        return kind, value.name, NOT_ESTIMABLE
    return kind, value.name, *(figures(v) for v in (value.estimate, value.conf_low, value.conf_high)), words


def _scatter(quantities: dict[str, Estimate], level: float) -> Table:
    """Return sigma and R-squared, or the dispersion."""
    rows: list[tuple[str, ...]] = []
    for kind, value in quantities.items():
        if np.isinf(value.std_error):
            rows.append((kind, value.name, NOT_ESTIMABLE))
            continue
        share, low, high = percent(value.privacy_share), figures(value.conf_low), figures(value.conf_high)
        rows.append((kind, value.name, figures(value.estimate), share, low, high))
    heads = (Column("", "l"), Column("", "l"), Column("estimate", "."), Column("privacy"))
    return Table((*heads, *(Column(head, ".") for head in limit_heads(level))), tuple(rows), labels=2)


def has_shape(dist: Dist) -> bool:
    """Whether 1 / sigma is what engineers call the shape; that of a log-normal is sigma itself."""
    return dist.log and dist.name != "lognormal"


def wear(shape: Estimate) -> str:
    """Say what a Weibull shape means, if its interval excludes 1."""
    if shape.conf_low > 1:
        return "wear-out (beta > 1)"
    if shape.conf_high < 1:
        return "infant mortality (beta < 1)"
    return "beta = 1 not excluded"


def _per(record: Record, name: str) -> str:
    if "[" in name:
        return "vs reference" if "[T." in name and ":" not in name else ""
    variable = record.schema.get(name)
    unit = variable.unit if isinstance(variable, Bounded | Count) else None
    return f"per {unit}" if unit else "per unit"

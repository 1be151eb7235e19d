"""Tables that follow the coefficients in a summary: ratios, and how far responses scatter."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from dpstats.results.estimates import cells, limit_columns, points
from dpstats.results.format import percent
from dpstats.results.intervals import Estimate, log_estimate
from dpstats.results.record import Record
from dpstats.results.standard_errors import bse
from dpstats.results.table import Column, Table
from dpstats.schema import Bounded, Count

LABELS = (Column("", "l"), Column("", "l"))


def ratio_row(kind: str, value: Estimate, words: str) -> tuple[str, ...]:
    """Return the row of one estimate with its limits, and what it means in words."""
    known = not np.isinf(value.std_error)
    numbers = cells((value.estimate, value.conf_low, value.conf_high), known)
    return kind, value.name, *numbers, *([words] if known else [])


def ratio_rows(
    record: Record, kind: str, level: float, without: Collection[str] = ()
) -> list[tuple[str, ...]]:
    """Return a row for exp of each location coefficient but the intercept; the first says what they are."""
    rows: list[tuple[str, ...]] = []
    for name, value, se in zip(record.names[: record.n_location], record.params, bse(record), strict=False):
        if name != "Intercept" and name not in without:
            ratio = log_estimate(name, float(value), float(se), level)
            rows.append(ratio_row("" if rows else kind, ratio, _per(record, name)))
    return rows


def table_of_ratios(rows: list[tuple[str, ...]], level: float) -> list[Table]:
    """Return a table of such rows, none without."""
    heads = (*LABELS, *points("estimate"), *limit_columns(level), Column("", "l"))
    return [Table(heads, tuple(rows), labels=2)] if rows else []


def table_of_scatter(quantities: dict[str, Estimate], level: float) -> Table:
    """Return sigma and R-squared, or the dispersion."""
    rows: list[tuple[str, ...]] = []
    for kind, value in quantities.items():
        name, label, estimate, *limits = ratio_row(kind, value, "")
        share = [percent(value.privacy_share)] if limits else []
        rows.append((name, label, estimate, *share, *limits[:2]))
    heads = (*LABELS, *points("estimate"), Column("privacy"), *limit_columns(level))
    return Table(heads, tuple(rows), labels=2)


def _per(record: Record, name: str) -> str:
    if "[" in name:
        return "vs reference" if "[T." in name and ":" not in name else ""
    variable = record.schema.get(name)
    unit = variable.unit if isinstance(variable, Bounded | Count) else None
    return f"per {unit}" if unit else "per unit"

"""Tables that follow the coefficients in a summary: ratios, and how far responses scatter."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from dpstats.results.estimates import cells, limit_columns, points
from dpstats.results.format import percent, plain
from dpstats.results.in_units import says_units
from dpstats.results.intervals import Estimate, log_estimate
from dpstats.results.record import Record
from dpstats.results.standard_errors import bse
from dpstats.results.table import Column, Table
from dpstats.schema import Bounded, Count, Event, Flag, Levels

STEPS = 5  # of the power of ten that a ratio is of, that fit into the public range: age 18 to 90 has 10 years
LONGEST_REFERENCE = 20  # characters of a level that is named beside a ratio
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
            step, words = _per(record, name)
            ratio = log_estimate(name, step * float(value), step * float(se), level)
            rows.append(ratio_row("" if rows else kind, ratio, words))
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


def reference_of(record: Record, name: str) -> tuple[str, str] | None:
    """Return the factor of a coefficient such as ``maker[T.WDC]``, and the level that it is compared with."""
    factor, bracket, rest = name.partition("[T.")
    variable = record.schema.get(factor) if bracket and rest.endswith("]") else None
    return (factor, variable.all[0]) if isinstance(variable, Levels) else None


def _per(record: Record, name: str) -> tuple[float, str]:
    """Return how many units of a column a ratio is of, and what it compares, in words."""
    if (found := reference_of(record, name)) and len(found[1]) <= LONGEST_REFERENCE:
        return 1.0, f"v {found[1]}"
    if "[" in name:
        return 1.0, "vs reference" if "[T." in name and ":" not in name else ""
    if says_units(name):
        return 1.0, ""
    variable = record.schema.get(name)
    if isinstance(variable, Flag | Event):
        return 1.0, " v ".join(variable.codes)
    if not isinstance(variable, Bounded | Count):
        return 1.0, "per unit"
    low, high = variable.bounds
    steps = 10.0 ** math.floor(math.log10((high - low) / STEPS))
    step = steps if steps > 1 else 1.0
    many = f"{plain(step)} " if step > 1 else ""
    return step, f"per {many}{variable.unit or ('units' if many else 'unit')}"

"""Which distribution the data prefer: log-likelihoods against that of the fit (release=["dist"]).

See docs/theory/intervals.md#choice-of-a-distribution.
"""

from __future__ import annotations

import math

import pandas as pd

from dpstats.results.document import Document, Estimates, limit_columns, point_columns
from dpstats.results.intervals import critical
from dpstats.results.record import Record
from dpstats.results.table import Column, Table, figures

NOTE = (
    "Log-likelihood less that of the fitted distribution, as the rows of this fit have it, each clipped; "
    "std err and limits are of the noise. More is better; twice the difference is one of AIC."
)


def table_of(record: Record, level: float) -> Estimates:
    """Return the differences, the fitted distribution first, with limits of the noise."""
    found = ((record.dist, 0.0, 0.0), *record.rivals)
    half = [critical(level) * sd for _, _, sd in found]
    frame = pd.DataFrame(found, columns=["dist", "estimate", "std_error"])
    frame["conf_low"], frame["conf_high"] = frame["estimate"] - half, frame["estimate"] + half
    rows = [
        (name, *map(figures, numbers)) if sd else (name, "fitted")
        for name, sd, *numbers in zip(
            frame["dist"],
            frame["std_error"],
            *(frame[column] for column in ("estimate", "std_error", "conf_low", "conf_high")),
            strict=True,
        )
    ]
    heads = (Column("", "l"), *point_columns("log-lik", "std err"), *limit_columns(level))
    told = f"Preferred: {' or '.join(contenders(record, level))}"
    return Estimates(frame, lambda: Document(tables=(Table(heads, tuple(rows), title=told),), notes=(NOTE,)))


def contenders(record: Record, level: float = 0.95) -> list[str]:
    """Return the distribution of the largest likelihood, and those that noise does not tell from it."""
    found = ((record.dist, 0.0, 0.0), *record.rivals)
    best, *others = sorted(found, key=lambda each: -each[1])
    near = critical(level)
    left = [name for name, value, sd in others if best[1] - value <= near * math.hypot(best[2], sd)]
    return [best[0], *left]


def preferred(record: Record) -> str | None:
    """Return the distribution of the largest likelihood, if it is above all others by more than noise."""
    best, *left = contenders(record)
    return None if left else best


def line_of(record: Record) -> str:
    """Return what a summary says of it."""
    told = ", ".join(f"{name} {value:+.0f} (sd of noise {figures(sd)})" for name, value, sd in record.rivals)
    return f"{' or '.join(contenders(record))}; log-likelihood against {record.dist}: {told}; rows clipped"

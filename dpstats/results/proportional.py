"""Test of proportional hazards from released scores. See docs/theory/coxph.md#proportional-hazards."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special

from dpstats.results.document import Document
from dpstats.results.estimates import NOT_ESTIMABLE, Estimates, limit_columns, points
from dpstats.results.format import figures, p_value, z_value
from dpstats.results.intervals import critical, refuse_alpha
from dpstats.results.record import Record, given
from dpstats.results.table import Column, Table

GLOBAL = "GLOBAL"


def proportional(record: Record, level: float) -> Estimates:
    """Lay out the change of each coefficient with its test, and the test of all."""
    refuse_alpha(level)
    trend = given(record.trend)
    sds = np.sqrt(np.diagonal(trend.cov))
    known = sds > 0
    change, half = np.where(known, trend.change, np.nan), critical(level) * np.where(known, sds, np.nan)
    square = (change / np.where(known, sds, np.nan)) ** 2
    inner = np.ix_(known, known)
    whole = float(trend.change[known] @ np.linalg.solve(trend.cov[inner], trend.change[known]))
    frame = pd.DataFrame(
        {
            "term": [*record.names, GLOBAL],
            "estimate": np.append(change, np.nan),
            "conf_low": np.append(change - half, np.nan),
            "conf_high": np.append(change + half, np.nan),
            "statistic": np.append(square, whole),
            "df": np.append(np.ones(len(sds), dtype=int), known.sum()),
        }
    )
    frame["p_value"] = special.chdtrc(frame["df"], frame["statistic"])
    return Estimates(frame, lambda: _laid_out(frame, level))


def _laid_out(frame: pd.DataFrame, level: float) -> Document:
    heads = (Column("", "l"), *points("change"), *limit_columns(level), Column("chi2"), Column("df"))
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

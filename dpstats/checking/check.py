"""What a fit would make of each column. NOT PRIVATE."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpstats._private import forgetful, forgetting
from dpstats.checking.cells import written
from dpstats.checking.reasons import MISSING, reason
from dpstats.results.document import Document, Shown
from dpstats.results.table import Column, Table
from dpstats.rows import open_rows
from dpstats.rows.grammar import MISSING_TEXTS
from dpstats.schema import Bounded, Count, Levels, Schema, Variable, as_schema

BANNER = "NOT PRIVATE: exact counts, and cells of the data. DO NOT PUBLISH."
_EXAMPLES = 3  # spellings that are shown of each reason
_LONGEST = 24  # characters of one

_Values = dict[str, Counter[float]]  # of each variable, how often each is there


@forgetting
def check(data: Any, schema: Schema) -> DataCheck:
    """Count the cells that fits cannot use, and say why: for whoever holds the data, on their own screen.

    It is not private: counts are exact, and cells are shown. Never publish it, and do not choose bounds or
    levels of a fit by it, but correct how the data are written.

    Parameters
    ----------
    data
        As models take them. Of a generator there are counts without reasons.
    schema : Schema
        All its variables are looked for.

    Returns
    -------
    DataCheck
        Printed with a warning; ``.frame`` has the counts, how unusable cells are written, and the
        commonest values beyond the bounds, such as a 999 that stands for "not known".

    Raises
    ------
    DataError
        If a column is missing, or its storage type cannot hold what is declared.

    Examples
    --------
    >>> import dpstats as dps
    >>> schema = dps.Schema(days=dps.bounded(0, 4000), maker=dps.levels("HGST", "WDC"))
    >>> found = dps.check({"days": ["12", "1,234", "5000"], "maker": ["hgst", "WDC", None]}, schema)
    >>> found.frame[["variable", "unusable", "above"]].values.tolist()
    [['days', 1, 1], ['maker', 2, 0]]
    """
    schema = as_schema(schema)
    lost, below, above, n = _counted(data, schema)
    total = {name: (sum(below[name].values()), sum(above[name].values())) for name in schema}
    records = [
        {
            "variable": name,
            "kind": variable.kind,
            "cells": n,
            "unusable": int(lost[name].sum()),
            "below": total[name][0],
            "above": total[name][1],
            "why": _why(data, name, variable, lost[name]),
            "beyond": _commonest(below[name] + above[name]),
        }
        for name, variable in schema.items()
    ]
    whole = np.any([*lost.values(), np.zeros(n, bool)], axis=0)
    return DataCheck(pd.DataFrame(records), int(whole.sum()))


def _counted(data: Any, schema: Schema) -> tuple[dict[str, np.ndarray], _Values, _Values, int]:
    """Which cells of each variable are unusable, the values below and above its bounds, and the rows."""
    unusable: dict[str, list[np.ndarray]] = {name: [np.zeros(0, bool)] for name in schema}
    below: _Values = {name: Counter() for name in schema}
    above: _Values = {name: Counter() for name in schema}
    n = 0
    for block in open_rows(data, schema, list(schema)).blocks():
        for name, variable in schema.items():
            values = block[name]
            unusable[name].append(values < 0 if isinstance(variable, Levels) else np.isnan(values))
            if isinstance(variable, Bounded | Count):
                below[name].update(values[values < variable.bounds[0]].tolist())
                above[name].update(values[values > variable.bounds[1]].tolist())
        n += len(next(iter(block.values())))
    return {name: np.concatenate(parts) for name, parts in unusable.items()}, below, above, n


def _commonest(values: Counter[float]) -> str:
    """The commonest values and how often each is there; the rest is counted only."""
    shown = [f"{value:.6g}" + (f" ({times} times)" if times > 1 else "") for value, times in _first(values)]
    return ", ".join(shown + ["..."] * (len(values) > len(shown)))


def _first(values: Counter[float]) -> list[tuple[float, int]]:
    return sorted(values.items(), key=lambda item: (-item[1], item[0]))[:_EXAMPLES]


def _why(data: Any, name: str, variable: Variable, lost: np.ndarray) -> str:
    """Reasons with how often, and what is written there."""
    if not lost.any():
        return ""
    column = written(data, name, len(lost))
    if column is None:
        return "not known: the cells cannot be seen again"
    reasons: dict[str, Counter[str]] = {}
    for cell in column[lost]:
        reasons.setdefault(reason(cell, variable), Counter())[str(cell)[:_LONGEST]] += 1
    told = []
    absent = [one for one in getattr(variable, "all", ()) if one in MISSING_TEXTS]
    if absent and isinstance(data, pd.DataFrame) and MISSING in reasons:
        told.append(f"pandas.read_csv reads the level {absent[0]!r} as missing: give keep_default_na=False")
    for why, cells in sorted(reasons.items(), key=lambda item: -item[1].total()):
        examples = ", ".join(repr(text) for text, _ in cells.most_common(_EXAMPLES))
        told.append(f"{cells.total()} {why}" + (f" ({examples})" if why != MISSING else ""))
    return "; ".join(told)


@forgetful
@dataclass(frozen=True, repr=False)
class DataCheck(Shown):
    """What `check` found. NOT PRIVATE.

    Attributes
    ----------
    frame : DataFrame
        For each variable its kind, cells, unusable ones, those below and above the bounds, why cells are
        unusable, and the commonest values beyond the bounds.
    unusable_rows : int
        Rows with an unusable cell in any declared variable.

    Examples
    --------
    >>> import dpstats as dps
    >>> table = dps.check({"days": ["12", "a week"]}, dps.Schema(days=dps.bounded(0, 4000)))
    >>> table.unusable_rows
    1
    """

    frame: pd.DataFrame
    unusable_rows: int

    @property
    def document(self) -> Document:
        """The printed table."""
        heads = ("variable", "kind", "unusable", "below", "above")
        rows = tuple(tuple(str(row[head]) for head in heads) for _, row in self.frame.iterrows())
        cells = int(self.frame["cells"].max()) if len(self.frame) else 0
        why = [f"{row['variable']}: {row['why']}." for _, row in self.frame.iterrows() if row["why"]]
        why += [
            f"{row['variable']} is beyond its bounds at {row['beyond']}."
            for _, row in self.frame.iterrows()
            if row["beyond"]
        ]
        note = (
            f"{self.unusable_rows} of {cells} rows have an unusable cell in a declared variable; such rows "
            "weigh nothing in fits of that variable. Values below or above the bounds are moved to them."
        )
        columns = (Column("variable", "l"), Column("kind", "l"), *(Column(head) for head in heads[2:]))
        return Document(
            title="What fits can use of these data",
            banner=BANNER,
            tables=(Table(columns, rows),),
            notes=(*why, note),
        )

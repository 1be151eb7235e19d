"""How a description is printed: a table of numbers, one of shares, one of correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from dpstats.results.document import Document
from dpstats.results.estimates import limit_columns, points
from dpstats.results.facts import asked_and_paid, banner, heading
from dpstats.results.format import figures, level_percent, percent
from dpstats.results.table import Column, Table

if TYPE_CHECKING:
    from dpstats.results.description import Description

_NOTE = (
    "Numbers are of the usable cells of a variable, moved into its declared bounds; 'missing' is the share "
    "of cells that no fit can use. std err and the intervals count sampling and privacy noise; 'privacy' is "
    "the share of the variance that is privacy noise."
)
_PAIRS = "Correlations are over the rows that have both numbers."


def document_of(found: Description, frame: pd.DataFrame, pairs: pd.DataFrame) -> Document:
    """Lay out all numbers of a description.

    Parameters
    ----------
    found : Description
    frame, pairs : DataFrame
        Of its numbers, and of its correlations.
    """
    aside = f"{level_percent(0.95)} intervals"
    heads = (*points("estimate", "std err"), Column("privacy"), *limit_columns(0.95))
    tables = []
    for name in found.names:
        rows = frame[frame["variable"] == name]
        unit = getattr(found.schema[name], "unit", None)
        title = f"{name} ({unit})" if unit else name
        cells = tuple((str(row.quantity), *_cells(row)) for row in rows.itertuples())
        tables.append(Table((Column("", "l"), *heads), cells, title=title, aside=aside))
    if len(pairs):
        cells = tuple((f"{row.first}, {row.second}", *_cells(row)) for row in pairs.itertuples())
        tables.append(Table((Column("", "l"), *heads), cells, title="Correlations", aside=aside))
    return Document(
        title=heading(found, "description"),
        banner=banner(found),
        head=tuple(asked_and_paid(found)),
        tables=tuple(tables),
        notes=(_NOTE, *[_PAIRS] * bool(len(pairs))),
    )


def _cells(row: Any) -> tuple[str, ...]:
    return (
        figures(row.estimate),
        figures(row.std_error),
        percent(row.privacy_share),
        figures(row.conf_low),
        figures(row.conf_high),
    )

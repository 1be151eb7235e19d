"""Queries that have a text file parsed by a reader of their own, in which one record may decide about others.

Such a reader guesses types, quotation marks and what ends a record from what the records hold. What a query
does is read from its plan; no record is looked at.
"""

from __future__ import annotations

import re

from dpstats.errors import DataError

__all__ = ["refusal", "refuse_text_files"]

# operators of a plan: lines of polars' plans, names in DuckDB's, of which those of typed files are let pass
_PARSING = re.compile(
    r'^\s*(?:Csv|NDJson|Lines) SCAN|"name": "(?:READ_(?!PARQUET|DUCKDB|ARROW|AVRO)|SNIFF_|ST_READ)',
    re.IGNORECASE | re.MULTILINE,
)


def refuse_text_files(plan: str, kind: str) -> None:
    """Raise DataError if a plan parses a text file.

    Parameters
    ----------
    plan : str
        As polars explains it, or DuckDB in JSON.
    kind : str
        What is planned, for the message.
    """
    if _PARSING.search(plan):
        raise refusal(kind)


def refusal(kind: str) -> DataError:
    """What to say of a query that has a text file parsed."""
    return DataError(
        f"this {kind} has a text file (CSV, JSON, ...) parsed by a reader of its own, in which one "
        "record can change how others are read. Give dpstats the path of a CSV file, or "
        "dps.read_csv(path), which reads each record by itself; write others to Parquet, and query that"
    )

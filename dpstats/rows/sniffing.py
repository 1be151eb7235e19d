"""Queries that have rows parsed by a reader of their own, in which one record may decide about others.

Such a reader guesses types, quotation marks and what ends a record from what the records hold. What a query
does is read from its plan; no record is looked at. Of the operators that rows begin with those are let pass
that are known to have types of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from dpstats.errors import DataError

_SCAN = re.compile(r"^\s*(\w+) SCAN\b", re.MULTILINE)  # a line of polars' plans
_TYPED = frozenset(
    # polars
    "PARQUET IPC "
    # DuckDB: what it stores, makes, or holds for the query
    "SEQ_SCAN TABLE_SCAN INDEX_SCAN DUMMY_SCAN COLUMN_DATA_SCAN EXPRESSION_SCAN EMPTY_RESULT CTE_SCAN "
    "REC_CTE_SCAN RECURSIVE_CTE_SCAN DELIM_SCAN HASH_GROUP_BY RANGE GENERATE_SERIES REPEAT UNNEST "
    # files and databases with types; a table of SQLite has none
    "PARQUET_SCAN READ_PARQUET READ_DUCKDB READ_ARROW READ_AVRO ICEBERG_SCAN DELTA_SCAN DUCKLAKE_SCAN "
    "POSTGRES_SCAN POSTGRES_SCAN_PUSHDOWN POSTGRES_QUERY MYSQL_SCAN MYSQL_QUERY "
    # tables of Arrow and polars; a lazy one that parses a text file looks the same
    "ARROW_SCAN PYTHON_ARROW_SCAN".split()
)
_PARSING = ("READ_", "SNIFF_", "ST_READ", "CSV", "NDJSON", "LINES")
_GUESSED = {
    "PANDAS_SCAN": "scans a frame of pandas, and of columns of Python objects DuckDB guesses the type from "
    "their cells, so that one record can change how others are read. Give dpstats the frame itself",
    "PYTHON": "has code of Python scan something of which the plan says nothing, such as a dataset of "
    "pyarrow. Give dpstats the path of the files, or use polars.scan_parquet",
    "SQLITE_SCAN": "has DuckDB scan a table of SQLite, whose cells need not be of the type of their column, "
    "and one that is not ends the query. Give dps.read_sql(query, sqlite3.connect(path))",
}


def refuse_parsing(plan: str, kind: str) -> None:
    """Raise DataError if the rows of a plan begin with an operator that may guess types.

    Parameters
    ----------
    plan : str
        As polars explains it, or DuckDB in JSON; empty if the database has none.
    kind : str
        What is planned, for the message.
    """
    begun = _leaves(json.loads(plan)) if plan.startswith("[") else _SCAN.findall(plan)
    for name in map(str.upper, begun):
        if name in _GUESSED:
            raise DataError(f"this {kind} {_GUESSED[name]}")
        if name not in _TYPED and name.startswith(_PARSING):
            raise refusal(kind)
        if name not in _TYPED:
            raise DataError(
                f"this {kind} has rows that begin with {name}, of which dpstats does not know that one "
                "record cannot change how others are read. Write them to Parquet, and query that"
            )


def _leaves(nodes: list[Any]) -> Iterator[str]:
    """The operators that have no other below them."""
    for node in nodes:
        below = node.get("children")
        yield from _leaves(below) if below else (str(node["name"]).strip(),)


def refusal(kind: str) -> DataError:
    """What to say of a query that has a text file parsed."""
    return DataError(
        f"this {kind} has a text file (CSV, JSON, ...) or a database parsed by a reader of its own, in which "
        "one record can change how others are read. Give dpstats the path of a CSV file, or "
        "dps.read_csv(path), which reads each record by itself, or dps.read_sql(query, connection); write "
        "others to Parquet, and query that"
    )

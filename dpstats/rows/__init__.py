"""Tables and files -> blocks of rows, in the terms of the schema. Nothing here knows about noise.

One record becomes one row, by a function of that record, the schema, and the names and storage types of the
columns. Two inputs that differ in one record therefore give two tables that differ in one row.

See docs/theory/rows.md#one-record-one-row.
"""

from dpstats.rows.csvfile import CsvFile, read_csv
from dpstats.rows.files import column_names
from dpstats.rows.grammar import MISSING_TEXTS
from dpstats.rows.rows import Rows, open_rows, shared
from dpstats.rows.sql import SqlQuery, read_sql

__all__ = [
    "MISSING_TEXTS",
    "CsvFile",
    "Rows",
    "SqlQuery",
    "column_names",
    "open_rows",
    "read_csv",
    "read_sql",
    "shared",
]

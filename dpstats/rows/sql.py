"""Queries of databases, by Python's DB-API 2.0, and by ADBC, which hands out Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats._arguments import untyped
from dpstats._private import HoldsRows, forgetting, protected
from dpstats.errors import DataError
from dpstats.rows.cells import Objects
from dpstats.rows.encode import Batch
from dpstats.rows.parts import Query, of_parts
from dpstats.rows.sources import HIDDEN, Asked, Source, batch_of, check_arrow

__all__ = ["SqlQuery", "of_sql", "read_sql"]

_BROKEN = f"the query cannot be run to its end. {HIDDEN}; run it without dpstats to see it"


@dataclass(frozen=True, repr=False)
class SqlQuery(HoldsRows):
    """A query and the connection that it is run on; see :func:`read_sql`."""

    text: str
    connection: Any


@forgetting
def read_sql(query: str, connection: Any) -> SqlQuery:
    """Say which rows of a database are the data. Nothing is run until a model is made.

    Parameters
    ----------
    query : str
        A SELECT without a semicolon, whose rows are the same whenever it is run. Select the columns that you
        need: all of them are fetched. It must do as a subquery, beside ``LIMIT 0`` and ``count(*)``.
    connection
        A connection of Python's DB-API 2.0, such as those of sqlite3 or ADBC. ADBC is the fastest, and its
        columns have types; the cells of others count as Python objects. A driver that fetches a whole result
        at once, as psycopg does by default, needs memory for it.

    Returns
    -------
    SqlQuery
        It is for the argument ``data`` of a model. Rows of more than some hundred mebibytes are fetched
        again at every pass.

    Raises
    ------
    DataError
        If `query` is no SELECT, or `connection` has no cursor.

    Notes
    -----
    The rows must not change during a fit: open the connection on a snapshot, such as a transaction at the
    level "repeatable read". If their number is another in a later pass, the fit ends in an error.

    Examples
    --------
    >>> import sqlite3
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> database = sqlite3.connect(":memory:")
    >>> n = plant.data.to_sql("plant", database, index=False)
    >>> rows = dps.read_sql("SELECT * FROM plant WHERE AT > 5", database)
    >>> fit = dps.ols("PE ~ AT", rows, plant.schema).fit(dps.zcdp(0.5))
    """
    if not isinstance(query, str) or not query.lstrip().lower().startswith(("select", "with")):
        raise DataError(f"query must be the text of a SELECT, not {untyped(query)}")
    if query.rstrip().endswith(";"):
        raise DataError("query must be one SELECT without the semicolon that ends it")
    if not callable(getattr(connection, "cursor", None)):
        raise DataError(f"connection must be one of Python's DB-API 2.0, not {untyped(connection)}")
    return SqlQuery(query, connection)


def of_sql(query: SqlQuery, asked: Asked) -> Source:
    """The source of a query."""
    failure = DataError(f"the query cannot be run. {HIDDEN}; run it without dpstats to see it")
    names, types = protected(lambda: _header(query), failure)
    asked.require(names)
    if types is not None:
        check_arrow(types, asked)
    part = Query(asked, lambda: _count(query), lambda size: _batches(query, asked, size), _BROKEN)
    return of_parts([part], asked, _BROKEN)


def _header(query: SqlQuery) -> tuple[list[str], Any]:
    """The names of the columns, and their types where the database has Arrow's."""
    with closing(query.connection.cursor()) as cursor:
        cursor.execute(f"SELECT * FROM ({query.text}) AS dpstats_rows LIMIT 0")
        if hasattr(cursor, "fetch_record_batch"):
            schema = cursor.fetch_record_batch().schema
            return list(schema.names), schema
        return [column[0] for column in cursor.description], None


def _count(query: SqlQuery) -> int:
    with closing(query.connection.cursor()) as cursor:
        cursor.execute(f"SELECT count(*) FROM ({query.text}) AS dpstats_rows")
        return int(cursor.fetchone()[0])


def _batches(query: SqlQuery, asked: Asked, size: int) -> Iterator[Batch]:
    with closing(query.connection.cursor()) as cursor:
        cursor.execute(query.text)
        if hasattr(cursor, "fetch_record_batch"):
            for batch in cursor.fetch_record_batch():
                yield batch_of(batch, asked)
            return
        names = [column[0] for column in cursor.description]
        while records := cursor.fetchmany(size):
            yield {name: _column(records, names.index(name)) for name in asked.columns}


def _column(records: Sequence[Sequence[Any]], place: int) -> Objects:
    cells = np.empty(len(records), dtype=object)
    for row, record in enumerate(records):
        cells[row] = record[place]
    return Objects(cells)

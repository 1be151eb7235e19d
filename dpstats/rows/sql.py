"""Queries of databases, by Python's DB-API 2.0, and by ADBC, which hands out Arrow.

Queries are refused that have rows parsed by a reader of their own, in which one record may decide about
others. Such a reader guesses types, quotation marks and what ends a record from what the records hold. What a
query does is read from its plan; no record is looked at. Of the operators that rows begin with those are let
pass that are known to have types of their own.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import GeneratorType
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from dpstats._arguments import numbers, untyped
from dpstats._private import HoldsRows, forgetting, protected
from dpstats.errors import DataError, SpecificationError
from dpstats.rows.cells import Objects
from dpstats.rows.encode import Batch
from dpstats.rows.links import Address, Held, address_of, check_encoding, is_address
from dpstats.rows.parts import BLOCK_ROWS, SPENT_BY_THEN, TablePart, of_parts
from dpstats.rows.sources import HIDDEN, Asked, Source, batch_of, check_arrow, made_by

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


# what has files and queries parsed as it is iterated over; pandas gives each piece the types of its own cells
_READERS = re.compile(r"pandas\.(io\.sql|.*Reader)|pyarrow\._(csv|json)\.|polars\.(io\.|.*Batch)|csv\.Dict")

_is_bar = made_by("tqdm", "tqdm.std")


def parses(data: Any) -> bool:
    """Whether data are a reader that parses as it goes, or a generator or a bar of progress over one."""
    if isinstance(data, GeneratorType):
        frame = data.gi_frame  # None once it has ended
        return frame is not None and (
            bool(_READERS.match(str(frame.f_globals.get("__name__")))) or parses(frame.f_locals.get(".0"))
        )
    if _is_bar(data):
        return parses(data.iterable)
    return any(_READERS.match(f"{kind.__module__}.{kind.__name__}") for kind in type(data).__mro__)


def refuse_reader(data: Any, asked: Asked) -> NoReturn:
    """Say what to give in the place of such a reader."""
    raise DataError(
        f"this {type(data).__name__} has a file or a query parsed piece by piece by its library, so that one "
        "record can change how others are read. Give dpstats the path of a CSV file, or dps.read_csv(path), "
        "which reads each record by itself, or dps.read_sql(query, connection), or the lazy frame itself; "
        "write others to Parquet, and give its path"
    )


Link = Held | Address

# of Postgres, by their numbers in its catalogue: bool, "char", name, int8, int2, int4, text, oid, float4,
# float8, unknown, money, bpchar, varchar, numeric; and the first number of a type that a user has made
_PLAIN, _MADE = frozenset({16, 18, 19, 20, 21, 23, 25, 26, 700, 701, 705, 790, 1042, 1043, 1700}), 16384

# vendors of which it is known how names are quoted and keys compared; and the sign that makes an expression
# of a name, of which SQLite knows neither a converter nor a declaration
_BROKEN = f"the query cannot be run to its end. {HIDDEN}; run it without dpstats to see it"
_SIGNS = {"postgresql": "", "duckdb": "", "sqlite3": "+"}


@dataclass(frozen=True, repr=False)
class SqlQuery(HoldsRows):
    """A query, the connection that it is run on, and where it is cut; see :func:`read_sql`."""

    text: str
    connection: Any
    key: str | None = None
    cuts: tuple[float, ...] = ()

    @property
    def identity(self) -> tuple[str, Any]:
        """The query and its database, however it is cut."""
        where = self.connection if isinstance(self.connection, str) else id(self.connection)
        return self.text.strip(), where


@forgetting
def read_sql(query: str, connection: Any, key: str | None = None, cuts: Sequence[float] = ()) -> SqlQuery:
    """Say which rows of a database are the data. Nothing is run until a model is made.

    Parameters
    ----------
    query : str
        A SELECT without a semicolon, whose rows are the same whenever it is run. Of SQLite, Postgres and
        DuckDB those of its columns are fetched that a formula reads; of others all are, so select the columns
        that you need. It must do as a subquery, beside ``LIMIT 0`` and ``count(*)``.
    connection
        A connection of Python's DB-API 2.0, such as those of sqlite3, psycopg or ADBC. ADBC is the fastest,
        and its columns have types; the cells of others count as Python objects. Or the address of a Postgres
        server, ``"postgresql://user@host/database"``, which other processes can connect to as well: it needs
        ``pip install dpstats[postgres]``. Leave the password to a file, ``~/.pgpass``.
    key, cuts : optional
        A column of the query that holds numbers, and public numbers in ascending order at which the query is
        cut into parts, such as ``range(10**6, 10**7, 10**6)`` of serial numbers. Workers
        (:func:`dpstats.options`) read the parts of an address beside each other, and an index on the key
        makes that fast. SQLite makes no use of the index, and other databases than it, Postgres and DuckDB
        are not cut.

    Returns
    -------
    SqlQuery
        It is for the argument ``data`` of a model. Rows of more than some hundred mebibytes are fetched
        again at every pass.

    Raises
    ------
    DataError
        If `query` is no SELECT, `connection` has no cursor, or `cuts` do not ascend. When the model is made:
        if DuckDB is to parse a text file or to scan a pandas frame, in which one record could change how
        others are read, the connection is ADBC's to SQLite, which guesses types, or one to Postgres that
        lacks texts of the database, or a column that is read holds dates, JSON and the like, or the
        key of DuckDB is no number by its type.

    Notes
    -----
    The rows must not change during a fit. A query with ``now()``, ``random()``, ``TABLESAMPLE``, or ``LIMIT``
    without ``ORDER BY`` has others each time, of whatever snapshot. Of an address all passes and all
    processes see one snapshot, which is taken when the model is made. A connection to Postgres whose rows are
    not kept must be in a transaction at the level "repeatable read", and is refused without. A database of
    SQLite that is changed between passes, or a file attached to it, ends the fit in an error, and so does any
    other in which the number of rows changes. Where rows are not kept, a connection that is not of SQLite,
    Postgres or DuckDB is refused.

    A connection to Postgres is refused if there are texts that its ``client_encoding``, or Python, cannot
    hold, one of which would end the query: connect with ``client_encoding=UTF8`` to a database in UTF8 or
    LATIN1. Of databases other than SQLite, Postgres and DuckDB it is not known whether there are such cells;
    where that matters, write the rows to Parquet.

    A text of SQLite that is not UTF-8 is missing, and converters of ``detect_types`` are not called. DuckDB
    runs a query on ``connection.cursor()``, where temporary tables and what ``connection.register`` named are
    not found: give the relation ``connection.sql(query)`` itself as the data.

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
    if not is_address(connection) and not callable(getattr(connection, "cursor", None)):
        raise DataError(
            "connection must be one of Python's DB-API 2.0, or an address that begins with postgresql://, "
            f"not {untyped(connection)}; of SQLite it is sqlite3.connect(path)"
        )
    return SqlQuery(query, connection, *_cut(key, cuts))


def _cut(key: object, cuts: Sequence[float]) -> tuple[str | None, tuple[float, ...]]:
    found = numbers("cuts", cuts, DataError)
    if key is None and not found.size:
        return None, ()
    if not (
        isinstance(key, str)
        and found.ndim == 1
        and found.size
        and np.isfinite(found).all()
        and (np.diff(found) > 0).all()
    ):
        raise DataError("key and cuts go together: the name of a column, and a list of ascending numbers")
    return key, tuple(found.tolist())


def chosen(columns: Sequence[str], vendor: str) -> str:
    """What to select: the columns that are asked for, or all where it is not known how names are quoted.

    A driver makes Python objects of cells, and one that it cannot make ends the query: a date before the year
    1, or a text that a converter of sqlite3 does not take. Columns that nobody asks for are not fetched, and
    of an expression, such as + x, which is x, sqlite3 knows no converter.
    """
    if vendor not in _SIGNS:
        return "*"
    names = ['"' + name.replace('"', '""') + '"' for name in columns]
    # by the table: SQLite takes a name in quotation marks that it does not know for a text
    return ", ".join(f"{_SIGNS[vendor]}dpstats_rows.{name} AS {name}" for name in names)


def ranges(query: SqlQuery, what: str = "*", vendor: str = "") -> list[str]:
    """Queries that have each row once, whatever its key is: none, or not a number, too.

    They do where a key is compared as a number or not at all, as Postgres and DuckDB do by its type. SQLite
    compares a column declared TEXT with a number as two texts, by whose order the cuts do not ascend, so that
    a row would be in several ranges; of an expression it knows no declaration. What a database of another
    vendor does is not known, and its rows, which are read once, are not cut.
    """
    if query.key is None or vendor not in _SIGNS:
        return [f"SELECT {what} FROM ({query.text}) AS dpstats_rows"]
    key = _SIGNS[vendor] + '"' + query.key.replace('"', '""') + '"'
    cuts = [_literal(cut, vendor) for cut in query.cuts]
    between = [f"{key} < {stop} AND NOT {key} < {start}" for start, stop in pairwise(cuts)]
    where = [f"{key} < {cuts[0]} OR {key} IS NULL", *between, f"NOT {key} < {cuts[-1]}"]
    return [f"SELECT {what} FROM ({query.text}) AS dpstats_rows WHERE {some}" for some in where]


def _literal(cut: float, vendor: str) -> str:
    """A cut in SQL; DuckDB casts a key to the type of a decimal fraction, which may not hold it."""
    return f"{cut:.17g}" + "::DOUBLE" * (vendor == "duckdb" and not cut.is_integer())


def of_sql(query: SqlQuery, asked: Asked) -> Source:
    """The source of a query."""
    failure = DataError(f"the query cannot be run. {HIDDEN}; run it without dpstats to see it")
    link = protected(lambda: _linked(query.connection), failure, (SpecificationError,))
    if link.vendor == "duckdb":
        failure = DataError(
            f"{failure}. DuckDB runs it on con.cursor(), where temporary tables and what con.register() "
            "named are not found: give con.sql(query) as the data, or store the table"
        )
    plan, names, types, codes = protected(lambda: _opened(query, link), failure, (SpecificationError,))
    refuse_parsing(plan, "query")
    asked.require(names)
    if query.key is not None and query.key not in names:
        raise DataError(f"the query has no column {query.key!r}, by which it is to be cut; select it, too")
    if types is not None:
        check_arrow(types, asked)
        _check_key(types, query.key)
    _check_codes(dict(zip(names, codes, strict=False)), asked)
    texts = ranges(query, chosen(asked.columns, link.vendor), link.vendor)
    protected(lambda: _tried(texts[0], link), failure)
    return of_parts([SqlPart(asked, _BROKEN, text, link) for text in texts], _BROKEN)


def _linked(connection: Any) -> Link:
    link = address_of(connection) if is_address(connection) else Held(connection)
    if link.vendor == "sqlite":  # by ADBC; that of Python is called sqlite3
        raise DataError(
            "ADBC's driver for SQLite guesses the types of columns from rows, so that one record can change "
            "how others are read; give a connection of Python's own, sqlite3.connect(path)"
        )
    return link


def _opened(query: SqlQuery, link: Link) -> tuple[str, list[str], Any, list[int]]:
    """A plan if the database can tell, names of columns, and types: Arrow's, or the numbers of Postgres."""
    plan = ""
    with link.cursor() as cursor:
        if link.vendor == "postgresql":
            check_encoding(cursor)
        if link.vendor == "duckdb":
            cursor.execute(f"EXPLAIN (FORMAT json) {query.text}")
            plan = str(cursor.fetchone()[1])
        batches = _run(cursor, f"SELECT * FROM ({query.text}) AS dpstats_rows LIMIT 0")
        if batches is not None:
            return plan, list(batches.schema.names), batches.schema, []
        names, found = [column[0] for column in cursor.description], []
        if link.vendor == "postgresql":
            found = [column[1] for column in cursor.description]
        return plan, names, None, found


def _check_key(types: Any, key: str | None) -> None:
    """Refuse a key that is no number by its type: one that cannot be compared with a cut ends the query."""
    kind = pa.float64() if key is None else types.field(key).type
    if not any(of(kind) for of in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)):
        raise DataError(f"the key {key!r} of the query is no number by its type; cast it there")


def _check_codes(codes: Mapping[str, int], asked: Asked) -> None:
    """Refuse columns of Postgres of which a driver of Python makes neither numbers nor texts.

    Of the dates that Postgres has, of its JSON and ranges some have no object in Python: such a cell ends the
    query, and all others would be missing.

    Raises
    ------
    DataError
    """
    for name in asked.columns:
        if name in codes and codes[name] not in _PLAIN and codes[name] < _MADE:
            raise DataError(
                f"the column {name!r} of the query holds neither numbers nor texts; cast it there, to a text "
                f"by {name}::text, or a date to days since one origin by {name} - DATE '2000-01-01'"
            )


def _tried(text: str, link: Link) -> None:
    """See that the columns are found by their names."""
    with link.cursor() as cursor:
        _run(cursor, f"{text} LIMIT 0")


def _run(cursor: Any, text: str) -> Any:
    """Run a query: a reader of Arrow's batches, or None where the cursor makes Python objects of cells.

    DuckDB has an object of Python for few of its types, and a cell without one would end the query.
    """
    if made_by("DuckDBPyConnection", "duckdb")(cursor):
        return batches_of(cursor.sql(text), BLOCK_ROWS)
    cursor.execute(text)
    return cursor.fetch_record_batch() if hasattr(cursor, "fetch_record_batch") else None


def batches_of(relation: Any, size: int) -> Any:
    """A reader of the batches of a relation of DuckDB."""
    return (getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch)(size)


@dataclass(frozen=True, repr=False)
class SqlPart(TablePart):
    """The records of a SELECT, and the way to its database."""

    text: str
    link: Link

    @property
    def portable(self) -> bool:
        return self.link.portable

    def count(self) -> int:
        with self.link.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM ({self.text}) AS dpstats_rows")
            return int(cursor.fetchone()[0])

    @cached_property
    def shown(self) -> str:
        """What the database has shown when the part was first read."""
        return self.link.shown()

    def hold(self) -> None:
        if self.link.shown() != self.shown:
            raise DataError(
                "the database has changed, or its transaction has ended, since the model first read it, and "
                f"its query is run more than once. Make the model again. {SPENT_BY_THEN}"
            )

    def batches(self) -> Iterator[Batch]:
        if "shown" in vars(self):
            self.hold()
        with self.link.cursor(large=True) as cursor:
            found = _run(cursor, self.text)
            if found is not None:
                for batch in found:
                    yield batch_of(batch, self.asked)
                return
            while records := cursor.fetchmany(BLOCK_ROWS):  # of Python objects, which take much memory
                names = [column[0] for column in cursor.description]
                yield {name: _column(records, names.index(name)) for name in self.asked.columns}


def _column(records: Sequence[Sequence[Any]], place: int) -> Objects:
    cells = np.empty(len(records), dtype=object)
    for row, record in enumerate(records):
        cells[row] = record[place]
    return Objects(cells)

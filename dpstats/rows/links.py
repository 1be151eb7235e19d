"""Ways to a database: a connection that the user has opened, or an address that any process can connect to.

A query of many rows is run at every pass, and must find the same rows each time. So a database says what it
shows: of Postgres the snapshot of a transaction, of SQLite the number of changes. Both are public: they tell
that somebody has written, and not what.
"""

import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpstats._private import HoldsRows
from dpstats.errors import DataError, SpecificationError

_DRIVERS = {
    "psycopg": "postgresql",
    "psycopg2": "postgresql",
    "_duckdb": "duckdb",
    "duckdb": "duckdb",
    "sqlite3": "sqlite3",
    "_sqlite3": "sqlite3",
}
_FIXED = "TRANSACTION ISOLATION LEVEL REPEATABLE READ"
_SNAPSHOT = (
    "SELECT current_setting('transaction_isolation') || (now() < statement_timestamp())::text, "
    "txid_current_snapshot()::text"
)
_BATCH = 1 << 22  # bytes of a batch, some of which are there at a time
_STEADY = ("repeatable readtrue", "serializabletrue")  # a level, and whether a transaction has begun


@dataclass(frozen=True, repr=False)
class Held(HoldsRows):
    """A connection that the user has opened, of Python's DB-API or of ADBC; it stays in this process."""

    connection: Any
    portable = False

    @cached_property
    def vendor(self) -> str:
        """Whose database it is; empty if that is not known."""
        if hasattr(self.connection, "adbc_get_info"):
            return str(self.connection.adbc_get_info().get("vendor_name")).lower()
        return _DRIVERS.get(self._found[1], "")

    @cached_property
    def _found(self) -> tuple[Any, str]:
        """What to ask for cursors, and the module that made it; empty if that is not known.

        The connection of the driver itself, where it is wrapped: a wrapper, such as a pool's, names what it
        wraps, or hands out cursors that know their connection, or cursors of the driver.
        """
        made = self.connection
        for one in (made, *(getattr(made, name, None) for name in ("driver_connection", "dbapi_connection"))):
            if driver := _driver_of(one):
                return one, driver
        with closing(made.cursor()) as cursor:
            inner = getattr(cursor, "connection", None)
            driver = _driver_of(inner)
            return (inner, driver) if driver else (made, _driver_of(cursor))

    @contextmanager
    def cursor(self, large: bool = False) -> Iterator[Any]:
        """A cursor, which leaves many rows at the server: psycopg does if it has a name, in a transaction."""
        made, driver = self._found
        steady = not getattr(made, "autocommit", True)
        named = large and steady and driver in ("psycopg", "psycopg2")
        with closing(made.cursor(*["dpstats_rows"] * named)) as cursor:
            if hasattr(cursor, "adbc_statement") and self.vendor == "postgresql":
                _in_small_batches(cursor)
            if isinstance(cursor, sqlite3.Cursor):
                with _any_text(cursor):
                    yield cursor
            else:
                yield cursor

    def shown(self) -> str:
        """What the database shows now; the same words, the same rows.

        Raises
        ------
        DataError
            If it may show other rows to the next query, or nobody knows.
        """
        vendor = self.vendor
        if vendor == "duckdb":
            return ""  # it has one process, the user's own
        if vendor not in ("sqlite3", "postgresql"):
            raise DataError(
                "the query has more rows than are kept, so that a fit runs it again at every pass, and "
                "dpstats does not know how this connection tells that rows have changed. Give the connection "
                "of the driver itself, if it is of SQLite, Postgres or DuckDB; else write the rows to "
                "Parquet, and give its path"
            )
        with self.cursor() as cursor:
            return _shown_by_sqlite(cursor) if vendor == "sqlite3" else _shown_by_postgres(cursor)


def _driver_of(made: object) -> str:
    """The known driver of which this is an object, or of a class derived from one."""
    modules = (kind.__module__.partition(".")[0] for kind in type(made).__mro__)
    return next((module for module in modules if module in _DRIVERS), "")


@contextmanager
def _any_text(cursor: sqlite3.Cursor) -> Iterator[None]:
    """Read a text that is not UTF-8 as missing, instead of ending the query, and rows as tuples."""
    connection, before = cursor.connection, cursor.connection.text_factory
    cursor.row_factory, connection.text_factory = None, _text
    try:
        yield
    finally:
        connection.text_factory = before


def _text(cell: bytes) -> str | None:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return None


def check_encoding(cursor: Any) -> None:
    """Refuse a connection to Postgres on which a text may end the query, as its encoding cannot hold it.

    The server converts texts from its encoding to the client's, and some have no counterpart there; it
    checks those of SQL_ASCII, which may be any bytes. UTF-8 holds all of Latin 1. Python's drivers decode
    what they get, and Arrow keeps bytes.

    Raises
    ------
    DataError
    """
    cursor.execute("SELECT current_setting('server_encoding'), pg_client_encoding()::text")
    names = cursor.fetchone()  # in SQL_ASCII psycopg makes bytes of texts
    server, client = (str(name, "ascii") if isinstance(name, bytes) else name for name in names)
    whole = client in (server, "SQL_ASCII") or (server, client) == ("LATIN1", "UTF8")
    decoded = not hasattr(cursor, "fetch_record_batch")
    if not whole or (decoded and not {server, client} <= {"UTF8", "LATIN1"}):
        raise DataError(
            f"texts of this database are in {server}, and those of this connection in {client}: one cell "
            "that the one or Python cannot read as the other would end the query. Connect with "
            "client_encoding=UTF8 to a database in UTF8 or LATIN1; else write the rows to Parquet, and give "
            "its path"
        )


def _shown_by_sqlite(cursor: Any) -> str:
    """Of each file changes by others, and of tables by anybody; of all the number of rows changed here."""
    cursor.execute("PRAGMA database_list")
    names = [name.replace('"', '""') for _, name, _ in cursor.fetchall()]
    asked = [f'PRAGMA "{name}".{version}' for name in names for version in ("data_version", "schema_version")]
    found = [cursor.execute(ask).fetchone()[0] for ask in [*asked, "SELECT total_changes()"]]
    return " ".join(map(str, [*names, *found]))


def _shown_by_postgres(cursor: Any) -> str:
    found = ("", "")
    for _ in range(2):  # the first one begins a transaction, if the connection has them
        cursor.execute(_SNAPSHOT)
        found = cursor.fetchone()
    if found[0] not in _STEADY:
        raise DataError(
            "the query has more rows than are kept, so that a fit runs it again at every pass, and this "
            "connection may find other rows each time. Give one without autocommit, whose first "
            f"statement was SET {_FIXED}, or an address: dps.read_sql(query, 'postgresql://...')"
        )
    return " ".join(map(str, found))


@dataclass(frozen=True, repr=False)
class Address:
    """A Postgres server, and the snapshot of it that is to be seen; pickled without its own connection."""

    uri: str
    snapshot: str
    keeper: Any = None  # whose transaction keeps the snapshot alive
    portable = True
    vendor = "postgresql"

    def __reduce__(self) -> tuple[Any, ...]:
        return Address, (self.uri, self.snapshot)

    @contextmanager
    def cursor(self, large: bool = False) -> Iterator[Any]:
        """A cursor of a new connection that sees the snapshot."""
        with closing(_connected(self.uri)) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(f"SET {_FIXED} READ ONLY")
            cursor.execute(f"SET TRANSACTION SNAPSHOT '{self.snapshot}'")
            _in_small_batches(cursor)
            yield cursor

    def shown(self) -> str:
        """Always the same."""
        return self.snapshot


def _in_small_batches(cursor: Any) -> None:
    """Of a cursor of ADBC to Postgres, whose batches have 16 MiB by themselves."""
    cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(_BATCH)})


def is_address(connection: object) -> bool:
    """Whether a text stands in the place of a connection."""
    return isinstance(connection, str) and connection.startswith(("postgresql://", "postgres://"))


def address_of(uri: str) -> Address:
    """A server as it is now."""
    keeper = _connected(uri)
    with closing(keeper.cursor()) as cursor:
        cursor.execute(f"SET {_FIXED} READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        address = Address(uri, cursor.fetchone()[0], keeper)
    weakref.finalize(address, keeper.close)
    return address


def _connected(uri: str) -> Any:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise SpecificationError("an address of Postgres needs pip install dpstats[postgres]") from None
    return dbapi.connect(uri)

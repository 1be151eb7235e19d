"""Ways to a database: a connection that the user has opened, or an address that any process can connect to.

A query of many rows is run at every pass, and must find the same rows each time. So a database says what it
shows: of Postgres the snapshot of a transaction, of SQLite the number of changes. Both are public: they tell
that somebody has written, and not what.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from dpstats._private import HoldsRows
from dpstats.errors import DataError, SpecificationError

__all__ = ["Address", "Held", "address_of", "is_address"]

_DRIVERS = {"psycopg": "postgresql", "psycopg2": "postgresql", "_duckdb": "duckdb"}  # else by their own name
_FIXED = "TRANSACTION ISOLATION LEVEL REPEATABLE READ"
_SHOWN = {
    "postgresql": "SELECT current_setting('transaction_isolation') || (now() < statement_timestamp())::text, "
    "txid_current_snapshot()::text",
    "sqlite3": "SELECT data_version, total_changes() FROM pragma_data_version",
}  # by the vendor
_BATCH = 1 << 22  # bytes of a batch, some of which are there at a time
_STEADY = ("repeatable readtrue", "serializabletrue")  # a level, and whether a transaction has begun


@dataclass(frozen=True, repr=False)
class Held(HoldsRows):
    """A connection that the user has opened, of Python's DB-API or of ADBC; it stays in this process."""

    connection: Any
    portable = False

    @property
    def vendor(self) -> str:
        """Whose database it is, as far as that matters here."""
        if hasattr(self.connection, "adbc_get_info"):
            return str(self.connection.adbc_get_info().get("vendor_name")).lower()
        return _DRIVERS.get(self._module, self._module)

    @property
    def _module(self) -> str:
        return type(self.connection).__module__.partition(".")[0]

    @contextmanager
    def cursor(self, large: bool = False) -> Iterator[Any]:
        """A cursor, which leaves many rows at the server: psycopg does if it has a name, in a transaction."""
        named = large and self._module in ("psycopg", "psycopg2") and not self.connection.autocommit
        with closing(self.connection.cursor(*["dpstats_rows"] * named)) as cursor:
            yield cursor

    def shown(self) -> str:
        """What the database shows now; the same words, the same rows.

        Raises
        ------
        DataError
            If it may show other rows to the next query.
        """
        ask, found = _SHOWN.get(self.vendor), ("",)
        if ask is None:
            return ""
        with self.cursor() as cursor:
            for _ in range(2):  # the first one begins a transaction, if the connection has them
                cursor.execute(ask)
                found = cursor.fetchone()
        if self.vendor == "postgresql" and found[0] not in _STEADY:
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
            cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(_BATCH)})
            yield cursor

    def shown(self) -> str:
        """Always the same."""
        return self.snapshot


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

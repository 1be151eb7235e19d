"""One SQLite file for each ledger: created whole, only ever appended to, each charge synced to the disk.

Every operation opens its own connection. So a ledger survives a fork, a pickle and a thread, holds no lock
while nothing happens, and notices a file that was moved away instead of writing to it unseen.

The file by itself holds every charge that was told: a charge is in it, and synced, once its transaction is
over. What SQLite keeps beside it meanwhile is a rollback journal, with which the next that opens the file
undoes a charge that was cut off, before anything was released for it. Earlier versions kept a write-ahead
log, in which charges stayed behind when the file alone was copied; the next charge moves them into the file.

Each charge carries a digest of all that it says and of the digest before it, of which the first is of what
the ledger says of itself. So damage to what a charge or the total says is seen by whoever reads it. Who can
write the file can write its digests, too: they are no signature.

SQLite's own locks do not see a file of two names, nor a file that its own process has closed; both are looked
after here.
"""

import json
import os
import random
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpstats.budget import Budget, from_dict
from dpstats.budget.rules import Amount, Charge, add, from_text, to_text
from dpstats.errors import BudgetError, LedgerError
from dpstats.schema import ROW

try:
    import fcntl
except ImportError:  # Windows, where no lock is dropped before it is released
    fcntl = None  # type: ignore[assignment]


@contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Keep others off the ledgers in the folder of a file until the block ends; say whether they are.

    POSIX drops all locks of a process on a file as soon as the process closes that file once: SQLite's are
    gone when another thread has copied the ledger. Two processes could then charge the same rest, and one
    that only reads would take the journal of a charge for that of one that was cut off, and undo it. A
    lock of the folder by flock stays. Where a folder cannot be locked, SQLite's locks are all there is.

    Raises
    ------
    LedgerError
        If others did not let go for `PATIENCE` seconds.
    """
    folder = _opened(path.resolve().parent)
    try:
        yield folder is not None and _locked(folder, path)
    finally:
        if folder is not None:
            with suppress(OSError):  # of a folder that cannot be locked
                fcntl.flock(folder, fcntl.LOCK_UN)  # a process that was forked meanwhile holds it, too
            os.close(folder)


def _opened(folder: Path) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY) if fcntl else None
    except OSError:
        return None


def _locked(folder: int, path: Path) -> bool:
    """Whether the folder is locked, once others let go of it; it is not where none can be."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise LedgerError(f"the ledger {path} {PROBLEMS['SQLITE_BUSY']}") from None
            time.sleep(random.uniform(0.001, 0.02))
        except OSError:
            return False
        else:
            return True


def refuse_second_name(path: Path) -> None:
    """Refuse a file that has two names by a hard link: SQLite keeps a journal for each name.

    Who opens it by one name would not undo a charge that was cut off under the other.

    Raises
    ------
    LedgerError
    """
    names = path.stat().st_nlink if path.is_file() else 1  # what else is wrong, SQLite says
    if names > 1:
        names -= _removed_drafts(path.resolve())
    if names > 1:
        raise LedgerError(
            f"the ledger {path} has {names} names (hard links), and a charge cut off under one would spoil "
            "the file under the other; remove all but one. A process that was killed while it began a ledger "
            f"leaves one in a hidden folder beside it, such as {_draft_of(path)}k3x8w_2q. Nothing was "
            "released. A symbolic link is fine"
        )


def _removed_drafts(path: Path) -> int:
    """How many names a ledger had as a draft, which stay if the process is killed that begins it.

    Nobody charges it by such a name, which is alone in its folder. Those that may be removed are.
    """
    found = 0
    for folder in path.parent.glob(".*.*"):
        draft = folder / folder.name[1:].rpartition(".")[0]
        with suppress(OSError):  # what is no folder, or another account's
            if [*folder.iterdir()] == [draft] and os.path.samestat(draft.lstat(), path.stat()):
                found += 1
                draft.unlink()
                folder.rmdir()
    return found


def tidy(path: Path) -> None:
    """Remove the drafts of a ledger by processes that were killed before they gave it its name.

    Who begins a ledger has locked its folder, so that no draft is of a living process while another has the
    lock. Where a folder cannot be locked, drafts stay.
    """
    path = path.resolve()
    with alone(path) as locked, suppress(OSError):  # of a folder that may not be read
        for folder in path.parent.iterdir() if locked else ():
            if folder.name.startswith(_draft_of(path)) and not folder.is_symlink():
                _remove_draft(folder / path.name)


def _draft_of(path: Path) -> str:
    """How the hidden folder of a ledger's draft begins; that of a copy that somebody keeps does not."""
    return f".{path.name}.draft-"


def _remove_draft(draft: Path) -> None:
    """Remove a draft that has no other name, and its folder, if nothing else is in there."""
    with suppress(OSError):  # what is no folder, or another account's
        inside = {*draft.parent.iterdir()}
        if inside <= {draft, Path(f"{draft}-journal")} and all(file.lstat().st_nlink == 1 for file in inside):
            for file in inside:
                file.unlink()
            draft.parent.rmdir()


APPLICATION_ID = 0x64707374  # "dpst", where `file` and we look for it
FORMAT = 3  # 1 kept no unit of privacy: its charges protect one row; 2 kept no digests
PATIENCE = 60.0  # seconds that a charge waits for others

TABLES = """
CREATE TABLE ledger (
    dataset TEXT NOT NULL, total TEXT NOT NULL, created TEXT NOT NULL, digest TEXT NOT NULL
);
CREATE TABLE charges (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, budget TEXT NOT NULL, gaussian INTEGER NOT NULL,
    cost TEXT NOT NULL, spent TEXT NOT NULL,
    formula TEXT NOT NULL, method TEXT NOT NULL, released TEXT NOT NULL,
    unit TEXT NOT NULL, digest TEXT NOT NULL
);
"""
# REPLACE deletes what stands in its way without firing a trigger of deletions
TRIGGERS = {
    "no_change": "UPDATE ON charges BEGIN SELECT RAISE(ABORT, 'charges are final')",
    "no_refund": "DELETE ON charges BEGIN SELECT RAISE(ABORT, 'there is no refund')",
    "no_replacement": "INSERT ON charges WHEN EXISTS (SELECT 1 FROM charges WHERE seq = NEW.seq) "
    "BEGIN SELECT RAISE(ABORT, 'charges are final')",
    "no_other_total": "UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'a total cannot be changed')",
    "no_lost_total": "DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'a total cannot be changed')",
    "no_second_total": "INSERT ON ledger WHEN EXISTS (SELECT 1 FROM ledger) "
    "BEGIN SELECT RAISE(ABORT, 'a total cannot be changed')",
}
HEAD = "dataset, total, created"
COLUMNS = "seq, at, budget, gaussian, cost, spent, formula, method, released, unit"
# the digest before that of the charge of a number
BEFORE = (
    "SELECT coalesce((SELECT digest FROM charges AS earlier WHERE earlier.seq = {} - 1), "
    "(SELECT digest FROM ledger))"
)

PROBLEMS = {
    "SQLITE_NOTADB": "is not a ledger, or is damaged. Nothing was written",
    "SQLITE_CORRUPT": "is damaged. Nothing was written; restore it from a copy that has every charge",
    "SQLITE_ERROR": "is damaged: it lacks what a ledger has. Nothing was written; restore it from a copy",
    "SQLITE_READONLY": "is read-only, so nothing can be charged to it",
    "SQLITE_FULL": "cannot grow: the disk is full. Nothing was released; make room and fit again",
    "SQLITE_IOERR": "cannot be written or read: input/output error, or a full disk. Nothing was released",
    "SQLITE_CANTOPEN": "cannot be opened: it was moved, or may not be read. It is never created anew",
    "SQLITE_BUSY": f"is in use by others, still after {PATIENCE:g} s. Nothing was released; try again",
}


@dataclass(frozen=True)
class Entry:
    """One charge.

    Attributes
    ----------
    seq : int
        1, 2, ... in the order of charging, whatever the clock says.
    at : str
        Time of day in UTC by the clock of the machine that charged; for people, not for order.
    budget : Budget
        What was asked for.
    gaussian : bool
        Whether all its noise is Gaussian.
    cost, spent : tuple of Fraction
        What it added to what the total adds up, and the sum up to and with it.
    formula, method : str
    released : mapping of str to str
        Names of the released statistics, with their costs where these were told.
    unit : str
        What is protected, such as ``"one row"`` or ``"one serial"``; the same for all charges of a ledger.
    """

    seq: int
    at: str
    budget: Budget
    gaussian: bool
    cost: Amount
    spent: Amount
    formula: str
    method: str
    released: Mapping[str, str]
    unit: str = ROW.short

    @property
    def charge(self) -> Charge:
        """The part that matters for composition."""
        return Charge(self.budget, self.gaussian)


# Held while a connection is open or what was seen is kept: a process that was forked meanwhile would inherit
# locks, of SQLite or of this package, which nobody lets go of, and wait for them in vain.
HELD = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=HELD.acquire, after_in_parent=HELD.release, after_in_child=HELD.release)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one sentence about the file, to which no fork comes in between."""
    try:
        with HELD:
            yield
    except sqlite3.Error as error:
        # where Python cannot decode a text there is none
        name = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT")
        problem = next((text for code, text in PROBLEMS.items() if name.startswith(code)), f"failed: {error}")
        raise LedgerError(f"the ledger {path} {problem}") from None
    except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
        if isinstance(error, BudgetError | LedgerError):
            raise
        raise LedgerError(f"the ledger {path} {PROBLEMS['SQLITE_CORRUPT']}") from None


def now() -> str:
    """The time of day, in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def create(path: Path, dataset: str, total: Budget, created: str) -> None:
    """Write a new ledger. Nobody sees it half written, and a file that is there is left alone.

    It is written beside its place, not in a directory for temporary files, which may be another device. For a
    moment it has two names, which nobody sees. What a kill leaves, the next that opens the ledger removes.
    """
    with alone(path), tempfile.TemporaryDirectory(dir=path.parent, prefix=_draft_of(path)) as beside:
        draft = Path(beside) / path.name
        with told(path), closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            _settle(connection)
            connection.executescript(f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; {TABLES}")
            row = (dataset, json.dumps(total.to_dict()), created)
            connection.execute("INSERT INTO ledger VALUES (?, ?, ?, ?)", (*row, _digest("", row)))
            _seal(connection)
            connection.execute("COMMIT")
        os.link(draft, path)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def charging(path: Path) -> Iterator[sqlite3.Connection]:
    """A transaction that no other can overlap; committed and synced when the block ends without exception."""
    with alone(path), told(path), closing(_begun(path)) as connection:
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _connected(path: Path, options: str = "mode=rw") -> sqlite3.Connection:
    """A connection to a file that must be there; SQLite makes do with reading where it may not write."""
    refuse_second_name(path)
    return sqlite3.connect(f"{path.as_uri()}?{options}", uri=True, isolation_level=None, timeout=PATIENCE)


def _settle(connection: sqlite3.Connection) -> None:
    """Have each transaction end in the file itself, and outlive a loss of power.

    The name of the journal is removed when a transaction ends; EXTRA syncs that, too. A write-ahead log is
    moved into the file and removed, unless somebody has it open: that is SQLITE_BUSY.
    """
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA fullfsync = ON")
    connection.execute("PRAGMA journal_mode = DELETE")


def _begun(path: Path) -> sqlite3.Connection:
    deadline = time.monotonic() + PATIENCE
    while True:
        connection = _connected(path)
        try:
            _settle(connection)
            connection.execute("BEGIN IMMEDIATE")
            return connection
        except sqlite3.OperationalError as error:
            connection.close()
            # where the journal is another's, or a write-ahead log in use, SQLite refuses without waiting
            busy = error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_PROTOCOL", "SQLITE_LOCKED"))
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.001, 0.02))
        except BaseException:
            connection.close()
            raise


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A consistent view of the file, also where nothing may be written."""
    with alone(path), told(path):
        connection = _connected(path)
        try:
            try:
                connection.execute("BEGIN")
                connection.execute("SELECT count(*) FROM sqlite_master")
            except sqlite3.OperationalError:
                if not _unwritten(path):
                    raise
                connection.close()
                connection = _connected(path, "mode=ro&immutable=1")
            yield connection
        finally:
            connection.close()


def _unwritten(path: Path) -> bool:
    """Whether nobody of this account can be writing, and no log is left: no lock is needed, nor possible.

    SQLite wants to write beside a ledger of an earlier version, also to read it.
    """
    log = path.with_name(path.name + "-wal")
    empty = not log.exists() or log.stat().st_size == 0
    return path.exists() and empty and not os.access(path.parent, os.W_OK)


def head(connection: sqlite3.Connection, path: Path) -> tuple[str, Budget, str]:
    """Data set, total and time of creation; LedgerError if the file is no ledger of this format."""
    (identity,) = connection.execute("PRAGMA application_id").fetchone()
    version = _format(connection)
    if identity != APPLICATION_ID:
        raise LedgerError(f"the ledger {path} {PROBLEMS['SQLITE_NOTADB']}")
    if version not in (1, 2, FORMAT):
        remedy = "upgrade dpstats" if version > FORMAT else "no release of dpstats wrote it"
        raise LedgerError(f"the ledger {path} has format {version}, not {FORMAT}; {remedy}")
    columns = connection.execute("SELECT name FROM pragma_table_info('charges')").fetchall()
    if (version == FORMAT) != (("digest",) in columns):  # a bit of the number is damaged
        raise ValueError
    kept = ", digest" if version == FORMAT else ""
    ((*row, digest),) = connection.execute(f"SELECT {HEAD}{kept or ', NULL'} FROM ledger").fetchall()
    if kept and digest != _digest("", row):
        raise ValueError
    dataset, total, created = row
    return dataset, _budget(total), created


def _budget(text: str) -> Budget:
    """A budget from its text; ValueError if it is none."""
    try:
        return from_dict(json.loads(text))
    except (BudgetError, AttributeError):  # of what is no mapping
        raise ValueError from None


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _digest(before: str, row: Iterable[object]) -> str:
    """Of what a row says, and of the digest before it."""
    return sha256(json.dumps([before, *row]).encode()).hexdigest()


def _seal(connection: sqlite3.Connection) -> None:
    """Have the database refuse changes of what is in it, as a file of this format does."""
    for name, what in TRIGGERS.items():
        connection.execute(f"CREATE TRIGGER {name} BEFORE {what}; END")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def upgrade(connection: sqlite3.Connection) -> None:
    """Bring a ledger of an earlier format to this one, inside the transaction of a charge."""
    version = _format(connection)
    if version == FORMAT:
        return
    verify(connection)  # or else damage would be given digests
    for name in ("no_change", "no_refund"):
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
    if version == 1:
        connection.execute(f"ALTER TABLE charges ADD COLUMN unit TEXT NOT NULL DEFAULT '{ROW.short}'")
    for table in ("ledger", "charges"):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN digest TEXT NOT NULL DEFAULT ''")
    digest = _digest("", connection.execute(f"SELECT {HEAD} FROM ledger").fetchone())
    connection.execute("UPDATE ledger SET digest = ?", (digest,))
    for row in connection.execute(f"SELECT {COLUMNS} FROM charges ORDER BY seq").fetchall():
        digest = _digest(digest, row)
        connection.execute("UPDATE charges SET digest = ? WHERE seq = ?", (digest, row[0]))
    _seal(connection)


def verify(connection: sqlite3.Connection) -> None:
    """ValueError unless pages and indexes are sound, no charge is missing, and what each says can be right.

    That is its digest, its budget, its sum, and that it costs something.
    """
    sound = connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    spent: Amount | None = None
    count = 0
    for count, row in enumerate(_rows(connection), 1):
        entry, cost, after = _entry(row), row[4], row[5]
        spent = entry.cost if spent is None else add(spent, entry.cost)
        sound &= entry.seq == count and to_text(spent) == after and "-" not in cost and any(entry.cost)
    made = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'charges'").fetchone() or (0,)
    if not sound or made != (count,):
        raise ValueError


def _rows(connection: sqlite3.Connection, where: str = "") -> Iterator[tuple[Any, ...]]:
    """Charges as they are in the file; ValueError at one whose digest is not that of what it says."""
    version = _format(connection)
    columns = COLUMNS if version > 1 else COLUMNS.replace("unit", f"'{ROW.short}'")
    kept = f"digest, ({BEFORE.format('charges.seq')})" if version == FORMAT else "NULL, NULL"
    for *row, digest, before in connection.execute(
        f"SELECT {columns}, {kept} FROM charges {where} ORDER BY seq"
    ):
        if version == FORMAT and digest != _digest(before, row):
            raise ValueError
        yield tuple(row)


def entries(connection: sqlite3.Connection, where: str = "") -> list[Entry]:
    """All charges of a ledger, or those `where` says, in the order they were made."""
    return [_entry(row) for row in _rows(connection, where)]


def ends(connection: sqlite3.Connection) -> list[Entry]:
    """The first and the last charge: one if there is only one, none if there are none."""
    return entries(connection, "WHERE seq IN (1, (SELECT max(seq) FROM charges))")


def append(connection: sqlite3.Connection, entry: Entry) -> None:
    """Write one charge into the transaction."""
    row: tuple[object, ...] = (
        entry.seq,
        entry.at,
        json.dumps(entry.budget.to_dict()),
        int(entry.gaussian),
        to_text(entry.cost),
        to_text(entry.spent),
        entry.formula,
        entry.method,
        json.dumps(dict(entry.released)),
        entry.unit,
    )
    (before,) = connection.execute(BEFORE.format("?"), (entry.seq,)).fetchone()
    row = (*row, _digest(before, row))
    connection.execute(
        f"INSERT INTO charges ({COLUMNS}, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row
    )


def _entry(row: tuple[Any, ...]) -> Entry:
    seq, at, budget, gaussian, cost, spent, formula, method, released, unit = row
    return Entry(
        seq,
        at,
        _budget(budget),
        bool(gaussian),
        from_text(cost),
        from_text(spent),
        formula,
        method,
        json.loads(released),
        unit,
    )

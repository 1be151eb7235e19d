"""The file: many processes, kill -9, and everything that can be wrong with a disk. Full size: benchmarks/."""

import itertools
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from threading import Event, Thread, current_thread

import pytest

import dpstats as dps
from benchmarks.ledger_stress import FORK, contend, kill
from dpstats.budget import Budget
from dpstats.errors import BudgetError, LedgerError
from dpstats.ledger import store

FOR = {"formula": "y ~ x", "method": "m"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    ledger = dps.Ledger(tmp_path / "fleet.ledger", total=dps.zcdp(1))
    ledger.charge(dps.zcdp(0.25), **FOR)
    return ledger.path


def test_processes_that_charge_at_once_spend_the_total_and_no_more(tmp_path: Path) -> None:
    _, accepted = contend(tmp_path, 16, 960)
    assert sum(accepted) == 960


def test_kill_at_random_instants_loses_no_charge(tmp_path: Path) -> None:
    releases, charges, _ = kill(tmp_path, 12, seed=int.from_bytes(os.urandom(4)))
    assert 0 < releases <= charges


def test_processes_that_create_at_once_get_one_ledger(tmp_path: Path) -> None:
    path = tmp_path / "fleet.ledger"

    def work() -> None:
        dps.Ledger(path, total=dps.zcdp(1)).charge(dps.zcdp(0.1), **FOR)

    assert in_processes(work, 8) == [0] * 8
    assert len(dps.Ledger(path).entries()) == 8
    assert [file.name for file in tmp_path.iterdir()] == ["fleet.ledger"]


def test_a_process_that_comes_second_finds_the_ledger_of_the_first(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "lexists", lambda path: False)  # it looked a moment too early
    assert dps.Ledger(path, total=dps.zcdp(1)).spent == dps.zcdp(0.25)
    with pytest.raises(LedgerError, match="a total cannot be changed"):
        dps.Ledger(path, total=dps.zcdp(2))


def in_processes(work: Callable[[], None], count: int) -> list[int | None]:
    """Exit codes of processes that do `work`."""
    team = [FORK.Process(target=work) for _ in range(count)]
    for process in team:
        process.start()
    for process in team:
        process.join()
    return [process.exitcode for process in team]


def test_a_full_disk_charges_nothing_and_harms_nothing(path: Path) -> None:
    said = path.with_name("said")

    def work() -> None:
        """A limit on the size of files meets SQLite as a full disk does, in the middle of writing."""
        ledger = dps.Ledger(path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        try:
            ledger.charge(dps.zcdp(0.25), **FOR)
        except LedgerError as error:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            said.write_text(str(error))

    assert in_processes(work, 1) == [0]
    assert "full" in said.read_text() and "Nothing was released" in said.read_text()
    assert dps.Ledger(path).spent == dps.zcdp(0.25)
    dps.Ledger(path).charge(dps.zcdp(0.75), **FOR)


def test_sqlite_says_full_disk(path: Path) -> None:
    full = pytest.raises(LedgerError, match="the disk is full. Nothing was released")
    with full, store.charging(path) as connection:
        connection.execute("PRAGMA max_page_count = 1")
        connection.execute("CREATE TABLE more (x)")
        connection.executemany("INSERT INTO more VALUES (?)", [("x" * 4096,)] * 100)
    assert dps.Ledger(path).spent == dps.zcdp(0.25)


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])  # the second is of earlier versions
@pytest.mark.parametrize("folder_mode", [0o755, 0o555])
def test_a_read_only_file_can_be_read_and_not_charged(path: Path, folder_mode: int, journal: str) -> None:
    damage(path, f"PRAGMA journal_mode = {journal}")

    def work() -> None:
        if os.geteuid() == 0:  # for whom nothing is read-only
            os.setuid(65534)
        ledger = dps.Ledger(path)
        assert ledger.spent == dps.zcdp(0.25) and len(ledger.report().frame) == 1
        with pytest.raises(LedgerError, match="read-only|cannot be opened"):
            ledger.charge(dps.zcdp(0.1), **FOR)
        if not os.access(path.parent, os.W_OK):
            with pytest.raises(LedgerError, match="cannot be created"):
                dps.Ledger(path.with_name("new.ledger"), total=dps.zcdp(1))

    for folder in path.parents[:4]:
        if folder.stat().st_uid == path.stat().st_uid and folder != Path("/tmp"):
            folder.chmod(0o755)  # so that another user finds the file
    path.chmod(0o444)
    path.parent.chmod(folder_mode)
    try:
        assert in_processes(work, 1) == [0]
    finally:
        path.parent.chmod(0o755)
    assert dps.Ledger(path).spent == dps.zcdp(0.25)


def damage(path: Path, *statements: str) -> None:
    """Change a file past the triggers that refuse it."""
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:6000]),
    "text": lambda path: path.write_text("time,failed\n1,0\n" * 1000),
    "overwritten": lambda path: path.write_bytes(path.read_bytes()[:4096] + b"\7" * 40_000),
    "another database": lambda path: (path.unlink(), damage(path, "CREATE TABLE t (x)")),
    "a number": lambda path: damage(path, "DROP TRIGGER no_change", "UPDATE charges SET seq = 2"),
    "the last charge": lambda path: damage(path, "DROP TRIGGER no_refund", "DELETE FROM charges"),
    "a column": lambda path: path.write_bytes(path.read_bytes().replace(b"method TEXT", b"metho\xe4 TEXT")),
    "a letter": lambda path: path.write_bytes(path.read_bytes().replace(b"y ~ x", b"y ~ \xff")),
    "the number of the format": lambda path: damage(path, "PRAGMA user_version = 2"),
    "a directory": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_file_is_named_and_left_alone(path: Path, kind: str) -> None:
    DAMAGES[kind](path)
    before = path.read_bytes() if path.is_file() else b""
    for total in (None, dps.zcdp(1)):
        with pytest.raises(LedgerError, match=r"fleet.ledger (is|cannot|failed)"):
            dps.Ledger(path, total=total)
    assert (path.read_bytes() if path.is_file() else b"") == before


SAID = ("at", "budget", "gaussian", "cost", "spent", "formula", "method", "released", "unit", "digest")


@pytest.mark.parametrize("column", SAID)
def test_what_any_part_of_a_charge_says_is_not_changed_unseen(path: Path, column: str) -> None:
    """By one letter or bit, where a later charge is right, nor by whoever had opened it before."""
    ledger = dps.Ledger(path)
    ledger.charge(dps.zcdp(0.25), **FOR)
    changed = "1 - gaussian" if column == "gaussian" else f"'z' || substr({column}, 2)"
    damage(path, "DROP TRIGGER no_change", f"UPDATE charges SET {column} = {changed} WHERE seq = 1")
    damage(path, f"CREATE TRIGGER no_change BEFORE {store.TRIGGERS['no_change']}; END")
    before = path.read_bytes()
    for ask in (lambda: dps.Ledger(path), ledger.report, lambda: ledger.charge(dps.zcdp(0.25), **FOR)):
        with pytest.raises(LedgerError, match=r"fleet.ledger is damaged"):
            ask()
    assert path.read_bytes() == before


@pytest.mark.parametrize("column", ["dataset", "total", "created", "digest"])
def test_what_a_ledger_says_of_itself_is_not_changed_unseen(path: Path, column: str) -> None:
    ledger = dps.Ledger(path)
    last = f"substr({column}, -2, 1)"
    damage(
        path,
        "DROP TRIGGER no_other_total",
        f"UPDATE ledger SET {column} = replace({column}, {last}, iif({last} = '8', '7', '8'))",
    )
    for ask in (lambda: dps.Ledger(path), ledger.report, lambda: ledger.charge(dps.zcdp(0.25), **FOR)):
        with pytest.raises(LedgerError, match=r"fleet.ledger is damaged"):
            ask()


def test_a_sound_charge_of_another_ledger_is_not_taken_for_one_of_this(path: Path) -> None:
    """As where a page on the disk is another's: the charge has its digest, and not that of the one before."""
    other = dps.Ledger(path.with_name("other.ledger"), total=dps.zcdp(1), dataset="fleet")
    for cost, formula in ((0.25, "y ~ z"), (0.1, "y ~ x")):
        other.charge(dps.zcdp(cost), formula=formula, method="m")
    dps.Ledger(path).charge(dps.zcdp(0.5), **FOR)
    damage(
        path,
        "DROP TRIGGER no_refund",
        "DELETE FROM charges WHERE seq = 2",
        f"ATTACH '{other.path}' AS other",
        "INSERT INTO charges SELECT * FROM other.charges WHERE seq = 2",
    )
    found = path.rename(path.with_name("found.ledger"))
    with pytest.raises(LedgerError, match=r"found.ledger is damaged"):
        dps.Ledger(found)


def test_a_bit_that_is_damaged_changes_nothing_or_is_seen(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bits all over the file, of which many are nobody's."""
    monkeypatch.setattr("dpstats.ledger.ledger._SEEN", {})
    dps.Ledger(path).charge(dps.gdp(0.1), **FOR)
    whole, raw, rng, refused = contents(path), path.read_bytes(), random.Random(1), 0
    filled = [place for place, byte in enumerate(raw) if byte]
    for place in rng.sample(filled, 300):
        bad = bytearray(raw)
        bad[place] ^= 1 << rng.randrange(8)
        path.write_bytes(bad)
        try:
            assert contents(path) == whole
        except LedgerError:
            refused += 1
    assert refused > 100


def contents(path: Path) -> tuple[object, ...]:
    ledger = dps.Ledger(path)
    return ledger.dataset, ledger.total, ledger.entries()


def test_a_charge_checks_the_file_that_is_there_now(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = dps.Ledger(path)
    path.rename(path.with_name("old.ledger"))
    with pytest.raises(LedgerError, match="cannot be opened: it was moved"):
        ledger.charge(dps.zcdp(0.1), **FOR)
    assert not path.exists()
    monkeypatch.setattr(store, "now", lambda: "2031-01-01T00:00:00Z")
    for total in (dps.zcdp(2), ledger.total):
        dps.Ledger(path, total=total)
        with pytest.raises(LedgerError, match="was replaced by another"):
            ledger.charge(dps.zcdp(0.1), **FOR)
        path.unlink()


@pytest.mark.parametrize(("version", "says"), [(0, "no release"), (4, "upgrade dpstats")])
def test_another_format_is_refused(path: Path, version: int, says: str) -> None:
    damage(path, f"PRAGMA user_version = {version}")
    with pytest.raises(LedgerError, match=f"has format {version}, not 3; {says}"):
        dps.Ledger(path)


@pytest.fixture(params=[1, 2])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A ledger of three charges that the last version wrote without digests, or one without units, too."""
    path = tmp_path / "fleet.ledger"
    shutil.copyfile(Path(__file__).with_name("format_2.ledger"), path)
    if request.param == 1:
        damage(path, "ALTER TABLE charges DROP COLUMN unit", "PRAGMA user_version = 1")
    return path


def test_a_ledger_of_an_earlier_format_is_brought_up_to_date_by_a_charge(old: Path) -> None:
    before = old.read_bytes()
    ledger = dps.Ledger(old, total=dps.approx(3, 1e-6))
    entries, spent = ledger.entries(), ledger.spent
    assert [entry.unit for entry in entries] == ["one row"] * 3 and [each.gaussian for each in entries] == [
        False,
        True,
        False,
    ]
    assert [str(entry.budget) for entry in entries] == [
        "rho = 0.15 (zCDP)",
        "rho = 0.01 (zCDP)",
        "epsilon = 0.01",
    ]
    assert entries[0].released == {"score": "rho = 0.15"} and entries[1].formula == "Größe ~ 1"
    assert old.read_bytes() == before  # reading changes nothing
    with pytest.raises(BudgetError, match="protect one serial, but the ledger of 'fleet' protects one row"):
        ledger.charge(dps.zcdp(0.01), **FOR, unit="one serial")
    assert old.read_bytes() == before
    entry = ledger.charge(dps.zcdp(0.01), **FOR)
    assert dps.Ledger(old).entries() == [*entries, entry] and entry.seq == 4
    assert dps.Ledger(old).spent.epsilon > spent.epsilon
    with sqlite3.connect(old) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (store.FORMAT,)
        kept = connection.execute("SELECT digest FROM charges UNION SELECT digest FROM ledger").fetchall()
    connection.close()
    assert len({digest for (digest,) in kept}) == 5 and {len(digest) for (digest,) in kept} == {64}
    test_charges_and_the_total_are_final(old)


@pytest.mark.parametrize(
    "what", ["UPDATE charges SET cost = '1/8' WHERE seq = 2", "DELETE FROM charges WHERE seq = 3"]
)
def test_damage_to_a_ledger_of_an_earlier_format_is_given_no_digest(old: Path, what: str) -> None:
    ledger = dps.Ledger(old)
    damage(old, "DROP TRIGGER no_change", "DROP TRIGGER no_refund", what)
    if "DELETE" in what:
        damage(old, "UPDATE sqlite_sequence SET seq = 4")
    before = old.read_bytes()
    for ask in (lambda: ledger.charge(dps.zcdp(0.01), **FOR), lambda: dps.Ledger(old)):
        with pytest.raises(LedgerError, match="fleet.ledger (is damaged|was replaced)"):
            ask()
    assert old.read_bytes() == before


def test_a_refund_in_a_ledger_of_an_earlier_format_is_damage(old: Path) -> None:
    """Though all sums are right: 3/20 - 1/10 is 1/20, to which 1/20000 is added."""
    damage(
        old,
        "DROP TRIGGER no_change",
        "UPDATE charges SET cost = '-1/10', spent = '1/20' WHERE seq = 2",
        "UPDATE charges SET spent = '1001/20000' WHERE seq = 3",
    )
    with pytest.raises(LedgerError, match="fleet.ledger is damaged"):
        dps.Ledger(old)


NO_BUDGETS = (
    "null",
    "[]",
    '"zcdp"',
    "{",
    '{"kind": "zcdp", "rho": NaN}',
    '{"kind": "zcdp", "rho": -1}',
    '{"kind": "zcdp", "rho": null}',
)


@pytest.mark.parametrize("what", NO_BUDGETS)
@pytest.mark.parametrize("where", ["ledger SET total", "charges SET budget"])
def test_a_budget_of_an_earlier_format_that_is_none_is_damage(old: Path, what: str, where: str) -> None:
    """Also that of a charge between others, of which no sum is made."""
    only = " WHERE seq = 2" if where.startswith("charges") else ""
    ledger = dps.Ledger(old)
    damage(old, "DROP TRIGGER no_change", f"UPDATE {where} = '{what}'{only}")
    before = old.read_bytes()
    for ask in (lambda: dps.Ledger(old), ledger.entries, lambda: ledger.charge(dps.zcdp(0.01), **FOR)):
        with pytest.raises(LedgerError, match="fleet.ledger is damaged"):
            ask()
    assert old.read_bytes() == before


@pytest.mark.parametrize("zero", ["0", "0,0"])
def test_a_charge_of_an_earlier_format_that_costs_nothing_is_damage(old: Path, zero: str) -> None:
    """Though all sums are right; no budget is so small."""
    damage(
        old,
        "DROP TRIGGER no_change",
        "DROP TRIGGER no_refund",
        "DELETE FROM charges WHERE seq > 1",
        "UPDATE sqlite_sequence SET seq = 1",
        f"UPDATE charges SET cost = '{zero}', spent = '{zero}'",
    )
    with pytest.raises(LedgerError, match="fleet.ledger is damaged"):
        dps.Ledger(old)


def test_a_kill_while_a_ledger_is_brought_up_to_date_loses_and_adds_no_charge(old: Path) -> None:
    """At each statement of it, where SQLite has written into the file what it cannot keep in mind."""
    made, half, settle = [], 0, store._settle

    def work(path: Path, stop: int) -> None:
        steps = itertools.count()

        def killed(connection: sqlite3.Connection) -> None:
            settle(connection)
            connection.execute("PRAGMA cache_size = 1")  # pages
            connection.set_trace_callback(
                lambda _: os.kill(os.getpid(), signal.SIGKILL) if next(steps) == stop else None
            )

        store._settle = killed
        dps.Ledger(path).charge(dps.zcdp(0.01), **FOR)

    for stop in itertools.count():
        path = Path(shutil.copy(old, old.with_name(f"{stop}.ledger")))
        (code,) = in_processes(partial(work, path, stop), 1)
        half += path.read_bytes() != old.read_bytes()
        after = dps.Ledger(path).entries()
        assert after[:3] == dps.Ledger(old).entries()
        made.append(len(after))
        if code == 0:
            break
        assert dps.Ledger(path).charge(dps.zcdp(0.01), **FOR).seq == 4
    assert made == [3] * (len(made) - 1) + [4] and len(made) > 20 and half > 5


def test_processes_that_bring_a_ledger_up_to_date_at_once_do_it_once(old: Path) -> None:
    def work() -> None:
        dps.Ledger(old).charge(dps.zcdp(0.0001), **FOR)

    assert in_processes(work, 8) == [0] * 8
    assert len(dps.Ledger(old).entries()) == 11


def test_a_charge_is_synced_to_the_disk(path: Path) -> None:
    """By what SQLite is told for the connection that charges: 3 is EXTRA, which outlives a loss of power."""
    with store.charging(path) as connection:
        said = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "fullfsync")]
        assert said == [3, 1] and connection.in_transaction


def test_no_other_writes_while_a_charge_is_made(path: Path) -> None:
    """Also by a program that knows SQLite's locks alone."""
    other = sqlite3.connect(path, isolation_level=None, timeout=0)
    with store.charging(path), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")
    other.execute("BEGIN IMMEDIATE")
    other.close()


def test_charges_and_the_total_are_final(path: Path) -> None:
    columns = f"{store.COLUMNS}, digest"
    for statement in (
        "DELETE FROM charges",
        "UPDATE charges SET cost = '0'",
        "UPDATE OR REPLACE charges SET cost = '0'",
        f"INSERT OR REPLACE INTO charges SELECT {columns.replace('cost', repr('0'))} FROM charges",
        "DELETE FROM ledger",
        "UPDATE ledger SET total = replace(total, '1', '9')",
        "INSERT OR REPLACE INTO ledger (rowid, dataset, total, created, digest) "
        "SELECT rowid, dataset, replace(total, '1', '9'), created, digest FROM ledger",
        "INSERT INTO ledger SELECT * FROM ledger",
    ):
        with pytest.raises(sqlite3.IntegrityError), sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()


def test_a_charge_waits_and_gives_up_with_a_reason(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    ledger = dps.Ledger(path)
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="in use by others"):
            ledger.charge(dps.zcdp(0.1), **FOR)
        assert ledger.spent == dps.zcdp(0.25)  # reading needs no waiting
        other.execute("ROLLBACK")
        other.execute("BEGIN")  # a viewer that keeps the file open
        other.execute("SELECT * FROM charges").fetchall()
        with pytest.raises(LedgerError, match="in use by others"):
            ledger.charge(dps.zcdp(0.1), **FOR)
        assert ledger.spent == dps.zcdp(0.25)
    other.close()
    ledger.charge(dps.zcdp(0.1), **FOR)


ELSEWHERE = """
import sys, dpstats as dps
from dpstats.ledger import store
store.PATIENCE = 0.2
for path in sys.argv[1:]:
    try:
        with store.{} as connection:
            store.ends(connection)
    except dps.LedgerError as error:
        print(error)
"""


@pytest.mark.parametrize("opened", ["charging(dps.Ledger(path).path)", "reading(store.Path(path))"])
def test_a_copy_that_another_thread_makes_lets_no_other_process_in(path: Path, opened: str) -> None:
    """When a process closes a file, POSIX drops all its locks on it, those of SQLite too.

    Who only read took the journal of the charge for that of one that was cut off, and undid a charge that was
    told then. The other process is not a fork, which would take over what SQLite thinks is locked.
    """
    link = path.with_name("beside") / "link.ledger"
    link.parent.mkdir()
    link.symlink_to(path)
    command = [sys.executable, "-c", ELSEWHERE.format(opened), str(path), str(link)]
    with store.charging(path) as connection:
        shutil.copy(path, path.with_name("copy.ledger"))
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert connection.in_transaction and said.count("in use by others") == 2
    assert dps.Ledger(path).charge(dps.zcdp(0.75), **FOR).seq == 2


def no_locks(*_: object) -> None:
    raise OSError("No locks available")


def test_where_folders_cannot_be_locked_charges_are_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some systems refuse to unlock, too; a charge was spent, and its fit never made."""
    monkeypatch.setattr(store.fcntl, "flock", no_locks)
    assert dps.Ledger(path).charge(dps.zcdp(0.25), **FOR).seq == 2
    assert dps.Ledger(path).spent == dps.zcdp(0.5)


def test_a_process_that_is_forked_while_a_thread_charges_does_not_wait_in_vain(path: Path) -> None:
    """It would take over what SQLite thinks is locked, by a connection that nobody ends."""
    begun = Event()

    def slowly() -> None:
        with store.charging(path):
            begun.set()
            time.sleep(0.3)

    thread, start = Thread(target=slowly), time.monotonic()
    thread.start()
    begun.wait()
    assert in_processes(lambda: dps.Ledger(path).charge(dps.zcdp(0.25), **FOR) and None, 1) == [0]
    thread.join()
    assert time.monotonic() - start < store.PATIENCE / 4


def test_a_process_that_is_forked_while_a_thread_remembers_a_charge_does_not_wait_in_vain(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take over the lock of what was seen, held by a thread that it does not have."""
    keys, begun = dps.Ledger._keys, Event()

    def slowly(ledger: dps.Ledger) -> set:
        found = keys(ledger)
        if current_thread() is thread and not begun.is_set():
            begun.set()
            time.sleep(0.3)
        return found

    ledger = dps.Ledger(path)
    kept, start = [ledger.charge(dps.zcdp(0.25), **FOR)], time.monotonic()
    thread = Thread(target=ledger._saw, args=(kept,))
    monkeypatch.setattr(dps.Ledger, "_keys", slowly)
    thread.start()
    begun.wait()
    assert in_processes(lambda: dps.Ledger(path).charge(dps.zcdp(0.25), **FOR) and None, 1) == [0]
    thread.join()
    assert time.monotonic() - start < store.PATIENCE / 4


def charged_and_killed(path: Path) -> None:
    """A charge by a process that dies before it can tidy up."""

    def work() -> None:
        dps.Ledger(path).charge(dps.zcdp(0.25), **FOR)
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_processes(work, 1) == [-signal.SIGKILL]


def test_the_file_alone_holds_every_charge_that_was_told(path: Path) -> None:
    """Also where the process that charged was killed while another had the file open."""
    viewer = sqlite3.connect(path)
    viewer.execute("SELECT * FROM charges").fetchall()
    charged_and_killed(path)
    copy = shutil.copy(path, path.with_name("copy.ledger"))
    viewer.close()
    path.rename(path.with_name("moved.ledger"))
    for moved in (copy, path.with_name("moved.ledger")):
        assert len(dps.Ledger(moved).entries()) == 2 and dps.Ledger(moved).spent == dps.zcdp(0.5)


def to_write_ahead_log(path: Path) -> None:
    """As earlier versions kept a ledger: a charge is in the log, and the file has not heard of it."""
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    with connection:
        (entry,) = store.entries(connection)
        store.append(connection, replace(entry, seq=2, spent=(Fraction(1, 2),)))
    for beside in ("", "-wal"):  # as it is while the connection is open, which tidies up when it is closed
        shutil.copy(f"{path}{beside}", f"{path.with_name('old.ledger')}{beside}")
    connection.close()
    for beside in ("", "-wal"):
        path.with_name(f"old.ledger{beside}").rename(f"{path}{beside}")


def test_a_charge_moves_the_log_of_an_earlier_version_into_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to_write_ahead_log(path)
    assert path.with_name(f"{path.name}-wal").stat().st_size and dps.Ledger(path).spent == dps.zcdp(0.5)
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    with sqlite3.connect(path, isolation_level=None) as viewer:
        viewer.execute("BEGIN")
        viewer.execute("SELECT * FROM charges").fetchall()
        with pytest.raises(LedgerError, match="in use by others"):  # the charge would stay in the log
            dps.Ledger(path).charge(dps.zcdp(0.25), **FOR)
    viewer.close()
    assert dps.Ledger(path).charge(dps.zcdp(0.25), **FOR).seq == 3
    assert [file.name for file in path.parent.iterdir()] == ["fleet.ledger"]
    assert dps.Ledger(path).spent == dps.zcdp(0.75)


def test_processes_that_move_a_log_into_the_file_at_once_lose_no_charge(path: Path) -> None:
    to_write_ahead_log(path)

    def work() -> None:
        dps.Ledger(path).charge(dps.zcdp(0.05), **FOR)

    assert in_processes(work, 8) == [0] * 8
    assert dps.Ledger(path).spent == dps.zcdp(0.9)


def test_a_ledger_is_made_in_its_own_folder_which_may_be_another_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", "/nowhere")
    shared = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else tmp_path
    path = shared / f"dpstats-{os.getpid()}.ledger"
    try:
        dps.Ledger(path, total=dps.zcdp(1)).charge(dps.zcdp(0.5), **FOR)
        link = tmp_path / "link.ledger"
        link.symlink_to(path)
        assert dps.Ledger(link).spent == dps.zcdp(0.5)
    finally:
        path.unlink()


def test_report_as_json_and_picture(path: Path) -> None:
    ledger = dps.Ledger(path)
    content = json.loads(json.dumps(ledger.to_dict()))
    assert content["format"] == "dpstats.ledger/2" and content["charges"][0]["cost"] == "1/4"
    axes = ledger.plot()
    assert axes.get_xlabel() == "delta" and len(axes.get_lines()) == 2
    spent, total = (line.get_ydata() for line in axes.get_lines())
    assert (spent < total).all()
    axes.figure.draw_without_rendering()
    assert axes.get_legend().get_window_extent().x0 > axes.bbox.x1  # it hides no line and no point


def test_a_file_with_two_names_is_refused(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "a.ledger", total=dps.zcdp(1))
    os.link(tmp_path / "a.ledger", tmp_path / "b.ledger")
    for name in ("a", "b"):
        with pytest.raises(LedgerError, match="names .hard links.*remove all but one"):
            dps.Ledger(tmp_path / f"{name}.ledger").charge(dps.zcdp(0.1), **FOR)
    os.unlink(tmp_path / "b.ledger")
    os.symlink(tmp_path / "a.ledger", tmp_path / "c.ledger")
    dps.Ledger(tmp_path / "c.ledger").charge(dps.zcdp(0.1), **FOR)
    assert ledger.spent == dps.zcdp(0.1)


def killed_with_two_names(path: Path) -> None:
    """Begin a ledger in a process that is killed while the file still has the name of its draft."""

    def begin() -> None:
        link = os.link

        def killed(draft: Path, name: Path) -> None:
            link(draft, name)
            os.kill(os.getpid(), signal.SIGKILL)

        os.link = killed  # type: ignore[assignment]
        dps.Ledger(path, total=dps.zcdp(1))

    assert in_processes(begin, 1) == [-signal.SIGKILL]
    assert path.stat().st_nlink == 2


@pytest.mark.parametrize("opened", ["its name", "a symbolic link", "another name"])
def test_who_is_killed_while_beginning_a_ledger_leaves_one_that_is_used(tmp_path: Path, opened: str) -> None:
    path = tmp_path / "a.ledger"
    killed_with_two_names(path)
    if opened == "a symbolic link":
        (tmp_path / "link").mkdir()
        (tmp_path / "link" / "b.ledger").symlink_to(path)
    if opened == "another name":
        path = path.rename(tmp_path / "b.ledger")
    (tmp_path / ".settings.d").mkdir()
    (tmp_path / ".cache.txt").touch()
    name = tmp_path / "link" / "b.ledger" if opened == "a symbolic link" else path
    dps.Ledger(name, total=dps.zcdp(1)).charge(dps.zcdp(0.1), **FOR)
    assert dps.Ledger(path).spent == dps.zcdp(0.1) and path.stat().st_nlink == 1
    assert {each.name for each in tmp_path.iterdir()} - {"link"} == {path.name, ".settings.d", ".cache.txt"}


def test_a_draft_by_which_a_ledger_was_used_and_other_names_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    killed_with_two_names(path)
    (draft,) = tmp_path.glob(".a.ledger.*/a.ledger")
    with pytest.raises(LedgerError, match="2 names"):
        dps.Ledger(draft)
    journal = draft.with_name("a.ledger-journal")
    journal.touch()
    with pytest.raises(LedgerError, match=r"2 names .*in a hidden folder beside it, such as \.a\.ledger"):
        dps.Ledger(path)
    journal.unlink()
    os.link(path, tmp_path / "b.ledger")
    with pytest.raises(LedgerError, match="2 names"):
        dps.Ledger(path)
    assert path.stat().st_nlink == 2


def killed_at(moment: str, path: Path) -> None:
    """Begin a ledger in a process that is killed when it comes to this."""

    def dead(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def begin() -> None:
        if moment == "nothing is in the folder":
            sqlite3.connect = dead  # type: ignore[assignment]
        if moment == "a journal is beside the draft":

            def spilled(connection: sqlite3.Connection) -> None:
                connection.execute("PRAGMA cache_size = 1")
                connection.execute("CREATE TABLE more (x)")
                connection.executemany("INSERT INTO more VALUES (?)", [("x" * 4096,)] * 20)
                dead()

            store._seal = spilled
        if moment == "the draft is complete":
            os.link = dead  # type: ignore[assignment]
        dps.Ledger(path, total=dps.zcdp(1))

    assert in_processes(begin, 1) == [-signal.SIGKILL]


@pytest.mark.parametrize("opened", ["begun", "opened"])
@pytest.mark.parametrize(
    "moment", ["nothing is in the folder", "a journal is beside the draft", "the draft is complete"]
)
def test_what_is_left_by_a_process_killed_before_a_ledger_had_its_name_is_removed(
    tmp_path: Path, moment: str, opened: str
) -> None:
    path, kept = tmp_path / "a.ledger", [".a.ledger.fits", ".a.ledger.settings", ".b.ledger.abcdefgh"]
    if opened == "opened":
        dps.Ledger(path, total=dps.zcdp(1))
        path.rename(tmp_path / "away")
    killed_at(moment, path)
    (folder,) = tmp_path.glob(".*")
    assert len([*folder.iterdir()]) == {"nothing": 0, "the": 1, "a": 2}[moment.split()[0]]
    for name in kept:
        (tmp_path / name).mkdir()
    (tmp_path / ".a.ledger.settings" / "a.ledger").touch()
    (tmp_path / ".a.ledger.settings" / "mine").touch()
    if opened == "opened":
        (tmp_path / "away").rename(path)
    dps.Ledger(path, total=dps.zcdp(1))
    assert {each.name for each in tmp_path.iterdir()} == {"a.ledger", *kept}
    assert len([*(tmp_path / ".a.ledger.settings").iterdir()]) == 2


def test_copies_that_somebody_keeps_beside_a_ledger_are_no_drafts(tmp_path: Path) -> None:
    """The one of a ledger that is gone is the only one that knows its charges."""
    path, other = tmp_path / "a.ledger", tmp_path / "other"
    dps.Ledger(path, total=dps.zcdp(1)).charge(dps.zcdp(0.5), formula="y ~ x", method="m")
    copies = [tmp_path / ".a.ledger.20261129" / "a.ledger", other / "a.ledger"]
    for copy in copies:
        copy.parent.mkdir()
        shutil.copy(path, copy)
    (tmp_path / ".a.ledger.draft-abcdefgh").symlink_to(other)
    dps.Ledger(path)
    assert all(copy.exists() for copy in copies)


def test_a_draft_that_is_being_made_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where the folder cannot be locked, so that nobody knows."""
    path, link, begun, go = tmp_path / "a.ledger", os.link, Event(), Event()

    def slowly(draft: Path, name: Path) -> None:
        begun.set()
        assert go.wait(60)
        link(draft, name)

    monkeypatch.setattr(os, "link", slowly)
    thread = Thread(target=lambda: dps.Ledger(path, total=dps.zcdp(1)))
    thread.start()
    assert begun.wait(60)
    with monkeypatch.context() as brief:
        brief.setattr(store, "PATIENCE", 0.1)
        with pytest.raises(LedgerError, match="in use by others"):
            store.tidy(path)
        brief.setattr(store.fcntl, "flock", no_locks)
        store.tidy(path)
    go.set()
    thread.join()
    assert dps.Ledger(path).entries() == [] and [each.name for each in tmp_path.iterdir()] == ["a.ledger"]


def test_an_earlier_copy_in_the_place_of_the_file_is_noticed(path: Path) -> None:
    ledger = dps.Ledger(path)
    earlier = path.read_bytes()
    ledger.charge(dps.zcdp(0.1), **FOR)
    whole = path.read_bytes()
    path.write_bytes(earlier)
    for ask in (
        lambda: ledger.charge(dps.zcdp(0.1), **FOR),
        ledger.entries,
        lambda: ledger.left,
        ledger.line,
    ):
        with pytest.raises(LedgerError, match="lacks charges which were made"):
            ask()
    assert path.read_bytes() == earlier, "nothing was charged"
    path.write_bytes(whole)
    dps.Ledger(path).charge(dps.zcdp(0.1), **FOR)  # another process
    assert ledger.charge(dps.zcdp(0.1), **FOR).seq == len(ledger.entries())


def test_an_earlier_copy_is_noticed_by_whoever_names_the_file_again(path: Path) -> None:
    """A script that names its ledger by path in each fit, and a copy that is put back before each."""
    earlier = path.read_bytes()
    entry = dps.Ledger(path).charge(dps.zcdp(0.1), **FOR)
    link = path.with_name("link.ledger")
    link.symlink_to(path)
    whole = path.read_bytes()
    path.write_bytes(earlier)
    for name in (path, link):
        with pytest.raises(LedgerError, match="This file was not charged, and nothing is released"):
            dps.Ledger(name)
    path.with_name("copy.ledger").write_bytes(earlier)
    assert len(dps.Ledger(path.with_name("copy.ledger")).entries()) == 1  # is no longer that file
    path.write_bytes(whole)
    assert dps.Ledger(path).entries()[-1] == entry
    path.unlink()
    assert dps.Ledger(path, total=dps.zcdp(1)).entries() == []  # begun anew on purpose, within a second


def test_an_earlier_copy_is_noticed_where_a_link_leads_to_it(path: Path) -> None:
    earlier, link, folder = (
        path.with_name("earlier.ledger"),
        path.with_name("link.ledger"),
        path.parent / "to",
    )
    shutil.copy(path, earlier)
    for name, old in ((link, path), (folder, path.parent)):
        name.symlink_to(old)
    for name in (link, folder / path.name):
        dps.Ledger(name).charge(dps.zcdp(0.1), **FOR)
    for number in range(3):  # so that the copy has more charges, of which some are others
        assert len(dps.Ledger(earlier).entries()) == number + 1, "under its own path it is any ledger"
        dps.Ledger(earlier).charge(dps.zcdp(0.01), **FOR)
    path.with_name("other").mkdir()
    shutil.copy(earlier, path.with_name("other") / path.name)
    for name, new in ((link, earlier), (folder, path.with_name("other"))):
        name.unlink()
        name.symlink_to(new)
    for name in (link, folder / path.name):
        with pytest.raises(LedgerError, match="lacks charges which were made"):
            dps.Ledger(name)
    link.unlink()
    link.symlink_to(path.rename(path.with_name("moved.ledger")))
    assert len(dps.Ledger(link).entries()) == 3, "the file itself may be moved"


def test_an_earlier_copy_is_noticed_after_another_ledger_stood_in_its_place(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = path.read_bytes()
    dps.Ledger(path).charge(dps.zcdp(0.1), **FOR)
    monkeypatch.setattr(store, "now", lambda: "2031-01-01T00:00:00Z")
    for total in (dps.zcdp(2), dps.zcdp(1)):  # the latter is alike but for its time
        path.unlink()
        dps.Ledger(path, total=total).charge(dps.zcdp(0.1), **FOR)
        other = path.read_bytes()
        path.write_bytes(earlier)
        with pytest.raises(LedgerError, match="lacks charges which were made"):
            dps.Ledger(path)
        path.write_bytes(other)
        assert len(dps.Ledger(path).entries()) == 1


@pytest.mark.parametrize("total", [dps.zcdp(1), dps.gdp(0.7), dps.pure(0.1), dps.approx(0.3, 1e-6)])
def test_a_ledger_may_be_begun_anew_within_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, total: Budget
) -> None:
    monkeypatch.setattr(store, "now", lambda: "2031-01-01T00:00:00Z")
    path = tmp_path / "fleet.ledger"
    for formula in ("y ~ x", "y ~ z"):
        dps.Ledger(path, total=total).charge(dps.pure(0.01), formula=formula, method="m")
        assert [entry.formula for entry in dps.Ledger(path).entries()] == [formula]
        path.unlink()


def test_a_thread_that_is_late_turns_no_memory_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One charges, and before it keeps that in mind, another charges as well, by a ledger of its own."""
    late, saw, copies = dps.Ledger(path), dps.Ledger._saw, []

    def slowly(ledger: dps.Ledger, entries: list[store.Entry]) -> None:
        if ledger is late and not copies:
            copies.append(path.read_bytes())
            thread = Thread(target=lambda: dps.Ledger(path).charge(dps.zcdp(0.1), **FOR))
            thread.start()
            thread.join()
        saw(ledger, entries)

    monkeypatch.setattr(dps.Ledger, "_saw", slowly)
    late.charge(dps.zcdp(0.1), **FOR)
    assert len(late.entries()) == 3
    path.write_bytes(copies[0])
    for ask in (late.entries, lambda: dps.Ledger(path)):
        with pytest.raises(LedgerError, match="lacks charges which were made"):
            ask()


def test_a_cell_that_names_its_ledger_again_begins_no_other_where_the_file_was_moved(path: Path) -> None:
    ledger = dps.Ledger(path)
    dps.use_ledger(path)
    path.rename(path.with_name("old.ledger"))
    try:
        with pytest.raises(LedgerError, match="it was moved"):
            dps.use_ledger(path, total=ledger.total)
        assert not path.exists()
        dps.use_ledger(None)
        assert dps.use_ledger(path, total=ledger.total) is not None
    finally:
        dps.use_ledger(None)

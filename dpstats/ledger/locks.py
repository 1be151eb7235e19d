"""What SQLite's own locks do not see: a file of two names, and a file that its own process has closed."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpstats.errors import LedgerError

try:
    import fcntl
except ImportError:  # Windows, where no lock is dropped before it is released
    fcntl = None  # type: ignore[assignment]

_LOOKS = 100  # times 20 ms: how long a ledger may have two names while it is created


@contextmanager
def alone(path: Path, patience: float) -> Iterator[bool]:
    """Keep other charges out of the folder of a file until the block ends.

    POSIX drops all locks of a process on a file as soon as the process closes that file once: SQLite's are
    gone when another thread has copied the ledger, and two processes could then charge the same rest. A
    lock of the folder by flock stays. Where a folder cannot be locked, SQLite's locks are all there is.

    Yields
    ------
    bool
        False if others did not let go for `patience` seconds.
    """
    folder = _opened(path.resolve().parent)
    try:
        yield folder is None or _locked(folder, time.monotonic() + patience)
    finally:
        if folder is not None:
            fcntl.flock(folder, fcntl.LOCK_UN)  # a process that was forked meanwhile holds it, too
            os.close(folder)


def _opened(folder: Path) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY) if fcntl else None
    except OSError:
        return None


def _locked(folder: int, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(random.uniform(0.001, 0.02))
        except OSError:
            return True
        else:
            return True


def refuse_second_name(path: Path) -> None:
    """Refuse a file that has two names by a hard link: SQLite keeps a journal for each name.

    Who opens it by one name would not undo a charge that was cut off under the other. Whoever creates the
    ledger gives the file a second name for a moment, which is waited for.

    Raises
    ------
    LedgerError
    """
    for _ in range(_LOOKS):
        names = path.stat().st_nlink if path.is_file() else 1  # what else is wrong, SQLite says
        if names <= 1:
            return
        time.sleep(0.02)
    raise LedgerError(
        f"the ledger {path} has {names} names (hard links), and a charge cut off under one would spoil "
        "the file under the other; remove all but one. Nothing was released. A symbolic link is fine"
    )

"""``-`` in the place of a file: the standard input, or the standard output."""

import argparse
import io
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpstats.errors import SpecificationError

DASH = Path("-")
_OUTPUTS = ("out", "suggest")
_KINDS = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"{": ".json"}  # by what a file begins with; else CSV
_FIRST = 6  # bytes
# what ends a process that was not told to keep on: a command, a closed terminal, a key, a limit of its time
_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU") if hasattr(signal, name)
)


@contextmanager
def standard_input(options: argparse.Namespace) -> Iterator[None]:
    """Put a file of what the standard input holds in the place of ``-`` among the inputs of a command.

    Its owner alone may read it, and it goes when the command ends, unless SIGKILL ends it, which tells
    nobody: rows are read more than once.

    Raises
    ------
    SpecificationError
        If two inputs are ``-``.
    """
    given = {name: value for name, value in vars(options).items() if name not in _OUTPUTS}
    several = {name: value if isinstance(value, list) else [value] for name, value in given.items()}
    places = [(name, j) for name, values in several.items() for j, each in enumerate(values) if each == DASH]
    if len(places) > 1:
        raise SpecificationError(
            "- is the standard input, which is there once: give the path of the other file"
        )
    if not places:
        yield
        return
    name, j = places[0]
    with _ended_in_order(), tempfile.TemporaryDirectory(prefix="dpstats-") as folder:
        several[name][j] = _kept(Path(folder))
        setattr(options, name, several[name] if isinstance(given[name], list) else several[name][0])
        yield


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Have the signals that end a process leave as an exception does, so that what was kept goes.

    The exit status is what shells show of a command that was ended by the signal.
    """
    before = {end: signal.signal(end, lambda number, _: sys.exit(128 + number)) for end in _SIGNALS}
    try:
        yield
    finally:
        for end, handler in before.items():
            signal.signal(end, handler)


def _kept(folder: Path) -> Path:
    first = sys.stdin.buffer.read(_FIRST)
    suffix = next((suffix for mark, suffix in _KINDS.items() if first.startswith(mark)), ".csv")
    path = folder / f"standard_input{suffix}"
    with path.open("xb") as out:
        out.write(first)
        shutil.copyfileobj(sys.stdin.buffer, out)
    return path


def any_text() -> None:
    """Have the standard output write what its encoding lacks as Python does, such as ``\\xe9``."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def leave_quietly() -> None:
    """Who reads the output has seen enough, as ``head`` has: what is left of it goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)

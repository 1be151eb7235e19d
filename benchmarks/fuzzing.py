"""How a reader is tried: a valid input is spoiled, read, and watched.

A reader may refuse its input with one of the package's own errors. It may not raise anything else, run code,
start a process, open a connection or a file to write, and no error or warning of a reader of private rows may
hold a cell.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

import dpstats as dps

SECRET = "86753090"  # a cell; nothing that is said may hold it
ALLOWED = (dps.SpecificationError, dps.NotReleased)
FORBIDDEN = {
    "exec",
    "pickle.find_class",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "subprocess.Popen",
    "socket.connect",
    "socket.bind",
    "ctypes.dlopen",
    "sqlite3.load_extension",
    "sqlite3.enable_load_extension",
}
CHANGES = {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "shutil.rmtree"}
# run code of their own: methods of distributions, named tuples, the modules of installed libraries
RUN_THEIR_OWN = ("/scipy/stats/", "/collections/__init__.py", "<frozen importlib")


class Fault(AssertionError):
    """What a reader must not do."""


@dataclass(frozen=True)
class Target:
    """One reader.

    Attributes
    ----------
    name : str
        Also the ending of its files.
    corpus : callable
        A folder -> valid inputs.
    read : callable
        A path -> nothing; reads the file, and uses what it holds as a user would.
    header : callable, optional
        Where the bytes hold private cells: the names of the columns, which may be told, as Python shows them.
    commands : bool
        Whether the bytes are a command, which may load what it needs and write where it is told to.
    """

    name: str
    corpus: Callable[[Path], list[bytes]]
    read: Callable[[Path], None]
    header: Callable[[bytes], str] | None = None
    commands: bool = False


class Watch:
    """Notes what a reader does to the machine while it reads: an audit hook, which cannot be taken off."""

    def __init__(self) -> None:
        self.armed, self.seen = False, set[str]()
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.armed or not (event in FORBIDDEN or _changes(event, args)):
            return
        caller = sys._getframe(1).f_code.co_filename
        if event == "exec" and any(name in caller for name in RUN_THEIR_OWN):
            return
        if event in FORBIDDEN or not _temporary(args[0]):
            self.seen.add(f"{event} {args[0] if args else ''}"[:100])


def _changes(event: str, args: tuple[Any, ...]) -> bool:
    mode = args[1] if event == "open" and isinstance(args[1], str) else ""
    return event in CHANGES or any(letter in mode for letter in "wax+")


def _temporary(path: object) -> bool:
    return not isinstance(path, str | os.PathLike) or str(path).startswith(tempfile.gettempdir())


def check(target: Target, data: bytes, folder: Path, watch: Watch) -> bool:
    """Read `data`, and raise Fault if it does what it must not; whether it was accepted."""
    path = folder / f"case.{target.name}"
    path.write_bytes(data)
    said = io.StringIO()
    accepted = False
    watch.seen.clear()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stderr(said):
        warnings.simplefilter("always")
        watch.armed = not target.commands
        try:
            target.read(path)
            accepted = True
        except ALLOWED as error:
            said.write(f"{error}\n")
            said.write("" if error.__suppress_context__ else f"{error.__cause__!r} {error.__context__!r}\n")
        except Exception as error:
            raise Fault(f"{target.name}: {type(error).__name__}: {str(error)[:200]}") from error
        finally:
            watch.armed = False
    if watch.seen:
        raise Fault(f"{target.name} did {', '.join(sorted(watch.seen))}")
    said.write("\n".join(str(warning.message) for warning in caught))
    if target.header and SECRET in said.getvalue() and SECRET not in target.header(data):
        raise Fault(f"{target.name} told a cell: {said.getvalue()[:200]}")
    return accepted


def first_line(data: bytes) -> str:
    """Of a CSV file: the names of its columns."""
    return repr(data.split(b"\n", 1)[0].decode(errors="replace"))


def unzipped(data: bytes) -> bytes:
    """As much as there is before the damage."""
    stream, found = zlib.decompressobj(31), bytearray()
    with contextlib.suppress(zlib.error):
        for byte in data:
            found += stream.decompress(bytes([byte]))
    return bytes(found)


def column_names(data: bytes) -> str:
    """Of a Parquet or Arrow file."""
    for read in (parquet.read_schema, lambda file: pa.ipc.open_file(file).schema, pa.ipc.read_schema):
        try:
            return repr(read(pa.BufferReader(data)).names)
        except Exception:
            continue
    return ""


WILD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    2**63,
    10**400,
    1e308,
    -1e308,
    5e-324,
    float("nan"),
    float("inf"),
    "",
    "inf",
    "nan",
    "x" * 300,
    "é\u202e\x00",
    "__import__('os').system('true')",
    [],
    {},
    [[]],
    [1, [2]],
    {"a": 1},
    "0" * 5000,
]
TOKENS = [
    b'"',
    b"\n",
    b"\r",
    b",",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"1e999",
    b"-inf",
    b"nan",
    b"_",
    b"0x1",
    b"'",
    b"=",
    b"[",
    b"}",
    b"(",
    b")" * 40,
    b"(" * 3000,
    b"[" * 100_000,
    b"9" * 5000,
    b"-",
    b"--",
    b" ",
    b"~",
    b"\xc3\x28",
    b"\xed\xa0\x80",
    b"\x80\x04\x95",
    b"!!python/object/apply:os.system",
    b"*" * 50,
    b"1_000",
    SECRET.encode(),
]


def spoiled(corpus: list[bytes], draw: random.Random) -> bytes:
    """One of the valid inputs, changed in one to four places."""
    data = draw.choice(corpus)
    for _ in range(draw.choice((1, 1, 2, 4))):
        data = _spoiled_json(data, draw) if draw.random() < 0.6 else _spoiled_bytes(data, corpus, draw)
    return data


def _spoiled_json(data: bytes, draw: random.Random) -> bytes:
    """Another value somewhere in a JSON text, of one line or several; other bytes as they are."""
    lines = data.split(b"\n") if data[:1] == b"{" and data.count(b"\n{") else [data]
    place = draw.randrange(len(lines))
    try:
        tree = json.loads(lines[place])
        spots = list(_spots(tree)) if isinstance(tree, dict | list) else []
        parent, key = draw.choice(spots)
    except (ValueError, RecursionError, IndexError, TypeError):  # no JSON, or a single value
        return _spoiled_bytes(data, [data], draw)
    if draw.random() < 0.2:
        del parent[key]
    elif draw.random() < 0.2 and isinstance(parent, list):
        parent.append(parent[key])
    else:
        other, there = draw.choice(spots)
        parent[key] = draw.choice(WILD) if draw.random() < 0.8 else json.loads(json.dumps(other[there]))
    lines[place] = json.dumps(tree).encode()
    return b"\n".join(lines)


def _spots(tree: Any) -> Iterator[tuple[Any, Any]]:
    for key, value in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        yield tree, key
        if isinstance(value, dict | list):
            yield from _spots(value)


def _spoiled_bytes(data: bytes, corpus: list[bytes], draw: random.Random) -> bytes:
    start = draw.randint(0, len(data))
    end = min(len(data), start + draw.choice((0, 0, 1, 1, 2, 8, 100)))
    kind = draw.randrange(5)
    if kind == 0:
        return data[:start] + bytes(draw.randrange(256) for _ in range(end - start)) + data[end:]
    if kind == 1:
        return data[:start] + data[end:]
    if kind == 2:
        other = draw.choice(corpus)
        cut = draw.randint(0, len(other))
        return data[:start] + other[cut:]
    if kind == 3:
        return data[:end] + data[start:]
    return data[:start] + draw.choice(TOKENS) + data[end:]

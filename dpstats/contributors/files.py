"""Messages in files: Parquet, or one line of JSON each."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpstats._arguments import path_of
from dpstats._private import forgetting
from dpstats.contributors.message import Message
from dpstats.errors import DataError

_GROUP = 8192  # messages in a row group; a server reads group by group


@forgetting
def write_messages(messages: Iterable[Message], path: str | Path) -> int:
    """Write messages to a file that ends in .parquet or .jsonl; returns how many.

    Parquet has the columns ``plan`` (text), ``id`` (16 bytes) and ``values``, the noisy numbers as
    little-endian float64. JSON lines are what ``Message.to_json`` gives.
    """
    file = path_of("path", path)
    suffix, checked = file.suffix.lower(), map(_message, messages)
    if suffix == ".jsonl":
        count = 0
        with file.open("w", encoding="utf-8") as out:
            for message in checked:
                out.write(message.to_json() + "\n")
                count += 1
        return count
    if suffix in (".parquet", ".pq"):
        return _write_parquet(checked, file)
    raise DataError("files of messages end in .parquet or .jsonl; this one does not")


def _message(given: object) -> Message:
    if not isinstance(given, Message):
        raise DataError(f"messages are what contribute() gives, not {type(given).__name__}")
    return given


def _write_parquet(messages: Iterator[Message], path: Path) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([("plan", pa.string()), ("id", pa.binary(16)), ("values", pa.binary())])
    count = 0
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=["plan"]) as out:
        while group := list(itertools.islice(messages, _GROUP)):
            columns: list[list[Any]] = [
                [message.plan for message in group],
                [message.id for message in group],
                [np.asarray(message.values, "<f8").tobytes() for message in group],
            ]
            out.write_table(pa.table(columns, schema=schema))
            count += len(group)
    return count

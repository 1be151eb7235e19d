"""Whether tables are one: the same object, file or memory of a column. No value is looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dpstats._private import protected
from dpstats.errors import DataError
from dpstats.rows.csvfile import CsvFile
from dpstats.rows.paths import data_files
from dpstats.rows.queries import is_query
from dpstats.rows.sources import HELD, NO_FRAMES, is_of_polars

_HELD = ("_data", "_codes", "_ndarray", "_pa_array", "_sparse_values")  # by pandas' arrays, the mask left out


def shared(one: Any, other: Any) -> bool:
    """Whether two tables, or two iterables of tables, have the memory of a column or a file in common.

    Names of columns do not matter, and tables that hold other rows of one array have nothing in common. Of
    what can be read but once, such as a generator, only the object itself is compared: to look into it is to
    use it up.
    """
    failure = DataError("the data cannot be compared with the public data: opening a column failed")
    return one is other or protected(lambda: _have_common(one, other), failure)


def repeated(frames: Iterable[Any]) -> bool:
    """Whether tables that are held one beside the other are one object or one file."""
    held = list(frames) if isinstance(frames, HELD) else []
    return len(set(map(_identity, held))) < len(held)


def _identity(frame: Any) -> tuple[int, ...]:
    if isinstance(frame, CsvFile) and os.path.exists(frame.path):
        status = os.stat(frame.path)
        return status.st_dev, status.st_ino
    return (id(frame),)


def _have_common(one: Any, other: Any) -> bool:
    pieces = list(_pieces(one))
    return any(_overlap(piece, another) for another in _pieces(other) for piece in pieces)


def _overlap(piece: Any, other: Any) -> bool:
    if isinstance(piece, np.ndarray) and isinstance(other, np.ndarray):
        return np.shares_memory(piece, other)
    if isinstance(piece, Path) and isinstance(other, Path):
        return os.path.exists(piece) and os.path.exists(other) and os.path.samefile(piece, other)
    return piece is other


def _pieces(data: Any) -> Iterator[Any]:
    """The path of each file; the memory of each column, as arrays where it is one, or what holds it."""
    if isinstance(data, CsvFile):
        yield data.path
    elif isinstance(data, str | os.PathLike):
        yield from _files(Path(data))
    elif isinstance(data, pd.DataFrame):
        for place in range(data.shape[1]):
            yield from _of_column(data.iloc[:, place].array)
    elif isinstance(data, Mapping):
        for column in data.values():
            yield from _of_column(column)
    elif isinstance(data, pa.Table | pa.RecordBatch) or is_of_polars(data):
        for column in pa.table(data).columns:
            yield from _of_column(column)
    elif hasattr(data, "__arrow_c_stream__") or is_query(data):
        yield data
    elif isinstance(data, Iterable) and not isinstance(data, NO_FRAMES) and iter(data) is not data:
        for frame in data:
            yield from _pieces(frame)


def _files(path: Path) -> tuple[Path, ...]:
    try:
        return data_files(path)
    except DataError:  # which the reader says, if it is to be read
        return (path,)


def _of_column(column: Any) -> Iterator[Any]:
    if isinstance(column, pd.Series | pd.Index):
        column = column.array
    if isinstance(column, pa.ChunkedArray):
        for chunk in column.chunks:
            yield from _of_arrow(chunk)
    elif isinstance(column, pa.Array):
        yield from _of_arrow(column)
    elif type(column).__module__.startswith("polars."):
        yield from _of_column(column.to_arrow())
    elif isinstance(column, pd.api.extensions.ExtensionArray):
        for name in _HELD:
            held = getattr(column, name, None)
            if held is not None:
                yield from _of_column(held)
    else:
        yield column


def _of_arrow(chunk: pa.Array) -> Iterator[np.ndarray]:
    """The part of its buffers in which the rows of a chunk begin; not that of its dictionary or nulls."""
    array = chunk.indices if isinstance(chunk, pa.DictionaryArray) else chunk
    buffers = array.buffers()
    if len(buffers) < 2 or buffers[1] is None:
        return
    bits = array.type.bit_width if pa.types.is_primitive(array.type) else _WIDTHS.get(str(array.type), 32)
    first, last = -(-array.offset * bits // 8), (array.offset + len(array)) * bits // 8  # whole bytes
    yield np.frombuffer(buffers[1], dtype=np.uint8)[first:last]


_WIDTHS = {"large_string": 64, "large_binary": 64, "string_view": 128, "binary_view": 128}

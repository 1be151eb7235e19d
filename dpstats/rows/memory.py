"""Whether two tables are one: the same object, file or memory of a column. No value is looked at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dpstats._private import protected
from dpstats.errors import DataError
from dpstats.rows.csvfile import CsvFile

__all__ = ["shared"]

_HELD = ("_data", "_codes", "_ndarray", "_pa_array", "_sparse_values")  # by pandas' arrays, the mask left out


def shared(one: Any, other: Any) -> bool:
    """Whether two tables have the memory of a column in common, whatever its name, or are of one file.

    Tables that hold other rows of one array have not. Of what can be read but once, such as a generator, only
    the object itself is compared.
    """
    if one is other:
        return True
    first, second = _file(one), _file(other)
    if first and second:
        return os.path.exists(first) and os.path.exists(second) and os.path.samefile(first, second)
    failure = DataError("the data cannot be compared with the public data: opening a column failed")
    return protected(lambda: _have_common(one, other), failure)


def _have_common(one: Any, other: Any) -> bool:
    pieces = list(_pieces(other))
    return any(_overlap(piece, another) for piece in _pieces(one) for another in pieces)


def _overlap(piece: Any, other: Any) -> bool:
    if isinstance(piece, np.ndarray) and isinstance(other, np.ndarray):
        return np.shares_memory(piece, other)
    return piece is other


def _file(data: Any) -> Path | None:
    if isinstance(data, CsvFile):
        return data.path
    return Path(data) if isinstance(data, str | os.PathLike) else None


def _pieces(data: Any) -> Iterator[Any]:
    """The memory of each column, as arrays where it is one; else the object that holds it."""
    if isinstance(data, pd.DataFrame):
        for place in range(data.shape[1]):
            yield from _of_column(data.iloc[:, place].array)
    elif isinstance(data, Mapping):
        for column in data.values():
            yield from _of_column(column)
    elif isinstance(data, pa.Table | pa.RecordBatch) or type(data).__module__.startswith("polars."):
        for column in pa.table(data).columns:
            yield from _of_column(column)
    elif isinstance(data, Sequence) and not isinstance(data, str | bytes):
        for frame in data:
            yield frame
            yield from _pieces(frame)


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

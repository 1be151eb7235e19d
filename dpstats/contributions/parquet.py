"""Messages in Parquet files, read without a Python object for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpstats.contributions.seen import ID
from dpstats.errors import DataError

Array = np.ndarray

COLUMNS = ("plan", "id", "values")


def parquet_batches(path: Path, plan: str, size: int, rows: int) -> Iterator[tuple[int, int, Array, Array]]:
    """Counts of malformed messages and of those of another plan, ids and values, a batch at a time."""
    import pyarrow.parquet as pq

    try:
        # pages are read as they are needed, and no more is kept than a batch
        file = pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except Exception:
        raise DataError(f"{path} cannot be read as a Parquet file: is it complete?") from None
    with file:
        if not set(COLUMNS) <= set(file.schema_arrow.names):
            raise DataError(f"{path} holds no messages: they have the columns {', '.join(COLUMNS)}")
        source = file.iter_batches(batch_size=rows, columns=list(COLUMNS), use_threads=False)
        while (found := _next(source, path)) is not None:
            yield _read(found, plan, size)


def _next(source: Iterator[Any], path: Path) -> Any:
    try:
        return next(source, None)
    except Exception:
        raise DataError(f"{path} cannot be read to its end: is it complete?") from None


def _read(found: Any, plan: str, size: int) -> tuple[int, int, Array, Array]:
    import pyarrow as pa
    import pyarrow.compute as pc

    id_ok = _has_width(found.column("id"), ID.itemsize)
    values_ok = _has_width(found.column("values"), 8 * size)
    plans = found.column("plan")
    if isinstance(plans, pa.DictionaryArray):
        plans = plans.dictionary_decode()
    if not (pa.types.is_string(plans.type) or pa.types.is_large_string(plans.type)):
        plans = pa.nulls(len(found), pa.string())
    told = np.asarray(plans.is_valid())
    whole = id_ok & values_ok & told
    same = np.asarray(pc.fill_null(pc.equal(plans, plan), False))
    kept = whole & same
    ids, values = found.column("id"), found.column("values")
    if not kept.all():
        ids, values = ids.filter(pa.array(kept)), values.filter(pa.array(kept))
    count = int(kept.sum())
    rows = np.frombuffer(_bytes(values, count), "<f8").reshape(count, size)
    return int((~whole).sum()), int((whole & ~same).sum()), np.frombuffer(_bytes(ids, count), ID), rows


def _has_width(column: Any, width: int) -> Array:
    """Which entries have so many bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return np.asarray(pc.fill_null(pc.equal(pc.binary_length(column), width), False))
    return np.zeros(len(column), dtype=bool)


def _bytes(column: Any, count: int) -> memoryview:
    """The bytes of all entries in order, none of which is missing; no copy."""
    import pyarrow as pa

    if not count:
        return memoryview(b"")
    buffers, start = column.buffers(), column.offset
    if pa.types.is_fixed_size_binary(column.type):
        width = column.type.byte_width
        return memoryview(buffers[1])[start * width : (start + count) * width]
    wide = np.int64 if pa.types.is_large_binary(column.type) else np.int32
    ends = np.frombuffer(buffers[1], wide)[start : start + count + 1]
    return memoryview(buffers[2])[int(ends[0]) : int(ends[-1])]

"""Files -> batches: CSV, Parquet and Arrow's own format, told apart by their names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from dpstats.errors import DataError
from dpstats.rows.csvfile import CsvFile
from dpstats.rows.encode import Batch
from dpstats.rows.paths import PARQUET, SEPARATORS, kind_of
from dpstats.rows.sources import Asked, Source, batch_of, check_arrow

_CELLS = 1 << 24  # of a batch of a Parquet file: 128 MiB of numbers
_AS_BYTES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def of_path(path: Path, asked: Asked) -> Source:
    """The source of a file.

    Raises
    ------
    DataError
        If there is no such file, or its header is not what is asked for.
    """
    kind = kind_of(path)
    if kind in SEPARATORS:
        return CsvFile(path, SEPARATORS[kind]).source(asked)
    schema = _schema(path, kind)
    check_arrow(schema, asked)
    batches = _parquet_batches if kind in PARQUET else _arrow_batches
    return Source(lambda: batches(path, asked), f"{path} cannot be read as {_called(kind)}: is it complete?")


def column_names(path: Path) -> list[str]:
    """The names of a file's columns; no record is read."""
    kind = kind_of(path)
    return list(CsvFile(path, SEPARATORS[kind]).names if kind in SEPARATORS else _schema(path, kind).names)


def _schema(path: Path, kind: str) -> pa.Schema:
    schema = None
    try:
        found = _parquet(path).schema_arrow if kind in PARQUET else _reader(path).schema
        schema = found if found.names else None  # names that are no text raise here
    except Exception:
        pass  # the exception of a reader may quote what it read
    if schema is None:
        raise DataError(f"{path} cannot be read as {_called(kind)}")
    return schema


def _called(kind: str) -> str:
    return "a Parquet file" if kind in PARQUET else "an Arrow file"


def _parquet(path: Path) -> Any:
    """A Parquet file. Nobody asks for the metadata of a column: a damaged one ends the process in Arrow."""
    from pyarrow import parquet

    return parquet.ParquetFile(path)


def _reader(path: Path) -> Any:
    """Arrow's format has two layouts: files begin with a mark, streams do not."""
    source = pa.memory_map(str(path))
    return pa.ipc.open_file(source) if source.read(6) == b"ARROW1" else pa.ipc.open_stream(str(path))


def _parquet_batches(path: Path, asked: Asked) -> Iterator[Batch]:
    size = max(_CELLS // len(asked.columns), 1)
    for batch in _parquet(path).iter_batches(batch_size=size, columns=list(asked.columns)):
        yield batch_of(batch, asked)


def _arrow_batches(path: Path, asked: Asked) -> Iterator[Batch]:
    reader = _reader(path)
    if isinstance(reader, pa.ipc.RecordBatchStreamReader):
        batches = iter(reader)
    else:
        batches = map(reader.get_batch, range(reader.num_record_batches))
    for batch in batches:
        for name in asked.columns:
            _check(batch.column(name))
        yield batch_of(batch, asked)


def _check(column: pa.Array) -> None:
    """Refuse a file whose buffers are damaged: what reads texts follows their offsets, wherever they lead.

    Bytes that are no text, a position outside its dictionary, and a decimal with more digits than its type
    allows are a cell's own matter, for which no file is refused.
    """
    if pa.types.is_dictionary(column.type):
        _check(column.indices)
        return _check(column.dictionary)
    column.view(_AS_BYTES.get(column.type, column.type)).validate(full=not pa.types.is_decimal(column.type))

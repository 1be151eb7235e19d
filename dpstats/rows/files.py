"""Files -> batches: CSV, Parquet and Arrow's own format, told apart by their names."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from dpstats.errors import DataError
from dpstats.rows import sizes
from dpstats.rows.csvfile import CsvFile
from dpstats.rows.encode import Batch
from dpstats.rows.parts import FilePart, Stamp, TablePart, batch_rows, of_parts
from dpstats.rows.paths import ARROW, PARQUET, SEPARATORS, data_files, kind_of
from dpstats.rows.sources import Asked, Source, batch_of, check_arrow, named

_BUFFER = 1 << 18  # bytes that are read of a column at a time
_AS_BYTES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def of_path(path: Path, asked: Asked) -> Source:
    """The source of a file, of those in a folder, or of those of a pattern.

    Raises
    ------
    DataError
        If there is no such file, or its header is not what is asked for.
    """
    files = data_files(path)
    parts = [part for file in files for part in named(f"{file}", partial(_parts, file, asked))]
    broken = f"a file of {path} cannot be read to its end: is each complete?"
    return of_parts(parts, parts[0].broken if len(files) == 1 else broken)


def _parts(path: Path, asked: Asked) -> list[TablePart]:
    lines = in_lines(path)
    if lines is not None:
        return list(lines.parts(asked))
    check_arrow(_schema(path), asked)
    return list(FORMATS[kind_of(path)].parts(path, asked))


def in_lines(path: Path) -> CsvFile | None:
    """The file at a path as one of lines of text; None where it is of a `Format`."""
    kind = kind_of(path)
    return None if kind in FORMATS else CsvFile(path, SEPARATORS[kind])


def column_names(path: Path) -> list[str]:
    """The names of the columns of a file, or of the first in a folder; no record is read."""
    first = data_files(path)[0]
    return list((in_lines(first) or _schema(first)).names)


def type_of_columns(path: Path) -> pa.Schema | None:
    """The names and types of the columns of a file, or of the first in a folder; None of a CSV file."""
    first = data_files(path)[0]
    return _schema(first) if in_lines(first) is None else None


def _schema(path: Path) -> pa.Schema:
    schema, form = None, FORMATS[kind_of(path)]
    try:
        found = form.schema(path)
        schema = found if found.names else None  # names that are no text raise here
    except Exception:
        pass  # the exception of a reader may quote what it read
    if schema is None:
        raise DataError(f"{path} cannot be read as {form.title}")
    return schema


def _parquet(path: Path) -> Any:
    """A Parquet file, of which no more is read ahead than a page of each column.

    Nobody asks for the metadata of a column: a damaged one ends the process in Arrow.
    """
    from pyarrow import parquet

    return parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER)


def _reader(path: Path) -> Any:
    """Arrow's format has two layouts: files begin with a mark, streams do not."""
    source = pa.memory_map(str(path))
    return pa.ipc.open_file(source) if source.read(6) == b"ARROW1" else pa.ipc.open_stream(str(path))


@dataclass(frozen=True, repr=False)
class ParquetPart(FilePart):
    """Some row groups of a Parquet file, one after the other."""

    groups: tuple[int, ...]
    n: int

    @staticmethod
    def all_of(path: Path, asked: Asked) -> "Iterator[ParquetPart]":
        """The parts of a file, at least one."""
        stamp, metadata = Stamp.of(path), _parquet(path).metadata
        broken = f"{stamp.path} cannot be read as a Parquet file: is it complete?"
        groups, rows = [], 0
        for group in range(metadata.num_row_groups):
            groups.append(group)
            rows += metadata.row_group(group).num_rows
            if rows >= sizes.SIZES.group_rows:
                yield ParquetPart(asked, broken, stamp, tuple(groups), rows)
                groups, rows = [], 0
        if groups or not metadata.num_row_groups:
            yield ParquetPart(asked, broken, stamp, tuple(groups), rows)

    def count(self) -> int:
        return self.n

    def _read(self) -> Iterator[Batch]:
        for batch in _parquet(self.stamp.path).iter_batches(
            batch_size=batch_rows(self.asked),
            row_groups=list(self.groups),
            columns=list(self.asked.columns),
        ):
            yield batch_of(batch, self.asked)


@dataclass(frozen=True, repr=False)
class ArrowPart(FilePart):
    """A whole file of Arrow's own format."""

    @staticmethod
    def all_of(path: Path, asked: Asked) -> "Iterator[ArrowPart]":
        """The file as its one part."""
        stamp = Stamp.of(path)
        yield ArrowPart(asked, f"{stamp.path} cannot be read as an Arrow file: is it complete?", stamp)

    def count(self) -> int:
        self.stamp.check()
        return sum(len(batch) for batch in _arrow_batches(self.stamp.path))

    def _read(self) -> Iterator[Batch]:
        for batch in _arrow_batches(self.stamp.path):
            for name in self.asked.columns:
                _check(batch.column(name))
            yield batch_of(batch, self.asked)


def _arrow_batches(path: Path) -> Iterator[pa.RecordBatch]:
    reader = _reader(path)
    if isinstance(reader, pa.ipc.RecordBatchStreamReader):
        return iter(reader)
    return map(reader.get_batch, range(reader.num_record_batches))


def _check(column: pa.Array) -> None:
    """Refuse a file whose buffers are damaged: what reads texts follows their offsets, wherever they lead.

    Bytes that are no text, a position outside its dictionary, and a decimal with more digits than its type
    allows are a cell's own matter, for which no file is refused.
    """
    if pa.types.is_dictionary(column.type):
        _check(column.indices)
        return _check(column.dictionary)
    column.view(_AS_BYTES.get(column.type, column.type)).validate(full=not pa.types.is_decimal(column.type))


@dataclass(frozen=True)
class Format:
    """A format of files: its name, how columns are told, what a fit reads, and pandas' own reader."""

    title: str
    schema: Callable[[Path], pa.Schema]
    parts: Callable[[Path, Asked], Iterable[TablePart]]
    frame: Callable[..., pd.DataFrame]


_OF_ARROW = Format(
    "an Arrow file",
    lambda path: _reader(path).schema,
    ArrowPart.all_of,
    pd.read_feather,
)
_OF_PARQUET = Format(
    "a Parquet file", lambda path: _parquet(path).schema_arrow, ParquetPart.all_of, pd.read_parquet
)
FORMATS = dict.fromkeys(PARQUET, _OF_PARQUET) | dict.fromkeys(ARROW, _OF_ARROW)
"""Of files with types, by their suffixes, which `rows/paths.py` has."""

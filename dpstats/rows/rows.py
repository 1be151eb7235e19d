"""Blocks of declared columns, a few thousand rows at a time; and whether two tables are one.

Tables are one by the object, the file or the memory of a column. No value is looked at for that.

Lazy frames, relations of DuckDB and queries of databases are computed again at every pass. What they hold is
not read into memory as a whole, and the rows must be the same whenever they are computed.
"""

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dpstats._arguments import path_of, shown
from dpstats._private import HoldsRows, always_shown, protected
from dpstats.errors import DataError, SpecificationError
from dpstats.rows.csvfile import CsvFile
from dpstats.rows.encode import Encoder, alike
from dpstats.rows.files import of_path
from dpstats.rows.partitions import of_dask
from dpstats.rows.parts import BLOCK_ROWS, Query, TablePart, as_block, of_parts, streamed
from dpstats.rows.paths import data_files
from dpstats.rows.sources import (
    HELD,
    HIDDEN,
    NO_FRAMES,
    SPENT,
    WINDOWS,
    Asked,
    Opener,
    Source,
    batch_of,
    check_arrow,
    is_of_polars,
    made_by,
    of_frame,
    of_frames,
    of_mapping,
    of_stream,
)
from dpstats.rows.spark import of_spark
from dpstats.rows.sql import SqlQuery, batches_of, of_sql, parses, refuse_parsing, refuse_reader
from dpstats.rows.unit_parts import of_units
from dpstats.rows.weighing import weighing
from dpstats.schema import WEIGHS, Schema, Unit

_Made = tuple[
    str,
    list[str],
    Callable[[list[str]], pa.Schema],
    Callable[[], int],
    Callable[[list[str], int], Iterable[pa.RecordBatch]],
]


def _of_plan(make: Callable[[Any], _Made], data: Any, asked: Asked) -> Source:
    """The source of what one of the functions below tells of."""
    cannot = DataError(
        f"this {type(data).__name__} has no columns that can be known without running it. {HIDDEN}"
    )
    plan, names, schema_of, rows, run = protected(lambda: make(data), cannot, (SpecificationError,))
    refuse_parsing(plan, type(data).__name__)
    asked.require(names)
    columns = list(asked.columns)
    check_arrow(protected(lambda: schema_of(columns), cannot), asked)
    broken = f"this {type(data).__name__} cannot be computed to its end. {HIDDEN}"
    query = Query(asked, broken, rows, lambda size: (batch_of(part, asked) for part in run(columns, size)))
    return of_parts([query], broken)


def _of_lazy(frame: Any) -> _Made:
    """A lazy frame of polars: its plan, and names, types, number and batches of its rows."""
    import polars

    types = frame.collect_schema()

    def run(columns: list[str], size: int) -> Iterator[pa.RecordBatch]:
        for part in frame.select(columns).collect_batches(chunk_size=size, maintain_order=True):
            yield from pa.RecordBatchReader.from_stream(part)

    return (
        frame.explain(optimized=False),
        types.names(),
        lambda columns: pa.RecordBatchReader.from_stream(types.to_frame().select(columns)).schema,
        lambda: int(frame.select(polars.len()).collect().item()),
        run,
    )


def _of_relation(relation: Any) -> _Made:
    """A relation of DuckDB: its plan, and names, types, number and batches of its rows."""

    def chosen(columns: list[str]) -> Any:
        return relation.project(", ".join('"' + name.replace('"', '""') + '"' for name in columns))

    def run(columns: list[str], size: int) -> Iterable[pa.RecordBatch]:
        return iter(batches_of(chosen(columns), size))

    explained = relation.query("dpstats_rows", "EXPLAIN (FORMAT json) SELECT * FROM dpstats_rows")
    if explained is None:
        raise DataError(
            "what a relation of DuckDB reads is told by its version 2.0 or a later one; upgrade it, or give "
            "dps.read_sql(query, connection)"
        )
    return (
        str(explained.fetchall()[0][1]),
        list(relation.columns),
        lambda columns: chosen(columns).limit(0).to_arrow_table().schema,
        lambda: int(relation.aggregate("count(*)").fetchall()[0][0]),
        run,
    )


QUERIES: list[tuple[Callable[[Any], bool], Opener]] = [
    (lambda data: isinstance(data, SqlQuery), of_sql),
    (made_by("DataFrame", "dask.dataframe"), of_dask),
    # before version 4 of Spark its two kinds had nothing in common
    (made_by("DataFrame", "pyspark.sql", "pyspark.sql.connect.dataframe"), of_spark),
    (made_by("LazyFrame", "polars"), partial(_of_plan, _of_lazy)),
    (made_by("DuckDBPyRelation", "duckdb"), partial(_of_plan, _of_relation)),
    (parses, refuse_reader),
]
"""What is a query of each kind, and what opens it."""

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
    """Whether two tables that are held one beside the other are one, or share the memory of a column."""
    held = list(frames) if isinstance(frames, HELD) else []
    pieces = list(enumerate(held))
    pieces += [(place, piece) for place, frame in pieces if _opener(frame) for piece in _pieces(frame)]
    keys = {(place, _key(piece)) for place, piece in pieces}
    arrays = [(place, piece) for place, piece in pieces if isinstance(piece, np.ndarray) and piece.size]
    return len({key for _, key in keys}) < len(keys) or _any_overlap(arrays)


def _key(piece: Any) -> Any:
    """What tells a piece from others, whatever object holds it; memory is told by where it lies."""
    if isinstance(piece, Path) and os.path.exists(piece):
        status = os.stat(piece)
        return status.st_dev, status.st_ino
    return piece if isinstance(piece, Path | tuple) else id(piece)


def _any_overlap(arrays: list[tuple[int, np.ndarray]]) -> bool:
    """Whether arrays of two tables have memory in common; only those are compared whose ends lie across."""
    near: list[tuple[int, int, np.ndarray]] = []
    spans = [(*_BOUNDS(array), table, array) for table, array in arrays]
    for low, high, table, array in sorted(spans, key=lambda span: span[0]):
        near = [each for each in near if each[0] > low]
        if any(table != other and np.shares_memory(array, held) for _, other, held in near):
            return True
        near.append((high, table, array))
    return False


_BOUNDS = getattr(np.lib, "array_utils", np).byte_bounds  # where numpy is older than 2, beside all else


def _have_common(one: Any, other: Any) -> bool:
    pieces = list(_pieces(one))
    return any(_overlap(piece, another) for another in _pieces(other) for piece in pieces)


def _overlap(piece: Any, other: Any) -> bool:
    if isinstance(piece, np.ndarray) and isinstance(other, np.ndarray):
        return np.shares_memory(piece, other)
    return bool(_key(piece) == _key(other))


def _pieces(data: Any) -> Iterator[Any]:
    """The path of each file; the memory of each column, as arrays where it is one, or what holds it.

    Of a table that knows what it is read from, as a file or a query does, its `identity`.
    """
    if hasattr(type(data), "identity"):  # of the type, as columns are attributes of a frame
        yield data.identity
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
    elif isinstance(data, Iterable) and not isinstance(data, NO_FRAMES) and iter(data) is not data:
        for frame in data:
            yield from _pieces(frame)
    else:
        yield data


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
    elif not pd.api.types.is_scalar(column):  # which tables share that have no record in common
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


class Rows(HoldsRows):
    """A table in the terms of its schema, coded when it is first needed, or at every pass if it is large.

    Attributes
    ----------
    unit : Unit
        The unit of privacy: at most ``unit.max_rows`` rows of each weigh.
    """

    def __init__(self, source: Source | None, schema: Schema, names: Sequence[str]) -> None:
        self.unit: Unit = schema.privacy_unit
        self._source, self._names = source, tuple(names)
        self._files: tuple[TablePart, ...] = source.files if source else ()
        self._encoder = Encoder(schema, names)
        self._columns: dict[str, np.ndarray] | None = None if source else {}
        self._parts: tuple[TablePart, ...] | None = None  # not known yet: to know may be to run a query
        self._n: int | None = None  # not known yet, as to know may be to read

    @property
    def n(self) -> int:
        """Number of rows, all counted, usable or not. It is public."""
        if self._n is None and self.parts():
            self._n = sum(part.rows for part in self.parts())
        elif self._n is None:
            self._n = len(next(iter(self._coded().values()), ()))
        return self._n

    def parts(self) -> tuple[TablePart, ...]:
        """Descriptions of all rows, in order, which hold none; empty where the rows are kept in memory."""
        if self._parts is None:
            source, unit = self._source, self.unit
            failure = DataError(source.broken if source else "")
            of = of_units if unit.column else streamed
            self._parts = protected(lambda: of(source) if source else (), failure, (SpecificationError,))
        return self._parts

    def hold(self) -> None:
        """Raise DataError if files, or what is read at every pass, are known to be others by now."""
        for part in {id(part): part for part in (*self._files, *self.parts())}.values():
            protected(part.hold, DataError(part.broken), (SpecificationError,))

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[dict[str, np.ndarray]]:
        """All rows in order, at most ``size`` at a time.

        Each block maps a variable to an array of shape (rows,): float64 for numeric kinds (NaN where a value
        is missing or unreadable; 1, 0 or NaN for flags and events), int16 codes for levels (-1 where missing
        or undeclared). If the unit of privacy is not a row, the bool array under `WEIGHS` says which rows
        weigh; it is the same whatever ``size`` is.

        Raises
        ------
        DataError
            If the table cannot be read to its end; never because of a value.
        """
        if self.parts():
            for part in self.parts():
                yield from part.blocks(size)
            return
        columns, kept = self._coded(), (*self._encoder.levels, WEIGHS)
        for start in range(0, self.n, size):
            yield as_block({name: values[start : start + size] for name, values in columns.items()}, kept)

    def _coded(self) -> dict[str, np.ndarray]:
        """All rows, in the terms of the encoder."""
        if self._columns is None:
            assert self._source is not None
            protected(self._read, DataError(self._source.broken), (SpecificationError,))
        assert self._columns is not None
        return self._columns

    def _read(self) -> None:
        source = self._source
        assert source is not None
        if source.once:
            self._source = SPENT  # before a record is taken: no reading goes on where another stopped
        self._columns = _coded(source, self._encoder, self.unit)
        self._source = None

    @always_shown
    def __repr__(self) -> str:
        return f"Rows(variables={list(self._names)})"


def _coded(source: Source, encoder: Encoder, unit: Unit) -> dict[str, np.ndarray]:
    blocks = [encoder(batch) for batch in alike(source.batches(), unit.column, set())] or [encoder.nothing()]
    columns = blocks[0]
    if len(blocks) > 1:  # column by column, lest all of them are there twice
        columns = {name: np.concatenate([block.pop(name) for block in blocks]) for name in list(blocks[0])}
    if unit.column:
        columns[WEIGHS] = weighing(columns.pop(WEIGHS), columns, unit.max_rows)
    return columns


def open_rows(data: Any, schema: Schema, names: Sequence[str]) -> Rows:
    """Open a table. Its header is checked now; its records are read when they are first needed.

    Parameters
    ----------
    data
        A pandas frame; a mapping from names to arrays or lists; anything with ``__arrow_c_stream__``, such as
        Arrow and polars tables; a lazy frame of polars, a relation of DuckDB, a dataframe of Dask or Spark;
        an iterable of any of these; the path of a CSV, Parquet or Arrow file, of a folder of them, or a
        pattern such as ``"20*/*.parquet"``; or what :func:`dpstats.read_csv` or :func:`dpstats.read_sql`
        returns.
    schema : Schema
        The declarations of the variables, and the unit of privacy, whose column is read too.
    names : sequence of str
        The variables to read; no other column is looked at.

    Raises
    ------
    DataError
        If a column is missing, or of dates where numbers are declared, or the table cannot be opened; never
        because of a value.
    """
    if not names:
        raise DataError("no variable is asked for")
    asked = Asked(schema, tuple(names))
    failure = DataError(f"this {type(data).__name__} cannot be opened. {HIDDEN}")
    return Rows(protected(lambda: _source(data, asked), failure, (SpecificationError,)), schema, names)


def _source(data: Any, asked: Asked) -> Source:
    if isinstance(data, str | os.PathLike):
        return of_path(path_of("data", data, DataError), asked)
    opener = _opener(data)
    if opener is not None:
        return opener(data, asked)
    if isinstance(data, Iterable) and not isinstance(data, NO_FRAMES):
        if repeated(data):  # noise hides one row of a record
            raise DataError(
                "data hold a table twice, or two tables that share a column in memory; give each table once, "
                "for a record is to be one row, and different records arrays of their own"
            )
        return of_frames(data, asked, _of_item)
    raise DataError(
        "data must be a frame, a dict of arrays, the path of a CSV, Parquet or Arrow file, or an "
        f"iterable of frames, not {shown(data)}{_remedy(data)}"
    )


TABLES: list[tuple[Callable[[Any], bool], Opener]] = [
    (lambda data: isinstance(data, CsvFile), lambda data, asked: data.source(asked)),
    (lambda data: isinstance(data, pd.DataFrame), of_frame),
    *QUERIES,
    (lambda data: isinstance(data, Mapping), of_mapping),
    (lambda data: hasattr(data, "__arrow_c_stream__"), of_stream),
]
"""What has columns with names, and what opens it; the first that suits. Paths, and iterables, are none."""


def _opener(data: Any) -> Opener | None:
    """What opens a table; None of what is none, as a text is, whatever it is the name of."""
    if isinstance(data, NO_FRAMES):
        return None
    return next((opener for is_one, opener in TABLES if is_one(data)), None)


def _of_item(item: Any, asked: Asked) -> Source:
    opener = _opener(item)
    if opener is None:
        raise DataError(
            "data may be an iterable of frames, each a pandas, polars or Arrow frame or a "
            f"dict of arrays, but the type of an item is {type(item).__name__}; give one frame, of several "
            "files a pattern of their paths, or [dps.read_csv(path) for path in paths]"
        )
    return opener(item, asked)


def _remedy(data: Any) -> str:
    if data is None:
        return (
            "; models of ols, ridge, logit, glm, survreg and coxph are planned without data, others need them"
        )
    if isinstance(data, np.ndarray):
        return "; give its columns names: pd.DataFrame(array, columns=[...])"
    if isinstance(data, pd.Series | pd.Index):
        return "; give the frame that has it as a column"
    if isinstance(data, WINDOWS):
        return ", which holds a record once for each window; give the frame"
    if isinstance(data, io.IOBase):
        return "; give the path of the file"
    return "; call collect() on it first" if callable(getattr(data, "collect", None)) else ""

"""Blocks of declared columns, a few thousand rows at a time."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpstats._arguments import path_of, shown
from dpstats._private import HoldsRows, always_shown, protected
from dpstats.errors import DataError, SpecificationError
from dpstats.rows.csvfile import CsvFile
from dpstats.rows.encode import Encoder
from dpstats.rows.files import of_path
from dpstats.rows.memory import repeated
from dpstats.rows.parts import BLOCK_ROWS, Part, as_block, streamed
from dpstats.rows.queries import is_query, of_query
from dpstats.rows.sources import (
    HIDDEN,
    NO_FRAMES,
    SPENT,
    WINDOWS,
    Asked,
    Source,
    of_frame,
    of_frames,
    of_mapping,
    of_stream,
)
from dpstats.rows.unit_parts import of_units
from dpstats.rows.units import alike, weighing
from dpstats.schema import WEIGHS, Schema, Unit


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
        self._encoder = Encoder(schema, names)
        self._columns: dict[str, np.ndarray] | None = None if source else {}
        self._parts: tuple[Part, ...] | None = None  # not known yet: to know may be to run a query
        self._n: int | None = None  # of the rows in parts

    @property
    def n(self) -> int:
        """Number of rows, all counted, usable or not. It is public."""
        if not self.parts():
            return len(next(iter(self._coded().values()), ()))
        if self._n is None:
            self._n = sum(part.rows for part in self.parts())
        return self._n

    def parts(self) -> tuple[Part, ...]:
        """Descriptions of all rows, in order, which hold none; empty where the rows are kept in memory."""
        if self._parts is None:
            source, unit = self._source, self.unit
            failure = DataError(source.broken if source else "")
            of = of_units if unit.column else streamed
            self._parts = protected(lambda: of(source) if source else (), failure, (SpecificationError,))
        return self._parts

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
    if len(blocks) == 1:
        columns = blocks[0]
    else:  # column by column, lest all of them are there twice
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
            raise DataError("data hold a table twice; give each table once, for a record is to be one row")
        return of_frames(data, asked, _of_item)
    raise DataError(
        "data must be a frame, a dict of arrays, the path of a CSV, Parquet or Arrow file, or an "
        f"iterable of frames, not {shown(data)}{_remedy(data)}"
    )


Opener = Callable[[Any, Asked], Source]
TABLES: list[tuple[Callable[[Any], bool], Opener]] = [
    (lambda data: isinstance(data, CsvFile), lambda data, asked: data.source(asked)),
    (lambda data: isinstance(data, pd.DataFrame), of_frame),
    (is_query, of_query),
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
            f"dict of arrays, but the type of an item is {type(item).__name__}; give one frame"
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

"""Tables of any make -> batches of the columns that are asked for. No other column is looked at.

A mistake is found in the header, which is the names and storage types of the columns, or it is that a table
cannot be opened or read to its end. No message quotes a value. Types are public: which of them cannot be read
as what is declared is told without a look at a value.
"""

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, NoReturn, TypeAlias, TypeVar
from unicodedata import is_normalized, normalize

import numpy as np
import pandas as pd
import pyarrow as pa

from dpstats._arguments import UNITLESS, refuse_twice, shown
from dpstats._private import HoldsRows, protected
from dpstats.errors import DataError
from dpstats.rows.cells import of_arrow, of_numpy, of_pandas
from dpstats.rows.encode import Batch
from dpstats.schema import Event, Flag, Levels, Schema, Variable

_KNOWN = (
    np.dtype,
    pd.DatetimeTZDtype,
    pd.BooleanDtype,
    pd.Float32Dtype,
    pd.Float64Dtype,
    pd.Int8Dtype,
    pd.Int16Dtype,
    pd.Int32Dtype,
    pd.Int64Dtype,
    pd.UInt8Dtype,
    pd.UInt16Dtype,
    pd.UInt32Dtype,
    pd.UInt64Dtype,
)
_REMEDY = {
    **UNITLESS,
    "complex numbers": "; give real ones",
    "bytes": "; give texts or numbers, to which objects of polars, too, are to be cast",
}


def mistake(name: str, dtype: Any, variable: Variable | None) -> str | None:
    """Why a column of this type cannot be what is declared, or None.

    Parameters
    ----------
    name : str
    dtype : numpy, pandas or Arrow type
    variable : Variable or None
        None for the column that names the unit of privacy.
    """
    kind = held(dtype)
    if variable is None:
        if kind in ("integers", "texts", "objects", "booleans"):
            return None
        return (
            f"the column {name!r} names the unit of privacy and holds {kind}; give whole numbers or "
            f"texts, such as data[{name!r}].astype('Int64')"
        )
    if kind in ("integers", "texts", "objects", "booleans", "floats"):
        return None
    if isinstance(variable, Levels | Flag | Event):
        return f"{name!r} is declared as {variable.kind}, and the column holds {kind}; give texts or numbers"
    remedy = _REMEDY.get(kind, "; give numbers").format(f"data[{name!r}]")
    return f"{name!r} is declared as {variable.kind}, a number, and the column holds {kind}{remedy}"


def held(dtype: Any) -> str:
    """In a word, what a column of this type holds."""
    if isinstance(dtype, pa.DataType):
        return _held_by_arrow(dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        # without one all cells are missing, and pandas has given it a type by how they are missing
        return held(dtype.categories.dtype) if len(dtype.categories) else "texts"
    if isinstance(dtype, pd.ArrowDtype):
        return _held_by_arrow(dtype.pyarrow_dtype)
    if isinstance(dtype, pd.SparseDtype):
        return held(dtype.subtype)
    if isinstance(dtype, _KNOWN):
        return _KINDS.get(dtype.kind, "bytes")
    return _OF_PANDAS.get(type(dtype), f"values of the type {type(dtype).__name__}")


_OF_PANDAS = {pd.StringDtype: "texts", pd.PeriodDtype: "periods", pd.IntervalDtype: "intervals"}


_KINDS = {
    "f": "floats",
    "i": "integers",
    "u": "integers",
    "b": "booleans",
    "O": "objects",
    "U": "texts",
    "T": "texts",
    "M": "dates",
    "m": "durations",
    "c": "complex numbers",
}


def _held_by_arrow(dtype: pa.DataType) -> str:
    if isinstance(dtype, pa.OpaqueType):  # such as numbers in digits of Postgres
        return _held_by_arrow(dtype.storage_type)
    if pa.types.is_dictionary(dtype):
        return _held_by_arrow(dtype.value_type)
    for held, tests in _ARROW.items():
        if any(test(dtype) for test in tests):
            return held
    # its kind alone: names of a struct's fields may be keys that stood in cells
    name = dtype.extension_name if isinstance(dtype, pa.BaseExtensionType) else str(dtype).partition("<")[0]
    return f"values of the type {name}"


_ARROW = {
    "booleans": (pa.types.is_boolean,),
    "integers": (pa.types.is_integer,),
    "floats": (pa.types.is_floating, pa.types.is_decimal),
    # a column of nulls alone holds missing cells: to refuse it would tell whether one record has a value
    "texts": (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null),
    "durations": (pa.types.is_duration,),
    "dates": (pa.types.is_temporal,),
    "bytes": (
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_fixed_size_binary,
        pa.types.is_binary_view,
    ),
}


HIDDEN = "The cause is not shown, because it may quote what was read"
WINDOWS = (
    pd.api.typing.Rolling,
    pd.api.typing.Expanding,
    pd.api.typing.ExponentialMovingWindow,
    pd.api.typing.Window,
)
# what is iterated over, and not by frames of which each holds other records
NO_FRAMES = (bytes, bytearray, memoryview, np.ndarray, pd.Series, pd.Index, io.IOBase, *WINDOWS)
HELD = (Sequence, ValuesView)  # have their items
_ALIKE = 0.75  # of two names, in difflib's measure: one letter in four is another

T = TypeVar("T")


class _WrongType(DataError):
    """The storage type of a column cannot hold what is declared."""


@dataclass(frozen=True)
class Asked:
    """What is asked of a table.

    Attributes
    ----------
    schema : Schema
    names : tuple of str
        The variables, without the column of the unit of privacy.
    """

    schema: Schema
    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns to read."""
        unit = self.schema.privacy_unit.column
        return (*self.names, unit) if unit else self.names

    @property
    def numbers(self) -> frozenset[str]:
        """The variables that are declared as numbers."""
        return frozenset(n for n in self.names if not isinstance(self.schema[n], Levels | Flag | Event))

    @property
    def levels(self) -> frozenset[str]:
        """The variables that are declared as levels."""
        return frozenset(n for n in self.names if isinstance(self.schema[n], Levels))

    def require(self, present: Iterable[Any]) -> None:
        """Raise DataError unless each column is there once."""
        columns = [str(name) for name in present]
        missing = [name for name in self.columns if name not in columns]
        if missing:
            lacking = ", ".join(map(_in_signs, missing))
            named = sum(bool(name.strip()) for name in columns)
            raise DataError(
                f"the data have no column {lacking}{_near(missing, columns)} "
                + ("" if self.schema.privacy_unit.column not in missing else _UNIT)
                + _RENAME
                + (_TITLE if named == 1 < len(self.columns) else _HEADER)
                + "Say it with dps.read_csv(path, sep=';')"
            )
        refuse_twice(self.columns, columns)

    def check(self, types: Mapping[str, Any]) -> None:
        """Raise DataError if the storage type of a column cannot hold what is declared."""
        for name in self.columns:
            wrong = mistake(name, types[name], self.schema[name] if name in self.names else None)
            if wrong:
                raise _WrongType(wrong)


_RENAME = (
    "Rename the column, or the variable in the formula and in the schema, or leave out of the schema what no "
    "model needs. Of a file of text: "
)
_UNIT = (
    "The schema says that it holds the unit of privacy: without it a guarantee is of one row, and not of all "
    "rows of a unit. "
)
_HEADER = "does the first line hold the names? is the separator right? "
_TITLE = (
    "its first line has one name alone, and may be a title, then take out all lines above the names of the "
    "columns; or something else separates them. "
)


def _near(missing: Sequence[str], columns: Sequence[str]) -> str:
    """The columns whose names are nearly those that are missing.

    No other is told: where a file has no header, its first record stands in the place of the names.
    """
    named = {_as_read(name): name for name in columns if any(map(str.isalpha, name))}
    close = [near for name in missing for near in get_close_matches(_as_read(name), named, 1, _ALIKE)]
    alike = ", ".join(_in_signs(named[name]) for name in dict.fromkeys(close))
    return f"; is it the column {alike}?" if close else "."


def _as_read(name: str) -> str:
    """A name as the eye reads it: without signs that are not seen, an accent and its letter as one sign."""
    return normalize("NFC", "".join(filter(str.isprintable, name))).strip().lower()


def _in_signs(name: str) -> str:
    """A name as a message shows it; by the numbers of its signs, if it has any that the eye does not tell."""
    return shown(name) if name.isprintable() and is_normalized("NFC", name) else ascii(name)


@dataclass(frozen=True, repr=False)
class Source(HoldsRows):
    """A table whose header suits what is asked of it.

    Attributes
    ----------
    batches : callable
        Makes an iterator of batches, which are read when they are asked for.
    broken : str
        What to say if the table cannot be read to its end.
    once : bool
        Whether a second iterator would go on where the first one stopped.
    parts : tuple
        All of a table that can be read again, such as a file (:mod:`dpstats.rows.parts`); else empty.
    by_unit : callable, optional
        Makes parts of which each has all rows of its units of privacy, or none where nothing can do that.
    files : tuple
        Parts of files, also where other tables stand beside them in a list, or their rows are kept.
    """

    batches: Callable[[], Iterator[Batch]]
    broken: str = "the data cannot be read to their end"
    once: bool = False
    parts: tuple[Any, ...] = ()
    by_unit: Callable[[], tuple[Any, ...]] | None = None
    files: tuple[Any, ...] = ()


def _refused() -> NoReturn:
    raise DataError(
        "the data can be read only once, and reading them was stopped. Make the model again with "
        "the data from their beginning: what is left of them is too few rows"
    )


SPENT = Source(_refused)
Opener: TypeAlias = Callable[[Any, Asked], Source]
"""What makes a source of a table."""


def made_by(kind: str, *libraries: str) -> Callable[[Any], bool]:
    """What tells objects of a class of libraries, which are not imported where nobody did."""

    def is_one(data: Any) -> bool:
        kinds = (getattr(sys.modules.get(library), kind, None) for library in libraries)
        return isinstance(data, tuple(known for known in kinds if known is not None))

    return is_one


is_of_polars = made_by("DataFrame", "polars")


def _made(name: str, make: Callable[[], T]) -> T:
    """What code that came with the data makes of a column."""
    return protected(make, DataError(f"the column {name!r} cannot be opened. {HIDDEN}"))


def of_frame(frame: pd.DataFrame, asked: Asked) -> Source:
    """A pandas frame, as one batch."""
    columns = _arrays(frame, asked)
    asked.check({name: column.dtype for name, column in columns.items()})
    return Source(lambda: iter([{name: of_pandas(column) for name, column in columns.items()}]))


def of_partition(frame: pd.DataFrame, asked: Asked) -> Batch:
    """A pandas frame whose types were checked elsewhere; here they may follow from what cells hold."""
    return {name: of_pandas(column) for name, column in _arrays(frame, asked).items()}


def _arrays(frame: pd.DataFrame, asked: Asked) -> dict[str, Any]:
    _check_index(frame, asked)
    names = frame.columns.tolist()
    asked.require(names)
    places = {str(name): place for place, name in enumerate(names)}
    return {name: _array(frame.iloc[:, places[name]]) for name in asked.columns}


def _check_index(frame: pd.DataFrame, asked: Asked) -> None:
    if frame.columns.nlevels > 1:
        raise DataError(
            "the columns of the data have names of more than one level; give each one name, such "
            "as by data.columns = data.columns.get_level_values(-1)"
        )
    held = [name for name in asked.columns if name in frame.index.names and name not in frame.columns]
    if held:
        raise DataError(f"the data have {held[0]!r} in their index, not as a column; give data.reset_index()")


def _array(column: pd.Series | pd.Index) -> Any:
    return column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array


def of_mapping(data: Mapping[Any, Any], asked: Asked) -> Source:
    """A mapping from names to arrays and lists of one length, as one batch."""
    asked.require(data)
    given = {name: _made(name, partial(data.__getitem__, name)) for name in asked.columns}
    _check_indexes([column for column in given.values() if isinstance(column, pd.Series)])
    columns = {name: _listed(name, column) for name, column in given.items()}
    asked.check({name: _type(column) for name, column in columns.items()})
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"the columns have different lengths: {lengths}")
    return Source(lambda: iter([{name: _of_any(column) for name, column in columns.items()}]))


def _check_indexes(series: Sequence[pd.Series]) -> None:
    """Refuse series that need not be in one order. No label is looked at: it may be a value of a record."""
    first, *others = [each.index for each in series] or [None]
    for index in others:
        ranges = isinstance(index, pd.RangeIndex) and isinstance(first, pd.RangeIndex)
        if not (index.is_(first) or (ranges and index.equals(first))):
            raise DataError(
                "the series of the data have indexes of their own, and rows are told by their places; give "
                "pd.DataFrame(data), which puts rows of one label beside each other, or data without "
                "indexes, such as {name: series.to_numpy(), ...}"
            )


def _listed(name: str, column: Any) -> Any:
    if isinstance(column, pd.Series | pd.Index):
        return _array(column)
    if isinstance(column, pd.arrays.NumpyExtensionArray):
        return column.to_numpy()
    if isinstance(column, pd.api.extensions.ExtensionArray | pa.Array | pa.ChunkedArray):
        return column
    if hasattr(column, "__arrow_c_stream__"):
        return _made(name, lambda: pa.chunked_array(column))
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise DataError(f"the column {name!r} must have one dimension")
        return column
    if isinstance(column, str | bytes | bytearray) or not isinstance(column, Sequence):
        # of a set, one cell decides where the others stand, and how many there are
        remedy = "; give a list of its cells, in the order of the rows" * isinstance(column, Iterable)
        if isinstance(column, str | bytes) or not isinstance(column, Iterable):
            remedy += "; if each row is a dict, give pd.DataFrame(rows), with all rows in one list"
        raise DataError(
            f"the column {name!r} must be an array, a list or a series, not {type(column).__name__}{remedy}"
        )
    # each cell by itself: np.array would guess one type for all
    return _made(name, lambda: np.fromiter(column, dtype=object))


def _type(column: Any) -> Any:
    return column.type if isinstance(column, pa.Array | pa.ChunkedArray) else column.dtype


def _of_any(column: Any) -> Any:
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return of_arrow(column)
    return of_numpy(column) if isinstance(column, np.ndarray) else of_pandas(column)


def of_stream(data: Any, asked: Asked) -> Source:
    """Anything with ``__arrow_c_stream__``: Arrow, polars, DuckDB."""
    if isinstance(data, pa.Table | pa.RecordBatch):
        asked.require(data.schema.names)
        data = data.select(list(asked.columns))
    elif is_of_polars(data):
        asked.require(data.columns)
        data = data.select(list(asked.columns))
        for name in asked.columns:
            failure = DataError(f"Arrow cannot hold the column {name!r} as it is stored; cast it")
            protected(partial(_reader, data.select(name)), failure)
    failure = DataError(f"this {type(data).__name__} does not give its columns as an Arrow stream. {HIDDEN}")
    reader = protected(lambda: _reader(data), failure)
    check_arrow(reader.schema, asked)
    return Source(lambda: (batch_of(batch, asked) for batch in reader), once=True)


def _reader(data: Any) -> pa.RecordBatchReader:
    reader = pa.RecordBatchReader.from_stream(data)
    if not reader.schema.names:  # of what is no table it fails
        raise ValueError
    return reader


def check_arrow(schema: pa.Schema, asked: Asked) -> None:
    """Raise DataError if a table with this Arrow schema is not what is asked for."""
    asked.require(schema.names)
    asked.check({name: schema.field(name).type for name in asked.columns})


def batch_of(batch: pa.RecordBatch, asked: Asked) -> Batch:
    """What is asked for, out of a record batch."""
    return {name: of_arrow(batch.column(name)) for name in asked.columns}


def named(which: str, opened: Callable[[], T], bare: tuple[type[DataError], ...] = ()) -> T:
    """What is opened; or its DataError, with which of several tables that is, a number or a path.

    Of the kinds in `bare` it is not said which.
    """
    try:
        return opened()
    except bare:
        raise
    except DataError as error:
        raise DataError(str(error) if which in str(error) else f"{which}: {error}") from None


def of_frames(frames: Iterable[Any], asked: Asked, opened: Callable[[Any, Asked], Source]) -> Source:
    """Tables of any make, one after the other. Those that are held are checked now, others as they come."""
    tables: Iterable[Source] = (
        # a piece may have the types of its own cells, such as floats where an id is missing
        named(f"table {n} of the data", partial(opened, frame, asked), (_WrongType,))
        for n, frame in enumerate(frames, 1)
    )
    once, parts, files = not isinstance(frames, HELD), (), ()
    if not once:
        tables = list(tables)
        once, files = any(table.once for table in tables), tuple(f for table in tables for f in table.files)
        if all(table.parts for table in tables):
            parts = tuple(part for table in tables for part in table.parts)
    return Source(
        lambda: (batch for table in tables for batch in table.batches()), once=once, parts=parts, files=files
    )

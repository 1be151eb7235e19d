"""Columns of any make -> one of four forms, or several pieces of them, by their storage type alone.

The forms are numbers, texts, Python objects, and positions in a table of cells (categories, dictionaries).
The chunks of an Arrow column stay pieces: to join them could exceed 32-bit offsets or positions, and one
cell would decide whether it does.
A cell is a number, a text, or nothing. Of a Python object the exact type decides, and only the types that
are listed here are anything: no code that came with a cell is run, nor that of a class derived from a
listed one.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpstats.rows import sizes
from dpstats.rows.grammar import parse

_BYTES = pa.large_binary()
_INLINE = 12  # bytes of the longest text that a view holds itself


@dataclass(frozen=True, repr=False)
class Numbers:
    """An array of integers, floats or booleans, and which of them are missing."""

    values: np.ndarray
    missing: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, repr=False)
class Texts:
    """An Arrow array of texts, which need not be valid UTF-8, or of decimals or nulls; null is missing."""

    cells: pa.Array

    def __len__(self) -> int:
        return len(self.cells)

    def parts(self) -> Iterator[pa.Array]:
        """One after the other, at least one, with offsets of 64 bits, which no content exceeds."""
        for start, stop in pairwise([0, *self._cuts(), len(self)]):
            part = self.cells.slice(start, stop - start)
            if pa.types.is_decimal(part.type):
                part = part.cast(pa.large_string())
            far = pa.types.is_string_view(part.type) and _far(_views(part)).any()
            whole = pa.types.is_large_string(part.type)  # of which only the name changes
            yield _shown(part) if far else part.view(_BYTES) if whole else part.cast(_BYTES)

    def _cuts(self) -> Iterable[int]:
        """Where a part ends and the next begins."""
        if not (pa.types.is_string_view(self.cells.type) and len(self)):
            return range(sizes.SIZES.texts, len(self), sizes.SIZES.texts)
        ends = np.cumsum(_views(self.cells)[:, 0] + np.int64(sizes.SIZES.text_bytes // sizes.SIZES.texts))
        return (np.flatnonzero(np.diff(ends // sizes.SIZES.text_bytes)) + 1).tolist()


def _views(cells: pa.Array) -> np.ndarray:
    """Of each view its length, then 12 bytes: a short text, or its beginning, buffer and place there."""
    words = np.frombuffer(cells.buffers()[1] or b"", dtype=np.uint32)
    return words[4 * cells.offset : 4 * (cells.offset + len(cells))].reshape(-1, 4)


def _far(views: np.ndarray) -> np.ndarray:
    """Whether a view's length or place has more than 31 bits, which Arrow takes for negative."""
    return np.asarray((views[:, 0] >= 2**31) | ((views[:, 0] > _INLINE) & (views[:, 3] >= 2**31)))


def _shown(cells: pa.Array) -> pa.Array:
    """The texts of views whose lengths and places have 32 bits, as polars makes them."""
    buffers, views, valid = cells.buffers()[2:], _views(cells), cells.is_valid()
    texts = [
        None
        if not is_valid
        else view[1:].tobytes()[: view[0]]
        if view[0] <= _INLINE
        else buffers[view[2]].slice(int(view[3]), int(view[0])).to_pybytes()
        for view, is_valid in zip(views, valid.to_pylist(), strict=True)
    ]
    return pa.array(texts, pa.large_binary())


@dataclass(frozen=True, repr=False)
class Objects:
    """An array of Python objects."""

    cells: np.ndarray

    def __len__(self) -> int:
        return len(self.cells)

    def groups(self) -> "Iterator[tuple[np.ndarray, Numbers | Coded]]":
        """Where cells are numbers or texts, and these; all others are missing."""
        for start in range(0, len(self), sizes.SIZES.objects):
            cells = self.cells[start : start + sizes.SIZES.objects]
            kinds = _kinds(cells)
            for kind, (columns, _) in enumerate(_TYPES, 1):
                where = np.flatnonzero(kinds == kind)
                if len(where):
                    alike = cells if len(where) == len(cells) else cells[where]
                    for part, column in columns(alike):
                        yield start + where[part], column


@dataclass(frozen=True, repr=False)
class Coded:
    """Positions in a table of cells; -1 and all others outside the table are missing."""

    table: "Column"
    positions: np.ndarray

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True, repr=False)
class Pieces:
    """Columns, one after the other."""

    pieces: "tuple[Column, ...]"


Column = Numbers | Texts | Objects | Coded | Pieces
_Group = Iterator[tuple[Any, Numbers | Coded]]
_ALL = slice(None)


def stored(column: Column) -> str:
    """How cells are stored, as the column's type tells: objects pass for texts; nulls are neither."""
    if isinstance(column, Pieces):
        return stored(column.pieces[0])
    if isinstance(column, Coded):
        return stored(column.table)
    if isinstance(column, Texts) and pa.types.is_null(column.cells.type):
        return ""
    return "numbers" if isinstance(column, Numbers) else "texts"


def of_numpy(values: np.ndarray) -> Column:
    """The column of a numpy array, masked or not, of a type that is not refused."""
    if isinstance(values, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(values)
        if values.dtype.kind in "fiub":
            return Numbers(np.asarray(values.data), masked)
        cells = values.data.astype(object)
        cells[masked] = None
        return Objects(cells)
    if values.dtype.kind in "fiub":
        return Numbers(values)
    if values.dtype.kind in "mM":  # a category's, by what its cells hold: as when it holds them one by one
        return Objects(np.full(values.shape, None, dtype=object))
    return Objects(values if values.dtype.kind == "O" else values.astype(object))


def of_pandas(values: Any) -> Column:
    """The column of a pandas array, or of a numpy array out of pandas."""
    dtype = values.dtype
    if isinstance(values, pd.arrays.NumpyExtensionArray) or isinstance(dtype, np.dtype | pd.SparseDtype):
        return of_numpy(np.asarray(values))
    if isinstance(dtype, pd.CategoricalDtype):
        known = dtype.categories.array
        return Coded(of_pandas(known) if len(known) else Texts(pa.nulls(0)), np.asarray(values.codes))
    if isinstance(dtype, pd.StringDtype) and dtype.storage == "python":
        return Objects(np.asarray(values, dtype=object))
    return of_arrow(pa.array(values))


def of_arrow(values: Any) -> Column:
    """The column of an Arrow array, in one piece or several."""
    if isinstance(values, pa.ChunkedArray):
        chunks = values.chunks or [pa.nulls(0, values.type)]
        return of_arrow(chunks[0]) if len(chunks) == 1 else Pieces(tuple(map(of_arrow, chunks)))
    form = values.type
    if isinstance(form, pa.OpaqueType):
        return of_arrow(values.storage)
    if pa.types.is_dictionary(form):
        positions = pc.fill_null(values.indices.cast(pa.int64(), safe=False), -1)
        return Coded(of_arrow(values.dictionary), positions.to_numpy())
    if pa.types.is_floating(form):
        return Numbers(values.to_numpy(zero_copy_only=False))  # null is NaN
    if pa.types.is_boolean(form) or pa.types.is_integer(form):
        missing = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else None
        values = values.cast(pa.uint8()) if pa.types.is_boolean(form) else values
        return Numbers(pc.fill_null(values, 0).to_numpy(), missing)
    if pa.types.is_decimal(form):  # by their digits: Arrow's own cast to floats need not be the nearest
        return Numbers(np.concatenate([parse(part) for part in Texts(values).parts()]))
    return Texts(values)


def _texts(cells: np.ndarray) -> _Group:
    places = _Places()  # tables of pandas may end a text at its first null character
    positions = np.fromiter(map(places.__getitem__, cells), np.int64, len(cells))
    encoded = [text.encode("utf-8", "surrogatepass") for text in places]
    yield _ALL, Coded(Texts(pa.array(encoded, pa.large_binary())), positions)


class _Places(dict[str, int]):
    """Numbers texts in the order in which they come."""

    def __missing__(self, text: str) -> int:
        return self.setdefault(text, len(self))


def _decimals(cells: np.ndarray) -> _Group:
    finite = (float(cell) if cell.is_finite() else math.nan for cell in cells)
    values = np.fromiter(finite, np.float64, len(cells))
    yield _ALL, Numbers(values, np.isinf(values))


def _integers(cells: np.ndarray) -> _Group:
    """Those of 64 bits exactly, the others as the nearest float64, if there is one."""
    whole = list(map(int, cells))
    signed = np.fromiter((-(2**63) <= value < 2**63 for value in whole), bool, len(whole))
    unsigned = np.fromiter((2**63 <= value < 2**64 for value in whole), bool, len(whole))
    for where, form in ((signed, np.int64), (unsigned, np.uint64)):
        if where.any():
            yield where, Numbers(np.array([whole[i] for i in np.flatnonzero(where)], dtype=form))
    large = ~(signed | unsigned)
    if large.any():
        yield large, Numbers(np.array([_nearest(whole[i]) for i in np.flatnonzero(large)]))


def _nearest(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.nan


_TYPES = (
    (_texts, (str,)),
    (lambda cells: _texts(np.fromiter(map(str, cells), object, len(cells))), (np.str_,)),
    (
        lambda cells: iter([(_ALL, Numbers(cells.astype(np.float64)))]),
        (float, np.float16, np.float32, np.float64, np.longdouble),
    ),
    (
        _integers,
        (
            int,
            np.int8,
            np.int16,
            np.int32,
            np.int64,
            np.uint8,
            np.uint16,
            np.uint32,
            np.uint64,
            np.longlong,
            np.ulonglong,
        ),
    ),
    (lambda cells: iter([(_ALL, Numbers(cells.astype(bool)))]), (bool, np.bool_)),
    (_decimals, (Decimal,)),
)
_KNOWN = np.array(
    sorted((id(kind), number) for number, (_, kinds) in enumerate(_TYPES, 1) for kind in set(kinds))
)


def _kinds(cells: np.ndarray) -> np.ndarray:
    """From 1 the place in `_TYPES` of each cell's type, or 0.

    A type is found by its identity: to look up the type itself would run code of its metaclass. In CPython
    that is its address, and an array of objects holds their addresses.
    """
    types = np.frombuffer(np.fromiter(map(type, cells), object, len(cells)), np.intp)
    looked_up = types[:1] if (types == types[0]).all() else types
    nearest = np.searchsorted(_KNOWN[:, 0], looked_up).clip(max=len(_KNOWN) - 1)
    found = np.where(_KNOWN[nearest, 0] == looked_up, _KNOWN[nearest, 1], 0)
    return np.broadcast_to(found.astype(np.int8), len(types))

"""One batch of records -> numbers and codes: a pure function of schema, storage types and batch.

What a cell means is the same in every kind of table:

* where a number is declared, a number is itself, rounded to the nearest float64, and a text is read by
  `dpstats.rows.grammar`;
* a cell has a declared level if it is the same text, or the same number (``1`` and ``1.0`` are the level
  ``"1"``), or the same truth value (``True``, ``"TRUE"`` and ``"true"`` are the level ``"True"`` or ``"1"``);
* blanks around a text do not matter; a missing text is missing, unless it is declared as a level or a code.

Each cell is coded by itself: no code depends on another row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpstats.rows.cells import Coded, Column, Numbers, Pieces, Texts
from dpstats.rows.grammar import BLANKS, MISSING_TEXTS, is_text, number, parse
from dpstats.rows.units import Ids
from dpstats.schema import WEIGHS, Event, Flag, Levels, Schema, Variable

MISSING = -1
_TRUTHS = (("1", "1.0", "True", "TRUE", "true"), ("0", "0.0", "False", "FALSE", "false"))

Batch = Mapping[str, Column]


def coded(column: Column, coder: Coder) -> np.ndarray:
    """What the cells of a column mean, shape (n, ...); ``coder.nothing`` where a cell is nothing."""
    if isinstance(column, Numbers):
        return coder.numbers(column)
    if isinstance(column, Texts):
        return _joined(coder.texts(part) for part in column.parts())
    if isinstance(column, Pieces):
        return _joined(coded(piece, coder) for piece in column.pieces)
    if isinstance(column, Coded):
        return taken(coded(column.table, coder), column.positions, coder.nothing)
    out = np.repeat(coder.nothing[None], len(column), axis=0)
    for where, group in column.groups():
        out[where] = coded(group, coder)
    return out


def _joined(blocks: Iterable[np.ndarray]) -> np.ndarray:
    first, *others = blocks
    return np.concatenate([first, *others]) if others else first


def taken(table: np.ndarray, positions: np.ndarray, nothing: np.ndarray) -> np.ndarray:
    """Rows of a table, and `nothing` where a position is outside it."""
    framed = np.concatenate([nothing[None], table, nothing[None]])
    places = positions.astype(np.int64, copy=False) + 1  # the largest becomes the least, outside as well
    return framed.take(places, axis=0, mode="clip")


class Encoder:
    """Codes batches; its lookups are made once a table.

    Parameters
    ----------
    schema : Schema
    names : sequence of str
        The variables to code.
    """

    def __init__(self, schema: Schema, names: Sequence[str]) -> None:
        self.levels = frozenset(name for name in names if isinstance(schema[name], Levels))
        self._coders = {name: _coder(schema[name]) for name in names}
        self._unit, self._ids = schema.privacy_unit, Ids()

    def __call__(self, batch: Batch) -> dict[str, np.ndarray]:
        """One array for each variable, and the ids of units under `WEIGHS`.

        Levels are int16 codes, -1 where missing or not declared. The others are numbers of any type, whose
        nearest float64 is the value: an array of numbers without a mask is not copied.
        """
        block = {name: coded(batch[name], coder) for name, coder in self._coders.items()}
        if self._unit.column:
            block[WEIGHS] = coded(batch[self._unit.column], self._ids)
        return block

    def nothing(self) -> dict[str, np.ndarray]:
        """What a table without a row is coded as."""
        none = Texts(pa.array([], pa.binary()))
        return self(dict.fromkeys((*self._coders, self._unit.column or WEIGHS), none))


def _coder(variable: Variable) -> Coder:
    if isinstance(variable, Levels):
        fallback = len(variable.levels) if variable.other else MISSING
        return Lookup(variable.levels, np.arange(len(variable.levels), dtype=np.int16), MISSING, fallback)
    if isinstance(variable, Flag | Event):
        return Lookup(variable.codes, np.array([1, 0], dtype=np.float32), math.nan, math.nan)
    return Measure()


class Measure:
    """A number is itself, and a text is read by the grammar."""

    nothing = np.array(math.nan)

    def numbers(self, column: Numbers) -> np.ndarray:
        if column.missing is None:
            return column.values
        return np.where(column.missing, math.nan, column.values.astype(np.float64))

    def texts(self, cells: pa.Array) -> np.ndarray:
        return parse(cells)


class Lookup:
    """A few declared texts and numbers have a code; all other cells have the fallback.

    Parameters
    ----------
    declared : tuple of str
    codes : array
        Of each declared text.
    nothing, fallback
        The codes of a missing cell and of one that is not declared.
    """

    def __init__(self, declared: tuple[str, ...], codes: np.ndarray, nothing: float, fallback: float) -> None:
        self._fallback = codes.dtype.type(fallback)
        self.nothing = np.array(nothing, dtype=codes.dtype)
        named = dict(zip(declared, codes, strict=True))
        for text, code in list(named.items()):
            for synonym in _synonyms(text):
                named.setdefault(synonym, code)
        numbers = {number(_bytes(text)): code for text, code in reversed(named.items())}
        for truths, value in zip(_TRUTHS, (1.0, 0.0), strict=True):
            if truths[2] in named:
                numbers.setdefault(value, named[truths[2]])
        self._keys = np.array(sorted(value for value in numbers if not math.isnan(value)))
        self._key_codes = np.array([numbers[value] for value in self._keys], dtype=codes.dtype)
        self._texts = {_bytes(text): self.nothing for text in MISSING_TEXTS}
        self._texts |= {_bytes(text): code for text, code in reversed(named.items())}
        self._texts[b""] = self.nothing

    def numbers(self, column: Numbers) -> np.ndarray:
        values = column.values.astype(np.float64)
        out = np.full(len(values), self._fallback)
        if len(self._keys):
            nearest = np.searchsorted(self._keys, values).clip(max=len(self._keys) - 1)
            out = np.where(self._keys[nearest] == values, self._key_codes[nearest], out)
        out[np.isnan(values) if column.missing is None else np.isnan(values) | column.missing] = self.nothing
        return out

    def texts(self, cells: pa.Array) -> np.ndarray:
        distinct = pc.dictionary_encode(cells)
        table = np.array([self._text(text) for text in distinct.dictionary.to_pylist()], self.nothing.dtype)
        return taken(table, pc.fill_null(distinct.indices, -1).to_numpy(), self.nothing)

    def _text(self, cell: bytes) -> Any:
        code = self._texts.get(cell.strip(BLANKS))
        if code is not None:
            return code
        return self._fallback if is_text(cell) else self.nothing


Coder: TypeAlias = Measure | Lookup | Ids
"""The meaning of a number and of a text in one column, and of nothing."""


def _synonyms(text: str) -> tuple[str, ...]:
    for truths in _TRUTHS:
        if text in truths:
            return truths
    return (f"{text}.0",) if text.lstrip("-").isdecimal() else ()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass").strip(BLANKS)

"""One batch of records -> numbers and codes: a pure function of schema, storage types and batch.

What a cell means is the same in every kind of table:

* where a number is declared, a number is itself, rounded to the nearest float64, and a text is read by
  `dpstats.rows.grammar`;
* a cell has a declared level if it is the same text, or the same number (``1`` and ``1.0`` are the level
  ``"1"``), or the same truth value (``True``, ``"TRUE"`` and ``"true"`` are the level ``"True"`` or ``"1"``);
* blanks around a text do not matter; a missing text is missing, unless it is declared as a level or a code.

Each cell is coded by itself: no code depends on another row.

Ids of units are whole numbers of 64 bits or texts. The number 1 and the text "1" are different; True is 1.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpstats.errors import DataError
from dpstats.rows.cells import Coded, Column, Numbers, Pieces, Texts, stored
from dpstats.rows.grammar import BLANKS, MISSING_TEXTS, is_text, number, parse
from dpstats.schema import WEIGHS, Event, Flag, Levels, Schema, Variable

_NOBODY = np.zeros(2, dtype=np.uint64)
_WHOLE, _NEGATIVE, _SPELT = 1, 2, 2  # the first word of an integer; more, where a text spells it
_INTEGER = re.compile(rb"0|-?[1-9][0-9]{0,19}")
_MISSING = frozenset(text.encode() for text in MISSING_TEXTS)
MISSING = -1
# of which all comparisons take less than a search, whose way no processor foresees
_FEW_KEYS = 32
_FEW_TEXTS = 32  # which are read one by one, as those of the levels of a category are
_TRUTHS = (("1", "1.0", "True", "TRUE", "true"), ("0", "0.0", "False", "FALSE", "false"))

Batch = Mapping[str, Column]


def coded(column: Column, coder: "Coder") -> np.ndarray:
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


def _coder(variable: Variable) -> "Coder":
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


def _places(keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The place of each value among sorted keys, from 1 on, and 0 where it is none of them."""
    if len(keys) > _FEW_KEYS:
        nearest = np.searchsorted(keys, values).clip(max=len(keys) - 1)
        return np.where(keys[nearest] == values, nearest + 1, 0)
    places = np.zeros(len(values), dtype=np.int16)
    for place, key in enumerate(keys, 1):
        places += np.multiply(values == key, place, dtype=np.int16)
    return places


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
        # of several levels of one number, such as 01 and 1, the shortest is the number as it is written
        spelt = sorted(reversed(named.items()), key=lambda item: -len(item[0]))
        numbers = {number(_bytes(text)): code for text, code in spelt}
        for truths, value in zip(_TRUTHS, (1.0, 0.0), strict=True):
            if truths[2] in named:
                numbers.setdefault(value, named[truths[2]])
        self._keys = np.array(sorted(value for value in numbers if not math.isnan(value)))
        self._key_codes = np.array([numbers[value] for value in self._keys], dtype=codes.dtype)
        self._texts = {_bytes(text): self.nothing for text in MISSING_TEXTS}
        self._texts |= {_bytes(text): code for text, code in reversed(named.items())}
        self._texts[b""] = self.nothing

    def numbers(self, column: Numbers) -> np.ndarray:
        values = column.values.astype(np.float64, copy=False)
        out = np.append(self._fallback, self._key_codes).take(_places(self._keys, values))
        out[np.isnan(values) if column.missing is None else np.isnan(values) | column.missing] = self.nothing
        return out

    def texts(self, cells: pa.Array) -> np.ndarray:
        if len(cells) <= _FEW_TEXTS:
            return self._of_each(cells)
        distinct = pc.dictionary_encode(cells)
        table = self._of_each(distinct.dictionary)
        return taken(table, pc.fill_null(distinct.indices, -1).to_numpy(), self.nothing)

    def _of_each(self, cells: pa.Array) -> np.ndarray:
        return np.array([self._text(text) for text in cells.to_pylist()], self.nothing.dtype)

    def _text(self, cell: bytes | None) -> Any:
        if cell is None:
            return self.nothing
        code = self._texts.get(cell.strip(BLANKS))
        if code is not None:
            return code
        return self._fallback if is_text(cell) else self.nothing


class Ids:
    """The id of each row as two words of 64 bits, shape (n, 2): (0, 0) for nobody.

    An integer is kept exactly, behind a word for its sign, and so is a text that spells one as it is printed,
    behind another word. Any other text is a keyed BLAKE2b hash of 128 bits: no two texts are known to have
    the same one, and a text with the words of an integer would take 2^64 trials.
    """

    nothing = _NOBODY

    def numbers(self, column: Numbers) -> np.ndarray:
        out = np.zeros((len(column), 2), dtype=np.uint64)
        if column.values.dtype.kind in "iub":
            out[:, 0] = np.where(column.values < 0, _NEGATIVE, _WHOLE)
            out[:, 1] = column.values.astype(np.uint64)
        if column.missing is not None:
            out[column.missing] = _NOBODY
        return out

    def texts(self, cells: pa.Array) -> np.ndarray:
        distinct = pc.dictionary_encode(cells)
        words = b"".join(map(_digest, distinct.dictionary.to_pylist()))
        table = np.frombuffer(words, dtype="<u8").reshape(-1, 2).astype(np.uint64, copy=False)
        return taken(table, pc.fill_null(distinct.indices, -1).to_numpy(), self.nothing)


def _digest(cell: bytes) -> bytes:
    text = cell.strip(BLANKS)
    if text in _MISSING or not is_text(text):
        return bytes(16)
    if _INTEGER.fullmatch(text) and -(2**63) <= (number := int(text)) < 2**64:
        sign = _SPELT + (_NEGATIVE if number < 0 else _WHOLE)
        return sign.to_bytes(8, "little") + (number % 2**64).to_bytes(8, "little")
    return blake2b(text, digest_size=16, key=b"dpstats unit").digest()


def as_one(ids: np.ndarray) -> np.ndarray:
    """The same ids, of which an integer and the text that spells it are one, whichever a part stores.

    Where parts that are coded apart store ids in two ways, two units at most become one, whose rows count as
    those of one. So the promise to either holds.
    """
    out = ids.copy()
    out[(ids[:, 0] == _SPELT + _WHOLE) | (ids[:, 0] == _SPELT + _NEGATIVE), 0] -= np.uint64(_SPELT)
    return out


def alike(
    batches: Iterable[Mapping[str, Column]], column: str | None, kinds: set[str]
) -> Iterator[Mapping[str, Column]]:
    """The same batches, if all of them store the ids of units alike, or there are none.

    Parameters
    ----------
    kinds : set of str
        How batches that came before store them, to which those of these are added.

    Raises
    ------
    DataError
        If one has numbers and another texts or objects, as their types tell, which are public.
    """
    for batch in batches:
        kinds |= {stored(batch[column])} - {""} if column else set()
        if len(kinds) > 1:
            raise DataError(
                f"the column {column!r} names the unit of privacy, and is stored as "
                f"{' here and as '.join(sorted(kinds))} there, "
                'where the number 7 and the text "7" would be two units; store it alike in all files'
            )
        yield batch


Coder: TypeAlias = Measure | Lookup | Ids
"""The meaning of a number and of a text in one column, and of nothing."""


def _synonyms(text: str) -> tuple[str, ...]:
    number = (f"{text}.0",) if text.lstrip("-").isdecimal() else ()
    return next((truths for truths in _TRUTHS if text in truths), number)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass").strip(BLANKS)

"""One column of any type -> numbers or 16-bit codes, value by value and without an error for any value.

Which value means what (the same for every kind of table):

* a number is itself; a text is read as a number as ``float`` does; everything else is missing (NaN);
* a value has a declared level if it is the same text, or the same number (``1`` and ``1.0`` are the level
  ``"1"``), or the same truth value (``True``, ``"TRUE"`` and ``"true"`` are the level ``"True"`` or ``"1"``);
* an empty text, ``None``, NaN and NA are missing.

Each value is coded by itself: no code depends on another row.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from dpstats.schema import Event, Flag, Levels

MISSING = -1
_CHUNK = 1 << 16  # rows coded at a time, so that the temporary Python objects stay small
_TRUTHS = (("1", "1.0", "True", "TRUE", "true"), ("0", "0.0", "False", "FALSE", "false"))

Array = np.ndarray[Any, np.dtype[Any]]


def to_numbers(values: Any) -> Array:
    """A column as numbers; what is not a number becomes NaN.

    Returns
    -------
    array of shape (n,)
        The column itself if it has a numpy number type (it is converted block by block later), else float64.
    """
    dtype = values.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "fiub":
        return np.asarray(values)
    if isinstance(dtype, pd.CategoricalDtype):
        table = np.append(to_numbers(_plain(dtype.categories)).astype(np.float64), np.nan)
        return np.asarray(table[np.asarray(values.codes)])
    if getattr(dtype, "kind", "O") in "fiub":
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    if not _is_text(dtype):  # categories of dates, for example: no unit that a schema could bound
        return np.full(len(values), np.nan)
    out = np.empty(len(values), dtype=np.float64)
    for part in _parts(len(values)):
        out[part] = _parse(np.asarray(values[part], dtype=object))
    return out


def to_codes(values: Any, variable: Levels) -> Array:
    """A column as int16 codes of its declared levels, shape (n,); -1 where missing or not declared."""
    fallback = len(variable.levels) if variable.other else MISSING
    return _Lookup(variable.levels, range(len(variable.levels)), fallback).codes(values)


def to_truths(values: Any, variable: Flag | Event) -> Array:
    """A column of two codes as int16, shape (n,): 1, 0, or -1 where neither code is met."""
    return _Lookup(variable.codes, (1, 0), MISSING).codes(values)


class _Lookup:
    """The codes of texts and of numbers, as two hash tables made once for a column."""

    def __init__(self, texts: tuple[str, ...], codes: Any, fallback: int) -> None:
        self.fallback = fallback
        named: dict[Any, int] = dict(zip(texts, codes, strict=True))
        for text, code in list(named.items()):
            for synonym in _synonyms(text):
                named.setdefault(synonym, code)
        numeric: dict[float, int] = {}
        for text, code in named.items():
            value = _number(text)
            if np.isfinite(value):
                numeric.setdefault(value, code)
        for truths, value in zip(_TRUTHS, (1.0, 0.0), strict=True):
            if truths[2] in named:
                numeric.setdefault(value, named[truths[2]])
        named[""] = MISSING
        self._numbers = pd.Index(np.fromiter(numeric, dtype=np.float64, count=len(numeric)))
        self._number_codes = np.array([*numeric.values(), fallback], dtype=np.int16)
        both: dict[Any, int] = {**named, **numeric}
        self._objects = pd.Index(list(both), dtype=object)
        self._object_codes = np.array([*both.values(), fallback], dtype=np.int16)

    def codes(self, values: Any) -> Array:
        dtype = values.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            return self._through(self.codes(_plain(dtype.categories)), np.asarray(values.codes))
        out = np.empty(len(values), dtype=np.int16)
        for part in _parts(len(values)):
            out[part] = self._chunk(values[part], dtype)
        return out

    def _chunk(self, chunk: Any, dtype: Any) -> Array:
        if isinstance(dtype, pd.StringDtype):  # Arrow's own dictionary is ten times faster than Python texts
            positions, texts = pd.factorize(chunk)
            return self._through(self._of_objects(np.asarray(texts, dtype=object)), positions)
        if _is_text(dtype) or getattr(dtype, "kind", "O") not in "fiub":
            return self._of_objects(np.asarray(chunk, dtype=object))
        value = to_numbers(chunk).astype(np.float64)
        codes = self._number_codes[self._numbers.get_indexer(pd.Index(value))]
        return self._without_missing(codes, value)

    @staticmethod
    def _through(codes: Array, positions: Array) -> Array:
        return np.asarray(np.append(codes, np.int16(MISSING))[positions])

    def _of_objects(self, chunk: Array) -> Array:
        try:
            found = self._objects.get_indexer(pd.Index(chunk, dtype=object))
        except Exception:  # a cell that cannot be hashed, such as a list: it matches no level
            safe = np.array([v if _is_scalar(v) else Ellipsis for v in chunk], dtype=object)
            found = self._objects.get_indexer(pd.Index(safe, dtype=object))
        return self._without_missing(self._object_codes[found], chunk)

    def _without_missing(self, codes: Array, chunk: Array) -> Array:
        if self.fallback != MISSING:
            codes[np.asarray(pd.isna(chunk))] = MISSING
        return codes


def _synonyms(text: str) -> tuple[str, ...]:
    for truths in _TRUTHS:
        if text in truths:
            return truths
    return (f"{text}.0",) if text.lstrip("-").isdecimal() else ()


def _plain(categories: pd.Index) -> Any:
    values = categories.array
    return values.to_numpy() if isinstance(values.dtype, np.dtype) else values


def _parts(n: int) -> Iterator[slice]:
    return (slice(start, start + _CHUNK) for start in range(0, n, _CHUNK))


def _is_text(dtype: Any) -> bool:
    return isinstance(dtype, pd.StringDtype) or getattr(dtype, "kind", "O") in "OUT"


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | numbers.Number | np.generic) or value is pd.NA


def _parse(chunk: Array) -> Array:
    try:
        return chunk.astype(np.float64)
    except Exception:  # some cell is no number: read each by itself
        return np.fromiter(map(_number, chunk), dtype=np.float64, count=len(chunk))


def _number(value: object) -> float:
    if not isinstance(value, str | numbers.Real | Decimal | np.bool_):
        return float("nan")
    try:
        return float(value)
    except (ValueError, OverflowError, TypeError):
        return float("nan")

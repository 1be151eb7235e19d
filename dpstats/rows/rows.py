"""Blocks of declared columns, a few thousand rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpstats.errors import DataError
from dpstats.rows.encode import Array, to_codes, to_numbers, to_truths
from dpstats.rows.tables import read_columns
from dpstats.rows.units import first_rows
from dpstats.schema import ROW, WEIGHS, Event, Flag, Levels, Schema, Unit, Variable

BLOCK_ROWS = 8192  # a block of some ten columns stays in a core's cache (spec/speed.md 3)


class Column(Protocol):
    """One declared column of the whole table."""

    def block(self, start: int, stop: int) -> Array:
        """Rows start to stop, shape (stop - start,)."""


@dataclass(frozen=True, repr=False)
class _Numbers:
    values: Array

    def block(self, start: int, stop: int) -> Array:
        return self.values[start:stop].astype(np.float64, copy=False)


@dataclass(frozen=True, repr=False)
class _Codes:
    codes: Array

    def block(self, start: int, stop: int) -> Array:
        return self.codes[start:stop]


@dataclass(frozen=True, repr=False)
class _Truths:
    codes: Array
    meaning = np.array([0.0, 1.0, np.nan])  # the code -1 counts from the end

    def block(self, start: int, stop: int) -> Array:
        return self.meaning[self.codes[start:stop]]


@dataclass(frozen=True, repr=False)
class Rows:
    """A table in the terms of its schema.

    Attributes
    ----------
    n : int
        Number of rows, all counted, usable or not. It is public.
    unit : Unit
        The unit of privacy: at most ``unit.max_rows`` rows of each weigh.
    """

    n: int
    _columns: Mapping[str, Column]
    unit: Unit = ROW
    _weighs: Array | None = None

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[dict[str, Array]]:
        """All rows in order, at most ``size`` at a time.

        Each block maps a variable to an array of shape (rows,): float64 for numeric kinds (NaN where a value
        is missing or unreadable; 1, 0 or NaN for flags and events), int16 codes for levels (-1 where missing
        or undeclared). If the unit of privacy is not a row, the bool array under `WEIGHS` says which rows
        weigh; it is the same whatever ``size`` is.
        """
        for start in range(0, self.n, size):
            stop = min(start + size, self.n)
            with np.errstate(all="ignore"):
                block = {name: column.block(start, stop) for name, column in self._columns.items()}
            if self._weighs is not None:
                block[WEIGHS] = self._weighs[start:stop]
            yield block

    def __repr__(self) -> str:
        return f"Rows(n={self.n}, variables={list(self._columns)})"


def open_rows(data: Any, schema: Schema, names: Sequence[str]) -> Rows:
    """Open a table; columns of texts are coded once, columns of floats are not copied.

    Parameters
    ----------
    data
        See `dpstats.rows.tables.read_columns`.
    schema
        The declarations of the variables, and the unit of privacy, whose column is read too.
    names
        The variables to read; no other column is looked at.

    Raises
    ------
    DataError
        If a column is missing, of dates where numbers are declared, or the table cannot be opened; never
        because of a value.
    """
    if not names:
        raise DataError("no variable is asked for")
    unit = schema.privacy_unit
    columns = read_columns(data, schema, [*names, unit.column] if unit.column else names)
    mistake = _mistaken_type(columns, schema, names)
    if mistake:
        del columns  # no frame with rows hangs on the traceback
        raise DataError(mistake)
    with np.errstate(all="ignore"):
        coded = {name: _column(columns[name], schema[name]) for name in names}
        weighs = first_rows(columns[unit.column], unit.max_rows) if unit.column else None
    return Rows(len(columns[names[0]]), coded, unit, weighs)


def _column(values: Any, variable: Variable) -> Column:
    if isinstance(variable, Levels):
        return _Codes(to_codes(values, variable))
    if isinstance(variable, Flag | Event):
        return _Truths(to_truths(values, variable))
    return _Numbers(to_numbers(values))


# by the kind of a column's type, which is no value of it
_NO_NUMBERS = {
    "M": "dates, which have no unit; give days since one origin, (data[{0!r}] - origin) / pd.Timedelta('1D')",
    "m": "durations, which have no unit; give their number, such as data[{0!r}] / pd.Timedelta('1D')",
    "c": "complex numbers; give real ones",
}


def _mistaken_type(columns: Mapping[str, Any], schema: Schema, names: Sequence[str]) -> str | None:
    """What is wrong with a column that is declared as a number, and holds none whatever its values."""
    for name in names:
        kind, declared = getattr(columns[name].dtype, "kind", "O"), schema[name]
        if kind in _NO_NUMBERS and not isinstance(declared, Levels | Flag | Event):
            held = _NO_NUMBERS[kind].format(name)
            return f"{name!r} is declared as {declared.kind}, a number, and the column holds {held}"
    return None

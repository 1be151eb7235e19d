"""Which rows weigh if a unit of privacy has several: the first of each unit, in the order of the data.

Whether a row weighs depends on the rows of its own unit alone. Two ids are the same if Python calls them
equal (1 and 1.0 are, "1" and 1 are not; in a CSV file all ids are texts). Missing ids are None, NaN, NA and
the empty text; and so is a cell that is no plain value, such as a list, because comparing it would run code
that came with the data. A row without an id weighs nothing.
"""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from dpstats.rows.encode import Array

_NOBODY = -1
_PLAIN = frozenset({str, bytes, int, float, bool, type(None), type(pd.NA), type(pd.NaT)})
_DATES = frozenset(
    {datetime.date, datetime.datetime, datetime.timedelta, pd.Timestamp, pd.Timedelta, uuid.UUID}
)


def first_rows(values: Any, max_rows: int) -> Array:
    """Which rows weigh.

    Parameters
    ----------
    values : numpy or pandas array, shape (n,)
        The unit of each row.
    max_rows : int
        How many rows of a unit weigh.

    Returns
    -------
    bool array of shape (n,)
    """
    codes = unit_codes(values)
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=_NOBODY - 1))
    rank = np.arange(len(codes)) - np.repeat(starts, np.diff(starts, append=len(codes)))
    weighs = np.empty(len(codes), dtype=bool)
    weighs[order] = (rank < max_rows) & (ordered != _NOBODY)
    return weighs


def unit_codes(values: Any) -> Array:
    """A number for each unit, -1 for a missing id; shape (n,). Never an error from a value."""
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _through(dtype.categories, np.asarray(values.codes))
    if isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow":  # ten times faster than Python texts
        codes, texts = pd.factorize(values)
        return _through(texts, codes)
    if isinstance(dtype, np.dtype) and dtype.kind in "fiubmM" and dtype.itemsize <= 8:
        return np.asarray(pd.factorize(values)[0])
    return _of_objects(np.asarray(values, dtype=object))


def _through(ids: Any, positions: Array) -> Array:
    return np.append(_of_objects(np.asarray(ids, dtype=object)), _NOBODY)[positions]


def _of_objects(cells: Array) -> Array:
    if not _PLAIN.issuperset(map(type, cells)):
        plain = np.empty(len(cells), dtype=object)
        plain[:] = [_plain(cell) for cell in cells]
        cells = plain
    numbers = dict.fromkeys(cells)
    numbers.update(zip(numbers, range(len(numbers)), strict=True))
    codes = np.fromiter(map(numbers.__getitem__, cells), dtype=np.int64, count=len(cells))
    codes[np.asarray(pd.isna(cells))] = _NOBODY
    codes[codes == numbers.get("", _NOBODY)] = _NOBODY
    return codes


def _plain(cell: object) -> object:
    """The cell as an id that is safe to compare, or None."""
    if type(cell) is not tuple:
        return _scalar(cell)
    parts = tuple(map(_scalar, cell))
    return None if any(part is None or part != part for part in parts) else parts


def _scalar(cell: object) -> object:
    value = cell.item() if isinstance(cell, np.generic) else cell
    if type(value) in _PLAIN:
        return None if value is pd.NA or value is pd.NaT else value
    if type(value) is Decimal:
        return value if value.is_finite() else None
    if type(value) not in _DATES:
        return None
    try:
        hash(value)  # a time zone is code that came with the data
    except Exception:
        return None
    return value

"""Tables of any make -> named columns. Only the columns that are asked for are read.

Errors here are about the table as such: a file that cannot be opened, a column that is not there. None quotes
a value, and none keeps the exception of a reader, whose frames hold rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpstats.errors import DataError
from dpstats.schema import Event, Flag, Levels, Schema

_NA_TEXTS = ("", "NA", "N/A", "NaN", "nan", "None", "NULL", "null", "<NA>")


def read_columns(data: Any, schema: Schema, names: Sequence[str]) -> dict[str, Any]:
    """The columns ``names`` of a table, as numpy or pandas arrays of one length.

    Parameters
    ----------
    data
        A pandas frame, a mapping from names to arrays, an object with ``to_pandas`` (polars, Arrow), or the
        path of a ``.csv`` (also compressed) or ``.parquet`` file.

    Raises
    ------
    DataError
        If the table cannot be opened or lacks a column.
    """
    if isinstance(data, str | os.PathLike):
        return _from_frame(_read_file(Path(data), schema, names), names)
    if isinstance(data, pd.DataFrame):
        return _from_frame(data, names)
    if isinstance(data, Mapping):
        return _from_mapping(data, names)
    if hasattr(data, "to_pandas"):
        return _from_frame(_to_pandas(data, names), names)
    raise DataError(f"data must be a frame, a dict of arrays or the path of a CSV or Parquet file, "
                    f"not {type(data).__name__}")


def _require(names: Sequence[str], present: Iterable[Any]) -> None:
    columns = [str(name) for name in present]
    missing = [name for name in names if name not in columns]
    if missing:
        raise DataError(f"the data have no column {', '.join(map(repr, missing))}; their columns are "
                        f"{', '.join(map(repr, columns))}. Rename the column, or the variable in the "
                        "formula and in the schema")
    twice = [name for name in names if columns.count(name) > 1]
    if twice:
        raise DataError(f"the data have more than one column {twice[0]!r}; keep one")


def _from_frame(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, Any]:
    _require(names, frame.columns)
    return {name: _array(frame[name]) for name in names}


def _array(column: pd.Series) -> Any:
    return column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array


def _from_mapping(data: Mapping[Any, Any], names: Sequence[str]) -> dict[str, Any]:
    _require(names, data)
    columns: dict[str, Any] = {}
    for name in names:
        column = data[name]
        if isinstance(column, pd.Series):
            columns[name] = _array(column)
        elif isinstance(column, pd.api.extensions.ExtensionArray):
            columns[name] = column
        else:
            columns[name] = _guess(name, column)
        if getattr(columns[name], "ndim", 1) != 1:
            raise DataError(f"the column {name!r} must have one dimension")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"the columns have different lengths: {lengths}")
    return columns


def _guess(name: str, column: Any) -> Any:
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.filled(column.astype(object), None)
    if isinstance(column, np.ndarray):
        return column
    if isinstance(column, str) or not isinstance(column, Iterable):
        raise DataError(f"the column {name!r} must be an array or a list, not {type(column).__name__}")
    items = list(column)
    cells = np.empty(len(items), dtype=object)  # np.array would guess one type for texts and numbers
    cells[:] = items
    return cells


def _to_pandas(data: Any, names: Sequence[str]) -> pd.DataFrame:
    present = getattr(data, "column_names", getattr(data, "columns", ()))
    _require(names, present)
    try:
        frame = (data.select(list(names)) if hasattr(data, "select") else data).to_pandas()
    except ImportError:
        frame = None
    if not isinstance(frame, pd.DataFrame):
        raise DataError(f"a {type(data).__name__} cannot be turned into a pandas frame here; "
                        'its to_pandas may need pyarrow: pip install "dpstats[parquet]"')
    return frame


def _read_file(path: Path, schema: Schema, names: Sequence[str]) -> pd.DataFrame:
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if ".csv" in suffixes[-2:]:
        return _read_csv(path, schema, names)
    if suffixes and suffixes[-1] in (".parquet", ".pq"):
        return _read_parquet(path, names)
    raise DataError(f"data files end in .csv or .parquet: {path}")


def _read_csv(path: Path, schema: Schema, names: Sequence[str]) -> pd.DataFrame:
    # what is no variable names the unit of privacy: as texts, so that no cell decides how others are read
    texts = [name for name in names if isinstance(schema.get(name), Levels | Flag | Event | None)]
    missing = {name: [na for na in _NA_TEXTS if na not in _declared(schema.get(name))] for name in names}
    try:
        present = pd.read_csv(path, nrows=0, encoding_errors="replace").columns
    except Exception:
        present = None
    if present is None:
        raise DataError(f"{path} cannot be read as a CSV file with a header of column names")
    _require(names, present)
    try:
        frame = pd.read_csv(path, usecols=list(names), dtype=dict.fromkeys(texts, "str"), na_values=missing,
                            keep_default_na=False, low_memory=False, encoding_errors="replace")
    except Exception:
        frame = None
    if frame is None:
        raise DataError(f"{path} cannot be read as a CSV file: are its quotation marks closed?")
    return frame


def _declared(variable: Any) -> tuple[str, ...]:
    if isinstance(variable, Levels):
        return variable.levels
    return variable.codes if isinstance(variable, Flag | Event) else ()


def _read_parquet(path: Path, names: Sequence[str]) -> pd.DataFrame:
    try:
        from pyarrow import parquet
    except ImportError:
        parquet = None
    if parquet is None:
        raise DataError('Parquet files need pyarrow: pip install "dpstats[parquet]"')
    try:
        present = parquet.read_schema(path).names
    except Exception:
        present = None
    if present is None:
        raise DataError(f"{path} cannot be read as a Parquet file")
    _require(names, present)
    try:
        frame = parquet.read_table(path, columns=list(names)).to_pandas()
    except Exception:
        frame = None
    if frame is None:
        raise DataError(f"{path} cannot be read as a Parquet file: is it complete?")
    return frame

"""The cells of a column as they are written, beside what a fit reads them as."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from dpstats.rows import CsvFile
from dpstats.rows.paths import PARQUET, SEPARATORS, kind_of


def written(data: Any, name: str, n: int) -> pd.Series | None:
    """A column of n cells; None where they cannot be seen again, as those of a generator."""
    try:
        column = _column(data, name)
    except Exception:  # a table that a fit can read, and pandas cannot: counts are there all the same
        return None
    return column if column is not None and len(column) == n else None


def _column(data: Any, name: str) -> pd.Series | None:
    if isinstance(data, CsvFile):
        return _of_csv(data, name)
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        kind = kind_of(path)
        if kind in SEPARATORS:
            return _of_csv(CsvFile(path, SEPARATORS[kind]), name)
        read = pd.read_parquet if kind in PARQUET else pd.read_feather
        return pd.DataFrame(read(path, columns=[name]))[name]
    if isinstance(data, pd.DataFrame | Mapping):
        return pd.Series(data[name]).reset_index(drop=True)
    if hasattr(data, "__arrow_c_stream__"):
        return pd.Series(pa.table(data)[name].to_pylist(), dtype=object)
    return None


def _of_csv(file: CsvFile, name: str) -> pd.Series:
    frame = pd.read_csv(
        file.path, sep=file.sep, encoding=file.encoding, dtype=str, keep_default_na=False, usecols=[name]
    )
    return frame[name]

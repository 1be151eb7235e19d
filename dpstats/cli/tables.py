"""The tables that commands read, and how a CSV file among them is written: one place for all commands."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from dpstats.errors import DataError
from dpstats.rows import CsvFile, SqlQuery, read_csv, read_sql
from dpstats.rows.links import is_address
from dpstats.rows.paths import ARROW, PARQUET, SEPARATORS, data_files, kind_of

_OPTIONS = ("sep", "decimal", "thousands", "encoding")
_TABS = ("tab", "\\t")  # a tab is hard to type in a shell


def data(place: Path | str, options: argparse.Namespace) -> SqlQuery | CsvFile | Path | list[CsvFile | Path]:
    """What a model takes as its data: as `table`, but also a folder, a pattern, or a query at an address.

    Raises
    ------
    DataError
        As of `table`; if an address is without a query, or a query without an address.
    """
    if is_address(place) != bool(options.query):
        raise DataError('--query "SELECT ..." goes with an address, postgresql://..., in the place of a file')
    if options.query:
        return read_sql(options.query, place)
    path = Path(place)
    files = data_files(path)
    if len(files) == 1:
        return table(files[0], options)
    return [table(file, options) for file in files] if kind_of(files[0]) in SEPARATORS else path


def table(path: Path, options: argparse.Namespace) -> CsvFile | Path:
    """What a model takes as its data: a CSV file as the options say it is written, or the path of another.

    Raises
    ------
    DataError
        If there is no such file, its name does not say what it holds, or an option is of no use.
    """
    given = {name: value for name in _OPTIONS if (value := getattr(options, name)) is not None}
    if given.get("sep") in _TABS:
        given["sep"] = "\t"
    if given and path.suffix.lower() not in (*PARQUET, *ARROW):
        return read_csv(path, **given)
    return read_csv(path) if kind_of(path) in SEPARATORS else path


def public_table(path: Path, options: argparse.Namespace) -> pd.DataFrame:
    """All columns of a table of new units, which is public; errors may say anything.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    given = table(path, options)
    try:
        if isinstance(given, CsvFile):
            frame = pd.read_csv(
                path,
                sep=given.sep,
                decimal=given.decimal,
                thousands=given.thousands,
                encoding=given.encoding,
            )
        else:
            frame = pd.read_parquet(path) if path.suffix.lower() in PARQUET else pd.read_feather(path)
    except UnicodeDecodeError:
        raise DataError(
            f"{path} is not written in {options.encoding or 'utf-8'}; if a spreadsheet program "
            "wrote it, --encoding latin-1 or --encoding cp1252 may be right"
        ) from None
    except (ValueError, ImportError) as error:
        raise DataError(f"{path} cannot be read as a table: {error}") from None
    if isinstance(given, CsvFile) and not isinstance(frame.index, pd.RangeIndex):
        raise DataError(f"{path} has more fields in its records than names in its first line")
    return frame.reset_index(drop=True)

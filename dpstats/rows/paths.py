"""Paths of data files: which are taken, and what is said of one that is not there.

A message repeats a path only if it looks like one: a cell, or the text of a table, may stand in its place.
"""

from __future__ import annotations

from pathlib import Path

from dpstats._arguments import path_of, told
from dpstats.errors import DataError

SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")


def existing(path: object) -> Path:
    """The path of a file that is there.

    Raises
    ------
    DataError
        If it is not.
    """
    found = path_of("data", path, DataError)
    try:
        is_file = found.is_file()
    except OSError:  # a name that is too long, a folder that may not be read
        is_file = False
    if not is_file:
        raise DataError(f"there is no file {told(found, (*SEPARATORS, *COMPRESSIONS, *PARQUET, *ARROW))}")
    return found


def kind_of(path: object) -> str:
    """The suffix of a file that says what it holds, such as .csv, without that of its compression.

    Raises
    ------
    DataError
        If there is no such file, or its name does not say what it holds.
    """
    found = existing(path)
    suffixes = [suffix.lower() for suffix in found.suffixes]
    if suffixes and suffixes[-1] in (*PARQUET, *ARROW):
        return suffixes[-1]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    if suffixes and suffixes[-1] in SEPARATORS:
        return suffixes[-1]
    raise DataError(
        f"data files end in .csv, .tsv or .txt, then {', '.join(COMPRESSIONS)} if compressed, "
        f"or in .parquet or .arrow: {found}. dps.read_csv(path) takes a CSV file of any name"
    )

"""Paths of data files: which are taken, and what is said of one that is not there.

A message repeats a path only if it looks like one: a cell, or the text of a table, may stand in its place.
"""

import os
import re
from glob import glob, has_magic
from itertools import takewhile
from pathlib import Path

from dpstats._arguments import path_of, told
from dpstats.errors import DataError

SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
COMPRESSIONS = (".gz", ".zst")
_DATABASE = (
    "save the table as Parquet or CSV, or open a connection and give dps.read_sql('SELECT ...', connection)"
)
_OBJECTS = ", in which no cell decides about the type of another"
_OTHERS = {
    **dict.fromkeys((".db", ".sqlite", ".sqlite3"), f"{_DATABASE}, with sqlite3.connect(path)"),
    **dict.fromkeys((".bz2", ".xz", ".zip", ".7z", ".tar"), "unpack it, or compress it by gzip"),
    **dict.fromkeys(
        (".jsonl", ".ndjson"),
        f"give a frame, pd.DataFrame([json.loads(line) for line in open(path)], dtype=object){_OBJECTS}",
    ),
    ".json": f"give a frame, such as pd.DataFrame(json.load(open(path)), dtype=object){_OBJECTS}",
    **dict.fromkeys((".pkl", ".pickle"), "give a frame, pd.read_pickle(path)"),
    **dict.fromkeys((".rds", ".rda", ".rdata"), "write it as Parquet or CSV in R"),
    ".duckdb": "give a relation, duckdb.connect(path, read_only=True).sql('SELECT ...')",
    **dict.fromkeys(
        (".xlsx", ".xls", ".ods"),
        f"give a frame, pd.read_excel(path, dtype=object){_OBJECTS}; or save it as CSV",
    ),
    **dict.fromkeys((".sav", ".dta", ".sas7bdat"), "give a frame, such as of pd.read_spss or pd.read_stata"),
}
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # of a server, and not of a disk, which is one letter
_KNOWN = (*SEPARATORS, *COMPRESSIONS, *PARQUET, *ARROW, *_OTHERS)


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
    if not is_file and _ADDRESS.match(str(found)):
        address = told(found, _KNOWN).replace(":/", "://", 1)  # of two slashes a path keeps one
        raise DataError(
            f"data are read from files of this machine, and there is none {address}, which is an "
            "address; fetch it, or give a frame, such as pd.read_csv(address)"
        )
    if not is_file:
        raise DataError(f"there is no file {told(found, _KNOWN)}")
    return found


def one_file(path: object) -> Path:
    """The path of a file that is there, and of no folder or pattern.

    Raises
    ------
    DataError
        If it is not, with what to give for a folder or a pattern.
    """
    found = path_of("data", path, DataError)
    if os.path.isdir(found) or _is_pattern(found):
        raise DataError(
            "dps.read_csv takes one file. For those of a folder or a pattern give a list, "
            "[dps.read_csv(path, ...) for path in sorted(glob.glob('drives/*.csv'))]"
        )
    return existing(found)


def refuse_other(path: Path) -> None:
    """Refuse a file whose name says that it is of a program that writes neither text nor Arrow.

    Raises
    ------
    DataError
        With what to do instead.
    """
    if instead := _OTHERS.get(path.suffix.lower()):
        raise DataError(f"{path} is no table of text or Arrow: {instead}")


def data_files(path: Path) -> tuple[Path, ...]:
    """The files that a path stands for, in alphabetical order: one, those of a folder, or of a pattern.

    Of a folder those below it count, too, and those of folders that it links to. A file or folder whose name
    begins with a full stop or an underscore holds no rows, as with other readers.

    Raises
    ------
    DataError
        If there is none, they are of several formats, or one of them is there twice or is no file.
    """
    if path.is_dir():
        base, found = path, _below(path)
    elif _is_pattern(path):
        base = Path(*takewhile(lambda part: not has_magic(part), path.parts))
        if "**" in path.parts:
            _below(base)  # refuses what has no end
        found = [Path(name) for name in glob(str(path), recursive=True)]
    else:
        return (existing(path),)
    found = [file for file in found if not (file.is_dir() or _hidden(file.relative_to(base)))]
    missing = next((file for file in found if not file.is_file()), None)
    if missing:
        raise DataError(
            f"{missing} is no file, or a link that leads nowhere; a part of the rows would be missing"
        )
    if not found:
        raise DataError(f"there is no data file in the folder or of the pattern {path}")
    kinds = {kind_of(file) for file in found}
    if len(kinds) > 1:
        raise DataError(
            f"{path} has files of several formats, {', '.join(sorted(kinds))}; give a pattern of those that "
            f"hold the rows, such as {path / '*'}{min(kinds)}"
        )
    if len({(status.st_dev, status.st_ino) for status in map(Path.stat, found)}) < len(found):
        raise DataError(f"{path} has one file under two names; a record is to be one row")
    return tuple(sorted(found))


def _is_pattern(path: Path) -> bool:
    return has_magic(str(path)) and not (os.path.exists(path) or _ADDRESS.match(str(path)))


def _below(base: Path) -> list[Path]:
    """All files below a folder, and below those that it links to.

    Raises
    ------
    DataError
        If a folder is there twice, as where a link leads to a folder above it, of which there is no end.
    """
    found, known = [], set()
    for folder, below, files in os.walk(base, followlinks=True):
        status = os.stat(folder)
        if (status.st_dev, status.st_ino) in known:
            raise DataError(
                f"{base} has one folder under two names: {Path(folder).relative_to(base)} is a link to "
                "another of its folders, or to one above; a record is to be one row. Remove the link"
            )
        known.add((status.st_dev, status.st_ino))
        below[:] = [name for name in below if not _hidden(Path(name))]
        found += [Path(folder, name) for name in files]
    return found


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


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
    refuse_other(found)
    raise DataError(
        f"data files end in .csv, .tsv or .txt, then {', '.join(COMPRESSIONS)} if compressed, "
        f"or in .parquet or .arrow: {found}. dps.read_csv(path) takes a CSV file of any name"
    )

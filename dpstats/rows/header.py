"""The header of a CSV file: the names in its first line, or what is wrong with it and what to do.

A mistake is told by the first bytes of a file and by its first line, which are public. They are not quoted:
where a file has no header, its first record stands in the place of one.
"""

from __future__ import annotations

import csv
from typing import Any

from dpstats.rows.lines import fields

LONGEST_HEADER = 1 << 26  # bytes
_MARKS = {  # what a file begins with that is no text
    b"\x1f\x8b": "it is compressed; let its name end in .gz",
    b"BZh91AY&SY": "it is compressed; let its name end in .bz2",
    b"\xfd7zXZ\0": "it is compressed; let its name end in .xz",
    b"\x28\xb5\x2f\xfd": "it is compressed; let its name end in .zst",
    b"PAR1\x15": "it is a Parquet file; let its name end in .parquet",
    b"ARROW1\0\0": "it is an Arrow file; let its name end in .arrow",
    b"PK\3\4": "it is a ZIP archive or an Excel file; unpack it, or save its sheet as CSV in UTF-8",
    b"\xd0\xcf\x11\xe0": "it is an Excel file; save its sheet as CSV in UTF-8",
}


class Unreadable(Exception):
    """There is no header; the text says why not and what to do, and quotes nothing."""


def first_line(stream: Any) -> bytes:
    """The first line with its newline, if it has one.

    Raises
    ------
    Unreadable
        If the file is no CSV file, or empty.
    """
    line: bytes = stream.readline(LONGEST_HEADER)
    for mark, why in _MARKS.items():
        if line.startswith(mark):
            raise Unreadable(why)
    if b"\0" in line[:4]:
        raise Unreadable("it is in UTF-16 or the like; save it in UTF-8")
    if not line:
        raise Unreadable("it is empty; its first line must name the columns")
    return line


def names_in(line: bytes, sep: str, encoding: str) -> list[str]:
    """The names of the columns.

    Raises
    ------
    Unreadable
        If the line is no header.
    """
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    if b"\r" in line:
        raise Unreadable(
            "it has carriage returns in its first line, as where lines end in them alone; "
            "save it with the line ends of Linux or Windows"
        )
    why = ""
    try:
        names = [name.strip() for name in fields(line.decode(encoding), sep)]
    except ValueError:
        why = (
            f"its first line is not in {encoding.removesuffix('-sig')}; say which encoding it has, as in "
            "dps.read_csv(path, encoding='latin-1'), or --encoding latin-1 on the command line"
        )
    except csv.Error:
        why = (
            "its first line has a null character, or a quotation mark that is not closed or that "
            "something follows; take it out"
        )
    if not why and not any(names):
        why = "its first line is blank; take out the lines above the names of the columns"
    if why:
        raise Unreadable(why)
    return names

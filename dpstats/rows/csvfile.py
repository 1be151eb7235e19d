"""CSV files: how they are written, their header, and their bytes cut into whole lines.

A mistake in the header is told by the first bytes of a file and by its first line, which are public. They are
not quoted: where a file has no header, its first record stands in the place of one.
"""

import codecs
import csv
import gzip
import io
import os
import re
import string
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa

from dpstats._arguments import among, shown
from dpstats._private import forgetting
from dpstats.errors import DataError
from dpstats.rows import sizes
from dpstats.rows.encode import Batch
from dpstats.rows.lines import Lines, fields
from dpstats.rows.parts import FilePart, Stamp, of_parts
from dpstats.rows.paths import one_file, refuse_other
from dpstats.rows.sources import Asked, Source

LONGEST_HEADER = 1 << 26  # bytes
_MARKS = {  # what a file begins with that is no text
    b"\x1f\x8b": "it is compressed; let its name end in .gz",
    **dict.fromkeys(
        [b"BZh%d1AY&SY" % level for level in range(1, 10)],
        "it is compressed by bzip2; unpack it, or compress it by gzip",
    ),
    b"\xfd7zXZ\0": "it is compressed by xz; unpack it, or compress it by gzip",
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
    if re.fullmatch(rb"(\xef\xbb\xbf)?sep=.", line):
        raise Unreadable(
            "its first line tells Excel what separates the fields; take that line out, and say it with "
            "dps.read_csv(path, sep=';')"
        )
    try:
        names = [name.strip() for name in fields(line.decode(encoding), sep)]
    except ValueError:
        why = (
            f"its first line is not in {encoding.removesuffix('-sig')}; say which encoding it has, as in "
            "dps.read_csv(path, encoding='latin-1')"
        )
    except csv.Error:
        why = (
            "its first line has a null character, or a quotation mark that is not closed or that "
            "something follows; take it out, or say what separates the names, with dps.read_csv(path, "
            "sep=';')"
        )
    if not why and not any(names):
        why = "its first line is blank; take out the lines above the names of the columns"
    if why:
        raise Unreadable(why)
    return names


COMPRESSED: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".zst": lambda path: io.BufferedReader(pa.input_stream(str(path), compression="zstd")),
}


@dataclass(frozen=True)
class CsvFile:
    """A CSV file and how it is written; see :func:`read_csv`. Only its header is read before a fit."""

    path: Path
    sep: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    thousands: str | None = None

    @cached_property
    def names(self) -> list[str]:
        """The names in the header line.

        Raises
        ------
        DataError
            If there is none; with what to do.
        """
        encoding, why = "utf-8-sig" if self.is_utf8 else self.encoding, ""
        try:
            with self._open() as stream:
                return names_in(first_line(stream), self.sep, encoding)
        except Unreadable as error:
            why = str(error)
        except Exception:  # which may quote what was read
            suffix = self.path.suffix.lower()
            why = (
                "it cannot be opened; may you read it?"
                if suffix not in COMPRESSED
                else (
                    "its name says that it is compressed, and it cannot be unpacked; is it complete? "
                    f"If it is not compressed, take {suffix} off its name"
                )
            )
        raise DataError(f"{self.path} cannot be read as a CSV file with a header of column names: {why}")

    @property
    def is_utf8(self) -> bool:
        """Whether lines need no decoding."""
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig")

    @property
    def identity(self) -> Path:
        """The file, however it is written."""
        return self.path

    def source(self, asked: Asked) -> Source:
        """The source of what is asked for."""
        parts = list(self.parts(asked))
        return of_parts(parts, parts[0].broken)

    def parts(self, asked: Asked) -> "Iterator[CsvPart]":
        """Whole lines of some tens of mebibytes; a compressed file has one part."""
        asked.require(self.names)
        stamp, start = Stamp.of(self.path), 0
        file = replace(self, path=stamp.path)
        broken = f"{file.path} cannot be read to its end: is it complete?"
        if not self._packed:
            with self._open() as stream:
                while start + sizes.SIZES.part < stamp.size:
                    stream.seek(start + sizes.SIZES.part)
                    _rest(stream)
                    stop = stream.tell()  # at a line's beginning, however long the line before it is
                    yield CsvPart(asked, broken, stamp, file, start, stop)
                    start = stop
        yield CsvPart(asked, broken, stamp, file, start, None)

    def lines(self) -> Iterator[bytes]:
        r"""The lines after the header, each a record, without their newlines but with a ``\r`` before one."""
        with self._open() as stream:
            stream.readline(LONGEST_HEADER)
            for line in stream:
                yield line.removesuffix(b"\n")

    def record(self, line: bytes) -> list[str] | str:
        """The fields of one of `lines`, or why it holds no record, which is an empty text if it is blank."""
        encoding = "utf-8" if self.is_utf8 else self.encoding
        try:
            text = line.removesuffix(b"\r").decode(encoding)
            found = fields(text, self.sep)
        except ValueError:
            # some of these bytes are letters in Windows alone
            western = "cp1252" if re.search(rb"[\x80-\x9f]", line) else "latin-1"
            return f"is not written in {encoding}; encoding={western!r} (--encoding) may be right"
        except csv.Error:
            return (
                "has a null character, a quotation mark or a carriage return out of place, or an end of line "
                "in quotation marks, which ends a record all the same"
            )
        if not any(map(str.strip, found)):
            return ""
        if len(line) >= sizes.SIZES.line:
            return "is longer than a mebibyte"
        if len(found) == (width := len(self.names)):
            return found
        return f"has {len(found)} field{'s' * (len(found) != 1)}, and the first line has {width}"

    def _open(self) -> Any:
        return COMPRESSED.get(self.path.suffix.lower(), lambda path: path.open("rb"))(self.path)

    @property
    def _packed(self) -> bool:
        return self.path.suffix.lower() in COMPRESSED

    def chunks(self, start: int, stop: int | None) -> Iterator[bytes]:
        """Whole lines after the header, each with its newline; of a line that is too long, a part.

        They begin between `start` and `stop`, bytes of a file that is not compressed, at which lines begin.
        """
        with self._open() as stream:
            if start:
                stream.seek(start)
            else:
                stream.readline(LONGEST_HEADER)
            while (stop is None or stream.tell() < stop) and (data := stream.read(self._size(stream, stop))):
                yield data if data.endswith(b"\n") else data + _rest(stream)

    def _size(self, stream: Any, stop: int | None) -> int:
        """Of the next chunk; it ends with a line if that costs little to know, so that no chunk is copied."""
        chunk = sizes.SIZES.chunk
        if self._packed:
            return chunk
        start = stream.tell()
        stream.seek(start + chunk)
        rest = len(stream.readline(sizes.SIZES.line + 1))
        stream.seek(start)
        return chunk + rest if stop is None else min(chunk + rest, stop - start)


@dataclass(frozen=True, repr=False)
class CsvPart(FilePart):
    """Lines of a CSV file that begin between two bytes of it."""

    file: CsvFile
    start: int
    stop: int | None

    def count(self) -> int:
        self.stamp.check()
        return sum(chunk.count(b"\n") for chunk in self.file.chunks(self.start, self.stop))

    def _read(self) -> Iterator[Batch]:
        file = self.file
        encoding = None if file.is_utf8 else file.encoding
        lines = Lines(file.names, file.sep, file.decimal, encoding, self.asked, file.thousands)
        return _ahead(lines.parse, file.chunks(self.start, self.stop))


def _rest(stream: Any) -> bytes:
    """What is left of a line, with its newline; of a line that is too long, as much as shows that it is.

    The stream stands at the next line afterwards.
    """
    rest = part = stream.readline(sizes.SIZES.line + 1)
    while part and not part.endswith(b"\n"):
        part = stream.readline(sizes.SIZES.line + 1)
    return rest.removesuffix(b"\n") + b"\n"


def _ahead(function: Callable[[bytes], Batch], items: Iterable[bytes]) -> Iterator[Batch]:
    """As ``map`` does, with the next results on their way in threads."""
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        coming: deque[Future[Batch]] = deque()
        for item in items:
            coming.append(pool.submit(function, item))
            if len(coming) > threads:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


@forgetting
def read_csv(
    path: str | os.PathLike[str],
    sep: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    thousands: str | None = None,
) -> CsvFile:
    r"""Say how a CSV file is written. Nothing is read but its header until a model is fitted.

    Parameters
    ----------
    path : str or path
        It may be compressed: ``.gz`` or ``.zst``. Its first line names the columns.
    sep : str, optional
        The character between fields. Default: a tab if the name ends in ``.tsv`` or ``.tab``, else a comma.
    decimal : str
        ``"."`` or ``","``. Where it is `sep`, too, numbers with a decimal comma stand in quotation
        marks.
    encoding : str
        An encoding in which ASCII characters are themselves, such as ``"latin-1"``. A mark of byte order
        before UTF-8 is skipped, with or without ``"utf-8-sig"``.
    thousands : str, optional
        The mark between groups of three digits: ``","``, ``"."``, ``" "``, ``"'"``, or a no-break space.
        Default: nothing does, and a number such as ``1,234`` is missing.

    Returns
    -------
    CsvFile
        It is for the argument ``data`` of a model.

    Raises
    ------
    DataError
        If there is no such file, it is a folder or a pattern, or an argument is not of use.

    Examples
    --------
    >>> from pathlib import Path
    >>> import dpstats as dps
    >>> written = Path("life.csv").write_text("hours;failed\n1,5;1\n2,0;0\n")
    >>> schema = dps.Schema(hours=dps.bounded(0.1, 10), failed=dps.event())
    >>> model = dps.survreg("Surv(hours, failed) ~ 1", dps.read_csv("life.csv", sep=";", decimal=","), schema)
    """
    path = one_file(path)
    refuse_other(path)
    if sep is None:
        kinds = [suffix.lower() for suffix in path.suffixes]
        sep = "\t" if ".tsv" in kinds[-2:] or ".tab" in kinds[-2:] else ","
    if not isinstance(sep, str) or len(sep) != 1 or not sep.isascii() or sep in _NO_SEPARATOR:
        raise DataError(f"sep must be one ASCII character such as ',', ';' or a tab, not {shown(sep)}")
    if not among(decimal, (".", ",")):
        raise DataError(f"decimal must be '.' or ',', not {shown(decimal)}")
    if not _is_ascii_based(encoding):
        raise DataError(
            f"encoding must be one in which ASCII characters are themselves, such as 'utf-8' or "
            f"'latin-1', not {shown(encoding)}; the rows of a file in UTF-16 are data as pandas reads them, "
            "pd.read_csv(path, encoding='utf-16', sep='\\t', dtype=str, keep_default_na=False)"
        )
    if thousands is not None and not among(thousands, _BETWEEN_GROUPS):
        raise DataError(
            f"thousands must be ',', '.', a blank, an apostrophe or a no-break space, not {shown(thousands)}"
        )
    if thousands == decimal:
        raise DataError(f"decimal and thousands are both {decimal!r}; which of them is it?")
    return CsvFile(path, sep, decimal, encoding, thousands)


_BETWEEN_GROUPS = (",", ".", " ", "'", "\u2019", "\u00a0", "\u202f")


_NO_SEPARATOR = frozenset(string.ascii_letters + string.digits + '+-"\r\n\0')


def _is_ascii_based(encoding: object) -> bool:
    """Whether no two ASCII characters are an escape, which would mean something else or be warned of."""
    # a line break first: with an encoding of escapes, others are warned of
    pairs = (b"\\n", *map(bytes, product(range(128), repeat=2)))
    try:
        return isinstance(encoding, str) and all(p.decode(encoding) == p.decode("ascii") for p in pairs)
    except (LookupError, ValueError):
        return False

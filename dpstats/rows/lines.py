"""The lines of a CSV file -> cells. A physical line is a record, and it is read by itself.

The bytes are split at newlines before anything else, so that no line can reach into another: an open
quotation mark ends with its line. What a line means is said by `Lines._by_hand`. Two ways of reading in bulk
give the same, faster:

* A chunk is *plain* if it has neither quotation marks nor null characters, no carriage returns but before
  newlines, and Arrow's parser finds in every line the right number of fields, and a finite number or a
  missing text where a number is declared. Arrow rounds correctly, and what it takes for a number is one by
  `grammar.number` too, but for the words for infinity, which no plain chunk has, and for NaN, which is
  missing either way.
* A line is *regular* if it matches a pattern that follows from the header and the schema: it has the right
  number of fields, each is free of quotation marks or enclosed in them, and those declared as numbers hold a
  simple number or a missing text. Arrow's parser cannot fail on regular lines. The others are read one by
  one.

Where digits are in groups, numbers are read as texts, and the texts as numbers afterwards, each by itself.
A chunk that is not plain is read by the second way. Which way is taken decides about time alone: a line's
cells follow from that line alone, and a line that cannot be read is a record without a cell.
"""

import codecs
import csv
import math
import re
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as pa_csv

from dpstats.rows import sizes
from dpstats.rows.cells import Column, Numbers, Texts, of_arrow
from dpstats.rows.encode import Batch
from dpstats.rows.grammar import (
    MISSING_TEXTS,
    SIMPLE,
    is_text,
    number,
    parse_grouped,
    simple_number,
)
from dpstats.rows.sources import Asked

_UNREADABLE = b"\0\n"  # a line without a cell in every encoding, because of its null character
_PARSED = 1 << 23  # bytes that Arrow parses at a time: mostly a whole chunk, so that columns are in one piece
_WIDEST = 500  # columns up to which a pattern of the whole line stays small


class Lines:
    """Parses lines of one file, each by itself; its patterns are made once."""

    def __init__(
        self,
        names: list[str],
        sep: str,
        decimal: str,
        encoding: str | None,
        asked: Asked,
        thousands: str | None = None,
    ) -> None:
        self._sep, self._decimal, self._encoding, self._width = sep, decimal, encoding, len(names)
        self._places = {name: names.index(name) for name in asked.columns}
        self._thousands, self._grouped = thousands or "", asked.numbers if thousands else frozenset[str]()
        self._numbers = asked.numbers - self._grouped
        self._blank = sep.encode() * (self._width - 1) + b"\n"
        self._pattern = self._regular() if self._width <= _WIDEST else None
        self._worth_trying = True  # whether the chunk before was plain, or might have been
        self._parsing = dict(
            read_options=pa_csv.ReadOptions(
                column_names=list(map(str, range(self._width))), use_threads=False, block_size=_PARSED
            ),
            parse_options=pa_csv.ParseOptions(delimiter=sep, ignore_empty_lines=False),
            convert_options=pa_csv.ConvertOptions(
                check_utf8=False,
                null_values=MISSING_TEXTS,
                decimal_point=decimal,
                include_columns=sorted({str(place) for place in self._places.values()}),
                column_types={
                    str(place): pa.float64() if name in self._numbers else pa.binary()
                    for name, place in self._places.items()
                },
            ),
        )

    def parse(self, chunk: bytes) -> Batch:
        """The cells of whole lines, shape (lines,) each."""
        chunk = _without_long_lines(chunk)
        if self._encoding is not None:
            chunk = b"".join(_recoded(line, self._encoding) for line in chunk.split(b"\n")[:-1])
        batch = self._plain(chunk) if self._worth_trying else None
        return self._ungrouped(self._line_by_line(chunk) if batch is None else batch)

    def _ungrouped(self, batch: Batch) -> Batch:
        """With numbers in the place of texts whose digits may be in groups."""
        return {
            name: Numbers(parse_grouped(column.cells, self._thousands, self._decimal))
            if name in self._grouped and isinstance(column, Texts)
            else column
            for name, column in batch.items()
        }

    def _plain(self, chunk: bytes) -> Batch | None:
        """The cells of a plain chunk; None of another."""
        if not _may_be_plain(chunk):
            return None
        try:
            table = pa_csv.read_csv(pa.BufferReader(chunk), **self._parsing)
        except pa.ArrowInvalid:
            return None
        if b"\r" in chunk and table.num_rows != np.count_nonzero(_bytes(chunk) == ord("\n")):
            return None  # a carriage return that does not stand before a newline makes a row too many
        batch = self._columns(table)
        numbers = (column.values for column in batch.values() if isinstance(column, Numbers))
        return None if any(np.isinf(values).any() for values in numbers) else batch

    def _line_by_line(self, chunk: bytes) -> Batch:
        """The cells of any chunk."""
        lines = _lines(chunk)
        regular = self._is_regular(chunk, lines)
        self._worth_trying = bool(regular.all())
        batch = self._in_bulk(chunk, lines, regular)
        others = np.flatnonzero(~regular)
        if len(others):
            records = [self._by_hand(line) for line in lines.take(pa.array(others)).to_pylist()]
            batch = {name: self._filled(name, column, others, records) for name, column in batch.items()}
        return batch

    def _regular(self) -> str:
        """A pattern of RE2 for regular lines."""
        # neither a blank nor a missing text may hold a separator, or fields could not be counted
        sep, blank = re.escape(self._sep), "[" + " \t".replace(self._sep, "") + "]"
        text = f'(?:[^{sep}"\\r\\n\\x00]*|"(?:[^"\\r\\n\\x00]|"")*")'
        missing = "|".join(re.escape(text) for text in MISSING_TEXTS if self._sep not in text)
        bare = simple_number(None if self._decimal == self._sep else self._decimal)
        unquoted, quoted = (
            f"{blank}*(?:{one}){blank}*|{missing}" for one in (bare, simple_number(self._decimal))
        )
        numeric = f'(?:{unquoted}|"(?:{quoted})")'
        numbers = {self._places[name] for name in self._numbers}
        return "\\A" + sep.join(numeric if i in numbers else text for i in range(self._width)) + "\\r?\\n\\z"

    def _is_regular(self, chunk: bytes, lines: pa.Array) -> np.ndarray:
        """Of each line, by its own bytes."""
        if self._pattern is None:
            return np.zeros(len(lines), dtype=bool)
        regular = pc.match_substring_regex(lines, self._pattern).to_numpy(zero_copy_only=False)
        lengths = pc.binary_length(lines).to_numpy()
        longer = np.flatnonzero(lengths > SIMPLE)
        # numbers that may be too large for the bulk parser
        found = pc.match_substring_regex(lines.take(pa.array(longer)), f"[0-9{self._decimal}]{{{SIMPLE}}}")
        regular[longer] &= ~np.asarray(found.to_numpy(zero_copy_only=False))
        if not is_text(chunk):
            regular &= np.fromiter(map(is_text, lines.to_pylist()), dtype=bool, count=len(lines))
        return np.asarray(regular)

    def _in_bulk(self, chunk: bytes, lines: pa.Array, regular: np.ndarray) -> dict[str, Column]:
        """The cells of regular lines, and blank ones in the place of others."""
        if not regular.all():
            chunk = b"".join(pc.if_else(pa.array(regular), lines, self._blank).to_pylist())
        # the parser takes a mark of byte order off the first line, so that no record may be the first
        table = pa_csv.read_csv(pa.BufferReader(self._blank + chunk), **self._parsing).slice(1)
        if table.num_rows != len(lines):
            raise ValueError("the parser found another number of lines")
        return self._columns(table)

    def _columns(self, table: pa.Table) -> dict[str, Column]:
        read = {name: _whole(table.column(str(place))) for name, place in self._places.items()}
        return {
            name: of_arrow(column) if name in self._numbers else Texts(column)
            for name, column in read.items()
        }

    def _by_hand(self, line: bytes) -> list[str] | None:
        """The fields of one line, None if it cannot be read."""
        try:
            read = fields(line.removesuffix(b"\n").removesuffix(b"\r").decode(), self._sep)
        except (UnicodeDecodeError, csv.Error):
            return None
        return read if len(read) == self._width else None

    def _filled(
        self, name: str, column: Column, where: np.ndarray, records: list[list[str] | None]
    ) -> Column:
        """A column with the cells of irregular lines put in."""
        place = self._places[name]
        cells = [None if record is None else record[place].encode() for record in records]
        if isinstance(column, Numbers):
            values = column.values.copy()
            values[where] = [math.nan if cell is None else number(cell, self._decimal) for cell in cells]
            return Numbers(values)
        assert isinstance(column, Texts)
        mask = np.zeros(len(column), dtype=bool)
        mask[where] = True
        return Texts(pc.replace_with_mask(column.cells, mask, pa.array(cells, pa.binary())))


def fields(line: str, sep: str) -> list[str]:
    """The fields of one line without its newline, of any length, which Python's `csv` limits.

    Raises
    ------
    csv.Error
        If a quotation mark is not closed or something follows it, or a carriage return or a null character
        stands in the line.
    """
    if "\r" in line or "\0" in line:
        raise csv.Error
    if '"' not in line:
        return line.split(sep)
    pattern, found, end = _field(sep), [], 0
    while match := pattern.match(line, end):
        quoted, plain, more = match.groups()
        found.append((plain or "") if quoted is None else quoted.replace('""', '"'))
        end = match.end()
        if not more:
            return found
    raise csv.Error


@cache
def _field(sep: str) -> re.Pattern[str]:
    """A field, in quotation marks or not beginning with one, and the separator or the line's end after it."""
    sep = re.escape(sep)
    return re.compile(f'(?:"([^"]*(?:""[^"]*)*)"|([^{sep}"][^{sep}]*)?)({sep}|\\Z)')


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """In one piece; what is parsed at a time is far below the limits of 32-bit offsets."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _may_be_plain(chunk: bytes) -> bool:
    """Whether the bytes of a chunk are those of a plain one, as far as they tell without a parser."""
    return (
        b'"' not in chunk
        and (_bytes(chunk).view(np.int8).min() > 0 or (b"\0" not in chunk and is_text(chunk)))
        and not chunk.startswith(codecs.BOM_UTF8)  # the parser would take it off
    )


def _without_long_lines(chunk: bytes) -> bytes:
    """A chunk with lines that cannot be read in the place of those that are too long.

    The length that decides is that of a line in the file, with its newline: it is measured once, before a
    line is decoded and before anything decides how it is read. Of a line that is too long the chunk may hold
    a part, which is too long as well.
    """
    part = sizes.SIZES.line // 2  # with a newline in each, no line is longer than two
    if all(chunk.find(b"\n", start, start + part) >= 0 for start in range(0, len(chunk), part)):
        return chunk
    lines = chunk.split(b"\n")[:-1]
    return b"".join(line + b"\n" if len(line) < sizes.SIZES.line else _UNREADABLE for line in lines)


def _bytes(chunk: bytes) -> np.ndarray:
    return np.frombuffer(chunk, dtype=np.uint8)


def _lines(chunk: bytes) -> pa.Array:
    """The lines of a chunk with their newlines, without a copy."""
    ends = np.flatnonzero(_bytes(chunk) == ord("\n")) + 1
    offsets = pa.py_buffer(np.append(0, ends).astype(np.int64))
    return pa.Array.from_buffers(pa.large_binary(), len(ends), [None, offsets, pa.py_buffer(chunk)])


def _recoded(line: bytes, encoding: str) -> bytes:
    """A line in UTF-8; one that has no meaning in its encoding is one that cannot be read."""
    try:
        text = line.decode(encoding)
    except ValueError:
        return _UNREADABLE
    return _UNREADABLE if "\n" in text else text.encode("utf-8", "surrogatepass") + b"\n"

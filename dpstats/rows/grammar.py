"""What a text means: the one grammar of numbers, the texts that stand for a missing value, and blanks.

A number in a text is, between optional blanks, an optional sign, digits with an optional decimal mark, and
an optional exponent: ``12``, ``-0.5``, ``+.5``, ``1.``, ``2e-3``. It becomes the float64 nearest to it; one
too large for a finite float64 is missing. Every other text is missing where a number is declared: there are
no underscores, no hexadecimal digits, and no words such as ``inf`` or ``nan``.

Texts are handled as UTF-8 bytes, which need not be valid: what is not valid is no text, hence missing.
"""

import math
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

BLANKS = b" \t\n\r\v\f"
MISSING_TEXTS = ("", "NA", "N/A", "NaN", "nan", "None", "NULL", "null", "<NA>")

SIMPLE = 200  # letters of a simple number: it is below 10^(200 + 99), the largest float64 is near 10^308
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"


def _number_pattern(mark: str) -> re.Pattern[bytes]:
    return re.compile(f"[+-]?(?:[0-9]+(?:{mark}[0-9]*)?|{mark}[0-9]+){_EXPONENT}".encode())


_NUMBER = {".": _number_pattern(r"\."), ",": _number_pattern(",")}


def simple_number(mark: str | None = ".") -> str:
    """A pattern of RE2 for numbers that every bulk parser reads, and that cannot overflow.

    It is of whole numbers if there is no mark. Without blanks and a plus sign, at most 20 digits before the
    decimal mark, and an exponent of at most two digits: far inside the range of float64. Digits after it are
    not counted, because a count would give the automaton of a whole line hundreds of states; a bulk parser
    rounds any number of them correctly, down to zero. Other numbers are converted one by one.
    """
    whole, exponent = "[0-9]{1,20}", "(?:[eE][+-]?[0-9]{1,2})?"
    if mark is None:
        return f"-?{whole}{exponent}"
    mark = re.escape(mark)
    return f"-?(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+){exponent}"


def number(cell: bytes, mark: str = ".") -> float:
    """One text as a number; NaN if it is none."""
    text = cell.strip(BLANKS)
    if not _NUMBER[mark].fullmatch(text):
        return math.nan
    value = float(text.replace(mark.encode(), b"."))
    return value if math.isfinite(value) else math.nan


def parse(cells: pa.Array) -> np.ndarray:
    """Texts as float64, shape (n,), each by itself.

    A text goes to the bulk conversion if it is a `simple_number`, else to `number`; both round correctly,
    so that the result is a function of the text alone, and neither can fail.

    Parameters
    ----------
    cells : pyarrow.BinaryArray or pyarrow.LargeBinaryArray
    """
    simple = pc.match_substring_regex(cells, f"\\A(?:{simple_number()})\\z")
    simple = pc.fill_null(pc.and_(simple, pc.less_equal(pc.binary_length(cells), SIMPLE)), False)
    kept = pc.if_else(simple, cells, pa.scalar(b"0", cells.type))
    texts = kept.view(pa.string() if pa.types.is_binary(kept.type) else pa.large_string())
    simple = simple.to_numpy(zero_copy_only=False)
    values = np.where(simple, texts.cast(pa.float64()).to_numpy(), math.nan)
    others = cells.is_valid().to_numpy(zero_copy_only=False) & ~simple
    values[others] = [number(cell) for cell in cells.filter(pa.array(others)).to_pylist()]
    return values


def parse_grouped(cells: pa.Array, thousands: str, mark: str) -> np.ndarray:
    """Texts as float64, shape (n,), of numbers whose digits may be in groups of three: ``1,234,567.8``.

    All digits before the decimal mark are in groups or none is; ``12,34`` is missing, and so is ``0,619``,
    for no program writes a first group that begins with 0. What is left without the marks between groups is
    read by `parse`.

    Parameters
    ----------
    cells : pyarrow.BinaryArray or pyarrow.LargeBinaryArray
    thousands, mark : str
        What stands between groups, which is nothing where there are none, and before decimals; they differ.
    """
    between, blank = re.escape(thousands), f"[{BLANKS.decode()}]*"
    digits = f"(?:[1-9][0-9]{{0,2}}(?:{between}[0-9]{{3}})+|[0-9]*)(?:{re.escape(mark)}[0-9]*)?"
    written = pc.match_substring_regex(cells, f"\\A{blank}[+-]?{digits}{_EXPONENT}{blank}\\z")
    plain = pc.replace_substring(cells, thousands, "") if thousands else cells
    return parse(pc.if_else(written, pc.replace_substring(plain, mark, "."), pa.scalar(None, cells.type)))


def is_text(cell: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True

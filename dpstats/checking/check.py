"""What a fit would make of each column. NOT PRIVATE.

The cells of a column are shown as they are written, beside what a fit reads them as; why a cell that a fit
cannot use is none is told by its text, and by what is declared.
"""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from dpstats._arguments import folded, spelt_as
from dpstats._private import forgetful, forgetting
from dpstats.errors import DataError, SpecificationError
from dpstats.formula import Design, build_design, with_exposure
from dpstats.formula.expressions import Expression
from dpstats.formula.reader import variable_in
from dpstats.results.document import Document, Shown
from dpstats.results.table import Column, Table
from dpstats.rows import CsvFile, SqlQuery, open_rows
from dpstats.rows.files import FORMATS, in_lines
from dpstats.rows.grammar import BLANKS, MISSING_TEXTS
from dpstats.rows.paths import data_files, kind_of
from dpstats.rows.template import kinds_of
from dpstats.schema import WEIGHS, Event, Schema, Variable, as_schema, usable
from dpstats.schema.variables import MOST_ROWS


def written(data: Any, name: str, where: np.ndarray) -> list[Any] | None:
    """The cells of a column at some of its rows; None where they cannot be seen again, as of a generator."""
    try:
        if isinstance(data, str | os.PathLike):
            files = data_files(Path(data))
            if lines := [found for path in files if (found := in_lines(path))]:
                return _of_csv(lines, name, where)
            read = FORMATS[kind_of(files[0])].frame
            data = pd.concat([read(path, columns=[name]) for path in files], ignore_index=True)
        if isinstance(data, CsvFile):
            return _of_csv([data], name, where)
        if hasattr(data, "__arrow_c_stream__") and not isinstance(data, pd.DataFrame):
            data = {name: pa.table(data)[name].to_pylist()}
        return list(pd.Series(data[name], dtype=object)[where]) if hasattr(data, "keys") else None
    except Exception:  # a table that a fit can read, and pandas cannot: counts are there all the same
        return None


class _Line(NamedTuple):
    """A line that holds no record, in the place of its cell."""

    number: str
    why: str


def _of_csv(files: Sequence[CsvFile], name: str, where: np.ndarray) -> list[Any]:
    """Line by line, as a fit reads one file after the other."""
    found: list[Any] = []
    rows = iter(where)  # each file takes as many as it has lines
    for file in files:
        of = f" of {file.path.name}" if len(files) > 1 else ""
        place, lines = file.names.index(name), enumerate(file.lines(), 2)  # the header is line 1
        records = ((number, file.record(line)) for number, line in compress(lines, rows))
        found += [_Line(f"{n}{of}", one) if isinstance(one, str) else one[place] for n, one in records]
    return found


MISSING, INFINITE = "missing", "an infinite number"
NO_BLANK = "with a no-break space, or another that is no plain blank, at its end: remove it"
_TEXT = "a text: write a number, or nothing where there is none"
_ABSENT = {"", "na", "nil", "none", "null", "missing", "unknown", "notavailable", "nodata"}
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}([,.' \u2019\u00a0\u202f])\d{3}(?:\1\d{3})*(?:[.,]\d*)?")
_COMMA = re.compile(r"[+-]?\d*,\d+")
_WRITTEN = (
    (_COMMA, "a decimal comma: dps.read_csv(path, decimal=',')"),
    (
        re.compile(r"\d[\d.,' \u00a0\u202f]*-"),
        "a minus behind its digits, as SAP writes it: write it before them",
    ),
    (re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*"), "a date: give days since one origin"),
)
_WITH_UNIT = re.compile(
    r"(?=.*[^\d\s.,+-])[€$£¥<>~]?\s*[+-]?\d[\d.,]*\s*[^\d\s.,]{0,6}[23]?"
)  # € 12,50, 15 %, 3 m2
_NUMBER = re.compile(r"[+-]?\d*\.?\d+(?:e[+-]?\d+)?", re.IGNORECASE)
_OF_PRINT = str.maketrans("\u2212\u2013\u2011", "---")  # what programs of text write for a minus


def reason(cell: Any, variable: Variable, decimal: str = ".") -> str:
    """In a few words, of a cell that cannot be used as what is declared."""
    if isinstance(cell, _Line):
        return f"in a line that {cell.why or 'is blank'}"
    if not isinstance(cell, str):
        is_nan = cell.is_nan if isinstance(cell, Decimal) else partial(pd.isna, cell)
        return MISSING if pd.api.types.is_scalar(cell) and is_nan() else _of_object(cell, variable)
    text = str.strip(cell, BLANKS.decode())
    alike = spelt_as(text, variable.all) if folded(text) else None
    if text in MISSING_TEXTS or text != text.strip():
        absent = MISSING if alike is None else f"{alike!r} in another spelling, which means missing"
        return absent if text in MISSING_TEXTS else NO_BLANK
    if variable.all:
        another = f"{alike!r} in another spelling" if alike is not None else "not declared"
        return "as declared" if text in variable.all else another
    if grouped := _GROUPED.fullmatch(text):
        comma = "decimal=',', " if grouped[1] == "." or (grouped[1] != "," and "," in text) else ""
        group = f"digits in groups: dps.read_csv(path, {comma}thousands={grouped[1]!r})"
        return group + ", or decimals: decimal=','" * (text.count(",") == 1 and not comma and "." not in text)
    if decimal == "," and _COMMA.fullmatch(text.replace(".", ",")):
        return "not with a decimal comma, which decimal=',' says that numbers have"
    if _NUMBER.fullmatch(plain := text.translate(_OF_PRINT)) and (plain != text or np.isinf(float(text))):
        return "a minus sign of print: replace it by '-'" if plain != text else "too large a number"
    if words := next((words for pattern, words in _WRITTEN if pattern.fullmatch(text)), ""):
        return words
    if folded(text) in _ABSENT:
        return "a text that may mean missing, and is read as missing"
    if text[0] in "<>" and _WITH_UNIT.fullmatch(text):
        return (
            "a limit of detection, no value: of a response give both ends as numbers, type='interval2', and "
            "of a covariate one number for all of them, such as half the limit"
        )
    return "a number with a sign or unit: keep the number alone" if _WITH_UNIT.fullmatch(text) else _TEXT


def _of_object(cell: Any, variable: Variable) -> str:
    if variable.all and isinstance(cell, int | float):
        return "not declared"
    if isinstance(cell, float | np.floating) and np.isinf(cell):
        return INFINITE
    return f"of type {type(cell).__name__}"


BANNER = "NOT PRIVATE: exact counts, and cells of the data. DO NOT PUBLISH."
_MANY = 1 / 4  # of the values of a variable, far more than bounds that leave room for all cut off
_EXAMPLES = 3  # spellings that are shown of each reason
_LONGEST = 24  # characters of one
_BITS = 10_000  # of a whole number of 3,011 digits
_AS_NUMBERS = "a text with marks between its digits: write the column as numbers"  # in a file that has types

# Values are apart by gaps that an exponential tail has once in 3^8 columns; a group counts for three at most.
_CHANCE, _COUNTED = 8.0, 3
# One value in a thousand has a hundredth of the sum of an exponential law. Where it has a tenth,
# means by a fit lack about as much.
_FEW, _MUCH = 1000, 0.1
_OFTEN = 30  # times as many cells as the next commonest value has: a tie of scattered numbers has few

_Values = dict[str, Counter[float]]  # of each variable, how often each is there


@forgetting
def check(  # noqa: PLR0913 - what a fit may be given; public
    data: Any,
    schema: Schema,
    formula: str | None = None,
    *,
    exposure: str | None = None,
    weights: str | None = None,
    subset: str | None = None,
) -> "DataCheck":
    """Count the cells that fits cannot use, and say why: for whoever holds the data, on their own screen.

    It is not private: counts are exact, and cells are shown. Never publish it, and do not choose bounds or
    levels of a fit by it, but correct how the data are written.

    Parameters
    ----------
    data
        As models take them. Of a generator there are counts without reasons.
    schema : Schema
        All its variables are looked for; where it has a unit of privacy, its column, too.
    formula : str, optional
        Look at what a fit of this formula reads, as it reads it: a missing upper end of
        ``Surv(lower, upper, type="interval2")`` is a unit that still works and is no unusable cell, while a
        row whose first end is the larger is counted among those that weigh nothing.
    exposure, weights, subset : str, optional
        With a formula: as the model is given them, see :func:`dpstats.glm`.

    Returns
    -------
    DataCheck
        Printed with a warning; ``.frame`` has the counts, how unusable cells are written, the commonest
        values beyond the bounds, such as a 999 that stands for "not known", and such within the bounds that
        are far from all others.

    Raises
    ------
    DataError
        If a column is missing, or its storage type cannot hold what is declared.

    Examples
    --------
    >>> import dpstats as dps
    >>> schema = dps.Schema(days=dps.bounded(0, 4000), maker=dps.levels("HGST", "WDC"))
    >>> found = dps.check({"days": ["12", "1,234", "5000"], "maker": ["hgst", "WDC", None]}, schema)
    >>> found.frame[["variable", "unusable", "above"]].values.tolist()
    [['days', 1, 1], ['maker', 2, 0]]
    """
    if isinstance(data, Schema):
        raise SpecificationError("data come before the schema: dps.check(data, schema)")
    schema = as_schema(schema)
    if formula is None and any(part is not None for part in (exposure, weights, subset)):
        raise SpecificationError(
            "exposure=, weights= and subset= are of a fit: give formula=, too, as in formula='y ~ x'"
        )
    asked = formula if formula is None or exposure is None else with_exposure(formula, exposure)
    design = None if asked is None else build_design(asked, schema, weights, subset, scales=True)
    read = {name: schema[name] for name in (design.variables if design else schema)}
    seen = _seen(data, schema, read, design)
    entry = None if design is None else design.response.entry
    amounts = {*read} if design is None else {variable_in(design.response.text)}
    total = {name: (seen.below[name].total(), seen.above[name].total()) for name in read}
    records = [
        {
            "variable": name,
            "kind": variable.kind,
            "cells": len(seen.off),
            "unusable": int(seen.lost[name].sum()),
            "below": total[name][0],
            "above": total[name][1],
            "why": _why(data, name, variable, seen.lost[name]),
            "caught": _why(data, name, variable, seen.caught[name]),
            "beyond": _commonest(seen.below[name] + seen.above[name]),
            "apart": _commonest(apart := _apart(seen.inside[name])),
            "heaped": _commonest(Counter({v: n for v, n in seen.heaped[name].items() if v not in apart})),
            "heavy": _heavy(seen.inside[name]) if name in amounts else "",
        }
        for name, variable in read.items()
    ]
    frame = pd.DataFrame(records)
    frame.attrs["banner"] = BANNER
    return DataCheck(frame, int(seen.off.sum()), _notes(data, schema, seen, asked, entry))


@dataclass(frozen=True)
class _Seen:
    """What a pass found: unusable cells, values beyond the bounds, those within, and what `other=` caught.

    Of values within, `heaped` has one that repeats far more often than any other. Of the rows, `off` says
    which weigh nothing for their cells, `outside` which of these the subset leaves out, and `idle` which
    weigh nothing for their unit; of the others so many are `repeated`, None where that cannot be told.
    """

    lost: dict[str, np.ndarray]
    below: _Values
    above: _Values
    inside: dict[str, list[np.ndarray]]
    heaped: _Values
    caught: dict[str, np.ndarray]
    off: np.ndarray
    outside: np.ndarray
    idle: np.ndarray
    repeated: int | None


def _seen(data: Any, schema: Schema, read: Mapping[str, Variable], design: Design | None) -> _Seen:
    lost, caught = ({name: [np.zeros(0, bool)] for name in read} for _ in range(2))
    below, above = ({name: Counter[float]() for name in read} for _ in range(2))
    inside: dict[str, list[np.ndarray]] = {name: [] for name in read}
    off, outside, idle = ([np.zeros(0, bool)] for _ in range(3))
    used: list[pd.DataFrame] = []
    for block in open_rows(data, schema, list(read)).blocks():
        cells = {name: block[name] for name in read}
        unusable = {name: ~usable(values, read[name]) for name, values in cells.items()}
        rows = None if design is None else design.read(cells)
        bad = np.any(list(unusable.values()), axis=0) if rows is None else ~rows.ok
        for name, variable in read.items():
            lost[name].append(unusable[name])
            caught[name].append(
                cells[name] == (len(variable.all) - 1 if getattr(variable, "other", False) else np.nan)
            )
            if not variable.all:
                values = cells[name][~unusable[name]]
                below[name].update(values[values < variable.bounds[0]].tolist())
                above[name].update(values[values > variable.bounds[1]].tolist())
                inside[name].append(values[np.clip(values, *variable.bounds) == values])
        off.append(bad)
        outside.append(np.zeros_like(bad) if rows is None else ~rows.kept)
        used.append(pd.DataFrame(cells)[~bad])
        idle.append(~block[WEIGHS] if WEIGHS in block else np.zeros(len(bad), bool))
    whole, other = ({name: np.concatenate(each) for name, each in one.items()} for one in (lost, caught))
    out, left_out = np.concatenate(off), np.concatenate(outside)
    ends = design.response.open if design else frozenset()
    if ends:  # an open end is no unusable cell, unless the ends alone switch the row off
        both = np.all([whole[name] for name in ends], axis=0)
        others = np.any(
            [np.zeros_like(out), *(one for name, one in whole.items() if name not in ends)], axis=0
        )
        for name in ends:
            found = whole[name] & ~both & (others | ~out | left_out)
            whole[name] &= ~found | _unreadable(data, name, read[name], found)
    heaped = {name: _heaped(parts) for name, parts in inside.items()}
    copies = _repeated(pd.concat(used), heaped) if used else 0
    copies = 0 if copies != 0 and _told_apart(data, read, np.ones_like(out)) else copies
    return _Seen(whole, below, above, inside, heaped, other, out, left_out, np.concatenate(idle), copies)


_BY_CHANCE = 0.05  # of rows, alike another in no order; a count of copies lacks such a share of them


def _repeated(rows: pd.DataFrame, heaped: _Values) -> int | None:
    """Rows that look like copies: alike the row before, or, of two or more, like as many in their order.

    By chance a row here and there is like another, and one of them may follow it; where many are, as of
    variables with few values, copies are not told from others: None. Rows with a value that is heaped are
    alike for that.
    """
    usual = ~np.any([rows[name].isin([*each]) for name, each in heaped.items()], axis=0)
    marks = pd.util.hash_pandas_object(rows[usual], index=False).to_numpy()
    _, first, inverse = np.unique(marks, return_index=True, return_inverse=True)
    like = first[inverse]  # the place of the first row that is alike
    again = like < np.arange(len(marks))
    follows = again[1:] & again[:-1] & (np.diff(like) == 1)
    copied = np.append(follows, False) | np.append(False, follows | (again[1:] & (np.diff(like) == 0)))
    count, every = int(copied.sum()), int(again.sum())
    if every - count > _BY_CHANCE * len(marks) or 2 * every > len(marks):
        return None
    return count if count > 1 or count == every else 0


def _told_apart(data: Any, read: Mapping[str, Variable], everywhere: np.ndarray) -> bool:
    """Whether a column that is not read has another value in each row, so that no row is a copy."""
    with suppress(DataError):  # of a query, or a generator, whose cells are not seen again
        for name in [one for one in kinds_of(data) if one not in read]:
            cells = written(data, name, everywhere)
            if cells and len({*map(str, cells)}) == len(cells):
                return True
    return False


def _heaped(parts: Sequence[np.ndarray]) -> Counter[float]:
    """The value of less than a quarter of all that is there far more often than any other, if one is."""
    values, times = np.unique(np.concatenate([*parts, np.zeros(0)]), return_counts=True)
    *_, second, first = np.append([-1, -1], np.argsort(times))
    far = second >= 0 and times[first] >= _OFTEN * times[second] and 4 * times[first] < times.sum()
    return Counter({float(values[first]): int(times[first])} if far else {})


def _heavy(parts: Sequence[np.ndarray]) -> str:
    """What the largest of a thousand positive values hold of the sum, if it is much and none is negative."""
    values = np.sort(np.concatenate([*parts, np.zeros(0)]))
    positive = values[values > 0] / values.max(initial=1e-300)  # whose sum is a number
    few = len(positive) // _FEW
    if not few or values[0] < 0 or (share := positive[-few:].sum() / positive.sum()) < _MUCH:
        return ""
    return f"{few} of {len(positive)} positive cells, from {values[-few]:.6g} on, hold {100 * share:.0f} %"


def _apart(parts: Sequence[np.ndarray]) -> Counter[float]:
    """Values beyond a gap that no tail has, on a side that has less than a quarter of all.

    Gaps are of inverse sines about the median, and above the others of logarithms where all values are
    positive; where all beyond are repeated, as codes are and ends of long tails are not, they are also those
    of the values. Between the k-th value from the end and the next lies a gap g; of an exponential tail,
    whose quartiles are log 3 apart, k g exceeds c log 3 by chance once in 3^c.
    """
    every, found = np.concatenate([*parts, np.zeros(0)]), Counter[float]()
    values, times = np.unique(every, return_counts=True)
    low, half, high = np.quantile(every, [0.25, 0.5, 0.75]) if len(every) else (0.0, 0.0, 0.0)
    if low < high:
        sides = (
            (values, times, np.arcsinh),
            (values[::-1], times[::-1], np.log if values[0] > 0 else np.arcsinh),
        )
        for some, often, scale in sides:
            middle, unit = (0.0, 1.0) if scale is np.log else (half, high - low)
            ends = scale((np.array([low, high]) - middle) / unit)
            beyond = np.cumsum(often)[:-1]
            gaps = np.abs(np.diff(scale((some - middle) / unit))) / np.ptp(ends)
            repeated = np.minimum.accumulate(often)[:-1] >= _COUNTED
            codes = np.where(repeated, np.abs(np.diff(some)) / (high - low), 0.0)
            wide = np.maximum(gaps, codes) * np.minimum(beyond, _COUNTED) > _CHANCE
            far = np.flatnonzero(wide & (4 * beyond < len(every)))
            found.update(dict(zip(some[: far.max(initial=-1) + 1].tolist(), often.tolist(), strict=False)))
    return found


def _unreadable(data: Any, name: str, variable: Variable, ends: np.ndarray) -> np.ndarray:
    """Which of the cells that a fit takes for open ends of intervals are neither missing nor infinite."""
    found = np.zeros(len(ends), bool)
    if ends.any() and (cells := written(data, name, ends)) is not None:
        found[ends] = [reason(cell, variable) not in (MISSING, INFINITE) for cell in cells]
    return found


def _notes(
    data: Any, schema: Schema, seen: _Seen, formula: str | None, entry: Expression | None
) -> tuple[str, ...]:
    """Sentences about whole rows."""
    off, n = int(seen.off.sum()), len(seen.off)
    timed = formula is not None and re.match(r"\s*Surv\b", formula)
    if formula is None:
        notes = [
            f"{off} of {n} rows have an unusable cell in a declared variable; such rows weigh nothing in "
            "fits of that variable." + _OPEN_END * (off > 0)
        ]
    else:
        whole = int((seen.off & ~seen.outside & ~np.any(list(seen.lost.values()), axis=0)).sum())
        notes = [f"{off} of {n} rows weigh nothing in {formula}."]
        if outside := int(seen.outside.sum()):
            notes.append(f"{outside} of them are outside the subset.")
        if whole:
            notes.append(
                f"Of {whole} of them each cell can be used: a term has no value or the weight is 0"
                + (_ORDER if timed else ".")
            )
    return (
        *notes,
        _TIMES if timed else "Values beyond the bounds are moved to them.",
        *_of_ends(schema, seen, entry),
        *["There is no row below the names of the columns."] * (not n),
        *([_COPIES.format(seen.repeated, _OF_FORMULA * bool(formula))] if seen.repeated else []),
        *[_UNTOLD] * (seen.repeated is None),
        *_of_units(data, schema, list(seen.lost), seen.idle),
    )


def _of_ends(schema: Schema, seen: _Seen, entry: Expression | None) -> Iterator[str]:
    """Of variables of which more lie beyond a bound than bounds of their own unit would cut off.

    Below the bounds of an entry are units that were watched from new. One cell, as of a total, says nothing.
    """
    for name, lost in seen.lost.items():
        usable_cells = len(lost) - int(lost.sum())
        for beyond, where in ((seen.below.get(name), "below"), (seen.above.get(name), "above")):
            several = beyond.total() if beyond and beyond.total() > 1 else 0
            share = several / max(usable_cells, 1)
            if share > _MANY and not (entry and where == "below" and name in entry.variables):
                unit = getattr(schema[name], "unit", None)
                declared = f"the declared unit, {unit}," if unit else "the unit of the bounds"
                yield f"{100 * share:.0f} % of {name} lie {where} its bounds: is {declared} that of the data?"


_ORDER = ", there is no time, or ends of an interval or an entry stand in the wrong order."
_TIMES = (
    "Covariates beyond their bounds are moved to them. A time beyond its upper bound is censored there, ends "
    "of an interval are used as they are, and a row with an entry above its bounds weighs nothing."
)
_OPEN_END = " An open end of type='interval2' is no such cell: formula= names its fit."
_COPIES = (
    "{} rows stand there twice{}, one after the other or in the order of others: if an export doubled them, "
    "remove those by a key of the source, and none because it is like another."
)
_UNTOLD = (
    "Many rows are alike in all that is read, so that it cannot be told here from chance whether an export "
    "doubled some: count them by a key of the source."
)
_OF_FORMULA = " in what the formula reads, whatever other columns say"
_LOST = (
    " PROBLEM: where a failure ends the rows of a unit, as in Surv(start, stop, event), those that are kept "
    "are no fair sample of its life; give max_rows the most rows that one can have, or make fewer of each."
)
_BY_LOT = (
    " Several rows of {} of them failed, so that a failure does not end the rows of one: those that are kept "
    "are a fair sample where how many rows each {} has says nothing of its response."
)


def _of_units(data: Any, schema: Schema, names: list[str], off: np.ndarray) -> tuple[str, ...]:
    """How many rows weigh nothing for their unit of privacy, if any do, and why, where it can be seen."""
    unit, idle = schema.privacy_unit, int(off.sum())
    if unit.column is None:
        return ()
    rows, theirs = ("1 row weighs", "its") if idle == 1 else (f"{idle} rows weigh", "their")
    told = f"{rows} nothing for {theirs} {unit.column}, whatever {theirs} cells"
    if isinstance(data, Iterator):
        return (f"{told}: without one, or beyond {unit.limit} of each.",) if idle else ()
    every, nobody, failed = open_rows(data, schema.unit(unit.column, MOST_ROWS), names).blocks(), 0, []
    events = [name for name in names if isinstance(schema[name], Event)]
    for block in every:
        nobody += int((~block[WEIGHS]).sum())
        failed.append(block[WEIGHS] & np.any([block[name] == 1 for name in events], axis=0))
    ids = written(data, unit.column, np.ones(len(off), bool)) or ()
    more = ""
    if idle > nobody and events:  # where several rows of one failed, a failure does not end its rows
        often = sum(times > 1 for times in Counter(compress(ids, np.concatenate(failed))).values())
        more = _BY_LOT.format(often, unit.column) if often else _LOST
    told += f": {nobody} without one, and {idle - nobody} beyond {unit.limit} of each.{more}"
    return (*[told] * bool(idle), *_of_spellings(unit.column, ids))


def _shortened(cell: object) -> str:
    """How a cell begins; Python writes no whole number of thousands of digits."""
    if isinstance(cell, int) and cell.bit_length() > _BITS:
        return "a whole number of thousands of digits"
    return repr(str(cell)[:_LONGEST])


_NUMBERED = re.compile(r"^0*(\d+)(\.0*)?$")


def _of_spellings(column: str, cells: Sequence[Any]) -> Iterator[str]:
    """Of ids that differ as a number and its text do, or by leading zeros, a decimal point, or capitals."""
    ways: dict[str, set[str]] = {}
    known = (str.strip(cell) if isinstance(cell, str) else cell for cell in cells)
    for cell in {cell for cell in known if isinstance(cell, str | int | np.integer)} - {*MISSING_TEXTS}:
        one = unicodedata.normalize("NFC", _NUMBERED.sub(r"\1", str(cell))).casefold()
        ways.setdefault(one, set()).add(repr(cell) if isinstance(cell, str) else str(cell))
    several = [sorted(each) for each in ways.values() if len(each) > 1]
    if several:
        yield (
            f"PROBLEM: ids of {column} that seem to be one have several spellings, such as "
            f"{' and '.join(min(several)[:_EXAMPLES])}. Each counts as a unit of its own, so that more of "
            "its rows weigh than max_rows says: write each in one way."
        )


def _commonest(values: Counter[float]) -> str:
    """The commonest values and how often each is there; the rest is counted only."""
    first = sorted(values.items(), key=lambda item: (-item[1], item[0]))[:_EXAMPLES]
    shown = [f"{value:.6g}" + (f" ({times} times)" if times > 1 else "") for value, times in first]
    return ", ".join(shown + ["..."] * (len(values) > len(shown)))


def _why(data: Any, name: str, variable: Variable, lost: np.ndarray) -> str:
    """Reasons with how often, and what is written there."""
    if not lost.any():
        return ""
    if (written_there := written(data, name, lost)) is None:
        table = "pd.read_sql(query, connection)" if isinstance(data, SqlQuery) else "the table itself"
        return f"not known, as the cells cannot be seen again: check {table}"
    reasons: dict[str, Counter[str]] = {}
    typed = isinstance(data, str | Path) and Path(data).suffix.lower() in FORMATS
    for cell in written_there:
        shown = f"line {cell.number}" if isinstance(cell, _Line) else _shortened(cell)
        why = reason(cell, variable, getattr(data, "decimal", "."))
        why = _AS_NUMBERS if typed and "read_csv" in why else why
        reasons.setdefault(why, Counter())[shown] += 1
    told = []
    absent = [one for one in variable.all if one in MISSING_TEXTS]
    if absent and isinstance(data, pd.DataFrame) and MISSING in reasons:
        told.append(f"pandas.read_csv reads the level {absent[0]!r} as missing: give keep_default_na=False")
    for why, cells in sorted(reasons.items(), key=lambda item: -item[1].total()):
        examples = ", ".join(text for text, _ in cells.most_common(_EXAMPLES))
        told.append(f"{cells.total()} {why}" + (f" ({examples})" if why != MISSING else ""))
    return "; ".join(told)


_TOLD = {  # of a variable, by columns of the frame
    "caught": "{}: of its cells become 'other' {}.",
    "beyond": "{} is beyond its bounds at {}.",
    "apart": "{} is {}, far from all others: if that means not known, leave those cells empty, and if it is "
    "a slip, as of a decimal point, correct it, or lines follow them.",
    "heaped": "{} is {}, far more often than any other value: if that means not known, leave those cells "
    "empty; a limit or a nothing that is meant may stay.",
    "heavy": "{}: {} of its sum. Fits bound what a row says, so that means of it as a response lack about as "
    "much, often without a caution: fit what is below a limit that is chosen without these data, by subset=, "
    "and add what those beyond come to from elsewhere.",
}


@forgetful
@dataclass(frozen=True, repr=False)
class DataCheck(Shown):
    """What `check` found. NOT PRIVATE.

    Attributes
    ----------
    frame : DataFrame
        For each variable its kind, cells, unusable ones, those below and above the bounds, why cells are
        unusable, how cells are written that a category with ``other=True`` caught, the commonest values
        beyond the bounds, and such within that lie apart from all others, or repeat far more often (heaped),
        or hold much of the sum (heavy).
    unusable_rows : int
        Rows with an unusable cell in any declared variable; with a formula, rows that weigh nothing in it.
    notes : tuple of str
        Sentences about whole rows: how many weigh nothing, for their cells or for their unit of privacy.

    Examples
    --------
    >>> import dpstats as dps
    >>> table = dps.check({"days": ["12", "a week"]}, dps.Schema(days=dps.bounded(0, 4000)))
    >>> table.unusable_rows
    1
    """

    frame: pd.DataFrame
    unusable_rows: int
    notes: tuple[str, ...] = ()

    @property
    def document(self) -> Document:
        """The printed table."""
        heads = ("variable", "kind", "unusable", "below", "above")
        every = [row for _, row in self.frame.iterrows()]
        rows = tuple(tuple(str(row[head]) for head in heads) for row in every)
        told = self.frame[self.frame["why"] != ""].groupby("why", sort=False)["variable"].agg(", ".join)
        why = [f"{names}: {reasons}." for reasons, names in told.items()]
        why += [
            text.format(row["variable"], row[name])
            for name, text in _TOLD.items()
            for row in every
            if row[name]
        ]
        columns = (Column("variable", "l"), Column("kind", "l"), *(Column(head) for head in heads[2:]))
        return Document(
            title="What fits can use of these data",
            banner=BANNER,
            tables=(Table(columns, rows),),
            notes=(*why, " ".join(self.notes)),
        )

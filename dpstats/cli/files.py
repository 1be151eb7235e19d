"""Files that commands read and write, with ``-`` in the place of a file that is written.

What is written is always a new file, whose name says what it holds, or goes to the standard output. Tables
are read as the options say that a CSV file is written: this is the one place for all commands.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow as pa

from dpstats._arguments import refuse_twice, shown
from dpstats.cli.streams import DASH, leave_quietly
from dpstats.errors import DataError, SpecificationError
from dpstats.results import CurveFit, Description, Fit
from dpstats.rows import CsvFile, SqlQuery, read_csv, read_sql
from dpstats.rows.files import FORMATS, in_lines
from dpstats.rows.grammar import MISSING_TEXTS, parse_grouped
from dpstats.rows.links import is_address
from dpstats.rows.paths import data_files, kind_of
from dpstats.schema import Variable

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
    return [table(file, options) for file in files] if in_lines(files[0]) else path


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
    if given and path.suffix.lower() not in FORMATS:
        return read_csv(path, **given)
    return in_lines(path) or path


def public_table(path: Path, options: argparse.Namespace, schema: Mapping[str, Variable]) -> pd.DataFrame:
    """A table of new units, which is public, `as_read`.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    return as_read(written(path, options), table(path, options), schema)


def as_read(
    frame: pd.DataFrame, given: CsvFile | Path, schema: Mapping[str, Variable], more: Iterable[str] = ()
) -> pd.DataFrame:
    """What a table that is `written` so says, with numbers but where the schema has levels or codes.

    Each cell is read by itself; what is no number stays as it is, so that an error can name it.

    Raises
    ------
    DataError
        If a variable of the schema, or one of `more` columns, stands there twice, or has a point where
        the decimal mark is a comma.
    """
    if not isinstance(given, CsvFile):
        return frame
    refuse_twice((*schema, *more), given.names)
    frame = frame.copy()
    for name in frame:
        cells = frame[name].where(~frame[name].isin(MISSING_TEXTS), None)
        if name not in schema or not schema[name].all:
            texts = pa.array(cells, pa.string()).cast(pa.binary())
            numbers = pd.Series(parse_grouped(texts, given.thousands or "", given.decimal), frame.index)
            if given.decimal == "," and name in (*schema, *more):
                _refuse_points(name, cells[numbers.isna() & cells.notna()], given.path)
            cells = numbers.astype(object).where(numbers.notna(), cells)
        frame[name] = cells
    return frame


def _refuse_points(name: str, texts: pd.Series, path: Path) -> None:
    """Of texts that are no numbers with a decimal comma, those that a fit would read with a point."""
    points = texts[pd.to_numeric(texts, errors="coerce").notna() & texts.str.contains(".", regex=False)]
    if len(points):
        raise DataError(
            f"{path} has {name} = {shown(points.iloc[0])}, where the decimal mark is ','; if points part "
            "thousands, say --thousands ., and else correct the cell"
        )


def written(path: Path, options: argparse.Namespace) -> pd.DataFrame:
    """All columns of a public table; those of a CSV file are texts as they stand there.

    Raises
    ------
    DataError
        If it cannot be read. It may say anything.
    """
    given = table(path, options)
    try:
        if isinstance(given, CsvFile):
            frame = pd.read_csv(
                path,
                sep=given.sep,
                encoding=given.encoding,
                dtype=str,
                keep_default_na=False,
            )
        else:
            frame = FORMATS[kind_of(path)].frame(path)
    except UnicodeDecodeError:
        raise DataError(
            f"{path} is not written in {options.encoding or 'utf-8'}; if a spreadsheet program "
            "wrote it, --encoding latin-1 or --encoding cp1252 may be right"
        ) from None
    except (ValueError, ImportError) as error:
        raise DataError(f"{path} cannot be read as a table: {error}") from None
    if isinstance(given, CsvFile) and not isinstance(frame.index, pd.RangeIndex):
        raise DataError(
            f"{path} has more fields in its records than names in its first line, as where another sign "
            "separates them: --sep ';'"
        )
    return frame.reset_index(drop=True)


# suffixes of what is written
JSON, CSV, SCHEMAS, MESSAGES = (".json",), (".csv",), (".json", ".toml"), (".jsonl", ".parquet", ".pq")


@contextmanager
def new_file(path: Path | None, suffixes: tuple[str, ...]) -> Iterator[None]:
    """Create `path` before anything is spent or sent, for work that cannot be kept must cost nothing.

    If the work fails, the file is removed.

    Parameters
    ----------
    path : Path or None
        Or ``-``; for this and for None nothing is created.
    suffixes : tuple of str
        Those of what is written, in lower case.

    Raises
    ------
    DataError
        If the file exists, whatever it holds, or its name promises something else.
    OSError
        If it cannot be created.
    """
    if path is None or path == DASH:
        yield
        return
    if path.exists() or path.is_symlink():
        raise _exists(path)
    if path.suffix.lower() not in suffixes:
        raise DataError(f"the name of this output must end in {' or '.join(suffixes)}, not as {path} does")
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        raise _exists(path) from None
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def write(text: str, path: Path | None, suffixes: tuple[str, ...]) -> None:
    """Write a text to a new file, or to the standard output for None and ``-``."""
    if path is None or path == DASH:
        print(text, end="")
        return
    with new_file(path, suffixes):
        path.write_text(text, encoding="utf-8", newline="")


def save(fit: Fit | CurveFit | Description, path: Path | None) -> None:
    """Keep a fit in the file that was created for it, then print its table; for ``-`` print the fit alone.

    It is called when the file is no longer removed if something fails: a reader of the table that leaves, as
    ``head`` does, loses the table and nothing else.

    Raises
    ------
    SpecificationError
        If it cannot be kept or printed. Its table is printed then, on standard error where the standard
        output has failed, for it was paid for.
    """
    try:
        if path is None or path == DASH:
            plain = fit.summary() if path is None else json.dumps(fit.to_dict(), indent=1, allow_nan=False)
            print(plain, flush=True)
        else:
            fit.save(path, overwrite=True)
    except (SpecificationError, OSError) as error:
        if path is None or path == DASH:
            leave_quietly()
            print(fit.summary(), flush=True, file=sys.stderr)
        else:
            path.unlink(missing_ok=True)
            print(fit.summary(), flush=True)
        raise SpecificationError(
            f"{error}. The fit is in no file: keep the table that was printed, for its budget is spent"
        ) from None
    if path is not None and path != DASH:
        print(fit.summary())


def _exists(path: Path) -> DataError:
    return DataError(f"{path} exists; it may hold something that was paid for. Choose another name for --out")

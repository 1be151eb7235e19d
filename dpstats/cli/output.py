"""Files that commands write: always new ones, whose names say what they hold; or the standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpstats.cli.streams import DASH, leave_quietly
from dpstats.errors import DataError, SpecificationError
from dpstats.results import CurveFit, Description, Fit

# suffixes of what is written
JSON, CSV, SCHEMAS, MESSAGES = (".json",), (".csv",), (".json", ".toml"), (".jsonl", ".parquet", ".pq")


@contextmanager
def new_file(path: Path, suffixes: tuple[str, ...]) -> Iterator[None]:
    """Create `path` before anything is spent or sent, for work that cannot be kept must cost nothing.

    If the work fails, the file is removed.

    Parameters
    ----------
    path : Path
        Or ``-``, for which nothing is created.
    suffixes : tuple of str
        Those of what is written, in lower case.

    Raises
    ------
    DataError
        If the file exists, whatever it holds, or its name promises something else.
    OSError
        If it cannot be created.
    """
    if path == DASH:
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


def save(fit: Fit | CurveFit | Description, path: Path) -> None:
    """Keep a fit in the file that was created for it and print its table; for ``-`` the fit alone is printed.

    Raises
    ------
    SpecificationError
        If it cannot be kept. Its table is printed then, for it was paid for.
    """
    table = fit.summary()
    try:
        if path == DASH:
            print(json.dumps(fit.to_dict(), indent=1, allow_nan=False, ensure_ascii=False), flush=True)
        else:
            fit.save(path, overwrite=True)
    except (SpecificationError, OSError) as error:
        if path == DASH:
            leave_quietly()
        print(table, flush=True, file=sys.stderr if path == DASH else sys.stdout)
        raise SpecificationError(
            f"{error}. The fit is in no file: keep the table that was printed, for its budget is spent"
        ) from None
    if path != DASH:
        print(table)


def _exists(path: Path) -> DataError:
    return DataError(f"{path} exists; it may hold something that was paid for. Choose another name for --out")

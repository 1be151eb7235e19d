"""Files that commands write: always new ones, whose names say what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpstats.errors import DataError, SpecificationError
from dpstats.results import Description, Fit

JSON, CSV, MESSAGES = (".json",), (".csv",), (".jsonl", ".parquet", ".pq")  # suffixes of what is written


@contextmanager
def new_file(path: Path, suffixes: tuple[str, ...]) -> Iterator[None]:
    """Create `path` before anything is spent or sent, for work that cannot be kept must cost nothing.

    If the work fails, the file is removed.

    Parameters
    ----------
    path : Path
    suffixes : tuple of str
        Those of what is written, in lower case.

    Raises
    ------
    DataError
        If the file exists, whatever it holds, or its name promises something else.
    OSError
        If it cannot be created.
    """
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


def save(fit: Fit | Description, path: Path) -> None:
    """Keep a fit in the file that was created for it; if that fails, print it, for it was paid for.

    Raises
    ------
    SpecificationError
        As ``fit.save``.
    """
    try:
        fit.save(path, overwrite=True)
    except SpecificationError as error:
        print(fit.summary(), flush=True)
        raise SpecificationError(
            f"{error}. The fit is in no file: keep the table that was printed, for its budget is spent"
        ) from None


def _exists(path: Path) -> DataError:
    return DataError(f"{path} exists; it may hold something that was paid for. Choose another name for --out")

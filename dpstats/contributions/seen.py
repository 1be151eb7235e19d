"""Which ids have come before, exactly, in memory that does not grow with their number.

Ids are kept as sorted runs: small ones in memory, long ones in a temporary file. A new batch is looked up in
each run, a few megabytes of it at a time, and runs of about the same length are merged, so that n ids make at
most log2 n runs and each id is rewritten log2 n times at most. The disk holds 16 bytes for each message,
twice while runs are merged.
"""

import mmap
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

ID = np.dtype("S16")
_IN_MEMORY = 1 << 19  # ids of the longest run that is not kept in a file: 8 MB
_STEP = 1 << 18  # ids merged at a time


class Seen:
    """A set of ids of 16 bytes. Use it as a context: leaving it removes its files.

    Parameters
    ----------
    in_memory, step : int
        Sizes, in ids, above which runs are kept in a file and by which they are merged.
    """

    def __init__(self, in_memory: int = _IN_MEMORY, step: int = _STEP) -> None:
        self._in_memory, self._step = in_memory, step
        self._folder = tempfile.TemporaryDirectory(prefix="dpstats-")
        self._runs: list[np.ndarray] = []
        self._files = 0

    def __enter__(self) -> "Seen":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runs.clear()
        self._folder.cleanup()

    def add(self, ids: np.ndarray) -> np.ndarray:
        """Add ids, shape (B,); says which of them are new, the first of several in one batch."""
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
        new = np.ones(len(ids), dtype=bool)
        new[1:] = ids[1:] != ids[:-1]
        for run in self._runs:
            for start in range(0, len(run), self._step):
                part = run[start : start + self._step]
                first, last = np.searchsorted(ids, part[0]), np.searchsorted(ids, part[-1], side="right")
                asked = ids[first:last]
                at = np.minimum(np.searchsorted(part, asked), len(part) - 1)
                new[first:last] &= part[at] != asked
                _let_go(run)
        self._keep(ids[new])
        found = np.empty(len(ids), dtype=bool)
        found[order] = new
        return found

    def _keep(self, run: np.ndarray) -> None:
        if not len(run):
            return
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = self._merged(self._runs.pop(), run)
        self._runs.append(run)

    def _merged(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        size = len(a) + len(b)
        if size <= self._in_memory:
            out = np.concatenate([a, b])
            out.sort(kind="stable")
            return out
        self._files += 1
        path = Path(self._folder.name) / f"{self._files}.ids"
        out = np.memmap(path, dtype=ID, mode="w+", shape=(size,))
        i = j = 0
        while i < len(a) or j < len(b):
            left, right = a[i : i + self._step], b[j : j + self._step]
            last = min(part[-1] for part in (left, right) if len(part))
            left = left[: np.searchsorted(left, last, side="right")]
            right = right[: np.searchsorted(right, last, side="right")]
            chunk = np.concatenate([left, right])
            chunk.sort(kind="stable")
            out[i + j : i + j + len(chunk)] = chunk
            i, j = i + len(left), j + len(right)
            for run in (a, b, out):
                _let_go(run)
        for old in (a, b):
            if isinstance(old, np.memmap) and old.filename is not None:
                Path(old.filename).unlink(missing_ok=True)
        return out


def _let_go(run: np.ndarray) -> None:
    """Give the pages of a file back: what is on disk need not be in this process's memory too."""
    pages: Any = run.base
    if isinstance(pages, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)

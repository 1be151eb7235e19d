"""Parts of a table that is read again at every pass: descriptions of where records are, which hold none.

A part of a file is a few words (a path, some row groups, a range of bytes), so that it can be sent to another
process, which reads the records itself. A table whose coded columns are small is read once and kept; which of
the two happens follows from numbers of rows and columns, which are public. The bytes of a file would not do:
how many a record takes is a matter of its cells, and what a fit releases may follow from whether rows are
kept.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from dpstats._private import HoldsRows, protected
from dpstats.errors import DataError, SpecificationError
from dpstats.rows import sizes
from dpstats.rows.encode import Batch, Encoder
from dpstats.rows.sources import Asked, Source
from dpstats.schema import WEIGHS

BLOCK_ROWS = 2**14  # (docs/architecture.md#blocks)
_BATCH_CELLS = 2**20  # of a batch of a table that is read at every pass: 8 MiB of numbers

# a fit that finds it before its charge ends without one
SPENT_BY_THEN = "If the ledger has a charge of this fit, it is spent"

T = TypeVar("T")
_END: Any = object()


@dataclass(frozen=True, repr=False)
class TablePart(ABC):
    """Some records of a table, in order, and what is asked of them: all that a process needs to read them."""

    asked: Asked
    broken: str  # what to say if it cannot be read to its end

    ordered = False  # whether its records come in one order whenever it is read
    elsewhere = False  # whether it is never kept here: a cluster keeps it, if it is to be kept
    mapped: ClassVar[Any] = None  # brings a function to the part, where that is how it is summed

    @property
    def portable(self) -> bool:
        """Whether another process can read it; it is pickled without rows then."""
        return False

    @property
    def inputs(self) -> tuple[Any, ...]:
        """What a cluster computes and hands to the task; nothing of a part that is read."""
        return ()

    @abstractmethod
    def count(self) -> int:
        """Its number of records; no cell is read."""

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Its records, read when they are asked for."""

    def hold(self) -> None:  # noqa: B027 - of most nothing is known
        """Raise DataError if they are others by now, or may be at the next pass, as far as can be known."""

    def given(self, frame: Any) -> "TablePart":
        """The same with what was computed, on the worker."""
        part: Any = self
        return replace(part, frame=frame)

    @cached_property
    def rows(self) -> int:
        """Its number of rows, which is asked for once."""
        return _told(self, self.count)

    def blocks(self, size: int) -> Iterator[dict[str, np.ndarray]]:
        """As those of :class:`dpstats.rows.Rows`: at most ``size`` rows, fewer in the last block alone.

        Raises
        ------
        DataError
            If the part cannot be read to its end; never because of a value.
        """
        kept = (*self.asked.levels, WEIGHS)
        for block in cut(self.coded(), size):
            yield as_block(block, kept)

    def coded(self) -> Iterator[dict[str, np.ndarray]]:
        """Its rows in the terms of the encoder, as they come, and if it is known which weigh, that."""
        # to ask for them may be to run a query, whose exceptions may quote a cell
        found = _told(self, lambda: iter(self._coded()))
        whole: Iterator[dict[str, np.ndarray]] = iter(lambda: _told(self, lambda: next(found, None)), None)
        return ahead(whole) if self.portable else whole  # a connection may be of one thread

    def _coded(self) -> Iterator[dict[str, np.ndarray]]:
        """The same, as what it is read from raises."""
        encoder = Encoder(self.asked.schema, self.asked.names)
        return (encoder(batch) for batch in self.batches())


@dataclass(frozen=True)
class Stamp:
    """A file as it was when the table was opened: it must not change between passes.

    Its path is absolute: workers are in other folders, and a program may change its own.
    """

    path: Path
    size: int
    changed: int

    @staticmethod
    def of(path: Path) -> "Stamp":
        status = os.stat(path)
        return Stamp(path.absolute(), status.st_size, status.st_mtime_ns)

    def check(self) -> None:
        """Raise DataError if the file is another one by now, as its size or time of change tells."""
        try:
            same = Stamp.of(self.path) == self
        except OSError:
            same = False
        if not same:
            raise DataError(
                f"{self.path} has changed since the model was made, whose fits are all of one state of it. "
                f"Make the model again once nobody writes to the file. {SPENT_BY_THEN}"
            )


@dataclass(frozen=True, repr=False)
class FilePart(TablePart):
    """Some records of a file, which any process can read, and which must not change between passes."""

    stamp: Stamp
    portable = True
    ordered = True

    def hold(self) -> None:
        self.stamp.check()

    def batches(self) -> Iterator[Batch]:
        self.stamp.check()
        yield from self._read()
        self.stamp.check()

    @abstractmethod
    def _read(self) -> Iterator[Batch]:
        """The records of the file as it is."""


def batch_rows(asked: Asked) -> int:
    """The rows of a batch of a table that is read at every pass, a whole number of blocks."""
    return max(_BATCH_CELLS // len(asked.columns) // BLOCK_ROWS, 1) * BLOCK_ROWS


def of_parts(parts: Sequence[TablePart], broken: str) -> Source:
    """The source of a table in parts."""
    return Source(
        lambda: (batch for part in parts for batch in part.batches()),
        broken,
        parts=tuple(parts),
        files=tuple(part for part in parts if isinstance(part, FilePart)),
    )


def are_kept(pieces: Sequence[TablePart]) -> bool:
    """Whether a table in these parts is read once and kept, or has no parts."""
    return not any(piece.elsewhere for piece in pieces) and sum(map(_size, pieces)) <= sizes.SIZES.kept


def _size(piece: TablePart) -> int:
    """Bytes of its coded columns, by numbers of rows and columns alone."""
    return 8 * len(piece.asked.columns) * piece.rows


def streamed(source: Source) -> tuple[TablePart, ...]:
    """The parts of a table that is read again at every pass; none of a table that is read once and kept."""
    parts: tuple[TablePart, ...] = source.parts
    if are_kept(parts):
        return ()
    for part in parts:
        part.hold()
    return parts


@dataclass(frozen=True, repr=False)
class Query(HoldsRows, TablePart):
    """The records of a query, which says nothing of when what it reads was changed."""

    counted: Callable[[], int]
    run: Callable[[int], Iterator[Batch]]  # computes them, about so many at a time

    def count(self) -> int:
        return self.counted()

    def batches(self) -> Iterator[Batch]:
        yield from self.run(batch_rows(self.asked))


def ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items, of which the next is made by a thread while the last is used."""
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, items, _END)
        while (item := coming.result()) is not _END:
            coming = thread.submit(next, items, _END)
            yield item


def _told(part: TablePart, compute: Callable[[], T]) -> T:
    return protected(compute, DataError(part.broken), (SpecificationError,))


def as_block(columns: Mapping[str, np.ndarray], kept: Collection[str]) -> dict[str, np.ndarray]:
    """Coded columns as a block has them: float64, but for the codes of levels and for truths."""
    with np.errstate(all="ignore"):
        return {
            name: values if name in kept else values.astype(np.float64, copy=False)
            for name, values in columns.items()
        }


def as_codes(columns: Mapping[str, np.ndarray], asked: Asked) -> dict[str, np.ndarray]:
    """Columns of numbers as the encoder has them: levels by their codes."""
    return {
        name: values.astype(np.int16) if name in asked.levels else values for name, values in columns.items()
    }


def cut(batches: Iterable[dict[str, np.ndarray]], size: int) -> Iterator[dict[str, np.ndarray]]:
    """Columns that come in pieces of any length, in pieces of `size` rows, and the rest."""
    rest: dict[str, np.ndarray] = {}
    for batch in batches:
        length = _length(batch)
        start = min(size - _length(rest), length) if rest else 0
        if rest:
            rest = {name: np.concatenate([rest[name], values[:start]]) for name, values in batch.items()}
            if _length(rest) < size:
                continue
            yield rest
        for first in range(start, length - size + 1, size):
            yield {name: values[first : first + size] for name, values in batch.items()}
            start = first + size
        rest = {name: values[start:] for name, values in batch.items()} if start < length else {}
    if rest:
        yield rest


def _length(columns: Mapping[str, np.ndarray]) -> int:
    return len(next(iter(columns.values()), ()))

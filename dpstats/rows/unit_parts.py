"""Tables larger than memory in which a unit of privacy may have several rows: which of all rows weigh.

A row's unit and the hash of its cells decide (:mod:`dpstats.rows.weighing`), and nothing else of it. So one
pass over the table writes these words of each row to a spool, parted by a hash of the id, and the rows of
some units are looked at at a time. Of each row of the table one bit is left. Files are then read again at
every pass, beside the bits of their rows, by any process. Whether a query has its rows in the same order
again is not known: it is run once, and its coded rows are spooled.

A spool holds numbers that may not fit into memory, in a temporary file that has no name.

An engine brings coded rows together by their units instead, so that nothing but numbers moves.
"""

import os
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from threading import Lock

import numpy as np

from dpstats._private import HoldsRows, protected
from dpstats.errors import DataError
from dpstats.rows import sizes
from dpstats.rows.encode import Batch, Encoder, alike, as_one
from dpstats.rows.parts import TablePart, are_kept, as_block, as_codes
from dpstats.rows.sources import Asked, Source
from dpstats.rows.weighing import chosen, row_hashes, spread
from dpstats.schema import WEIGHS, Schema

Place = tuple[int, tuple[int, ...]]  # where an array begins, and its shape


class Spool(HoldsRows):
    """Arrays of numbers of 8 bytes, which are put one after the other and read in any order.

    Few are held in memory. More go to a file in the folder for temporary files, which has no name from the
    beginning, or loses it at once where a system cannot do that. So no other user opens it, and the system
    frees it however the process ends, by a signal that nobody can catch, too. What a disk still holds of a
    file that is gone, an encrypted one hides. Threads read it in turn, since it has one position.
    """

    def __init__(self, dtype: type) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=sizes.SIZES.spooled)  # noqa: SIM115 - closed with the spool
        weakref.finalize(self, self._file.close)
        self._dtype, self._lock = np.dtype(dtype), Lock()

    def put(self, array: np.ndarray) -> Place:
        """Add an array of the type."""
        with self._lock:
            start = self._at_disk(lambda: self._file.seek(0, os.SEEK_END))
            self._at_disk(lambda: self._file.write(np.ascontiguousarray(array, dtype=self._dtype).data))
        return start, array.shape

    def get(self, place: Place) -> np.ndarray:
        """The array that is there."""
        start, shape = place
        out = np.empty(shape, dtype=self._dtype)
        with self._lock:
            self._at_disk(lambda: self._file.seek(start))
            count = self._file.readinto(out.reshape(-1).view(np.uint8).data)
        if count != out.nbytes:
            raise OSError
        return out

    def _at_disk(self, do: Callable[[], int]) -> int:
        """What writes, if only what was held back.

        Raises
        ------
        DataError
            If there is no room.
        """
        failure = DataError(
            f"the folder for temporary files, {tempfile.gettempdir()}, has no room for the rows of units, "
            "which take 8 bytes for each number that the formula reads, and 40 bytes more, in each row; name "
            "a folder with room in the environment variable TMPDIR"
        )
        return protected(do, failure)


_NO_WORDS = np.empty((0, 5), np.uint64)  # of an id, of the hash of cells, and the place in the table


def of_units(source: Source) -> tuple[TablePart, ...]:
    """The parts of a table that is not kept, with the rows that weigh; none of a table that is kept."""
    found: tuple[TablePart, ...] = source.by_unit() if source.by_unit else ()
    return found or (() if are_kept(source.parts) else _weighed(source.parts))


def _weighed(pieces: Sequence[TablePart]) -> tuple[TablePart, ...]:
    asked = pieces[0].asked
    unit, encoder = asked.schema.privacy_unit, Encoder(asked.schema, asked.names)
    choice = UnitChoice(1 + sum(piece.rows for piece in pieces) // sizes.SIZES.share_rows)
    copy = None if all(piece.ordered for piece in pieces) else Copy(asked)
    ends, kinds = [0], set[str]()
    for piece in pieces:
        for batch in alike(piece.batches(), unit.column, kinds):
            columns = encoder(batch)
            choice.add(columns.pop(WEIGHS), columns)
            if copy:
                copy.add(columns)
        ends.append(choice.rows)
    bits, broken = choice.made(unit.max_rows), pieces[0].broken
    if copy:
        return (MarkedRows(asked, broken, copy, bits.tobytes(), choice.rows),)  # in one order now
    nameless = Asked(Schema(asked.schema), asked.names)  # the ids have done their work
    return tuple(
        MarkedRows(
            asked,
            piece.broken,
            replace(piece, asked=nameless),
            _cut_out(bits, start, stop),
            stop - start,
        )
        for piece, (start, stop) in zip(pieces, pairwise(ends), strict=True)
    )


def _cut_out(bits: np.ndarray, start: int, stop: int) -> bytes:
    """Some of the packed bits."""
    found = np.unpackbits(bits[start // 8 : -(-stop // 8)])
    return np.packbits(found[start % 8 :][: stop - start]).tobytes()


class UnitChoice(HoldsRows):
    """Which rows weigh of those that are added, whose words are spooled in shares, each of whole units."""

    def __init__(self, shares: int) -> None:
        self.rows = 0
        self._spool, self._places = Spool(np.uint64), [list[Place]() for _ in range(shares)]

    def add(self, ids: np.ndarray, columns: dict[str, np.ndarray]) -> None:
        """Rows that come next: their ids, and their coded cells."""
        places = np.arange(self.rows, self.rows + len(ids), dtype=np.uint64)
        self.rows += len(ids)
        somebody = ids.any(axis=1)
        words = np.column_stack([ids, row_hashes(columns), places])[somebody]
        share = spread(words[:, :2]) % np.uint64(len(self._places))
        order = np.argsort(share, kind="stable")
        cuts = np.searchsorted(share[order], np.arange(1, len(self._places), dtype=np.uint64))
        for held, part in zip(self._places, np.split(words[order], cuts), strict=True):
            if len(part):
                held.append(self._spool.put(part))

    def made(self, max_rows: int) -> np.ndarray:
        """One bit of each row, packed; what was added is gone."""
        bits = np.zeros(-(-self.rows // 8), dtype=np.uint8)
        for held in self._places:
            places = _weighing(np.concatenate([_NO_WORDS, *map(self._spool.get, held)]), max_rows)
            held.clear()
            np.bitwise_or.at(bits, places >> 3, (128 >> (places & 7)).astype(np.uint8))
        return bits


def _weighing(words: np.ndarray, max_rows: int) -> np.ndarray:
    """The places of the rows that weigh, of rows of whole units in their order."""
    weighs = chosen(words[:, :2], lambda rows: words[rows, 2:4], max_rows)
    return words[weighs, 4].astype(np.int64)


class Copy(HoldsRows):
    """Coded rows in a spool, in the order in which they were added."""

    portable = False

    def __init__(self, asked: Asked) -> None:
        self._asked, self._spool, self._places = asked, Spool(np.float64), list[Place]()

    def add(self, columns: dict[str, np.ndarray]) -> None:
        """Rows that come next."""
        block = as_block(columns, self._asked.levels)
        self._places.append(self._spool.put(np.stack([block[name] for name in self._asked.names])))

    def coded(self) -> Iterator[dict[str, np.ndarray]]:
        """All rows."""
        for place in self._places:
            yield as_codes(dict(zip(self._asked.names, self._spool.get(place), strict=True)), self._asked)


@dataclass(frozen=True, repr=False)
class MarkedRows(TablePart):
    """Rows that come in one order, and a packed bit of each, whether it weighs; each looks after its file."""

    held: TablePart | Copy
    bits: bytes
    n: int

    @property
    def portable(self) -> bool:
        return self.held.portable

    def count(self) -> int:
        return self.n

    def batches(self) -> Iterator[Batch]:
        raise NotImplementedError  # they are coded

    def _coded(self) -> Iterator[dict[str, np.ndarray]]:
        """The rows, and which of them weigh; DataError unless there are as many as bits."""
        weighs = np.unpackbits(np.frombuffer(self.bits, np.uint8), count=self.n).astype(bool)
        start = 0
        for columns in self.held.coded():
            stop = start + len(next(iter(columns.values())))
            if stop > self.n:
                break
            yield columns | {WEIGHS: weighs[start:stop]}
            start = stop
        if start != self.n:
            raise DataError(self.broken)


WORDS = ("first word", "second word")
WEIGHING = "weighs"


def numbered(asked: Asked) -> list[str]:
    """The names of the columns of variables."""
    return [str(place) for place, _ in enumerate(asked.names)]


def _named(asked: Asked) -> Iterator[tuple[str, str]]:
    return zip(numbered(asked), asked.names, strict=True)


def coded_rows(batch: Batch, asked: Asked) -> dict[str, np.ndarray]:
    """Rows as they are moved: ids that mean one unit are equal, in whatever part they are."""
    columns = Encoder(asked.schema, asked.names)(batch)
    words = as_one(columns.pop(WEIGHS)).T.view(np.int64)
    block = as_block(columns, asked.levels)
    found = {place: block[name] for place, name in _named(asked)}
    return found | dict(zip(WORDS, words, strict=True))


def ids_of(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """The ids of units that are moved, shape (n, 2)."""
    return np.stack([columns[word] for word in WORDS], axis=1).view(np.uint64)


def marked_rows(columns: Mapping[str, np.ndarray], asked: Asked) -> dict[str, np.ndarray]:
    """All rows of some units, and which of them weigh, in an order that does not depend on who was faster."""
    ids, hashes = ids_of(columns), row_hashes({name: columns[place] for place, name in _named(asked)})
    weighs = chosen(ids, lambda rows: hashes[rows], asked.schema.privacy_unit.max_rows)
    order = np.lexsort(np.hstack([ids, hashes]).T)
    return {place: columns[place][order] for place in numbered(asked)} | {WEIGHING: weighs[order]}


def columns_of(marked: Mapping[str, np.ndarray], asked: Asked) -> dict[str, np.ndarray]:
    """MarkedRows rows as a part has them, under the names of variables, and `WEIGHS`."""
    found = {name: marked[place] for place, name in _named(asked)}
    return as_codes(found, asked) | {WEIGHS: np.asarray(marked[WEIGHING], dtype=bool)}

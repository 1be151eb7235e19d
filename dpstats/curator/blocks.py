"""What the curator needs of rows and designs, some of the rows, blocks that stay, and arrays to work in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from dpstats._private import HoldsRows
from dpstats.formula import Design
from dpstats.formula.block import Block
from dpstats.formula.variables import VariableColumns
from dpstats.rows.parts import BLOCK_ROWS, TablePart, cut
from dpstats.rows.rows import Rows
from dpstats.schema import Unit

if TYPE_CHECKING:
    from dpstats.curator.curator import Folded

T = TypeVar("T")
_KEPT_BYTES = 2**27
_PIECE_BYTES = 2**24  # more than large pages need, and no more than allocators keep for the next fit
_CACHE_LINE = 64  # bytes

# The largest block that was mapped and freed, up to 32 MiB, tells glibc what to map by itself, and twice of
# it how much free memory to keep: of less, a system clears all pages anew for each fit. This uses no page.
np.empty(2**25 - 2**13, dtype=np.uint8)

PublicDesign: TypeAlias = "Design | VariableColumns | Folded"
"""What blocks are read through. A statistic may know the public facts that all of these have in common."""
_SIDES = 2**8  # of the coin of a row, a byte


class Sample(HoldsRows):
    """The rows that are drawn by a coin for each, once; see :meth:`dpstats.curator.Curator.sampled`.

    Parameters
    ----------
    rows : RowSource
        Kept in memory, so that each pass has them in the same order.
    share : float
        The chance of a row, of which the next multiple of 1 / 256 is taken.
    coins : callable
        So many random bytes. It is told how many rows there are, and nothing else of them.

    Attributes
    ----------
    n : int
        Number of rows that were drawn. It follows from coins alone.
    """

    def __init__(self, rows: RowSource, share: float, coins: Callable[[int], bytes]) -> None:
        self._rows = rows
        self._drawn = np.frombuffer(coins(rows.n), dtype=np.uint8) < math.ceil(_SIDES * share)
        self.n: int = int(np.count_nonzero(self._drawn))

    @property
    def unit(self) -> Unit:
        """That of all rows."""
        return self._rows.unit

    def parts(self) -> Sequence[TablePart]:
        """None: they are kept."""
        return ()

    def hold(self) -> None:
        """Nothing changes what was drawn."""

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[dict[str, np.ndarray]]:
        """The rows that were drawn, at most ``size`` at a time."""
        starts = range(0, self._rows.n, size)
        places = (np.flatnonzero(self._drawn[start : start + size]) for start in starts)
        blocks = zip(self._rows.blocks(size), places, strict=True)
        return cut(({name: values[at] for name, values in block.items()} for block, at in blocks), size)


RowSource: TypeAlias = Rows | Sample
"""Rows that can be read more than once; `parts` describes all of them, or nothing if they are here."""


class Blocks(HoldsRows):
    """All rows through a design, a block at a time, for as many passes as one likes.

    A fit passes over its rows two dozen times, and reading is a quarter of its work. A design of up to
    128 MiB is therefore read once. Whether it is kept depends on its size alone, which is public, and a pass
    yields the same numbers either way: statistics read blocks and write to their `Scratch`. Where there is
    room for it, rows about a public centre and on a public grid are kept beside it (`Scratch.kept`), as steps
    of a fit ask for them again and again. What is kept lives and dies with the curator, as the rows do.

    Attributes
    ----------
    standing : dict or None
        For what statistics make of blocks that stay; None without room for two like exog and a column more.
    """

    def __init__(self, rows: RowSource, design: PublicDesign, size: int) -> None:
        self._rows, self._design, self._size = rows, design, size
        width = len(design.names) + 5 + design.delayed + 2 * design.intervals  # with the response
        width += design.strata > 1
        self._keep = rows.n * 8 * width <= _KEPT_BYTES
        # Half of it: with all of it a fit of 100,000 rows and 30 columns took 79 MB beyond its frame, where
        # benchmarks/speed.py allows 70. It takes 39 now, and up to an eighth more time.
        room = rows.n * 8 * (width + 2 * len(design.names) + 1) <= _KEPT_BYTES // 2
        self._piece = min(rows.n * 8 * width, _PIECE_BYTES)
        self.standing = Standing(self._piece) if room else None
        self._kept: list[Block] | None = None

    def __iter__(self) -> Iterator[Block]:
        if self._kept is not None:
            yield from self._kept
            return
        if not self._keep:
            yield from passed(self._design, self._rows.blocks(self._size))
            return
        if self.standing is not None:
            self.standing.clear()  # of a pass that was interrupted, and of blocks that are no more
        kept, room = [], Room(self._piece)
        for columns in self._rows.blocks(self._size):
            kept.append(self._design.read(columns, Scratch(room=room)))
            yield kept[-1]
        self._kept = kept  # a whole pass, or nothing


def passed(design: PublicDesign, blocks: Iterable[dict[str, np.ndarray]]) -> Iterator[Block]:
    """Blocks through a design, in memory that is used again: each holds until the next is asked for.

    Where memory is handed back at once, as glibc does for the workers of Dask, whose environment asks for it,
    fresh memory takes twice the time of all else in a pass.
    """
    memory = Scratch()
    for columns in blocks:
        yield design.read(columns, memory)


class Passing:
    """What statistics that are summed in one pass make of the block that all of them read.

    It holds until the next block is asked about, in memory that is used again.
    """

    def __init__(self) -> None:
        self._made: dict[str, tuple[Block, object, Any]] = {}
        self._memory: dict[str, Scratch] = {}

    def __call__(self, name: str, block: Block, key: object, make: Callable[[Scratch], T]) -> T:
        """What `make` makes of a block for a key, once while it is read; nobody may change it."""
        made = self._made.get(name)
        if made is None or made[0] is not block or made[1] != key:
            memory = self._memory.setdefault(name, Scratch())
            made = self._made[name] = block, key, make(memory)
        found: T = made[2]
        return found


class Room:
    """Memory that stays, cut from large pieces.

    A system clears memory page by page, each when it is first written to. A large piece has large pages where
    the system knows such. With a piece for each block that took a fifth of a fit of 100,000 rows.

    Parameters
    ----------
    piece : int
        Bytes that are taken from the system at once, at least.
    """

    def __init__(self, piece: int) -> None:
        self._piece, self._left = piece, np.empty(0, dtype=np.uint8)

    def __call__(self, size: int) -> np.ndarray:
        """So many bytes that begin at a cache line."""
        whole = size + -size % _CACHE_LINE
        if whole > self._left.nbytes:
            memory = np.empty(max(whole, self._piece) + _CACHE_LINE, dtype=np.uint8)
            self._left = memory[-memory.__array_interface__["data"][0] % _CACHE_LINE :]
        taken, self._left = self._left[:size], self._left[whole:]
        return taken


class Standing:
    """What statistics make of blocks that stay, by a name and a block.

    Parameters
    ----------
    piece : int
        Bytes of the pieces of its memory, see `Room`.
    """

    def __init__(self, piece: int) -> None:
        self._piece = piece
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        self._room = Room(self._piece)
        self._made: dict[tuple[str, int], tuple[object, Any, Scratch]] = {}

    def __call__(self, name: str, block: Block, key: object, make: Callable[[Scratch], T]) -> T:
        """What `make` makes of a block for a key, in the memory of what it made for another; read-only."""
        place = name, id(block)
        made = self._made.get(place)
        if made is None or made[0] != key:
            # what is written over is forgotten first, should the writing be interrupted
            memory = self._made.pop(place)[2] if made else Scratch(room=self._room)
            made = self._made[place] = key, memory.sealed(make), memory
        found: T = made[1]
        return found


class Scratch:
    """Arrays that are allocated once and reused for every block: full ones, and the last in the same memory.

    Fresh arrays of a megabyte cost a page fault for every 4 kB, more than the arithmetic on them. These begin
    at a cache line, which makes arithmetic on them up to twice as fast.

    Parameters
    ----------
    standing : Standing, optional
        That of the blocks that are read, if they stay.
    room : Room, optional
        Where memory is taken from; from the system by default.

    Attributes
    ----------
    passing : Passing
        Of the statistics of a pass, which share it.
    """

    def __init__(self, standing: Standing | None = None, room: Room | None = None) -> None:
        self._standing, self._room, self.passing = standing, room or Room(0), Passing()
        self._arrays: dict[tuple[object, ...], np.ndarray] = {}
        self._memory: dict[tuple[object, ...], np.ndarray] = {}

    def __call__(self, name: str, *shape: int, dtype: type = float) -> np.ndarray:
        """An array of this shape with arbitrary contents, the same one for the same name and shape.

        Arrays of a name that differ in their last length, that of a block, share memory.
        """
        array = self._arrays.get((name, shape))
        if array is None:
            kind, size = (name, *shape[:-1]), math.prod(shape) * np.dtype(dtype).itemsize
            if kind not in self._memory or self._memory[kind].nbytes < size:
                self._memory[kind] = self._room(size)
            array = self._arrays[name, shape] = self._memory[kind][:size].view(dtype).reshape(shape)
        return array

    def sealed(self, make: Callable[[Scratch], T]) -> T:
        """What `make` writes to this memory, and nobody after it."""
        for array in self._arrays.values():
            array.flags.writeable = True
        made = make(self)
        for part in made if isinstance(made, tuple) else [made]:
            if isinstance(part, np.ndarray):
                part.flags.writeable = False
        return made

    def kept(self, name: str, block: Block, key: object, make: Callable[[Scratch], T]) -> T:
        """What `make` writes to memory, which nobody may change: made once for a block that stays and a key.

        The key holds all public numbers that it depends on, beside the block. What was made of the block for
        another key is forgotten. Of a block that does not stay it is made once for all statistics of a pass.
        """
        if self._standing is None:
            return self.passing(name, block, key, make)
        return self._standing(name, block, key, make)

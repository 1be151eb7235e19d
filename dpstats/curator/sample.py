"""Some of the rows, drawn at random: for releases that do not need all of them."""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dpstats._private import HoldsRows
from dpstats.curator.blocks import RowSource
from dpstats.curator.lattice import MAX_ROWS
from dpstats.rows.parts import TablePart, cut
from dpstats.schema import Unit

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
        self.n = int(np.count_nonzero(self._drawn))

    @property
    def unit(self) -> Unit:
        """That of all rows."""
        return self._rows.unit

    def parts(self) -> Sequence[TablePart]:
        """None: they are kept."""
        return ()

    def hold(self) -> None:
        """Nothing changes what was drawn."""

    def blocks(self, size: int = MAX_ROWS) -> Iterator[dict[str, np.ndarray]]:
        """The rows that were drawn, at most ``size`` at a time."""
        starts = range(0, self._rows.n, size)
        places = (np.flatnonzero(self._drawn[start : start + size]) for start in starts)
        blocks = zip(self._rows.blocks(size), places, strict=True)
        return cut(({name: values[at] for name, values in block.items()} for block, at in blocks), size)

"""A bar of the rows of a pass, which are public in number."""

from collections.abc import Iterable, Iterator

from dpstats.curator.blocks import Block
from dpstats.running import bar

_LEAST = 2**17  # rows: a pass over fewer takes hardly so long as a bar waits


class Bar:
    """Shows how many rows of a pass are summed, by tqdm, if it is there and the options want it.

    Whether there is a bar, and what it counts by, follows from n alone: how many rows a part of a file has,
    and whether a file has parts, follows from how long its records are.

    Parameters
    ----------
    n : int
        Rows of a pass.
    step : int
        Rows that are told of at a time.
    number : int
        Of the pass.
    shown : bool
        Whether there is a bar at all.
    """

    def __init__(self, n: int, step: int, number: int, shown: bool) -> None:
        many = shown and n >= _LEAST
        self._bar = bar(total=n, desc=f"pass {number}", unit=" rows", unit_scale=True) if many else None
        self._n, self._step, self._summed, self._told = n, step, 0, 0

    def __call__(self, rows: int) -> None:
        """So many more are summed."""
        self._summed += rows
        while self._bar is not None and self._told < self._n and self._summed >= self._next():
            told, self._told = self._told, self._next()
            self._bar.update(self._told - told)

    def _next(self) -> int:
        return min(self._told + self._step, self._n)

    def over(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Blocks, of which each is summed when the next is asked for."""
        for block in blocks:
            yield block
            self(len(block.ok))

    def close(self) -> None:
        """The pass is over."""
        if self._bar is not None:
            self._bar.close()

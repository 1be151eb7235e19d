"""A bar of the rows of a pass, which are public in number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dpstats.curator.blocks import Block
from dpstats.running import current

_DELAY = 2.0  # seconds: a shorter pass shows nothing


class Bar:
    """Shows how many rows of a pass are summed, by tqdm, if it is there and the options want it.

    Parameters
    ----------
    n : int
        Rows of a pass.
    number : int
        Of the pass.
    shown : bool
        Whether there is a bar at all.
    """

    def __init__(self, n: int, number: int, shown: bool) -> None:
        self._bar = _tqdm(n, number) if shown else None

    def __call__(self, rows: int) -> None:
        """So many more are summed."""
        if self._bar is not None:
            self._bar.update(rows)

    def over(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Blocks, of which each is summed when the next is asked for."""
        for block in blocks:
            yield block
            self(len(block.ok))

    def close(self) -> None:
        """The pass is over."""
        if self._bar is not None:
            self._bar.close()


def _tqdm(n: int, number: int) -> Any:
    wanted = current().progress
    if wanted is False:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    hidden = None if wanted is None else not wanted  # None: unless on a terminal
    return tqdm(
        total=n,
        desc=f"pass {number}",
        unit=" rows",
        unit_scale=True,
        disable=hidden,
        delay=_DELAY,
        leave=False,
    )

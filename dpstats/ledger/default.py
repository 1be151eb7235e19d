"""Which ledger fits charge that are given none: one for the process, or what stands in a ``with``.

``with ledger:`` counts in the thread or task that entered it. One that entered none charges the ledger that
any other entered last, or else that of ``use_ledger``, rather than none: what nobody counts cannot be undone.
A process that is forked is inside the blocks of the thread or task that forked it, and of no other, since
nobody can leave those there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpstats.errors import LedgerError

if TYPE_CHECKING:
    from dpstats.ledger.ledger import Ledger


@dataclass(frozen=True, eq=False)
class _Block:
    """One ``with`` that was entered: itself and no other, also where others are of the same ledger."""

    ledger: Ledger


class Default:
    """The ledgers that were entered and not left yet, and the one that is used where none is."""

    def __init__(self) -> None:
        self._own: ContextVar[tuple[_Block, ...]] = ContextVar("blocks entered here", default=())
        self._made_up = ContextVar("rows are made up here", default=False)
        # of all threads, the innermost last, as in each thread; a block is added, claimed and listed in one
        # step of Python, to which no thread comes in between
        self._entered: dict[_Block, bool] = {}
        self._used: list[Ledger] = []  # at most one

    @property
    def _inside(self) -> Sequence[Ledger]:
        return [block.ledger for block in self._own.get() or list(self._entered)]

    def current(self) -> Ledger | None:
        """The ledger of the innermost ``with``, else that of ``use_ledger``, else None."""
        known = self._inside or self._used
        return known[-1] if known and not self._made_up.get() else None

    def require_none_entered(self) -> None:
        """Raise LedgerError inside a ``with``, whose ledger is charged whatever is used."""
        if inside := self._inside:
            raise LedgerError(
                f"fits charge {inside[-1].dataset!r}, whose 'with' has not ended; call use_ledger after it"
            )

    def use(self, ledger: Ledger | None) -> None:
        """Have fits charge this ledger where no other was entered."""
        self._used = [] if ledger is None else [ledger]

    def enter(self, ledger: Ledger) -> None:
        """Have fits charge this ledger until it is left."""
        block = _Block(ledger)
        self._entered[block] = True
        self._own.set((*self._own.get(), block))

    def leave(self, ledger: Ledger) -> None:
        """Undo the last `enter` of this ledger here, or else the last anywhere."""
        own = self._own.get()
        mine = [block for block in own if block.ledger is ledger][-1:]
        last = mine or [block for block in reversed(list(self._entered)) if block.ledger is ledger]
        any(self._entered.pop(block, False) for block in last)  # of two who leave at once, each claims one
        self._own.set(tuple(block for block in own if block not in mine))

    def forked(self) -> None:
        """Be inside no block of another thread, which nobody leaves in this process.

        Where no ledger is used, that of the last such block is from here on, rather than none.
        """
        own = self._own.get()
        others = [block.ledger for block in self._entered if block not in own]
        self._used = self._used or others[-1:]
        self._entered = {block: True for block in self._entered if block in own}

    @contextmanager
    def uncharged(self) -> Iterator[None]:
        """Have no ledger as the default here, for fits of made-up rows."""
        token = self._made_up.set(True)
        try:
            yield
        finally:
            self._made_up.reset(token)


DEFAULT = Default()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=DEFAULT.forked)

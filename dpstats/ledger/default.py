"""Which ledger fits charge that are given none: one for the process, or what stands in a ``with``.

``with ledger:`` counts in the thread or task that entered it. One that entered none charges the ledger that
any other entered last, or else that of ``use_ledger``, rather than none: what nobody counts cannot be undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from dpstats.errors import LedgerError

if TYPE_CHECKING:
    from dpstats.ledger.ledger import Ledger


class Default:
    """The ledgers that were entered and not left yet, and the one that is used where none is."""

    def __init__(self) -> None:
        self._own: ContextVar[tuple[Ledger, ...]] = ContextVar("ledgers entered here", default=())
        self._made_up = ContextVar("rows are made up here", default=False)
        self._entered: list[Ledger] = []  # by ``with`` anywhere, the innermost last, as in each thread
        self._used: list[Ledger] = []  # at most one

    @property
    def _inside(self) -> Sequence[Ledger]:
        return self._own.get() or self._entered

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
        self._entered.append(ledger)
        self._own.set((*self._own.get(), ledger))

    def leave(self, ledger: Ledger) -> None:
        """Undo the last `enter` of this ledger."""
        for stack in (self._entered, own := list(self._own.get())):
            last = next((i for i in reversed(range(len(stack))) if stack[i] is ledger), None)
            if last is not None:
                del stack[last]
        self._own.set(tuple(own))

    @contextmanager
    def uncharged(self) -> Iterator[None]:
        """Have no ledger as the default here, for fits of made-up rows."""
        token = self._made_up.set(True)
        try:
            yield
        finally:
            self._made_up.reset(token)


DEFAULT = Default()

"""The ledger that a fit charges where it is given none.

``with ledger:`` counts in the thread or task that entered it. One that entered none charges the ledger that
any other entered last, or else that of ``use_ledger``, rather than none: what nobody counts cannot be undone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from dpstats.errors import LedgerError

if TYPE_CHECKING:
    from dpstats.ledger.ledger import Ledger

_own: ContextVar[tuple[Ledger, ...]] = ContextVar("ledgers entered here", default=())  # the innermost last
_made_up: ContextVar[bool] = ContextVar("rows are made up here", default=False)
_entered: list[Ledger] = []  # by ``with`` anywhere
_used: list[Ledger] = []  # at most one


def current() -> Ledger | None:
    """The ledger of the innermost ``with``, else that of ``use_ledger``, else None."""
    known = _own.get() or _entered or _used
    if _made_up.get():
        return None
    return known[-1] if known else None


def require_none_entered() -> None:
    """Raise LedgerError inside a ``with``, whose ledger is charged whatever is used."""
    if known := _own.get() or _entered:
        raise LedgerError(
            f"fits charge {known[-1].dataset!r}, whose 'with' has not ended; call use_ledger after it"
        )


def use(ledger: Ledger | None) -> None:
    """Have fits charge this ledger from now on, or none."""
    _used[:] = [] if ledger is None else [ledger]


def enter(ledger: Ledger) -> None:
    """Have fits charge this ledger until it is left."""
    _entered.append(ledger)
    _own.set((*_own.get(), ledger))


@contextmanager
def uncharged() -> Iterator[None]:
    """Have no ledger as the default here, for fits of made-up rows."""
    token = _made_up.set(True)
    try:
        yield
    finally:
        _made_up.reset(token)


def leave(ledger: Ledger) -> None:
    """Undo the last `enter` of this ledger."""
    for stack in (_entered, own := list(_own.get())):
        last = next((i for i in reversed(range(len(stack))) if stack[i] is ledger), None)
        if last is not None:
            del stack[last]
    _own.set(tuple(own))

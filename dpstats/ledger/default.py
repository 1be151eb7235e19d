"""The ledger that a fit charges where it is given none: of one process, and of all its threads.

It is no context variable: a thread that a program starts, or the next cell of a notebook, would begin without
one, and spend what nothing counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpstats.ledger.ledger import Ledger

_entered: list[Ledger] = []  # by ``with``, the innermost last
_used: list[Ledger] = []  # at most one


def current() -> Ledger | None:
    """The ledger of the innermost ``with``, else that of ``use_ledger``, else None."""
    known = _entered or _used
    return known[-1] if known else None


def use(ledger: Ledger | None) -> None:
    """Have fits charge this ledger from now on, or none."""
    _used[:] = [] if ledger is None else [ledger]


def enter(ledger: Ledger) -> None:
    """Have fits charge this ledger until it is left."""
    _entered.append(ledger)


def leave(ledger: Ledger) -> None:
    """Undo the last `enter` of this ledger."""
    last = max(i for i, other in enumerate(_entered) if other is ledger)
    del _entered[last]

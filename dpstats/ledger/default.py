"""The ledger that a fit charges where it is given none: one for a process, or for what stands in a ``with``.

``with ledger:`` counts in the thread or task that entered it. One that entered none charges the ledger that
any other entered last, or else that of ``use_ledger``, rather than none: what nobody counts cannot be undone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from dpstats._private import forgetting
from dpstats.budget import Budget
from dpstats.errors import LedgerError
from dpstats.ledger.ledger import Ledger, absolute

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


@forgetting
def use_ledger(
    path: str | Path | Ledger | None, total: Budget | None = None, dataset: str | None = None
) -> Ledger | None:
    """Have every fit of this process charge a ledger, unless its ``ledger=`` is another.

    Parameters
    ----------
    path : str, Path, Ledger or None
        The file of the ledger, or one that is open. With None fits charge no ledger from now on.
    total, dataset : optional
        The same as in :class:`dpstats.Ledger`.

    Returns
    -------
    Ledger or None

    Raises
    ------
    LedgerError
        As of :class:`dpstats.Ledger`, or inside ``with ledger:``; or where the ledger that is used is named
        again and its file was moved away or replaced, unless ``use_ledger(None)`` was called. What was used
        before is used on.

    Examples
    --------
    >>> import dpstats as dps
    >>> ledger = dps.use_ledger("fleet.ledger", total=dps.approx(epsilon=3, delta=1e-6))
    >>> plant = dps.datasets.load("ccpp")
    >>> fit = dps.ols("PE ~ AT", plant.data, plant.schema).fit(dps.approx(epsilon=1, delta=1e-6))
    >>> print(ledger.line())
    1.00 of 3.00 spent on 'fleet'
    >>> dps.use_ledger(None)
    """
    told = not (total is None and dataset is None)
    if told and (path is None or isinstance(path, Ledger)):
        raise LedgerError(
            "total and dataset are of a ledger's file: give its path, or leave them out with None or a Ledger"
        )
    require_none_entered()
    _check_there(current(), path)
    ledger = path if path is None or isinstance(path, Ledger) else Ledger(path, total, dataset)
    _used[:] = [] if ledger is None else [ledger]
    return ledger


def _check_there(used: Ledger | None, path: object) -> None:
    """Have a cell that runs again begin no new ledger where the file of the old one was moved away."""
    if used is None or used.path != _place(path):
        return
    try:
        used.entries()
    except LedgerError as gone:
        raise LedgerError(
            f"{gone}. Fits charged it until now; to leave it for another of the same name, call "
            "use_ledger(None) first"
        ) from None


def _place(path: object) -> Path | None:
    """Where a path leads, or a ledger is; None of what is neither."""
    if isinstance(path, Ledger):
        return path.path
    return absolute(Path(path)) if isinstance(path, str | Path) else None

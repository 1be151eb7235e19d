"""The ledger of a process."""

from __future__ import annotations

from pathlib import Path

from dpstats._private import forgetting
from dpstats.budget import Budget
from dpstats.errors import LedgerError
from dpstats.ledger import default
from dpstats.ledger.arguments import absolute
from dpstats.ledger.ledger import Ledger


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
    default.require_none_entered()
    _check_there(default.current(), path)
    ledger = path if path is None or isinstance(path, Ledger) else Ledger(path, total, dataset)
    default.use(ledger)
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

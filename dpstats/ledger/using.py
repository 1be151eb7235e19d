"""The ledger of a process."""

from __future__ import annotations

from pathlib import Path

from dpstats._private import forgetting
from dpstats.budget import Budget
from dpstats.errors import LedgerError
from dpstats.ledger import default
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
        As of :class:`dpstats.Ledger`, or inside ``with ledger:``; what was used before is used on.

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
    ledger = path if path is None or isinstance(path, Ledger) else Ledger(path, total, dataset)
    default.use(ledger)
    return ledger

"""How fits of this process run: by how many processes, on which cluster, and with which signs of life."""

import importlib.util
import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from dpstats._arguments import count, shown, truth
from dpstats._private import forgetting
from dpstats.errors import SpecificationError

__all__ = ["Running", "current", "options"]

MOST_WORKERS = 1024
_DELAY = 2.0  # seconds: what takes less shows nothing


@dataclass(frozen=True)
class Running:
    """How fits run in this process, as :func:`dpstats.options` sets it."""

    workers: int = 1
    client: Any = None
    progress: bool | None = None


_now = [Running()]


def current() -> Running:
    """How fits run now: as the innermost `options` says."""
    return _now[0]


def bar(**shown: Any) -> Any:
    """A bar of tqdm for what takes longer than two seconds, if it is there and the options want it, or None.

    Parameters
    ----------
    shown
        As tqdm has it: what the bar is of, and in which unit.
    """
    wanted = current().progress
    if wanted is False:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    hidden = None if wanted is None else not wanted  # None: unless on a terminal
    return tqdm(disable=hidden, delay=_DELAY, leave=False, **shown)


def default_client() -> Any:
    """The cluster on which Dask computes by itself, if there is one."""
    distributed = sys.modules.get("distributed")
    try:
        return distributed.default_client() if distributed else None
    except ValueError:
        return None


@forgetting
def options(*, workers: int | None = None, client: Any = None, progress: bool | None = None) -> ExitStack:
    """Say how fits run, from now on, or inside ``with dps.options(...):`` alone.

    Workers are for tables that are read again at every pass, such as a file of some hundred mebibytes or
    more; smaller ones are summed in this process. What a fit releases does not depend on workers: sums of
    parts add up exactly, and noise is drawn once, in this process.

    Parameters
    ----------
    workers : int, optional
        How many processes of this machine sum the rows; 1, the default, is this process. More need
        ``pip install dpstats[processes]``. Each reads its parts of a file by itself.
    client : distributed.Client, optional
        The client of a Dask cluster whose workers can read the file under the same path. It takes the place
        of `workers`.
    progress : bool, optional
        Whether a pass that takes longer than two seconds shows a bar of rows, and a plan one of its made-up
        fits, by tqdm. Default: where the output is a terminal.

    Returns
    -------
    A context manager
        An option that is left out stays as it was. Where ``with`` ends, all options are as they were before.

    Raises
    ------
    SpecificationError
        If `workers` is no number of processes, or more than one without loky or a client, or `client` is no
        client.

    Notes
    -----
    A worker that dies, such as for want of memory, is replaced, and its part is summed again. After three
    deaths the fit ends in an error, and what was charged is spent. See docs/scale.md.

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> with dps.options(workers=2, progress=False):
    ...     fit = dps.ols("PE ~ AT", plant.data, plant.schema).fit(dps.zcdp(0.5))
    """
    before = current()
    changes: dict[str, Any] = {}
    if workers is not None:
        changes.update(workers=_number_of(workers, sum_here=client is None), client=None)
    if client is not None:
        known = getattr(sys.modules.get("distributed"), "Client", None)
        if known is None or not isinstance(client, known):
            raise SpecificationError(f"client must be a distributed.Client, not {shown(client)}")
        changes["client"] = client
    if progress is not None:
        changes["progress"] = truth("progress", progress)
    undo = ExitStack()
    undo.callback(_now.__setitem__, 0, before)
    _now[0] = replace(before, **changes)
    return undo


def _number_of(workers: object, sum_here: bool) -> int:
    found = count("workers", workers)
    if not 1 <= found <= MOST_WORKERS:
        raise SpecificationError(f"workers must be a number of processes, at least 1, got {shown(workers)}")
    # here, and not where a table turns out to be large: how large a file is follows from its records
    if sum_here and found > 1 and importlib.util.find_spec("loky") is None:
        raise SpecificationError(f"workers={found} needs loky: pip install dpstats[processes]")
    return found

"""Who sums the rows of a command: this process, several of this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpstats._arguments import shown
from dpstats.errors import SpecificationError
from dpstats.running import options as running

_WAIT = 30  # seconds for a scheduler to answer


@contextmanager
def engine(options: argparse.Namespace) -> Iterator[None]:
    """What `add_running` asks for holds in here.

    Raises
    ------
    SpecificationError
        If no scheduler answers, Dask is not installed, or both workers and a cluster are asked for.
    """
    if options.cluster is None:
        with running(workers=options.workers):
            yield
        return
    if options.workers != 1:
        raise SpecificationError("--workers are processes of this machine; give them, or --cluster")
    with _client(options.cluster) as client, running(client=client):
        yield


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise SpecificationError("--cluster needs Dask: pip install dpstats[dask]") from None
    try:
        return Client(address, set_as_default=False, timeout=_WAIT)
    except (OSError, ValueError):
        raise SpecificationError(
            f"no scheduler of Dask answers at {shown(address)}; give an address such as tcp://scheduler:8786"
        ) from None

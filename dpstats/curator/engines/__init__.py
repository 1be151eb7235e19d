"""Who computes the sums of parts: this process, processes of this machine, a Dask cluster, or Spark.

An engine is given a pickled task and descriptions of parts, and answers with a total of each part, in any
order. It sees no budget and no noise. That every part comes once is checked here, whatever the engine does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from dpstats.curator.blocks import RowPart
from dpstats.curator.tasks import Failure, Task, WorkError
from dpstats.running import Running, default_client

__all__ = ["Engine", "chosen", "gathered"]


class Engine(Protocol):
    """Computes sums of parts."""

    def results(self, task: bytes, parts: Sequence[RowPart]) -> Iterator[tuple[int, Any]]:
        """The place of a part and what the task answers for it, as they come."""


def chosen(running: Running, parts: Sequence[RowPart]) -> Engine | None:
    """The engine that the options ask for; None for this process, which sums what cannot be sent, too."""
    if parts and all(part.mapped for part in parts):
        from dpstats.curator.engines.spark import Spark

        return Spark()
    computed = all(part.inputs for part in parts)
    if not parts or not (computed or all(part.portable for part in parts)):
        return None
    client = running.client or (default_client() if computed else None)
    if client is not None:
        from dpstats.curator.engines.cluster import Cluster

        return Cluster(client)
    if running.workers > 1 and not computed:
        from dpstats.curator.engines.processes import Processes

        return Processes(running.workers)
    return None


def gathered(engine: Engine, task: Task, parts: Sequence[RowPart]) -> Iterator[Any]:
    """The totals of all parts, each once, in any order.

    Raises
    ------
    WorkError
        If a part fails, comes twice or does not come.
    DataError
        If a part cannot be read.
    """
    import cloudpickle

    missing = set(range(len(parts)))
    for place, result in engine.results(cloudpickle.dumps(task), parts):
        if isinstance(result, Failure):
            raise result.error(task.name)
        if place not in missing:
            raise WorkError(f"a part of {task.name!r} came twice; what was charged is spent")
        missing.remove(place)
        yield result
    if missing:
        raise WorkError(
            f"{len(missing)} of {len(parts)} parts of {task.name!r} did not come; what was charged is spent"
        )

"""Workers of a Dask cluster, which read their parts by themselves, under the paths that the parts name."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from dpstats.curator.blocks import RowPart
from dpstats.curator.tasks import WorkError, run, run_given

__all__ = ["Cluster"]


class Cluster:
    """A cluster by its client.

    Dask gives the parts of a worker that dies to others, three times as a rule. Names of its tasks are random
    and say nothing of what is summed.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def _submitted(self, task: bytes, parts: Sequence[RowPart]) -> list[Any]:
        if not getattr(parts[0], "inputs", ()):
            return [self._client.submit(run, task, part, pure=False) for part in parts]
        from dask import delayed

        # in one graph: what partitions have in common is computed once, and none is kept after its task
        asked = [delayed(run_given, pure=False)(task, pickle.dumps(part), *part.inputs) for part in parts]
        return list(self._client.compute(asked))

    def results(self, task: bytes, parts: Sequence[RowPart]) -> Iterator[tuple[int, Any]]:
        from distributed import as_completed

        futures = self._submitted(task, parts)
        places = {future.key: place for place, future in enumerate(futures)}
        died = None
        try:
            for future in as_completed(futures, loop=self._client.loop):
                yield places[future.key], future.result()
        except Exception as error:  # the scheduler's, as a task lets none out
            died = type(error).__name__
        if died is not None:
            raise WorkError(
                f"the cluster lost a part of the rows ({died}): do its workers have memory for it, and the "
                "file under the same path? What was charged is spent"
            )

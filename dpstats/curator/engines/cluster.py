"""Workers of a Dask cluster, which read their parts by themselves, under the paths that the parts name."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from dpstats.curator.blocks import RowPart
from dpstats.curator.tasks import WorkError, run, run_given

_LOOK = 60.0  # seconds after which workers are counted
_PATIENCE = 5  # counts in a row that may find none: a scheduler that adds workers takes some minutes


class Cluster:
    """A cluster by its client.

    Dask gives the parts of a worker that dies to others, three times as a rule. Names of its tasks are random
    and say nothing of what is summed. Dask waits for ever where no worker is left; here the fit ends then.
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
        futures = self._submitted(task, parts)
        places = {future.key: place for place, future in enumerate(futures)}
        died = None
        try:
            for future in self._completed(futures):
                yield places[future.key], future.result()
        except Exception as error:  # the scheduler's, as a task lets none out
            died = type(error).__name__
        if died is not None:
            raise WorkError(
                f"the cluster lost a part of the rows ({died}): do its workers have memory for it, and the "
                "file under the same path, and is any of them left? What was charged is spent"
            )

    def _completed(self, futures: Sequence[Any]) -> Iterator[Any]:
        """The futures as they end; TimeoutError if there has been no worker for long."""
        from distributed import as_completed

        left, alone = {future.key: future for future in futures}, 0
        while left:
            try:
                for future in as_completed(list(left.values()), loop=self._client.loop, timeout=_LOOK):
                    alone = 0
                    yield left.pop(future.key)
            except TimeoutError:
                alone = 0 if self._client.nthreads() else alone + 1
                if alone >= _PATIENCE:
                    raise

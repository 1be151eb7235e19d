"""Who computes the sums of parts: this process, processes of this machine, a Dask cluster, or Spark.

An engine is given a pickled task and descriptions of parts, and answers with a total of each part, in any
order. It sees no budget and no noise. That every part comes once is checked here, whatever the engine does.
"""

import functools
import operator
import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol

from dpstats.curator.partial import Failure, Task, WorkError, run, run_given
from dpstats.rows.parts import TablePart
from dpstats.running import Running, default_client

_LOOK = 60.0  # seconds after which workers are counted
_PATIENCE = 5  # counts in a row that may find none: a scheduler that adds workers takes some minutes
TRIES = 3
_ALONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_IDLE = 300  # seconds after which a worker without work ends


class Engine(Protocol):
    """Computes sums of parts."""

    def results(self, task: bytes, parts: Sequence[TablePart]) -> Iterator[tuple[int, Any]]:
        """The place of a part and what the task answers for it, as they come."""


def chosen(running: Running, parts: Sequence[TablePart]) -> Engine | None:
    """The engine that the options ask for; None for this process, which sums what cannot be sent, too."""
    if parts and all(part.mapped for part in parts):
        return Spark()
    computed = all(part.inputs for part in parts)
    if not parts or not (computed or all(part.portable for part in parts)):
        return None
    client = running.client or (default_client() if computed else None)
    if client is not None:
        return Cluster(client)
    if running.workers > 1 and not computed:
        return Processes(running.workers)
    return None


def gathered(engine: Engine, task: Task, parts: Sequence[TablePart]) -> Iterator[Any]:
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
        raise WorkError(f"not all parts of {task.name!r} came; what was charged is spent")


class Processes:
    """So many processes, which are kept for the next pass.

    If a worker dies, the parts that have not come are summed by new ones.
    """

    def __init__(self, workers: int) -> None:
        import loky

        self._pool = loky.get_reusable_executor
        self._workers = workers

    def results(self, task: bytes, parts: Sequence[TablePart]) -> Iterator[tuple[int, Any]]:
        left = dict(enumerate(parts))
        for _ in range(TRIES):
            pool = self._pool(max_workers=self._workers, timeout=_IDLE, env=_ALONE)
            try:
                places = {pool.submit(run, task, part): place for place, part in left.items()}
                for future in as_completed(places):
                    result = future.result()
                    del left[places[future]]
                    yield places[future], result
                return
            except BrokenProcessPool:
                continue
        raise WorkError(
            f"workers died {TRIES} times while they summed rows: is there memory for all of them? "
            "What was charged is spent"
        )


class Cluster:
    """A cluster by its client.

    Dask gives the parts of a worker that dies to others, three times as a rule. Names of its tasks are random
    and say nothing of what is summed. Dask waits for ever where no worker is left; here the fit ends then.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def _submitted(self, task: bytes, parts: Sequence[TablePart]) -> list[Any]:
        if not getattr(parts[0], "inputs", ()):
            return [self._client.submit(run, task, part, pure=False) for part in parts]
        from dask import delayed

        # in one graph: what partitions have in common is computed once, and none is kept after its task
        asked = [delayed(run_given, pure=False)(task, pickle.dumps(part), *part.inputs) for part in parts]
        return list(self._client.compute(asked))

    def results(self, task: bytes, parts: Sequence[TablePart]) -> Iterator[tuple[int, Any]]:
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
        from distributed import as_completed as as_they_complete

        left, alone = {future.key: future for future in futures}, 0
        while left:
            try:
                for future in as_they_complete(list(left.values()), loop=self._client.loop, timeout=_LOOK):
                    alone = 0
                    yield left.pop(future.key)
            except TimeoutError:
                alone = 0 if self._client.nthreads() else alone + 1
                if alone >= _PATIENCE:
                    raise


class Spark:
    """The Spark of each dataframe.

    Spark does the task of an executor that dies again, and takes one answer of each partition, however often
    it was summed. How many partitions there are may change from pass to pass; the curator counts their rows.
    """

    def results(self, task: bytes, parts: Sequence[TablePart]) -> Iterator[tuple[int, Any]]:
        for place, part in enumerate(parts):
            yield place, _total(_answers(task, part))


def _answers(task: bytes, part: TablePart) -> list[tuple[int, bytes]]:
    """Of each partition, once."""
    died = None
    try:
        return part.mapped(functools.partial(_answer, task, pickle.dumps(part)))
    except Exception as error:  # Spark's, as a task lets none out; its text may quote a row
        died = type(error).__name__
    raise WorkError(
        f"Spark lost a part of the rows ({died}): have its executors memory for it, and dpstats and what it "
        "needs? can the dataframe be computed to its end? What was charged is spent"
    )


def _answer(task: bytes, part: bytes, batches: Any) -> bytes:
    """What an executor sends back for its part of the rows."""
    return pickle.dumps(run_given(task, part, batches))


def _total(answers: Sequence[tuple[int, bytes]]) -> Any:
    if len({place for place, _ in answers}) < len(answers):
        raise WorkError("a partition of Spark came twice; what was charged is spent")
    results = [pickle.loads(answer) for _, answer in answers]
    failed = [result for result in results if isinstance(result, Failure)]
    return failed[0] if failed else functools.reduce(operator.add, results)

"""Processes of this machine, by loky, whose workers do not run the user's script again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from dpstats.curator.blocks import RowPart
from dpstats.curator.tasks import WorkError, run
from dpstats.errors import SpecificationError

TRIES = 3
_ALONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_IDLE = 300  # seconds after which a worker without work ends


class Processes:
    """So many processes, which are kept for the next pass.

    If a worker dies, the parts that have not come are summed by new ones.

    Raises
    ------
    SpecificationError
        If loky is not installed.
    """

    def __init__(self, workers: int) -> None:
        try:
            import loky
        except ImportError:
            raise SpecificationError(
                f"workers={workers} needs loky: pip install dpstats[processes]"
            ) from None
        self._pool = loky.get_reusable_executor
        self._workers = workers

    def results(self, task: bytes, parts: Sequence[RowPart]) -> Iterator[tuple[int, Any]]:
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

"""Executors of Spark, to which the task is brought; what a partition holds stays there."""

from __future__ import annotations

import functools
import operator
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from dpstats.curator.blocks import RowPart
from dpstats.curator.tasks import Failure, WorkError, run_given


class Spark:
    """The Spark of each dataframe.

    Spark does the task of an executor that dies again, and takes one answer of each partition, however often
    it was summed. How many partitions there are may change from pass to pass; the curator counts their rows.
    """

    def results(self, task: bytes, parts: Sequence[RowPart]) -> Iterator[tuple[int, Any]]:
        for place, part in enumerate(parts):
            yield place, _total(_answers(task, part))


def _answers(task: bytes, part: RowPart) -> list[tuple[int, bytes]]:
    """Of each partition, once."""
    assert part.mapped is not None
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

"""Dataframes of Spark: functions are brought to their partitions, on its executors, by ``mapInArrow``.

Spark runs a task again where an executor dies, and some tasks twice where it speculates; of each partition it
takes one answer.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from dpstats._private import protected
from dpstats.errors import DataError
from dpstats.rows.encode import Batch
from dpstats.rows.parts import KEPT_BYTES, of_parts
from dpstats.rows.sniffing import refusal
from dpstats.rows.sources import HIDDEN, Asked, Source, batch_of, check_arrow

__all__ = ["is_of_spark", "of_spark"]

_KIND = "dataframe of Spark"
_BROKEN = f"this {_KIND} cannot be computed to its end. {HIDDEN}"
# how plans name the reading of a text file, by either of Spark's two kinds of readers
_PARSING = re.compile(r"\b(?:FileScan|BatchScan|Relation(?:V2)? ?\[[^\]]*\]) (?:csv|json|text|xml)\b", re.I)
_ANSWERS = pa.schema([pa.field("place", pa.int32()), pa.field("answer", pa.binary())])


def is_of_spark(data: Any) -> bool:
    """Whether it is a dataframe of Spark, which is not imported where nobody did."""
    modules = ("pyspark.sql", "pyspark.sql.connect.dataframe")  # before version 4 they had nothing in common
    kinds = [getattr(sys.modules.get(name), "DataFrame", None) for name in modules]
    return isinstance(data, tuple(kind for kind in kinds if kind is not None))


def of_spark(data: Any, asked: Asked) -> Source:
    """The source of a dataframe of Spark, which must have the same rows whenever it is computed."""
    if data.isStreaming:
        raise DataError(f"this {_KIND} is a stream, which has no end; give one that is read by spark.read")
    cannot = DataError(f"this {_KIND} has no columns that can be known. {HIDDEN}")
    asked.require(protected(lambda: data.columns, cannot))
    if _PARSING.search(protected(lambda: _plan(data), cannot)):
        raise refusal(_KIND)
    chosen = protected(lambda: data.select(*map(_quoted, asked.columns)), cannot)
    check_arrow(protected(lambda: chosen.limit(0).toArrow().schema, cannot), asked)
    return of_parts([SparkFrame(asked, chosen)], asked, _BROKEN)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _plan(frame: Any) -> str:
    """What Spark says of how the rows come about."""
    with contextlib.redirect_stdout(io.StringIO()) as told:
        frame.explain("extended")
    return told.getvalue()


@dataclass(frozen=True, repr=False)
class SparkFrame:
    """A dataframe, all partitions of it; pickled without it."""

    asked: Asked
    frame: Any
    portable = False
    size = KEPT_BYTES + 1  # never kept: Spark keeps it, if it is to be kept
    broken = _BROKEN

    def __reduce__(self) -> tuple[Any, ...]:
        return Arrived, (self.asked,)

    def count(self) -> int:
        return int(self.frame.count())

    def hold(self) -> None:
        pass  # nothing is known of when what it is computed from was changed

    def batches(self) -> Iterator[Batch]:
        sent = self.frame.mapInArrow(_sent, "batch binary").toLocalIterator()  # a partition at a time
        return (batch_of(batch, self.asked) for row in sent for batch in pa.ipc.open_stream(row.batch))

    def mapped(self, answer: Callable[[Any], bytes]) -> list[tuple[int, bytes]]:
        """The place of each partition, and what a function answers for its batches, on an executor."""
        made = self.frame.mapInArrow(partial(_answered, answer), "place int, answer binary")
        return [(row.place, bytes(row.answer)) for row in made.collect()]


@dataclass(frozen=True, repr=False)
class Arrived:
    """A partition whose batches come as an argument of the task."""

    asked: Asked
    frame: Any = None
    portable = False
    broken = _BROKEN

    def batches(self) -> Iterator[Batch]:
        return (batch_of(batch, self.asked) for batch in self.frame)


def _answered(answer: Callable[[Any], bytes], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    context: Any = TaskContext.get()
    yield pa.RecordBatch.from_pylist([{"place": context.partitionId(), "answer": answer(batches)}], _ANSWERS)


def _sent(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()], pa.binary())], ["batch"])

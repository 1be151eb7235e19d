"""Dataframes of Spark: functions are brought to their partitions, on its executors, by ``mapInArrow``.

Spark runs a task again where an executor dies, and some tasks twice where it speculates; of each partition it
takes one answer.
"""

import contextlib
import io
import re
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from dpstats._private import protected
from dpstats.errors import DataError
from dpstats.rows import sizes
from dpstats.rows.encode import Batch
from dpstats.rows.parts import TablePart, of_parts
from dpstats.rows.sources import HIDDEN, Asked, Source, batch_of, check_arrow
from dpstats.rows.sql import refusal
from dpstats.rows.unit_parts import WEIGHING, WORDS, coded_rows, columns_of, ids_of, marked_rows, numbered
from dpstats.rows.weighing import spread

_KIND = "dataframe of Spark"
_BROKEN = f"this {_KIND} cannot be computed to its end. {HIDDEN}"
# how plans name the reading of a text file, by either of Spark's two kinds of readers
_PARSING = re.compile(r"\b(?:FileScan|BatchScan|Relation(?:V2)? ?\[[^\]]*\]) (?:csv|json|text|xml)\b", re.I)
_SHARE = "share"  # of units, that are looked at together
_ANSWERS = pa.schema([pa.field("place", pa.int32()), pa.field("answer", pa.binary())])


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
    by_unit = partial(_by_unit, chosen, asked)
    return replace(of_parts([SparkFrame(asked, _BROKEN, chosen)], _BROKEN), by_unit=by_unit)


def _by_unit(frame: Any, asked: Asked) -> tuple[TablePart, ...]:
    """Coded rows that Spark brings together by their ids, all of a unit in one group, and keeps for the fit.

    What a group of Spark's holds is a promise of its own; where rows stand after a repartition is none.
    """
    n = int(protected(frame.count, DataError(_BROKEN)))
    numbers = ", ".join(f"`{name}` double" for name in numbered(asked))
    coded = frame.mapInArrow(
        partial(_coded, asked, 1 + n // sizes.SIZES.share_rows),
        f"{numbers}, {', '.join(f'`{word}` bigint' for word in WORDS)}, {_SHARE} bigint",
    )
    # a lambda: from types that are declared Spark would guess a way to call it
    marked = coded.groupBy(_SHARE).applyInArrow(
        lambda table: _marked(asked, table), f"{numbers}, {WEIGHING} boolean"
    )
    held = marked.persist()
    part = UnitFrame(asked, _BROKEN, held, n)
    weakref.finalize(part, _let_go, held).atexit = False
    return (part,)


def _let_go(held: Any) -> None:
    with contextlib.suppress(Exception):  # Spark may have ended
        held.unpersist()


def _coded(asked: Asked, shares: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        found = protected(partial(_coded_batch, asked, shares, batch), RuntimeError(_BROKEN))
        yield pa.RecordBatch.from_pydict(found)


def _coded_batch(asked: Asked, shares: int, batch: pa.RecordBatch) -> dict[str, np.ndarray]:
    columns = coded_rows(batch_of(batch, asked), asked)
    ids = ids_of(columns)
    share = (spread(ids) % np.uint64(shares)).astype(np.int64)
    return {name: columns[name].astype(np.float64) for name in numbered(asked)} | {
        **{word: columns[word] for word in WORDS},
        _SHARE: share,
    }


def _marked(asked: Asked, table: pa.Table) -> pa.Table:
    columns = {name: table.column(name).to_numpy() for name in (*numbered(asked), *WORDS)}
    return pa.table(protected(lambda: marked_rows(columns, asked), RuntimeError(_BROKEN)))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _plan(frame: Any) -> str:
    """What Spark says of how the rows come about."""
    with contextlib.redirect_stdout(io.StringIO()) as told:
        frame.explain("extended")
    return told.getvalue()


@dataclass(frozen=True, repr=False)
class SparkFrame(TablePart):
    """A dataframe, all partitions of it, pickled without it.

    Nothing is known of when what it is computed from was changed.
    """

    frame: Any
    elsewhere = True

    def __reduce__(self) -> tuple[Any, ...]:
        return Arrived, (self.asked, self.broken)

    def count(self) -> int:
        return int(self.frame.count())

    def batches(self) -> Iterator[Batch]:
        return (batch_of(batch, self.asked) for batch in self._arriving())

    def _arriving(self) -> Iterator[pa.RecordBatch]:
        sent = self.frame.mapInArrow(_sent, "batch binary").toLocalIterator()  # a partition at a time
        return (batch for row in sent for batch in pa.ipc.open_stream(row.batch))

    def mapped(self, answer: Callable[[Any], bytes]) -> list[tuple[int, bytes]]:
        """The place of each partition, and what a function answers for its batches, on an executor."""
        made = self.frame.mapInArrow(partial(_answered, answer), "place int, answer binary")
        return [(row.place, bytes(row.answer)) for row in made.collect()]


@dataclass(frozen=True, repr=False)
class UnitFrame(SparkFrame):
    """The same of coded rows, all of a unit in one partition, and which of them weigh."""

    n: int  # of the dataframe that was given

    def __reduce__(self) -> tuple[Any, ...]:
        return ArrivedUnits, (self.asked, self.broken)

    def count(self) -> int:
        return self.n

    def _coded(self) -> Iterator[dict[str, np.ndarray]]:
        """Its columns, and which of its rows weigh under `WEIGHS`."""
        return (_columns(batch, self.asked) for batch in self._arriving())


@dataclass(frozen=True, repr=False)
class Arrived(TablePart):
    """A partition whose batches come as an argument of the task, by which they are counted."""

    frame: Any = None

    def count(self) -> int:
        raise NotImplementedError

    def batches(self) -> Iterator[Batch]:
        return (batch_of(batch, self.asked) for batch in self.frame)


class ArrivedUnits(Arrived):
    """The same of coded rows."""

    def _coded(self) -> Iterator[dict[str, np.ndarray]]:
        """As of `UnitFrame`."""
        return (_columns(batch, self.asked) for batch in self.frame)


def _columns(batch: pa.RecordBatch, asked: Asked) -> dict[str, np.ndarray]:
    marked = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in batch.schema.names}
    return columns_of(marked, asked)


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

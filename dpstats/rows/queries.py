"""Tables that are computed again at every pass: lazy frames, relations of DuckDB, and queries of databases.

What they hold is not read into memory as a whole. The rows must be the same whenever they are computed.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa

from dpstats._private import protected
from dpstats.errors import DataError, SpecificationError
from dpstats.rows.partitions import of_dask
from dpstats.rows.parts import Query, of_parts
from dpstats.rows.sources import HIDDEN, Asked, Opener, Source, batch_of, check_arrow, made_by
from dpstats.rows.spark import of_spark
from dpstats.rows.sql import SqlQuery, of_sql, refuse_parsing

_Made = tuple[
    str,
    list[str],
    Callable[[list[str]], pa.Schema],
    Callable[[], int],
    Callable[[list[str], int], Iterable[pa.RecordBatch]],
]


def _of_plan(make: Callable[[Any], _Made], data: Any, asked: Asked) -> Source:
    """The source of what one of the functions below tells of."""
    cannot = DataError(
        f"this {type(data).__name__} has no columns that can be known without running it. {HIDDEN}"
    )
    plan, names, schema_of, rows, run = protected(lambda: make(data), cannot, (SpecificationError,))
    refuse_parsing(plan, type(data).__name__)
    asked.require(names)
    columns = list(asked.columns)
    check_arrow(protected(lambda: schema_of(columns), cannot), asked)
    broken = f"this {type(data).__name__} cannot be computed to its end. {HIDDEN}"
    query = Query(asked, broken, rows, lambda size: (batch_of(part, asked) for part in run(columns, size)))
    return of_parts([query], broken)


def _of_lazy(frame: Any) -> _Made:
    """A lazy frame of polars: its plan, and names, types, number and batches of its rows."""
    import polars

    types = frame.collect_schema()

    def run(columns: list[str], size: int) -> Iterator[pa.RecordBatch]:
        for part in frame.select(columns).collect_batches(chunk_size=size, maintain_order=True):
            yield from pa.RecordBatchReader.from_stream(part)

    return (
        frame.explain(optimized=False),
        types.names(),
        lambda columns: pa.RecordBatchReader.from_stream(types.to_frame().select(columns)).schema,
        lambda: int(frame.select(polars.len()).collect().item()),
        run,
    )


def _of_relation(relation: Any) -> _Made:
    """A relation of DuckDB: its plan, and names, types, number and batches of its rows."""

    def chosen(columns: list[str]) -> Any:
        return relation.project(", ".join('"' + name.replace('"', '""') + '"' for name in columns))

    def run(columns: list[str], size: int) -> Iterable[pa.RecordBatch]:
        made = chosen(columns)
        reader = getattr(made, "to_arrow_reader", None) or made.fetch_record_batch
        return iter(reader(size))

    explained = relation.query("dpstats_rows", "EXPLAIN (FORMAT json) SELECT * FROM dpstats_rows")
    if explained is None:
        raise DataError(
            "what a relation of DuckDB reads is told by its version 2.0 or a later one; upgrade it, or give "
            "dps.read_sql(query, connection)"
        )
    return (
        str(explained.fetchall()[0][1]),
        list(relation.columns),
        lambda columns: chosen(columns).limit(0).to_arrow_table().schema,
        lambda: int(relation.aggregate("count(*)").fetchall()[0][0]),
        run,
    )


QUERIES: list[tuple[Callable[[Any], bool], Opener]] = [
    (lambda data: isinstance(data, SqlQuery), of_sql),
    (made_by("DataFrame", "dask.dataframe"), of_dask),
    # before version 4 of Spark its two kinds had nothing in common
    (made_by("DataFrame", "pyspark.sql", "pyspark.sql.connect.dataframe"), of_spark),
    (made_by("LazyFrame", "polars"), partial(_of_plan, _of_lazy)),
    (made_by("DuckDBPyRelation", "duckdb"), partial(_of_plan, _of_relation)),
]
"""What is a query of each kind, and what opens it."""

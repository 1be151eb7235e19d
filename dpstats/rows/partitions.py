"""Dataframes of Dask: their partitions are the parts, computed where the cluster has them.

On a cluster (:func:`dpstats.options`) a partition is handed to the task that sums it, and comes to no other
process. Without one it is computed here, one after the other, again at every pass.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from dpstats._private import HoldsRows, protected
from dpstats.errors import DataError
from dpstats.rows.encode import Batch
from dpstats.rows.parts import TablePart, of_parts
from dpstats.rows.sources import HIDDEN, Asked, Source, of_frame, of_partition
from dpstats.rows.sql import refusal
from dpstats.rows.unit_parts import WORDS, coded_rows, columns_of, marked_rows
from dpstats.running import current, default_client

_BROKEN = f"this dataframe of Dask cannot be computed to its end. {HIDDEN}"
# steps that leave ids what they were in a frame of pandas, Python objects too
_LEAVING = frozenset({"FromPandas", "Projection", "Filter", "Repartition"})
_FOUND_LATER = "__UNKNOWN_CATEGORIES__"  # which Dask has in the place of those that partitions find
# tasks that read, as Dask names them, but of files with types; a bag takes its types from its first item
_PARSING = re.compile(r"\W*(?:_*read[-_](?!parquet|orc|feather)|to_dataframe)")


def of_dask(data: Any, asked: Asked) -> Source:
    """The source of a dataframe of Dask, each partition of which must be the same whenever it is computed."""
    asked.require(data.columns)
    cannot = DataError(f"this dataframe of Dask has no columns that can be known. {HIDDEN}")
    chosen = protected(lambda: data[list(asked.columns)], cannot)
    of_frame(chosen._meta, asked)  # checks the types, which a partition's cells may change
    steps = protected(lambda: list(_steps(chosen.expr.simplify())), cannot)
    if protected(lambda: any(map(_makes_texts, steps)), cannot):
        raise DataError(
            "Dask makes texts of a column of Python objects of this dataframe, by str(cell), which is code "
            "that comes with the cell. Make the dataframe under "
            'dask.config.set({"dataframe.convert-string": False}), or give its columns types before'
        )
    unit = asked.schema.privacy_unit.column
    if unit:
        _check_category(unit, chosen._meta[unit].dtype)
        _check_ids(unit, protected(lambda: [(step, _kind(step, unit)) for step in [chosen, *steps]], cannot))
    # last, since Dask makes partitions of a frame of pandas for it
    if protected(lambda: any(map(_PARSING.match, map(str, data.__dask_graph__()))), cannot):
        raise refusal("dataframe of Dask")
    frames = _Frames(chosen)
    parts = [Partition(asked, _BROKEN, frames, place) for place, _ in enumerate(frames.delayed)]
    return replace(of_parts(parts, _BROKEN), by_unit=partial(_by_unit, chosen, asked))


def _steps(plan: Any) -> Iterator[Any]:
    """The steps of a plan of Dask, those among them that were made one."""
    for step in plan.walk():
        yield step
        for part in step.exprs if _named(step, "Fused") else ():
            yield from _steps(part)


def _named(step: Any, kind: str) -> bool:
    return type(step).__name__ == kind  # an attribute of a step may be a column


def _makes_texts(step: Any) -> bool:
    """Whether a step converts columns of Python objects to texts."""
    if _named(step, "ArrowStringConversion"):
        return _holds_objects(step.frame._meta)
    return (  # whichever of its columns are chosen afterwards
        _named(step, "FromPandas")
        and step.pyarrow_strings_enabled
        and _holds_objects(step.operand("frame")._data.iloc[:0])
    )


def _holds_objects(empty: Any) -> bool:
    types = [empty.dtype] if empty.ndim == 1 else list(empty.dtypes)
    return any(map(pd.api.types.is_object_dtype, [empty.index.dtype, *types]))


def _kind(step: Any, unit: str) -> str:
    """Which of numpy's kinds of types the ids of units have there; empty if they have another, or are not."""
    try:
        types = step._meta.dtypes
    except (AttributeError, NotImplementedError):  # it makes no frame
        return ""
    dtype = dict(types).get(unit) if isinstance(types, pd.Series) else None
    return dtype.kind if isinstance(dtype, np.dtype) else ""


def _check_ids(unit: str, kinds: Sequence[tuple[Any, str]]) -> None:
    """Refuse ids of which one that is missing makes another type of all that are in its partition."""
    if any(kind in ("i", "u") for _, kind in kinds):
        raise DataError(
            f"the column {unit!r} names the unit of privacy, and its integers are numpy's in this dataframe "
            "of Dask, which become floats where one is missing, so that long ids lose digits. Read it by "
            "dd.read_parquet(path, dtype_backend='pyarrow'), or give a column of the type Int64 to "
            "dd.from_pandas"
        )
    if any(kind == "O" and type(step).__name__ not in _LEAVING for step, kind in kinds[1:]):
        raise DataError(
            f"the column {unit!r} names the unit of privacy, and holds Python objects in this dataframe of "
            "Dask, by a step that may make numbers of a partition, or floats where one is missing, so that "
            "one record would decide how the ids of others are read. Give the column a type where it is "
            "made, such as Int64 or string[pyarrow], both in meta= and in the function that makes a partition"
        )


def _check_category(unit: str, dtype: Any) -> None:
    """Refuse ids whose categories, and so their type, each partition finds in its own cells."""
    if isinstance(dtype, pd.CategoricalDtype) and _FOUND_LATER in dtype.categories:
        raise DataError(
            f"the column {unit!r} names the unit of privacy, and is a category in this dataframe of Dask, of "
            "which each partition finds the values in its own rows, so that one record would decide how the "
            "ids of others are read. Leave it as numbers or texts, such as Int64 or string[pyarrow]"
        )


def _by_unit(frame: Any, asked: Asked) -> tuple[TablePart, ...]:
    """Parts of coded rows that a cluster has brought together by their ids, once; none without a cluster.

    Rows are coded before, so that nothing but numbers moves, and ids that mean one unit are equal.
    """
    client = current().client or default_client()
    if client is None:
        return ()
    coded = frame.map_partitions(_coded, asked, meta=_coded(frame._meta, asked))
    # by tasks: the order of rows then does not depend on which worker was faster
    moved = coded.shuffle(on=list(WORDS), npartitions=frame.npartitions, shuffle_method="tasks")
    marked = moved.map_partitions(_marked, asked, meta=_marked(coded._meta, asked))
    frames = _Frames(client.persist(marked))
    return tuple(UnitPartition(asked, _BROKEN, frames, place) for place, _ in enumerate(frames.delayed))


def _coded(frame: pd.DataFrame, asked: Asked) -> pd.DataFrame:
    return pd.DataFrame(coded_rows(of_partition(frame, asked), asked))


def _marked(coded: pd.DataFrame, asked: Asked) -> pd.DataFrame:
    return pd.DataFrame(marked_rows(_arrays(coded), asked))


def _arrays(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    return {name: frame[name].to_numpy() for name in frame.columns}


class _Frames(HoldsRows):
    """The partitions of a dataframe, and their numbers of rows, which are counted at once."""

    def __init__(self, frame: Any) -> None:
        self.delayed = frame.to_delayed()

    @cached_property
    def lengths(self) -> list[int]:
        """Of those that are handed out: where few columns of Parquet are read, Dask may join others."""
        from dask import compute, delayed

        return list(compute(*map(delayed(len), self.delayed), scheduler=current().client))


def _computed(what: Any) -> Any:
    """By the cluster of the options, if there is one, and else as Dask is set."""
    return what.compute(scheduler=current().client)


@dataclass(frozen=True, repr=False)
class Partition(TablePart):
    """A partition of a dataframe, by its place, pickled without it.

    Nothing is known of when what it is computed from was changed.
    """

    frames: _Frames
    place: int
    elsewhere = True

    def __reduce__(self) -> tuple[Any, ...]:
        return Handed, (self.asked, self.broken)

    @property
    def inputs(self) -> tuple[Any, ...]:
        """What a cluster computes first, and hands to the task."""
        return (self.frames.delayed[self.place],)

    def count(self) -> int:
        return self.frames.lengths[self.place]

    def batches(self) -> Iterator[Batch]:
        yield of_partition(_computed(self.inputs[0]), self.asked)


@dataclass(frozen=True, repr=False)
class UnitPartition(Partition):
    """A partition of coded rows, pickled without them."""

    def __reduce__(self) -> tuple[Any, ...]:
        return HandedUnits, (self.asked, self.broken)

    def _coded(self) -> Iterator[dict[str, np.ndarray]]:
        """Its columns, and which of its rows weigh under `WEIGHS`."""
        yield columns_of(_arrays(_computed(self.inputs[0])), self.asked)


@dataclass(frozen=True, repr=False)
class Handed(TablePart):
    """A partition whose frame comes as an argument of the task."""

    frame: Any = None
    portable = True

    def count(self) -> int:
        return len(self.frame)

    def batches(self) -> Iterator[Batch]:
        yield of_partition(self.frame, self.asked)


class HandedUnits(Handed):
    """The same of coded rows."""

    def _coded(self) -> Iterator[dict[str, np.ndarray]]:
        """As of `UnitPartition`."""
        yield columns_of(_arrays(self.frame), self.asked)

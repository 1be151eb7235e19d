"""Dataframes of Dask: their partitions are the parts, computed where the cluster has them.

On a cluster (:func:`dpstats.options`) a partition is handed to the task that sums it, and comes to no other
process. Without one it is computed here, one after the other, again at every pass.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpstats._private import HoldsRows, protected
from dpstats.errors import DataError
from dpstats.rows.encode import Batch
from dpstats.rows.parts import KEPT_BYTES, of_parts
from dpstats.rows.sniffing import refusal
from dpstats.rows.sources import HIDDEN, Asked, Source, of_frame
from dpstats.running import current

__all__ = ["is_of_dask", "of_dask"]

_BROKEN = f"this dataframe of Dask cannot be computed to its end. {HIDDEN}"
# tasks that read files, as Dask names them, but those of files with types
_PARSING = re.compile(r"\W*read[-_](?!parquet|orc|sql|hdf)")


def is_of_dask(data: Any) -> bool:
    """Whether it is a dataframe of Dask, which is not imported where nobody did."""
    kind = getattr(sys.modules.get("dask.dataframe"), "DataFrame", None)
    return kind is not None and isinstance(data, kind)


def of_dask(data: Any, asked: Asked) -> Source:
    """The source of a dataframe of Dask, each partition of which must be the same whenever it is computed."""
    asked.require(data.columns)
    cannot = DataError(f"this dataframe of Dask has no columns that can be known. {HIDDEN}")
    chosen = protected(lambda: data[list(asked.columns)], cannot)
    if protected(lambda: any(map(_PARSING.match, map(str, data.__dask_graph__()))), cannot):
        raise refusal("dataframe of Dask")
    of_frame(chosen._meta, asked)  # checks the types
    frames = _Frames(chosen)
    return of_parts([Partition(asked, frames, place) for place in range(data.npartitions)], asked, _BROKEN)


class _Frames(HoldsRows):
    """The partitions of a dataframe, and their numbers of rows, which are counted at once."""

    def __init__(self, frame: Any) -> None:
        self._frame, self.delayed = frame, frame.to_delayed()

    @cached_property
    def lengths(self) -> list[int]:
        return [int(length) for length in _computed(self._frame.map_partitions(len))]


def _computed(what: Any) -> Any:
    """By the cluster of the options, if there is one, and else as Dask is set."""
    return what.compute(scheduler=current().client)


@dataclass(frozen=True, repr=False)
class Partition:
    """A partition of a dataframe, by its place; pickled without it."""

    asked: Asked
    frames: _Frames
    place: int
    portable = False
    size = KEPT_BYTES + 1  # never kept: Dask keeps it, if it is to be kept
    broken = _BROKEN

    def __reduce__(self) -> tuple[Any, ...]:
        return Handed, (self.asked,)

    @property
    def inputs(self) -> tuple[Any, ...]:
        """What a cluster computes first, and hands to the task."""
        return (self.frames.delayed[self.place],)

    def count(self) -> int:
        return self.frames.lengths[self.place]

    def hold(self) -> None:
        pass  # nothing is known of when what it is computed from was changed

    def batches(self) -> Iterator[Batch]:
        yield from of_frame(_computed(self.inputs[0]), self.asked).batches()


@dataclass(frozen=True, repr=False)
class Handed:
    """A partition whose frame comes as an argument of the task."""

    asked: Asked
    frame: Any = None
    portable = True
    broken = _BROKEN

    def batches(self) -> Iterator[Batch]:
        yield from of_frame(self.frame, self.asked).batches()

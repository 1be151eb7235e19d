"""Numbers that may not fit into memory, in a temporary file that has no name."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

import numpy as np

from dpstats._private import HoldsRows, protected
from dpstats.errors import DataError
from dpstats.rows.grammar import Array

IN_MEMORY = 2**22  # bytes before a file is made


class Place(NamedTuple):
    """Where an array is."""

    start: int
    shape: tuple[int, ...]


class Spool(HoldsRows):
    """Arrays of numbers of 8 bytes, which are put one after the other and read in any order.

    Few are held in memory. More go to a file in the folder for temporary files, which has no name from the
    beginning, or loses it at once where a system cannot do that. So no other user opens it, and the system
    frees it however the process ends, by a signal that nobody can catch, too. What a disk still holds of a
    file that is gone, an encrypted one hides. Threads read it in turn, since it has one position.
    """

    def __init__(self, dtype: type) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed with the spool
        weakref.finalize(self, self._file.close)
        self._dtype, self._lock = np.dtype(dtype), Lock()

    def put(self, array: Array) -> Place:
        """Add an array of the type."""
        with self._lock:
            start = self._at_disk(lambda: self._file.seek(0, os.SEEK_END))
            self._at_disk(lambda: self._file.write(np.ascontiguousarray(array, dtype=self._dtype).data))
        return Place(start, array.shape)

    def get(self, place: Place) -> Array:
        """The array that is there."""
        out = np.empty(place.shape, dtype=self._dtype)
        with self._lock:
            self._at_disk(lambda: self._file.seek(place.start))
            count = self._file.readinto(out.reshape(-1).view(np.uint8).data)
        if count != out.nbytes:
            raise OSError
        return out

    def _at_disk(self, do: Callable[[], int]) -> int:
        """What writes, if only what was held back.

        Raises
        ------
        DataError
            If there is no room.
        """
        failure = DataError(
            f"the folder for temporary files, {tempfile.gettempdir()}, has no room for the rows of units, "
            "which take 8 bytes for each number that the formula reads, and 40 bytes more, in each row; name "
            "a folder with room in the environment variable TMPDIR"
        )
        return protected(do, failure)

"""What a worker is asked: the sums of one part, by a description that holds no row, and what it answers.

No exception leaves a worker, because its text may quote a row: it answers with the exception's type and the
line of this package that it came from.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_tb
from typing import Any

import numpy as np

from dpstats._private import is_own
from dpstats.curator.blocks import Block, RowReader, passed
from dpstats.curator.partial import Named, partial
from dpstats.errors import DataError
from dpstats.rows.parts import Part

PACKAGE = Path(__file__).parents[1]


class WorkError(RuntimeError):
    """A part was not summed; the text holds nothing of the rows."""


@dataclass(frozen=True)
class Failure:
    """Why a part was not summed: the type of an exception and where it was raised, or our own words."""

    kind: str
    where: str
    told: str = ""

    @staticmethod
    def of(error: Exception) -> Failure:
        """What may be said of an exception."""
        kind = type(error)
        named = kind.__name__ if kind.__module__ in ("builtins", "dpstats.errors") else "an exception"
        lines = [
            f"{Path(frame.f_code.co_filename).relative_to(PACKAGE.parent)}, line {line}"
            for frame, line in walk_tb(error.__traceback__)
            if PACKAGE in Path(frame.f_code.co_filename).parents
        ]
        told = str(error) if kind is DataError and is_own(error) else ""
        return Failure(named, lines[-1] if lines else "code of another package", told)

    def error(self, name: str) -> Exception:
        """What the curator raises."""
        if self.told:
            return DataError(self.told)
        return WorkError(
            f"release {name!r} failed on a worker: {self.kind}, in {self.where}. More is not shown, because "
            "it may depend on private values; what was charged is spent"
        )


@dataclass(frozen=True)
class Task:
    """What a pure function of blocks adds up to over a part, read in blocks of `size` rows.

    Two such sums add up by ``+`` in whatever order, and count their rows; `name` is that of the release.
    """

    design: RowReader
    name: str
    summed: Callable[[Iterable[Block]], Any]
    size: int

    @staticmethod
    def of(design: RowReader, asked: Sequence[Named], size: int) -> Task:
        """The sums of registered statistics."""
        name = " and ".join(name for name, _ in asked)
        return Task(design, name, functools.partial(partial, design, asked), size)

    def __call__(self, part: Part) -> Any:
        try:
            with np.errstate(all="ignore"):
                return self.summed(passed(self.design, part.blocks(self.size)))
        except Exception as error:
            return Failure.of(error)


def run(task: bytes, part: Part) -> Any:
    """Do a pickled task: what a worker calls."""
    return pickle.loads(task)(part)


def run_given(task: bytes, part: bytes, *inputs: Any) -> Any:
    """The same for a pickled part whose rows the cluster hands in."""
    return run(task, pickle.loads(part).given(*inputs))

"""Sums over some of the rows: pure functions of a design, public numbers and blocks, which may run anywhere.

Totals of parts add up to the total of all rows, exactly (:class:`dpstats.curator.lattice.Total`). No noise is
drawn here and nothing is charged: what a total holds is private until the curator has added noise to it.

A worker is asked for the sums of one part by a description that holds no row. No exception leaves it, because
its text may quote a row: it answers with the exception's type and the line of this package that it came from.
"""

import functools
import operator
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_tb
from typing import Any

import numpy as np

from dpstats._private import is_own
from dpstats.curator.blocks import Block, Passing, PublicDesign, Scratch, passed
from dpstats.curator.lattice import Factor, LatticeSum, Total
from dpstats.curator.statistics import REGISTRY, Statistic
from dpstats.errors import DataError
from dpstats.rows.parts import TablePart

PACKAGE = Path(__file__).parents[1]
Named = tuple[str, Mapping[str, Any]]
"""A registered statistic: its name and its public parameters."""


@dataclass(frozen=True, repr=False)
class PassTotals:
    """Totals of statistics that were summed in one pass, over the same rows."""

    totals: tuple[Total, ...]

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.totals[0].count

    def __add__(self, other: "PassTotals") -> "PassTotals":
        return PassTotals(tuple(map(operator.add, self.totals, other.totals)))


def statistic_of(design: PublicDesign, name: str, public: Mapping[str, Any]) -> Statistic:
    """A registered statistic with its public parameters."""
    if name not in REGISTRY:
        raise ValueError(f"no statistic is called {name!r}; there are {', '.join(sorted(REGISTRY))}")
    return REGISTRY[name](design, **public)


def partial(design: PublicDesign, asked: Sequence[Named], blocks: Iterable[Block]) -> PassTotals:
    """The sums of registered statistics over blocks, and how many rows they have.

    The same blocks give the same bits; of rows that are cut into other blocks the sums agree within the slack
    of :mod:`dpstats.curator.lattice`.
    """
    statistics = [statistic_of(design, name, public) for name, public in asked]
    return summed(design, statistics, blocks, [Scratch() for _ in statistics])


def summed(
    design: PublicDesign,
    statistics: Sequence[Statistic],
    blocks: Iterable[Block],
    scratches: Sequence[Scratch],
) -> PassTotals:
    """The same for statistics that are there, in arrays that are used again, those of each its own.

    What several of them make of a block is made once.

    Where rows count units a row of weight v, its share of the public maximum, adds v f in the place of what
    it adds alone, f. The sensitivity of the statistic holds for these sums too: v f lies between 0 and f, the
    norm of v f - w g is convex in v and in w, so that it is largest where each is 0 or 1, and there rows are
    whole, or weigh nothing as a row does that is not valid. The same goes for each of its coordinates.
    """
    sums = [
        (statistic, LatticeSum(statistic.parts), scratch)
        for statistic, scratch in zip(statistics, scratches, strict=True)
    ]
    passing = Passing()
    for scratch in scratches:
        scratch.passing = passing
    for block in blocks:
        for statistic, lattice, scratch in sums:
            factors = statistic.factors(block, scratch)
            weighed = design.counts_units and statistic.by_unit
            lattice.add(_times(factors, block.weight) if weighed else factors, statistic.counted(block))
    return PassTotals(tuple(lattice.total for _, lattice, _ in sums))


def _times(factors: Iterable[Factor], weight: np.ndarray) -> list[Factor]:
    """What rows of these weights add."""
    root = np.sqrt(weight)
    return [Factor(left * (root if right is None else weight)[:, None], right) for left, right, _ in factors]


class WorkError(RuntimeError):
    """A part was not summed; the text holds nothing of the rows."""


@dataclass(frozen=True)
class Failure:
    """Why a part was not summed: the type of an exception and where it was raised, or our own words."""

    kind: str
    where: str
    text: str = ""

    @staticmethod
    def of(error: Exception) -> "Failure":
        """What may be said of an exception."""
        kind = type(error)
        named = kind.__name__ if kind.__module__ in ("builtins", "dpstats.errors") else "an exception"
        lines = [
            f"{Path(frame.f_code.co_filename).relative_to(PACKAGE.parent)}, line {line}"
            for frame, line in walk_tb(error.__traceback__)
            if PACKAGE in Path(frame.f_code.co_filename).parents
        ]
        text = str(error) if kind is DataError and is_own(error) else ""
        return Failure(named, lines[-1] if lines else "code of another package", text)

    def error(self, name: str) -> Exception:
        """What the curator raises."""
        if self.text:
            return DataError(self.text)
        return WorkError(
            f"release {name!r} failed on a worker: {self.kind}, in {self.where}. More is not shown, because "
            "it may depend on private values; what was charged is spent"
        )


@dataclass(frozen=True)
class Task:
    """What a pure function of blocks adds up to over a part, read in blocks of `size` rows.

    Two such sums add up by ``+`` in whatever order, and count their rows; `name` is that of the release.
    """

    design: PublicDesign
    name: str
    summed: Callable[[Iterable[Block]], Any]
    size: int

    @staticmethod
    def of(design: PublicDesign, asked: Sequence[Named], size: int) -> "Task":
        """The sums of registered statistics."""
        name = " and ".join(name for name, _ in asked)
        return Task(design, name, functools.partial(partial, design, asked), size)

    def __call__(self, part: TablePart) -> Any:
        try:
            with np.errstate(all="ignore"):
                return self.summed(passed(self.design, part.blocks(self.size)))
        except Exception as error:
            return Failure.of(error)


def run(task: bytes, part: TablePart) -> Any:
    """Do a pickled task: what a worker calls."""
    return pickle.loads(task)(part)


def run_given(task: bytes, part: bytes, *inputs: Any) -> Any:
    """The same for a pickled part whose rows the cluster hands in."""
    return run(task, pickle.loads(part).given(*inputs))

"""Sums over some of the rows: pure functions of a design, public numbers and blocks, which may run anywhere.

Totals of parts add up to the total of all rows, exactly (:class:`dpstats.curator.lattice.Total`). No noise is
drawn here and nothing is charged: what a total holds is private until the curator has added noise to it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, Passing, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, LatticeSum, Total
from dpstats.curator.statistics import REGISTRY, Statistic

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

    def __add__(self, other: PassTotals) -> PassTotals:
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
            lattice.add(_times(factors, block.weight) if weighed else factors, block.ok)
    return PassTotals(tuple(lattice.total for _, lattice, _ in sums))


def _times(factors: Iterable[Factor], weight: np.ndarray) -> list[Factor]:
    """What rows of these weights add."""
    root = np.sqrt(weight)
    return [Factor(left * (root if right is None else weight)[:, None], right) for left, right in factors]

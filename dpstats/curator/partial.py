"""Sums over some of the rows: pure functions of a design, public numbers and blocks, which may run anywhere.

Totals of parts add up to the total of all rows, exactly (:class:`dpstats.curator.lattice.Total`). No noise is
drawn here and nothing is charged: what a total holds is private until the curator has added noise to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import LatticeSum, Total
from dpstats.curator.statistics import REGISTRY, Statistic

__all__ = ["partial", "statistic_of", "summed"]


def statistic_of(design: PublicDesign, name: str, public: Mapping[str, Any]) -> Statistic:
    """A registered statistic with its public parameters."""
    if name not in REGISTRY:
        raise ValueError(f"no statistic is called {name!r}; there are {', '.join(sorted(REGISTRY))}")
    return REGISTRY[name](design, **public)


def partial(design: PublicDesign, name: str, public: Mapping[str, Any], blocks: Iterable[Block]) -> Total:
    """The sums of a registered statistic over blocks, and how many rows they have.

    The same blocks give the same bits; of rows that are cut into other blocks the sums agree within the slack
    of :mod:`dpstats.curator.lattice`.
    """
    return summed(statistic_of(design, name, public), blocks, Scratch())


def summed(statistic: Statistic, blocks: Iterable[Block], scratch: Scratch) -> Total:
    """The same for a statistic that is there, in arrays that are used again."""
    lattice = LatticeSum(statistic.parts)
    for block in blocks:
        lattice.add(statistic.factors(block, scratch), block.ok)
    return lattice.total

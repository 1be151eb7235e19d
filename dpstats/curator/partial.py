"""Sums over some of the rows: pure functions of a design, public numbers and blocks, which may run anywhere.

Totals of parts add up to the total of all rows, exactly (:class:`dpstats.curator.lattice.Total`). No noise is
drawn here and nothing is charged: what a total holds is private until the curator has added noise to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, LatticeSum, Total
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
    return summed(design, statistic_of(design, name, public), blocks, Scratch())


def summed(design: PublicDesign, statistic: Statistic, blocks: Iterable[Block], scratch: Scratch) -> Total:
    """The same for a statistic that is there, in arrays that are used again.

    Where rows count units a row of weight v, its share of the public maximum, adds v f in the place of what
    it adds alone, f. The sensitivity of the statistic holds for these sums too: v f lies between 0 and f, the
    norm of v f - w g is convex in v and in w, so that it is largest where each is 0 or 1, and there rows are
    whole, or weigh nothing as a row does that is not valid. The same goes for each of its coordinates.
    """
    lattice = LatticeSum(statistic.parts)
    weighed = design.counts_units and statistic.by_unit
    for block in blocks:
        factors = statistic.factors(block, scratch)
        lattice.add(_times(factors, block.weight) if weighed else factors, block.ok)
    return lattice.total


def _times(factors: Iterable[Factor], weight: np.ndarray) -> list[Factor]:
    """What rows of these weights add."""
    root = np.sqrt(weight)
    return [Factor(left * (root if right is None else weight)[:, None], right) for left, right in factors]

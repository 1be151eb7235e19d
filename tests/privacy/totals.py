"""A statistic with every kind of sensitivity, for tests of pure epsilon; not part of the package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from dpstats.curator import statistics
from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics import Statistic


class Totals(Statistic):
    """Sum of the covariates, each clipped to [-1, 1] and multiplied by its public scale.

    Notes
    -----
    Two rows differ by at most 2 scale_j in each coordinate, all at once between opposite corners. That bounds
    every norm; what is not in `declared` is not told, but for the L2 norm.
    """

    name = "totals"

    def __init__(
        self, design: PublicDesign, *, scale: Sequence[float], declared: Sequence[str] = ("ranges", "l1")
    ) -> None:
        self._scale = np.asarray(scale, dtype=float)
        self.parts = (Part(np.ones(1), self._scale),)
        self.sensitivity = 2 * float(np.linalg.norm(self._scale))
        if "l1" in declared:
            self.sensitivity_l1 = 2 * float(self._scale.sum())
        if "ranges" in declared:
            self.ranges = 2 * self._scale
        if "head" in declared:
            self.sensitivity_head = 2 * float(np.linalg.norm(self._scale[:-1]))
            self.ranges = np.append(np.full(len(self._scale) - 1, np.inf), 2 * self._scale[-1])

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        entries = np.clip(block.exog[:, -len(self._scale) :], -1.0, 1.0) * self._scale
        return (Factor(block.ok[:, None].astype(float), entries),)

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)


@contextmanager
def registered(*kinds: type[Statistic]) -> Iterator[None]:
    """Let curators know `kinds` for a while."""
    before = dict(statistics.REGISTRY)
    statistics.REGISTRY.update({kind.name: kind for kind in kinds})
    try:
        yield
    finally:
        statistics.REGISTRY.clear()
        statistics.REGISTRY.update(before)

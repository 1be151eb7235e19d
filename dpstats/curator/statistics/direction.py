"""Scores of location alone, of rows whose directions count more than their lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, events, shorten
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic
from dpstats.families import SEV, Family
from dpstats.families.martingale import taper

__all__ = ["DirectionScore"]

# cumulative hazard at which a row stops being observed: residuals are then within [-1, 1], and no further
_CUT = 4 / 3


class DirectionScore(Statistic):
    name = "direction_score"

    def __init__(self, design: PublicDesign, *, family: Family, gamma: np.ndarray, sigma: float,
                 whitening: np.ndarray, radius: float, **row: Any) -> None:
        self._map = Map(design, **row)
        self._family, self._cut = family, taper(SEV, _CUT)
        self._gamma, self._sigma, self._radius = np.asarray(gamma, dtype=float), sigma, radius
        self._whitening = np.asarray(whitening, dtype=float)
        self.parts = (Part(np.full(len(self._whitening), radius), np.ones(1)),)
        self.sensitivity = 2 * radius

    def _hazard(self, z):
        return self._family.log_cumulative_hazard(z)

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        x_tilde = self._map.x(block, scratch)
        z = self._map.residuals(x_tilde, block, scratch, self._gamma, self._sigma)
        entry = self._map.entries(x_tilde, block, scratch, self._gamma, self._sigma)
        s = self._hazard(z)
        psi = self._cut.integrals(s).location - events(block, scratch) * self._cut.g(s)
        if entry is not None:
            psi -= self._cut.integrals(self._hazard(np.minimum(entry, z))).location
        x = np.dot(self._whitening, x_tilde, out=scratch("row", *x_tilde.shape))
        np.multiply(x, shorten(x, self._radius, scratch), out=x)
        return (Factor(x.T, psi[:, None]),)

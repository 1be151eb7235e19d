"""Failures seen and expected, by the cumulative hazard at which they happen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.geometry import Map, events
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.base import Statistic
from dpstats.families import Family

__all__ = ["HazardZones"]


class HazardZones(Statistic):
    """Events seen, and hazard collected, in each zone of cumulative hazard; two arrays of shape (J,).

    A row with cumulative hazard H = H(z) at the end of its observation, and H_0 at its entry (0 without one),
    gives, for the zone (u_{j-1}, u_j], 1 if it has an event there, and its stay there, the length of what the
    zone and (H_0, H] have in common. At the truth both have the
    same mean, whatever the covariates and the (independent) censoring: a check of the error law.

    Parameters
    ----------
    design : PublicDesign
    **row
        The public map of rows: center, scale, y_center, y_scale and log of
        :class:`dpstats.curator.geometry.Map`.
    family : Family
    gamma : array_like, shape (k,)
        Location coefficients on the mapped scale.
    sigma : float
    edges : sequence of float
        0 < u_1 < ... < u_J; the first zone begins at 0.

    Notes
    -----
    Sensitivity: sqrt(2 + |W|^2), W the widths of the zones. In the event part two rows differ by at most two
    entries of 1. A stay lies between 0 and the width of its zone, so two rows' stays differ by at most that.
    Approached by an event at H -> 0 against one at the end of the last zone.
    """

    name = "hazard_zones"

    def __init__(
        self,
        design: PublicDesign,
        *,
        family: Family,
        gamma: np.ndarray,
        sigma: float,
        edges: Sequence[float],
        **row: Any,
    ) -> None:
        self._map = Map(design, **row)
        self._family, self._gamma, self._sigma = family, np.asarray(gamma, dtype=float), sigma
        self._upper = np.asarray(edges, dtype=float)
        self._lower = np.concatenate([[0.0], self._upper[:-1]])
        widths = self._upper - self._lower
        if not (widths > 0).all():
            raise ValueError("the edges of the zones must be positive and increase")
        zones = len(widths)
        self.parts = (Part(np.ones(1), np.concatenate([np.ones(zones), widths])),)
        self.sensitivity = math.sqrt(2 + float(widths @ widths))

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        x = self._map.centred(block, scratch)
        z = self._map.residuals(x, block, scratch, self._gamma, self._sigma)
        entry = self._map.entries(x, block, scratch, self._gamma, self._sigma)
        hazard = self._hazard(z)
        since = 0.0 if entry is None else self._hazard(np.minimum(entry, z))
        zones, event = len(self._upper), events(block, scratch)
        right = scratch("zones", 2 * zones, len(z))
        for j, (lower, upper) in enumerate(zip(self._lower, self._upper, strict=True)):
            right[j] = event * ((hazard > lower) & (hazard <= upper))
            right[zones + j] = np.clip(hazard, lower, upper) - np.clip(since, lower, upper)
        return (Factor(block.ok[:, None].astype(float), right.T),)

    def _hazard(self, z: np.ndarray) -> np.ndarray:
        return np.exp(np.minimum(self._family.log_cumulative_hazard(z), 700.0))

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(np.split(vector, 2))

"""Failures seen against failures expected, by the cumulative hazard at which they happen.

See docs/theory/survival.md#check-of-the-law.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.lattice import Factor, Part
from dpstats.curator.statistics.at_residuals import AtResiduals


class HazardContrasts(AtResiduals):
    """Contrasts between zones of cumulative hazard of the events seen and expected, one array of shape (K,).

    A row with cumulative hazard H = H(z) at the end of its observation, and H_0 at its entry (0 without one),
    gives, for the step function a that is a_j in the zone (u_{j-1}, u_j] and 0 beyond the last,

        event a(H) - (A(H) - A(H_0)),    A(H) = integral of a from 0 to H.

    At the truth its mean is 0, whatever the covariates and the (independent) censoring: a check of the error
    law.

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
    contrasts : array_like, shape (K, J)
        a_j of each contrast.

    Notes
    -----
    Sensitivity: the largest distance between two of the values that rows have at the edges of zones. Let H
    lie in one zone and H_0 <= H in another or the same, with an event or without. There A is linear, so the
    values of rows are an affine image of a polygon of pairs (H_0, H), whose corners are pairs of edges: they
    lie in the convex hull of the values at those corners, the event counted with the a of the zone of H on
    both its edges. Beyond the last edge nothing changes any more, and an event there is a row without one.
    The row that weighs nothing is one without an event that leaves as it enters. A norm of a difference is
    convex, so that it is largest at corners of both hulls; likewise for each range. A row that failed between
    two residuals gives a mean of what failures there give, which lies in the hull of all corners
    (:mod:`dpstats.families.between`).
    Attained or, where a zone leaves its lower edge out, approached by the rows of the two farthest corners.
    """

    name = "hazard_contrasts"

    def __init__(
        self,
        design: PublicDesign,
        *,
        edges: Sequence[float],
        contrasts: np.ndarray,
        **point: Any,
    ) -> None:
        super().__init__(design, **point)
        self._upper, self._steps = np.asarray(edges, dtype=float), np.asarray(contrasts, dtype=float)
        self._lower = np.concatenate([[0.0], self._upper[:-1]])
        if not (self._upper > self._lower).all():
            raise ValueError("the edges of the zones must be positive and increase")
        corners = np.array(list(self._corners(design.delayed)))
        apart = corners[:, None] - corners
        self.parts = (Part(np.ones(1), np.abs(corners).max(axis=0)),)
        self.sensitivity = float(np.linalg.norm(apart, axis=2).max())
        self.ranges = np.ptp(corners, axis=0)

    def _corners(self, delayed: bool) -> Iterator[np.ndarray]:
        """Values of rows that enter and leave at edges, without an event and with one on either side."""
        steps = self._steps.T
        sums = np.vstack([np.zeros(len(self._steps)), np.cumsum(steps * self._widths[:, None], axis=0)])
        for end in range(len(sums)):
            for start in range(end + 1) if delayed else (0,):
                without = sums[start] - sums[end]
                yield without
                yield from (without + step for step in steps[max(end - 1, 0) : end + 1])

    @property
    def _widths(self) -> np.ndarray:
        return self._upper - self._lower

    def factors(self, block: Block, scratch: Scratch) -> tuple[Factor, ...]:
        _, (z, event, entry, known) = self.watched(block, scratch)
        hazard = self._hazard(z)
        since = 0.0 if entry is None else self._hazard(np.minimum(entry, z))
        last = None if known is None else self._hazard(known.upper)
        right = scratch("contrasts", len(self._steps), len(z))
        right.fill(0.0)
        for lower, upper, steps in zip(self._lower, self._upper, self._steps.T, strict=True):
            beyond = event * ((hazard > lower) & (hazard <= upper))
            first = np.clip(hazard, lower, upper)
            beyond -= first - np.clip(since, lower, upper)
            if known is not None and last is not None:
                beyond += (np.clip(last, lower, upper) - first) * known.odds
            right += steps[:, None] * beyond
        return (Factor(block.ok[:, None].astype(float), right.T),)

    def _hazard(self, z: np.ndarray) -> np.ndarray:
        return np.exp(np.minimum(self._family.log_cumulative_hazard(z), 700.0))

    def unpack(self, vector: np.ndarray) -> tuple[np.ndarray, ...]:
        return (vector,)

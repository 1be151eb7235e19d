"""One marginal effect: what is contrasted, by how much, and how that moves with the coefficients."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpstats.families import IDENTITY
from dpstats.results.record import Record

DERIVATIVE = "dy/dx"
TINY = np.finfo(float).tiny


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of one variable at all points: what is contrasted, (m,) effects, and their (m, k) gradients."""

    variable: str
    contrast: str
    effect: np.ndarray
    gradient: np.ndarray

    def averaged(self) -> Effect:
        """The mean over all points."""
        means = self.effect.mean(keepdims=True), self.gradient.mean(axis=0, keepdims=True)
        return replace(self, effect=means[0], gradient=means[1])


def kept(record: Record, gradient: np.ndarray, exog: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Keep a gradient from underflowing to 0 far out on a curved link.

    It is 0 only where nothing changes; a 0 would hide that the effect rests on a coefficient that is not
    estimable.
    """
    k = gradient.shape[1]
    used = ((exog != 0) | (change[:, :k] != 0)) & (change != 0).any(axis=1)[:, None]
    return np.where(used & (gradient == 0), TINY, gradient) if record.link is not IDENTITY else gradient

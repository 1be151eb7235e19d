"""One step of an iteration, no longer than its cap."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def capped(step: Array, longest: float) -> tuple[Array, bool]:
    """A step in whitened coordinates, no longer than `longest`; and whether it was cut short."""
    length = float(np.linalg.norm(step))
    return step * min(1.0, longest / max(length, 1e-300)), length > longest

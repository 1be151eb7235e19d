"""One step of an iteration, no longer than its cap."""

import numpy as np

LONGEST = 2.0  # cap of a step of the location, in sds of the linear predictor, or sigmas
DAMPING = 0.4  # of averaged steps; their average is unchanged by it, their scatter is smaller
CHOOSE = 4  # early step before which bounds are chosen from the releases so far


def capped(step: np.ndarray, longest: float) -> tuple[np.ndarray, bool]:
    """A step in whitened coordinates, no longer than `longest`; and whether it was cut short."""
    length = float(np.linalg.norm(step))
    return step * min(1.0, longest / max(length, 1e-300)), length > longest

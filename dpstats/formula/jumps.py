"""Whether functions of one number jump: comparisons, intervals of `cut` and roundings do, hinges do not."""

from collections.abc import Callable, Sequence

import numpy as np

LOOKS = 1024  # of the bounds; two jumps that undo each other within one are not seen
LEAST = 1e-6  # share of a function's range that a jump is


def jumps(columns: Callable[[np.ndarray], Sequence[np.ndarray]], bounds: tuple[float, float]) -> bool:
    """Return whether one of the columns changes at once somewhere between the bounds.

    Cells are halved while a function changes in them, and what changes between neighbouring floats jumps.

    Parameters
    ----------
    columns : callable
        Takes values of the number, shape (n,); gives q arrays of this shape.
    bounds : (low, high)
    """
    grid = np.linspace(*bounds, LOOKS + 1)
    values = np.array(columns(grid), dtype=float)
    least = LEAST * np.ptp(values, axis=1)
    changes = np.abs(np.diff(values)) > least[:, None]
    own, at = np.nonzero(changes)
    low, high = grid[at], grid[at + 1]
    while len(own):
        middle = low + (high - low) / 2
        if ((middle == low) | (middle == high)).any():
            return True
        left, right = np.concatenate([low, middle]), np.concatenate([middle, high])
        own, each = np.tile(own, 2), np.arange(2 * len(own))
        start, end = (np.array(columns(ends), dtype=float)[own, each] for ends in (left, right))
        kept = np.abs(end - start) > least[own]
        own, low, high = own[kept], left[kept], right[kept]
    return False

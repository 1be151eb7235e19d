"""Where monotone conditions cease to hold, of many numbers at once."""

from collections.abc import Callable

import numpy as np

_HALVINGS = 60  # to the last bit of numbers in a range


def halved(short: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where conditions that hold at the low ends and not at the high ones cease to, by halving."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        still = short(middle)
        low, high = np.where(still, middle, low), np.where(still, high, middle)
    return high

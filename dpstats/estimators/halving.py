"""Where monotone conditions cease to hold, and increasing functions are 0, of many numbers at once."""

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


def rooted(
    off: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    near: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    enough: float,
) -> np.ndarray:
    """Where increasing functions are 0, to within `enough`, by Newton's method from numbers that are near.

    A step that leaves what is known to hold the root goes to the middle of that.

    Parameters
    ----------
    off : callable
        The functions and their slopes.
    near, low, high : array
        Between the ends, at which the functions are not above and not below 0.
    enough : float
    """
    for _ in range(_HALVINGS):
        value, slope = off(near)
        if not (np.abs(value) > enough).any():
            break
        low, high = np.where(value < 0, near, low), np.where(value < 0, high, near)
        moved = near - value / np.maximum(slope, np.finfo(float).tiny)
        inside = (low <= moved) & (moved <= high)
        near = np.where(np.abs(value) > enough, np.where(inside, moved, (low + high) / 2), near)
    return near

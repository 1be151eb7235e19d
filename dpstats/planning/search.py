"""The smallest budget, or number of rows, at which intervals are as short as is asked."""

from __future__ import annotations

import math
from collections.abc import Callable

_CLOSE = 0.04  # on the log scale
_STEPS = 12  # of a first look
_SHORTEST, _LONGEST = 0.1, math.log(4)  # steps on the log scale; the shortest doubles each time
_ROUNDS = 6
_WORST = 20.0  # log ratio that stands for an infinite one


def smallest(ratio: Callable[[float], float], start: float) -> float | None:
    """The smallest factor at which a falling `ratio` is at most 1, within 4 %; None if none is found.

    Parameters
    ----------
    ratio : callable
        What is reached over what is asked, positive or infinite, of a factor.
    start : float
        A guess of the factor.
    """

    def excess(place: float) -> float:
        found = ratio(math.exp(place))
        return min(math.log(found), _WORST) if math.isfinite(found) else _WORST

    at = math.log(start)
    value = excess(at)
    upward = value > 0
    for step in range(_STEPS):
        before, last = at, value
        size = max(1.5 * abs(value), _SHORTEST * 2**step)  # ratios fall at most as 1/factor does
        at += math.copysign(min(size, _LONGEST), value)
        value = excess(at)
        if (value > 0) != upward:
            break
    else:
        return None if upward else math.exp(at)
    (low, over), (high, under) = sorted([(before, last), (at, value)])
    for _ in range(_ROUNDS):
        if high - low < _CLOSE:
            break
        edge = (high - low) / 8  # of a straight line that says nothing new, or a jump
        straight = low + (high - low) * over / (over - under)
        middle = min(max(straight, low + edge), high - edge) if over < _WORST else (low + high) / 2
        value = excess(middle)
        if value > 0:
            low, over = middle, value
        else:
            high, under = middle, value
    return math.exp(high)


def rounded_up(value: float, digits: int = 2) -> float:
    """To significant digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return float(f"{math.ceil(value / unit * (1 - 1e-9)) * unit:.{digits + 2}g}")

"""What the left side of a formula says of each row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpstats.formula.functions import Array


class Ends(NamedTuple):
    """Between which times each row failed: from -inf where it is left-censored, to inf where right-censored.

    Both are the same time where a failure was seen.
    """

    lower: Array
    upper: Array


class Observed(NamedTuple):
    """Of each row: the response, 1 where it failed and 0 where it is right-censored, its entry and its ends.

    Ends are None where no failure can lie between two times.
    """

    value: Array
    event: Array
    entry: Array
    ends: Ends | None = None


def within(values: Array, bounds: tuple[float, float]) -> Array:
    """Values moved into bounds; NaN to the lower one."""
    return np.fmin(np.fmax(values, bounds[0]), bounds[1])

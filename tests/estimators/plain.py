"""Moments of a line whose coordinates are those of its columns, without noise unless it is given."""

from typing import Any

import numpy as np

from dpstats.moments import LinearMoments


def plain_moments(n: int, gram: Any, cross: Any, square: float, **changes: Any) -> LinearMoments:
    """Of n rows and k columns, all of which a penalty shrinks; `changes` are other fields."""
    k = len(cross)
    fields: dict[str, Any] = dict.fromkeys(("noise_gram", "noise_cross", "noise_square"), 0.0)
    fields |= {"origin": np.zeros(k), "map": np.eye(k), "scale": 1.0, "penalised": np.ones(k)}
    return LinearMoments.of({"n": n, "gram": gram, "cross": cross, "square": square, **fields, **changes})

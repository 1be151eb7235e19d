"""How far apart two rows of a regression of hazards can be: a public calculation on the corners of what they
may have.

The proof stands with the statistic, :class:`dpstats.curator.statistics.hazard_score.HazardScore`.
"""

import functools
import math
from itertools import product
from typing import NamedTuple

import numpy as np

_KINDS = 4  # pieces that two rows can tell apart: of each, that of its event and that of its hazard, in order


class HazardBounds(NamedTuple):
    """What the information matrix is released times, and the L2 sensitivity of the release."""

    matrix_weight: float
    sensitivity: float


@functools.lru_cache(maxsize=512)
def hazard_bounds(c: float, radius: float, matrix_share: float) -> HazardBounds:
    """Of rows that stop being observed at a cumulative hazard of c, no longer than `radius`.

    Parameters
    ----------
    c, radius : float
    matrix_share : float
        Size of the matrix's largest contribution against the largest distance of scores.
    """
    none, corners = _KINDS, np.vstack([np.eye(_KINDS), np.zeros(_KINDS)])
    pairs = [(event, at) for event, at in product(range(none + 1), repeat=2) if at <= event or at == none]
    rows = np.array([corners[event] - c * corners[at] for event, at in pairs])
    failed = np.array([event < none for event, _ in pairs], dtype=float)
    lengths, psi = np.sum(rows**2, axis=1), np.abs(rows.sum(axis=1))
    apart = np.sum((rows[:, None] - rows) ** 2, axis=2)
    baseline = np.maximum(apart, np.maximum(lengths[:, None], lengths))
    squares = baseline + radius**2 * (psi[:, None] + psi) ** 2
    alone = float(squares.max())
    # in units of the largest matrix, whose square is half of matrix_share^2 times that of the scores
    whole = float((squares + matrix_share**2 * alone / 2 * (failed[:, None] + failed)).max())
    return HazardBounds(matrix_share * math.sqrt(alone / 2) / (1 + radius**2), math.sqrt(whole))

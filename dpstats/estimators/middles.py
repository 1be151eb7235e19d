"""Where the numbers of products lie, so that these can be told about middles.

See docs/theory/first_stage.md#middles-of-products.
"""

import math

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.engine.plan import Plan, Stage
from dpstats.estimators.zoom import EQUAL_CELLS, in_cells
from dpstats.moments.noisy import SEEN

_FARTHER = 2.0  # half-widths of the cells where rows are seen that others may lie from their middle


def middles(
    curator: Curator, total: float, pure: bool, bounds: np.ndarray
) -> list[tuple[float, float, float]]:
    """Release about where columns lie: counts by cells of declared boxes, and means where these stand out.

    Parameters
    ----------
    curator : Curator
        Its design has an intercept and these columns.
    total : float
        In epsilon, if `pure`, else in mu.
    pure : bool
    bounds : array, shape (d + 1, 2)
        Declared, of the columns and, last, of the response.

    Returns
    -------
    list of (float, float, float)
        Of each column and of the response a middle, 0 where noise may have made it, and between which ends
        most rows lie.
    """
    cells, means = Plan(total, pure, {"both": Stage(1.0, "middles", (1.0, 1.0))})["both"]
    center, half = bounds.mean(axis=1), np.maximum(np.ptp(bounds, axis=1) / 2, 1e-9)
    public = dict(log=False, chosen=np.ones(len(bounds) - 1, dtype=bool), apart=True)
    nowhere = np.full(len(bounds), math.nan)
    counts = curator.release(
        "reach_counts", cells, cells=EQUAL_CELLS, origin=nowhere, center=center, half=half, **public
    )
    seen = in_cells(counts, nowhere)
    center, half = center + half * seen.center, half * seen.half
    release = curator.release("reach_means", means, center=center, half=half, **public)
    middle = center + half * np.clip(release.values[0] / release.n, -1, 1)
    sure = np.abs(middle) > SEEN * half * release.sd / release.n
    places = np.vstack(
        [np.where(sure, middle, 0.0), np.clip(center + _FARTHER * half * [[-1], [1]], *bounds.T)]
    )
    return [(at, low, high) for at, low, high in places.T.tolist()]

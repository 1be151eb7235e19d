"""Does the error law hold? Failures seen against expected, by zones of cumulative hazard."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from dpstats.curator import Curator
from dpstats.estimators.columns import RowScale
from dpstats.estimators.location_scale.problem import Problem

Array = np.ndarray

# edges of the zones, in units of the hazard that an average row collects
_EDGES = (0.02, 0.1, 0.3, 0.7, 1.5, 4.0)
_LAST = 5.0
_DOUBTFUL = 1e-3


def law_in_doubt(
    curator: Curator, mu: float, problem: Problem, scale: RowScale, hazard: float, point: Array
) -> bool:
    """Whether failures come at other times than the family says, beyond noise and chance.

    The sum of squared differences, each over its sampling variance (the events seen) and its noise, is at
    most chi-square with one degree of freedom a zone where the model holds: fitting only lowers it. Zones
    are laid out by `hazard`, what an average row collects.
    """
    edges = [edge * hazard for edge in _EDGES if edge * hazard < _LAST]
    release = curator.release(
        "hazard_zones", mu, **scale.public(), family=problem.family, gamma=point[:-1],
        sigma=math.exp(point[-1]), edges=edges,
    )  # fmt: skip
    seen, expected = release.values
    variances = np.maximum(np.maximum(seen, expected), 0.0) + 2 * release.sd**2
    square = float(np.sum((seen - expected) ** 2 / variances))
    return float(stats.chi2.sf(square, len(edges))) < _DOUBTFUL

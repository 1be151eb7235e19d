"""A release of the martingale score on the scale of sums per row, its public weights taken off.

See docs/theory/survival.md#joint-sensitivity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpstats.curator import Release
from dpstats.families.score_bounds import ScoreBounds

Array = np.ndarray


class Reading(NamedTuple):
    """Scores of the location and, last, log sigma, and the information matrix, each with its noise sds."""

    scores: Array
    noise: Array
    matrix: Array
    matrix_sd: Array


def per_row(release: Release, bounds: ScoreBounds, radius: float) -> Reading:
    """Read what "martingale_score" released with rows of at most this length."""
    location, log_sigma, matrix = release.values
    n, sd = release.n, release.sd / release.n
    kappa, tau = radius * bounds.log_sigma_weight, bounds.matrix_weight / radius
    unit = np.append(np.ones(location.size), 1 / (radius * bounds.log_sigma_unit))
    per_unit = np.outer(unit, unit) / tau
    return Reading(
        np.append(location.ravel() / n, log_sigma.item() / n / kappa),
        np.append(np.full(location.size, sd), sd / kappa),
        matrix / n * per_unit,
        sd * per_unit,
    )

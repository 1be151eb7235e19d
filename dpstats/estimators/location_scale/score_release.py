"""A release of the martingale score on the scale of sums per row, its public weights taken off.

See docs/theory/survival.md#joint-sensitivity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.location_scale.bounds import Bounding, Choice
from dpstats.estimators.location_scale.placement import Placement
from dpstats.families.score_bounds import Truncation

Array = np.ndarray


class Reading(NamedTuple):
    """Scores of the location and, last, log sigma, and the information matrix, each with its noise sds.

    And the limits and the pivot with which they were taken. Of a known scale, the location alone.
    """

    scores: Array
    noise: Array
    matrix: Array
    matrix_sd: Array
    where: Truncation
    pivot: Array


def release_scores(
    curator: Curator, mu: float, bounding: Bounding[Placement], choice: Choice, whitening: Array, point: Array
) -> Reading:
    """Release the scores and their information at (gamma, log sigma) `point`."""
    public = bounding.public(choice, whitening, point)
    if bounding.placement.problem.known_scale:
        return _of_location(curator, mu, bounding, public)
    release = curator.release("martingale_score", mu, **public, matrix_share=bounding.matrix_share)
    location, log_sigma, matrix = release.values
    bounds, n, sd = bounding.bounds(public["where"]), release.n, release.sd / release.n
    kappa, tau = choice.radius * bounds.log_sigma_weight, bounds.matrix_weight / choice.radius
    unit = np.append(np.ones(location.size), 1 / (choice.radius * bounds.log_sigma_unit))
    per_unit = np.outer(unit, unit) / tau
    return Reading(
        np.append(location.ravel() / n, log_sigma.item() / n / kappa),
        np.append(np.full(location.size, sd), sd / kappa),
        matrix / n * per_unit,
        sd * per_unit,
        public["where"],
        public["pivot"],
    )


def _of_location(
    curator: Curator, mu: float, bounding: Bounding[Placement], public: dict[str, Any]
) -> Reading:
    release = curator.release("known_scale_score", mu, **public, matrix_share=bounding.matrix_share)
    (location, matrix), sd = release.values, release.sd / release.n
    per_unit = public["radius"] / bounding.bounds(public["where"]).matrix_weight
    return Reading(
        location.ravel() / release.n,
        np.full(location.size, sd),
        matrix / release.n * per_unit,
        np.full(matrix.shape, sd * per_unit),
        public["where"],
        public["pivot"],
    )

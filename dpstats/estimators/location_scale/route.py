"""Routes of a location-scale regression that step by the information, and how they read its scores.

:mod:`.gaussian` and :mod:`.strata` release the information with every score, :mod:`.pure` its sizes. The
route of :mod:`.signs`, which is none of these, moves slopes and level in turn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.engine import route as engine
from dpstats.estimators.location_scale.bounds import MATRIX_SHARE, Bounding, Choice
from dpstats.estimators.location_scale.estimate import SurvivalEstimate
from dpstats.estimators.location_scale.events import Events, Whitening
from dpstats.estimators.location_scale.placement import PlacedByLine, Placement
from dpstats.estimators.location_scale.problem import LARGEST_LOG_SIGMA
from dpstats.families.score_bounds import Truncation


@dataclass(frozen=True)
class WhitenedScores(engine.Scores):
    """Those of the location are whitened and, last, that of log sigma is about the pivot.

    Of a known scale, the location's alone.
    """

    pivot: np.ndarray


@dataclass(frozen=True)
class Reading(WhitenedScores):
    """With the information matrix, its noise sds, and the limits with which all was taken.

    See docs/theory/survival.md#joint-sensitivity.
    """

    matrix: np.ndarray
    matrix_sd: np.ndarray
    where: Truncation


def release_scores(
    curator: Curator,
    mu: float,
    bounding: Bounding[Placement],
    choice: Choice,
    whitening: np.ndarray,
    point: np.ndarray,
) -> Reading:
    """Release the scores and their information at (gamma, log sigma) `point`."""
    public = dict(bounding.public(choice, whitening, point), matrix_share=MATRIX_SHARE)
    return scores_of(curator.release("martingale_score", mu, **public), bounding, public)


def scores_of(release: Release, bounding: Bounding[Placement], public: dict[str, Any]) -> Reading:
    """A release of scores, its public weights taken off."""
    location, *log_sigma, matrix = release.values
    bounds, radius, n = bounding.bounds(public["where"]), public["radius"], release.n
    kappa, tau = radius * bounds.log_sigma_weight, bounds.matrix_weight / radius
    own = np.ones(sum(each.size for each in log_sigma))
    unit = np.append(np.ones(location.size), own / (radius * bounds.log_sigma_unit))
    sd, per_unit = release.sd / n, np.outer(unit, unit) / tau
    return Reading(
        np.concatenate([location.ravel() / n, *(each.ravel() / n / kappa for each in log_sigma)]),
        np.append(np.full(location.size, sd), own * sd / kappa),
        public["pivot"],
        matrix / n * per_unit,
        sd * per_unit,
        public["where"],
    )


class WhitenedNewton(engine.Newton[WhitenedScores, SurvivalEstimate]):
    """Steps by the information, in coordinates in which the location is whitened.

    Attributes
    ----------
    bounding : Bounding
    choice : Choice
    whitening : Whitening
    moved : tuple of array
        The last early step, whitened, and the covariance of its noise.
    """

    bounding: Bounding[PlacedByLine]
    choice: Choice
    whitening: Whitening
    moved: tuple[np.ndarray, np.ndarray]

    @property
    def events(self) -> Events:
        return self.bounding.placement.events

    @property
    def place(self) -> tuple[Curator, Bounding[PlacedByLine], Choice, np.ndarray]:
        """What a look at the end of the fit needs."""
        return self.curator, self.bounding, self.choice, self.whitening.matrix

    def towards(self, read: WhitenedScores, damping: float = 1.0) -> None:
        """Move by an early step, and keep what it was, and the covariance of its noise."""
        inverse = self.information.inverse
        self.moved = inverse @ read.scores, (inverse * read.noise**2) @ inverse
        self.move(self.information.shrunk(read.scores, read.noise), read, damping)

    def move(self, step: np.ndarray, read: WhitenedScores, damping: float = 1.0) -> bool:
        """Move by a whitened step, no longer than the caps; whether one was binding."""
        self.point, short = self.whitening.moved(self.point, step, read.pivot, LARGEST_LOG_SIGMA, damping)
        return short

"""What a route is: the policy by which the driver fits a location-scale regression.

The driver (:mod:`.driver`) goes the same way in every fit. Routes differ in what they release at a point, in
how a step is made of it, and in what the last steps say together: :mod:`.gaussian` and :mod:`.strata` release
the information with every score, :mod:`.pure` its sizes, and :mod:`.signs` moves slopes and level in turn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from dpstats.curator import Curator, Release
from dpstats.estimators.engine.information import Information
from dpstats.estimators.location_scale.bounds import Bounding, Choice
from dpstats.estimators.location_scale.estimate import Estimate, Steps
from dpstats.estimators.location_scale.placement import PlacedByLine, Placement
from dpstats.estimators.location_scale.problem import LARGEST_LOG_SIGMA
from dpstats.estimators.location_scale.whitening import Whitening
from dpstats.families.score_bounds import Truncation

Array = np.ndarray
C = TypeVar("C")


class Route(ABC, Generic[C]):
    """A policy of the driver, and where its iteration stands: released and public numbers only.

    Attributes
    ----------
    curator : Curator
    early, last : sequence
        What each step towards the root costs, and each of those that the estimate combines.
    point : array
        (gamma, log sigma), from which the next step goes.
    """

    point: Array

    def __init__(self, curator: Curator, early: Sequence[C], last: Sequence[C]) -> None:
        self.curator, self.early, self.last = curator, early, last

    @abstractmethod
    def prepare(self, t: int) -> None:
        """Choose bounds before early step `t`; the number of early ones stands for the last steps."""

    @abstractmethod
    def approach(self, t: int, cost: C) -> None:
        """Take early step `t`."""

    @abstractmethod
    def settle(self, cost: C) -> None:
        """Take one of the last steps, and keep what it says."""

    @abstractmethod
    def finish(self) -> Estimate:
        """What the last steps say together, and whether the law holds there."""


@dataclass(frozen=True)
class Scores:
    """Scores per row and their noise sds, the location's whitened and, last, log sigma's about the pivot.

    Of a known scale, the location's alone.
    """

    scores: Array
    noise: Array
    pivot: Array


@dataclass(frozen=True)
class Reading(Scores):
    """With the information matrix, its noise sds, and the limits with which all was taken.

    See docs/theory/survival.md#joint-sensitivity.
    """

    matrix: Array
    matrix_sd: Array
    where: Truncation


def release_scores(
    curator: Curator, mu: float, bounding: Bounding[Placement], choice: Choice, whitening: Array, point: Array
) -> Reading:
    """Release the scores and their information at (gamma, log sigma) `point`."""
    public = dict(bounding.public(choice, whitening, point), matrix_share=bounding.matrix_share)
    known = bounding.placement.problem.known_scale
    return scores_of(
        curator.release("known_scale_score" if known else "martingale_score", mu, **public), bounding, public
    )


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


class Newton(Route[float]):
    """Steps by the information, in coordinates in which the location is whitened.

    Attributes
    ----------
    bounding : Bounding
    choice : Choice
    whitening : Whitening
    information : Information
        As it is known for the next step.
    """

    bounding: Bounding[PlacedByLine]
    choice: Choice
    whitening: Whitening
    information: Information
    arrived = False  # whether the last steps have begun

    def __init__(self, curator: Curator, early: Sequence[float], last: Sequence[float]) -> None:
        super().__init__(curator, early, last)
        self._kept: list[tuple[Array, Array, Array, bool]] = []

    @abstractmethod
    def read(self, cost: float) -> Scores:
        """Release the scores where the iteration stands."""

    @abstractmethod
    def towards(self, read: Scores) -> None:
        """Move by an early step, shrunk by what noise alone would have made of it."""

    @abstractmethod
    def about(self, read: Scores) -> bool:
        """Move by one of the last steps; whether it was cut short."""

    def prepare(self, t: int) -> None:
        self.arrived = t == len(self.early)

    def approach(self, t: int, cost: float) -> None:
        self.towards(self.read(cost))

    def settle(self, cost: float) -> None:
        point, read = self.point, self.read(cost)
        self._kept.append((point, read.scores, read.noise, self.about(read)))

    def move(self, step: Array, read: Scores, damping: float = 1.0) -> bool:
        """Move by a whitened step, no longer than the caps; whether one was binding."""
        self.point, short = self.whitening.moved(self.point, step, read.pivot, LARGEST_LOG_SIGMA, damping)
        return short

    @property
    def steps(self) -> Steps:
        """The last ones."""
        points, scores, noise, capped = (np.array(each) for each in zip(*self._kept, strict=True))
        return Steps(points, scores, noise, capped, self.information)

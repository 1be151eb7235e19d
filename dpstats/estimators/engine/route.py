"""The one driver of iterations, and what a route is: the policy of a model, or of its noise.

Early steps find the neighbourhood of the root, and the last ones are combined. The number of steps is public;
nothing stops early. Routes differ in what they release at a point, in how a step is made of it, and in what
the last steps say together.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.engine.average import Steps
from dpstats.estimators.engine.information import Information

LONGEST = 2.0  # cap of a step of the location, in sds of the linear predictor, or sigmas
DAMPING = 0.4  # of averaged steps; their average is unchanged by it, their scatter is smaller
CHOOSE = 4  # early step before which bounds are chosen from the releases so far

C = TypeVar("C")
F = TypeVar("F")


class Route(ABC, Generic[C, F]):
    """A policy of the driver, and where its iteration stands: released and public numbers only.

    Attributes
    ----------
    curator : Curator
    early, last : sequence
        What each step towards the root costs, and each of those that are combined.
    """

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
    def finish(self) -> F:
        """What the last steps say together."""


def iterated(route: Route[C, F]) -> F:
    """All steps of a route, and what they say."""
    for t, cost in enumerate(route.early):
        route.prepare(t)
        route.approach(t, cost)
    route.prepare(len(route.early))
    for cost in route.last:
        route.settle(cost)
    return route.finish()


@dataclass(frozen=True)
class Scores:
    """Scores per row, in the coordinates of a step, and the sds of their noise, or one for all."""

    scores: np.ndarray
    noise: np.ndarray


S = TypeVar("S", bound=Scores)


class Newton(Route[float, F], Generic[S, F]):
    """Steps by the information.

    Attributes
    ----------
    point : array
        From which the next step goes.
    information : Information
        As it is known for the next step.
    arrived : bool
        Whether the last steps have begun.
    """

    point: np.ndarray
    information: Information
    arrived = False

    def __init__(self, curator: Curator, early: Sequence[float], last: Sequence[float]) -> None:
        super().__init__(curator, early, last)
        self._kept: list[tuple[np.ndarray, np.ndarray, np.ndarray, bool]] = []

    @abstractmethod
    def read(self, cost: float) -> S:
        """Release the scores where the iteration stands."""

    @abstractmethod
    def towards(self, read: S) -> None:
        """Move by an early step."""

    @abstractmethod
    def about(self, read: S) -> bool:
        """Move by one of the last steps; whether it was cut short."""

    def prepare(self, t: int) -> None:
        self.arrived = t == len(self.early)

    def approach(self, t: int, cost: float) -> None:
        self.towards(self.read(cost))

    def settle(self, cost: float) -> None:
        point, read = self.point, self.read(cost)
        self._kept.append((point, read.scores, read.noise, self.about(read)))

    @property
    def steps(self) -> Steps:
        """The last ones."""
        points, scores, noise, capped = (np.array(each) for each in zip(*self._kept, strict=True))
        return Steps(points, scores, noise, capped, self.information)


def capped(step: np.ndarray, longest: float) -> tuple[np.ndarray, bool]:
    """A step in whitened coordinates, no longer than `longest`; and whether it was cut short."""
    length = float(np.linalg.norm(step))
    return step * min(1.0, longest / max(length, 1e-300)), length > longest

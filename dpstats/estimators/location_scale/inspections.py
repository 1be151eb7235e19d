"""What failures say that are known to lie between two times: by a release of between which residuals.

Such a failure says less of the location than one that is seen, and much less of log sigma, by how far the
inspections are apart. Nothing public tells that; counts of rows by cells do, with hardly any noise.
See docs/theory/survival.md#failures-between-two-times.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.location_scale.bounds import FAR
from dpstats.estimators.location_scale.event_expectations import LEAST_SPREAD, Expectations, delayed
from dpstats.estimators.location_scale.event_law import WHOLE, EventLaw, EventMeans, Floor
from dpstats.estimators.location_scale.events import Events
from dpstats.estimators.location_scale.placement import PlacedByLine
from dpstats.estimators.location_scale.problem import SurvivalProblem, sigma_of
from dpstats.estimators.row_scale import RowScale
from dpstats.estimators.zoom import HIDDEN
from dpstats.families import Family
from dpstats.families.between import between
from dpstats.families.martingale import scores
from dpstats.families.quantiles import even_shares
from dpstats.families.tapers import Taper

# Ends of the cells, as shares that have failed by then: cells finer than these would hold more noise than
# they tell, at the budgets at which matrices are released.
_FAILED = np.sin(np.pi / 2 * even_shares(11)) ** 2
_EARLIEST, _BEYOND = -1000.0, 0.3  # residuals: of an open end, and from the last edge to the last cell's
# Of the slopes of the line through the points of the events, which are those of inspections too: between .6
# and .8 take away the correlation of log sigma and the slopes, of one inspection a row and of many. Where
# points hardly vary about their line, as at one time of inspection, all of them do.
_SLOPES = 0.7


@dataclass(frozen=True, eq=False)
class InspectedLaw(EventLaw):
    """Of events that lie between two residuals, `z` being their middle.

    Attributes
    ----------
    lower, upper : array, shape (m,)
        The same where an event was seen.
    """

    lower: np.ndarray = field(default_factory=lambda: np.zeros(0))
    upper: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def counted(cls, family: Family, edges: np.ndarray, counts: np.ndarray) -> "InspectedLaw":
        """By how many of them lie between which cells; the counts need not add up to 1."""
        ends = [2 * edges[0] - edges[1], edges[-1] + _BEYOND]
        middle = np.concatenate([ends[:1], (edges[1:] + edges[:-1]) / 2, ends[1:]])
        first, last = np.nonzero(counts > 0)
        weights = counts[first, last] / counts.sum()
        lower, upper = np.where((first == 0) & (last > 0), _EARLIEST, middle[first]), middle[last]
        z = np.where(first == last, upper, family.quantile((family.cdf(lower) + family.cdf(upper)) / 2))
        return cls(family, z, weights, z - weights @ z, np.zeros_like(z), None, lower, upper)

    @cached_property
    def floors(self) -> tuple[Floor, ...]:
        """As of events that are seen, which lose as much by them; of a score that says less."""
        seen = EventLaw(self.family, self.z, self.weights, self.about, self.place)
        size = math.sqrt(self.share / seen.share)
        return tuple(floor._replace(size=floor.size * size) for floor in seen.floors)

    def left(self, cut: Taper) -> EventMeans:
        return self._means(cut, self.centre + self.offset)

    @cached_property
    def one_end(self) -> np.ndarray:
        """Which of the cells have no lower end."""
        return self.lower == _EARLIEST

    def log_sigma(self, cut: Taper, about: float, varied: float) -> float:
        """Expected square of the log sigma score of an event.

        With one end, the score of log sigma is the location's times how far that end is off: over all such
        rows at most the location's information times the variance of their ends.

        Parameters
        ----------
        cut : Taper
        about : float
            Variance of the points about their line, in sigmas squared.
        varied : float
            That against the law's, at most 1.
        """
        both = self._means(cut, self.centre + self.offset, ~self.one_end)
        one = self._means(cut, self.centre + self.offset, self.one_end)
        return both.log_sigma * varied + min(one.log_sigma, one.location * about)

    @cached_property
    def share(self) -> float:
        """E[h1*^2], nothing cut, of what is left of it between two times."""
        return self._means(self.cut(WHOLE), 0.0).location

    @cached_property
    def offset(self) -> float:
        """The distance above the centre of the pivot for which log sigma has no part in the location."""
        means = self._means(self.cut(WHOLE), 0.0)
        return means.cross / means.location - self.centre

    def _means(self, cut: Taper, pivot: float, rows: np.ndarray | float = 1.0) -> EventMeans:
        with np.errstate(all="ignore"):
            known = between(self.family, self.lower, self.upper)
            found = scores(
                cut, known.z, known.seen * 1.0, np.full_like(known.z, pivot), (-FAR, FAR), known=known
            )
        products = (found.location**2, found.location * found.log_sigma, found.log_sigma**2)
        return EventMeans(*(self.mean(rows * found.kept * each) for each in products))


@dataclass(frozen=True)
class PlacedByInspections(PlacedByLine):
    """The events of rows that were inspected: their points say little of where they are.

    Attributes
    ----------
    law : InspectedLaw
    """

    law_of_rows: InspectedLaw

    def law(self, point: np.ndarray) -> EventLaw:
        return self.law_of_rows

    def expectations(self, point: np.ndarray) -> Expectations:
        return delayed(self.law_of_rows, self.expected)

    def line(self, point: np.ndarray) -> np.ndarray:
        slopes = 1 - (1 - _SLOPES) * self.varied(point)
        return np.append(self.law_of_rows.centre, slopes * super().line(point)[1:])

    def varied(self, point: np.ndarray) -> float:
        """How much events vary about their line, against the law of rows that are all alike; at most 1.

        Where they do not, inspections tell of no spread, and so not of log sigma.
        """
        return min(self._about(point) / max(self.law_of_rows.square, LEAST_SPREAD), 1.0)

    def log_sigma(self, point: np.ndarray, cut: Taper) -> float:
        """As :meth:`InspectedLaw.log_sigma`, by the line of the points at these values."""
        return self.law_of_rows.log_sigma(cut, self._about(point), self.varied(point))

    def _about(self, point: np.ndarray) -> float:
        return self.events.residual / self.events.fraction / sigma_of(point) ** 2

    def residual_square(self, point: np.ndarray) -> float:
        return float(max(self.law_of_rows.square, LEAST_SPREAD) * sigma_of(point) ** 2)


def placed(
    curator: Curator, mu: float, problem: SurvivalProblem, scale: RowScale, events: Events, point: np.ndarray
) -> PlacedByLine:
    """Where the events are: by their line or, of rows that were inspected, by a release of their residuals.

    Parameters
    ----------
    curator : Curator
    mu : float
        Spent on that release alone.
    problem, scale, events
        As of :class:`PlacedByLine`.
    point : array, shape (k + 1,)
        (gamma, log sigma) at which residuals are taken.
    """
    if not problem.intervals:
        return PlacedByLine(problem, scale, events)
    edges = problem.family.quantile(_FAILED)
    release = curator.release(
        "inspection_counts",
        mu,
        **scale.public(),
        family=problem.family,
        gamma=point[:-1],
        sigma=sigma_of(point),
        edges=edges,
    )
    side = len(edges) + 1
    counts = np.zeros((side, side))
    counts[np.triu_indices(side)] = release.values[0]
    counts[counts < HIDDEN * release.sd] = 0.0
    if not counts.any():
        np.fill_diagonal(counts, 1.0)
    return PlacedByInspections(problem, scale, events, InspectedLaw.counted(problem.family, edges, counts))

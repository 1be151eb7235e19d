"""Rows so far from all others that a fit does not follow them, such as codes of 9999: how many, in one count.

Least squares, or a likelihood, may be the fit of few such rows alone. A private fit, which bounds what any
row adds, is that of the others. Noise hides a few; how many there are beyond is counted.

See docs/theory/linear.md#rows-apart.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import special

from dpstats.curator import Release
from dpstats.estimators.engine.plan import Plan

# Sds of a column from its middle at which rows are apart: of a lognormal or t(3) column .00002 are. Where
# as many lie between a quarter of that and there, the column has a long tail, which intervals count.
FAR, NEAR = 30.0, 0.25
_BETWEEN = 0.5  # what a row between adds to the statistic
# chance that noise alone tells of rows apart
FALSE = 0.005


def exceeded(law: str, chance: float) -> float:
    """Sds that noise exceeds by this chance; that of pure epsilon has the tail of Laplace's."""
    if law == "gaussian":
        return -float(special.ndtri(chance))
    return -math.log(2 * chance) / math.sqrt(2)


class Apart(NamedTuple):
    """How many rows are apart: at most, as far as noise hides it, and whether some surely are."""

    most: int
    told: bool

    @classmethod
    def of(cls, release: Release, rows: float, reach: float) -> Self:
        """They are told where so many surely are that they may hold as much variance as all others, or more.

        More surely are than lie between, too, or the column has a long tail.

        Parameters
        ----------
        release : Release
            Of the statistic "rows_apart".
        rows : float
            How many count.
        reach : float
            Sds from the middle that any column may be by its declared bounds.
        """
        by_noise = exceeded(release.law, FALSE)
        (far, between), (sd, other) = (part[0] / (1.0, _BETWEEN) for part in (release.values, release.sds))
        told = far - by_noise * sd > max(rows / reach**2, between - by_noise * other)
        return cls(math.ceil(max(far, 0.0) + by_noise * sd), bool(told))


@dataclass(frozen=True)
class Whereabouts:
    """Where covariates and, last, the response were found, on the model's scale.

    Attributes
    ----------
    middle, sds : array, shape (d + 1,)
    farthest : array, shape (d + 1,)
        From the middle, as declared; 0 of columns of two values, none of which is apart.
    """

    middle: np.ndarray
    sds: np.ndarray
    farthest: np.ndarray

    @property
    def loose(self) -> np.ndarray:
        """Columns that were declared so wide that rows may be apart."""
        return self.farthest > FAR * self.sds

    @property
    def reach(self) -> float:
        """Sds from the middle that any column may be."""
        return float(np.max(self.farthest / self.sds))

    def spent(self, plan: Plan, last: str) -> Plan:
        """A plan whose last stage has the share of rows apart, too, where nothing is asked of them."""
        return plan if self.loose.any() else plan.given("apart", last)

    def public(self, apart: bool = False) -> dict[str, Any]:
        """Parameters of the statistic "rows_apart", which looks at loose columns; `apart` is one of them."""
        # in a box that is so much wider than declared no value is near an end
        half = np.where(self.loose, FAR * self.sds, 2 / NEAR * np.maximum(self.farthest, self.sds))
        chosen = self.loose[:-1]
        return dict(center=self.middle, half=half, log=False, chosen=chosen, apart=apart, near=NEAR)

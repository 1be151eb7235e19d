"""What is public about a fit (docs/theory/survival.md#model)."""

import math
from dataclasses import dataclass, field

import numpy as np

from dpstats.estimators.row_scale import Box, RowScale
from dpstats.families import Family

LARGEST_LOG_SIGMA = 0.7  # of one step
LOG_SIGMA_RANGE = (-6.0, 3.0)  # on the scale of the events, whatever noise makes of a step
# numbers that second moments with what is public of levels are, beyond which that is not used: time for it
# grows with their third power, and is a fifth of a fit at 700, of a hundred levels and six numbers
_MOST_ALIKE = 1000


def told_alike(alike: np.ndarray) -> np.ndarray:
    """Which products of two columns are the same, and of none where so many are that it is not used."""
    return alike if alike.max(initial=0) < _MOST_ALIKE else alike[:0, :0]


def sigma_of(point: np.ndarray) -> float:
    """The sigma of a point (gamma, log sigma)."""
    return math.exp(point[-1])


@dataclass(frozen=True)
class ScaleGroups:
    """Groups of rows with a sigma each, G of them, and k columns in which each has a level of its own.

    Attributes
    ----------
    inside : array, shape (G, k)
        Coefficients, of the intercept and the covariates, that make 1 in one stratum and 0 in all others.
    tied : array, shape (k, p)
        Coefficients of these columns, of the p that are estimated.
    """

    inside: np.ndarray
    tied: np.ndarray


@dataclass(frozen=True)
class SurvivalProblem:
    """Public facts of a location-scale regression with d covariates beside the intercept.

    Attributes
    ----------
    family : Family
    log : bool
        Whether the response is log time.
    box : Box
        Of the covariates and, last, of the response on the model's scale.
    delayed : bool
        Whether rows may enter late (left truncation).
    own : array of bool, shape (d,)
        Covariates of which nothing public says that they are correlated with others: no levels of one
        category, no products nor what they are made of. All, if empty.
    known_sigma : float, optional
        Sigma on the model's scale, where it is known and not estimated.
    intervals : bool
        Whether rows may be known to have failed between two times alone.
    units : float
        How many units a row stands for at most; releases count rows by their share of it.
    strata : ScaleGroups, optional
        Where groups of rows have a sigma each.
    """

    family: Family
    log: bool
    box: Box
    delayed: bool = False
    own: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    known_sigma: float | None = None
    intervals: bool = False
    units: float = 1.0
    strata: ScaleGroups | None = None

    @property
    def known_scale(self) -> bool:
        return self.known_sigma is not None

    def held(self, point: np.ndarray, scale: RowScale) -> np.ndarray:
        """The point (gamma, log sigma), with log sigma as it is known, if it is."""
        if self.known_sigma is None:
            return point
        return np.append(point[:-1], math.log(self.known_sigma) - math.log(scale.y_scale))

    @property
    def shrinks(self) -> bool:
        """Whether correlations that noise may have made are taken for none; late entry brings its own.

        Of failures between two times, whose points are those of inspections, little is to be guessed.
        """
        return bool(self.own.all()) and not self.delayed and not self.intervals

    @property
    def alone(self) -> np.ndarray:
        """Covariates whose correlations with others are none that the formula makes; shape (d,)."""
        return self.own if self.own.size else np.ones(len(self.box.lower) - 1, dtype=bool)

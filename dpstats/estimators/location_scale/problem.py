"""What is public about a fit (docs/theory/survival.md#model)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpstats.estimators.columns import Box
from dpstats.families import Family

Array = np.ndarray

LOG_SIGMA_RANGE = (-6.0, 3.0)  # on the scale of the events, whatever noise makes of a step


@dataclass(frozen=True)
class Problem:
    """Public facts of a location-scale regression with d covariates beside the intercept.

    Attributes
    ----------
    family : Family
    log : bool
        Whether the response is log time.
    lower, upper : array, shape (d + 1,)
        Bounds of the covariates and, last, of the response on the model's scale.
    delayed : bool
        Whether rows may enter late (left truncation).
    separate : bool
        Whether nothing public says that covariates are correlated: no levels of one category, no products.
    levels : array, shape (m, d)
        What rows of each level of a category hold in its columns, nan elsewhere; without any if `separate`.
    binary : array of bool, shape (d,)
        Covariates that hold nothing but their two bounds.
    """

    family: Family
    log: bool
    lower: Array
    upper: Array
    delayed: bool = False
    separate: bool = True
    levels: Array = field(default_factory=lambda: np.zeros((0, 0)))
    binary: Array = field(default_factory=lambda: np.zeros(0, dtype=bool))

    @property
    def shrinks(self) -> bool:
        """Whether correlations that noise may have made are taken for none; late entry brings its own."""
        return self.separate and not self.delayed

    @property
    def alone(self) -> Array:
        """Covariates that are no levels of a category."""
        if not len(self.levels):
            return np.ones(len(self.lower) - 1, dtype=bool)
        return np.asarray(np.isnan(self.levels).all(axis=0))

    @property
    def box(self) -> Box:
        return Box(self.lower, self.upper, self.binary)

"""Real sets of a published comparison, in the form in which private regressions are compared on them.

"norm" is the protocol of Wang, "Revisiting differentially private linear regression" (UAI 2018): the response
is centred and divided by its largest size, columns are standardised, each row is divided by its length, there
is no intercept. "box" is natural use: columns as they are, an intercept, bounds from the data's ranges
rounded outward. Either way this preparation looks at the data before privacy begins, by convention of the
comparison and alike for all methods.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

Array = np.ndarray
PROTOCOLS = ("norm", "box")
FOLDS = 10


@dataclass(frozen=True)
class Problem:
    """Rows of a regression and what is public about them.

    Attributes
    ----------
    exog : array, shape (n, k)
        Without a constant.
    endog : array, shape (n,)
    bounds : array, shape (k + 1, 2)
        Of the columns and, last, of the response.
    radius : float or None
        Of the rows, where it is known.
    constant : bool
        Whether the line has an intercept.
    """

    exog: Array
    endog: Array
    bounds: Array
    radius: float | None
    constant: bool

    @property
    def n(self) -> int:
        return len(self.endog)

    def part(self, rows: Array) -> Problem:
        """Some of the rows."""
        return Problem(self.exog[rows], self.endog[rows], self.bounds, self.radius, self.constant)

    def folds(self, seed: int) -> Iterator[tuple[Problem, Problem]]:
        """Rows to fit and rows to predict, ten times."""
        fold = np.random.default_rng([seed, 10]).permutation(self.n) % FOLDS
        for j in range(FOLDS):
            yield self.part(fold != j), self.part(fold == j)

    @property
    def trivial(self) -> float:
        """What is predicted without covariates: 0, or with an intercept the mean."""
        return float(self.endog.mean()) if self.constant else 0.0

    @property
    def units(self) -> tuple[Array, Array]:
        """Middle and half-width of the columns and the response; without an intercept nothing is centred."""
        if not self.constant:
            return np.zeros(len(self.bounds)), np.abs(self.bounds).max(axis=1)
        return self.bounds.mean(axis=1), np.ptp(self.bounds, axis=1) / 2

    def scaled(self) -> tuple[Array, Array, float]:
        """Rows with their constant, of length at most the last number, and responses, all within 1."""
        middle, half = self.units
        rows = (self.exog - middle[:-1]) / half[:-1]
        if self.constant:
            rows = np.column_stack([np.ones(self.n), rows])
        return rows, (self.endog - middle[-1]) / half[-1], self.radius or math.sqrt(rows.shape[1])


@functools.lru_cache(maxsize=64)
def problem(folder: Path, name: str, protocol: str) -> Problem:
    """One of the sets in a folder of .csv.gz files with columns x1, x2, ... and y."""
    table = pd.read_csv(folder / f"{name}.csv.gz")
    endog, exog = table.pop("y").to_numpy(float), table.to_numpy(float)
    exog = exog[:, np.ptp(exog, axis=0) > 0]
    if protocol == "box":
        bounds = np.array([_outward(column) for column in [*exog.T, endog]])
        return Problem(exog, endog, bounds, None, True)
    endog = endog - endog.mean()
    endog /= np.abs(endog).max()
    exog = (exog - exog.mean(axis=0)) / exog.std(axis=0)
    exog /= np.linalg.norm(exog, axis=1, keepdims=True)
    return Problem(exog, endog, np.tile([-1.0, 1.0], (exog.shape[1] + 1, 1)), 1.0, False)


def _outward(column: Array) -> tuple[float, float]:
    """The range of a column, its ends moved outward to multiples of a tenth of its decade."""
    low, high = float(column.min()), float(column.max())
    step = 10.0 ** math.floor(math.log10(high - low)) / 2
    return math.floor(low / step) * step, math.ceil(high / step) * step

"""Simulated linear models with a known truth, for linear_coverage.py.

Covariates are those of covariates.py; coefficients ~ N(0, I), drawn anew in each replication, sigma = 1. d
counts the intercept.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from covariates import HEAVY, TIGHT, Covariates, Simulated, with_constant

import dpstats as dps

Array = np.ndarray
DESIGNS = ("cond1", "cond1000", "t4", "lognormal", "binary")
ERRORS = ("normal", "t3", "exp", "hetero")


class Sample(NamedTuple):
    """One replication, and what is true of its population.

    Attributes
    ----------
    exog : array, shape (n, d - 1)
    endog : array, shape (n,)
    params : array, shape (d,)
        With the intercept first.
    moment : array, shape (d, d)
        E xx' with the intercept.
    rsquared : float
        Share of the variance of the response.
    schema : Schema
    """

    exog: Array
    endog: Array
    params: Array
    moment: Array
    rsquared: float
    schema: dps.Schema


@dataclass(frozen=True)
class Cell(Simulated):
    """One population, how much of it is seen, and how well its ranges are known.

    Attributes
    ----------
    design : str
        Of the covariates, one of DESIGNS.
    errors : str
        One of ERRORS; sd 1, but "t3" as it is.
    half : int
        Half-width of public bounds in sds. If 4, about the mean; else their centre is up to half of it away.
        That of the response is at least 4, or 8 where it is not normal.
    n, d : int
    """

    design: str
    errors: str
    half: int
    n: int
    d: int

    @property
    def name(self) -> str:
        return f"{self.design}-{self.errors}-{self.half}sd-d{self.d}-n{self.n}"

    @property
    def sigma(self) -> float:
        return float(np.sqrt(3)) if self.errors == "t3" else 1.0

    def population(self, rng: np.random.Generator) -> "_Population":
        return _Population(self, rng)


class _Population:
    def __init__(self, cell: Cell, rng: np.random.Generator) -> None:
        self.cell, self.rng = cell, rng
        self.x = Covariates(cell.design, cell.half, cell.d - 1, rng)
        self.params = rng.normal(size=cell.d)
        self.x.settle()
        self.moment = self.x.moment
        mean = float(self.moment[0] @ self.params)
        explained = float(self.params @ self.moment @ self.params) - mean**2
        self.rsquared = explained / (explained + cell.sigma**2)
        normal = cell.design.startswith("cond") and cell.errors == "normal"
        spread = float(np.sqrt(explained + cell.sigma**2))
        self.response = self.x.range(mean, spread, max(cell.half, TIGHT if normal else HEAVY))

    def draw(self, n: int) -> Sample:
        exog = self.x.draw(n)
        endog = with_constant(exog) @ self.params + self._errors(exog)
        schema = dps.Schema(y=dps.bounded(*self.response), **self.cell.ranges(self.x))
        return Sample(exog, endog, self.params, self.moment, self.rsquared, schema)

    def _errors(self, exog: Array) -> Array:
        n = len(exog)
        if self.cell.errors == "t3":
            return self.rng.standard_t(3, size=n)
        if self.cell.errors == "exp":
            return self.rng.exponential(size=n) - 1
        normal = self.rng.normal(size=n)
        if self.cell.errors == "hetero":
            return normal * np.exp((exog[:, 0] - self.x.mean[0]) / 2 - 0.25)
        return normal

"""Simulated generalised linear models with a known truth, for glm_coverage.py.

Covariates are those of covariates.py. Slopes ~ N(0, I), drawn anew in each replication and scaled so that the
linear predictor has the sd of SPREADS; the intercept gives responses the mean of LEVELS. d counts it. For
logit and Poisson models that is what the prototypes had, with the sd at which maximum likelihood has
the error that they printed. "erm" has coefficients and a norm of errors of its own.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from covariates import TIGHT, Covariates, Simulated, with_constant
from scipy.optimize import brentq
from scipy.special import expit

import dpstats as dps

Array = np.ndarray
FAMILIES = ("logit", "poisson", "gamma")
# by (family, law): "own" is the family's, "rare" has few ones, "negbin" the variance m + m^2
SPREADS = {
    ("logit", "own"): 2.0,
    ("logit", "rare"): 1.0,
    ("poisson", "own"): 0.5,
    ("poisson", "negbin"): 0.5,
    ("gamma", "own"): 0.5,
}
LEVELS = {
    ("logit", "own"): 0.5,
    ("logit", "rare"): 0.01,
    ("poisson", "own"): 3.4,
    ("poisson", "negbin"): 3.4,
    ("gamma", "own"): 1.0,
}
# public upper bound of the response; where those of the covariates are loose, as many times as loose
TOPS = {("poisson", "own"): 30, ("poisson", "negbin"): 100, ("gamma", "own"): 50}
ERM_INTERCEPT, ERM_CYCLE = -0.5, (1.0, -0.5, 0.5, -1.0, 0.0)


class Sample(NamedTuple):
    """One replication, and what is true of its population.

    Attributes
    ----------
    exog : array, shape (n, d - 1)
    endog : array, shape (n,)
    params : array, shape (d,)
        With the intercept first.
    norm : array, shape (d, d)
        Of the errors of coefficients: E xx' with the intercept.
    schema : Schema
    """

    exog: Array
    endog: Array
    params: Array
    norm: Array
    schema: dps.Schema


@dataclass(frozen=True)
class Cell(Simulated):
    """One population, how much of it is seen, and how well its ranges are known.

    Attributes
    ----------
    family : str
        One of FAMILIES.
    law : str
        Of the response, as in LEVELS.
    design : str
        Of the covariates.
    half : int
        Half-width of public bounds in sds. If 4, about the mean; else their centre is up to half of it away.
    n, d : int
    """

    family: str
    law: str
    design: str
    half: int
    n: int
    d: int

    @property
    def name(self) -> str:
        return f"{self.family}-{self.law}-{self.design}-{self.half}sd-d{self.d}-n{self.n}"

    @property
    def response(self) -> object:
        if self.family == "logit":
            return dps.flag()
        top = round(TOPS[self.family, self.law] * max(self.half / TIGHT, 1))
        return dps.count(top) if self.family == "poisson" else dps.bounded(0, top)

    def population(self, rng: np.random.Generator) -> "_Population":
        return _Population(self, rng)


class _Population:
    def __init__(self, cell: Cell, rng: np.random.Generator) -> None:
        self.cell, self.rng = cell, rng
        self.x = Covariates(cell.design, cell.half, cell.d - 1, rng)
        slopes = rng.normal(size=cell.d - 1)
        pilot = self.x.settle()
        if cell.design == "erm":
            self.params = _erm_params(cell.d - 1)
            self.norm = np.eye(cell.d) / cell.d
        else:
            slopes *= SPREADS[cell.family, cell.law] / np.std(pilot[:, 1:] @ slopes)
            level = LEVELS[cell.family, cell.law]
            self.params = np.append(_intercept(cell.family, level, pilot[:, 1:] @ slopes), slopes)
            self.norm = self.x.moment

    def draw(self, n: int) -> Sample:
        exog = self.x.draw(n)
        endog = self._responses(with_constant(exog) @ self.params)
        schema = dps.Schema(y=self.cell.response, **self.cell.ranges(self.x))
        return Sample(exog, endog, self.params, self.norm, schema)

    def _responses(self, predictor: Array) -> Array:
        if self.cell.family == "logit":
            return (self.rng.random(len(predictor)) < expit(predictor)).astype(float)
        mean = np.exp(predictor)
        if self.cell.family == "gamma":
            return mean * self.rng.exponential(size=len(mean))
        if self.cell.law == "negbin":
            mean = mean * self.rng.exponential(size=len(mean))
        return self.rng.poisson(mean).astype(float)


def _intercept(family: str, level: float, predictor: Array) -> float:
    """What makes the mean response `level`."""
    if family != "logit":
        return float(np.log(level / np.mean(np.exp(predictor))))
    return float(brentq(lambda at: np.mean(expit(at + predictor)) - level, -60, 60))


def _erm_params(p: int) -> Array:
    return np.append(ERM_INTERCEPT, np.sqrt(5 / p) * np.resize(ERM_CYCLE, p))

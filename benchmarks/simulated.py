"""Simulated times to failure with a known truth, for survreg_coverage.py.

Design of the first prototypes: six covariates, slopes +-1/sqrt 6, intercept 0, sigma .5; log time is declared
in [-6, 6] and each covariate in public bounds. Censoring is random and depends on the first covariate.
"""

import zlib
from dataclasses import dataclass
from functools import cache

import numpy as np
from censored_mle import censored_mle

import dpstats as dps

Array = np.ndarray
SIGMA, D, LOG_TIME = 0.5, 6, 6.0
SLOPES = np.array([1.0, -1.0] * (D // 2)) / np.sqrt(D)
DISTS = {"sev": "weibull", "logistic": "loglogistic", "gaussian": "lognormal"}
BOUNDS = {"norm": (-4, 4), "corr": (-4, 4), "binary": (0, 1), "lognormal": (-1.06, 8), "t4": (-5, 5)}
SHARES = (0.5, 0.3, 0.2, 0.1, 0.03, 0.01)
PILOT, LIMIT = 200_000, 2_000_000


@dataclass(frozen=True)
class Cell:
    """One population, and how much of it is seen.

    Attributes
    ----------
    family : {"sev", "logistic", "gaussian"}
        That is fitted.
    design : str
        Of the covariates, a key of BOUNDS.
    errors : {"true", "gauss", "early"}
        As the family says; Gaussian; or with 15 % early failures, e^2.5 sigma sooner.
    censored : int
        Per cent.
    n : int
    """

    family: str
    design: str
    errors: str
    censored: int
    n: int

    @property
    def name(self) -> str:
        return f"{self.family}-{self.design}-{self.errors}-{self.censored}-{self.n}"

    @property
    def formula(self) -> str:
        return "Surv(time, failed) ~ " + " + ".join(f"x{j}" for j in range(1, D + 1))

    @property
    def schema(self) -> dps.Schema:
        time = dps.bounded(np.exp(-LOG_TIME), np.exp(LOG_TIME))
        covariates = {f"x{j}": dps.bounded(*BOUNDS[self.design]) for j in range(1, D + 1)}
        return dps.Schema(time=time, failed=dps.event(), **covariates)

    def sample(self, rep: int) -> tuple[Array, Array, Array]:
        """Covariates, log time and event of one replication, the same for every epsilon."""
        return _sample(self, np.random.default_rng([_key(self), rep]), self.n)

    @property
    def target(self) -> Array:
        """What is to be covered: the truth, or the limit of the MLE where the error law is another."""
        if self.errors == "true":
            return np.array([0.0, *SLOPES, np.log(SIGMA)])
        return _limit(Cell(self.family, self.design, self.errors, self.censored, LIMIT))


def mle(cell: Cell, covariates: Array, log_time: Array, event: Array) -> Array:
    exog = np.column_stack([np.ones(len(covariates)), covariates])
    return censored_mle(exog, log_time, event, cell.family)[0]


@cache
def _limit(cell: Cell) -> Array:
    return mle(cell, *cell.sample(0))


def _sample(cell: Cell, rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    covariates, failure, other = _times(cell, rng, n)
    censoring = other + _offset(cell) if cell.censored else np.full(n, LOG_TIME)
    censoring = np.minimum(censoring, LOG_TIME)
    log_time = np.maximum(np.minimum(failure, censoring), -LOG_TIME)
    return covariates, log_time, (failure <= censoring).astype(float)


def _times(cell: Cell, rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    """Covariates, log time to failure, and to censoring up to an offset."""
    covariates = np.clip(_covariates(cell.design, rng, n), *BOUNDS[cell.design])
    failure = covariates @ SLOPES + SIGMA * _errors(cell, rng, n)
    return covariates, failure, 0.5 * rng.normal(size=n) + 0.3 * covariates[:, 0]


@cache
def _offset(cell: Cell) -> float:
    """The offset at which `censored` per cent are, in a pilot sample."""
    _, failure, other = _times(cell, np.random.default_rng(_key(cell)), PILOT)
    return float(np.quantile(failure - other, 1 - cell.censored / 100))


def _covariates(design: str, rng: np.random.Generator, n: int) -> Array:
    if design == "binary":
        return (rng.random((n, D)) < SHARES).astype(float)
    if design == "t4":
        return rng.standard_t(4, size=(n, D)) / np.sqrt(2)
    normal = rng.normal(size=(n, D))
    if design == "corr":
        return normal @ np.linalg.cholesky(0.1 * np.eye(D) + 0.9).T
    if design == "lognormal":
        return (np.exp(0.8 * normal) - 1.377) / 1.3
    return normal


def _errors(cell: Cell, rng: np.random.Generator, n: int) -> Array:
    if cell.errors == "gauss" or cell.family == "gaussian":
        return rng.normal(size=n)
    uniform = rng.random(n)
    if cell.family == "logistic":
        standard = np.log(uniform / (1 - uniform))
    else:
        standard = np.log(-np.log(uniform))
    early = rng.random(n) < 0.15
    return np.where(early & (cell.errors == "early"), standard - 2.5, standard)


def _key(cell: Cell) -> int:
    return zlib.crc32(cell.name.encode())

"""Simulated linear models with a known truth, for linear_coverage.py.

Design of spec/linear_glm.md B and C6: x ~ N(m, Psi) with m ~ N(0, I) and Psi = I ("cond1"), or Psi = Q D Q'
with D from 10 to .01 ("cond1000"), coefficients ~ N(0, I), sigma = 1; m, Q and the coefficients are drawn
anew in each replication. d counts the intercept. Other designs have independent columns. Covariates beyond
their public bounds are moved to them before the response is drawn, so that the coefficients are the truth.
"""

import zlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import dpstats as dps

Array = np.ndarray
DESIGNS = ("cond1", "cond1000", "t4", "lognormal", "binary")
ERRORS = ("normal", "t3", "exp", "hetero")
SHARES = (0.5, 0.1, 0.02)
PILOT = 50_000
TIGHT = 4  # half-width of public bounds in sds
HEAVY = 8  # of the response, where it is not normal


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
class Cell:
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
    def names(self) -> list[str]:
        return [f"x{j}" for j in range(1, self.d)]

    @property
    def formula(self) -> str:
        return "y ~ " + " + ".join(self.names)

    @property
    def sigma(self) -> float:
        return float(np.sqrt(3)) if self.errors == "t3" else 1.0

    def sample(self, family: str, rep: int, public: int = 0) -> tuple[Sample, Sample | None]:
        """One replication, the same for every budget, and `public` more rows of its population."""
        rng = np.random.default_rng([zlib.crc32(f"{family} {self.name}".encode()), rep])
        population = _Population(self, rng)
        return population.draw(self.n), population.draw(public) if public else None


class _Population:
    def __init__(self, cell: Cell, rng: np.random.Generator) -> None:
        self.cell, self.rng, p = cell, rng, cell.d - 1
        self.mean, self.root = np.zeros(p), np.eye(p)
        if cell.design.startswith("cond"):
            self.mean = rng.normal(size=p)
        if cell.design == "cond1000":
            turn = np.linalg.qr(rng.normal(size=(p, p)))[0]
            self.root = turn * np.sqrt(np.logspace(1, -2, p))
        self.params = rng.normal(size=cell.d)
        raw = self._raw(PILOT)
        self.bounds = self._bounds(raw)
        pilot = _design(np.clip(raw, *self.bounds.T))
        self.moment = pilot.T @ pilot / PILOT
        if cell.design.startswith("cond") and cell.half >= TIGHT:
            self.moment = _moment(self.mean, self.root)
        mean = float(self.moment[0] @ self.params)
        explained = float(self.params @ self.moment @ self.params) - mean**2
        self.rsquared = explained / (explained + cell.sigma**2)
        normal = cell.design.startswith("cond") and cell.errors == "normal"
        self.response = self._range(
            mean, float(np.sqrt(explained + cell.sigma**2)), max(cell.half, TIGHT if normal else HEAVY)
        )

    def draw(self, n: int) -> Sample:
        exog = np.clip(self._raw(n), *self.bounds.T)
        endog = _design(exog) @ self.params + self._errors(exog)
        ranges = {name: dps.bounded(*pair) for name, pair in zip(self.cell.names, self.bounds, strict=True)}
        schema = dps.Schema(y=dps.bounded(*self.response), **ranges)
        return Sample(exog, endog, self.params, self.moment, self.rsquared, schema)

    def _raw(self, n: int) -> Array:
        p, design = self.cell.d - 1, self.cell.design
        if design == "binary":
            return (self.rng.random((n, p)) < np.resize(SHARES, p)).astype(float)
        if design == "t4":
            return self.rng.standard_t(4, size=(n, p)) / np.sqrt(2)
        normal = self.rng.normal(size=(n, p))
        if design == "lognormal":
            return (np.exp(0.8 * normal) - 1.377) / 1.3
        return self.mean + normal @ self.root.T

    def _bounds(self, raw: Array) -> Array:
        if self.cell.design == "binary":
            return np.tile([0.0, 1.0], (raw.shape[1], 1))
        if self.cell.design == "lognormal":
            return np.tile([-1.06, 8.0], (raw.shape[1], 1))
        spread = np.sqrt(np.sum(self.root**2, axis=1))
        return np.array([self._range(*pair, self.cell.half) for pair in zip(self.mean, spread, strict=True)])

    def _range(self, mean: float, spread: float, half: int) -> tuple[float, float]:
        """Public bounds; where they are not TIGHT, the mean is up to half of the way off their centre."""
        off = 0.0 if half in (TIGHT, HEAVY) else self.rng.uniform(-0.5, 0.5)
        centre = mean + off * half * spread
        return float(centre - half * spread), float(centre + half * spread)

    def _errors(self, exog: Array) -> Array:
        n = len(exog)
        if self.cell.errors == "t3":
            return self.rng.standard_t(3, size=n)
        if self.cell.errors == "exp":
            return self.rng.exponential(size=n) - 1
        normal = self.rng.normal(size=n)
        if self.cell.errors == "hetero":
            return normal * np.exp((exog[:, 0] - self.mean[0]) / 2 - 0.25)
        return normal


def _moment(mean: Array, root: Array) -> Array:
    with_one = np.append(1.0, mean)
    moment = np.outer(with_one, with_one)
    moment[1:, 1:] += root @ root.T
    return moment


def _design(exog: Array) -> Array:
    return np.column_stack([np.ones(len(exog)), exog])

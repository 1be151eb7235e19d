"""What private regressions are compared on in rivals.py: simulated designs, and real tables.

The simulated ones have 10,000 rows, independent covariates, standard normal ones under bounds of 4 sds,
slopes of .3 or -.3 per sd of the column and normal errors of sd 1. A real table, under the bounds of its
schema, stands for a population: as many rows are drawn from it with replacement, and the truth is its fit
without privacy.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from lots.exact import glm, least_squares

import dpstats as dps
from dpstats.formula import build_design
from dpstats.formula.ball import UnitBall
from dpstats.rows import open_rows

Array = np.ndarray
N, SDS, SLOPE = 10_000, 4.0, 0.3
RESPONSE = (-10.0, 10.0)
SHARES = {"a": 0.68, "b": 0.22, "c": 0.08, "d": 0.02}
MEDIAN, SPREAD, TOP = 3e4, 0.8, 1e6  # of an income: median, sd of its logarithm, declared limit


@dataclass(frozen=True, eq=False)
class Case:
    """One table, as ours reads it and as a matrix for the others.

    Attributes
    ----------
    model : {"ols", "logit"}
    formula : str
    schema : Schema
    data : DataFrame
    truth : array, shape (k,)
        Coefficients of the population, with the intercept first.
    """

    model: str
    formula: str
    schema: dps.Schema
    data: pd.DataFrame
    truth: Array

    @functools.cached_property
    def read(self) -> tuple[Array, Array]:
        """Rows and responses, moved to their bounds."""
        design = build_design(self.formula, self.schema)
        columns = open_rows(self.data, self.schema, design.variables).blocks()
        blocks = [design.read(block) for block in columns]
        return np.concatenate([b.exog for b in blocks]), np.concatenate([b.endog for b in blocks])

    @functools.cached_property
    def exact(self) -> tuple[Array, Array]:
        """Coefficients without privacy, and their covariance."""
        return least_squares(*self.read, None) if self.model == "ols" else glm(*self.read, "logit")

    @functools.cached_property
    def _public(self) -> tuple[UnitBall, float, float]:
        """How rows are scaled, and middle and half-width of a linear model's response."""
        design = build_design(self.formula, self.schema)
        ball = UnitBall.of_box(design.bounds, True, design.categories)
        low, high = (-1.0, 1.0) if self.model == "logit" else design.response.bounds
        return ball, (low + high) / 2, (high - low) / 2

    def scaled(self) -> tuple[Array, Array, float]:
        """Rows, centred and scaled by public numbers so that they are short, responses within 1, and the
        greatest length of a row."""
        (exog, endog), (ball, middle, half) = self.read, self._public
        return (exog - ball.center) / ball.scale, (endog - middle) / half, ball.radius

    @property
    def reach(self) -> Array:
        """Bounds of the sizes of entries of the scaled rows."""
        ball, _, _ = self._public
        return ball.reach * ball.radius

    def slopes(self, line: Array) -> Array:
        """Slopes of the table's columns from a line of the scaled rows."""
        ball, _, half = self._public
        return np.asarray(half * line[1:] / ball.scale[1:])

    def errors(self, slopes: Array) -> list[float]:
        """Root mean square distance of slopes from the truth and from the fit without privacy, in its
        standard errors."""
        exact, cov = self.exact
        return [
            float(np.sqrt(np.mean((slopes - target[1:]) ** 2 / np.diag(cov)[1:])))
            for target in (self.truth, exact)
        ]


def _simulated(rng: np.random.Generator, numbers: int, **other: tuple[object, Array]) -> Case:
    """So many normal covariates, and others: what is declared of them, and values."""
    columns = {f"x{j + 1}": np.clip(rng.normal(size=N), -SDS, SDS) for j in range(numbers)}
    declared: dict[str, object] = dict.fromkeys(columns, dps.bounded(-SDS, SDS))
    for name, (what, values) in other.items():
        declared[name], columns[name] = what, values
    schema, formula = dps.Schema(declared | {"y": dps.bounded(*RESPONSE)}), "y ~ " + " + ".join(columns)
    exog = build_design(formula, schema).new_rows(columns, clip=True).exog
    slopes = rng.choice([-SLOPE, SLOPE], size=exog.shape[1] - 1) / exog[:, 1:].std(axis=0)
    truth = np.append(1 - exog[:, 1:].mean(axis=0) @ slopes, slopes)
    data = pd.DataFrame(columns).assign(y=exog @ truth + rng.normal(size=N))
    return Case("ols", formula, schema, data, truth)


def _unbalanced(rng: np.random.Generator) -> Case:
    groups = rng.choice(list(SHARES), N, p=list(SHARES.values()))
    return _simulated(rng, 5, group=(dps.levels(*SHARES), groups))


def _income(rng: np.random.Generator) -> Case:
    incomes = np.minimum(MEDIAN * np.exp(SPREAD * rng.normal(size=N)), TOP)
    return _simulated(rng, 4, income=(dps.bounded(0, TOP), incomes))


SIMULATED: dict[str, Callable[[np.random.Generator], Case]] = {
    "plain": functools.partial(_simulated, numbers=10),
    "unbalanced": _unbalanced,
    "25 columns": functools.partial(_simulated, numbers=25),
    "income": _income,
}
FAMILIES = " ~ gender1 + gender2 + age + afam + hispanic + other"
REAL = {
    "wages": (
        "ols",
        "cps1988",
        "np.log(wage) ~ education + experience + I(experience**2) + ethnicity + smsa + region + parttime",
    ),
    "weeks": ("ols", "census", "work" + FAMILIES + " + morekids"),
    "children": ("logit", "census", "morekids" + FAMILIES),
    "adult": ("logit", "adult", "income ~ age + education_num + hours_per_week + sex + marital_status"),
}
NAMES = (*SIMULATED, *REAL)


@functools.lru_cache(maxsize=1)
def case(name: str, rep: int, census: Path) -> Case:
    """One replication of a row of the comparison."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), rep])
    if name in SIMULATED:
        return SIMULATED[name](rng)
    table, truth = _population(name, census)
    data = table.data.iloc[rng.integers(len(table.data), size=len(table.data))]
    return replace(table, data=data, truth=truth)


@functools.lru_cache(maxsize=len(REAL))
def _population(name: str, census: Path) -> tuple[Case, Array]:
    model, source, formula = REAL[name]
    if source == "census":
        schema, data = _families(), pd.read_csv(census)
    else:
        table = dps.datasets.load(source)
        schema, data = table.schema, table.data
    whole = Case(model, formula, schema, data, np.zeros(0))
    return whole, whole.exact[0]


def _families() -> dps.Schema:
    yes, sex = dps.flag("yes", "no"), dps.levels("male", "female")
    return dps.Schema(
        work=dps.bounded(0, 52, unit="weeks"),
        morekids=yes,
        age=dps.bounded(15, 45),
        afam=yes,
        hispanic=yes,
        other=yes,
        gender1=sex,
        gender2=sex,
    )

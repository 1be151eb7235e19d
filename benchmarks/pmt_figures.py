"""Ridge regression by public moment truncation against its rivals: Figure 1 of the paper, in numbers.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/pmt_figures.py | tee benchmarks/results/pmt_figures.txt

Cao, Bi and Zhang, "Differentially Private Truncation of Unbounded Data via Public Second Moments", section
6.1.1, in this design: ten covariates ~ N(m, Psi) without an intercept, Psi = Q D Q'
with D from 10 to .01, sigma = .05, 200 public rows, no penalty. mu_c is the paper's parameter of each of two
releases; all private methods spend sqrt2 mu_c in total.
"""

import argparse
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from provenance import header

import dpstats as dps
from dpstats.curator import Curator
from dpstats.estimators.pmt import ETA, fit_pmt
from dpstats.estimators.published.truncated import fit_truncated_ridge
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import SeededNoise, noise

D, SIGMA, PUBLIC, MU_C = 10, 0.05, 200, 1.0
NAMES = [f"x{j}" for j in range(1, D + 1)]
FORMULA = "y ~ 0 + " + " + ".join(NAMES)
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
WIDE = 6  # half-width of declared bounds in sds, so that hardly a value is moved to one
Array = np.ndarray


class Population(NamedTuple):
    """Mean of the covariates, a root of their covariance, and their second moment."""

    mean: Array
    root: Array
    moment: Array


class Case(NamedTuple):
    """One draw of coefficients, private rows and public rows."""

    population: Population
    params: Array
    data: pd.DataFrame
    public: pd.DataFrame
    seed: int

    @property
    def schema(self) -> dps.Schema:
        """What would be known in advance: ranges about the means."""
        mean, spread = self.population.mean, np.sqrt(np.sum(self.population.root**2, axis=1))
        ranges = {
            name: dps.bounded(center - WIDE * half, center + WIDE * half)
            for name, center, half in zip(NAMES, mean, spread, strict=True)
        }
        center, half = mean @ self.params, math.hypot(*(self.population.root.T @ self.params), SIGMA)
        return dps.Schema(ranges, y=dps.bounded(center - WIDE * half, center + WIDE * half))


def population(seed: int) -> Population:
    rng = np.random.default_rng(seed)
    q = np.linalg.qr(rng.normal(size=(D, D)))[0]
    mean, root = rng.normal(size=D), q * np.sqrt(np.logspace(1, -2, D))
    return Population(mean, root, root @ root.T + np.outer(mean, mean))


def draw(where: Population, n: int, seed: int) -> Case:
    rng = np.random.default_rng([n, seed])
    params = rng.normal(size=D)

    def rows(count: int) -> pd.DataFrame:
        exog = where.mean + rng.normal(size=(count, D)) @ where.root.T
        return pd.DataFrame(exog, columns=NAMES).assign(y=exog @ params + rng.normal(0, SIGMA, count))

    return Case(where, params, rows(n), rows(PUBLIC), seed)


def by_truncation(compat: str | None) -> Callable[[Case], Array]:
    def fit(case: Case) -> Array:
        mu, schema = math.sqrt(2) * MU_C, case.schema
        design = build_design(FORMULA, schema)
        moments = dps.public_moments(FORMULA, case.public, schema)
        with noise(SeededNoise(case.seed)):
            curator = Curator(open_rows(case.data, schema, design.variables), design, dps.gdp(mu))
        estimate = fit_truncated_ridge if compat else fit_pmt
        return estimate(curator, moments, False, 0.0, mu).solution.params

    return fit


def by_oracle(floor: bool) -> Callable[[Case], Array]:
    """The paper's DP-RR. NOT PRIVATE: its radius needs the trace of the true moment and the true params."""

    def fit(case: Case) -> Array:
        rng, n = np.random.default_rng(case.seed), len(case.data)
        square = float(np.trace(case.population.moment)) + D * math.log(n / ETA)
        limit = math.sqrt(square) * float(np.linalg.norm(case.params))
        exog = case.data[NAMES].to_numpy()
        exog = exog * np.minimum(1, math.sqrt(square) / np.linalg.norm(exog, axis=1))[:, None]
        endog = np.clip(case.data["y"].to_numpy(), -limit, limit)
        gram_sd, cross_sd = 2 * square / (MU_C * n), 2 * math.sqrt(square) * limit / (MU_C * n)
        upper = np.triu(rng.normal(scale=gram_sd, size=(D, D)))
        gram = exog.T @ exog / n + upper + np.triu(upper, 1).T
        cross = exog.T @ endog / n + rng.normal(scale=cross_sd, size=D)
        values, vectors = np.linalg.eigh(gram)
        if floor:
            values = np.maximum(values, gram_sd * math.sqrt(2 * D))
        return vectors @ (vectors.T @ cross / values)

    return fit


def by_least_squares(case: Case, frame: pd.DataFrame) -> Array:
    return np.linalg.lstsq(frame[NAMES].to_numpy(), frame["y"].to_numpy(), rcond=None)[0]


def by_package(public: bool) -> Callable[[Case], Array]:
    def fit(case: Case) -> Array:
        with noise(SeededNoise(case.seed)):
            model = dps.ols(FORMULA, case.data, case.schema, public=case.public if public else None)
            return model.fit(dps.gdp(math.sqrt(2) * MU_C)).params.to_numpy()

    return fit


METHODS: dict[str, Callable[[Case], Array]] = {
    "PMT, as published (Algorithm 2)": by_truncation("paper"),
    "PMT, corrected": by_truncation(None),
    "DP-RR, as published (oracle, NOT PRIVATE)": by_oracle(floor=False),
    "DP-RR with raised eigenvalues (likewise)": by_oracle(floor=True),
    "dps.ols without public data": by_package(public=False),
    "dps.ols with public data": by_package(public=True),
    "least squares of the public rows": lambda case: by_least_squares(case, case.public),
    "least squares of the rows, NOT PRIVATE": lambda case: by_least_squares(case, case.data),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--reps", type=int, default=40, help="half as many at 100,000 rows")
    parser.add_argument("--seed", type=int, default=1, help="of the population")
    options = parser.parse_args()
    where = population(options.seed)
    print(header())
    values = np.linalg.eigvalsh(where.moment)
    print(
        f"E xx': condition {values[-1] / values[0]:.0f}, trace {values.sum():.1f}; mu_c = {MU_C:g}; "
        f"{options.reps} draws of params and rows"
    )
    print("median and 90 % point of |b - params|\n")
    print(f"{'':42s}" + "".join(f"{n:>15,}" for n in SIZES))
    errors: dict[str, list[Array]] = {name: [] for name in METHODS}
    for n in SIZES:
        reps = options.reps if n < 100_000 else options.reps // 2
        cases = [draw(where, n, seed) for seed in range(reps)]
        for name, fit in METHODS.items():
            errors[name].append(np.array([np.linalg.norm(fit(case) - case.params) for case in cases]))
    for name, columns in errors.items():
        cells = [f"{np.median(found):8.3g} {np.quantile(found, 0.9):6.2g}" for found in columns]
        print(f"{name:42s}" + "".join(cells))


if __name__ == "__main__":
    main()

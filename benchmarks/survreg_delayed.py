"""Coverage and accuracy of private survival fits of left-truncated times, where the truth is known.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/survreg_delayed.py delayed-10000 --reps 40 \\
        | tee benchmarks/results/survreg_delayed_10000.txt

The populations of survreg_coverage.py, seen late: units enter at a random time that depends on the first
covariate, and those that left before are not in the table. In `delayed` 30 % enter at once, and about 30 % of
the population are not seen; in `late` nobody enters at once, and 60 % are not seen. Compared with maximum
likelihood of the same truncated times without privacy.
"""

import argparse
import zlib
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import coverage_report
import numpy as np
import replications
from provenance import header
from replications import Task
from scipy import optimize
from simulated import BOUNDS, DISTS, LOG_TIME, PILOT, SIGMA, SLOPES, D
from survreg_coverage import kept

import dpstats as dps
from dpstats.families import DISTS as FAMILIES
from dpstats.families import Family
from dpstats.testing import SeededNoise, noise

Array = np.ndarray
# share that enters at once, and share of the population that is not seen
DESIGNS = {"delayed": (0.3, 0.3), "late": (0.0, 0.6)}
CENSORED = (0, 30, 60)


@dataclass(frozen=True)
class Cell:
    """One population, how late and how much of it is seen; `design` is a key of DESIGNS."""

    family: str
    design: str
    censored: int
    n: int
    errors: str = "true"

    @property
    def name(self) -> str:
        return f"{self.family}-{self.design}-{self.censored}-{self.n}"

    @property
    def law(self) -> Family:
        return FAMILIES[DISTS[self.family]].family

    @property
    def schema(self) -> dps.Schema:
        most = float(np.exp(LOG_TIME))
        times = dict(entry=dps.bounded(0, most), time=dps.bounded(1 / most, most), failed=dps.event())
        return dps.Schema(**times, **{f"x{j}": dps.bounded(*BOUNDS["norm"]) for j in range(1, D + 1)})

    @property
    def formula(self) -> str:
        return "Surv(entry, time, failed) ~ " + " + ".join(f"x{j}" for j in range(1, D + 1))

    @property
    def target(self) -> Array:
        return np.array([0.0, *SLOPES, np.log(SIGMA)])


@dataclass(frozen=True)
class Sample:
    """Covariates (n, 6), and entry, log time and event (n,)."""

    x: Array
    entry: Array
    log_time: Array
    event: Array


def sample(cell: Cell, rep: int) -> Sample:
    """The first n of the population that are seen."""
    rng = np.random.default_rng([zlib.crc32(cell.name.encode()), rep])
    x, failure, entry, censoring = _population(cell, rng, 8 * cell.n, *_offsets(cell))
    log_time = np.minimum(failure, censoring)
    seen = np.flatnonzero(log_time > entry)[: cell.n]
    assert len(seen) == cell.n
    return Sample(x[seen], entry[seen], log_time[seen], (failure <= censoring)[seen].astype(float))


def _population(
    cell: Cell, rng: np.random.Generator, size: int, late: float, long: float
) -> tuple[Array, Array, Array, Array]:
    x = np.clip(rng.normal(size=(size, D)), *BOUNDS["norm"])
    failure = x @ SLOPES + SIGMA * cell.law.quantile(rng.random(size))
    entry = late + 0.5 * rng.normal(size=size) + 0.3 * x[:, 0]
    entry[rng.random(size) < DESIGNS[cell.design][0]] = -np.inf
    censoring = np.minimum(long + 0.5 * rng.normal(size=size) + 0.3 * x[:, 0], LOG_TIME)
    return x, failure, entry, censoring if cell.censored else np.full(size, LOG_TIME)


@cache
def _offsets(cell: Cell) -> tuple[float, float]:
    """Where entries and censoring lie, so that the shares not seen, and censored, are what they should be."""

    def shares(late: float, long: float) -> tuple[float, float]:
        rng = np.random.default_rng(zlib.crc32(cell.name.encode()))
        _, failure, entry, censoring = _population(cell, rng, PILOT, late, long)
        seen = np.minimum(failure, censoring) > entry
        censored = (failure > censoring)[seen]  # of watches so short that nobody is seen, all
        return float(np.mean(failure <= entry)), float(np.mean(censored)) if len(censored) else 1.0

    late = optimize.brentq(lambda at: shares(at, LOG_TIME)[0] - DESIGNS[cell.design][1], -4, 6, xtol=1e-3)
    if not cell.censored:
        return late, LOG_TIME
    return late, optimize.brentq(lambda at: shares(late, at)[1] - cell.censored / 100, -4, 6, xtol=1e-3)


def truncated_mle(law: Family, rows: Sample) -> Array:
    """Maximum likelihood of (coefficients, log sigma), each row given that it lived until its entry."""
    exog = np.column_stack([np.ones(len(rows.x)), rows.x])
    late = np.isfinite(rows.entry)
    entry = np.where(late, rows.entry, 0.0)

    def loss(theta: Array) -> tuple[float, Array]:
        location, sigma = exog @ theta[:-1], np.exp(theta[-1])
        z, since = (rows.log_time - location) / sigma, (entry - location) / sigma
        hazard, before = (np.exp(np.minimum(law.log_cumulative_hazard(at), 300.0)) for at in (z, since))
        value = hazard - late * before - rows.event * (law.log_hazard(z) - theta[-1])
        at_end = np.exp(np.minimum(law.log_hazard(z), 300.0)) - rows.event * law.log_hazard_slope(z)
        at_entry = late * np.exp(np.minimum(law.log_hazard(since), 300.0))
        of_sigma = rows.event.sum() - at_end @ z + at_entry @ since
        gradient = np.append(-(at_end - at_entry) @ exog / sigma, of_sigma)
        return float(value.mean()), gradient / len(z)

    start = np.zeros(exog.shape[1] + 1)
    start[0] = rows.log_time.mean()
    return optimize.minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-7}).x


def replicate(task: Task[Cell]) -> dict[str, Any]:
    """One private fit and the MLE of the same sample."""
    cell, epsilon, rep, _ = task
    rows = sample(cell, rep)
    data = {f"x{j}": column for j, column in enumerate(rows.x.T, 1)}
    data |= {"entry": np.exp(rows.entry), "time": np.exp(rows.log_time), "failed": rows.event}
    model = dps.survreg(cell.formula, data, cell.schema, dist=DISTS[cell.family])
    with noise(SeededNoise(zlib.crc32(f"{cell.name} {epsilon:g} {rep}".encode()))):
        fit = model.fit(dps.approx(epsilon, 1e-6))
    return kept(fit, truncated_mle(cell.law, rows), cell.target, cell.law)


def groups(n: int) -> dict[str, list[Cell]]:
    make = partial(Cell, n=n)
    return {
        f"{design}-{n}": [make(family, design, cens) for family in DISTS for cens in CENSORED]
        for design in DESIGNS
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    replications.arguments(parser, "delayed-10000", 100)
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1.0, 3.0])
    options = parser.parse_args()
    if options.list:
        return replications.show(groups(10_000))
    cells = replications.chosen(groups(10_000), options.cells)
    found = replications.replicate_all(replicate, cells, options.epsilons, options)
    print(header(work=options.work))
    coverage_report.report(found)


if __name__ == "__main__":
    main()

"""Coverage of forecasts of failures: fleets that fail by the law that a private fit has seen.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/forecast_coverage.py --reps 500 \\
        | tee benchmarks/results/forecast_coverage.txt

Each fleet has a law, rows, censoring, budget, size, ages and horizon of its own, drawn at random. A private
fit of the rows forecasts the failures of the fleet in 12 periods and in all; then the fleet lives on by the
true law. Data, noise and fleet are seeded by the replication. Each finished fleet is a line of a file in
--work: what is there already is not done again.
"""

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import replications
from provenance import header
from replications import Task
from tabulate import tabulate

import dpstats as dps
from dpstats.families import DISTS
from dpstats.testing import SeededNoise, noise

MOST, PERIODS = 20_000.0, 12
SCHEMA = dps.Schema(
    time=dps.bounded(1, MOST, unit="days"),
    failed=dps.event(),
    load=dps.bounded(0, 1),
    temp=dps.bounded(10, 60, unit="C"),
    maker=dps.levels("a", "b", "c"),
)
FORMULA = "Surv(time, failed) ~ load + temp + maker"
LAWS = ("weibull", "loglogistic", "lognormal")
LIMITS = (0.93, 0.98)


class Law(NamedTuple):
    """A law of times, of which `name` is the distribution."""

    name: str


class World(NamedTuple):
    """What is drawn for one fleet: slopes of load, temp, makers b and c; sigma; log eta at the middle."""

    slopes: np.ndarray
    sigma: float
    log_eta: float

    def location(self, frame: pd.DataFrame) -> np.ndarray:
        """Of log time, for each row."""
        load, temp, b, c = self.slopes
        maker = b * (frame["maker"] == "b") + c * (frame["maker"] == "c")
        middle = self.log_eta + load * (frame["load"] - 0.5) + temp * (frame["temp"] - 30)
        return np.asarray(middle + maker, dtype=float)


def covariates(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Rows without times."""
    temp = np.clip(rng.normal(30, 6, n), 10, 60)
    return pd.DataFrame(
        {"load": rng.beta(2, 3, n), "temp": temp, "maker": rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])}
    )


def one(task: Task[Law]) -> dict[str, Any]:
    """One fleet: its forecast beside what happened, as lists."""
    law, _, rep, _ = task
    rng = np.random.default_rng([LAWS.index(law.name), rep])
    family = DISTS[law.name].family
    world = World(rng.normal([-0.6, -0.02, -0.3, 0.3], [0.4, 0.02, 0.2, 0.2]), rng.uniform(0.3, 1.2), 7.0)
    rows = covariates(int(rng.integers(5_000, 30_000)), rng)
    lives = np.exp(world.location(rows) + world.sigma * family.quantile(rng.uniform(size=len(rows))))
    ends = rng.uniform(0, np.exp(7.0 + world.sigma * family.quantile(rng.uniform(0.4, 0.9))) * 2, len(rows))
    rows = rows.assign(time=np.minimum(lives, ends), failed=(lives <= ends).astype(int))
    budget = dps.approx(float(np.exp(rng.uniform(0, np.log(5)))), 1e-6)
    with noise(SeededNoise(int(rng.integers(2**31)))), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = dps.survreg(FORMULA, rows, SCHEMA, dist=law.name).fit(budget)
        fleet = covariates(int(np.exp(rng.uniform(np.log(500), np.log(100_000)))), rng)
        typical = np.exp(7.0 + world.sigma * family.quantile(0.5))
        ages, horizon = (
            rng.uniform(0, rng.uniform(0.2, 1.2) * typical, len(fleet)),
            rng.uniform(0.1, 1) * typical,
        )
        frame = fit.forecast(fleet.assign(age=ages), horizon, PERIODS).frame
    old = (np.log(ages) - world.location(fleet)) / world.sigma
    chance = family.cdf(old) + family.sf(old) * rng.uniform(size=len(fleet))
    more = np.exp(world.location(fleet) + world.sigma * family.quantile(chance)) - ages
    happened = np.histogram(more, np.append(0.0, frame["end"]))[0]
    shares = frame["se_parameters"] ** 2 / (frame["se_parameters"] ** 2 + frame["sd_count"] ** 2)
    return {
        **{name: frame[name].tolist() for name in frame if name not in ("start", "end")},
        "happened": happened.tolist(),
        "parameters": shares.tolist(),
        "flags": [code for code, _ in fit.flags],
    }


def report(lines: list[dict[str, Any]]) -> list[float]:
    """Coverage in percent: of periods, of the worst and the best period, and of all until an end."""
    failed = np.array([line["happened"] for line in lines])
    low, high = (np.array([line[f"pred_{end}"] for line in lines]) for end in ("low", "high"))
    inside = (low <= failed) & (failed <= high)
    low, high = (np.array([line[f"cumulative_{end}"] for line in lines]) for end in ("low", "high"))
    until = failed.cumsum(axis=1)
    in_all = (low <= until) & (until <= high)
    shares = np.array([line["parameters"] for line in lines])
    return [
        len(lines),
        100 * inside.mean(),
        100 * inside.mean(axis=0).min(),
        100 * inside.mean(axis=0).max(),
        100 * in_all.mean(),
        100 * in_all[:, -1].mean(),
        100 * (until < low)[:, -1].mean(),
        100 * (until > high)[:, -1].mean(),
        float(np.median(until[:, -1])),
        100 * float(np.median(shares)),
        100 * float(np.mean([bool(line["flags"]) for line in lines])),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    laws = {"all": [Law(name) for name in LAWS]}
    replications.arguments(parser, "all", 500)
    options = parser.parse_args()
    if options.list:
        return replications.show(laws)
    cells = replications.chosen(laws, options.cells)
    options.reps = -(-options.reps // len(cells))
    found = replications.replicate_all(one, cells, [0.0], options, "forecast")
    table = [[cell.name, *report(lines)] for (cell, _), lines in found.items()]
    every = [line for lines in found.values() for line in lines]
    print(header())
    print(
        f"{len(every)} fleets, {PERIODS} periods each; limits are to hold the number of failures in 95 % of"
    )
    print("fleets. parameters: the median share of the variance that the fit, and not chance, has\n")
    heads = [
        "law",
        "fleets",
        "periods %",
        "worst period",
        "best period",
        "until %",
        "in all %",
        "below %",
        "above %",
        "failed",
        "parameters %",
        "flagged %",
    ]
    formats = ("", ".0f", ".1f", ".1f", ".1f", ".1f", ".1f", ".1f", ".1f", ".0f", ".0f", ".0f")
    rows = [*table, ["all", *report(every)]]
    print(tabulate(rows, heads, floatfmt=formats))
    held = all(LIMITS[0] <= row[index] / 100 <= LIMITS[1] for row in rows[-1:] for index in (2, 5, 6))
    print(f"\nThe goal holds for all fleets together: {'yes' if held else 'no'}")


if __name__ == "__main__":
    main()

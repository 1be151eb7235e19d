"""Coverage of private Kaplan-Meier curves, point by point, where the truth is known.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/kaplan_meier_coverage.py --reps 400 \\
        | tee benchmarks/results/kaplan_meier_coverage.txt

Times are Weibull or log-logistic, censored by an independent uniform time and at the public upper bound.
Noise and data are seeded by cell and replication. A time counts where the curve says something. Each finished
curve is a line of a file in --work: what is there already is not done again. --list shows the cells.
"""

import argparse
import zlib
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import replications
from provenance import header
from replications import Task
from tabulate import tabulate

import dpstats as dps
from dpstats.budget import Budget
from dpstats.families import DISTS
from dpstats.testing import SeededNoise, noise

LOW, HIGH = 1.0, 1000.0
# the same in all curves, so that each can be judged by itself
TIMES = np.unique(np.concatenate([np.linspace(LOW, HIGH, 16)[1:], np.geomspace(LOW, HIGH, 16)[1:]]).round(4))
SCHEMA = dps.Schema(time=dps.bounded(LOW, HIGH), failed=dps.event(), group=dps.levels("a", "b", "c"))
# distribution, median, sigma, longest censoring time
LAWS = {
    "wear-out": ("weibull", 300.0, 0.5, 1500.0),
    "early failures": ("weibull", 300.0, 1.5, 1500.0),
    "few failures": ("weibull", 5000.0, 0.7, 1500.0),
    "log-logistic": ("loglogistic", 200.0, 0.6, 900.0),
    "loose bounds": ("weibull", 60.0, 0.5, 150.0),
}
BUDGETS: dict[str, Budget] = {
    "epsilon = 1, delta = 1e-6": dps.approx(1, 1e-6),
    "pure epsilon = 1": dps.pure(1),
}


class Cell(NamedTuple):
    """A law of times, and the right side of the formula."""

    law: str
    right: str

    @property
    def name(self) -> str:
        """Of its file."""
        return f"{self.law}-{self.right}".replace(" ", "-")


def sample(law: str, n: int, generator: np.random.Generator) -> pd.DataFrame:
    """Rows as a user has them."""
    dist, median, sigma, longest = LAWS[law]
    quantile = DISTS[dist].family.quantile
    times = median * np.exp(sigma * (quantile(generator.uniform(size=n)) - quantile(0.5)))
    ends = generator.uniform(0, longest, n)
    group = generator.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    failed = (times <= ends).astype(int)
    return pd.DataFrame({"time": np.minimum(times, ends), "failed": failed, "group": group})


def truth(law: str, times: np.ndarray) -> np.ndarray:
    """S at `times`."""
    dist, median, sigma, _ = LAWS[law]
    family = DISTS[dist].family
    return family.sf(np.log(times / median) / sigma + family.quantile(0.5))


def one(task: Task[Cell], n: int) -> dict[str, Any]:
    """One curve beside the truth, as lists."""
    cell, level, rep, _ = task
    seed = zlib.crc32(f"{cell.name} {level} {n} {rep}".encode())
    data = sample(cell.law, n, np.random.default_rng(seed))
    with noise(SeededNoise(seed + 1)):
        model = dps.kaplan_meier(f"Surv(time, failed) ~ {cell.right}", data, SCHEMA, TIMES)
        frame = model.fit(list(BUDGETS.values())[int(level)]).frame.dropna()
    kept = ["group", "time", "survival", "std_error", "conf_low", "conf_high", "privacy_share"]
    true = truth(cell.law, frame["time"].to_numpy())
    return {**frame[kept].to_dict(orient="list"), "truth": true.tolist()}


def report(frame: pd.DataFrame) -> list[float]:
    """Coverage in percent: of all points, and of the worst and best time; what of the variance is noise."""
    inside = (frame["conf_low"] <= frame["truth"]) & (frame["truth"] <= frame["conf_high"])
    points = inside.groupby([frame["group"], frame["time"]])
    often = points.mean()[points.size() >= points.size().max() / 2]
    z = ((frame["survival"] - frame["truth"]) / frame["std_error"]).clip(-50, 50)
    within = 100 * often.between(0.93, 0.98).mean()
    return [
        100 * inside.mean(),
        100 * often.min(),
        100 * often.max(),
        len(often),
        within,
        z.mean(),
        z.std(),
        frame["std_error"].median(),
        100 * frame["privacy_share"].median(),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    cells = [Cell(law, right) for law in LAWS for right in ("1", "group")]
    replications.arguments(parser, "all", 400)
    options = parser.parse_args()
    if options.list:
        return replications.show({"all": cells})
    chosen = replications.chosen({"all": cells}, options.cells)
    levels = [float(level) for level in range(len(BUDGETS))]
    found = replications.replicate_all(
        partial(one, n=options.rows), chosen, levels, options, f"kaplan_meier-{options.rows}"
    )
    rows = []
    for (cell, level), lines in sorted(found.items(), key=lambda item: item[0][1]):
        frame = pd.concat([pd.DataFrame(line) for line in lines])
        rows.append([list(BUDGETS)[int(level)], cell.law, cell.right, *report(frame)])
    print(header())
    print(f"{options.rows} rows, {options.reps} curves a line; intervals are to cover in 95 % of curves\n")
    heads = [
        "budget",
        "design",
        "~",
        "covered %",
        "worst time",
        "best time",
        "times",
        "93 to 98 %",
        "mean z",
        "sd z",
        "median se",
        "noise %",
    ]
    formats = ("", "", "", ".1f", ".1f", ".1f", ".0f", ".0f", ".2f", ".2f", ".4f", ".0f")
    print(tabulate(rows, heads, floatfmt=formats))


if __name__ == "__main__":
    main()

"""Coverage of private Kaplan-Meier curves, point by point, where the truth is known.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/kaplan_meier_coverage.py --reps 400 \\
        | tee benchmarks/results/kaplan_meier_coverage.txt

Times are Weibull or log-logistic, censored by an independent uniform time and at the public upper bound.
Noise and data are seeded by cell and replication. A time counts where the curve says something.
"""

import argparse
import zlib

import numpy as np
import pandas as pd
from provenance import header
from tabulate import tabulate
from tqdm import tqdm

import dpstats as dps
from dpstats.budget import Budget
from dpstats.families import DISTS
from dpstats.testing import SeededNoise, noise

LOW, HIGH = 1.0, 1000.0
SCHEMA = dps.Schema(time=dps.bounded(LOW, HIGH), failed=dps.event(), group=dps.levels("a", "b", "c"))
# name: distribution, median, sigma, longest censoring time
CELLS = {
    "wear-out": ("weibull", 300.0, 0.5, 1500.0),
    "early failures": ("weibull", 300.0, 1.5, 1500.0),
    "few failures": ("weibull", 5000.0, 0.7, 1500.0),
    "log-logistic": ("loglogistic", 200.0, 0.6, 900.0),
    "loose bounds": ("weibull", 60.0, 0.5, 150.0),
}
BUDGETS: dict[str, Budget] = {
    "epsilon = 1, delta = 1e-6": dps.approx(1, 1e-6), "pure epsilon = 1": dps.pure(1),
}  # fmt: skip


def sample(cell: str, n: int, generator: np.random.Generator) -> pd.DataFrame:
    """Rows as a user has them."""
    dist, median, sigma, longest = CELLS[cell]
    quantile = DISTS[dist].family.quantile
    times = median * np.exp(sigma * (quantile(generator.uniform(size=n)) - quantile(0.5)))
    ends = generator.uniform(0, longest, n)
    group = generator.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    failed = (times <= ends).astype(int)
    return pd.DataFrame({"time": np.minimum(times, ends), "failed": failed, "group": group})


def truth(cell: str, times: np.ndarray) -> np.ndarray:
    """S at `times`."""
    dist, median, sigma, _ = CELLS[cell]
    family = DISTS[dist].family
    return family.sf(np.log(times / median) / sigma + family.quantile(0.5))


def replicate(cell: str, right: str, budget: Budget, n: int, rep: int) -> pd.DataFrame:
    """One curve beside the truth."""
    seed = zlib.crc32(f"{cell} {right} {budget} {n} {rep}".encode())
    data = sample(cell, n, np.random.default_rng(seed))
    with noise(SeededNoise(seed + 1)):
        frame = dps.kaplan_meier(f"Surv(time, failed) ~ {right}", data, SCHEMA).fit(budget).frame
    return frame.assign(truth=truth(cell, frame["time"].to_numpy())).dropna()


def report(frame: pd.DataFrame) -> list[float]:
    """Coverage in percent: of all points, and of the worst and best time; what of the width is noise."""
    inside = (frame["conf_low"] <= frame["truth"]) & (frame["truth"] <= frame["conf_high"])
    points = inside.groupby([frame["group"], frame["time"]])
    often = points.mean()[points.size() >= points.size().max() / 2]
    z = ((frame["survival"] - frame["truth"]) / frame["std_error"]).clip(-50, 50)
    return [100 * inside.mean(), 100 * often.min(), 100 * often.max(), len(often), z.mean(), z.std(),
            frame["std_error"].median(), 100 * frame["privacy_share"].median()]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--reps", type=int, default=400)
    parser.add_argument("--rows", type=int, default=10_000)
    options = parser.parse_args()
    rows = []
    tasks = [(cell, right, name) for name in BUDGETS for cell in CELLS for right in ("1", "group")]
    for cell, right, name in tqdm(tasks, disable=None):
        budget = BUDGETS[name]
        frames = [replicate(cell, right, budget, options.rows, rep) for rep in range(options.reps)]
        rows.append([name, cell, right, *report(pd.concat(frames))])
    print(header())
    print(f"{options.rows} rows, {options.reps} curves a line; intervals are to cover in 95 % of curves\n")
    heads = ["budget", "design", "~", "covered %", "worst time", "best time", "times", "mean z", "sd z",
             "median se", "noise %"]  # fmt: skip
    formats = ("", "", "", ".1f", ".1f", ".1f", ".0f", ".2f", ".2f", ".4f", ".0f")
    print(tabulate(rows, heads, floatfmt=formats))


if __name__ == "__main__":
    main()

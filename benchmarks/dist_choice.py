"""Which of two distributions ``release=["dist"]`` prefers, over data and noise: the right one, how often?

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/dist_choice.py | tee benchmarks/results/dist-choice.txt

Times are Weibull or log-normal given three covariates, of which about 27 % are seen to fail, so that AIC
tells the two apart by about 227. Each data set is fitted as a Weibull and as a log-normal one. "two" is the
larger of the two likelihoods; "alone" and "wrong" are fits that prefer one of three distributions beyond
noise, the third being the log-logistic one.
"""

import argparse
import math

import numpy as np
import pandas as pd
from provenance import header

import dpstats as dps
from dpstats.testing import SeededNoise, noise

SCHEMA = dps.Schema(
    time=dps.bounded(1, 4000),
    failed=dps.event(),
    x=dps.bounded(-3, 3),
    z=dps.bounded(0, 1),
    g=dps.levels("a", "b", "c"),
)
FORMULA = "Surv(time, failed) ~ x + z + g"
LAWS = ("weibull", "lognormal")
SIGMA, END = 0.7, 0.42  # the last row to be watched, over the time by which 90 % would have failed


def rows(law: str, n: int, draw: np.random.Generator) -> pd.DataFrame:
    """Times that are watched until a uniform end."""
    x, z, g = np.clip(draw.normal(size=n), -3, 3), draw.uniform(size=n), draw.choice(list("abc"), n)
    error = np.log(draw.exponential(size=n)) if law == "weibull" else draw.normal(size=n)
    time = np.exp(5 + 0.4 * x - 0.5 * z + 0.3 * (g == "b") + SIGMA * error)
    end = draw.uniform(0, END * np.quantile(time, 0.9), n)
    seen = np.clip(np.minimum(time, end), 1, 4000)
    return pd.DataFrame(dict(x=x, z=z, g=g, time=seen, failed=(time <= end) * 1))


def fitted(law: str, dist: str, n: int, budget: dps.budget.Budget, seed: int) -> dict[str, object]:
    """One fit: what it preferred, and by how much."""
    data = rows(law, n, np.random.default_rng([7, seed, LAWS.index(law)]))
    with noise(SeededNoise(seed)):
        fit = dps.survreg(FORMULA, data, SCHEMA, dist=dist).fit(budget, release=["dist"])
    found = {dist: 0.0} | {name: value for name, value, _ in fit.record.rivals}
    ahead = found[law] - max(found[other] for other in LAWS if other != law)
    preferred = fit.preferred_dist
    return {
        "law": law,
        "fitted": dist,
        "events": float(data["failed"].mean()),
        "two": ahead > 0,
        "ahead": ahead,
        "noise": fit.record.rivals[0][2],
        "alone": preferred == law,
        "wrong": preferred not in (None, law),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=8000)
    parser.add_argument("--epsilon", type=float, default=2.0)
    parser.add_argument("--seeds", type=int, default=30)
    asked = parser.parse_args()
    print(header())
    budget = dps.approx(asked.epsilon, 1e-5)
    fits = pd.DataFrame(
        fitted(law, dist, asked.n, budget, seed)
        for seed in range(asked.seeds)
        for law in LAWS
        for dist in LAWS
    )
    print(f"n = {asked.n}, {budget}; {len(fits)} fits")
    print(fits.groupby(["law", "fitted"]).mean().round(3).to_string())
    right, count = int(fits["two"].sum()), len(fits)
    error = math.sqrt(max(right * (count - right), 1) / count**3)
    print(f"right of the two: {right} of {count} ({right / count:.3f}, error {error:.3f})")


if __name__ == "__main__":
    main()

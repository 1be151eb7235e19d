"""One private Weibull fit of 52,422 drives from the formula, against lifelines and a bare scipy Newton.

Goals: less than half of lifelines' time, less than 5 times that of scipy's Newton on the ready design
matrix, and a peak of memory under 4 times the input frame. lifelines lives in an environment of its own:

    python -m venv /tmp/lifelines && /tmp/lifelines/bin/pip install lifelines
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/survreg_speed.py /tmp/lifelines/bin/python \\
        | tee benchmarks/results/survreg_speed.txt

Each measurement is a process of its own, and engines alternate: a small fit for imports and caches, one whole
fit for its peak of memory, one for its time. The private fit draws its noise securely. scipy starts from the
mean and sd of log time, with zero slopes. Its trust-exact is the fastest of its Newtons, Newton-CG the one
that bears the name.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

DATA = Path(__file__).parents[1] / "dpstats/datasets/data/hdfail.csv.gz"
COVARIATES = ["temp", "rsc", "rer", "psc"]
ENGINES = ("dpstats", "lifelines", "trust-exact", "Newton-CG")
GOALS = {"lifelines": 0.5, "trust-exact": 5.0, "Newton-CG": 5.0}


def by_dpstats(data: pd.DataFrame) -> Callable[[], np.ndarray]:
    import dpstats as dps  # the environment of lifelines has no dpstats

    schema = dps.datasets.load("hdfail").schema
    formula = "Surv(time, status) ~ " + " + ".join(COVARIATES)
    return lambda: dps.survreg(formula, data, schema).fit(dps.approx(3, 1e-6)).params.to_numpy()


def by_lifelines(data: pd.DataFrame) -> Callable[[], np.ndarray]:
    from lifelines import WeibullAFTFitter

    def fit() -> np.ndarray:
        found = WeibullAFTFitter().fit(data, "time", "status", formula=" + ".join(COVARIATES))
        params = found.params_
        slopes = params["lambda_"]
        return np.array([*slopes[["Intercept", *COVARIATES]], -params["rho_"].iloc[0]])

    return fit


def by_scipy(data: pd.DataFrame, method: str) -> Callable[[], np.ndarray]:
    from censored_mle import Likelihood
    from scipy import optimize

    exog = np.column_stack([np.ones(len(data)), data[COVARIATES].to_numpy(float)])
    log_time = np.log(data["time"].to_numpy())
    likelihood = Likelihood(exog, log_time, data["status"].to_numpy(float), "sev")
    start = np.array([log_time.mean(), *np.zeros(len(COVARIATES)), np.log(log_time.std())])

    def value(theta: np.ndarray) -> tuple[float, np.ndarray]:
        mean, gradient = likelihood(theta)
        return mean * len(data), gradient * len(data)

    def hessian(theta: np.ndarray) -> np.ndarray:
        return likelihood.hessian(theta) * len(data)

    return lambda: optimize.minimize(value, start, jac=True, hess=hessian, method=method).x


def frame() -> pd.DataFrame:
    data = pd.read_csv(DATA)
    data["status"] = np.where(data["time"] > 12_000, 0, data["status"])
    return data.assign(time=data["time"].clip(1, 12_000), temp=data["temp"].clip(10, 50))


def measure(engine: str) -> None:
    data = frame()
    engines = {"dpstats": by_dpstats, "lifelines": by_lifelines}
    prepare = engines.get(engine, lambda rows: by_scipy(rows, engine))
    prepare(data.head(3000))()
    fit = prepare(data)
    size = int(data.memory_usage(deep=True).sum())
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the high-water mark starts here
    before = status("VmRSS")
    fit()
    peak = status("VmHWM") - before
    start, wall = time.process_time(), time.perf_counter()
    params = fit()
    wall = time.perf_counter() - wall
    print(time.process_time() - start, wall, peak, size, *params)


def status(field: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def report(seen: dict[str, list[list[float]]]) -> None:
    print(f"{'':12s} {'CPU ms':>8s} {'wall ms':>8s} {'memory MB':>10s} {'/ frame':>8s}   coefficients")
    for engine, results in seen.items():
        cpu, wall, peak, size = (statistics.median(result[i] for result in results) for i in range(4))
        params = " ".join(f"{value:8.4f}" for value in results[0][4:])
        cells = f"{1e3 * cpu:8.0f} {1e3 * wall:8.0f} {peak / 2**20:10.1f} {peak / size:8.2f}"
        print(f"{engine:12s} {cells}   {params}")
    for engine, goal in GOALS.items():
        pairs = zip(seen["dpstats"], seen[engine], strict=True)
        ratio = statistics.median(ours[0] / theirs[0] for ours, theirs in pairs)
        print(f"CPU time, dpstats / {engine}: {ratio:.2f}; goal {goal}: {verdict(ratio < goal)}")
    memory = statistics.median(1 + result[2] / result[3] for result in seen["dpstats"])
    print(f"memory, input and peak above it / input: {memory:.2f}; goal 4: {verdict(memory < 4)}")


def verdict(passed: bool) -> str:
    return "pass" if passed else "FAIL"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("lifelines", help="the Python that has lifelines")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        return measure(options.engine)
    version = output(options.lifelines, "-c", "import lifelines; print(lifelines.__version__)")
    print("command: OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/survreg_speed.py LIFELINES_PYTHON")
    commit = output("git", "rev-parse", "--short", "HEAD")
    print(f"commit {commit}, numpy {np.__version__}, lifelines {version}")
    print(f"52,422 rows; medians of {options.rounds} alternating rounds, ratios of the same round")
    print("memory: peak above the input")
    seen: dict[str, list[list[float]]] = {engine: [] for engine in ENGINES}
    for _ in range(options.rounds):
        for engine, results in seen.items():
            python = options.lifelines if engine == "lifelines" else sys.executable
            words = output(python, __file__, options.lifelines, "--engine", engine).split()
            results.append([float(word) for word in words])
    report(seen)


if __name__ == "__main__":
    main()

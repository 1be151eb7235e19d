"""Private linear regression at epsilon = 1 against diffprivlib, on the same rows in one run.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/linear_diffprivlib.py --peer-python PYTHON \\
        | tee benchmarks/results/linear_diffprivlib.txt

Design of spec/privacy.md section 5: ten covariates uniform on [-1, 1], y = .5 + Xb + N(0, .5^2), |y| <= 8
declared, b evenly spaced from -1 to 1. The error of a fit is the L2 distance of all coefficients, with the
intercept, to least squares without privacy on the same rows. diffprivlib needs an environment of its own:

    python -m venv /tmp/peer && /tmp/peer/bin/pip install diffprivlib 'scikit-learn<1.8'

It gets a ready matrix and all bounds; ours reads a formula and a table. Noise is seeded for the errors and
secure for the times, on both sides.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

EPSILON, DELTA, D, Y_BOUND = 1.0, 1e-6, 10, 8.0
GOALS = {"dpstats pure": 0.5, "dpstats approx": 0.1}
PEER = "diffprivlib"
LABELS = {
    PEER: "diffprivlib LinearRegression, epsilon = 1",
    "dpstats pure": "dps.ols, pure(1)",
    "dpstats approx": "dps.ols, approx(1, 1e-6)",
}
Fit = Callable[[int | None], np.ndarray]


def sample(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    exog = rng.uniform(-1, 1, size=(n, D))
    return exog, 0.5 + exog @ np.linspace(-1, 1, D) + rng.normal(scale=0.5, size=n)


def least_squares(exog: np.ndarray, endog: np.ndarray) -> tuple[np.ndarray, float]:
    """Coefficients, and the root of the sum of their variances."""
    design = np.column_stack([np.ones(len(exog)), exog])
    gram = design.T @ design
    params = np.linalg.solve(gram, design.T @ endog)
    variance = np.sum((endog - design @ params) ** 2) / (len(design) - D - 1)
    return params, float(np.sqrt(variance * np.trace(np.linalg.inv(gram))))


def by_diffprivlib(exog: np.ndarray, endog: np.ndarray) -> Fit:
    from diffprivlib.models import LinearRegression  # the environment of diffprivlib has no dpstats

    def fit(seed: int | None) -> np.ndarray:
        bounds: dict[str, Any] = {"bounds_X": (-1.0, 1.0), "bounds_y": (-Y_BOUND, Y_BOUND)}
        model = LinearRegression(epsilon=EPSILON, random_state=seed, **bounds).fit(exog, endog)
        return np.array([model.intercept_, *model.coef_])

    return fit


def by_dpstats(exog: np.ndarray, endog: np.ndarray, engine: str) -> Fit:
    from contextlib import nullcontext

    import pandas as pd

    import dpstats as dps
    from dpstats.testing import SeededNoise, noise

    names = [f"x{j}" for j in range(1, D + 1)]
    schema = dps.Schema(y=dps.bounded(-Y_BOUND, Y_BOUND), **{name: dps.bounded(-1, 1) for name in names})
    data = pd.DataFrame(exog, columns=names).assign(y=endog)
    budget = dps.pure(EPSILON) if engine == "dpstats pure" else dps.approx(EPSILON, DELTA)

    def fit(seed: int | None) -> np.ndarray:
        with nullcontext() if seed is None else noise(SeededNoise(seed)):
            return dps.ols("y ~ " + " + ".join(names), data, schema).fit(budget).params.to_numpy()

    return fit


def measure(engine: str, path: Path, draws: int) -> None:
    """Print the errors of `draws` fits, and CPU and wall time of one fit."""
    with np.load(path) as arrays:
        exog, endog, target = (arrays[key] for key in ("exog", "endog", "target"))
    fit = by_diffprivlib(exog, endog) if engine == PEER else by_dpstats(exog, endog, engine)
    errors = [float(np.linalg.norm(fit(seed) - target)) for seed in range(draws)]
    times = []
    for _ in range(5):
        cpu, wall = time.process_time(), time.perf_counter()
        fit(None)
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
    seconds = [statistics.median(column) for column in zip(*times, strict=True)]
    print(json.dumps({"errors": errors, "cpu": seconds[0], "wall": seconds[1]}))


def run(n: int, draws: int, peer: str) -> None:
    exog, endog = sample(n)
    target, scale = least_squares(exog, endog)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, exog=exog, endog=endog, target=target)
        for engine in LABELS:
            command = [peer if engine == PEER else sys.executable, __file__, "--peer-python", peer]
            command += ["--measure", engine, "--rows", str(path), "--draws", str(draws)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found[engine] = json.loads(done.stdout)
    report(n, draws, scale, found)


def report(n: int, draws: int, scale: float, found: dict[str, dict[str, Any]]) -> None:
    print(f"\nn = {n:,}, {draws} draws; norm of the standard errors without privacy: {scale:.4f}")
    print(f"{'':42s} {'error':>8s} {'5-95 %':>16s} {'/ peer':>7s} {'goal':>5s}        CPU ms  wall ms")
    peer = statistics.median(found[PEER]["errors"])
    for engine, label in LABELS.items():
        result = found[engine]
        error = statistics.median(result["errors"])
        low, high = np.quantile(result["errors"], [0.05, 0.95])
        goal = GOALS.get(engine)
        judged = f"{goal:5.2f} {'pass' if error <= goal * peer else 'FAIL'}" if goal else " " * 10
        print(f"{label:42s} {error:8.4f} {low:8.4f}{high:8.4f} {error / peer:7.3f} {judged} "
              f"{1e3 * result['cpu']:9.0f}{1e3 * result['wall']:9.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--peer-python", required=True, help="the Python that has diffprivlib")
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000, 999_999])
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--measure", choices=LABELS, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure, options.rows, options.draws)
    from provenance import header

    asked = "import diffprivlib, sklearn; print(diffprivlib.__version__, sklearn.__version__)"
    words = subprocess.run([options.peer_python, "-W", "ignore", "-c", asked], capture_output=True, text=True)
    versions = words.stdout.split()
    print(header(peer_python=options.peer_python))
    print(f"numpy {np.__version__}, diffprivlib {versions[0]} on scikit-learn {versions[1]}")
    print("error: median distance to least squares on the same rows. diffprivlib says epsilon = 1; it spends")
    print("1/11 on the means of X, 1/11 on the mean of y and 10/11 on the rest, which is 1.09")
    for n in options.sizes:
        run(n, options.draws, options.peer_python)


if __name__ == "__main__":
    main()

"""One model of ours against diffprivlib's on the same rows: for linear_diffprivlib.py, logit_diffprivlib.py.

diffprivlib needs an environment of its own:

    python -m venv /tmp/peer && /tmp/peer/bin/pip install diffprivlib 'scikit-learn<1.8'

A benchmark calls itself in that environment, which has no dpstats. Noise is seeded for the errors and secure
for the times, on both sides.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

EPSILON, DELTA, D = 1.0, 1e-6, 10
NAMES = [f"x{j}" for j in range(1, D + 1)]
PEER = "diffprivlib"
Array = np.ndarray
Fit = Callable[[int | None], Array]  # coefficients, the intercept first, with this seed


@dataclass(frozen=True)
class Study:
    """What is compared.

    Attributes
    ----------
    script : str
        Path of the benchmark.
    sample : callable
        Number of rows to covariates and response.
    exact : callable
        Covariates and response to coefficients without privacy and the norm of their standard errors.
    peer : callable
        Covariates and response to a fit by diffprivlib.
    ours : mapping of callable
        The same by us, by label.
    peer_label, claim : str
        What diffprivlib's is called, and what its budget is worth.
    goals : mapping of float
        Errors over diffprivlib's, by label.
    """

    script: str
    sample: Callable[[int], tuple[Array, Array]]
    exact: Callable[[Array, Array], tuple[Array, float]]
    peer: Callable[[Array, Array], Fit]
    ours: Mapping[str, Callable[[Array, Array], Fit]]
    peer_label: str
    claim: str
    goals: Mapping[str, float]

    @property
    def labels(self) -> dict[str, str]:
        return {PEER: self.peer_label} | {label: label for label in self.ours}


def by_dpstats(model: Callable[[str, Any], Any], budget: Any, exog: Array, endog: Array) -> Fit:
    """Fit `model`, a function of formula and table."""
    import pandas as pd

    from dpstats.testing import SeededNoise, noise

    data = pd.DataFrame(exog, columns=NAMES).assign(y=endog)

    def fit(seed: int | None) -> Array:
        with nullcontext() if seed is None else noise(SeededNoise(seed)):
            return model("y ~ " + " + ".join(NAMES), data).fit(budget).params.to_numpy()

    return fit


def measure(study: Study, engine: str, path: Path, draws: int) -> None:
    """Print the errors of `draws` fits, and CPU and wall time of one fit."""
    with np.load(path) as arrays:
        exog, endog, target = (arrays[key] for key in ("exog", "endog", "target"))
    fit = (study.peer if engine == PEER else study.ours[engine])(exog, endog)
    errors = [float(np.linalg.norm(fit(seed) - target)) for seed in range(draws)]
    times = []
    for _ in range(5):
        cpu, wall = time.process_time(), time.perf_counter()
        fit(None)
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
    seconds = [statistics.median(column) for column in zip(*times, strict=True)]
    print(json.dumps({"errors": errors, "cpu": seconds[0], "wall": seconds[1]}))


def run(study: Study, n: int, draws: int, peer: str) -> None:
    exog, endog = study.sample(n)
    target, scale = study.exact(exog, endog)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, exog=exog, endog=endog, target=target)
        for engine in study.labels:
            command = [peer if engine == PEER else sys.executable, study.script, "--peer-python", peer]
            command += ["--measure", engine, "--rows", str(path), "--draws", str(draws)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found[engine] = json.loads(done.stdout)
    report(study, n, draws, scale, found)


def report(study: Study, n: int, draws: int, scale: float, found: dict[str, dict[str, Any]]) -> None:
    print(f"\nn = {n:,}, {draws} draws; norm of the standard errors without privacy: {scale:.4f}")
    print(f"{'':44s} {'error':>8s} {'5-95 %':>16s} {'/ peer':>7s} {'goal':>5s}        CPU ms  wall ms")
    peer = statistics.median(found[PEER]["errors"])
    for engine, label in study.labels.items():
        result = found[engine]
        error = statistics.median(result["errors"])
        low, high = np.quantile(result["errors"], [0.05, 0.95])
        goal = study.goals.get(engine)
        judged = f"{goal:5.2f} {'pass' if error <= goal * peer else 'FAIL'}" if goal else " " * 10
        print(
            f"{label:44s} {error:8.4f} {low:8.4f}{high:8.4f} {error / peer:7.3f} {judged} "
            f"{1e3 * result['cpu']:9.0f}{1e3 * result['wall']:9.0f}"
        )


def main(study: Study, description: str | None) -> None:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--peer-python", required=True, help="the Python that has diffprivlib")
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000, 999_999])
    parser.add_argument("--draws", type=int, help="default: 30, and 9 from half a million rows on")
    parser.add_argument("--measure", choices=study.labels, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(study, options.measure, options.rows, options.draws)
    from provenance import header

    asked = "import diffprivlib, sklearn; print(diffprivlib.__version__, sklearn.__version__)"
    words = subprocess.run([options.peer_python, "-W", "ignore", "-c", asked], capture_output=True, text=True)
    versions = words.stdout.split()
    print(header(peer_python=options.peer_python))
    print(f"numpy {np.__version__}, diffprivlib {versions[0]} on scikit-learn {versions[1]}")
    print(f"error: median distance to the fit without privacy on the same rows. {study.claim}")
    for n in options.sizes:
        run(study, n, options.draws or (9 if n > 500_000 else 30), options.peer_python)

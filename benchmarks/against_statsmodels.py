"""One fit from a formula, table included, against statsmodels' from the same frame: for linear_speed.py and
glm_speed.py.

Design: eight numbers and a factor of three levels, as texts ("str") or as a
category of pandas ("cat"). Ours is timed with the summary printed, statsmodels without. Each measurement is a
process of its own, and engines alternate: a small fit for imports and caches, one whole fit for its peak of
memory, one for its time. The private fit draws its noise securely.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import statsmodels
from provenance import header

NAMES = [f"x{j}" for j in range(1, 9)]
LEVELS = ("low", "middle", "high")
KINDS = ("cat", "str")
FORMULA = "y ~ " + " + ".join([*NAMES, "grade"])
ENGINES = ("dpstats", "statsmodels")
MEMORY_GOAL = 0.5
Array = np.ndarray


@dataclass(frozen=True)
class Study:
    """What is compared.

    Attributes
    ----------
    response : callable
        Linear predictor and a generator to responses.
    ours, theirs : callable
        A frame to nothing: one fit, and for ours the summary.
    goal : float
        Of the ratio of times.
    aspired : mapping of float
        What is hoped for, in CPU time, by kind of the factor.
    """

    response: Callable[[Array, np.random.Generator], Array]
    ours: Callable[[pd.DataFrame], None]
    theirs: Callable[[pd.DataFrame], None]
    goal: float
    aspired: Mapping[str, float]


def frame(study: Study, n: int, kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    data = pd.DataFrame(rng.uniform(-1, 1, size=(n, len(NAMES))), columns=NAMES)
    codes = rng.integers(3, size=n)
    predictor = data.to_numpy() @ np.linspace(-1, 1, len(NAMES)) + 0.3 * codes
    data["y"] = study.response(predictor, rng)
    grades = pd.Categorical.from_codes(codes, categories=list(LEVELS))
    return data.assign(grade=grades if kind == "cat" else grades.astype(str).to_numpy())


def measure(study: Study, engine: str, n: int, kind: str) -> None:
    fit = study.ours if engine == "dpstats" else study.theirs
    fit(frame(study, 3000, kind))
    data = frame(study, n, kind)
    size = int(data.memory_usage(deep=True).sum())
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the high-water mark starts here
    before = status("VmRSS")
    fit(data)
    peak = status("VmHWM") - before
    cpu, wall = time.process_time(), time.perf_counter()
    fit(data)
    print(time.process_time() - cpu, time.perf_counter() - wall, peak, size)


def status(field: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def run(study: Study, name: str, n: int, kind: str, rounds: int) -> None:
    seen: dict[str, list[list[float]]] = {engine: [] for engine in ENGINES}
    for _ in range(rounds):
        for engine, results in seen.items():
            command = [sys.executable, sys.argv[0], "--measure", engine, "--models", name]
            command += ["--sizes", str(n), "--kinds", kind]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            results.append([float(word) for word in done.stdout.split()])
    report(study, f"{name}, n = {n:,}, {kind}", kind, seen)


def report(study: Study, title: str, kind: str, seen: dict[str, list[list[float]]]) -> None:
    middle = {
        engine: [statistics.median(column) for column in zip(*results, strict=True)]
        for engine, results in seen.items()
    }
    print(f"\n{title}; the frame has {middle['dpstats'][3] / 2**20:.1f} MB")
    print(f"{'':12s} {'CPU ms':>8s} {'wall ms':>8s} {'peak above MB':>14s}")
    for engine, (cpu, wall, peak, _) in middle.items():
        print(f"{engine:12s} {1e3 * cpu:8.0f} {1e3 * wall:8.0f} {peak / 2**20:14.1f}")
    rounds = list(zip(seen["dpstats"], seen["statsmodels"], strict=True))
    cpu = statistics.median(ours[0] / theirs[0] for ours, theirs in rounds)
    wall = statistics.median(ours[1] / theirs[1] for ours, theirs in rounds)
    above = statistics.median(ours[2] / theirs[2] for ours, theirs in rounds)
    whole = statistics.median((ours[2] + ours[3]) / (theirs[2] + theirs[3]) for ours, theirs in rounds)
    print(
        f"CPU {cpu:.2f} (goal {study.goal:g}: {verdict(cpu, study.goal)}; aspired {study.aspired[kind]}), "
        f"wall {wall:.2f}; memory above the frame {above:.2f} ({verdict(above, MEMORY_GOAL)}), "
        f"with the frame {whole:.2f} ({verdict(whole, MEMORY_GOAL)})"
    )


def verdict(ratio: float, goal: float) -> str:
    return "pass" if ratio <= goal else "FAIL"


def main(studies: Mapping[str, Study], description: str | None) -> None:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=studies, default=list(studies))
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000, 999_999])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--measure", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(studies[options.models[0]], options.measure, options.sizes[0], options.kinds[0])
    print(header())
    print(f"numpy {np.__version__}, pandas {pd.__version__}, statsmodels {statsmodels.__version__}")
    print(f"medians of {options.rounds} alternating rounds, ratios of the same round")
    for name in options.models:
        for n in options.sizes:
            for kind in options.kinds:
                run(studies[name], name, n, kind, options.rounds)

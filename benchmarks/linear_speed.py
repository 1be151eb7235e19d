"""One private linear regression from a formula, table included, against statsmodels' ols from the same frame.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/linear_speed.py | tee benchmarks/results/linear_speed.txt

Design of spec/speed.md section 1: eight numbers and a factor of three levels, as texts ("str") or as a
category of pandas ("cat"). Ours is timed with the summary printed, statsmodels without. Each measurement is a
process of its own, and engines alternate: a small fit for imports and caches, one whole fit for its peak of
memory, one for its time. The private fit draws its noise securely.
"""

import argparse
import io
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import statsmodels
from provenance import header

NAMES = [f"x{j}" for j in range(1, 9)]
LEVELS = ("low", "middle", "high")
FORMULA = "y ~ " + " + ".join([*NAMES, "grade"])
ENGINES = ("dpstats", "statsmodels")
GOAL = 0.5
ASPIRED = {"cat": 0.25, "str": 0.15}  # spec/speed.md section 6, CPU time


def frame(n: int, kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    data = pd.DataFrame(rng.uniform(-1, 1, size=(n, len(NAMES))), columns=NAMES)
    codes = rng.integers(3, size=n)
    data["y"] = data.to_numpy() @ np.linspace(-1, 1, len(NAMES)) + 0.3 * codes + rng.normal(scale=0.5, size=n)
    grades = pd.Categorical.from_codes(codes, categories=list(LEVELS))
    return data.assign(grade=grades if kind == "cat" else grades.astype(str).to_numpy())


def by_dpstats(data: pd.DataFrame) -> None:
    import dpstats as dps

    numbers = {name: dps.bounded(-1, 1) for name in NAMES}
    schema = dps.Schema(y=dps.bounded(-8, 8), grade=dps.levels(*LEVELS), **numbers)
    fit = dps.ols(FORMULA, data, schema).fit(dps.approx(1, 1e-6))
    print(fit.summary(), file=io.StringIO())


def by_statsmodels(data: pd.DataFrame) -> None:
    from statsmodels.formula import api

    api.ols(FORMULA, data).fit()


def measure(engine: str, n: int, kind: str) -> None:
    fits: dict[str, Callable[[pd.DataFrame], None]]
    fits = {"dpstats": by_dpstats, "statsmodels": by_statsmodels}
    fit = fits[engine]
    fit(frame(3000, kind))
    data = frame(n, kind)
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


def run(n: int, kind: str, rounds: int) -> None:
    seen: dict[str, list[list[float]]] = {engine: [] for engine in ENGINES}
    for _ in range(rounds):
        for engine, results in seen.items():
            command = [sys.executable, __file__, "--measure", engine, "--sizes", str(n), "--kinds", kind]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            results.append([float(word) for word in done.stdout.split()])
    report(n, kind, seen)


def report(n: int, kind: str, seen: dict[str, list[list[float]]]) -> None:
    middle = {engine: [statistics.median(column) for column in zip(*results, strict=True)]
              for engine, results in seen.items()}
    print(f"\nn = {n:,}, {kind}; the frame has {middle['dpstats'][3] / 2**20:.1f} MB")
    print(f"{'':12s} {'CPU ms':>8s} {'wall ms':>8s} {'peak above MB':>14s}")
    for engine, (cpu, wall, peak, _) in middle.items():
        print(f"{engine:12s} {1e3 * cpu:8.0f} {1e3 * wall:8.0f} {peak / 2**20:14.1f}")
    rounds = list(zip(seen["dpstats"], seen["statsmodels"], strict=True))
    cpu = statistics.median(ours[0] / theirs[0] for ours, theirs in rounds)
    wall = statistics.median(ours[1] / theirs[1] for ours, theirs in rounds)
    above = statistics.median(ours[2] / theirs[2] for ours, theirs in rounds)
    whole = statistics.median((ours[2] + ours[3]) / (theirs[2] + theirs[3]) for ours, theirs in rounds)
    print(f"CPU {cpu:.2f} (goal {GOAL}: {verdict(cpu)}; aspired {ASPIRED[kind]}), wall {wall:.2f}; "
          f"memory above the frame {above:.2f} ({verdict(above)}), "
          f"with the frame {whole:.2f} ({verdict(whole)})")


def verdict(ratio: float) -> str:
    return "pass" if ratio <= GOAL else "FAIL"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000, 999_999])
    parser.add_argument("--kinds", nargs="+", choices=ASPIRED, default=list(ASPIRED))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--measure", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure, options.sizes[0], options.kinds[0])
    print(header())
    print(f"numpy {np.__version__}, pandas {pd.__version__}, statsmodels {statsmodels.__version__}")
    print(f"medians of {options.rounds} alternating rounds, ratios of the same round")
    for n in options.sizes:
        for kind in options.kinds:
            run(n, kind, options.rounds)


if __name__ == "__main__":
    main()

"""The cost of a design matrix: 1e6 rows of 10 numeric and 2 text columns, against patsy in the same run.

Goal: at most 1/5 of patsy's CPU time, and at most 1.5 times the memory of the finished
matrix. Both sides make the same 24 columns from the same frame, in alternation; each measurement is a process
of its own, so that peaks of memory do not mix. Run it with

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/formula_build.py > benchmarks/results/formula_build.txt
"""

import statistics
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import patsy

import dpstats as dps
from dpstats.formula import build_design
from dpstats.rows import open_rows

N, ROUNDS = 1_000_000, 5
NUMBERS = [f"x{i}" for i in range(10)]
LEVELS = {"g": [f"maker{i}" for i in range(5)], "h": [f"site{i}" for i in range(10)]}
FORMULA = "y ~ " + " + ".join([*NUMBERS, *LEVELS])


def frame(kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    columns = {name: rng.uniform(-1, 1, N) for name in ["y", *NUMBERS]}
    for name, levels in LEVELS.items():
        values = np.array(levels, dtype=object)[rng.integers(0, len(levels), N)]
        columns[name] = pd.Series(values, dtype=kind)
    return pd.DataFrame(columns)


def by_dpstats(data: pd.DataFrame) -> np.ndarray:
    schema = dps.Schema(
        {name: dps.bounded(-1, 1) for name in ["y", *NUMBERS]}
        | {name: dps.levels(*levels) for name, levels in LEVELS.items()}
    )
    design = build_design(FORMULA, schema)
    rows = open_rows(data, schema, design.variables)
    exog = np.empty((rows.n, len(design.names)), order="F")
    start = 0
    for block in rows.blocks():
        part = design.read(block)
        exog[start : start + len(part.exog)] = part.exog
        start += len(part.exog)
    return exog


def by_patsy(data: pd.DataFrame) -> np.ndarray:
    return np.asarray(patsy.dmatrices(FORMULA, data)[1])


def measure(engine: str, kind: str) -> None:
    data = frame(kind)
    build = {"dpstats": by_dpstats, "patsy": by_patsy}[engine]
    build(data.head(1000))  # imports and caches
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the high-water mark starts here
    before = status("VmRSS")
    start = time.process_time()
    exog = build(data)
    seconds = time.process_time() - start
    print(seconds, (status("VmHWM") - before) / exog.nbytes, *exog.shape, float(np.abs(exog).sum()))


def status(field: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    commit = output("git", "rev-parse", "--short", "HEAD")
    print("command: OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/formula_build.py")
    print(f"commit {commit}, numpy {np.__version__}, pandas {pd.__version__}, patsy {patsy.__version__}")
    print(f"{N} rows, median of {ROUNDS} alternating rounds; memory: peak above the input / matrix")
    for kind in ("object", "str"):
        seen: dict[str, list[list[float]]] = {"dpstats": [], "patsy": []}
        for _ in range(ROUNDS):
            for engine, results in seen.items():
                words = output(sys.executable, __file__, engine, kind).split()
                results.append([float(word) for word in words])
        assert np.allclose(seen["dpstats"][0][2:], seen["patsy"][0][2:])
        ratios = [ours[0] / theirs[0] for ours, theirs in zip(seen["dpstats"], seen["patsy"], strict=True)]
        for engine, results in seen.items():
            seconds, memory = (statistics.median(result[i] for result in results) for i in (0, 1))
            print(f"{kind:>6} text, {engine:>7}: {seconds:6.2f} s CPU, memory {memory:.2f}")
        print(f"{kind:>6} text, dpstats/patsy: {statistics.median(ratios):.3f} (goals 0.200 and 1.50)")


if __name__ == "__main__":
    measure(*sys.argv[1:]) if len(sys.argv) > 1 else main()

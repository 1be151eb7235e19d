"""Fits of a Parquet file that is read at every pass: time and memory, beside pyarrow and numpy alone.

The file has 20 numeric covariates, a response of `ols` and one of `logit`, in row groups of 2^20 rows. Each
measurement is a process of its own. The yardstick is one pass that reads the file in batches by pyarrow and
adds up X'X of all columns by numpy, which is the least that a fit could do; it is measured before and after
each fit, and the mean of these two counts. A fit's rows a second are those of all its passes; a second table
has the passes of fits of one process by what they sum. Where others use the machine, processor time, which
includes what workers import, tells more than the clock.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/scale.py --rows 1e7
"""

import argparse
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import distributed
import loky
import numpy as np
import pyarrow as pa
from provenance import header
from pyarrow import parquet
from tabulate import tabulate

import dpstats as dps
from dpstats.curator import Curator
from dpstats.curator.engines import _ALONE
from dpstats.curator.partial import Task
from dpstats.testing import SeededNoise, noise

K, GROUP, BATCH = 20, 1 << 20, 1 << 16
NAMES = [f"x{j}" for j in range(K)]
SCHEMA = dps.Schema(dict.fromkeys(NAMES, dps.bounded(-1, 1)), y=dps.bounded(-6, 6), b=dps.flag())
RIGHT = " + ".join(NAMES)


def write(path: Path, n: int) -> None:
    rng, coefficients = np.random.default_rng(1), np.linspace(1, -1, K)
    types = {name: pa.float64() for name in (*NAMES, "y")} | {"b": pa.int8()}
    with parquet.ParquetWriter(path, pa.schema(types)) as writer:
        for start in range(0, n, GROUP):
            rows = min(GROUP, n - start)
            x = rng.uniform(-1, 1, (K, rows))
            line = coefficients @ x
            y = np.clip(line + rng.normal(size=rows), -6, 6)
            b = (rng.random(rows) < 1 / (1 + np.exp(-line))).astype(np.int8)
            writer.write_table(pa.table([*x, y, b], schema=writer.schema))


Passes = list[tuple[str, float, float]]
"""Of each pass what it sums, and its seconds by the clock and of the processor."""


def now() -> np.ndarray:
    """Seconds by the clock, and of this process."""
    return np.array([time.perf_counter(), time.process_time()])


def yardstick(path: Path) -> Passes:
    start = now()
    total = np.zeros((K + 1, K + 1))
    file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 18)
    for batch in file.iter_batches(BATCH, columns=[*NAMES, "y"]):
        columns = np.array([column.to_numpy() for column in batch.columns])
        total += columns @ columns.T
    return [("pyarrow and numpy", *(now() - start))]


def fitted(model: Callable[..., dps.Fit], formula: str, data: Any) -> Passes:
    """The passes of a fit, of which one may sum several statistics."""
    passes: Passes = []

    def timed(self: Curator, task: Task, *others: Any, **options: Any) -> Any:
        start = now()
        found = swept(self, task, *others, **options)
        passes.append((task.name, *(now() - start)))
        return found

    swept, Curator._swept = Curator._swept, timed
    with noise(SeededNoise(1)):
        model(formula, data, SCHEMA).fit(dps.zcdp(0.5))
    return passes


MEASURES: dict[str, Callable[[Any], Passes]] = {
    "pyarrow and numpy": yardstick,
    "ols": lambda data: fitted(dps.ols, f"y ~ {RIGHT}", data),
    "logit": lambda data: fitted(dps.logit, f"b ~ {RIGHT}", data),
}
HERE, PROCESSES, CLUSTER, SPARK = ENGINES = ("", "2 processes", "a cluster of 2 workers", "Spark, local[2]")
FITS = ("ols", "logit", "ols/2", "ols/cluster", "ols/spark")
_ENGINE_OF = {"": HERE, "2": PROCESSES, "cluster": CLUSTER, "spark": SPARK}  # after the slash


@contextmanager
def engine(name: str, path: Path) -> Iterator[Any]:
    """The data, and who sums them: begun before the clock runs, ended after it, to know children's time."""
    if name == SPARK:
        from pyspark.sql import SparkSession

        spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        data = spark.read.parquet(str(path))
        data.limit(9).mapInArrow(_imported, data.schema).collect()
        yield data
        spark.stop()
    elif name == CLUSTER:
        with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client, dps.options(client=client):
                client.run(importlib.import_module, "dpstats")
                yield path
    elif name == PROCESSES:
        with dps.options(workers=2):
            pool = loky.get_reusable_executor(max_workers=2, timeout=300, env=_ALONE)
            list(pool.map(importlib.import_module, ["dpstats"] * 8))
            yield path
        loky.get_reusable_executor().shutdown()
    else:
        yield path


def _imported(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    importlib.import_module("dpstats")
    return batches


def measure(name: str, where: str, path: Path) -> None:
    dps.options(progress=False)
    with engine(where, path) as data:
        start = now()
        passes = MEASURES[name](data)
        seconds, processor = now() - start
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {"seconds": seconds, "processor": processor + children.ru_utime + children.ru_stime}
    print(json.dumps(found | {"passes": passes, "peak": peak()}))


def peak() -> float:
    """Most memory of this process, MiB; that of getrusage begins with what the parent had."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    return int(line.split()[1]) / 1024


def measured(name: str, where: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", name, "--engine", where, "--file", str(path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


CLOCK = ("seconds", "million rows/s", "of yardstick", "by processor time")


def speeds(n: int, times: tuple[float, float], passes: int, unit: np.ndarray) -> tuple[str, ...]:
    """What stands under `CLOCK`, for so many passes in these seconds by the clock and of the processor."""
    shares = unit * passes / np.array(times)
    return (f"{times[0]:.1f}", f"{n * passes / times[0] / 1e6:.2f}", f"{shares[0]:.0%}", f"{shares[1]:.0%}")


def report(n: int, path: Path, asked: list[str]) -> None:
    print(header())
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"{n:,} rows of {K} covariates and two responses, {path.stat().st_size / 2**20:,.0f} MiB\n")
    unit_case = ("pyarrow and numpy", HERE)
    cases = [unit_case]
    for name, _, where in (fit.partition("/") for fit in asked):
        cases += [(name, _ENGINE_OF[where]), unit_case]
    found = [measured(*case, path) for case in cases]
    times = [(each["seconds"], each["processor"]) for each in found]
    rows, single = [], []
    for place, (name, where) in enumerate(cases):
        each, beside = found[place], times[place - 1 : place + 2 : 2] if place % 2 else times[::2]
        unit = np.mean(beside, axis=0)
        shown = speeds(n, times[place], len(each["passes"]), unit)
        rows.append(
            (f"{name}, {where}".removesuffix(", "), len(each["passes"]), *shown, f"{each['peak']:.0f}")
        )
        if place % 2 and where == HERE:
            single += passes_by_sum(n, name, each["passes"], unit)
    print(table(rows, ("", "passes", *CLOCK, "peak MiB")))
    if single:
        print("\n" + table(single, ("passes of one process", "how many", *CLOCK)))


def passes_by_sum(n: int, fit: str, passes: Passes, unit: np.ndarray) -> list[tuple[Any, ...]]:
    """Of all passes that sum the same the median."""
    rows = []
    for name in dict.fromkeys(name for name, *_ in passes):
        times = [seconds for other, *seconds in passes if other == name]
        median: Any = np.median(times, axis=0)
        rows.append((f"{fit}, {name}", len(times), *speeds(n, median, 1, unit)))
    return rows


def table(rows: list[tuple[Any, ...]], heads: tuple[str, ...]) -> str:
    aligned = ("left", *["right"] * (len(heads) - 1))
    return tabulate(rows, heads, disable_numparse=True, colalign=aligned)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument(
        "--fits",
        nargs="*",
        choices=FITS,
        default=FITS[:4],
        help="/2 is by two processes; default: all but Spark",
    )
    parser.add_argument("--measure", choices=MEASURES, help=argparse.SUPPRESS)
    parser.add_argument("--engine", choices=ENGINES, default=HERE, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.engine, options.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        write(path, int(options.rows))
        report(int(options.rows), path, options.fits)


if __name__ == "__main__":
    main()

"""Fits of a Parquet file that is read at every pass: time and memory, beside pyarrow and numpy alone.

The file has 20 numeric covariates, a response of `ols` and one of `logit`, in row groups of 2^20 rows. Each
measurement is a process of its own. The yardstick is one pass that reads the file in batches by pyarrow and
adds up X'X of all columns by numpy, which is the least that a fit could do; it is measured before and after
the fits, and the mean counts. A fit's rows a second are those of all its passes. Where others use the
machine, processor time, which includes imports, tells more than the clock.

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
from dpstats.curator.engines.processes import _ALONE
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


def yardstick(path: Path) -> int:
    total = np.zeros((K + 1, K + 1))
    file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 18)
    for batch in file.iter_batches(BATCH, columns=[*NAMES, "y"]):
        columns = np.array([column.to_numpy() for column in batch.columns])
        total += columns @ columns.T
    return 1


def fitted(model: Callable[..., dps.Fit], formula: str, data: Any) -> int:
    """How many passes a fit makes, of which one may sum several statistics."""
    passes = 0

    def counted(self: Curator, *asked: Any) -> Any:
        nonlocal passes
        passes += 1
        return swept(self, *asked)

    swept, Curator._swept = Curator._swept, counted
    with noise(SeededNoise(1)):
        model(formula, data, SCHEMA).fit(dps.zcdp(0.5))
    return passes


MEASURES: dict[str, Callable[[Any], int]] = {
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
        start = time.perf_counter()
        passes = MEASURES[name](data)
        found = {"seconds": time.perf_counter() - start, "passes": passes}
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    found["processor"] = sum(who.ru_utime + who.ru_stime for who in (own, children))
    print(json.dumps(found | {"peak": peak()}))


def peak() -> float:
    """Most memory of this process, MiB; that of getrusage begins with what the parent had."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    return int(line.split()[1]) / 1024


def measured(name: str, where: str, path: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", name, "--engine", where, "--file", str(path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = json.loads(said.splitlines()[-1])
    return found


def report(n: int, path: Path, asked: list[str]) -> None:
    print(header())
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"{n:,} rows of {K} covariates and two responses, {path.stat().st_size / 2**20:,.0f} MiB\n")
    unit_case = ("pyarrow and numpy", HERE)
    fits = [name.partition("/") for name in asked]
    cases = [unit_case, *((name, _ENGINE_OF[where]) for name, _, where in fits), unit_case]
    found = [(*case, measured(*case, path)) for case in cases]
    units = [row for name, _, row in found if name == "pyarrow and numpy"]
    unit, work = (np.mean([row[key] for row in units]) for key in ("seconds", "processor"))
    rows = [
        (
            f"{name}, {where}".removesuffix(", "),
            int(row["passes"]),
            f"{row['seconds']:.1f}",
            f"{n * row['passes'] / row['seconds'] / 1e6:.2f}",
            f"{unit * row['passes'] / row['seconds']:.0%}",
            f"{work * row['passes'] / row['processor']:.0%}",
            f"{row['peak']:.0f}",
        )
        for name, where, row in found
    ]
    heads = (
        "",
        "passes",
        "seconds",
        "million rows/s",
        "of yardstick",
        "by processor time",
        "peak MiB",
        "of a worker",
    )
    print(tabulate(rows, heads, disable_numparse=True, colalign=("left", *["right"] * 6)))


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

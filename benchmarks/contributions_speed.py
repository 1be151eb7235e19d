"""How fast messages add up, and in how much memory: 1e6 of them, 14 columns, on a disk.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/contributions_speed.py FOLDER \
        | tee benchmarks/results/contributions_speed.txt

Messages of zeros with noise by numpy, which a server cannot tell from honest ones, are written to FOLDER
and removed again. Each size is read by a fresh process; "page cache" means that the file was just written or
read, "disk" that its pages were dropped with posix_fadvise first. "plain read" is read() of the same file,
8 MB at a time. Memory is the peak of the process less what it was before the first message.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from provenance import header
from pyarrow import parquet

import dpstats as dps
from dpstats.contributions import total
from dpstats.contributors import Plan, contribute

COLUMNS = 13
SIZES = (100_000, 1_000_000, 3_000_000)


def plan(n: int) -> Plan:
    names = [f"x{j}" for j in range(COLUMNS)]
    schema = dps.Schema({"y": dps.bounded(-1, 1)} | {name: dps.bounded(-1, 1) for name in names})
    return dps.plan_contributions(f"y ~ {' + '.join(names)}", schema, dps.approx(1, 1e-7), n)


def write(path: Path, of: Plan) -> None:
    draw, group = np.random.default_rng(0), 8192
    schema = pa.schema([("plan", pa.string()), ("id", pa.binary(16)), ("values", pa.binary())])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=["plan"]) as out:
        for start in range(0, of.contributors, group):
            size = min(group, of.contributors - start)
            values = draw.normal(scale=of.sds[0], size=(size, of.size))
            ends = np.arange(size + 1, dtype=np.int32) * 8 * of.size
            numbers = pa.Array.from_buffers(
                pa.binary(), size, [None, pa.py_buffer(ends), pa.py_buffer(values)]
            )
            ids = pa.Array.from_buffers(pa.binary(16), size, [None, pa.py_buffer(draw.bytes(16 * size))])
            out.write_table(pa.table([pa.array([of.hash] * size), ids, numbers], schema=schema))


def drop(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def plain_read(path: Path) -> float:
    start, buffer = time.perf_counter(), bytearray(1 << 23)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.perf_counter() - start


def child(path: Path, n: int) -> None:
    """In a fresh process: seconds, CPU seconds, megabytes."""
    of = plan(n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, cpu = time.perf_counter(), time.process_time()
    found = total(path, of)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(found.n, sum(found.rejected.to_dict().values()), seconds, cpu, memory)


def measured(path: Path, n: int, rounds: int, cold: bool) -> tuple[float, ...]:
    """The fastest of `rounds`."""
    runs = []
    for _ in range(rounds):
        if cold:
            drop(path)
        command = [sys.executable, __file__, str(path), "--child", str(n)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        runs.append(tuple(map(float, answer)))
    return min(runs, key=lambda run: run[2])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--child", type=int)
    options = parser.parse_args()
    if options.child:
        return child(options.folder, options.child)
    print(header(FOLDER=options.folder))
    rows = []
    for n in options.sizes:
        path = options.folder / "messages.parquet"
        write(path, plan(n))
        size = path.stat().st_size / 1e6
        for where in ("page cache", "disk"):
            accepted, rejected, seconds, cpu, memory = measured(path, n, options.rounds, where == "disk")
            if where == "disk":
                drop(path)
            raw = plain_read(path)
            rows.append((n, where, size, seconds, size / seconds, size / cpu, size / raw, memory))
            assert accepted == n and rejected == 0
        path.unlink()
    heads = ["messages", "from", "MB", "s", "MB/s", "MB/s of CPU", "plain read MB/s", "memory MB"]
    print(f"\nServer, {plan(100).size} numbers a message, fastest of {options.rounds}\n")
    print(pd.DataFrame(rows, columns=heads).to_string(index=False, float_format="%.1f"))
    of, record = plan(1000), {"y": 0.1} | {f"x{j}": 0.2 for j in range(COLUMNS)}
    contribute(record, of)
    start = time.perf_counter()
    for _ in range(100):
        contribute(record, of)
    each = (time.perf_counter() - start) / 100
    print(f"\nContributor: {1e3 * each:.1f} ms for one message with secure noise, {of.message_bytes} bytes")


if __name__ == "__main__":
    main()

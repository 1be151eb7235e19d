r"""`ols` of a table in Postgres, by every way to it, beside the Parquet file that the table was made of.

The table is that of `scale.py`. Each fit is a process of its own, under the same seeded noise; what it
releases is compared with what the file's fit releases. A table `dpstats_scale` is written at the address, and
dropped. Where the server is, libpq's variables say.

    PGHOST=... PGUSER=postgres OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/database.py \
        postgresql:///postgres --rows 1e6
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import loky
import psycopg
from adbc_driver_postgresql import dbapi
from provenance import header
from pyarrow import parquet
from scale import NAMES, RIGHT, SCHEMA, peak, write
from tabulate import tabulate

import dpstats as dps
from dpstats.rows import sizes
from dpstats.testing import Recording, SeededNoise, noise

QUERY = f"SELECT {', '.join([*NAMES, 'y'])} FROM dpstats_scale"
FIXED = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
PARTS = 8


def by_adbc(address: str, n: int) -> Any:
    connection = dbapi.connect(address)
    with closing(connection.cursor()) as cursor:
        cursor.execute(FIXED)
    return dps.read_sql(QUERY, connection)


def by_psycopg(address: str, n: int) -> Any:
    connection = psycopg.connect(address)
    connection.execute(FIXED)
    return dps.read_sql(QUERY, connection)


def in_parts(address: str, n: int) -> Any:
    query = QUERY.replace(" FROM", ", id FROM")
    return dps.read_sql(query, address, key="id", cuts=range(n // PARTS, n, n // PARTS))


def of_units(address: str, n: int) -> Any:
    return dps.read_sql(QUERY.replace(" FROM", f", id % {n // 5} AS unit FROM"), address)


UNITS = "address, units of 5 rows, of which 3 weigh"
WAYS: dict[str, Callable[[str, int], Any]] = {
    "Parquet": lambda address, n: os.environ["DPSTATS_FILE"],
    "ADBC connection": by_adbc,
    "psycopg connection": by_psycopg,
    "address": lambda address, n: dps.read_sql(QUERY, address),
    f"address, {PARTS} ranges of a key": in_parts,
    f"address, {PARTS} ranges of a key, 2 workers": in_parts,
    UNITS: of_units,
}


def measure(way: str, address: str, n: int) -> None:
    sizes.SIZES = replace(sizes.SIZES, kept=0)  # read at every pass, however few rows
    workers = 2 if way.endswith("workers") else 1
    schema = SCHEMA.unit("unit", max_rows=3) if way == UNITS else SCHEMA
    recording = Recording(SeededNoise(1))
    start = time.perf_counter()
    with noise(recording, recording.record), dps.options(workers=workers, progress=False):
        fit = dps.ols(f"y ~ {RIGHT}", WAYS[way](address, n), schema).fit(dps.zcdp(0.5))
    seconds = time.perf_counter() - start
    if workers > 1:
        loky.get_reusable_executor().shutdown()
    work = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    found = dict(seconds=seconds, processor=work, peak=peak(), passes=len(recording.records))
    print(json.dumps(found | {"n": fit.nobs, "params": list(fit.params)}))


def measured(way: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, options.address, "--rows", str(options.rows), "--measure", way]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def report(options: argparse.Namespace) -> None:
    print(header())
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; {int(options.rows):,} rows\n")
    found = {way: measured(way, options) for way in WAYS}
    file = found["Parquet"]
    rows = [
        (
            way,
            row["passes"],
            f"{row['seconds']:.1f}",
            f"{row['processor']:.1f}",
            f"{row['peak']:.0f}",
            "" if way == UNITS else f"{_apart(row['params'], file['params']):.1g}",
        )
        for way, row in found.items()
        if row["n"] == file["n"]
    ]
    heads = ("", "passes", "seconds", "processor", "peak MiB", "params differ by")
    print(tabulate(rows, heads, disable_numparse=True, colalign=("left", *["right"] * 5)))


def _apart(params: list[float], others: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(params, others, strict=True))


def copied(path: Path, address: str) -> None:
    """A table of the file's rows, with a serial number that has an index."""
    file = parquet.ParquetFile(path)
    with closing(dbapi.connect(address)) as made, closing(made.cursor()) as cursor:
        cursor.execute("DROP TABLE IF EXISTS dpstats_scale")
        for place, batch in enumerate(file.iter_batches()):
            cursor.adbc_ingest("dpstats_scale", batch, mode="append" if place else "create")
        cursor.execute("ALTER TABLE dpstats_scale ADD COLUMN id bigserial")
        cursor.execute("CREATE INDEX ON dpstats_scale (id)")
        made.commit()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("address")
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--measure", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.address, int(options.rows))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        write(path, int(options.rows))
        os.environ["DPSTATS_FILE"] = str(path)
        copied(path, options.address)
        report(options)
    with closing(dbapi.connect(options.address)) as made, closing(made.cursor()) as cursor:
        cursor.execute("DROP TABLE dpstats_scale")
        made.commit()


if __name__ == "__main__":
    main()

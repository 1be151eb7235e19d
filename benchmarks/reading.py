"""How long a table takes to read: `dpstats.rows` beside pandas and pyarrow, and beside an older checkout.

A million rows: nine columns of normal numbers and one of texts with four levels. To read is to open it and
pass once over all blocks. Each figure is the least of several rounds, in which contestants take turns, every
other round from the last to the first: who comes after another finds memory that the other has left.

    python benchmarks/reading.py --older CHECKOUT_OF_726aa4e
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from provenance import header
from pyarrow import parquet

import dpstats as dps
from dpstats.rows import open_rows

N = 1_000_000
SCHEMA = dps.Schema(
    {f"x{i}": dps.bounded(-5, 5) for i in range(9)}, g=dps.levels("aaa", "bb", "cccc", other=True)
)
FILES = ("digits", "short")


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    made = {f"x{i}": rng.normal(size=N) for i in range(9)}
    return pd.DataFrame(made | {"g": rng.choice(["aaa", "bb", "cccc", "something else"], N)})


def write(folder: Path) -> None:
    table = frame()
    table.to_parquet(folder / "table.parquet")
    table.to_csv(folder / "digits.csv", index=False)
    table.round(3).to_csv(folder / "short.csv", index=False)


def read(data: Any) -> None:
    for _ in open_rows(data, SCHEMA, list(SCHEMA)).blocks():
        pass


def by_unit(data: Any) -> None:
    for _ in open_rows(data, SCHEMA.unit("id", max_rows=2), list(SCHEMA)).blocks():
        pass


def frames() -> dict[str, Callable[[], Any]]:
    """What an older checkout can do, too."""
    table = frame()
    kinds = {"str": table, "object": table.astype({"g": object}), "category": table.astype({"g": "category"})}
    return {f"frame, g {kind}": lambda made=made: read(made) for kind, made in kinds.items()}


def contests(folder: Path) -> dict[str, Callable[[], Any]]:
    ids = np.repeat(np.arange(N // 5), 5)
    whole = frame().assign(id=ids)
    texts = whole.astype({"id": str})
    tasks = frames() | {
        "parquet": lambda: read(folder / "table.parquet"),
        "parquet, read_table().to_pandas()": lambda: parquet.read_table(folder / "table.parquet").to_pandas(),
        "frame, five rows a unit, integer ids": lambda: by_unit(whole),
        "frame, five rows a unit, text ids": lambda: by_unit(texts),
    }
    for name in FILES:
        tasks[f"csv, {name}"] = lambda path=folder / f"{name}.csv": read(path)
        tasks[f"csv, {name}, pandas.read_csv"] = lambda path=folder / f"{name}.csv": pd.read_csv(path)
    return tasks


def timed(tasks: dict[str, Callable[[], Any]], rounds: int) -> dict[str, tuple[float, float]]:
    """Least seconds on the wall, and of processors."""
    best = {name: (np.inf, np.inf) for name in tasks}
    for turn in range(rounds):
        for name, task in list(tasks.items())[:: (-1) ** turn]:
            wall, processor = time.perf_counter(), time.process_time()
            task()
            spent = time.perf_counter() - wall, time.process_time() - processor
            best[name] = tuple(map(min, best[name], spent))
    return best


def older(checkout: Path, rounds: int) -> dict[str, tuple[float, float]]:
    """The same frames in another process, with the package of the checkout."""
    command = [sys.executable, __file__, "--frames", "--rounds", str(rounds)]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return {f"{name}, older": tuple(spent) for name, spent in json.loads(run.stdout).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--older", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--frames", action="store_true", help="print the times of frames alone, as JSON")
    options = parser.parse_args()
    if options.frames:
        print(json.dumps(timed(frames(), options.rounds)))
        return
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        best = timed(contests(Path(folder)), options.rounds)
    if options.older:
        best |= older(options.older, options.rounds)
    print(header(older=options.older))
    print(
        f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; pandas {pd.__version__}; "
        f"least of {options.rounds} rounds"
    )
    print(f"{'':40}{'seconds':>9}{'processor s':>13}")
    for name, (wall, processor) in sorted(best.items()):
        print(f"{name:40}{wall:9.3f}{processor:13.3f}")


if __name__ == "__main__":
    main()

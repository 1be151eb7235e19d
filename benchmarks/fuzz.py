"""Fuzz every reader of outside bytes, each in a process of its own (docs/audit.md).

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/fuzz.py --minutes 60 | tee benchmarks/results/fuzz.txt

Atheris looks for inputs that reach new lines of the package (pip install atheris); valid files that were
spoiled are what it begins from and goes on with. An input that made a reader do what it must not is kept in
--work, and the exit status is then 1. `--only NAME ...` fuzzes some readers, `--again FILE --only NAME` reads
one input once more.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from provenance import header
from tabulate import tabulate
from tqdm import tqdm

MEMORY = 4000  # MB that a reader may take
LONGEST = 60  # seconds that an input may take


def fuzz(name: str, seconds: int, work: Path) -> None:
    """In this process, until the time is over or a fault is found; never returns."""
    import atheris

    with atheris.instrument_imports(include=["dpstats"]):
        from benchmarks.fuzz_targets import TARGETS
    from benchmarks.fuzzing import Watch, check, spoiled

    target, draw, folder = TARGETS[name], random.Random(), Path(tempfile.mkdtemp())
    corpus = target.corpus(folder)
    for number, data in enumerate(corpus):
        (folder / f"case.{name}").write_bytes(data)
        target.read(folder / f"case.{name}")  # loads what it needs, before it is watched
        (work / f"valid-{number}").write_bytes(data)
    watch = Watch()

    def one(data: bytes) -> None:
        check(target, data, folder, watch)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        return spoiled([data, *corpus] if data else corpus, draw)[:most]

    options = [
        f"-max_total_time={seconds}",
        f"-rss_limit_mb={MEMORY}",
        f"-timeout={LONGEST}",
        "-max_len=200000",
        f"-artifact_prefix={work}/fault-",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], str(work), *options], one, custom_mutator=mutate)
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--only", nargs="+", metavar="READER")
    parser.add_argument("--work", type=Path, default=Path("benchmarks/.work/fuzz"))
    parser.add_argument("--again", type=Path)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        fuzz(args.only[0], args.child, args.work)
    from benchmarks.fuzz_targets import TARGETS
    from benchmarks.fuzzing import Watch, check

    names = args.only or list(TARGETS)
    if args.again:
        check(TARGETS[names[0]], args.again.read_bytes(), Path(tempfile.mkdtemp()), Watch())
    else:
        sys.exit(all_of(names, round(60 * args.minutes / len(names)), args.work))


def all_of(names: list[str], seconds: int, work: Path) -> bool:
    """Each reader in turn; whether one did what it must not."""
    rows = []
    for name in tqdm(names, disable=None):
        folder = work / name
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, __file__, "--only", name, "--child", str(seconds), "--work", str(folder)]
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace")
        (folder / "log.txt").write_text(ended.stdout + ended.stderr)
        units = re.findall(r"stat::number_of_executed_units:\s*(\d+)", ended.stderr)
        faults = re.findall(r"Fault: (.*)", ended.stderr + ended.stdout)
        told = faults[0] if faults else "" if ended.returncode == 0 else f"left with {ended.returncode}"
        rows.append([name, units[0] if units else "?", seconds, told[:60]])
    print(header(work=work))
    print(tabulate(rows, ["reader", "inputs", "seconds", "fault"]))
    return any(row[-1] for row in rows)


if __name__ == "__main__":
    main()

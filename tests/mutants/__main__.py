"""``python -m tests.mutants [WORD ...] [--jobs N]``: plant all faults, or those whose line has such a word.

Prints a line for each: killed or not, seconds, the fault. Exits with 1 unless all are killed, and with 2
unless all their tests pass without any fault.
"""

import argparse
import queue
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants import MUTANTS
from tests.mutants.mutant import Bench, Mutant


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="plant only faults whose line has one of these words")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    asked = parser.parse_args()
    unknown = [word for word in asked.words if not any(word in m.what for m in MUTANTS)]
    if unknown:
        parser.error(f"no planted fault has the word {', '.join(map(repr, unknown))}")
    chosen = [m for m in MUTANTS if not asked.words or any(word in m.what for word in asked.words)]
    with tempfile.TemporaryDirectory() as folder:
        benches: queue.Queue[Bench] = queue.Queue()
        for number in range(asked.jobs):
            benches.put(Bench(Path(folder) / str(number)))
        sound, _ = run(benches, None, tuple(sorted({test for m in chosen for test in m.tests})))
        if sound != "survived":
            print(f"without any fault: {sound}; cure that first")
            return 2
        with ThreadPoolExecutor(asked.jobs) as pool:
            outcomes = [(m, pool.submit(run, benches, m)) for m in chosen]
            for mutant, outcome in outcomes:
                word, seconds = outcome.result()
                print(f"{word:12} {seconds:6.1f} s  {mutant.what}", flush=True)
        killed = sum(outcome.result()[0] == "killed" for _, outcome in outcomes)
    print(f"{killed} of {len(chosen)} killed")
    return int(killed < len(chosen))


def run(
    benches: "queue.Queue[Bench]", mutant: Mutant | None, tests: tuple[str, ...] = ()
) -> tuple[str, float]:
    """On the next free bench."""
    bench = benches.get()
    try:
        return bench.outcome(mutant, tests)
    finally:
        benches.put(bench)


if __name__ == "__main__":
    sys.exit(main())

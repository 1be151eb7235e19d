"""A long search for a reader's fault: pairs of inputs that differ in one record (tests/rows/pairs.py).

Each table draws its kind, storage types, separators, compression and cells afresh; a failure prints the seed.

    PYTHONPATH=. python benchmarks/neighbours.py --pairs 1000000
"""

import argparse
import collections
import math
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from provenance import header

from tests.rows.kinds import KINDS
from tests.rows.pairs import search


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop then, and print what was found")
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    print(header(), flush=True)
    seeds = np.random.SeedSequence(options.seed)
    print("seed", seeds.entropy, flush=True)
    found: collections.Counter[str] = collections.Counter()
    start, rng = time.process_time(), np.random.default_rng(seeds)
    end = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory() as folder:
        while found.total() < options.pairs and time.monotonic() < end:
            kind, seed = str(rng.choice(sorted(KINDS))), int(rng.integers(2**62))
            if found.total() % 10_000 < 40:
                print(f"{found.total():,} pairs", file=sys.stderr, flush=True)
            try:
                found[kind] += search(kind, seed, Path(folder))
            except BaseException:
                print(f"search({kind!r}, {seed}, folder) finds a fault", flush=True)
                raise
    for kind, pairs in sorted(found.items()):
        print(f"{kind:12} {pairs:10,} pairs, no row but the record's own differs")
    print(f"{'all':12} {found.total():10,} pairs in {time.process_time() - start:,.0f} s of processor time")


if __name__ == "__main__":
    main()

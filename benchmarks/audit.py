"""Lower bounds on what every kind of fit spends, from fits of worst neighbours (docs/audit.md).

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/audit.py --minutes 25 | tee benchmarks/results/audit.txt

Cases take turns until the minutes are over or each has --runs runs a side. Runs are kept in --work as long as
the package does the same, and counted where they were left. `--only NAME ...` audits some cases, `--list`
names them. The exit status is 1 if a bound lies above its claim.
"""

import argparse
import hashlib
import inspect
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from provenance import header
from tabulate import tabulate
from tqdm import tqdm

from benchmarks.audit_cases import CASES, Case, Fits
from benchmarks.auditing import DELTA, Run, lower_bounds, observe, stacked
from dpstats.budget import Gdp, Pure
from dpstats.curator import mechanisms
from dpstats.curator.mechanisms import SecureNoise
from dpstats.testing import SeededNoise

MISS = 1e-3
TURN = 2.0  # seconds of the processor that a case has before the next one runs
FEWEST = 20  # runs of a side, below which nothing is bounded
SAME = 4  # noises with which two versions of the package give the same numbers, if they are to be one


def behaviour(fits: Fits) -> str:
    """A digest of what fits make of some noise that is given, and of the code that draws the noise of all."""
    runs = [observe(fits, side, SeededNoise(seed)) for seed in range(SAME) for side in (0, 1)]
    numbers = np.concatenate([[run.loss, run.share, *run.published] for run in runs])
    sampler = inspect.getsource(mechanisms) + version("opendp")
    return hashlib.sha256(numbers.tobytes() + sampler.encode()).hexdigest()[:12]


class Audit:
    """The runs of one case, kept in a file."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case, self._fits = case, case.worst()
        name = "".join(c if c.isalnum() else "-" for c in case.name)
        self._path = folder / f"{name}-{behaviour(self._fits)}.npz"
        self.sides: list[np.ndarray | None] = [None, None]
        self.seconds = 0.0
        if self._path.exists():
            with np.load(self._path) as kept:
                self.sides, self.seconds = [kept["first"], kept["second"]], float(kept["seconds"])

    @property
    def runs(self) -> int:
        return 0 if self.sides[0] is None else len(self.sides[0])

    def turn(self, most: int, end: float) -> None:
        """Run in pairs for a while, and keep what was found."""
        new: list[list[Run]] = [[], []]
        start, left = time.process_time(), most - self.runs
        while time.process_time() < start + TURN and time.monotonic() < end and len(new[0]) < left:
            for side in (0, 1):
                run = observe(self._fits, side, SecureNoise())
                new[side].append(run._replace(loss=0.0) if self.case.sum_only else run)
        self.seconds += time.process_time() - start
        for side in (0, 1) if new[0] else ():
            rows = stacked(new[side], None if self.sides[side] is None else self.sides[side].shape[1])
            self.sides[side] = rows if self.sides[side] is None else np.vstack([self.sides[side], rows])
        if self.runs:
            np.savez(self._path, first=self.sides[0], second=self.sides[1], seconds=self.seconds)

    def row(self) -> list[Any]:
        """Of the table."""
        budget, pure = self.case.budget, isinstance(self.case.budget, Pure)
        delta = 0.0 if pure else DELTA
        mu, epsilon = ("", budget.epsilon) if pure else (budget.mu, Gdp(budget.mu).to_approx(DELTA).epsilon)
        claim = f"{epsilon:.3f} ({delta:g})"
        if self.runs < FEWEST:
            return [self.case.name, mu, "", claim, "", "", self.runs, self.seconds, "too few"]
        first, second = self.sides
        found = lower_bounds(first, second, delta, MISS)
        share = np.concatenate([first[:, 1], second[:, 1]])
        apart = "" if self.case.sum_only else share.max() if pure else np.sqrt(np.mean(share**2))
        above = found.epsilon > epsilon or (not pure and found.mu > budget.mu)
        least = "" if pure else found.mu
        return [
            self.case.name,
            mu,
            least,
            claim,
            found.epsilon,
            apart,
            self.runs,
            self.seconds,
            ABOVE * above,
        ]


ABOVE = "ABOVE"
HEADERS = ["fit", "mu", "at least", "epsilon (delta)", "at least", "pair", "runs a side", "CPU seconds", ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--runs", type=int, default=100_000, help="most runs a side")
    parser.add_argument("--only", nargs="+", default=[case.name for case in CASES])
    parser.add_argument("--work", type=Path, default=Path("benchmarks/.work/audit"))
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.list:
        print("\n".join(case.name for case in CASES))
        return
    args.work.mkdir(parents=True, exist_ok=True)
    wanted = [case for case in CASES if case.name in args.only]
    audits = [Audit(case, args.work) for case in tqdm(wanted, desc="worst pairs", disable=None)]
    end = time.monotonic() + 60 * args.minutes
    with tqdm(total=round(60 * args.minutes), unit="s", disable=None) as bar:
        while time.monotonic() < end and any(audit.runs < args.runs for audit in audits):
            for audit in audits:
                if audit.runs < args.runs and time.monotonic() < end:
                    bar.set_description(audit.case.name)
                    audit.turn(args.runs, end)
                    bar.update(round(60 * args.minutes - (end - time.monotonic())) - bar.n)
    rows = [audit.row() for audit in audits]
    print(header(work=args.work))
    print(f"each lower bound holds with probability {1 - MISS:g}; pair: how far apart the two inputs were\n")
    print(tabulate(rows, HEADERS, floatfmt=("", ".3f", ".3f", "", ".3f", ".3f", "", ".0f")))
    sys.exit(any(row[-1] == ABOVE for row in rows))


if __name__ == "__main__":
    main()

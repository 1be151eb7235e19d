"""Processor time of a private fit from a formula, its table printed, against a peer's fit of the same frame.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/speed.py --peer-python LIFELINES_PYTHON \\
        | tee benchmarks/results/speed.txt

LIFELINES_PYTHON is that of an environment with lifelines, scikit-learn and patsy, which do not share pandas
with ours; without it their cases are left out. statsmodels lives in ours. Each measurement is a process, and
engines alternate: a small fit for imports and caches, one whole fit for its peak of memory, one for its time.
``--kept FILE`` keeps measurements, so that a run that was stopped goes on where it was. Private fits draw
their noise securely. The goal of memory is 1 byte a cell of the design, 32 bytes a row and 64 MB beyond the
frame. Last come the import of the package, against that of pandas, its help, how the time of survreg
grows with the rows, and what noise alone takes: no fit that draws as many numbers can take less.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from provenance import estimator, header
from speed_cases import CASES, WARM, Case
from tabulate import tabulate
from tqdm import tqdm

from dpstats.curator.mechanisms import SecureNoise
from dpstats.testing import noise

HELP = "from dpstats.cli import main; main(['--help'])"
FLOORS = (  # fits of few rows, or of many columns
    "ols, category, 1e+04, d = 10",
    "logit, category, 1e+04, d = 10",
    "poisson, category, 1e+04, d = 10",
    "ols, category, 1e+05, d = 30",
    "logit, category, 1e+05, d = 30",
    "poisson, category, 1e+05, d = 30",
)
Result = list[float]


class Kept:
    """Measurements of an unchanged estimator, kept in a file as they are made."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._known = path, dict[str, Result]()
        if path and path.exists():
            for line in path.read_text().splitlines():
                self._known.update(json.loads(line))

    def __call__(self, python: str, name: str, engine: str, number: int) -> Result:
        """Of one case in one round."""
        key = f"{estimator()}: {name}, {engine}, {number}"
        if key not in self._known:
            self._known[key] = measured(python, name, engine)
            if self._path:
                with self._path.open("a") as file:
                    file.write(json.dumps({key: self._known[key]}) + "\n")
        return self._known[key]


def measured(python: str, name: str, engine: str) -> Result:
    command = [python, Path(__file__).with_name("speed_cases.py"), name, engine]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [float(word) for word in done.stdout.split()[-2:]]


def row(name: str, case: Case, peers: str, rounds: int, kept: Kept) -> list[str]:
    """A line of the table; the ratio is the median of the rounds' own."""
    theirs_at = peers if case.elsewhere else sys.executable
    pairs = [
        (kept(sys.executable, name, "ours", number), kept(theirs_at, name, "theirs", number))
        for number in range(rounds)
    ]
    ours, theirs = (statistics.median(pair[i][0] for pair in pairs) for i in range(2))
    ratio = statistics.median(one[0] / other[0] for one, other in pairs)
    peak = statistics.median(one[1] for one, _ in pairs) / 2**20
    allowed = (case.rows * (case.columns + 1) + 32 * case.rows) / 2**20 + 64
    return [
        name,
        case.peer,
        f"{ours:.3f}",
        f"{theirs:.3f}",
        f"{ratio:.2f}",
        f"{case.goal:g}",
        verdict(ratio, case.goal),
        f"{peak:.0f}",
        f"{allowed:.0f}",
        verdict(peak, allowed),
    ]


def verdict(value: float, goal: float) -> str:
    return "holds" if value <= goal else "MISSED"


def seconds(code: str, compiled: str) -> float:
    """Processor seconds of a process that runs some code, the interpreter's start included.

    What it imports is compiled and kept in the folder `compiled`, as that of an installed package is.
    """
    timed = f"import sys, time; sys.argv = ['dpstats']\ntry:\n {code}\nexcept SystemExit: pass\n"
    timed += "print(time.process_time(), file=sys.stderr)"
    env = os.environ | {"PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True, env=env)
    return float(done.stderr.split()[-1])


def imports(rounds: int) -> None:
    codes = {
        "import pandas": "import pandas",
        "import dpstats": "import dpstats",
        "dpstats --help": HELP,
        "all of dpstats that a fit needs": "import dpstats; dpstats.survreg, dpstats.approx, dpstats.Schema",
    }
    with tempfile.TemporaryDirectory() as compiled:
        for code in codes.values():
            seconds(code, compiled)
        found = {
            name: statistics.median(seconds(code, compiled) for _ in range(rounds))
            for name, code in codes.items()
        }
    print(tabulate(found.items(), headers=("processor seconds", ""), floatfmt=".2f"))
    whole, limit = found["import dpstats"], found["import pandas"] + 0.3
    print(f"import dpstats {whole:.2f} v pandas + .3 = {limit:.2f}: {verdict(whole, limit)}")
    print(f"help {found['dpstats --help']:.2f} v .4: {verdict(found['dpstats --help'], 0.4)}")


def growth(sizes: tuple[int, ...]) -> None:
    """Slope of log time of survreg in log rows."""
    case, times = CASES["survreg, weibull, 1e+05"], []
    case.ours(case.make(WARM))
    for n in sizes:
        data = case.make(n)
        cpu = time.process_time()
        case.ours(data)
        times.append(time.process_time() - cpu)
        print(f"survreg, {n:,} rows: {times[-1]:.2f} s")
    slope = math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])
    print(f"slope {slope:.2f}, goal .95 to 1.05: {verdict(abs(slope - 1), 0.05)}")


class Timed(SecureNoise):
    """Secure noise, and how many numbers were drawn in how many processor seconds."""

    numbers, seconds = 0, 0.0

    def gaussian(self, value: np.ndarray, sensitivity: float, mu: float) -> np.ndarray:
        """As of secure noise."""
        start = time.process_time()
        drawn = super().gaussian(value, sensitivity, mu)
        self.seconds += time.process_time() - start
        self.numbers += len(value)
        return drawn


def floors(names: tuple[str, ...], rounds: int, kept: Kept) -> None:
    """What noise takes of some fits, against the whole time of the peer's."""
    rows = []
    for name in names:
        case, timed = CASES[name], Timed()
        data = case.make(case.rows)
        with noise(timed):
            for _ in range(rounds):
                case.ours(data)
        peer = statistics.median(kept(sys.executable, name, "theirs", number)[0] for number in range(rounds))
        spent, numbers = timed.seconds / rounds, timed.numbers // rounds
        rows.append((name, numbers, f"{1e6 * timed.seconds / timed.numbers:.1f}", f"{spent / peer:.2f}"))
    heads = ("what noise takes", "numbers", "microseconds each", "of the peer's time")
    print(tabulate(rows, headers=heads, disable_numparse=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--peer-python", default="", help="of an environment with lifelines and scikit-learn")
    parser.add_argument("--cases", nargs="+", default=list(CASES), help="beginnings of their names")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", nargs="+", type=int, default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--kept", type=Path, help="file of measurements, to go on with")
    options = parser.parse_args()
    print(header(lifelines_python=options.peer_python, kept=options.kept))
    load = os.getloadavg()[2]
    print(
        f"processor seconds, medians of {options.rounds} alternating rounds; MB of memory beyond the frame\n"
    )
    chosen = [name for name in CASES if name.startswith(tuple(options.cases))]
    known = [name for name in chosen if options.peer_python or not CASES[name].elsewhere]
    kept = Kept(options.kept)
    rows = [row(name, CASES[name], options.peer_python, options.rounds, kept) for name in tqdm(known)]
    heads = ("", "peer", "ours", "theirs", "ratio", "goal", "", "MB", "allowed", "")
    print(tabulate(rows, headers=heads, disable_numparse=True))
    jobs = f"{load:.1f} before and {os.getloadavg()[2]:.1f} after, of {os.cpu_count()} processors"
    print(f"\njobs that wanted a processor, in the mean of a quarter of an hour: {jobs}")
    if chosen == list(CASES):
        print()
        imports(options.rounds)
        print()
        growth(tuple(options.rows))
        print()
        floors(FLOORS, options.rounds, kept)


if __name__ == "__main__":
    main()

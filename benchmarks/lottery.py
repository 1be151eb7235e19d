"""Designs drawn at random from a wide law, a fit of each, and how often intervals are confidently wrong.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/lottery.py --minutes 30 \\
        | tee benchmarks/results/lottery.txt
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/lottery.py --ordinary --minutes 20
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/lottery.py --known-scale --minutes 20
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/lottery.py --inspected --minutes 20
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/lottery.py --saturating --minutes 15
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/lottery.py --links --minutes 15
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/lottery.py --scattered --minutes 8
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/lottery.py --real --minutes 10

Every run draws fresh designs; its seed is printed, and --seed repeats a run or goes on with one that was
stopped. Each fit is a line of a file in --work. --design shows one design again, whole. --ordinary draws what
most people have: a few covariates of any shape under bounds that are 2 to 200 times too wide and anywhere.
--known-scale draws survival models whose sigma the fit is told, --inspected such whose failures are known to
lie between two times, by one inspection or many. --saturating draws generalised
linear models with effects that level off, and compares with the fit of the same rows without privacy.
--links draws probit and complementary log-log models of a yes or no. --scattered draws counts, most of which
scatter more than a Poisson law's, for the negative binomial family; --scattered-poisson has the same rows for
the Poisson family.
--real takes rows of real sets, with response, covariates and bounds drawn at random, and compares with the
fit without privacy. --routes "ols pure" fits designs of these routes alone.
"""

import argparse
import itertools
import json
import multiprocessing
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from lots.designs import (
    draw_design,
    draw_inspected,
    draw_known_scale,
    draw_links,
    draw_ordinary,
    draw_saturating,
    draw_scattered,
)
from lots.real import DATA, draw_lot, real_lot
from lots.report import report
from lots.score import lot
from provenance import estimator, header
from tqdm import tqdm

Record = dict[str, Any]
WORK = Path(__file__).parent / ".work"
DRAWS = {
    "lottery": draw_design,
    "ordinary": draw_ordinary,
    "known-scale": draw_known_scale,
    "inspected": draw_inspected,
    "saturating": draw_saturating,
    "links": draw_links,
    "scattered": draw_scattered,
    "scattered-poisson": partial(draw_scattered, model="poisson"),
}
SOME = 5  # fits of each process between two looks at the clock


def seeds(run: int) -> Iterator[int]:
    """Of the designs of a run, without end."""
    for index in range(sys.maxsize):
        yield int(np.random.SeedSequence([run, index]).generate_state(1, np.uint64)[0] >> 11)


def of_routes(draw: Callable[[int], Any], routes: list[str], seed: int) -> bool:
    """Whether the design of a seed is of one of these routes."""
    return draw(seed).route in routes


def everyone(seed: int) -> bool:
    """Any design."""
    return True


def drawn(
    path: Path,
    run: int,
    one: Callable[[int], Record],
    fits: int,
    minutes: float,
    jobs: int,
    wished: Callable[[int], bool] = everyone,
) -> list[Record]:
    """Records of a run, of wished designs; what is in the file already is not done again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []
    known, until = {record["seed"] for record in done}, time.monotonic() + 60 * minutes
    several = itertools.islice(filter(wished, seeds(run)), fits)
    wanted = (seed for seed in several if seed not in known)
    with (
        path.open("a") as file,
        multiprocessing.Pool(jobs) as pool,
        tqdm(total=fits, initial=len(done), mininterval=5) as bar,
    ):
        while time.monotonic() < until and (some := list(itertools.islice(wanted, SOME * jobs))):
            for record in pool.imap_unordered(one, some):
                file.write(json.dumps(record) + "\n")
                file.flush()
                done.append(record)
                bar.update()
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, help="of a run; default: a fresh one")
    parser.add_argument("--fits", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--design", type=int, nargs="+", help="fit these designs and print all of them")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--real", action="store_true", help="real sets")
    which.add_argument("--known-scale", action="store_true", help="times to failure of a known sigma")
    which.add_argument("--saturating", action="store_true", help="GLMs with effects that level off")
    which.add_argument("--links", action="store_true", help="a yes or no under other links than the logit")
    which.add_argument("--scattered", action="store_true", help="counts, by the negative binomial family")
    which.add_argument("--scattered-poisson", action="store_true", help="the same by the Poisson family")
    which.add_argument("--inspected", action="store_true", help="failures between two times")
    which.add_argument("--ordinary", action="store_true", help="designs with loose bounds and nothing else")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of tables for --real")
    parser.add_argument("--routes", nargs="+", help='such as "ols pure", "ols gaussian"; default: all')
    options = parser.parse_args()
    kinds = ("real", *(name for name in DRAWS if name != "lottery"))
    flags = {name: getattr(options, name.replace("-", "_")) for name in kinds}
    kind = next((name for name, asked in flags.items() if asked), "lottery")
    draw, one = DRAWS.get(kind), partial(lot, draw=DRAWS.get(kind))
    if draw is None:
        draw, one = partial(draw_lot, folder=options.data), partial(real_lot, folder=options.data)
    if options.design:
        for seed in options.design:
            print(json.dumps(one(seed), indent=1))
        return
    run = secrets.randbelow(10**9) if options.seed is None else options.seed
    path = options.work / f"{kind}-{estimator()}-{run}.jsonl"
    wished = everyone if options.routes is None else partial(of_routes, draw, options.routes)
    records = drawn(path, run, one, options.fits, options.minutes, options.jobs, wished)
    print(header(work=options.work, data=options.data))
    print(f"seed {run}\n")
    print(report(records, f"python benchmarks/lottery.py{f' --{kind}' * (kind != 'lottery')}"))


if __name__ == "__main__":
    main()

"""How many hopeless fits any rule of public numbers could refuse: fits of other data that look alike.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/refusals_frontier.py --minutes 30 \\
        | tee benchmarks/results/refusals-frontier.txt

Of each design near what is refused, its rows are fitted, and then those of SIX others with the same model,
formula, number of rows, budget and kinds of columns: distributions, bounds, effects, correlations, shares of
events and of levels are drawn anew. How many of the others lose every coefficient is nearly all that a rule
could know of whether this one does. So the first line refuses by that, and by today's rule where it says
nothing: as many as it may while fits with an interval for any coefficient that are refused are 1 % of all
designs. The others are today's rule, of all hopeless fits, and of those whose public numbers make others
hopeless too.
"""

import argparse
import secrets
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lots.designs import Design, draw_alike, draw_design, draw_ordinary
from lots.rows import sample
from lots.score import model_of
from lottery import WORK, Record, drawn
from provenance import estimator, header
from refusals import LEAST, MOST_COEFFICIENTS, NEAR, refused

from dpstats.testing import SeededNoise, noise

Array = np.ndarray
MOST = 0.01  # of all designs: fits with an interval that are refused
SIX = 6


def one(seed: int) -> Record:
    """Whether a design is refused, and what it and others come to, if it is refused or nearly so."""
    ordinary = bool(seed % 2)
    design = (draw_ordinary if ordinary else draw_design)(seed)
    if design.route not in LEAST or not refused(design, MOST_COEFFICIENTS, NEAR):
        return {"seed": seed, "counts": design.route in LEAST}
    model = model_of(design, sample(design))
    k = len(model.design.names) + (design.model == "survreg")
    if not refused(design, k, NEAR):
        return {"seed": seed, "counts": True}
    record = {"seed": seed, "counts": True, "route": design.route, "k": k, "refused": refused(design, k)}
    rng = np.random.default_rng([seed, 7])
    others = [estimable(draw_alike(design, ordinary, rng)) for _ in range(SIX)]
    return record | {"own": estimable(design), "others": others, "size": above(design, k)}


def above(design: Design, k: int) -> float:
    """By how much it is above what is refused, or below."""
    steps = np.geomspace(0.01, 2 * NEAR, 200)
    return float(next((step for step in steps if refused(design, k, step)), 2 * NEAR))


def estimable(design: Design) -> int:
    """How many coefficients have an interval."""
    with noise(SeededNoise(design.seed)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model_of(design, sample(design)).fit(design.budget)
    return int(np.isfinite(np.diag(fit.record.cov)).sum())


def report(records: list[Record]) -> str:
    """A table."""
    designs = sum(record["counts"] for record in records)
    near = [record for record in records if "own" in record]
    lost = np.array([record["own"] == 0 for record in near])
    alike = np.array([np.mean(np.array(record["others"]) == 0) for record in near])
    by_rule = np.array([record["refused"] for record in near])
    order = np.lexsort([[record["size"] for record in near], -alike])
    wrong = np.cumsum(~lost[order]) / designs
    best = np.zeros(len(near), dtype=bool)
    best[order[: int(np.searchsorted(wrong, MOST, side="right"))]] = True
    rows = [
        {"refused by": name, "of hopeless fits": "all"}
        | of_hopeless(lost, chosen)
        | usable(lost, chosen, designs)
        for name, chosen in (("others that look alike", best), ("the rule", by_rule))
    ]
    for least in (0.5, 0.8, 1.0):
        head = {"refused by": "the rule", "of hopeless fits": f"{least:.0%} of others are hopeless"}
        rows.append(head | of_hopeless(lost & (alike >= least), by_rule))
    table = pd.DataFrame(rows).to_string(index=False, na_rep="")
    head = f"{designs} designs, {len(near)} of them refused or nearly so\n\nHopeless fits that are refused:"
    return f"{head}\n{table}"


def of_hopeless(hopeless: Array, chosen: Array) -> dict[str, Any]:
    return {"fits": int(hopeless.sum()), "refused": round(float(chosen[hopeless].mean()), 3)}


def usable(lost: Array, chosen: Array, designs: int) -> dict[str, Any]:
    return {"with an interval and refused, of all": round(float((chosen & ~lost).sum() / designs), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, help="of a run; default: a fresh one")
    parser.add_argument("--designs", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=Path, default=WORK)
    options = parser.parse_args()
    run = secrets.randbelow(10**9) if options.seed is None else options.seed
    path = options.work / f"refusals-{estimator()}-{run}.jsonl"
    records = drawn(path, run, one, options.designs, options.minutes, options.jobs)
    print(header(work=options.work))
    print(f"seed {run}")
    print(report(records))


if __name__ == "__main__":
    main()

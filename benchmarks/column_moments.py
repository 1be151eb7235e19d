"""How often the intervals of `fit.moments` hold, on designs of the lottery.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/column_moments.py --minutes 6 \\
        | tee benchmarks/results/column_moments.txt

Designs have any shape of covariates, half of them ordinary ones, and Gaussian noise; rows are all usable. The
truth is that of the rows, so that limits are those of noise and of values far out, without sampling.
"""

import argparse
import secrets
import time
from typing import Any

import numpy as np
import pandas as pd
from lots.designs import Design, draw_design, draw_ordinary
from lots.rows import sample
from lots.score import model_of
from provenance import header

from dpstats.errors import NotReleased
from dpstats.testing import SeededNoise, noise

MOST = 300_000  # numbers of a design
Z95 = 1.959964
SEVERAL = 20  # columns whose pairs are looked at


def draw(seed: int) -> Design | None:
    """The design of a seed, unless it is not of those."""
    design = (draw_ordinary if seed % 2 else draw_design)(seed)
    small = design.n * (len(design.covariates.columns) + 1) <= MOST
    whole = design.extra in ("", "units", "interaction") and design.model != "kaplan_meier"
    return design if small and whole and design.kind != "pure" else None


def one(seed: int) -> list[dict[str, Any]]:
    """Every mean, sd and correlation of a fit beside that of its rows."""
    design = draw(seed)
    if design is None:
        return []
    made = sample(design)
    model = model_of(design, made)
    with noise(SeededNoise(seed)):
        fit = model.fit(design.budget, force=True)
    try:
        found = fit.moments._found
    except NotReleased:
        return []
    x = np.asarray(model.design.new_rows(made.rows.iloc[: design.n], clip=True).exog)[:, 1:]
    if found.of == "failures":
        x = x[np.asarray(made.fields["event"][: design.n]) > 0]
    if len(x) < 3:
        return []
    shapes = {column.name: column.kind for column in design.covariates.columns}
    kinds = [shapes.get(name.partition("[")[0], "product") for name in fit.moments.names]
    facts = {"route": design.route}
    means = np.abs(found.mean - x.mean(axis=0)) <= Z95 * found.mean_noise
    records = [
        facts | {"of": "mean", "shape": kind, "told": True, "held": held}
        for kind, held in zip(kinds, means, strict=True)
    ]
    sds = x.std(axis=0)
    for j in np.flatnonzero(sds > 0):
        held = abs(np.log(found.sd[j] / sds[j])) <= Z95 * found.sd_noise[j]
        records.append(facts | {"of": "sd", "shape": kinds[j], "told": not found.unknown[j], "held": held})
    if found.corr is None or not 1 < len(sds) <= SEVERAL:
        return records
    for i in np.flatnonzero(sds > 0):
        for j in np.flatnonzero(sds[:i] > 0):
            off = abs(found.corr[i, j] - np.corrcoef(x[:, i], x[:, j])[0, 1])
            told = not (found.unknown[i] or found.unknown[j])
            records.append(
                facts
                | {
                    "of": "correlation",
                    "shape": "",
                    "told": told,
                    "held": off <= Z95 * found.corr_noise[i, j],
                }
            )
    return records


def table(frame: pd.DataFrame, by: str) -> pd.DataFrame:
    """Shares by what it is of, and by another column."""
    told = frame[frame["told"]]
    groups = frame.groupby(["of", by])
    return pd.DataFrame(
        {
            "intervals": told.groupby(["of", by]).size(),
            "held": told.groupby(["of", by])["held"].mean().astype(float).round(3),
            "not estimable": (1 - groups["told"].mean()).round(2),
        }
    ).reset_index()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, help="of a run; default: a fresh one")
    parser.add_argument("--minutes", type=float, default=6.0)
    options = parser.parse_args()
    run = secrets.randbelow(10**9) if options.seed is None else options.seed
    records: list[dict[str, Any]] = []
    seed, until = run * 10**6, time.monotonic() + 60 * options.minutes
    while time.monotonic() < until:
        seed += 1
        records += one(seed)
    frame = pd.DataFrame(records)
    print(header())
    print(f"seed {run}, {seed - run * 10**6} designs drawn\n")
    print("Intervals of means, sds and correlations that hold those of the rows, of 95 %:\n")
    print(table(frame, "route").to_string(index=False), "\n")
    print(table(frame[frame["shape"] != ""], "shape").to_string(index=False))


if __name__ == "__main__":
    main()

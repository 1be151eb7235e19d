"""Coverage and accuracy of private survival fits, where the truth is known.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/survreg_coverage.py grid-10000 --reps 200 \\
        | tee benchmarks/results/survreg_coverage_10000.txt

Cells are named by a group, or by patterns of their names (--list shows all). Each finished replication is a
line of a file in --work, under the commit of the estimator: what is there already is not done again. Noise
and data are seeded by cell and replication.
"""

import argparse
import fnmatch
import json
import multiprocessing
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import coverage_report
import numpy as np
from provenance import estimator, header
from simulated import BOUNDS, DISTS, Cell, mle
from tqdm import tqdm

import dpstats as dps
from dpstats.families import DISTS as FAMILIES
from dpstats.testing import SeededNoise, noise

Task = tuple[Cell, float, int, Path]
CENSORED = (0, 30, 60)
SIZES = (10_000, 100_000)


def groups() -> dict[str, list[Cell]]:
    """Named lists of cells: the grid of the requirements, and designs that are harder."""
    found = {}
    for n in SIZES:
        both = [(family, cens) for family in DISTS for cens in CENSORED]
        found[f"grid-{n}"] = [Cell(family, "norm", "true", cens, n) for family, cens in both]
        others = [design for design in BOUNDS if design != "norm"]
        cells = [Cell(family, design, "true", 60, n) for family in DISTS for design in others]
        cells += [Cell(family, "norm", "true", 95, n) for family in DISTS]
        cells += [Cell("sev", "norm", law, cens, n) for law in ("gauss", "early") for cens in CENSORED]
        found[f"designs-{n}"] = cells
    return found


def chosen(patterns: list[str]) -> list[Cell]:
    known = groups()
    cells = []
    for pattern in patterns:
        every = [cell for group in known.values() for cell in group]
        cells += known.get(pattern) or [cell for cell in every if fnmatch.fnmatch(cell.name, pattern)]
    if not cells:
        sys.exit(f"no cell matches {' '.join(patterns)}; groups are {', '.join(known)}")
    return cells


def replicate(task: Task) -> None:
    """One private fit and the MLE of the same sample; appended to the cell's file."""
    cell, epsilon, rep, path = task
    covariates, log_time, event = cell.sample(rep)
    data = {f"x{j}": column for j, column in enumerate(covariates.T, 1)}
    data |= {"time": np.exp(log_time), "failed": event}
    model = dps.survreg(cell.formula, data, cell.schema, dist=DISTS[cell.family])
    with noise(SeededNoise(zlib.crc32(f"{cell.name} {epsilon:g} {rep}".encode()))):
        fit = model.fit(dps.approx(epsilon, 1e-6))
    params, cov = fit.params.to_numpy(), fit.cov_params().to_numpy()
    exact = mle(cell, covariates, log_time, event)
    quantile = float(FAMILIES[DISTS[cell.family]].family.quantile(0.1))
    gradient = np.array([1.0, *np.zeros(len(params) - 2), np.exp(params[-1]) * quantile])
    b10_variance = gradient[[0, -1]] @ cov[np.ix_([0, -1], [0, -1])] @ gradient[[0, -1]]
    line = {
        "rep": rep,
        "mle": [*exact, b10(exact, quantile)],
        "params": [*params, b10(params, quantile)],
        "bse": [*np.sqrt(np.diag(cov)), np.sqrt(b10_variance)],
        "flags": [code for code, _ in fit.flags],
        "settings": [fit.settings[key] for key in ("cut c", "z_l", "R")],
        "target": [*cell.target, b10(cell.target, quantile)],
    }
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def b10(params: np.ndarray, quantile: float) -> float:
    """Log of the time by which a tenth has failed, where all covariates are 0."""
    return float(params[0] + np.exp(params[-1]) * quantile)


def finished(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def todo(paths: dict[tuple[Cell, float], Path], reps: int) -> Iterator[Task]:
    done = {path: {line["rep"] for line in finished(path)} for path in paths.values()}
    for rep in range(reps):  # all cells grow together, so that an interrupted run says something of each
        for (cell, epsilon), path in paths.items():
            if rep not in done[path]:
                yield cell, epsilon, rep, path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cells", nargs="*", default=["grid-10000"], help="groups, or patterns of names")
    parser.add_argument("--list", action="store_true", help="print groups and cells, and stop")
    parser.add_argument("--reps", type=int, default=200)
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1.0, 3.0])
    parser.add_argument("--work", type=Path, default=Path(__file__).parent / ".work")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.list:
        for group, cells in groups().items():
            print(group, *(cell.name for cell in cells), sep="\n  ")
        return
    folder = options.work / estimator()
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [(cell, epsilon) for cell in chosen(options.cells) for epsilon in options.epsilons]
    paths = {(cell, epsilon): folder / f"{cell.name}-{epsilon:g}.jsonl" for cell, epsilon in pairs}
    tasks = list(todo(paths, options.reps))
    with multiprocessing.Pool(options.jobs) as pool:
        list(tqdm(pool.imap_unordered(replicate, tasks), total=len(tasks), disable=None))
    print(header())
    coverage_report.report({pair: finished(path)[: options.reps] for pair, path in paths.items()})


if __name__ == "__main__":
    main()

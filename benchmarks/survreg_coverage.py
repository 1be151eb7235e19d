"""Coverage and accuracy of private survival fits, where the truth is known.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/survreg_coverage.py grid-10000 --reps 200 \\
        | tee benchmarks/results/survreg_coverage_10000.txt
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/survreg_coverage.py --pure --reps 40 pure-10000 \\
        | tee benchmarks/results/survreg_coverage_pure_10000.txt
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/survreg_coverage.py --pure --reps 20 --epsilons 0.5 \\
        grid-100000 | tee benchmarks/results/survreg_coverage_pure_100000.txt

Cells are named by a group, or by patterns of their names (--list shows all). Each finished replication is a
line of a file in --work, under the commit of the estimator: what is there already is not done again. Noise
and data are seeded by cell and replication.
"""

import argparse
import functools
import zlib
from typing import Any

import coverage_report
import numpy as np
import replications
from provenance import header
from replications import Task
from simulated import BOUNDS, DISTS, Cell, mle

import dpstats as dps
from dpstats.families import DISTS as FAMILIES
from dpstats.families import Family
from dpstats.testing import SeededNoise, noise

CENSORED = (0, 30, 60)
SIZES = (1_000, 10_000, 100_000)


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
        hard = [Cell("sev", design, "true", cens, n) for design in ("corr", "binary") for cens in (0, 30)]
        found[f"pure-{n}"] = found[f"grid-{n}"] + hard
    return found


def replicate(task: Task[Cell], pure: bool = False) -> dict[str, Any]:
    """One private fit and the MLE of the same sample; of pure epsilon, or with delta = 1e-6."""
    cell, epsilon, rep, _ = task
    covariates, log_time, event = cell.sample(rep)
    data = {f"x{j}": column for j, column in enumerate(covariates.T, 1)}
    data |= {"time": np.exp(log_time), "failed": event}
    model = dps.survreg(cell.formula, data, cell.schema, dist=DISTS[cell.family])
    with noise(SeededNoise(zlib.crc32(f"{cell.name} {epsilon:g} {rep}".encode()))):
        fit = model.fit(dps.pure(epsilon) if pure else dps.approx(epsilon, 1e-6))
    exact = mle(cell, covariates, log_time, event)
    return kept(fit, exact, cell.target, FAMILIES[DISTS[cell.family]].family)


def kept(fit: dps.Fit, exact: np.ndarray, target: np.ndarray, law: Family) -> dict[str, Any]:
    """What a replication keeps: estimates, the MLE `exact` and the target, each with the B10 life."""
    params, cov, quantile = fit.params.to_numpy(), fit.cov_params().to_numpy(), float(law.quantile(0.1))
    gradient = np.array([1.0, np.exp(params[-1]) * quantile])
    b10_variance = gradient @ cov[np.ix_([0, -1], [0, -1])] @ gradient
    return {
        "mle": [*exact, b10(exact, quantile)],
        "params": [*params, b10(params, quantile)],
        "bse": [*np.sqrt(np.diag(cov)), np.sqrt(b10_variance)],
        "flags": [code for code, _ in fit.flags],
        "settings": [fit.settings[key] for key in ("cut c", "z_l", "R")],
        "target": [*target, b10(target, quantile)],
    }


def b10(params: np.ndarray, quantile: float) -> float:
    """Log of the time by which a tenth has failed, where all covariates are 0."""
    return float(params[0] + np.exp(params[-1]) * quantile)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    replications.arguments(parser, "grid-10000", 200)
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1.0, 3.0])
    parser.add_argument("--pure", action="store_true", help="pure epsilon")
    options = parser.parse_args()
    if options.list:
        return replications.show(groups())
    cells = replications.chosen(groups(), options.cells)
    one = functools.partial(replicate, pure=options.pure)
    study = "pure" if options.pure else ""
    found = replications.replicate_all(one, cells, options.epsilons, options, study)
    print(header(work=options.work))
    coverage_report.report(found)


if __name__ == "__main__":
    main()

"""Error and coverage of survreg(method="functional") on simulated data without censoring.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/functional_coverage.py \\
        | tee benchmarks/results/functional_coverage.txt

The design of survreg_coverage.py (six covariates, sigma .5). "Ratio" is the root mean square error over that
of maximum likelihood on the same samples, "penalty" the same for slopes solved as published (every direction
penalised) from the same release; "holds" the share of 95 % intervals that hold the truth, of those that are
given; "none" the share that is not; "flagged" that of fits with any caution.
"""

import argparse
import zlib

import numpy as np
from provenance import header
from simulated import DISTS, SLOPES, Cell, mle
from tqdm import tqdm

import dpstats as dps
from dpstats.curator import Curator
from dpstats.estimators.functional import fit_functional
from dpstats.estimators.published.functional import as_published
from dpstats.estimators.row_scale import Box
from dpstats.families import DISTS as FAMILIES
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import SeededNoise, noise

Array = np.ndarray
EPSILONS = (1.0, 3.0, 10.0)
CELLS = [
    Cell(family, design, "true", 0, n)
    for family, design in (("sev", "norm"), ("logistic", "norm"), ("sev", "binary"), ("sev", "corr"))
    for n in (10_000, 100_000)
]
PARTS = {"slopes": slice(1, -1), "intercept": slice(0, 1), "log sigma": slice(-1, None)}


def fits(cell: Cell, rep: int) -> dict[float, tuple[Array, Array, Array, Array]]:
    """Errors of the MLE, of the fit and of the published one, and standard errors, by epsilon."""
    covariates, log_time, event = cell.sample(rep)
    target = np.array([0.0, *SLOPES, np.log(0.5)])
    exact = mle(cell, covariates, log_time, event) - target
    data = {f"x{j}": column for j, column in enumerate(covariates.T, 1)} | {"time": np.exp(log_time)}
    formula = cell.formula.replace("Surv(time, failed)", "Surv(time)")
    design, dist = build_design(formula, cell.schema), FAMILIES[DISTS[cell.family]]
    bounds = np.vstack([design.bounds[1:], np.log(design.response.time_bounds)])
    box, rows = (
        Box(*bounds.T),
        open_rows(data, cell.schema, design.variables),
    )
    found = {}
    for epsilon in EPSILONS:
        with noise(SeededNoise(zlib.crc32(f"{cell.name} {epsilon:g} {rep}".encode()))):
            curator = Curator(rows, design, dps.pure(epsilon))
        fit = fit_functional(curator, box, True, dist.family, epsilon)
        se = np.sqrt(np.diag(fit.cov))
        paper = as_published(fit, box, dist.family)
        found[epsilon] = (exact, fit.params - target, paper - target, se, bool(fit.problems))
    return found


def show(cell: Cell, epsilon: float, found: list[tuple[Array, ...]]) -> None:
    exact, errors, published, bse, flagged = map(np.array, zip(*found, strict=True))
    given = np.isfinite(bse)
    print(f"\n{cell.family} {cell.design} n = {cell.n:,}, epsilon {epsilon:g}: flagged {flagged.mean():.2f}")
    for part, where in PARTS.items():
        size, rival, of_mle = (np.sqrt(np.mean(x[:, where] ** 2)) for x in (errors, published, exact))
        beside = f"penalty {rival / of_mle:7.2f}" if part == "slopes" else ""
        held = (np.abs(errors) <= 1.96 * bse)[:, where][given[:, where]]
        holds = f"holds {held.mean():.3f}" if held.size else ""
        none = 1 - given[:, where].mean()
        print(f"  {part:10s} ratio {size / of_mle:7.2f}  none {none:.2f}  {holds:12s} {beside}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--reps", type=int, default=60)
    reps = parser.parse_args().reps
    print(header())
    for cell in CELLS:
        found = [fits(cell, rep) for rep in tqdm(range(reps), desc=cell.name, disable=None)]
        for epsilon in EPSILONS:
            show(cell, epsilon, [one[epsilon] for one in found])


if __name__ == "__main__":
    main()

"""Error and coverage of private linear regression, where the truth is known.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/linear_coverage.py grid-10000 --reps 100 \\
        | tee benchmarks/results/linear_coverage_10000.txt

Cells are named by a group, or by patterns of their names (--list shows all). Each finished replication is a
line of a file in --work, under the commit of the estimator: what is there already is not done again. Noise
and data are seeded by cell, replication and --family: rules are tuned on one family of samples and reported
on the other. --public 200 gives the model the moments of 200 public rows. With --pure, mu is epsilon.
"""

import argparse
import zlib
from functools import partial
from typing import Any

import linear_report
import numpy as np
import replications
from linear_simulated import Cell, Sample
from provenance import header
from replications import Task

import dpstats as dps
from dpstats.testing import SeededNoise, noise

MUS = (0.3, 1.0, 3.0)
SIZES = (1_000, 10_000, 100_000)
WIDTHS = (5, 10, 20)


def groups() -> dict[str, list[Cell]]:
    """Named lists of cells: the grid of the specification, and what is harder."""
    found = {}
    normal = [(design, d) for d in WIDTHS for design in ("cond1", "cond1000")]
    for n in SIZES:
        found[f"grid-{n}"] = [Cell(design, "normal", 4, n, d) for design, d in normal]
    for n in SIZES[:2]:
        few = [(half, design, d) for half in (2, 10, 20) for design, d in normal if d in WIDTHS[:2]]
        found[f"bounds-{n}"] = [Cell(design, "normal", half, n, d) for half, design, d in few]
        others = ("t4", "lognormal", "binary")
        cells = [Cell(design, "normal", 4, n, d) for design in others for d in WIDTHS[:2]]
        cells += [Cell("cond1", errors, 4, n, d) for errors in ("t3", "exp", "hetero") for d in WIDTHS[:2]]
        found[f"designs-{n}"] = cells
    return found


def replicate(task: Task[Cell], family: str, public: int, pure: bool) -> dict[str, Any]:
    """One private fit, and least squares of the same sample."""
    cell, mu, rep, _ = task
    sample, others = cell.sample(family, rep, public)
    moments = dps.public_moments(cell.formula, table(cell, others), others.schema) if others else None
    model = dps.ols(cell.formula, table(cell, sample), sample.schema, public=moments)
    with noise(SeededNoise(zlib.crc32(f"{family} {cell.name} {mu:g} {rep}".encode()))):
        fit = model.fit(dps.pure(mu) if pure else dps.gdp(mu))
    params = fit.params.to_numpy()
    design = np.column_stack([np.ones(cell.n), sample.exog])
    exact = np.linalg.lstsq(design, sample.endog, rcond=None)[0]
    sigma, rsquared = fit.sigma, fit.rsquared
    return {
        "truth": [*sample.params, cell.sigma, sample.rsquared],
        "estimate": [*params, sigma.estimate, rsquared.estimate],
        "low": [*fit.conf_int().iloc[:, 0], sigma.conf_low, rsquared.conf_low],
        "high": [*fit.conf_int().iloc[:, 1], sigma.conf_high, rsquared.conf_high],
        "share": [*fit.privacy_share, sigma.privacy_share, rsquared.privacy_share],
        "flags": [code for code, _ in fit.flags],
        "rel": fit.record.linear.solve(0.0).rel,
        "error": length(params - sample.params, sample),
        "ols": length(exact - sample.params, sample),
    }


def table(cell: Cell, sample: Sample) -> dict[str, np.ndarray]:
    return {**dict(zip(cell.names, sample.exog.T, strict=True)), "y": sample.endog}


def length(apart: np.ndarray, sample: Sample) -> float:
    """Distance of two vectors of coefficients in the norm of their predictions."""
    return float(np.sqrt(apart @ sample.moment @ apart))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    replications.arguments(parser, "grid-10000", 100)
    parser.add_argument("--mus", nargs="+", type=float, default=list(MUS))
    parser.add_argument("--family", choices=("tune", "report"), default="report", help="of samples")
    parser.add_argument("--public", type=int, default=0, help="rows of a public sample; default: none")
    parser.add_argument("--pure", action="store_true", help="spend pure epsilon, of the size that --mus says")
    options = parser.parse_args()
    if options.list:
        return replications.show(groups())
    cells = replications.chosen(groups(), options.cells)
    one = partial(replicate, family=options.family, public=options.public, pure=options.pure)
    study = f"linear-{options.family}-{options.public}" + "-pure" * options.pure
    found = replications.replicate_all(one, cells, options.mus, options, study)
    print(header(work=options.work))
    linear_report.report(found, options.public, options.pure)


if __name__ == "__main__":
    main()

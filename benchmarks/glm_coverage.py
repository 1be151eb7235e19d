"""Error and coverage of private logistic, Poisson and gamma regression, where the truth is known.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/glm_coverage.py logit-10000 --reps 100 \\
        | tee benchmarks/results/glm_coverage_logit_10000.txt

Cells are named by a group, or by patterns of their names (--list shows all). Each finished replication is a
line of a file in --work, under the commit of the estimator: what is there already is not done again. Noise
and data are seeded by cell, replication and --family: rules are tuned on one family of samples and reported
on the other. --public 200 gives the model the moments of 200 public rows.
"""

import argparse
import math
import warnings
import zlib
from functools import partial
from itertools import product
from typing import Any

import glm_report
import numpy as np
import objective_newton
import replications
import statsmodels.api as sm
from covariates import with_constant
from glm_simulated import FAMILIES, Cell, Sample
from provenance import header
from replications import Task

import dpstats as dps
from dpstats.results import Fit
from dpstats.testing import SeededNoise, noise

MUS = (0.3, 1.0, 3.0)
SIZES = (1_000, 10_000, 100_000)
WIDTHS = (5, 10)
NORMAL, HARDER = ("cond1", "cond1000"), ("rare", "corr9", "t4", "binary")
# maximum likelihood without privacy; logit is statsmodels' default link, gamma's is named
EXACT = {
    "logit": sm.families.Binomial(),
    "poisson": sm.families.Poisson(),
    "gamma": sm.families.Gamma(sm.families.links.Log()),
}


def groups() -> dict[str, list[Cell]]:
    """Named lists of cells: the grid of the specification, and what is harder."""
    found = {}
    for n in SIZES:
        for family in FAMILIES:
            grid = product(NORMAL, WIDTHS)
            found[f"{family}-{n}"] = [Cell(family, "own", design, 4, n, d) for design, d in grid]
        found[f"erm-{n}"] = [Cell("logit", "own", "erm", 4, n, p + 1) for p in (5, 10, 20)]
    for n in SIZES[1:]:
        laws = product((("logit", "rare"), ("poisson", "negbin")), NORMAL, WIDTHS)
        found[f"laws-{n}"] = [Cell(*law, design, 4, n, d) for law, design, d in laws]
        kinds = product(FAMILIES[:2], HARDER, WIDTHS)
        found[f"designs-{n}"] = [Cell(family, "own", design, 4, n, d) for family, design, d in kinds]
        wide = product(FAMILIES[:2], NORMAL, (20, 40))
        found[f"wide-{n}"] = [Cell(family, "own", design, 4, n, d) for family, design, d in wide]
        loose = product(FAMILIES, NORMAL, (10, 20))
        found[f"bounds-{n}"] = [Cell(family, "own", design, half, n, 5) for family, design, half in loose]
    found["million"] = [Cell(family, "own", "cond1000", 4, 1_000_000, 10) for family in FAMILIES]
    return found


def replicate(task: Task[Cell], family: str, public: int) -> dict[str, Any]:
    """One private fit, and maximum likelihood of the same sample."""
    cell, mu, rep, _ = task
    sample, others = cell.sample(family, rep, public)
    moments = dps.public_moments(cell.formula, table(cell, others), others.schema) if others else None
    seed = zlib.crc32(f"{family} {cell.name} {mu:g} {rep}".encode())
    with noise(SeededNoise(seed)):
        fit = model(cell, sample, {"public": moments} if moments else {}).fit(dps.gdp(mu))
    exact = maximum_likelihood(cell, sample)
    limits = fit.conf_int().to_numpy()
    line = {
        "truth": [*sample.params],
        "estimate": [*fit.params],
        "low": [*limits[:, 0]],
        "high": [*limits[:, 1]],
        "share": [*fit.privacy_share],
        "flags": [code for code, _ in fit.flags],
        "rel": fit.settings.get("rel", math.nan),
        "error": length(fit.params.to_numpy() - sample.params, sample),
        "mle": length(exact - sample.params, sample),
    }
    if cell.family == "gamma":
        add_dispersion(line, fit)
    return line | (rival(cell, sample, mu, seed) if cell.family == "logit" else {})


def model(cell: Cell, sample: Sample, more: dict[str, Any]) -> Any:
    given = (cell.formula, table(cell, sample), sample.schema)
    if cell.family == "logit":
        return dps.logit(*given, **more)
    return dps.glm(*given, family=cell.family, **more)


def table(cell: Cell, sample: Sample) -> dict[str, np.ndarray]:
    return {**dict(zip(cell.names, sample.exog.T, strict=True)), "y": sample.endog}


def maximum_likelihood(cell: Cell, sample: Sample) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a separated sample has no maximum; its error then says so
        return sm.GLM(sample.endog, with_constant(sample.exog), EXACT[cell.family]).fit().params


def add_dispersion(line: dict[str, Any], fit: Fit) -> None:
    phi = fit.dispersion
    added = {
        "truth": 1.0,
        "estimate": phi.estimate,
        "low": phi.conf_low,
        "high": phi.conf_high,
        "share": phi.privacy_share,
    }
    for key, number in added.items():
        line[key].append(number)


def rival(cell: Cell, sample: Sample, mu: float, seed: int) -> dict[str, float]:
    bounds = np.array([sample.schema[name].bounds for name in cell.names])
    params, cov = objective_newton.fit(sample.exog, sample.endog, bounds, mu, np.random.default_rng(seed))
    held = np.abs(params - sample.params) <= 1.96 * np.sqrt(np.diag(cov))
    return {"rival": length(params - sample.params, sample), "rival_held": float(held.mean())}


def length(apart: np.ndarray, sample: Sample) -> float:
    """Distance of two vectors of coefficients in the norm of the sample."""
    return float(np.sqrt(apart @ sample.norm @ apart))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    replications.arguments(parser, "logit-10000", 100)
    parser.add_argument("--mus", nargs="+", type=float, default=list(MUS))
    parser.add_argument("--family", choices=("tune", "report"), default="report", help="of samples")
    parser.add_argument("--public", type=int, default=0, help="rows of a public sample; default: none")
    options = parser.parse_args()
    if options.list:
        return replications.show(groups())
    cells = replications.chosen(groups(), options.cells)
    one = partial(replicate, family=options.family, public=options.public)
    study = f"glm-{options.family}-{options.public}"
    found = replications.replicate_all(one, cells, options.mus, options, study)
    print(header(work=options.work))
    glm_report.report(found, options.public)


if __name__ == "__main__":
    main()

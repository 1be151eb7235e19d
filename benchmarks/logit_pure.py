"""Logistic regression under pure epsilon: coverage of the true coefficients, and error.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/logit_pure.py | tee benchmarks/results/logit_pure.txt

The design of spec/erm.md C: d slopes, half of the covariates uniform, half binary (30 % ones), a common
factor of correlation .3, coefficients -.5 | 1, -.5, .5, -1, 0, ... times sqrt(5 / d). "flag" is the rule that
marks intervals as unreliable, which depends on public numbers only.
"""

import argparse
import functools
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from provenance import header
from replications import Lines, Task, arguments, chosen, replicate_all, show
from scipy.special import expit, ndtr

import dpstats as dps
from dpstats.families import LOGISTIC_LOSS
from dpstats.formula import build_design
from dpstats.models.margin import fit_margin
from dpstats.rows import open_rows
from dpstats.testing import SeededNoise, noise

EPSILONS = (0.3, 1.0, 3.0)


class Cell(NamedTuple):
    n: int
    d: int

    @property
    def name(self) -> str:
        return f"{self.n}-{self.d}"


CELLS = {
    "grid": [Cell(n, d) for n in (1_000, 10_000) for d in (5, 10, 20)] + [Cell(100_000, 20)],
}
# RMSE of the page, by cell and epsilon
PAGE = {
    (1_000, 5): (0.54, 0.27, 0.16), (1_000, 10): (0.55, 0.35, 0.18), (10_000, 5): (0.117, 0.055, 0.045),
    (10_000, 10): (0.18, 0.069, 0.046), (10_000, 20): (0.24, 0.10, 0.05),
    (100_000, 20): (0.038, 0.014, 0.013),
}  # fmt: skip


def coefficients(d: int) -> np.ndarray:
    return np.append(-0.5, np.resize([1, -0.5, 0.5, -1, 0], d) * np.sqrt(5 / d))


def draw(cell: Cell, seed: int) -> pd.DataFrame:
    rng, d = np.random.default_rng([seed, *cell]), cell.d
    normal = np.sqrt(0.7) * rng.normal(size=(cell.n, d)) + np.sqrt(0.3) * rng.normal(size=(cell.n, 1))
    exog = 2 * ndtr(normal) - 1
    exog[:, d - d // 2 :] = np.where(exog[:, d - d // 2 :] < -0.4, 1.0, -1.0)
    params = coefficients(d)
    frame = pd.DataFrame(exog, columns=[f"x{j}" for j in range(d)])
    return frame.assign(y=(rng.uniform(size=cell.n) < expit(params[0] + exog @ params[1:])).astype(int))


def one(task: Task[Cell], robust: bool) -> dict[str, Any]:
    cell, epsilon, rep, _ = task
    data, names = draw(cell, rep), [f"x{j}" for j in range(cell.d)]
    schema = dps.Schema(dict.fromkeys(names, dps.bounded(-1, 1)) | dict(y=dps.flag()))
    design = build_design("y ~ " + " + ".join(names), schema)
    with noise(SeededNoise(rep)):
        fit = fit_margin(
            design, open_rows(data, schema, design.variables), dps.pure(epsilon), LOGISTIC_LOSS,
            model="logit", dist="binomial", method="debiased", robust=robust,
        )  # fmt: skip
    low, high = fit.conf_int().to_numpy().T
    error = fit.params.to_numpy() - coefficients(cell.d)
    covered = (low <= coefficients(cell.d)) & (coefficients(cell.d) <= high)
    flagged = "unreliable" in dict(fit.flags)
    return dict(error=error.tolist(), covered=covered.tolist(), length=(high - low).tolist(), flag=flagged)


def row(lines: Lines) -> str:
    error, covered, length = (
        np.array([line[key] for line in lines]) for key in ("error", "covered", "length")
    )
    share = covered.mean()
    sampling, rmse = np.sqrt(share * (1 - share) / len(lines)), np.sqrt((error**2).mean())
    flag = "flag" if lines[0]["flag"] else ""
    return f"{share:9.3f} ({sampling:.3f}) {rmse:8.3f} {np.median(length):8.3f} {flag}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments(parser, "grid", 200)
    parser.add_argument("--robust", action="store_true", help="standard errors from released scores")
    options = parser.parse_args()
    if options.list:
        return show(CELLS)
    cells = chosen(CELLS, options.cells)
    study = "logit-pure" + ("-robust" if options.robust else "")
    done = replicate_all(functools.partial(one, robust=options.robust), cells, list(EPSILONS), options, study)
    print(header())
    print(f"{options.reps} fits a cell; standard error of coverage if all coefficients erred together\n")
    print(f"{'n':>8}{'d':>4}{'epsilon':>9}{'coverage':>17}{'RMSE':>9}{'length':>9}      RMSE of the page")
    for cell in cells:
        for index, epsilon in enumerate(EPSILONS):
            page = PAGE.get((cell.n, cell.d), (float("nan"),) * 3)[index]
            print(f"{cell.n:8}{cell.d:4}{epsilon:9g}{row(done[cell, epsilon]):52}{page:6.3f}")


if __name__ == "__main__":
    main()

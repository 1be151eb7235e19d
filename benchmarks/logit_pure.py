"""Logistic regression under pure epsilon: coverage of the true coefficients, and error.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/logit_pure.py | tee benchmarks/results/logit_pure.txt

"page" is that of the prototypes: d slopes, half of the covariates uniform, half binary (30 % ones), a
common factor of correlation .3, coefficients -.5 | 1, -.5, .5, -1, 0, ... times sqrt(5 / d). The others have
normal covariates in [-4, 4], the same correlation and slopes of .6 times that: "plain"; "wide", one column
declared in [-30, 170]; "pairs", with a correlation of .95; "strong", slopes five times as strong; and
"levels", a factor with levels of 25, 10, 4 and 1 % beside two covariates.
"""

import argparse
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from provenance import header
from replications import Lines, Task, arguments, chosen, replicate_all, show
from scipy.special import expit, ndtr

import dpstats as dps
from dpstats.testing import SeededNoise, noise

EPSILONS = (0.3, 1.0, 3.0)
LEVELS, SHARES = list("abcde"), [0.6, 0.25, 0.1, 0.04, 0.01]


class Cell(NamedTuple):
    design: str
    n: int
    d: int

    @property
    def name(self) -> str:
        return f"{self.design}-{self.n}-{self.d}"


CELLS = {
    "grid": [Cell("page", n, d) for n in (1_000, 10_000) for d in (5, 10, 20)] + [Cell("page", 100_000, 20)],
    "designs": [
        Cell(design, n, d)
        for n in (10_000, 100_000)
        for design, d in (("plain", 5), ("wide", 5), ("pairs", 10), ("strong", 5), ("levels", 6))
    ],
}


def coefficients(cell: Cell) -> np.ndarray:
    if cell.design == "levels":
        return np.array([-0.5, 0.5, -0.5, 0.8, 1.0, 0.6, -0.4])
    size = {"page": np.sqrt(5 / cell.d), "strong": 3.0}.get(cell.design, 0.6)
    return np.append(-0.5, np.resize([1, -0.5, 0.5, -1, 0], cell.d) * size)


def draw(cell: Cell, seed: int) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Rows, and the declarations of their covariates."""
    rng, d = np.random.default_rng([seed, *cell.design.encode(), *cell[1:]]), cell.d
    if cell.design == "levels":
        frame, declared = levels(cell.n, rng)
        exog = np.column_stack([pd.get_dummies(frame["g"]).to_numpy()[:, 1:], frame[["x0", "x1"]]])
    else:
        normal = np.sqrt(0.7) * rng.normal(size=(cell.n, d)) + np.sqrt(0.3) * rng.normal(size=(cell.n, 1))
        exog, declared = np.clip(normal, -4, 4), {f"x{j}": dps.bounded(-4, 4) for j in range(d)}
        if cell.design == "page":
            exog, declared = 2 * ndtr(normal) - 1, {f"x{j}": dps.bounded(-1, 1) for j in range(d)}
            exog[:, d - d // 2 :] = np.where(exog[:, d - d // 2 :] < -0.4, 1.0, -1.0)
        elif cell.design == "wide":
            declared["x2"] = dps.bounded(-30, 170)
        elif cell.design == "pairs":
            exog[:, 1::2] = 0.95 * exog[:, ::2] + np.sqrt(1 - 0.95**2) * rng.normal(size=(cell.n, d // 2))
            exog = np.clip(exog, -4, 4)
        frame = pd.DataFrame(exog, columns=list(declared))
    params = coefficients(cell)
    odds = expit(params[0] + exog @ params[1:])
    return frame.assign(y=(rng.uniform(size=cell.n) < odds).astype(int)), declared


def levels(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, Any]]:
    x = np.clip(rng.normal(size=(n, 2)), -4, 4)
    level = pd.Categorical(rng.choice(LEVELS, n, p=SHARES), LEVELS)
    frame = pd.DataFrame({"g": level, "x0": x[:, 0], "x1": x[:, 1]})
    return frame, dict(g=dps.levels(*LEVELS), x0=dps.bounded(-4, 4), x1=dps.bounded(-4, 4))


def one(task: Task[Cell]) -> dict[str, Any]:
    cell, epsilon, rep, _ = task
    data, declared = draw(cell, rep)
    schema = dps.Schema(declared | dict(y=dps.flag()))
    with noise(SeededNoise(rep)):
        fit = dps.logit("y ~ " + " + ".join(declared), data, schema).fit(dps.pure(epsilon))
    low, high = fit.conf_int().to_numpy().T
    finite = np.isfinite(low)
    error = np.where(finite, fit.params.to_numpy() - coefficients(cell), np.nan)
    covered = np.where(finite, (low <= coefficients(cell)) & (coefficients(cell) <= high), np.nan)
    return dict(
        error=error.tolist(), covered=covered.tolist(), half=((high - low) / 2).tolist(), flag=bool(fit.flags)
    )


def row(lines: Lines) -> str:
    error, covered, half = (
        np.array([line[key] for line in lines], dtype=float) for key in ("error", "covered", "half")
    )
    flag = np.array([line["flag"] for line in lines])
    finite = np.isfinite(error)
    wrong = ((np.abs(error) > 2 * half) & finite).any(axis=1) & ~flag
    shares = [
        np.mean(flag),
        np.mean(~finite),
        covered[finite].mean() if finite.any() else np.nan,
        covered[~flag].mean() if (~flag).any() else np.nan,
        wrong.mean(),
    ]
    sizes = [np.median(np.abs(values[finite])) if finite.any() else np.nan for values in (error, half)]
    return "".join(f"{share:10.3f}" for share in shares) + "".join(f"{size:10.3f}" for size in sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments(parser, "*", 200)
    options = parser.parse_args()
    if options.list:
        return show(CELLS)
    cells = chosen(CELLS, options.cells)
    done = replicate_all(one, cells, list(EPSILONS), options, "logit-pure")
    print(header())
    print(f"{options.reps} fits a cell. lost: not estimable; covered: finite intervals, and those of fits")
    print("without a caution; wrong: fits without one with a truth more than two half-lengths away\n")
    heads = ("flagged", "lost", "covered", "unflagged", "wrong", "error", "half")
    print(f"{'design':8}{'n':>8}{'d':>4}{'epsilon':>9}" + "".join(f"{head:>10}" for head in heads))
    for cell in cells:
        for epsilon in EPSILONS:
            print(f"{cell.design:8}{cell.n:8}{cell.d:4}{epsilon:9g}{row(done[cell, epsilon])}")


if __name__ == "__main__":
    main()

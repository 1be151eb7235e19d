"""The simulation of the paper on location-scale regression by the functional mechanism, run again.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/lls_simulation.py --reps 20 --figures \\
        | tee benchmarks/results/lls_simulation.txt

"Differentially Private Log-Location-Scale Regression Using Functional Mechanism", section 4: x and beta ~
N(0, 1), errors SEV or logistic of scale 1, 80 % of n rows to fit, 20 % to test; the error is |prediction - y|
/ |y|, pooled over the replications, whose number is the seed. Methods:

    MLE          maximum likelihood, NOT PRIVATE
    published    the paper's algorithm: x and y scaled by the data's own extremes, NOT PRIVATE
    unscaled     the same with x left as it is, though the noise is for |x| <= 1 / sqrt d, NOT PRIVATE
    functional   survreg(method="functional"), pure(epsilon), x in [-4, 4] and y in [-25, 25]
    newton       survreg as it comes, approx(epsilon, 1e-6), the same bounds

"need" is rows mu over the larger of 75 sqrt k and 12 k, which must be 1 for an estimate without the caution
`below_budget` (docs/survreg.md#what-it-costs); "bounded" is how often the published quadratic has a maximum.
"""

import argparse
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import replications
from censored_mle import censored_mle
from lls_figures import draw
from lls_published import by_published
from provenance import header
from replications import Task

import dpstats as dps
from dpstats.families import DISTS
from dpstats.testing import SeededNoise, noise

Array = np.ndarray
X_BOUND, Y_BOUND, DELTA = 4.0, 25.0, 1e-6
METHODS = ("MLE", "published", "unscaled", "functional", "newton")
RESULTS = Path(__file__).parent / "results"
AT = (np.arange(51) + 0.5) / 51  # quantiles that are kept of the errors of one replication
EPSILONS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 2.0)
# medians in the text of section 4.2: the private model's and the other's
TEXT = {
    ("logistic", "d", 20): (0.45, 0.45),
    ("logistic", "d", 26): (0.54, 0.40),
    ("logistic", "d", 32): (0.66, 0.40),
    ("logistic", "d", 36): (0.79, 0.40),
    ("sev", "n", 10_000): (0.76, 0.29),
    ("sev", "n", 30_000): (0.35, 0.28),
    ("sev", "n", 60_000): (0.29, 0.27),
    ("sev", "epsilon", 0.3): (0.72, None),
    ("sev", "epsilon", 1.0): (0.38, None),
    ("logistic", "epsilon", 0.3): (0.70, None),
    ("logistic", "epsilon", 1.0): (0.38, None),
}


@dataclass(frozen=True)
class Cell:
    """One population and size; `axis` is what its figure varies."""

    family: str
    axis: str
    n: int
    d: int

    @property
    def name(self) -> str:
        return f"{self.family}-{self.axis}-{self.n}-{self.d}"


@dataclass(frozen=True)
class Sample:
    """Rows to fit and rows to test."""

    exog: Array
    endog: Array
    test: Array
    truth: Array

    def errors(self, params: Array) -> list[float]:
        """Quantiles of the prediction error of a location line, intercept first."""
        predicted = params[0] + self.test @ params[1:]
        found = np.abs((predicted - self.truth) / self.truth)
        return [float(f"{value:.4g}") for value in np.quantile(found, AT)]


def groups() -> dict[str, list[Cell]]:
    """The paper's figures: 1 and 2 over d, 3 and 4 over n, 5 and 6 over epsilon."""
    found = {}
    of_family = {"sev": (10_000, 25), "logistic": (5_000, 38)}
    sizes = {
        "sev": range(10_000, 60_001, 5_000),
        "logistic": (*range(5_000, 10_001, 1_000), *range(20_000, 60_001, 10_000)),
    }
    for family, (n, d) in of_family.items():
        found[f"{family}-d"] = [Cell(family, "d", n, width) for width in range(20, 39, 2)]
        found[f"{family}-n"] = [Cell(family, "n", size, 35) for size in sizes[family]]
        found[f"{family}-epsilon"] = [Cell(family, "epsilon", 10_000, d)]
    return found


@lru_cache(maxsize=1)
def sample(family: str, n: int, d: int, rep: int) -> Sample:
    rng = np.random.default_rng(rep + 1)
    exog, beta = rng.normal(size=(n, d)), rng.normal(size=d + 1)
    endog = beta[0] + exog @ beta[1:] + DISTS[family].family.quantile(rng.random(n))
    order = rng.permutation(n)
    fit, test = order[: n * 4 // 5], order[n * 4 // 5 :]
    return Sample(exog[fit], endog[fit], exog[test], endog[test])


@lru_cache(maxsize=1)
def of_mle(family: str, n: int, d: int, rep: int) -> list[float]:
    rows = sample(family, n, d, rep)
    exog = np.column_stack([np.ones(len(rows.exog)), rows.exog])
    return rows.errors(censored_mle(exog, rows.endog, np.ones(len(exog)), family)[0][:-1])


def replicate(task: Task[Cell]) -> dict[str, Any]:
    """Quantiles of the error of each method, and what the private fits and the published one say."""
    cell, epsilon, rep, _ = task
    key = (cell.family, cell.n, cell.d, rep)
    rows, rng = sample(*key), np.random.default_rng([rep, int(1000 * epsilon)])
    published, bounded = by_published(rows.exog, rows.endog, cell.family, epsilon, rng, scaled=True)
    unscaled, _ = by_published(rows.exog, rows.endog, cell.family, epsilon, rng, scaled=False)
    names = [f"x{j}" for j in range(1, cell.d + 1)]
    bounds = {name: dps.bounded(-X_BOUND, X_BOUND) for name in names}
    schema = dps.Schema(bounds, y=dps.bounded(-Y_BOUND, Y_BOUND))
    data = dict(zip(names, rows.exog.T, strict=True)) | {"y": rows.endog}
    model = dps.survreg("Surv(y) ~ " + " + ".join(names), data, schema, dist=cell.family)
    with noise(SeededNoise(rep)):
        functional = model.fit(dps.pure(epsilon), method="functional")
        newton = model.fit(dps.approx(epsilon, DELTA))
    return {
        "MLE": of_mle(*key),
        "published": rows.errors(published),
        "unscaled": rows.errors(unscaled),
        "functional": rows.errors(functional.params.to_numpy()[:-1]),
        "newton": rows.errors(newton.params.to_numpy()[:-1]),
        "bounded": bounded,
        "flags": {
            "functional": [code for code, _ in functional.flags],
            "newton": [code for code, _ in newton.flags],
        },
    }


Found = dict[tuple[Cell, float], replications.Lines]


def pooled(lines: replications.Lines, method: str) -> Array:
    return np.concatenate([line[method] for line in lines])


def report(found: Found) -> None:
    """A table for each figure: medians, beside them those of the paper's text."""
    reached, cells = 0, 0
    usable: list[list[str]] = []  # codes of newton's cautions, fit by fit
    for family in ("sev", "logistic"):
        for axis in ("d", "n", "epsilon"):
            chosen = _of_axis(found, family, axis)
            if not chosen:
                continue
            first = next(iter(chosen.values()))[1]
            print(f"\n{family}, over {axis}: {first}; median error; DP and nonDP as in the paper's text")
            print(
                f"{axis:>8s} reps |"
                + "".join(f"{name:>11s}" for name in METHODS)
                + " | newton/MLE  not estimable   need | bounded |   DP nonDP"
            )
            for at, (lines, _, need) in chosen.items():
                medians = {method: float(np.median(pooled(lines, method))) for method in METHODS}
                ratio = medians["newton"] / medians["MLE"]
                reached, cells = reached + (ratio <= 1.05), cells + 1
                codes = [line["flags"]["newton"] for line in lines]
                usable += codes if need >= 1 else []
                hopeless = np.mean(["not_estimable" in fit for fit in codes])
                stable = np.mean([line["bounded"] for line in lines])
                text = TEXT.get((family, axis, at), (None, None))
                print(
                    f"{at:8g} {len(lines):4d} |"
                    + "".join(f"{value:11.3f}" for value in medians.values())
                    + f" | {ratio:10.3f} {hopeless:14.0%} {need:6.2f} | {stable:7.0%} |"
                    + "".join(f"{'' if value is None else f'{value:.2f}':>5s}" for value in text)
                )
    print(f"\nnewton within 5 % of MLE in {reached} of {cells} cells")
    told = Counter(code for codes in usable for code in codes)
    print(
        f"cautions of newton's {len(usable)} fits where need >= 1: none {usable.count([])}"
        + "".join(f", {code} {count}" for code, count in sorted(told.items()))
    )


def _of_axis(found: Found, family: str, axis: str) -> dict[float, tuple[replications.Lines, str, float]]:
    """Lines by the value on the axis of a figure, with what stays fixed, and how much of the need is met."""
    chosen = {}
    for (cell, epsilon), lines in found.items():
        if (cell.family, cell.axis) == (family, axis) and lines:
            fixed = {"d": f"d = {cell.d}", "n": f"n = {cell.n:,}", "epsilon": f"epsilon = {epsilon:g}"}
            others = ", ".join(text for name, text in fixed.items() if name != axis)
            at = {"d": cell.d, "n": cell.n, "epsilon": epsilon}[axis]
            k = cell.d + 1
            met = 0.8 * cell.n * dps.approx(epsilon, DELTA).mu / max(75 * k**0.5, 12 * k)
            chosen[at] = (lines, others, met)
    return dict(sorted(chosen.items()))


def figures(found: Found) -> None:
    for family in ("sev", "logistic"):
        for axis in ("d", "n", "epsilon"):
            chosen = _of_axis(found, family, axis)
            if chosen:
                boxes = {
                    at: {method: pooled(lines, method) for method in METHODS}
                    for at, (lines, _, _) in chosen.items()
                }
                fixed = next(iter(chosen.values()))[1]
                draw(boxes, axis, f"{family}, {fixed}", RESULTS / f"lls_{family}_{axis}.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    replications.arguments(parser, "all", 20)
    parser.add_argument("--figures", action="store_true", help="draw the boxplots too")
    options = parser.parse_args()
    known = groups()
    known["all"] = [cell for group in known.values() for cell in group]
    if options.list:
        return replications.show(known)
    cells = replications.chosen(known, options.cells)
    found: Found = {}
    for levels, some in (
        (EPSILONS, [cell for cell in cells if cell.axis == "epsilon"]),
        ((0.5,), [cell for cell in cells if cell.axis != "epsilon"]),
    ):
        if some:
            found |= replications.replicate_all(replicate, some, list(levels), options, "lls")
    print(header(work=options.work))
    report(found)
    if options.figures:
        figures(found)


if __name__ == "__main__":
    main()

"""Private regressions of real sets against published rivals, by their error on rows held out.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/rivals_uci.py UCI | tee benchmarks/results/rivals_uci_norm.txt
    ... --protocol box | tee benchmarks/results/rivals_uci_box.txt
    ... --protocol box --epsilons .1 .3 1 3 10 30 100 300 1000 --methods dpstats

UCI is a folder of tables NAME.csv.gz with columns x1, x2, ... and y; the protocols are those of
regression_sets.py. Each seed draws folds and noise anew. Errors are mean squares of held-out predictions over
those of predicting 0, or under "box" the mean. All methods spend the same, approx(epsilon, 1e-6) for
neighbours that differ in one row replaced, and the predictions of all are moved to the declared range of the
response. The summary is the geometric mean, over the sets whose least squares has an error below .95, of
max(.01, (error - that of least squares) / (1 - that of least squares)).
"""  # noqa: E501

from __future__ import annotations

import argparse
import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from provenance import header
from regression_sets import PROTOCOLS, Problem, problem
from replications import WORK, Lines, Task, replicate_all
from rival_methods import DELTA, RIVALS

import dpstats as dps
from dpstats.testing import SeededNoise, noise

EXACT, OURS = "least squares", "dpstats"
METHODS = (EXACT, *(name for name in RIVALS if name != EXACT), OURS)
LEARNABLE, LEAST = 0.95, 0.01
Errors = dict[tuple[str, float], dict[str, float]]


@dataclass(frozen=True)
class Cell:
    """One method on one set."""

    set: str
    protocol: str
    method: str

    @property
    def name(self) -> str:
        return f"{self.set}-{self.protocol}-{self.method.replace(' ', '_')}"


def one(folder: Path, first: int, task: Task[Cell]) -> dict[str, float]:
    """Error over the trivial one of each setting of a method, over ten folds."""
    cell, epsilon, rep, _ = task
    seed = first + rep
    key = zlib.crc32(f"{cell.name}-{epsilon:g}-{seed}".encode())
    predict = _ours if cell.method == OURS else partial(_rival, cell.method)
    totals: dict[str, float] = {}
    trivial = 0.0
    for number, (seen, held) in enumerate(problem(folder, cell.set, cell.protocol).folds(seed)):
        trivial += float(np.sum((held.endog - seen.trivial) ** 2))
        for setting, predicted in predict(seen, held, epsilon, [key, number]).items():
            error = float(np.sum((held.endog - np.clip(predicted, *held.bounds[-1])) ** 2))
            totals[setting] = totals.get(setting, 0.0) + error
    return {setting: total / trivial for setting, total in totals.items()}


def _rival(
    method: str, seen: Problem, held: Problem, epsilon: float, key: list[int]
) -> dict[str, np.ndarray]:
    rows, endog, length = seen.scaled()
    mu = dps.approx(epsilon, DELTA).mu
    lines = RIVALS[method](rows, endog, length, mu, np.random.default_rng(key))
    (fresh, _, _), (middle, half) = held.scaled(), held.units
    return {setting: middle[-1] + half[-1] * (fresh @ line) for setting, line in lines.items()}


def _ours(seen: Problem, held: Problem, epsilon: float, key: list[int]) -> dict[str, np.ndarray]:
    names = [f"x{j + 1}" for j in range(seen.exog.shape[1])]
    schema = dps.Schema(
        {name: dps.bounded(*map(float, ends)) for name, ends in zip([*names, "y"], seen.bounds, strict=True)}
    )
    if seen.radius is not None:
        schema = schema.norm(*names, radius=seen.radius)
    formula = "y ~ " + " + ".join(names) + ("" if seen.constant else " - 1")
    columns = dict(zip(names, seen.exog.T, strict=True), y=seen.endog)
    with noise(SeededNoise(int(np.random.default_rng(key).integers(2**62)))):
        fit = dps.ols(formula, columns, schema).fit(dps.approx(epsilon, DELTA))
    # by the estimates themselves, also those of what is not estimable, where predict says NaN
    return {"": held.exog @ fit.params[names].to_numpy() + fit.params.get("Intercept", 0.0)}


def mean_errors(lines: dict[tuple[Cell, float], Lines]) -> Errors:
    """Mean error of each method on each set at each epsilon; of its best setting, if it has several."""
    errors: Errors = {}
    for (cell, epsilon), found in lines.items():
        settings = [setting for setting in found[0] if setting != "rep"]
        best = min(float(np.mean([line[setting] for line in found])) for setting in settings)
        errors.setdefault((cell.set, epsilon), {})[cell.method] = best
    return errors


def summary(errors: Errors, epsilon: float, method: str) -> tuple[float, float, int]:
    """Geometric mean of excess errors, the largest error, and how many sets are predicted at all."""
    excess, most, learnt = [], 0.0, 0
    for (_, level), by_method in errors.items():
        exact = by_method[EXACT]
        if level == epsilon:
            most, learnt = max(most, by_method[method]), learnt + (by_method[method] < 1)
            if exact < LEARNABLE:
                excess.append(max(LEAST, (by_method[method] - exact) / (1 - exact)))
    return float(np.exp(np.mean(np.log(excess)))), most, learnt


def report(errors: Errors, methods: list[str], epsilons: list[float]) -> None:
    for epsilon in epsilons:
        print(f"\nepsilon = {epsilon:g}: error over the trivial one")
        print(f"{'':14s}" + "".join(f"{method:>16s}" for method in methods))
        for (name, level), by_method in errors.items():
            if level == epsilon:
                print(f"{name:14s}" + "".join(f"{by_method[method]:16.3f}" for method in methods))
        figures = [summary(errors, epsilon, method) for method in methods]
        for label, place, form in (("summary", 0, ".4f"), ("largest", 1, ".3f"), ("below 1", 2, "d")):
            print(f"{label:14s}" + "".join(f"{format(figure[place], form):>16s}" for figure in figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("uci", type=Path)
    parser.add_argument("--protocol", choices=PROTOCOLS, default="norm")
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 1.0, 10.0])
    parser.add_argument("--first", type=int, default=0, help="seed; the others follow")
    parser.add_argument("--reps", type=int, default=3, help="number of seeds")
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    print(header(UCI=options.uci))
    sets = options.sets or sorted(path.name.removesuffix(".csv.gz") for path in options.uci.glob("*.csv.gz"))
    methods = list(dict.fromkeys([EXACT, *options.methods]))
    cells = [Cell(name, options.protocol, method) for name in sets for method in methods]
    lines = replicate_all(
        partial(one, options.uci, options.first), cells, options.epsilons, options, f"rivals-{options.first}"
    )
    report(mean_errors(lines), methods, options.epsilons)


if __name__ == "__main__":
    main()

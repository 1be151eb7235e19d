"""Input perturbation: figures 1 and 2 of the paper, and the coverage of intervals from contributed messages.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/input_perturbation.py CENSUS --only linear \
        | tee benchmarks/results/input_perturbation_linear.txt
    and the same with logistic

Fukuchi, Tran and Sakuma, "Differentially Private Empirical Risk Minimization with Input Perturbation",
section 4: root mean square error of linear, accuracy of logistic regression on test data, n from 2^7 to 2^21,
delta = .01. CENSUS is AER's Fertility.csv.gz, 254,654 families of the 1980 census: weeks worked by the
mother, or whether more than 26, from the number and sex of her children, age and origin. Four fifths are for
training; samples are drawn from them, with replacement where n is larger. The other population is simulated:
13 covariates, 7 of them of two values, as in the paper.

Rows and responses are at most 1 for all methods, mapped by public bounds. What the messages of n contributors
add up to is drawn from its exact law, without the messages. The ridges of Output and Obj-Gauss are the best
of a grid at the largest n, as in the paper; nobody pays for that choice. Ours spends mu-GDP with the same
(epsilon, .01).
"""

import argparse
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from provenance import estimator, header
from replications import WORK
from scipy import special
from tqdm import tqdm

import dpstats as dps
from dpstats.budget import approx
from dpstats.contributions import Rejected, Totals
from dpstats.contributors import Plan
from dpstats.contributors.law import InputLaw, corrected, published
from dpstats.contributors.message import exact
from dpstats.estimators.contributed import linear_moments, minimum
from dpstats.models.contributed import approximation
from dpstats.moments import LinearMoments
from dpstats.rows import open_rows

DELTA, SIZES, EPSILONS, BALL = 0.01, tuple(2**k for k in range(7, 22, 2)), (0.1, 1.0), 3.0
REACH, PAGE = 2.0, "ours, page's ridge"
GRID = (0.03, 0.1, 0.3, 1.0, 3.0)  # ridges over sqrt n
Array = np.ndarray


class People(NamedTuple):
    """A population: rows that differ, who of the pool to sample from has which, and a test set."""

    name: str
    formula: str
    schema: dps.Schema
    q: Array
    y: Array
    index: Array
    q_test: Array
    y_test: Array

    def plan(self, epsilon: float, n: int) -> Plan:
        return dps.plan_contributions(self.formula, self.schema, dps.gdp(approx(epsilon, DELTA).mu), n)


def census(path: Path, response: str) -> People:
    frame = pd.read_csv(path)
    frame["much"] = np.where(frame["work"] > 26, "yes", "no")
    yes = dps.flag("yes", "no")
    schema = dps.Schema(
        work=dps.bounded(0, 52, unit="weeks"),
        much=yes,
        morekids=yes,
        age=dps.bounded(15, 45),
        afam=yes,
        hispanic=yes,
        other=yes,
        gender1=dps.levels("male", "female"),
        gender2=dps.levels("male", "female"),
    )
    return of_frame(
        "census", f"{response} ~ morekids + gender1 + gender2 + age + afam + hispanic + other", schema, frame
    )


def simulated(response: str, n: int = 125_000) -> People:
    draw, d = np.random.default_rng(1), 13
    factor = np.linalg.cholesky(0.3 + 0.7 * np.eye(d))
    x = 2 * special.ndtr(draw.normal(size=(n, d)) @ factor.T) - 1
    shares = (0.5, 0.3, 0.2, 0.1, 0.5, 0.4, 0.15)
    for j, share in enumerate(shares):
        x[:, j] = np.where(x[:, j] > 1 - 2 * share, 1.0, -1.0)
    slopes = np.array([0.5, -0.4, 0.3, 0.3, -0.3, 0.2, 0.2, 0.5, -0.5, 0.4, 0.3, -0.2, 0.1])
    line = x @ slopes
    line *= 0.455 / line.std()
    y = np.clip(line + draw.normal(0, 0.25, n), -1, 1)
    # log odds whose spread is about 1: right in 7 of 10 cases, as in the paper
    yes = draw.uniform(size=n) < special.expit(2.2 * line)
    names = [f"x{j + 1}" for j in range(d)]
    schema = dps.Schema(
        {"y": dps.bounded(-1, 1), "yes": dps.flag()} | {name: dps.bounded(-1, 1) for name in names}
    )
    frame = pd.DataFrame(x, columns=names).assign(y=y, yes=yes.astype(int))
    return of_frame("simulated", f"{response} ~ {' + '.join(names)}", schema, frame)


def of_frame(name: str, formula: str, schema: dps.Schema, frame: pd.DataFrame) -> People:
    plan = dps.plan_contributions(formula, schema, approx(1.0, 1e-6), 1000, method="input")
    d, parts = len(plan.design.names), []
    for columns in open_rows(frame, schema, plan.design.variables).blocks():
        block = plan.design.read(columns)
        middle, half = plan.response
        parts.append(np.column_stack([exact(plan, block)[:, :d], (block.endog - middle) / half]))
    rows = np.vstack(parts)
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    cut = 4 * len(rows) // 5
    different, index = np.unique(rows[:cut], axis=0, return_inverse=True)
    q, y = np.asfortranarray(different[:, :d]), different[:, d]
    return People(name, formula, schema, q, y, index.ravel(), rows[cut:, :d], rows[cut:, d])


class Sample(NamedTuple):
    """n people: rows that occur, how often, and their moments."""

    n: int
    q: Array
    y: Array
    counts: Array
    gram: Array
    cross: Array
    square: float


def sample(people: People, n: int, draw: np.random.Generator) -> Sample:
    pool = len(people.index)
    return of_chosen(people, draw.choice(pool, n, replace=n > pool))


def of_chosen(people: People, chosen: Array) -> Sample:
    counts = np.bincount(people.index[chosen], minlength=len(people.y)).astype(float)
    some = counts > 0
    q, y, counts = people.q[some], people.y[some], counts[some]
    weighted = q * counts[:, None]
    return Sample(len(chosen), q, y, counts, q.T @ weighted, weighted.T @ y, float(counts @ y**2))


# linear regression: coefficients of q


def non_private(of: Sample, ridge: float = 1e-9) -> Array:
    return np.linalg.solve(of.gram + ridge * np.eye(len(of.gram)), of.cross)


def linear_output(of: Sample, epsilon: float, scale: float, draw: np.random.Generator) -> Array:
    ridge = scale * math.sqrt(of.n)
    return minimum(of.gram, of.cross, ridge, BALL)[0] + laplace(2 * (BALL + 1) / (ridge * epsilon), of, draw)


def laplace(size: float, of: Sample, draw: np.random.Generator) -> Array:
    """Of a length that is gamma, in any direction."""
    direction = draw.normal(size=len(of.gram))
    return direction / np.linalg.norm(direction) * draw.gamma(len(of.gram), size)


def linear_objective(of: Sample, epsilon: float, scale: float, draw: np.random.Generator) -> Array:
    tilt = kst(BALL + 1, epsilon) * draw.normal(size=len(of.gram))
    return minimum(of.gram, of.cross - tilt, max(2 / epsilon, scale * math.sqrt(of.n)), BALL)[0]


def kst(gradient: float, epsilon: float) -> float:
    """Noise of objective perturbation by Kifer, Smith and Thakurta (2012)."""
    return gradient * math.sqrt(8 * math.log(2 / DELTA) + 4 * epsilon) / epsilon


def contributed_input(of: Sample, law: InputLaw, ball: float, draw: np.random.Generator) -> Array:
    """Q + U for n rows: U'Q needs the projection of U on the columns of Q alone, the rest is Wishart."""
    d, s = len(of.gram), law.row / math.sqrt(of.n)
    root = np.linalg.cholesky(of.gram + 1e-9 * np.eye(d)).T
    inside = s * draw.normal(size=(d, d))
    outside = np.tril(draw.normal(size=(d, d)), -1)
    degrees = np.maximum(of.n - d - np.arange(d), 1)
    outside[np.diag_indices(d)] = np.sqrt(draw.chisquare(degrees))
    gram = (root + inside).T @ (root + inside) + s**2 * outside @ outside.T
    product = of.cross + law.product * draw.normal(size=d)
    return minimum(gram, product, law.ridge, ball)[0]


def contributed(
    of: Sample, plan: Plan, draw: np.random.Generator, slope: float | None = None
) -> LinearMoments:
    """Moments from messages, of coefficients in the user's units."""
    c = math.sqrt(0.5)
    cross = c * of.cross[:, None]
    joint = np.block([[of.gram, cross], [cross.T, np.full((1, 1), of.square / 2)]])
    i, j = np.triu_indices(len(joint))
    sums = joint[i, j] * np.where(i == j, 1.0, math.sqrt(2))
    sums = sums + draw.normal(scale=plan.sds[0] * math.sqrt(of.n), size=plan.size)
    return linear_moments(Totals(of.n, sums, np.zeros((0, 0)), Rejected()), plan, slope)


def page_solution(moments: LinearMoments) -> Array:
    """The plain one: no negative eigenvalues, a ridge of half the noise's size."""
    values, vectors = np.linalg.eigh(moments.released.gram)
    inverse = (vectors / (np.maximum(values, 0) + moments.noise_size / 2)) @ vectors.T
    return moments.frame.origin + moments.frame.map @ inverse @ moments.released.cross


def to_rows(params: Array, plan: Plan, slope: float | None = None) -> Array:
    """Coefficients in the user's units -> of q, for responses within [-1, 1]."""
    middle, half = plan.response if slope is None else (0.0, 1.0)
    shifted = params - middle * np.eye(len(params))[0]
    return np.linalg.solve(plan.rows.to_user, shifted) / half


# logistic regression: coefficients of q for labels of -1 and 1


def newton(of: Sample, ridge: float, tilt: Array, ball: float) -> Array:
    w = np.zeros(len(tilt))
    for _ in range(30):
        margin = of.y * (of.q @ w)
        slope, curve = special.expit(-margin), special.expit(margin) * special.expit(-margin)
        gradient = -(of.q.T @ (of.counts * of.y * slope)) + ridge * w + tilt
        hessian = of.q.T @ (of.q * (of.counts * curve)[:, None]) + ridge * np.eye(len(w))
        # the step stays in the ball: a minimum of the quadratic model there
        new = minimum(hessian, hessian @ w - gradient, 0.0, ball)[0]
        done = np.linalg.norm(new - w) < 1e-6 * (1 + np.linalg.norm(w))
        w = new
        if done:
            break
    return w


def logistic_output(of: Sample, epsilon: float, scale: float, draw: np.random.Generator) -> Array:
    ridge = scale * math.sqrt(of.n)
    w = newton(of, ridge, np.zeros(len(of.gram)), 1e6)
    return w + laplace(2 / (ridge * epsilon), of, draw)


def logistic_objective(of: Sample, epsilon: float, scale: float, draw: np.random.Generator) -> Array:
    tilt = kst(1.0, epsilon) * draw.normal(size=len(of.gram))
    return newton(of, max(0.5 / epsilon, scale * math.sqrt(of.n)), tilt, BALL)


def linear_methods(
    people: People, of: Sample, epsilon: float, best: dict[str, float], draw: np.random.Generator
) -> Iterator[tuple[str, Array]]:
    d, plan = len(of.gram), people.plan(epsilon, of.n)
    yield "non-private", non_private(of)
    yield "Output", linear_output(of, epsilon, best["Output"], draw)
    yield "Obj-Gauss", linear_objective(of, epsilon, best["Obj-Gauss"], draw)
    for name, law in laws(epsilon, of.n, d, BALL):
        yield name, contributed_input(of, law, BALL, draw)
    moments = contributed(of, plan, draw)
    yield PAGE, to_rows(page_solution(moments), plan)
    yield "ours", to_rows(moments.solve().params, plan)


def logistic_methods(
    people: People, of: Sample, epsilon: float, best: dict[str, float], draw: np.random.Generator
) -> Iterator[tuple[str, Array]]:
    d, plan = len(of.gram), people.plan(epsilon, of.n)
    yield "non-private", newton(of, 1e-3, np.zeros(d), 1e6)
    yield "Output", logistic_output(of, epsilon, best["Output"], draw)
    yield "Obj-Gauss", logistic_objective(of, epsilon, best["Obj-Gauss"], draw)
    for name, law in laws(epsilon, of.n, d, BALL / 2):  # a line through labels, half the log odds by Taylor
        yield name, contributed_input(of, law, BALL / 2, draw)
    moments = contributed(of, plan, draw, 4 * approximation(REACH))
    yield "ours", to_rows(moments.solve().params, plan, 1.0)


def laws(epsilon: float, n: int, d: int, ball: float) -> Iterator[tuple[str, InputLaw]]:
    for name, law in (("Input (no guarantee)", published), ("Input corrected", corrected)):
        found = law(epsilon, DELTA, n, d, ball)
        if math.isfinite(found.product) and math.isfinite(found.row):
            yield name, found


def rmse(people: People, w: Array) -> float:
    return math.sqrt(np.mean((people.q_test @ w - people.y_test) ** 2))


def accuracy(people: People, w: Array) -> float:
    return float(np.mean((people.q_test @ w >= 0) == (people.y_test > 0)))


BEST: dict[tuple[str, str, float], dict[str, float]] = {}
Model = tuple[str, People, Callable, Callable, dict[str, Callable], bool]


def tuned(model: Model, epsilon: float) -> dict[str, float]:
    """The best ridge of each rival at the largest n."""
    kind, people, _, score, rivals, more = model
    if (kind, people.name, epsilon) in BEST:
        return BEST[kind, people.name, epsilon]
    found = BEST[kind, people.name, epsilon] = {}
    for name, fit in rivals.items():
        draw = np.random.default_rng(5)
        of = sample(people, SIZES[-1], draw)
        scores = [np.mean([score(people, fit(of, epsilon, g, draw)) for _ in range(2)]) for g in GRID]
        found[name] = GRID[int(np.argmax(scores) if more else np.argmin(scores))]
    return found


def cells(kind: str, of_cell: Callable[[float, int], pd.DataFrame]) -> pd.DataFrame:
    """A frame for each epsilon and n; finished ones are kept in benchmarks/.work, so a run may be resumed."""
    folder = WORK / f"input_perturbation-{estimator()}"
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for epsilon, n in tqdm([(epsilon, n) for epsilon in EPSILONS for n in SIZES], desc=kind):
        path = folder / f"{kind}-{epsilon:g}-{n}.csv"
        if not path.exists():
            of_cell(epsilon, n).to_csv(path.with_suffix(".part"), index=False)
            path.with_suffix(".part").rename(path)
        found.append(pd.read_csv(path).assign(epsilon=epsilon, n=n))
    return pd.concat(found)


def study(model: Model, reps: int) -> pd.DataFrame:
    name, people, methods, score, _, _ = model

    def of_cell(epsilon: float, n: int) -> pd.DataFrame:
        best, rows = tuned(model, epsilon), []
        for rep in range(reps):
            draw = np.random.default_rng([n, rep, int(10 * epsilon)])
            of = sample(people, n, draw)
            rows += [(method, score(people, w)) for method, w in methods(people, of, epsilon, best, draw)]
        return pd.DataFrame(rows, columns=["method", "score"])

    return cells(f"{people.name}-{name}-{reps}", of_cell)


def coverage(people: People, kind: str, slope: float | None, reps: int) -> pd.DataFrame:
    """Of 95 % intervals for the coefficients of the whole pool, over samples and coefficients.

    Those that are said to be not estimable have no interval and are counted apart.
    """
    whole = people.plan(1.0, 100)
    unit, middle = (whole.response[1], whole.response[0]) if slope is None else (1 / slope, 0.0)
    everyone = of_chosen(people, np.arange(len(people.index)))
    target = whole.rows.to_user @ np.linalg.solve(everyone.gram, everyone.cross) * unit
    target[0] += middle

    def of_cell(epsilon: float, n: int) -> pd.DataFrame:
        plan, inside, lost = people.plan(epsilon, n), [], []
        for rep in range(reps):
            draw = np.random.default_rng([n, rep, 7])
            of = of_chosen(people, draw.integers(0, len(people.index), n))
            solution = contributed(of, plan, draw, slope).solve()
            known = np.isfinite(np.diag(solution.cov))
            error, se = np.abs(solution.params - target)[known], np.sqrt(np.diag(solution.cov)[known])
            inside += list(error <= 1.959964 * se)
            lost += list(~known)
        covered = np.mean(inside) if len(inside) > reps else math.nan
        return pd.DataFrame({"covered": [covered], "not estimable": [np.mean(lost)]})

    found = cells(f"{people.name}-{kind}-coverage-{reps}", of_cell)
    return found[["epsilon", "n", "covered", "not estimable"]]


def plot(results: dict[tuple[str, str], pd.DataFrame], path: Path, label: str) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(results), 2, figsize=(10, 3.6 * len(results)), squeeze=False)
    for row, ((name, _), frame) in zip(axes, results.items(), strict=True):
        for ax, epsilon in zip(row, EPSILONS, strict=True):
            part = frame[frame["epsilon"] == epsilon]
            for method in [name for name in dict.fromkeys(part["method"]) if name != PAGE]:
                mean = part[part["method"] == method].groupby("n")["score"].mean()
                width = 2.2 if method == "ours" else 1.2
                ax.plot(
                    mean.index,
                    mean,
                    marker="o",
                    markersize=3,
                    linewidth=width,
                    label=method,
                    linestyle="--" if method == "non-private" else "-",
                    color="black" if method == "non-private" else None,
                )
            ax.set(xlabel="n", ylabel=label, title=f"{name}, epsilon = {epsilon:g}")
            ax.set_xscale("log", base=2)
            if label == "test RMSE":
                ax.set(yscale="log")
                ax.yaxis.set_major_formatter("{x:.2g}")
                ax.yaxis.set_minor_formatter("{x:.2g}")
            ax.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def table(frame: pd.DataFrame, digits: int) -> str:
    wide = frame.pivot_table("score", ["epsilon", "n"], "method", aggfunc="mean", sort=False)
    return wide.to_string(float_format=lambda value: f"{value:.{digits}f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("census", type=Path)
    parser.add_argument("--only", choices=("linear", "logistic"), help="one of the two figures")
    parser.add_argument("--reps", type=int, default=20)
    parser.add_argument("--coverage-reps", type=int, default=100)
    options = parser.parse_args()
    print(header(CENSUS=options.census))
    out = Path(__file__).parent / "results"
    linear = {"Output": linear_output, "Obj-Gauss": linear_objective}
    logistic = {"Output": logistic_output, "Obj-Gauss": logistic_objective}
    kinds = [
        ("linear", ("work", "y"), linear_methods, rmse, linear, False, "test RMSE", None),
        (
            "logistic",
            ("much", "yes"),
            logistic_methods,
            accuracy,
            logistic,
            True,
            "test accuracy",
            4 * approximation(REACH),
        ),
    ]
    for number, (kind, responses, methods, score, rivals, more, label, slope) in enumerate(kinds, 1):
        if options.only not in (None, kind):
            continue
        results = {}
        for people in (census(options.census, responses[0]), simulated(responses[1])):
            found = study((kind, people, methods, score, rivals, more), options.reps)
            results[people.name, kind] = found
            print(f"\nFigure {number}, {kind}, {people.name}: {label}, mean of {options.reps} samples\n")
            print(table(found, 4))
            print(
                f"\nours, {kind}, {people.name}: share of 95 % intervals that cover, "
                f"{options.coverage_reps} samples\n"
            )
            covered = coverage(people, kind, slope, options.coverage_reps)
            print(covered.to_string(index=False, float_format="%.3f"))
        plot(results, out / f"input_perturbation_{kind}.png", label)


if __name__ == "__main__":
    main()

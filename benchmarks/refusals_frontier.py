"""How many hopeless fits any rule of public numbers could refuse: what is learnt, and what no rule can beat.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/refusals_frontier.py --minutes 60 \\
        | tee benchmarks/results/refusals-frontier.txt

A fit is hopeless if it loses every coefficient. Each design near what is refused is fitted REPEATS times, the
same rows under other noise, and so are OTHERS that look alike: with the same model, formula, number of rows,
budget and kinds of columns, whose distributions, bounds, effects, correlations, and shares of events and of
levels are drawn anew. All rules refuse as many as they like while fits with an interval for any coefficient
that are refused are 1 % of all designs.

The first is today's rule, as it is, and with all limits moved by one factor. The next are trees, by
scikit-learn if it is there, that were learnt from all public numbers, bounds too, of nine tenths of these
designs and told the others; and such as know the route, the limit and k alone. The last are the most that
any rule can do. Each fit has a chance p of being hopeless, and the best rule knows p and refuses those above
some limit. How many of the fits of each design are hopeless tells what laws these chances may have, and a
linear programme finds the one under which the rule does best. Chances over designs that look alike bound all
rules of public numbers other than bounds, and chances over noise alone bound one that knows the private rows
as well. A second table has what is found where more or fewer of all designs may be refused that have an
interval, and how many are where nine in ten hopeless fits are found.

Designs of more than 300,000 numbers are left out, as they take most of the time and are seldom near.
"""

import argparse
import secrets
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lots.designs import Design, draw_alike, draw_design, draw_ordinary
from lots.rows import sample
from lots.score import model_of
from lottery import WORK, Record, drawn
from provenance import estimator, header
from refusals import LEAST, MOST_COEFFICIENTS, UNIT, refused
from scipy import optimize, stats

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.testing import SeededNoise, noise

Array = np.ndarray
MOST = 0.01  # of all designs: fits with an interval that are refused
NEAR = 6.0  # times what is refused: above that hardly any fit is hopeless
LARGEST = 300_000  # numbers of a design
REPEATS, OTHERS = 3, 2  # fits of a design, and of others that look alike
FITS = 3  # of each design, of which chances are told
SHARES, NINE_IN_TEN = (0.005, 0.01, 0.02, 0.05), 0.9  # of all designs with an interval, and of hopeless fits
KNOWN = {"trees of public numbers": slice(None), "trees of limit, k and route": [2, 3, *range(-8, 0)]}
OF_CURVES = "Of hopeless fits, by the share of all designs that are refused and have an interval:"
GRID, ROUNDS = 101, 5_000  # of chances, and of the search for their likeliest law
EXTRAS = ("", "interaction", "spline", "offset", "weights", "units")
DISTS = ("", "weibull", "loglogistic", "lognormal")


def one(seed: int) -> Record:
    """Whether a design is refused, and what it and others come to, if it is refused or nearly so."""
    ordinary = bool(seed % 2)
    design = (draw_ordinary if ordinary else draw_design)(seed)
    columns = design.covariates.columns
    about = 1 + sum(len(each.shares) - 1 if each.levels and each.coded else 1 for each in columns)
    if design.route not in LEAST or design.n * about > LARGEST:
        return {"seed": seed, "counts": False}
    record = {"seed": seed, "counts": True}
    if not refused(design, MOST_COEFFICIENTS, NEAR):
        return record
    try:
        model = model_of(design, sample(design))
    except SpecificationError:  # of bounds that no model takes
        return {"seed": seed, "counts": False}
    k = len(model.design.names) + (design.model == "survreg")
    if not refused(design, k, NEAR):
        return record
    rng = np.random.default_rng([seed, 7])
    others = [alike for _ in range(OTHERS) if (alike := of_another(draw_alike(design, ordinary, rng)))]
    return record | {
        "route": design.route,
        "refused": refused(design, k),
        "above": above(design, k),
        "public": public_numbers(design, model.design.schema, k),
        "own": [estimable(model, design, design.seed + i) for i in range(REPEATS)],
        "others": [each[0] for each in others],
    }


def of_another(design: Design) -> list[int]:
    """What a design comes to; nothing if its bounds are ones that no fit takes."""
    try:
        return [estimable(model_of(design, sample(design)), design, design.seed)]
    except SpecificationError:
        return []


def estimable(model: Any, design: Design, seed: int) -> int:
    """How many coefficients have an interval."""
    with noise(SeededNoise(seed)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model.fit(design.budget)
    return int(np.isfinite(np.diag(fit.record.cov)).sum())


def above(design: Design, k: int) -> float:
    """By how much it is above what is refused, or below."""
    size = design.epsilon if design.kind == "pure" else design.budget.mu
    unit = UNIT if design.extra == "units" else 1
    return float(design.n * size / LEAST[design.route].needed(k) / unit)


def public_numbers(design: Design, schema: dps.Schema, k: int) -> list[float]:
    """All that a rule may know: rows, budget, kinds of columns, and where their bounds lie."""
    declared = [schema[name] for name in schema if name.startswith("x")]
    ends = [each.bounds for each in declared if each.kind == "bounded"]
    apart = [abs(low + high) / (high - low) for low, high in ends] or [0.0]
    response = schema["time" if design.model == "survreg" else "y"]
    low, high = getattr(response, "bounds", (0.0, 1.0))
    decades = np.log(high / max(low, 1e-9)) if low >= 0 and high > 0 else 0.0
    levels = [len(each.all) for each in declared if each.kind == "levels"]
    size = design.epsilon if design.kind == "pure" else design.budget.mu
    numbers = [
        *(np.log(each) for each in (design.n, size, k, above(design, k))),
        *(len(declared), sum(each.kind == "flag" for each in declared), len(levels), max(levels, default=0)),
        *(
            np.mean(apart),
            max(apart),
            min(apart),
            decades,
            np.log(high - low),
            abs(low + high) / (high - low),
        ),
        *(DISTS.index(design.dist), EXTRAS.index(design.extra)),
        *(design.route == route for route in LEAST),
    ]
    return [float(each) for each in numbers]


def most_of_any(hopeless: list[list[bool]], designs: int) -> float:
    """The largest share of hopeless fits that a rule refuses which knows the chance of each.

    Of the likeliest law of chances the numbers of hopeless fits among FITS are kept; of all laws with these
    the one is taken with which the rule does best.
    """
    seen = np.bincount([sum(each[:FITS]) for each in hopeless], minlength=FITS + 1) / designs
    chance = np.linspace(0, 1, GRID)
    told = stats.binom.pmf(np.arange(FITS + 1)[:, None], FITS, chance)
    law = np.full(GRID, seen.sum() / GRID)
    for _ in range(ROUNDS):
        law = law * (told.T @ (seen / (told @ law)))
    seen = told @ law
    best = optimize.linprog(
        -np.append(chance, 0 * chance),
        A_ub=np.append(1 - chance, 0 * chance)[None],
        b_ub=[MOST],
        A_eq=np.hstack([told, told]),
        b_eq=seen,
    )
    return float(-best.fun / (chance @ law))


def learnt(near: list[Record], kept: slice | list[int]) -> Array | None:
    """Chances of being hopeless by trees that learnt from these numbers of the other designs, tenfold."""
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ModuleNotFoundError:
        return None
    numbers = np.array([record["public"] for record in near])[:, kept]
    fits = [np.array(record["own"] + record["others"]) == 0 for record in near]
    parts, found = np.random.default_rng(0).permutation(len(near)) % 10, np.empty(len(near))
    for part in range(10):
        others = np.flatnonzero(parts != part)
        trees = RandomForestClassifier(500, min_samples_leaf=5, random_state=0)
        several = np.repeat(others, [len(fits[i]) for i in others])
        trees.fit(numbers[several], np.concatenate([fits[i] for i in others]))
        found[parts == part] = trees.predict_proba(numbers[parts == part])[:, 1]
    return found


def refusing(score: Array, lost: Array, designs: int, most: float = MOST) -> Array:
    """Those of the highest scores, as many as may be refused."""
    order = np.argsort(-score, kind="stable")
    wrong = np.cumsum(~lost[order]) / designs
    chosen = np.zeros(len(lost), dtype=bool)
    chosen[order[: int(np.searchsorted(wrong, most, side="right"))]] = True
    return chosen


def along(score: Array, lost: Array, designs: int) -> dict[str, float]:
    """What of hopeless fits is found at each share of all designs, and at which share nine in ten are."""
    found = {f"at {most:.1%}": refusing(score, lost, designs, most)[lost].mean() for most in SHARES}
    order = np.argsort(-score, kind="stable")
    last = int(np.searchsorted(np.cumsum(lost[order]), NINE_IN_TEN * lost.sum()))
    return {name: round(float(each), 3) for name, each in found.items()} | {
        "90 % are found at": f"{np.sum(~lost[order][: last + 1]) / designs:.1%}"
    }


def report(records: list[Record]) -> str:
    """A table."""
    designs = sum(record["counts"] for record in records)
    near = [record for record in records if "own" in record]
    own = np.array([record["own"] for record in near]) == 0
    lost, ours = own[:, 0], np.array([record["refused"] for record in near])
    scores = {"the rule, limits moved": -np.array([record["above"] for record in near])}
    for name, kept in KNOWN.items():
        if (trees := learnt(near, kept)) is not None:
            scores[name] = trees
    rules = {"the rule": ours} | {name: refusing(each, lost, designs) for name, each in scores.items()}
    rows = [
        {"refused by": name, "of hopeless": share(chosen[lost])}
        | {"with an interval, of all": share((chosen & ~lost).sum() / designs, designs)}
        for name, chosen in rules.items()
    ]
    alike = [[bool(r["own"][0] == 0), *(each == 0 for each in r["others"])] for r in near]
    alike = [each for each in alike if len(each) >= FITS]
    for name, fits in (("of public numbers but bounds", alike), ("of rows as well", own.tolist())):
        rows.append({"refused by": f"the best rule {name}"} | bounded(fits, designs))
    again = own[lost][:, 1:].mean()
    head = f"{designs} designs, {len(near)} of them refused or nearly so, of which {lost.sum()} are hopeless;"
    table = pd.DataFrame(rows).to_string(index=False, na_rep="")
    told = f"{again:.1%} of fits of these under other noise are hopeless, too"
    more = [{"refused by": name} | along(score, lost, designs) for name, score in scores.items()]
    curve = pd.DataFrame(more).to_string(index=False)
    return f"{head}\n{told}\n\nHopeless fits that are refused:\n{table}\n\n{OF_CURVES}\n{curve}"


def share(values: Any, number: int | None = None) -> str:
    """A share with its error."""
    found, number = float(np.mean(values)), np.size(values) if number is None else number
    return f"{found:.3f} +- {(found * (1 - found) / number) ** 0.5:.3f}"


def bounded(fits: list[list[bool]], designs: int) -> dict[str, str]:
    """The most that any rule does, with its error by drawing designs anew."""
    rng, k = np.random.default_rng(0), len(fits)
    anew = [most_of_any([fits[i] for i in rng.integers(0, k, k)], designs) for _ in range(20)]
    return {"of hopeless": f"{most_of_any(fits, designs):.3f} +- {np.std(anew):.3f} at most"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, help="of a run; default: a fresh one")
    parser.add_argument("--designs", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=Path, default=WORK)
    options = parser.parse_args()
    run = secrets.randbelow(10**9) if options.seed is None else options.seed
    path = options.work / f"refusals-{estimator()}-{run}.jsonl"
    records = drawn(path, run, one, options.designs, options.minutes, options.jobs)
    print(header(work=options.work))
    print(f"seed {run}")
    print(report(records))


if __name__ == "__main__":
    main()

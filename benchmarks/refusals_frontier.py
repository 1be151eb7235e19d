"""How many hopeless fits any rule of public numbers could refuse: boosted trees against the rule of today.

    PYTHONPATH=. python benchmarks/refusals_frontier.py draw FITS.jsonl --seed 1 --minutes 15
    PYTHONPATH=. SKLEARN_PYTHON benchmarks/refusals_frontier.py report FITS.jsonl \\
        | tee benchmarks/results/refusals-frontier.txt

`draw` fits designs of the lottery and keeps what is public of each: model, distribution, kind and size of
the budget, rows, coefficients, a unit's rows, and the bounds and kinds of all variables; and whether every
coefficient was lost. `report` needs scikit-learn,
which the project does not use. Trees see all of the public numbers, with n mu over powers of k among them;
each of ten parts of the designs is judged by trees of the other nine. A threshold is set so that usable fits
that are refused are 1 % of all designs, the most that is allowed; "usable" is a fit with an interval for any
coefficient. The last line tells trees more than is public: how many rows fail, which level is rarest, how
loose bounds are, how strong effects are.
"""

import argparse
import json
import math
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

MOST = 0.01  # of all designs: usable fits that are refused
PARTS = 10


def draw(path: Path, run: int, minutes: float) -> None:
    """Fit designs and append their public numbers; the name of the file says of which draw."""
    from lots.designs import draw_design, draw_ordinary
    from lottery import seeds

    known = {json.loads(text)["seed"] for text in path.read_text().splitlines()} if path.exists() else set()
    until = time.process_time() + 60 * minutes
    design = draw_ordinary if path.name.startswith("ordinary") else draw_design
    with path.open("a") as file:
        for seed in seeds(run):
            if time.process_time() > until:
                return
            if seed not in known and (record := fitted(design(seed))):
                file.write(json.dumps(record) + "\n")


def fitted(design: Any) -> dict[str, Any] | None:
    """Public numbers of a design, what else is in it, and whether all of its coefficients were lost."""
    from lots.rows import sample
    from lots.score import model_of

    from dpstats.errors import SpecificationError
    from dpstats.testing import SeededNoise, noise

    if design.model == "kaplan_meier":
        return None
    made = sample(design)
    model = model_of(design, made)
    try:
        with noise(SeededNoise(design.seed)), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = model.fit(design.budget)
    except SpecificationError:
        return None
    own = ("y", "time", "failed", "w", "unit", "o")
    bounds = [
        (
            each.kind,
            *(map(float, each.bounds) if each.kind == "bounded" else (len(getattr(each, "all", ())), 0)),
        )
        for name, each in made.schema.items()
        if name not in own
    ]
    response = made.schema["time" if design.model == "survreg" else "y"]
    ends = [0.0, 1.0] if response.kind == "flag" else list(map(float, response.bounds))
    return {
        "seed": design.seed,
        "route": design.route,
        "n": design.n,
        "k": len(fit.params),
        "names": list(fit.names),
        "lost": int(np.isinf(np.diag(fit.record.cov)).sum()),
        "size": design.epsilon if design.kind == "pure" else design.budget.mu,
        "dist": design.dist,
        "kind": design.kind,
        "extra": design.extra,
        "bounds": bounds,
        "response": ends,
        "desc": design.described(),
    }


def public(record: dict[str, Any]) -> dict[str, float]:
    """What a rule may know."""
    n, k, size = record["n"], record["k"], record["size"]
    low, high = record["response"]
    wide = [(a, b) for kind, a, b in record["bounds"] if kind == "bounded"]
    off = [abs(a + b) / (b - a) for a, b in wide]  # middle over half width
    levels = [a for kind, a, _ in record["bounds"] if kind == "levels"]
    found = {f"is {name}": float(record["route"] == name) for name in ROUTES}
    found |= {
        f"dist {name}": float(record["dist"] == name) for name in ("weibull", "lognormal", "loglogistic")
    }
    found |= {f"extra {name}": float(record["extra"] == name) for name in EXTRAS}
    found |= {f"n size over k^{p:g}": math.log(n * size / k**p) for p in (0.0, 1.0, 1.5, 2.0)}
    return found | {
        "n": math.log(n),
        "k": k,
        "size": math.log(size),
        "zcdp": float(record["kind"] == "zcdp"),
        "response ratio": math.log((high + 1e-9) / (low + 1e-9)) if low >= 0 else -1.0,
        "response off": abs(low + high) / (high - low),
        "response high": math.log(abs(high) + 1e-9),
        "numbers": len(wide),
        "levels": sum(levels),
        "most levels": max(levels, default=0),
        "flags": sum(kind == "flag" for kind, *_ in record["bounds"]),
        "mean off": float(np.mean(off)) if off else -1.0,
        "from 0": sum(a == 0 for a, _ in wide),
    }


ROUTES = (
    "ols gaussian",
    "ols pure",
    "logit gaussian",
    "logit pure",
    "poisson gaussian",
    "gamma gaussian",
    "survreg gaussian",
    "survreg pure",
)
EXTRAS = ("interaction", "spline", "offset", "weights", "units")


def private(record: dict[str, Any]) -> dict[str, float]:
    """What is in the rows, and no rule may know."""
    names = ("looseness", "response looseness", "correlation", "rarest level", "signal", "level", "censored")
    return {name: float(record["desc"][name]) for name in names}


def judged(numbers: pd.DataFrame, lost: np.ndarray) -> np.ndarray:
    """Chance of being lost, by trees that saw other seeds."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    trees = HistGradientBoostingClassifier(
        max_iter=150, learning_rate=0.06, max_leaf_nodes=12, random_state=0
    )
    parts = StratifiedKFold(PARTS, shuffle=True, random_state=0)
    return np.asarray(cross_val_predict(trees, numbers, lost, cv=parts, method="predict_proba")[:, 1])


def reached(chance: np.ndarray, lost: np.ndarray) -> dict[str, float]:
    """Of lost fits refused, where usable ones that are refused are MOST of all."""
    order = np.argsort(-chance, kind="stable")
    wrong = np.cumsum(~lost[order]) / len(lost)
    taken = int(np.searchsorted(wrong, MOST, side="right"))
    return {
        "fits": len(lost),
        "all lost": int(lost.sum()),
        "of these refused": float(lost[order][:taken].sum() / lost.sum()),
        "usable of all": float((~lost[order][:taken]).sum() / len(lost)),
        "usable of refused": float((~lost[order][:taken]).mean()),
    }


def report(path: Path) -> str:
    """Tables by route and of all."""
    records = [json.loads(text) for text in path.read_text().splitlines()]
    numbers = pd.DataFrame([public(record) for record in records])
    lost = np.array([record["lost"] == record["k"] for record in records])
    route = np.array([record["route"] for record in records])
    chances = {"public": judged(numbers, lost)}
    chances["all"] = judged(numbers.join(pd.DataFrame([private(record) for record in records])), lost)
    rows = []
    for name, chance in chances.items():
        if name == "public":
            rows += [
                {"told": name, "route": each} | reached(chance[route == each], lost[route == each])
                for each in sorted(set(route))
            ]
        rows.append({"told": name, "route": "all"} | reached(chance, lost))
    return pd.DataFrame(rows).round(4).to_string(index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["draw", "report"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    if options.what == "draw":
        draw(options.file, options.seed, options.minutes)
        return
    from provenance import header

    print(header(file=options.file))
    print(report(options.file))


if __name__ == "__main__":
    main()

"""Times to failure whose groups have a scale each, on designs drawn at random: slopes, and each log sigma.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/strata_lottery.py --first 101000 --fits 200 \\
        | tee benchmarks/results/strata_lottery.txt

Each design has a distribution, 2 to 5 groups of unequal sizes and lives, whose log scales are up to 4 apart,
covariates (normal, uniform, flags, some that go with the group), up to 80 % censored, a number of rows and a
budget of its own, and half of them the groups as a term, too. In half of them one group has 3 to 10 % of the
rows, and a log scale 1 to 2 from that of the largest. The number of a design is its seed, and of its noise.
"""

import argparse
import warnings
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from lots.coefficients import table
from provenance import header
from tqdm import tqdm

import dpstats as dps
from dpstats.families import DISTS
from dpstats.testing import SeededNoise, noise

LAWS = ("weibull", "loglogistic", "lognormal", "sev", "logistic", "gaussian")
LEVELS = tuple("abcde")
FEW = 60  # failures
RARE_SHARES = (0.03, 0.1)  # of the rows, of a group that is far from the others
FARTHEST = 2.0  # of a log sigma from the middle
RARE, FAR = 0.1, 1.0  # share of the failures, and distance of a log sigma from that of most failures


class Design(NamedTuple):
    """Rows, what is public of them, and the truth by the name of a coefficient."""

    data: pd.DataFrame
    schema: dps.Schema
    formula: str
    dist: str
    epsilon: float
    truth: dict[str, float]


def design(number: int) -> Design:
    rng = np.random.default_rng(number)
    n = int(np.exp(rng.uniform(np.log(2_000), np.log(50_000))))
    groups, dist = int(rng.integers(2, 6)), str(rng.choice(LAWS))
    shares, log_sigmas = _groups(groups, rng)
    group, sigmas = rng.choice(groups, n, p=shares), np.exp(log_sigmas)
    own = rng.uniform() < 0.5
    columns: dict[str, Any] = {"group": np.array(LEVELS, dtype=object)[group]}
    declared: dict[str, Any] = {"group": dps.levels(*LEVELS[:groups])}
    line, truth = np.full(n, 3.0), {"Intercept": 3.0}
    for level in range(1, groups) if own else ():
        effect = rng.normal() * 0.7
        line += effect * (group == level)
        truth[f"group[T.{LEVELS[level]}]"] = effect
    for name in [f"x{j}" for j in range(rng.integers(1, 4))]:
        values = rng.normal(size=n) + rng.uniform(0, 0.6) * group * (rng.uniform() < 0.4)
        kind, loose = rng.integers(3), np.exp(rng.uniform(0, 1.5))
        if kind == 1:
            values, declared[name] = 1.0 * (values > rng.uniform(-1, 1.5)), dps.flag()
        else:
            values = np.clip(values, -5, 5) if kind else np.clip(2 * np.tanh(values), -5, 5)
            declared[name] = dps.bounded(-5 * loose, 5 * loose)
        columns[name], effect = values, rng.normal() * np.exp(rng.uniform(np.log(0.05), 0))
        line += effect * values
        truth[name] = effect
    law = DISTS[dist]
    y = line + sigmas[group] * law.family.quantile(rng.uniform(size=n))
    end = np.quantile(y, 1 - rng.uniform(0, 0.8)) + rng.uniform(0, 0.7) * rng.normal(size=n)
    watched, failed = np.minimum(y, end), y <= end
    low, high = watched.min() - rng.uniform(0, 3), watched.max() + rng.uniform(0, 3)
    time, bounds = (np.exp(watched), np.exp([low, high])) if law.log else (watched, (low, high))
    data = pd.DataFrame(columns | {"time": time, "failed": 1 * failed})
    declared |= {"time": dps.bounded(*map(float, bounds)), "failed": dps.event(failed=1, censored=0)}
    truth |= {f"Log(scale)[{LEVELS[j]}]": float(np.log(sigmas[j])) for j in range(groups)}
    terms = [name for name in columns if own or name != "group"]
    formula = f"Surv(time, failed) ~ {' + '.join(terms)} + strata(group)"
    epsilon = float(np.exp(rng.uniform(np.log(0.5), np.log(8))))
    return Design(data, dps.Schema(declared), formula, dist, epsilon, truth)


def _groups(groups: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Shares of the rows, and log scales."""
    shares = rng.dirichlet(np.full(groups, rng.uniform(0.7, 4)))
    apart = rng.uniform(0, FARTHEST)
    log_sigmas = -0.3 + rng.uniform(-apart, apart, groups)
    if rng.uniform() < 0.5:
        largest, rare = 1 + np.argmax(shares[1:]), rng.uniform(*RARE_SHARES)
        shares = np.append(rare, (1 - rare) * shares[1:] / shares[1:].sum())
        log_sigmas[0] = log_sigmas[largest] + rng.choice([-1, 1]) * rng.uniform(FAR, FARTHEST)
    return shares, log_sigmas


def fitted(number: int) -> list[dict[str, Any]] | None:
    """One row for each coefficient; None where the fit is refused."""
    drawn = design(number)
    model = dps.survreg(drawn.formula, drawn.data, drawn.schema, dist=drawn.dist)
    with noise(SeededNoise(number)), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            fit = model.fit(dps.approx(drawn.epsilon, 1e-6))
        except dps.BudgetError:
            return None
    failures = drawn.data.groupby("group")["failed"].sum()
    usual = drawn.truth[f"Log(scale)[{failures.idxmax()}]"]
    codes = [code for code, _ in fit.flags]
    return [
        {
            "number": number,
            "name": name,
            "z": (fit.params[name] - true) / fit.bse[name],
            "se": fit.bse[name],
            "known": bool(np.isfinite(fit.bse[name])),
            "share": share,
            "scale": name.startswith("Log"),
            "failures": failures.get(name[-2:-1], 0) if name.endswith("]") else len(drawn.data),
            "away": true - usual if name.startswith("Log") else 0.0,
            "own": "group +" in drawn.formula.replace("strata(group)", ""),
            "cautions": "+".join(sorted(set(codes))),
            "codes": tuple(sorted(set(codes))),
            "events": int(failures.sum()),
            "epsilon": drawn.epsilon,
            "rows": len(drawn.data),
            "dist": drawn.dist,
        }
        for (name, true), share in zip(drawn.truth.items(), _shares(fit, drawn), strict=True)
    ]


def _shares(fit: Any, drawn: Design) -> list[float]:
    shares = dict(zip(fit.names, fit.tidy()["privacy_share"], strict=True))
    return [float(shares[name]) for name in drawn.truth]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--fits", type=int, required=True)
    parser.add_argument("--save", help="a CSV file of all coefficients")
    given = parser.parse_args()
    done = [fitted(number) for number in tqdm(range(given.first, given.first + given.fits))]
    fits = [each for each in done if each is not None]
    found = pd.DataFrame([one for each in fits for one in each])
    if given.save:
        found.to_csv(given.save, index=False)
    known = found[found["known"]]
    flagged = round(100 * float((found.groupby("number")["cautions"].first() != "").mean()))
    print(header())
    print(f"{len(done)} designs, {len(done) - len(fits)} refused before they spend")
    print(f"{len(known)} of {len(found)} coefficients are estimable; {flagged} % of the fits have a caution")
    print("Intervals are of 95 %; confidently wrong: beyond two half-lengths, in a fit without a caution")
    print()
    scales, slopes = known[known["scale"]], known[~known["scale"] & (known["name"] != "Intercept")]
    parts = {
        "slopes": slopes,
        "of groups": slopes[slopes["name"].str.startswith("group")],
        "of covariates": slopes[~slopes["name"].str.startswith("group")],
        "intercepts": known[known["name"] == "Intercept"],
        "log sigmas": scales,
        f"of at most {FEW} failures": scales[scales["failures"] <= FEW],
        "of more": scales[scales["failures"] > FEW],
        f"of below {100 * RARE:.0f} % of the failures": scales[scales["failures"] < RARE * scales["events"]],
        f"{FAR:.0f} below that of most failures": scales[scales["away"] <= -FAR],
        f"{FAR:.0f} above it": scales[scales["away"] >= FAR],
        "group is a term": scales[scales["own"]],
        "group is no term": scales[~scales["own"]],
        "noise above half of the variance": scales[scales["share"] >= 0.5],
        "noise below": scales[scales["share"] < 0.5],
        "without a caution": known[known["cautions"] == ""],
        "with one": known[known["cautions"] != ""],
        **{dist: known[known["dist"] == dist] for dist in LAWS},
    }
    print(table(parts))
    counts = Counter(code for codes in found.groupby("number")["codes"].first() for code in codes)
    print("\nCautions, by fits:", ", ".join(f"{code} {count}" for code, count in counts.most_common()))


if __name__ == "__main__":
    main()

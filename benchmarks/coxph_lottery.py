"""Regressions of hazards on designs drawn at random: coefficients, survival curves, the test of the model.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/coxph_lottery.py --first 20000 --fits 600 \\
        | tee benchmarks/results/coxph_lottery.txt

With ``--strata`` each design has two to four strata, whose baselines are of powers of the time; then
coefficients alone are looked at. So it is with ``--changing``, where each unit has two to four rows, a budget
as many times as large, and one more covariate: a flag that goes on and off, a number that is drawn anew for
each row, or one that drifts.

Each design has a law of covariates (normal, skewed, heavy-tailed, flags, factors, correlated), bounds that
are 1 to 20 times too wide, effects, a baseline hazard (power, log-logistic, Gompertz, bumps), censoring, late
entry and a budget of its own. Hazards are proportional. The number of a design is its seed, and of its noise.
"""

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from lots.coefficients import table
from provenance import header
from tqdm import tqdm

import dpstats as dps
from dpstats.testing import SeededNoise, noise

BUMPS = [0, 0.05, 0.1, 0.02, 0.3, 0.1, 1, 5, 1000], [0, 0.1, 0.2, 0.6, 0.65, 1.5, 2, 4, 1000]
POINTS = 4  # rows at whose covariates curves are looked at, each at three times
WORTH = 6.5  # of k^1.5 in n mu: fits with less are refused


class Design(NamedTuple):
    """Rows, what is public of them, and the truth.

    `hazard` is the cumulative baseline hazard at `ages`, for rows of linear predictor 0; `line` is that of
    the rows.
    """

    data: pd.DataFrame
    schema: dps.Schema
    formula: str
    mu: float
    effects: dict[str, float]
    line: np.ndarray
    ages: np.ndarray
    hazard: np.ndarray


def covariates(rng: np.random.Generator, n: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, float]]:
    """Columns, their declarations, and effects by the name of a coefficient."""
    columns: dict[str, Any] = {}
    declared: dict[str, Any] = {}
    effects: dict[str, float] = {}
    base, shared, size = rng.normal(size=n), rng.uniform(0, 0.8), np.exp(rng.uniform(np.log(0.05), 0))
    for name in [f"x{j}" for j in range(rng.integers(1, 7))]:
        normal = shared * base + np.sqrt(1 - shared**2) * rng.normal(size=n)
        kind, loose = rng.integers(5), np.exp(rng.uniform(0, 3))
        if kind == 0:
            values, declared[name] = normal, dps.bounded(-5 * loose, 5 * loose)
        elif kind == 1:
            values, declared[name] = np.exp(normal * rng.uniform(0.3, 1)), dps.bounded(0, 20 * loose)
        elif kind == 2:
            values, declared[name] = 1.0 * (normal > rng.uniform(-1, 2.3)), dps.flag()
        elif kind == 3:
            values = np.clip(0.7 * rng.standard_t(3, size=n), -8, 8)
            declared[name] = dps.bounded(-10 * loose, 10 * loose)
        else:
            shares = rng.dirichlet(np.full(rng.integers(2, 6), rng.uniform(0.3, 3)))
            levels = list("abcdef")[: len(shares)]
            columns[name] = np.array(levels, dtype=object)[rng.choice(len(shares), n, p=shares)]
            declared[name] = dps.levels(*levels)
            effects |= {f"{name}[T.{level}]": size * rng.normal() for level in levels[1:]}
            continue
        columns[name] = values
        effects[name] = size * rng.normal() / max(values.std(), 0.1)
    return columns, declared, effects


def times_of(rng: np.random.Generator, hazard: np.ndarray) -> np.ndarray:
    """Ages at which the baseline reaches these cumulative hazards."""
    law, shape = rng.integers(4), np.exp(rng.uniform(-0.9, 0.9))
    if law == 0:
        return np.asarray(hazard ** (1 / shape))
    if law == 1:
        return np.asarray(np.expm1(np.minimum(hazard, 200)) ** (1 / shape))
    return np.log1p(hazard * shape) / shape if law == 2 else np.interp(hazard, np.cumsum(BUMPS[0]), BUMPS[1])


def design(number: int) -> Design:
    rng = np.random.default_rng(number)
    n, mu = (
        int(np.exp(rng.uniform(np.log(500), np.log(40_000)))),
        float(np.exp(rng.uniform(np.log(0.1), np.log(4)))),
    )
    columns, declared, effects = covariates(rng, n)
    line = np.zeros(n)
    for name, effect in effects.items():
        column, _, level = name.partition("[T.")
        line += effect * (columns[column] == level[:-1] if level else columns[column])
    line -= line.mean()
    hazard = rng.exponential(size=n) * np.exp(-np.clip(line, -15, 15))
    ages = times_of(rng, hazard)
    end = np.quantile(ages, np.exp(rng.uniform(np.log(0.02), np.log(0.99))))
    ends = (np.full(n, end), rng.uniform(0, 2 * end, n), rng.exponential(1.5 * end, n))[rng.integers(3)]
    unit = 100 / np.quantile(np.minimum(ages, ends), 0.9)
    ages, time, failed = unit * ages, unit * np.minimum(ages, ends), ages <= ends
    top = time.max() * np.exp(rng.uniform(-0.4, 1.5))
    early = np.quantile(time[failed], rng.uniform(0, 0.1)) if failed.any() else top / 100
    low = min(top * 10 ** rng.uniform(-5, -2), early) if rng.uniform() < 0.8 else 0.0
    data = pd.DataFrame(columns | {"time": np.maximum(time, low or 1e-9), "failed": 1 * failed})
    declared |= {"time": dps.bounded(low, top), "failed": dps.event(failed=1, censored=0)}
    left = "Surv(time, failed)"
    if rng.uniform() < 0.25:
        data["entry"] = rng.uniform(-0.5, 1, n) * np.quantile(time, 0.5)
        declared["entry"], left = dps.bounded(0, top), "Surv(entry, time, failed)"
        data = data[data["entry"] < data["time"]]
    order = np.argsort(ages)
    formula = f"{left} ~ {' + '.join(columns)}"
    return Design(data, dps.Schema(declared), formula, mu, effects, line, ages[order], hazard[order])


def stratified(drawn: Design, number: int) -> Design:
    """The same rows in strata, on a clock of its own each."""
    rng = np.random.default_rng([number, 1])
    count, data = int(rng.integers(2, 5)), drawn.data.copy()
    stratum = rng.choice(count, len(data), p=rng.dirichlet(np.full(count, 3.0)))
    powers, end = np.exp(rng.uniform(-0.5, 0.5, count))[stratum], float(data["time"].max())
    for name in ("time", "entry"):
        if name in data:
            data[name] = end * np.sign(data[name]) * (data[name].abs() / end) ** powers
    low, high = drawn.schema["time"].bounds  # type: ignore[union-attr]
    low = min(low, float(data["time"].min()))
    data["g"] = np.array(list("abcd"))[stratum]
    if "entry" in data:
        data = data[data["entry"] < data["time"]]
    declared = {name: drawn.schema[name] for name in drawn.schema}
    declared |= {"g": dps.levels(*"abcd"[:count]), "time": dps.bounded(low, high)}
    return drawn._replace(data=data, schema=dps.Schema(declared), formula=f"{drawn.formula} + strata(g)")


def changing(drawn: Design, seed: int) -> Design:
    """The same units from age 0 on, with a row for each stretch of time and a covariate that changes."""
    rng = np.random.default_rng([seed, 2])
    rows, line, top = drawn.data, drawn.line[drawn.data.index], drawn.schema["time"].bounds[1]  # type: ignore[union-attr]
    n, last, most = len(rows), float(rows["time"].quantile(0.9)), int(rng.integers(2, 5))
    ends = np.minimum(rng.uniform(0.1, 2, n) * last, 0.999 * top)
    apart, kind = np.exp(rng.uniform(np.log(0.03), np.log(0.5))) * last, rng.integers(3)
    spread, drift = rng.uniform(0.1, 1), rng.normal()
    effect = (rng.uniform() < 0.75) * rng.normal() * (0.8, 0.5, 0.4)[kind]
    begin, alive, stretches = np.zeros(n), np.ones(n, dtype=bool), []
    for k in range(most):
        until = begin + apart * rng.uniform(1 - spread, 1 + spread, n) if k < most - 1 else ends + 1
        number = rng.normal(size=n).clip(-4, 4)
        values = (np.full(n, k % 2), number, k * drift + 0.3 * number)[kind]
        spent = np.interp(begin, drawn.ages, drawn.hazard)
        spent += rng.exponential(size=n) * np.exp(-np.clip(line + effect * values, -15, 15))
        ages = np.interp(spent, drawn.hazard, drawn.ages, right=np.inf)
        here, stop = alive & (begin < ends), np.minimum(np.minimum(ages, until), ends)
        failed = here & (ages <= np.minimum(until, ends))
        parts = {"unit": np.arange(n), "begin": begin, "time": stop, "failed": 1 * failed, "v": values}
        stretches.append(rows.filter(like="x").assign(**parts)[here & (stop > begin)])
        alive, begin = here & ~failed & (until < ends), until
    declared = {name: drawn.schema[name] for name in drawn.schema if name.startswith("x")}
    width = 4 * abs(drift) + 4
    declared |= {
        "begin": dps.bounded(0, top),
        "time": dps.bounded(0, top),
        "failed": dps.event(failed=1, censored=0),
    }
    declared["v"] = dps.flag() if kind == 0 else dps.bounded(-width, width)
    schema = dps.Schema(declared).unit("unit", max_rows=most)
    formula = f"Surv(begin, time, failed) ~ {drawn.formula.partition('~')[2]} + v"
    data = pd.concat(stretches, ignore_index=True)
    effects = drawn.effects | {"v": effect}
    return drawn._replace(data=data, schema=schema, formula=formula, effects=effects, mu=most * drawn.mu)


def fitted(
    number: int, kind: str = ""
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], float | None] | None:
    """Coefficients, points of curves, and the p-value of the test of all; None where a fit is refused."""
    drawn = design(number)
    if kind:
        drawn = {"strata": stratified, "changing": changing}[kind](drawn, number)
    model = dps.coxph(drawn.formula, drawn.data, drawn.schema)
    if len(drawn.data) * drawn.mu < WORTH * len(model.design.names) ** 1.5:
        return None
    with noise(SeededNoise(number)), warnings.catch_warnings():
        warnings.simplefilter("ignore" if kind == "changing" else "error")
        try:
            fit = model.fit(dps.gdp(drawn.mu))
        except dps.BudgetError:
            return None
    codes, late = {code for code, _ in fit.flags}, "entry" in drawn.data
    slopes = [
        {
            "z": (fit.params[name] - drawn.effects[name]) / fit.bse[name],
            "known": np.isfinite(fit.bse[name]),
            "share": share,
            "level": "[T." in name,
            "late": late,
            "changes": name == "v",
            "cautions": "+".join(sorted(codes)),
        }
        for name, share in zip(fit.names, fit.tidy()["privacy_share"], strict=True)
    ]
    test = fit.proportional_test().frame["p_value"].iloc[-1] if fit.record.trend is not None else None
    return slopes, [] if kind else curves(drawn, fit, late), test


def curves(drawn: Design, fit: Any, late: bool) -> list[dict[str, Any]]:
    """Whether limits of the survival curve at some rows' covariates hold the truth."""
    low, high = drawn.schema["time"].bounds  # type: ignore[union-attr]
    failures = drawn.data.loc[drawn.data["failed"] == 1, "time"]
    times = (
        [time for time in np.quantile(failures, [0.2, 0.5, 0.8]) if low < time < high]
        if len(failures)
        else []
    )
    rows = drawn.data.index[:POINTS]
    if not times:
        return []
    frame = fit.survival(drawn.data.loc[rows, [*drawn.schema][:-2]].filter(like="x"), times=times).frame
    truth = [
        np.exp(-np.interp(time, drawn.ages, drawn.hazard) * np.exp(drawn.line[row]))
        for row in rows
        for time in times
    ]
    return [
        {
            "held": low <= true <= high,
            "known": not (low < 1e-12 and high > 1 - 1e-12),
            "length": high - low,
            "late": late,
            "time": k % len(times),
        }
        for k, (true, low, high) in enumerate(zip(truth, frame["conf_low"], frame["conf_high"], strict=True))
    ]


def print_curves(points: pd.DataFrame) -> None:
    seen = points[points["known"]]
    early, middle, last = (f"{100 * part:.1f}" for part in seen.groupby("time")["held"].mean())
    print(f"\nSurvival curves at {len(seen)} of {len(points)} points, where limits are not 0 and 1: covered")
    print(
        f"{100 * seen['held'].mean():.1f} %, with late entry {100 * seen[seen['late']]['held'].mean():.1f} %,"
    )
    print(f"at early, middle and late failures {early}, {middle}, {last} %; median length of an interval")
    print(f"{seen['length'].median():.3f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--fits", type=int, required=True)
    parser.add_argument("--strata", action="store_const", const="strata", default="", dest="kind")
    parser.add_argument("--changing", action="store_const", const="changing", dest="kind")
    given = parser.parse_args()
    done = [fitted(number, given.kind) for number in tqdm(range(given.first, given.first + given.fits))]
    fits = [each for each in done if each is not None]
    slopes = pd.DataFrame([slope for each in fits for slope in each[0]])
    points = pd.DataFrame([point for each in fits for point in each[1]])
    tests = np.array([each[2] for each in fits if each[2] is not None and np.isfinite(each[2])])
    known = slopes[slopes["known"]]
    print(header())
    dead = sum(not any(slope["known"] for slope in each[0]) for each in fits)
    refused = len(done) - len(fits)
    print(f"{len(done)} designs, {refused} refused before they spend; in {dead} fits nothing is estimable")
    print(
        f"{len(known)} of {len(slopes)} coefficients are estimable. Intervals are of 95 %; confidently "
        "wrong: beyond two half-lengths, in a fit without a caution"
    )
    print()
    clean = known["cautions"] == ""
    groups = {
        "all estimable": known,
        "noise below half of the variance": known[known["share"] < 0.5],
        "noise above": known[known["share"] >= 0.5],
        "levels": known[known["level"]],
        "late entry": known[known["late"]],
        "changing": known[known["changes"]],
        "changing, without a caution": known[known["changes"] & clean],
        "without a caution": known[clean],
        "with one": known[~clean],
    }
    print(table(groups))
    if len(points):
        print_curves(points)
    small, tiny = (f"{100 * (tests < p).mean():.1f}" for p in (0.05, 0.001))
    print(f"Test of proportional hazards, which hold: p < .05 in {small} % and p < .001 in {tiny} %")
    print(f"of {len(tests)} fits")


if __name__ == "__main__":
    main()

"""What a plan says, given the right means, sds and correlations, against fits of rows drawn at random.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/planning.py --minutes 20 \\
        | tee benchmarks/results/planning.txt

Designs are those of the lottery with the right law: half of them ordinary, half of the wide draw, with 10,000
rows or more. Covariates have any shape; the plan is told means, sds, skewness, kurtosis, shares and
correlations of the rows, the true coefficients and scale, and the share of events or the mean of the
response; of times that are watched to one end, or to three, the lengths of these watches. Fits are of rows
drawn anew, as many as a design has in each. With --hazards Weibull times are fitted by coxph, under Gaussian
noise. A record holds, for each coefficient,
the planned standard error over the median that those fits print, and in how many they find an effect that
80 % are planned to find: tests are of the estimate less what is true, and more or less that effect.

That median has an error of its own, by which alone some of the ratios are far from 1: where standard errors
differ threefold between fits, that of 36 fits is 20 %. It is found by drawing fits anew, and fits are made
until it is 3 %, or there are 200 of them, or they took a while. Coefficients that most fits lose stand apart:
the median of the few that do not is of little use to anyone, and a plan says that they will be lost.
"""

import argparse
import secrets
import time
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lots.designs import Design, draw_design, draw_ordinary
from lots.rows import Sample, sample
from lots.score import model_of
from lottery import WORK, Record, drawn
from provenance import estimator, header
from scipy.special import ndtr

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.models import Coxph
from dpstats.planning import FitPlan
from dpstats.testing import SeededNoise, noise

FEWEST, FITS, SECONDS = 24, 200, 9.0  # fits of a design, and what they may take
LEAST = 10_000  # rows
MOST = 400_000  # numbers of a design, so that many fits take a while, not a day
TABLES, NUMBERS = 24, 900_000  # of rows drawn anew for fits, and numbers in them, about
KNOWN = 0.03  # error of a median, of itself, at which no more fits are made
JUDGED = 0.05  # above it a median says little
SURE = 0.1  # above it a plan says that its own medians say little
DRAWS = 200  # of fits anew, by which it is found


def draw(seed: int, hazards: bool = False) -> Design | None:
    """The design of a seed, unless it is not of those."""
    design = (draw_ordinary if seed % 2 else draw_design)(seed)
    if hazards:
        others = (design.model, design.dist) != ("survreg", "weibull") or design.kind == "pure"
        design = replace(design, model="kaplan_meier") if others else design
    size = design.n * (len(design.covariates.columns) + 1)
    right = design.model != "kaplan_meier" and design.law == "right"
    return design if right and design.n >= LEAST and size <= MOST else None


def of_routes(routes: list[str] | None, hazards: bool, seed: int) -> bool:
    """Whether there is a design of a seed, of one of these routes."""
    design = draw(seed, hazards)
    return design is not None and (routes is None or design.route in routes)


def told(design: Design, made: Sample) -> dict[Any, Any]:
    """Means, sds, skewness, shares and correlations of the rows."""
    rows, known = made.rows.iloc[: design.n], {}
    names = [name for name in made.schema if name in rows and name not in ("y", "time", "failed")]
    numbers = [name for name in names if rows[name].dtype.kind in "fi"]
    for name in names:
        column = rows[name]
        if name not in numbers:
            known[name] = column.value_counts(normalize=True).to_dict()
        elif made.schema[name].kind == "flag":
            known[name] = float(column.mean())
        else:
            known[name] = tuple(float(column.agg(each)) for each in ("mean", "std", "skew", "kurt"))
    return known | correlations(rows, numbers, [name for name in names if name not in numbers], made.schema)


def correlations(
    rows: pd.DataFrame, numbers: list[str], categories: list[str], schema: dps.Schema
) -> dict[Any, Any]:
    """Of pairs of numbers and of levels, of different variables, where they are above what chance makes."""
    columns = {name: (name, rows[name]) for name in numbers}
    for name in categories:
        columns |= {f"{name}[T.{each}]": (name, rows[name] == each) for each in schema[name].all[1:]}
    frame = pd.DataFrame({key: values.astype(float) for key, (_, values) in columns.items()})
    corr = frame.corr().fillna(0.0).to_numpy()
    keys, own = list(columns), [name for name, _ in columns.values()]
    return {
        (keys[i], keys[j]): float(corr[i, j])
        for i in range(len(keys))
        for j in range(i)
        if own[i] != own[j] and abs(corr[i, j]) > 0.02
    }


def planned(design: Design, made: Sample, model: Any, n: int) -> FitPlan:
    names, truth = model.design.names, made.truth
    if isinstance(model, Coxph):
        truth = -truth[1:] / design.level
    law: dict[str, Any] = {"coef": dict(zip(names, map(float, truth), strict=False))}
    known = told(design, made)
    if design.model in ("logit", "poisson", "gamma"):
        del law["coef"]["Intercept"]
        mean = float(made.rows["y"].iloc[: design.n].mean())
        law, known = (
            (law | {"events": mean}, known) if design.model == "logit" else (law, known | {"y": mean})
        )
    if design.model == "survreg":
        failed = made.fields["event"][: design.n]
        law |= {"scale": design.level, "events": float(failed.mean())}
        if design.censoring in ("end", "lumps") and not failed.all():
            ends = made.fields["log_time"][: design.n][failed == 0]
            law["watches"] = np.minimum(np.exp(np.unique(ends)), made.schema["time"].bounds[1])
            if not isinstance(model, Coxph):
                del law["events"]  # which follows
    elif design.model == "ols":
        law["scale"] = 1.0
    elif design.model == "gamma":
        law["scale"] = design.level**-0.5
    return dps.plan(model, design.budget, n, covariates=known, **law)


def one(hazards: bool, seed: int) -> Record:
    """The record of a design."""
    design = draw(seed, hazards)
    if design is None:
        return {"seed": seed, "skipped": True}
    try:
        return design.described() | ({"route": "coxph gaussian"} if hazards else {}) | scored(design, hazards)
    except SpecificationError as refusal:
        return design.described() | {"refused": str(refusal)}


def scored(design: Design, hazards: bool = False) -> Record:
    tables = int(np.clip(NUMBERS // (design.n * (len(design.covariates.columns) + 1)), 2, TABLES))
    several = replace(design, n=design.n * tables)
    made = sample(several)
    parts = [made.rows.iloc[i * design.n : (i + 1) * design.n].reset_index(drop=True) for i in range(tables)]
    models = [
        dps.coxph(made.formula, part, made.schema) if hazards else model_of(design, replace(made, rows=part))
        for part in parts
    ]
    began = time.process_time()
    ahead = planned(several, made, models[0], design.n).table()
    seconds = time.process_time() - began
    errors, finds, began = [], [], time.process_time()
    truth, effect = ahead["coef"].to_numpy(), ahead["found_80"].to_numpy()
    while len(errors) < FITS and time.process_time() - began < SECONDS:
        with noise(SeededNoise(len(errors))):
            fit = models[len(errors) % tables].fit(design.budget)
        errors.append(fit.bse.to_numpy())
        low, high = fit.conf_int().to_numpy().T
        finds += [(low - truth + side * effect > 0) | (high - truth + side * effect < 0) for side in (-1, 1)]
        if len(errors) % FEWEST == 0 and not np.any(medians(np.array(errors))[1] > KNOWN):
            break
    known = np.isfinite(errors)
    realised, judge = medians(np.array(errors))
    return {
        "ratio": (ahead["std_error"].to_numpy() / realised).tolist(),
        "judge": judge.tolist(),
        "unsure": ahead["unsure"].tolist(),
        "lost": ahead["not_estimable"].tolist(),
        "lost fits": (1 - known.mean(axis=0)).tolist(),
        "found": np.where(np.isfinite(effect), np.mean(finds, axis=0), np.nan).tolist(),
        "fits": len(errors),
        "planning": round(seconds, 2),
    }


def medians(errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the fits that estimate a coefficient, and their errors, of themselves."""
    finite = np.where(np.isfinite(errors), errors, np.nan)
    anew = np.random.default_rng(0).integers(len(errors), size=(DRAWS, len(errors)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a coefficient that no fit estimates
        drawn = np.nanmedian(finite[anew], axis=1)
        return np.nanmedian(finite, axis=0), np.nanstd(np.log(drawn), axis=0)


def report(records: list[Record]) -> str:
    """Tables of ratios and of power."""
    done = [record for record in records if "ratio" in record]
    refused = sum("refused" in record for record in records)
    fits = sorted(record["fits"] for record in done)
    lines = [f"{len(done)} designs, {refused} refused; {fits[0]} to {fits[-1]} fits of each", ""]
    rows = []
    for route in sorted({record["route"] for record in done}) + ["all"]:
        some = [record for record in done if route in (record["route"], "all")]
        rows.append({"route": route, "designs": len(some)} | ratios(some))
    rows.append({"route": "median known to 5 %", "designs": len(done)} | ratios(done, judged=JUDGED))
    rows.append({"route": "plan known to 10 %", "designs": len(done)} | ratios(done, sure=True))
    rows.append({"route": "plan says it is not", "designs": len(done)} | ratios(done, sure=False))
    rows.append({"route": "lost by most fits", "designs": len(done)} | ratios(done, lost=True))
    lines += ["Planned over realised standard errors, of coefficients that most fits and the plan estimate:"]
    lines += [pd.DataFrame(rows).to_string(index=False), ""]
    error = joined(done, "judge")
    error = np.maximum(error[np.isfinite(joined(done, "ratio")) & (joined(done, "lost fits") < 0.5)], 1e-9)
    lines.append("Medians of fits err so much that of plans without any error so many would be within 15 %:")
    lines += [f"{np.mean(ndtr(np.log(1.15) / error) - ndtr(np.log(0.85) / error)):.3f}", ""]
    lines.append("Share of fits that find an effect which 80 % are planned to find, by fits:")
    lines += [pd.DataFrame(powers(done)).to_string(index=False), ""]
    lost = np.concatenate([record["lost"] for record in done])
    found = np.concatenate([record["lost fits"] for record in done])
    lines.append(f"Not estimable: planned {lost.mean():.3f}, realised {found.mean():.3f} of coefficients;")
    lines.append(f"most fits and the plan agree on {np.mean((lost > 0.5) == (found > 0.5)):.3f} of them")
    seconds = np.array([record["planning"] for record in done])
    lines.append(f"Processor seconds of a plan: median {np.median(seconds):.1f}, longest {seconds.max():.1f}")
    return "\n".join(lines)


def joined(some: list[Record], name: str) -> np.ndarray:
    """Of all coefficients."""
    return np.concatenate([np.array(record[name], dtype=float) for record in some])


def ratios(
    some: list[Record], judged: float = np.inf, lost: bool = False, sure: bool | None = None
) -> dict[str, Any]:
    """Shares of ratios near 1, of those to medians that are known so well, or of plans that say they are."""
    ratio, kept = joined(some, "ratio"), (joined(some, "lost fits") >= 0.5) == lost
    if sure is not None:
        kept &= (joined(some, "unsure") <= SURE) == sure
    with np.errstate(invalid="ignore"):
        ratio = ratio[kept & np.isfinite(ratio) & (ratio > 0) & ~(joined(some, "judge") > judged)]
    if not len(ratio):
        return {"coefficients": 0}
    return {
        "coefficients": len(ratio),
        "5 %": round(float(np.quantile(ratio, 0.05)), 3),
        "median": round(float(np.median(ratio)), 3),
        "95 %": round(float(np.quantile(ratio, 0.95)), 3),
        "within 10 %": round(float(np.mean(np.abs(ratio - 1) < 0.1)), 3),
        "within 15 %": round(float(np.mean(np.abs(ratio - 1) < 0.15)), 3),
    }


def powers(done: list[Record]) -> list[dict[str, Any]]:
    """Of coefficients, by how well medians of the fits are known, as shares over the same fits are."""
    found, judge = joined(done, "found"), joined(done, "judge")
    rows = []
    for name, some in (("median known to 5 %", judge <= JUDGED), ("others", judge > JUDGED)):
        shares = found[some & np.isfinite(found)]
        middle = {f"{q:.0%}": round(float(np.quantile(shares, q)), 3) for q in (0.1, 0.5, 0.9) if len(shares)}
        rows.append({"": name, "coefficients": len(shares), "mean": round(float(shares.mean()), 3)} | middle)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, help="of a run; default: a fresh one")
    parser.add_argument("--designs", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--routes", nargs="+", help='such as "logit gaussian"; default: all')
    parser.add_argument("--hazards", action="store_true", help="fit Weibull times by coxph")
    options = parser.parse_args()
    run = secrets.randbelow(10**9) if options.seed is None else options.seed
    path = options.work / f"planning-{estimator()}-{run}{'-hazards' * options.hazards}.jsonl"
    wished = partial(of_routes, options.routes, options.hazards)
    records = drawn(
        path, run, partial(one, options.hazards), options.designs, options.minutes, options.jobs, wished
    )
    print(header(work=options.work))
    print(f"seed {run}\n")
    print(report(records))


if __name__ == "__main__":
    main()

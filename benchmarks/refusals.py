"""Which fits of random designs are refused before they spend, and which of these would have been of use.

    PYTHONPATH=. python benchmarks/refusals.py --refused 1 --minutes 10 \\
        | tee benchmarks/results/refusals_fresh.txt

draws designs anew and fits, all the same, those that the rule refuses and those that it nearly does: how
many of all designs were of use and refused, and how many of the fits that lost all are found. A fit is of use
if it has an interval for any coefficient. Most such intervals of generalised linear models rest on what is
assumed before any data, so that the table says, too, of how many fits one tells a sign.

    PYTHONPATH=. python benchmarks/refusals.py --named 1 --minutes 10

fits ordinary designs with the two budgets that a refusal names, the least that is not refused and `well`
times that, and says how many coefficients are lost, and how many fits lose none. With --hazards Weibull times
are fitted by coxph.
"""

import argparse
import time
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from lots.designs import draw_design, draw_ordinary
from lots.rows import sample
from lots.score import model_of
from lottery import seeds
from provenance import header

import dpstats as dps
from dpstats.budget import scaled
from dpstats.errors import FormulaError
from dpstats.models import skeleton as least
from dpstats.testing import SeededNoise, noise

LEAST = {
    "ols gaussian": least.LINEAR,
    "ols pure": least.PURE,
    "logit gaussian": least.YES_NO,
    "poisson gaussian": least.SCORES,
    "gamma gaussian": least.SCORES,
    "logit pure": least.PURE_YES_NO,
    "survreg gaussian": least.TIMES,
    "survreg pure": least.PURE_TIMES,
}
HAZARDS = "coxph gaussian"  # which is not drawn as such
UNIT = 3  # rows of a unit of privacy, where there is one
NEAR = 5.0  # times what is refused: above that hardly any fit loses all
MOST_COEFFICIENTS = 100  # that a design of the lottery has
LARGEST, FITS = 8000, 4  # rows of designs that are fitted with what is named, and fits of each


def refused(design: Any, k: int, near: float = 1.0) -> bool:
    """Whether the rule refuses a design of k coefficients, or one that many times above it."""
    size = design.epsilon if design.kind == "pure" else design.budget.mu
    wanted = near * LEAST[design.route].needed(k) * (UNIT if design.extra == "units" else 1)
    return bool(design.n * size < wanted)


def of_use(run: int, minutes: float) -> pd.DataFrame:
    """Of designs drawn anew, half of them ordinary: refused or not, and if so, whether a fit was of use."""
    found, until = [], time.monotonic() + 60 * minutes
    for seed in seeds(run):
        if time.monotonic() > until:
            break
        design = (draw_ordinary if seed % 2 else draw_design)(seed)
        if design.route not in LEAST:
            continue
        record = {"route": design.route} | dict.fromkeys(("refused", "usable", "sign", "lost"), False)
        if refused(
            design, MOST_COEFFICIENTS, NEAR
        ):  # else it is not refused, however many coefficients it has
            made = sample(design)
            model = model_of(design, made)
            k = len(model.design.names) + (design.model == "survreg")
            if refused(design, k, NEAR):
                with noise(SeededNoise(seed)), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    fit = model.fit(design.budget)
                known = np.isfinite(np.diag(fit.record.cov))
                signs = np.abs(fit.params.to_numpy()) > 1.96 * fit.bse.to_numpy()
                record |= {
                    "refused": refused(design, k),
                    "usable": bool(known.any()),
                    "lost": not known.any(),
                }
                record["sign"] = bool(signs[: len(model.design.names)].any())
        found.append(record)
    return pd.DataFrame(found)


def with_what_is_named(run: int, minutes: float, hazards: bool) -> pd.DataFrame:
    """Of ordinary designs drawn anew: lost coefficients, and fits that lose none, at the budgets named."""
    found, until = [], time.monotonic() + 60 * minutes
    for seed in seeds(run):
        if time.monotonic() > until:
            break
        design = draw_ordinary(seed)
        right = design.kind != "pure" and (design.dist, design.law) == ("weibull", "right")
        if design.route not in LEAST or design.n > LARGEST or (hazards and not right):
            continue
        with suppress(FormulaError):  # of a design that no fit may have
            made = sample(design)
            if hazards:
                model = dps.coxph(made.formula, made.rows, made.schema)
                found += named(design, model, HAZARDS, least.HAZARDS)
            else:
                found += named(design, model_of(design, made), design.route, LEAST[design.route])
    return pd.DataFrame(found)


def named(design: Any, model: Any, route: str, limit: least.Least) -> list[dict[str, Any]]:
    """Fits of one design with what its refusal would name."""
    found, k = [], len(model.design.names) + (route.startswith("survreg"))
    wanted = limit.needed(k) * (UNIT if design.extra == "units" else 1) / design.n
    for name, times in (("least", 1.0), ("well", limit.well)):
        budget = least._enough(scaled(design.budget, 1e-4), times * wanted)
        for each in range(FITS):
            with noise(SeededNoise(each)), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                lost = ~np.isfinite(np.diag(model.fit(budget).record.cov))
            found.append({"route": route, "named": name, "lost": lost.mean(), "all": not lost.any()})
    return found


def told(route: str, some: pd.DataFrame) -> dict[str, Any]:
    """Of designs drawn anew."""
    wrong = some["usable"] & some["refused"]
    return {
        "route": route,
        "designs": len(some),
        "refused": some["refused"].sum(),
        "usable and refused": wrong.sum(),
        "share": round(wrong.mean(), 4),
        "a sign and refused": (some["sign"] & some["refused"]).sum(),
        "all lost": some["lost"].sum(),
        "of these refused": round(some.loc[some["lost"], "refused"].mean(), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--refused", type=int, metavar="SEED")
    parser.add_argument("--named", type=int, metavar="SEED")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--hazards", action="store_true", help="with --named: fit Weibull times by coxph")
    options = parser.parse_args()
    print(header())
    if options.named is not None:
        found = with_what_is_named(options.named, options.minutes, options.hazards)
        print(found.groupby(["route", "named"])[["lost", "all"]].agg(["mean", "size"]).round(3).to_string())
        return
    found = of_use(options.refused, options.minutes)
    groups = [*found.groupby("route"), ("all", found)]
    print(pd.DataFrame([told(route, some) for route, some in groups]).to_string(index=False))


if __name__ == "__main__":
    main()

"""Which fits of random designs are refused before they spend, and which of these would have been of use.

    PYTHONPATH=. python benchmarks/refusals.py --refused 1 --minutes 10 \\
        | tee benchmarks/results/refusals_fresh.txt

draws designs anew and fits, all the same, those that the rule refuses and those that it nearly does: how
many of all designs were of use and refused, and how many of the fits that lost all are found. A fit is of use
if it has an interval for any coefficient. Most such intervals of generalised linear models rest on what is
assumed before any data, so that the table says, too, of how many fits one tells a sign.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from lots.designs import draw_design, draw_ordinary
from lots.rows import sample
from lots.score import model_of
from lottery import seeds
from provenance import header

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
UNIT = 3  # rows of a unit of privacy, where there is one
NEAR = 5.0  # times what is refused: above that hardly any fit loses all
MOST_COEFFICIENTS = 100  # that a design of the lottery has


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
    parser.add_argument("--refused", type=int, metavar="SEED", required=True)
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    found = of_use(options.refused, options.minutes)
    print(header())
    groups = [*found.groupby("route"), ("all", found)]
    print(pd.DataFrame([told(route, some) for route, some in groups]).to_string(index=False))


if __name__ == "__main__":
    main()

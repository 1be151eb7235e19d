"""``dpstats demo``: a fit of data that the package brings."""

import argparse
import textwrap

import pandas as pd

from dpstats import datasets
from dpstats.budget import approx
from dpstats.cli.files import JSON, new_file, save
from dpstats.cli.predict import predicted
from dpstats.models import survreg

DEMO = "Surv(time, status) ~ temp + rsc + rer + psc"
DEMO_DRIVES = {
    "at 25 C without warnings": {"temp": 25, "rsc": 0, "rer": 0, "psc": 0},
    "at 25 C with reallocated sectors": {"temp": 25, "rsc": 1, "rer": 0, "psc": 0},
}

NEXT = """
What to try next
  {:34} {}
  dpstats fit --help                 the same with your own data
  dpstats schema check drives.toml   your own schema, before any budget is spent"""


def run(options: argparse.Namespace) -> None:
    """Fit, print the table and lives, and say what to try next."""
    drives = datasets.load("hdfail")
    model = survreg(DEMO, drives.data, drives.schema, dist="weibull")
    with new_file(options.out, JSON):
        print(textwrap.fill(f"{drives.description} Source: {drives.source}.", 79), end="\n\n")
        fit = model.fit(approx(epsilon=1, delta=1e-6))
    save(fit, options.out)
    print("\nB10 life, by which a tenth has failed, in days of power-on time")
    for words, new in DEMO_DRIVES.items():
        columns = predicted(fit, pd.DataFrame([new]), "quantile", 0.1)
        days, low, high = (float(column[0]) for column in columns.values())
        print(f"  {words:36}{days:8,.0f}  [{low:,.0f}, {high:,.0f}]")
    keep = ("dpstats demo --out demo.fit.json", "keep the fit in a file")
    again = (f"dpstats show {options.out}", "this table again, at no cost")
    print(NEXT.format(*(again if options.out else keep)))

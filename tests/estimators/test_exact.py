"""Without noise and bounds the iteration ends at R's maximum likelihood estimates, on every golden data set.

A budget that makes noise negligible bounds nothing; the iteration gets more steps than a fit has, so that it
ends at the root and not near it. The estimates are R's to 1e-6 standard errors.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpstats import datasets
from dpstats.budget import gdp
from dpstats.curator import Curator
from dpstats.estimators.location_scale import SurvivalProblem, fit_location_scale, make_plan
from dpstats.estimators.row_scale import Box
from dpstats.families import DISTS
from dpstats.formula import Design, build_design
from dpstats.rows import open_rows
from dpstats.testing import NoNoise, noise

pytestmark = pytest.mark.long

GOLDENS = Path(__file__).parents[1] / "goldens"
FITS, TRUNCATED = (
    json.loads((GOLDENS / name).read_text())["fits"] for name in ("survreg.json", "truncated.json")
)
SOME = [fit for fit in FITS if fit["model"] in ("rotterdam_8", "engines_6", "lung", "capacitor")]
UNLIMITED = gdp(1e12)
EARLY, TAIL = 100, 8


def problem(design: Design, dist: str, scale: float | None = None) -> SurvivalProblem:
    """As a model states it: bounds of the covariates and of the response on the model's scale."""
    time = np.asarray(design.response.time_bounds)
    bounds = np.vstack([design.bounds[1:], np.log(time) if DISTS[dist].log else time])
    box, known = Box(*bounds.T, binary=design.binary[1:]), dict(known_sigma=scale, intervals=design.intervals)
    return SurvivalProblem(DISTS[dist].family, DISTS[dist].log, box, design.delayed, **known)


def errors(golden: dict[str, Any], dist: str, formula: str) -> np.ndarray:
    """Distance from R's estimates, in its standard errors."""
    loaded = datasets.load(golden["data"])
    design = build_design(formula, loaded.schema)
    rows = open_rows(loaded.data, loaded.schema, design.variables)
    with noise(NoNoise()):
        curator = Curator(rows, design, UNLIMITED)
        plan = make_plan(UNLIMITED.mu, EARLY, TAIL)
        params = fit_location_scale(curator, problem(design, dist), plan).params
    return np.abs(params - golden["params"]) / np.sqrt(np.diag(golden["cov"]))


def name(golden: dict[str, Any]) -> str:
    return f"{golden['model']}-{golden['dist']}"


@pytest.mark.parametrize("golden", FITS + TRUNCATED, ids=name)
def test_the_iteration_ends_at_the_estimates_of_r(golden: dict[str, Any]) -> None:
    assert errors(golden, golden["dist"], golden["formula"]).max() < 1e-6


@pytest.mark.parametrize("golden", SOME, ids=name)
def test_distributions_of_log_time_are_the_same_models(golden: dict[str, Any]) -> None:
    """sev, logistic and gaussian of log(time), by the formula, against weibull, loglogistic and lognormal."""
    left, _, right = golden["formula"].partition("~")
    time, event = left.removeprefix("Surv(").rstrip(") ").split(",")
    dist = {"weibull": "sev", "loglogistic": "logistic", "lognormal": "gaussian"}[golden["dist"]]
    assert errors(golden, dist, f"Surv(np.log({time}),{event}) ~{right}").max() < 1e-6

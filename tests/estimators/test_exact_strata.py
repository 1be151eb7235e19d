"""Without noise and bounds a scale for each stratum ends at R's estimates with ``strata()``.

As :mod:`tests.estimators.test_exact` has it for one scale.
"""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator import Curator
from dpstats.estimators.location_scale import fit_location_scale, make_plan
from dpstats.models.survreg import _strata
from dpstats.testing import NoNoise, noise
from tests.estimators.test_exact import EARLY, GOLDENS, TAIL, UNLIMITED

FITS = json.loads((GOLDENS / "strata.json").read_text())["fits"]
TWINS = {"weibull": "sev", "loglogistic": "logistic", "lognormal": "gaussian"}


def errors(golden: dict[str, Any], formula: str, dist: str) -> np.ndarray:
    """Distance from R's estimates, in its standard errors."""
    loaded = dps.datasets.load(golden["data"])
    model = dps.survreg(formula, loaded.data, loaded.schema, dist=dist)
    scales = model._scales
    assert scales is not None
    problem = replace(model._problem(scales.design), strata=_strata(scales, model.design, scales.design))
    with noise(NoNoise()):
        curator = Curator(model._rows, scales.design, UNLIMITED)
        plan = make_plan(UNLIMITED.mu, EARLY, TAIL)
        params = fit_location_scale(curator, problem, plan).params
    return np.asarray(np.abs(params - golden["params"]) / np.sqrt(np.diag(golden["cov"])))


@pytest.mark.parametrize(
    "golden",
    [pytest.param(each, marks=() if each["data"] == "lung" else pytest.mark.long) for each in FITS],
    ids=lambda golden: f"{golden['data']}-{golden['dist']}",
)
def test_the_iteration_ends_at_the_estimates_of_r(golden: dict[str, Any]) -> None:
    assert errors(golden, golden["formula"], golden["dist"]).max() < 1e-6


@pytest.mark.long
@pytest.mark.parametrize("golden", FITS[:4], ids=lambda golden: f"{golden['data']}-{golden['dist']}")
def test_distributions_of_log_time_are_the_same_models(golden: dict[str, Any]) -> None:
    left, _, right = golden["formula"].partition("~")
    time, event = left.removeprefix("Surv(").rstrip(") ").split(",")
    twin = errors(golden, f"Surv(np.log({time}),{event}) ~{right}", TWINS[golden["dist"]])
    assert twin.max() < 1e-6

"""Fits of a known scale end at R's, without noise and with more steps than a fit has."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats import datasets
from dpstats.curator import Curator
from dpstats.estimators.engine.plan import Plan, Stage, alike
from dpstats.estimators.location_scale import SurvivalEstimate, SurvivalProblem, fit_location_scale
from dpstats.estimators.location_scale.plan import make_plan
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import NoNoise, noise
from tests.estimators.test_exact import problem

FITS = json.loads((Path(__file__).parents[1] / "goldens" / "known_scale.json").read_text())["fits"]
UNLIMITED, EARLY, TAIL = 1e12, 100, 8
STEPS = dict(columns=1, matrix=1, location=2, sizes=59, early=59, spread=1, last=1, check=1, bend=1, far=1)


def fitted(golden: dict[str, Any], pure: bool) -> SurvivalEstimate:
    loaded = datasets.load(golden["data"])
    design = build_design(golden["formula"], loaded.schema)
    rows = open_rows(loaded.data, loaded.schema, design.variables)
    asked: SurvivalProblem = problem(design, golden["dist"], golden["scale"])
    with noise(NoNoise()):
        if pure:
            plan = Plan(
                1e9, True, {stage: Stage(count, stage, alike(count)) for stage, count in STEPS.items()}
            )
            return fit_location_scale(Curator(rows, design, dps.pure(UNLIMITED)), asked, plan)
        curator = Curator(rows, design, dps.gdp(UNLIMITED))
        return fit_location_scale(curator, asked, make_plan(UNLIMITED, EARLY, TAIL))


def name(golden: dict[str, Any]) -> str:
    return f"{golden['data']}-{golden['dist']}"


OF_MANY_ROWS = [
    pytest.param(fit, id=name(fit), marks=[pytest.mark.long] * (fit["data"] == "rotterdam")) for fit in FITS
]


@pytest.mark.parametrize("golden", OF_MANY_ROWS)
def test_the_iteration_ends_at_the_estimates_of_r(golden: dict[str, Any]) -> None:
    found = fitted(golden, pure=False)
    errors = (found.params[:-1] - golden["params"]) / np.sqrt(np.diag(golden["cov"]))
    assert np.abs(errors).max() < 1e-6
    assert found.params[-1] == pytest.approx(math.log(golden["scale"]), abs=1e-12)
    assert not found.cov[-1].any()


@pytest.mark.parametrize("golden", [fit for fit in FITS if fit["data"] != "rotterdam"], ids=name)
def test_it_does_so_under_pure_epsilon(golden: dict[str, Any]) -> None:
    found = fitted(golden, pure=True)
    errors = (found.params[:-1] - golden["params"]) / np.sqrt(np.diag(golden["cov"]))
    assert np.abs(errors).max() < 1e-6
    assert not found.cov[-1].any()

"""Regression of hazards: R's coxph without noise, honest intervals with it, refusals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.testing import NoNoise, noise

FITS = json.loads((Path(__file__).parents[1] / "goldens" / "coxph.json").read_text())["fits"]
NAMED = {each["name"]: each for each in FITS}


def schema_of(golden: dict[str, Any]) -> dps.Schema:
    """Bounds beyond all values; of the time its largest, so that nothing is censored there."""
    declared: dict[str, Any] = {}
    for name, values in golden["columns"].items():
        if name in ("death", "status", "event"):
            declared[name] = dps.event(failed=1, censored=0)
        elif name == "size":
            declared[name] = dps.levels("<=20", "20-50", ">50")
        elif name in ("month", "time", "stop"):
            declared[name] = dps.bounded(0, max(values))
        elif name != "id":
            declared[name] = dps.bounded(min(0.0, *values), max(values))
    schema = dps.Schema(declared)
    return schema.unit("id", max_rows=2) if "id" in golden["columns"] else schema


@pytest.mark.parametrize("name", list(NAMED))
def test_without_noise_on_a_fine_grid_it_is_r_s_coxph(name: str) -> None:
    golden = NAMED[name]
    data = pd.DataFrame(golden["columns"])
    time = next(each for each in ("month", "time", "stop") if each in data)
    times = np.arange(0.5, data[time].max() + 0.1, 0.5)  # of all times, and of what lies between them
    with noise(NoNoise()):
        model = dps.coxph(golden["formula"], data, schema_of(golden), times=times)
        fit = model.fit(dps.gdp(1e7))
    assert list(fit.names) == golden["names"]
    errors = (fit.params.to_numpy() - golden["params"]) / golden["se"]
    assert np.abs(errors).max() < 0.01
    # the information of the failures stands for the expected one, which is the same where the model holds
    np.testing.assert_allclose(fit.bse, golden["se"], rtol=0.15)
    curve = fit.survival(golden["at"], times=golden["times"]).frame["estimate"]
    assert np.abs((curve - golden["survival"]) / golden["survival_se"]).max() < 0.1

"""Fits that released how many rows have weight say so where many have none."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise

N = 20_000
SCHEMA = dps.Schema(x=dps.bounded(0, 100), y=dps.bounded(-50, 150), sick=dps.flag(), visits=dps.count(50))
MODELS = {
    "ols": lambda rows, **more: dps.ols("y ~ x", rows, SCHEMA, **more),
    "logit": lambda rows, **more: dps.logit("sick ~ x", rows, SCHEMA, **more),
    "poisson": lambda rows, **more: dps.glm("visits ~ x", rows, SCHEMA, family="poisson", **more),
}


def table(missing: float) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    x = rng.normal(40, 10, N)
    sick = (rng.uniform(size=N) < 1 / (1 + np.exp((40 - x) / 10))).astype(int)
    rows = pd.DataFrame({"x": x, "y": x / 2 + rng.normal(0, 8, N), "sick": sick, "visits": rng.poisson(3, N)})
    rows.loc[rng.uniform(size=N) < missing, "x"] = np.nan
    return rows


def flags(model: Any) -> dict[str, str]:
    with noise(SeededNoise(3)):
        return dict(model.fit(dps.approx(1, 1e-6)).flags)


@pytest.mark.parametrize("name", MODELS)
def test_many_rows_without_weight_are_told(name: str) -> None:
    said = flags(MODELS[name](table(0.17)))["unusable"]
    assert 15 <= int(said.split()[1]) <= 19 and "dps.check(data, schema, formula)" in said


@pytest.mark.parametrize("name", MODELS)
def test_none_or_few_are_not(name: str) -> None:
    assert "unusable" not in flags(MODELS[name](table(0.0)))
    assert "unusable" not in flags(MODELS[name](table(0.03)))


def test_rows_outside_a_subset_are_meant() -> None:
    assert "unusable" not in flags(MODELS["ols"](table(0.0), subset="x > 45"))

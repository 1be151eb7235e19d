"""A fit that was paid for is given, however few rows can be used, and says that nothing is known."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise

SCHEMA = dps.Schema(
    x=dps.bounded(-100, 100),
    rare=dps.flag(),
    amount=dps.bounded(1e-3, 50),
    claims=dps.count(50),
    bought=dps.flag(),
)
RESPONSES = {"gamma": "amount", "poisson": "claims", "negativebinomial": "claims", "binomial": "bought"}


def rows(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "x": rng.normal(0, 3, n),
            "rare": rng.integers(0, 2, n),
            "amount": rng.gamma(2, 1, n),
            "claims": rng.poisson(2, n),
            "bought": rng.integers(0, 2, n),
        }
    )


@pytest.mark.parametrize("family", RESPONSES)
@pytest.mark.parametrize(("n", "missing"), [(3000, True), (1, False)])
def test_a_fit_of_hardly_a_row_is_given(family: str, n: int, missing: bool) -> None:
    data = rows(n)
    if missing:
        data["x"] = np.nan
    model = dps.glm(f"{RESPONSES[family]} ~ x*rare", data, SCHEMA, family)
    for seed in range(3):
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.gdp(100 if missing else 1), force=True)
        assert not np.isfinite(fit.bse).any() and str(fit.summary())


@pytest.mark.parametrize("seed", range(6))
def test_a_hinge_that_begins_where_no_row_is_has_no_coefficient(seed: int) -> None:
    data = rows(3000).assign(time=lambda found: found["amount"].clip(0.01))
    schema = dps.Schema({**SCHEMA, "x": dps.bounded(-1000, 1000), "time": dps.bounded(0.01, 50)})
    with noise(SeededNoise(seed)):
        model = dps.coxph("Surv(time) ~ x + I(x**2) + np.maximum(x, 500)", data, schema)
        assert not np.isfinite(model.fit(dps.gdp(20)).bse["np.maximum(x, 500)"])

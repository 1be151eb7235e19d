"""Bounds as people write them: what is declared ten thousand times too wide costs next to nothing."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise

N = 20_000
LINKS = {"logit": lambda eta: 1 / (1 + np.exp(-eta)), "poisson": np.exp}


def fits(model: str, width: float) -> list[dps.Fit]:
    """Of a column of mean 300 and sd 1, whose bounds are so far from it."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=N)
    mean = LINKS[model](0.2 + 0.5 * x)
    y = rng.poisson(mean) if model == "poisson" else (rng.uniform(size=N) < mean).astype(int)
    bounds = (300 - width, 300 + 2 * width)
    schema = dps.Schema(x=dps.bounded(*bounds), y=dps.count(40) if model == "poisson" else dps.flag())
    data = pd.DataFrame({"x": 300 + x, "y": y})
    made = dps.logit("y ~ x", data, schema) if model == "logit" else dps.glm("y ~ x", data, schema, model)
    found = []
    for seed in range(4):
        with noise(SeededNoise(seed)):
            found.append(made.fit(dps.approx(1, 1e-6)))
    return found


@pytest.mark.parametrize("model", ["logit", "poisson"])
def test_wide_bounds_cost_next_to_nothing(model: str) -> None:
    tight, wide = fits(model, 4.0), fits(model, 4e3)
    for fit in wide:
        assert not fit.flags and abs(fit.params["x"] - 0.5) < 5 * fit.bse["x"]
    assert np.median([fit.bse["x"] for fit in wide]) < 1.15 * np.median([fit.bse["x"] for fit in tight])


@pytest.mark.parametrize("model", ["logit", "poisson"])
def test_a_column_that_is_too_narrow_to_be_found_has_no_short_interval(model: str) -> None:
    for fit in fits(model, 1e9):
        low, high = fit.conf_int().loc["x"]
        assert not np.isfinite(low) or low <= 0.5 <= high

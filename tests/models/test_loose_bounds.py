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


def test_a_column_off_its_centre_that_noise_hides_is_never_known() -> None:
    """Its variance is a square less the square of a noisy mean near an end; none of the slopes is told."""
    rng = np.random.default_rng(8)
    x = -93_000 + 540 * rng.normal(size=1300)
    life = np.exp(0.5 - 0.0002 * (x + 93_000) + 0.6 * rng.normal(size=1300))
    rows = {"x": x, "life": np.clip(life, 0.1, 50), "failed": np.ones(1300)}
    schema = dps.Schema(x=dps.bounded(-690_000, -64_000), life=dps.bounded(0.1, 50), failed=dps.event())
    for seed in range(20):
        with noise(SeededNoise(seed)):
            fit = dps.survreg("Surv(life, failed) ~ x", rows, schema, dist="lognormal").fit(dps.gdp(0.08))
        assert fit.flags

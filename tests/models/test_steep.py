"""A yes or no that is nearly decided by a number whose long rows lie on one side."""

import numpy as np
import pytest
from scipy.special import expit, ndtr

import dpstats as dps
from dpstats.testing import SeededNoise, noise

CHANCES = {"logit": expit, "probit": ndtr, "cloglog": lambda eta: -np.expm1(-np.exp(eta))}
SLOPES = {"logit": -21.0, "probit": -12.0, "cloglog": -16.0}
N = 7_000


@pytest.mark.parametrize("link", SLOPES)
def test_slopes_are_not_short_where_hardly_any_row_tells_them(link: str) -> None:
    """Maximum likelihood tells them to a twentieth; nearly all rows are far out, and surely a no."""
    slope, found = SLOPES[link], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = rng.exponential(size=N)
        data = {"x": x, "y": 1.0 * (rng.uniform(size=N) < CHANCES[link](slope * (x - 0.07)))}
        schema = dps.Schema(x=dps.bounded(0, 60), y=dps.flag())
        model = dps.glm("y ~ x", data, schema, family="binomial", link=link)
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(3, 1e-6))
        low, high = fit.conf_int().loc["x"]
        assert abs(slope - fit.params["x"]) < high - low
        found.append(fit.params["x"] / slope)
    assert 0.85 < np.mean(found) < 1.15

"""Columns that measure nearly the same, under pure epsilon: noise makes an eigenvalue that is not there."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise
from tests.luck import most

SCHEMA = dps.Schema(y=dps.bounded(-20, 20), x=dps.bounded(0, 1), z=dps.bounded(0, 1), b=dps.flag())


@pytest.mark.parametrize("fits", [40, pytest.param(120, marks=pytest.mark.long)])
def test_an_eigenvalue_that_noise_may_have_made_is_not_believed(fits: int) -> None:
    """Of columns with a correlation of .999, no interval without a caution is far from the slope."""
    draw, n, far = np.random.default_rng(3), 5000, 0
    x = draw.uniform(0.1, 0.9, n)
    z = x + 0.01 * draw.normal(size=n)
    data = {"x": x, "z": z, "y": 2 + 18 * x - 15 * z + draw.normal(size=n)}
    for seed in range(fits):
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x + z", data, SCHEMA).fit(dps.pure(1))
        error = abs(fit.params["z"] + 15) / fit.bse["z"]
        far += error > 5 and "Caution" not in str(fit.summary())
    assert far == 0


def test_a_penalty_that_outweighs_the_curvature_is_not_taken_off_by_guess() -> None:
    """Of a slope of -50 along a direction that the ridge of the budget rules, no short interval is given."""
    draw, n, sure = np.random.default_rng(9), 20_000, 0
    x = draw.uniform(0.1, 0.9, n)
    z = x + 0.002 * draw.normal(size=n)
    b = (draw.uniform(size=n) < 1 / (1 + np.exp(1 - 52 * x + 50 * z))).astype(int)
    model = dps.logit("b ~ x + z", {"b": b, "x": x, "z": z}, SCHEMA)
    for seed in range(20):
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.pure(10))
        low, high = fit.conf_int().loc["z"]
        sure += not low <= -50 <= high and "Caution" not in str(fit.summary())
    assert sure <= most(20, 0.05)  # 10 of 200 are

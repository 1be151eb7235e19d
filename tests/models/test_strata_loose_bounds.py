"""Slopes of survreg with strata in bounds far wider than rows need: wide or not estimable, never surely 0."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise

N, SLOPES = 4000, {"x": 0.05, "w": -1.2, "x:w": 0.03, "f": 0.3}


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_what_noise_hides_of_slopes_with_strata_has_no_short_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, w, f = rng.normal(50, 10, N), rng.normal(size=N), (rng.random(N) < 0.3) * 1
    u = (x - 50) / 10
    life = np.exp(5 + 0.5 * u + 0.3 * (u * w + f + w) + 0.7 * np.log(rng.exponential(size=N)))
    end = rng.uniform(50, 600, N)
    data = dict(x=x, w=w, f=f, time=np.minimum(life, end), failed=(life <= end) * 1)
    schema = dps.Schema(
        x=dps.bounded(0, 100_000),
        w=dps.bounded(-5000, 5000),
        f=dps.flag(),
        time=dps.bounded(0.01, 600),
        failed=dps.event(),
    )
    with noise(SeededNoise(seed)):
        model = dps.survreg("Surv(time, failed) ~ x*w + f + strata(f)", data, schema)
        fit = model.fit(dps.approx(1, 1e-6))
    for name, slope in SLOPES.items():
        assert abs(fit.params[name] - slope) <= 4 * fit.bse[name], name

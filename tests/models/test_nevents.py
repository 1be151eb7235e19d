"""A survival fit says how many rows fail, with the noise of what it paid for anyway."""

import math

import numpy as np
import pytest
from scipy import stats

import dpstats as dps
from dpstats.budget import Budget
from dpstats.testing import SeededNoise, noise

RUNS = 8


@pytest.mark.parametrize("budget", [dps.approx(1, 1e-6), dps.pure(2)])
def test_its_noise_is_what_it_says(budget: Budget) -> None:
    generator = np.random.default_rng(5)
    life, end = generator.weibull(1.5, 2000) * 900, generator.uniform(100, 1200, 2000)
    data = {"time": np.minimum(life, end), "failed": 1 * (life <= end)}
    schema = dps.Schema(time=dps.bounded(1, 2000), failed=dps.event())
    model, off = dps.survreg("Surv(time, failed) ~ 1", data, schema), list[float]()
    for seed in range(RUNS):
        with noise(SeededNoise(seed)):
            found = model.fit(budget, force=True).nevents
        off.append((found.estimate - data["failed"].sum()) / found.std_error)
    squares, most = float(np.square(off).sum()), RUNS + 4 * math.sqrt(5 * RUNS)  # four sds, of Laplace noise
    assert stats.chi2.ppf(1e-4, RUNS) < squares < most

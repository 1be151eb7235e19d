"""A category of many levels under Gaussian noise: levels are correlated, and their matrix is noisy."""

import numpy as np

import dpstats as dps
from dpstats.families import SEV
from dpstats.testing import SeededNoise, noise

LEVELS, ROWS = 30, 20_000


def test_no_fit_of_many_levels_is_wrong_without_a_caution() -> None:
    """At this budget noise can make the direction of the reference level look well seen."""
    names = [f"l{i:02d}" for i in range(LEVELS)]
    schema = dps.Schema(time=dps.bounded(np.exp(-6), np.exp(6)), maker=dps.levels(*names))
    held, flagged = [], []
    for seed in range(8):
        draw = np.random.default_rng(1000 + seed)
        level, effects = draw.integers(LEVELS, size=ROWS), np.append(0.0, draw.normal(0, 0.5, LEVELS - 1))
        time = np.exp(effects[level] + 0.5 * SEV.quantile(draw.random(ROWS)))
        model = dps.survreg("Surv(time) ~ maker", {"time": time, "maker": np.array(names)[level]}, schema)
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(1, 1e-6))
        lower, upper = fit.conf_int().to_numpy()[0]
        held.append(lower <= 0 <= upper)
        flagged.append("below_budget" in dict(fit.flags))
    assert all(flagged) and np.mean(held) >= 0.85

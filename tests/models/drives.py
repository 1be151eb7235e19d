"""Made-up drives for the tests of models: a frame of any size, its schema, and what the truth is."""

from typing import Any

import numpy as np

import dpstats as dps
from dpstats.families import DISTS

SCHEMA = dps.Schema(
    time=dps.bounded(1, 4000, unit="days"),
    failed=dps.event(),
    temp=dps.bounded(10, 50),
    load=dps.bounded(0, 1),
    maker=dps.levels("A", "B", other=True),
)
FORMULA = "Surv(time, failed) ~ temp + load + maker"
# in the order of the design: Intercept, maker[T.B], maker[T.other], temp, load, Log(scale)
TRUTH = np.array([6.5, 0.3, -0.4, -0.02, 0.5, np.log(0.6)])


def drives(n: int, seed: int = 0, dist: str = "weibull", censored: float = 0.3) -> dict[str, Any]:
    """Columns of n drives whose log time follows the truth, about this share of them still running."""
    generator = np.random.default_rng(seed)
    temp, load = generator.uniform(15, 45, n), generator.beta(2, 2, n)
    maker = generator.choice(np.array(["A", "B", "Z"], dtype=object), n, p=[0.5, 0.3, 0.2])
    exog = np.column_stack([np.ones(n), maker == "B", maker == "Z", temp, load])
    error = DISTS[dist].family.quantile(generator.uniform(size=n))
    log_time = exog @ TRUTH[:-1] + np.exp(TRUTH[-1]) * error
    limit = np.inf
    if censored:
        limit = np.quantile(log_time, 1 - censored) + generator.normal(0, 0.3, n)
    return {
        "time": np.exp(np.minimum(log_time, limit)),
        "failed": (log_time <= limit).astype(float),
        "temp": temp,
        "load": load,
        "maker": maker,
    }

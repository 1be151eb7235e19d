"""The check of the error law tells a wrong one and is silent at the right one."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise

SCHEMA = dps.Schema(x=dps.bounded(-4, 4), t=dps.bounded(-6, 6), e=dps.event())


def frame(seed: int, law: str) -> pd.DataFrame:
    """10,000 rows, 30% of them censored at random."""
    generator = np.random.default_rng(seed)
    n = 10_000
    x = generator.normal(size=n).clip(-4, 4)
    errors = np.log(generator.exponential(size=n)) if law == "sev" else generator.normal(size=n)
    failure = 0.7 * x + 0.5 * errors
    censoring = generator.normal(0.7, 1.0, size=n)
    return pd.DataFrame({"x": x, "t": np.minimum(failure, censoring), "e": (failure <= censoring) * 1})


@pytest.mark.parametrize("law", ["sev", "normal"])
@pytest.mark.parametrize("dist", ["sev", "gaussian"])
def test_only_the_wrong_law_is_doubted(law: str, dist: str) -> None:
    doubted = []
    for seed in range(6):
        model = dps.survreg("Surv(t, e) ~ x", frame(seed, law), SCHEMA, dist=dist)
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(1, 1e-6))
        doubted.append("law" in dict(fit.flags))
    # a sound law is doubted once in a thousand fits at most, and the wrong one was in every fit tried
    assert sum(doubted) == (0 if (law == "sev") == (dist == "sev") else 6)

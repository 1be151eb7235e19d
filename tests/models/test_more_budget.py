"""A larger budget does not make a worse line, however much of the response it explains."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import NoNoise, noise

N, NUMBERS = 4_000, [f"z{i}" for i in range(6)]
BUDGETS = 0.5, 1.5, 2, 3
SCHEMA = dps.Schema(
    y=dps.bounded(-20, 20),
    bar=dps.bounded(-20, 400),
    bench=dps.levels("a", "b", "c"),
    **{name: dps.bounded(-20, 20) for name in NUMBERS},
)


@pytest.mark.parametrize("explained", [0.5, 0.94, 0.996, 0.9999])
@pytest.mark.parametrize("right", ["bar + bench", "bar * bench", " + ".join(NUMBERS)])
def test_more_budget_makes_no_standard_error_longer(right: str, explained: float) -> None:
    """From some budget on rows that noise hides were taken for residuals ten times those that pilots left."""
    rng = np.random.default_rng(6)
    data = {name: rng.normal(size=N) for name in NUMBERS}
    data |= {"bar": rng.uniform(0, 250, N), "bench": rng.choice(["a", "b", "c"], N)}
    line = sum(data[name] for name in NUMBERS) if "z0" in right else 0.016 * data["bar"]
    data["y"] = line + np.std(line) * np.sqrt(1 / explained - 1) * rng.normal(size=N)
    sizes = []
    for epsilon in BUDGETS:
        with noise(NoNoise()):
            fit = dps.ols(f"y ~ {right}", data, SCHEMA).fit(dps.approx(epsilon, 1e-6))
        assert np.isfinite(fit.sigma.estimate)
        sizes.append(np.mean(np.log(fit.bse)))
    assert np.all(np.diff(sizes) < 0)

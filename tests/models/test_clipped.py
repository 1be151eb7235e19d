"""A linear model of a response that nearly always has one value says that it describes the bulk."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise

N = 20_000
LAWS = {
    "normal": lambda rng: rng.normal(size=N),
    "exponential": lambda rng: rng.exponential(size=N),
    "lognormal": lambda rng: np.exp(rng.normal(size=N)),
    "t of 3": lambda rng: rng.standard_t(3, size=N),
    "a fifth yes": lambda rng: (rng.random(N) < 0.2).astype(float),
}


def codes(y: np.ndarray, seed: int, bounds: tuple[float, float], epsilon: float) -> list[str]:
    x = np.random.default_rng([seed, 1]).uniform(-1, 1, N)
    schema = dps.Schema(x=dps.bounded(-1, 1), y=dps.bounded(*bounds))
    with noise(SeededNoise(seed)):
        fit = dps.ols("y ~ x", {"x": x, "y": y}, schema).fit(dps.approx(epsilon, 1e-6))
    return [code for code, _ in fit.flags]


def test_a_rare_yes_is_said_in_most_fits() -> None:
    """Where the first stage takes the spread for next to nothing, the variance is hidden with it."""
    said = 0
    for seed in range(5):
        rare = (np.random.default_rng(seed).random(N) < 0.02).astype(float)
        said += sum("clipped" in codes(rare, seed, (0, 1), epsilon) for epsilon in (0.5, 1.0))
    assert said >= 8


@pytest.mark.parametrize("law", LAWS)
def test_other_laws_are_not(law: str) -> None:
    for seed in range(5):
        y = LAWS[law](np.random.default_rng(seed))
        assert "clipped" not in codes(y, seed, (-50, 50), 1.0)

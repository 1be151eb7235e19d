"""What the mean of weights and that of their squares say, against weights themselves."""

import numpy as np
import pytest

from dpstats.estimators.newton.located import PriorWeights

DRAWS = {
    "alike": np.full(1000, 0.2),
    "none": np.ones(1000),
    "a few of 1": np.where(np.arange(1000) < 10, 1.0, 0.02),
    "even": (np.arange(1000) + 0.5) / 1000,
    "far": np.exp(np.random.default_rng(1).normal(-3, 0.7, 1000)).clip(0, 1),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_fourth_powers_are_no_more_than_two_means_allow(name: str) -> None:
    """And just as much where all weights below 1 are alike."""
    q = DRAWS[name]
    weights = PriorWeights.of(np.array([q.mean(), np.mean(q**2)]), 1e-9)
    assert weights.own == pytest.approx(np.sum(q**2) / q.sum())
    true = np.mean(q**4) / np.mean(q**2) ** 2
    assert true <= weights.uneven * (1 + 1e-6)
    assert name in ("even", "far") or weights.uneven == pytest.approx(true, rel=1e-5)


@pytest.mark.parametrize("seen", [(-0.1, 0.5), (0.3, -0.1), (1.2, 1.3), (0.4, 0.7), (0.4, 0.1)])
def test_noise_makes_no_weights_that_there_cannot_be(seen: tuple[float, float]) -> None:
    found = PriorWeights.of(np.array(seen), 0.05)
    assert 0.05 <= found.mean <= found.own * (1 + 1e-9) <= 1 + 1e-9
    assert found.uneven >= 1 - 1e-9

"""Labels that are told weakly leave the minimum on the straight part of the loss; intervals say so."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise

SCHEMA = dps.Schema(x=dps.bounded(-4, 4), y=dps.flag())


def fitted(seed, slope, budget, **options):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=10_000).clip(-4, 4)
    y = 1.0 * (rng.uniform(size=len(x)) < 1 / (1 + np.exp(-slope * x)))
    with noise(SeededNoise(seed)):
        return dps.svm("y ~ x", {"x": x, "y": y}, SCHEMA, **options).fit(budget)


@pytest.mark.parametrize("budget", [dps.zcdp(0.5), dps.pure(3)], ids=str)
def test_no_sign_is_told_of_labels_that_are_a_fair_coin(budget):
    """By symmetry both coefficients are 0; intervals were up to 14 half-lengths away, without a caution."""
    fits = [fitted(seed, 0.0, budget) for seed in range(12)]
    low, high = np.array([fit.conf_int().to_numpy()[0] for fit in fits]).T
    assert np.all((low < 0) & (high > 0))
    assert any("weak" in dict(fit.flags) for fit in fits)


def test_clear_effects_and_losses_without_a_straight_part_have_no_caution():
    assert not fitted(1, 1.5, dps.zcdp(0.5)).flags
    assert not fitted(1, 0.0, dps.zcdp(0.5), h=1.0).flags

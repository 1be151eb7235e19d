"""T5, a slice: a sampled lower bound on epsilon, end to end through the curator, stays below the claim.

The pair attains the sensitivity of the event matrix. Its outputs are projected on the direction in which the
pair differs, an event is chosen on one half of the runs, and its probabilities are bounded on the other half
(Clopper-Pearson, both at once with probability 1 - 1e-5). The same audit must see noise that was halved.
"""

import math

import numpy as np
import pytest
from scipy import stats

from dpstats.budget import approx
from dpstats.curator import Curator
from dpstats.curator.mechanisms import SecureNoise
from tests.made import MadeDesign, MadeRows

CLAIM = approx(epsilon=2, delta=0.05)
RUNS = 6000
MISS = 1e-5
MIDDLE = math.log(10)
LENGTH = math.sqrt(17)
PUBLIC = dict(
    center=[0.0], scale=[1.0], y_center=MIDDLE, y_scale=MIDDLE / 4, log=True, radius=LENGTH, limit=LENGTH
)
# rows (1, x, y) of length sqrt(17), orthogonal: (1, 0, 4) and (1, x, y) with 1 + 4 y = 0, x^2 = 16 - 1/16
PAIR = [(0.0, 4.0), (math.sqrt(16 - 1 / 16), -0.25)]


class HalvedNoise(SecureNoise):
    def gaussian(self, value, sensitivity, mu):
        return super().gaussian(value, sensitivity / 2, mu)


def outputs(row, noise):
    x, y = row
    columns = {"x": np.array([[x]]), "time": np.array([math.exp(MIDDLE * (1 + y / 4))]), "event": np.ones(1)}
    rows, design = MadeRows(columns), MadeDesign(1, bound=4.0)
    released = []
    for _ in range(RUNS):
        curator = Curator(rows, design, CLAIM, noise)
        released.append(curator.release("event_matrix", CLAIM.mu, **PUBLIC).values[0])
    return np.array(released)


def direction():
    """Difference of the exact matrices of the pair."""
    first, second = (np.outer([1.0, *row], [1.0, *row]) for row in PAIR)
    return first - second


def lower_bound(noise):
    """Epsilon that the outputs refute, at the claimed delta."""
    samples = [outputs(row, noise) for row in PAIR]
    first, second = ((sample * direction()).sum(axis=(1, 2)) for sample in samples)
    half = RUNS // 2
    cuts = np.quantile(np.concatenate([first[:half], second[:half]]), np.linspace(0.02, 0.98, 97))
    chosen = max(cuts, key=lambda cut: bound(first[:half] > cut, second[:half] > cut))
    return bound(first[half:] > chosen, second[half:] > chosen)


def bound(events, others):
    at_least = stats.beta.ppf(MISS / 2, events.sum(), (~events).sum() + 1) if events.any() else 0.0
    at_most = stats.beta.isf(MISS / 2, others.sum() + 1, (~others).sum()) if not others.all() else 1.0
    return math.log(max(at_least - CLAIM.delta, 1e-9) / at_most)


def test_the_pair_attains_the_sensitivity():
    assert np.linalg.norm(direction()) == pytest.approx(math.sqrt(2) * LENGTH**2)


def test_no_more_epsilon_is_spent_than_claimed():
    assert 0.7 < lower_bound(None) <= CLAIM.epsilon


def test_halved_noise_is_caught():
    assert lower_bound(HalvedNoise()) > CLAIM.epsilon

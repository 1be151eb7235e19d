"""T5, a slice: a sampled lower bound on epsilon, end to end through the curator, stays below the claim.

The pair attains the sensitivity of the event matrix. Its outputs are projected on the direction in which the
pair differs, and the probabilities of an event that was fixed before are bounded (Clopper-Pearson, both at
once with probability 1 - 1e-6). The same audit must see noise that was halved.
"""

import math

import numpy as np
import pytest
from scipy import stats

from dpstats.budget import approx
from dpstats.curator.mechanisms import SecureNoise
from tests.made import MadeDesign, MadeRows, under

CLAIM = approx(epsilon=2, delta=0.05)
RUNS = 2000
MISS = 1e-6
CUT = 0.8  # of the projection, in declared sds from the middle between the pair
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
        curator = under(noise, rows, design, CLAIM)
        released.append(curator.release("event_matrix", CLAIM.mu, **PUBLIC).values[0])
    return np.array(released)


def direction():
    """Difference of the exact matrices of the pair."""
    first, second = (np.outer([1.0, *row], [1.0, *row]) for row in PAIR)
    return first - second


def lower_bound(noise):
    """Epsilon that the outputs refute, at the claimed delta."""
    size, exact = np.linalg.norm(direction()), [np.outer([1.0, *row], [1.0, *row]) for row in PAIR]
    middle = sum((matrix * direction()).sum() for matrix in exact) / 2
    cut = middle + CUT * size * size / CLAIM.mu
    counts = [((outputs(row, noise) * direction()).sum(axis=(1, 2)) > cut).sum() for row in PAIR]
    return float(bound(*counts))


def bound(events, others):
    at_least = stats.beta.ppf(MISS / 2, events, RUNS - events + 1)
    at_most = stats.beta.isf(MISS / 2, others + 1, RUNS - others)
    return np.log(np.maximum(at_least - CLAIM.delta, 1e-9) / at_most)


def test_the_pair_attains_the_sensitivity():
    assert np.linalg.norm(direction()) == pytest.approx(math.sqrt(2) * LENGTH**2)


def test_no_more_epsilon_is_spent_than_claimed():
    """Fails by chance less often than once in 10^7 runs, by the last test."""
    assert 0.6 < lower_bound(None) <= CLAIM.epsilon


def test_halved_noise_is_caught():
    """Fails by chance less often than once in 10^7 runs, by the last test."""
    assert lower_bound(HalvedNoise()) > CLAIM.epsilon


def test_the_audits_hardly_ever_fail_by_chance():
    """The projection is normal, of sd 1 / mu or half of that in units of the distance of the pair."""
    counts = np.arange(1, RUNS)
    bounds = bound(counts[:, None], counts)
    for wrong, mu in (((bounds <= 0.6) | (bounds > 2), CLAIM.mu), (bounds <= 2, 2 * CLAIM.mu)):
        cut = CUT * mu / CLAIM.mu
        first, second = (stats.binom.pmf(counts, RUNS, stats.norm.sf(cut - s * mu / 2)) for s in (1, -1))
        assert first @ wrong @ second < 1e-7

"""T6: the noise is Gaussian, of the declared sd, independent between coordinates, on its lattice.

The noise cannot be seeded. Every test rejects a sound sampler with probability 1e-6 at most, and the same
test must reject noise whose scale is 5% off. That it does not has a chance below 1e-9: with so many draws the
distance of Kolmogorov and Smirnov is 7 of its sds beyond what is accepted, the others more.
"""

import math

import numpy as np
import opendp.measurements as measurements
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpstats.curator.mechanisms import SecureNoise, _cells, _space, gaussian

ALPHA = 1e-6
DRAWS = 200_000
SENSITIVITY, MU = 3.0, 0.4
SD = SENSITIVITY / MU


@pytest.fixture(scope="module")
def draws():
    """Noise around zero, in units of its declared sd; shape (DRAWS / 10, 10)."""
    vectors = [gaussian(np.zeros(100), SENSITIVITY, MU) for _ in range(DRAWS // 100)]
    return np.concatenate(vectors).reshape(-1, 10) / SD


def accepts_marginal(sample):
    return stats.kstest(sample.ravel(), "norm").pvalue > ALPHA


def accepts_variance(sample):
    tail = stats.chi2.cdf((sample**2).sum(), sample.size)
    return min(tail, 1 - tail) > ALPHA / 2


def accepts_norms(sample):
    """The squared norm of a vector of 10 is chi-square: fails if coordinates share noise."""
    return stats.kstest((sample**2).sum(axis=1), "chi2", args=(10,)).pvalue > ALPHA


def accepts_directions(sample):
    """Sample correlations of independent coordinates; Bonferroni over the 45 pairs."""
    correlations = np.corrcoef(sample.T)[np.triu_indices(10, 1)]
    bound = stats.norm.isf(ALPHA / 90) / math.sqrt(len(sample))
    return np.abs(correlations).max() < bound


@pytest.mark.parametrize("accepts", [accepts_marginal, accepts_variance, accepts_norms, accepts_directions])
def test_the_law_of_the_noise(accepts, draws):
    assert accepts(draws)


@pytest.mark.parametrize("accepts", [accepts_marginal, accepts_variance, accepts_norms])
@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_five_percent_would_be_seen(accepts, factor, draws):
    assert not accepts(draws * factor)


def test_shared_noise_would_be_seen(draws):
    pair = draws.copy()
    pair[:, 1] = pair[:, 0]
    assert not accepts_directions(pair)
    assert not accepts_norms(np.repeat(draws[:, :1], 10, axis=1))


def test_all_outputs_are_multiples_of_the_lattice():
    """Whatever the value: the support of the output must not tell values apart."""
    step = 2.0 ** (math.floor(math.log2(min(SD, SENSITIVITY))) - 40)
    for value in (0.0, 1 / 3, math.pi * 1e-9, 12345.678):
        noisy = gaussian(np.full(50, value), SENSITIVITY, MU)
        assert (noisy / step == np.rint(noisy / step)).all()


@settings(deadline=None, max_examples=60)
@given(st.floats(-12, 12), st.floats(-8, 6), st.sampled_from([1, 3, 100, 1000]))
def test_the_proved_map_never_exceeds_the_cost(log_sensitivity, log_mu, size):
    """Of neighbours on the lattice, whose entries are rounded one up and the other down."""
    sensitivity, mu = 10.0**log_sensitivity, 10.0**log_mu
    lattice, scale = _cells(size, sensitivity, mu)
    drawn = measurements.make_gaussian(*_space(), scale=scale)
    cost = drawn.map(math.ldexp(sensitivity, -lattice) + math.sqrt(size))
    assert (1 - 1e-12) * mu * mu / 2 <= cost <= mu * mu / 2
    assert 2.0**40 <= scale < 2.0**50  # of 64 bits, the noise has 13 sds of room and more


def test_neighbours_on_the_lattice_are_no_farther_apart_than_is_charged():
    """Attained, but for the last cell: one entry just above the middle of a cell, the other just below."""
    size, sensitivity, mu = 64, 1.0, 0.4
    lattice, scale = _cells(size, sensitivity, mu)
    cell = 2.0**lattice
    one, other = np.full(size, 0.5001 * cell), np.full(size, 0.4999 * cell - sensitivity / math.sqrt(size))
    apart = np.rint(one / cell) - np.rint(other / cell)
    charged = scale * mu
    assert charged - 1 < float(np.linalg.norm(apart)) <= charged


def test_values_that_are_not_protected_are_refused():
    for value in ([math.nan], [math.inf], [[0.0]], []):
        with pytest.raises(ValueError, match="vector of finite numbers") as caught:
            gaussian(np.array(value), 1.0, 1.0)
        assert caught.value.__context__ is None
    for sensitivity, mu in ((0.0, 1.0), (-1.0, 1.0), (math.inf, 1.0), (1.0, 0.0), (1.0, math.nan)):
        with pytest.raises(ValueError, match="positive and finite"):
            gaussian(np.zeros(1), sensitivity, mu)


def test_secure_noise_is_this_noise():
    noisy = SecureNoise().gaussian(np.zeros(2000), 1.0, 0.01)
    assert np.std(noisy) == pytest.approx(100, rel=0.15)

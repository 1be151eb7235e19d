"""T6 and T7 for noise of pure epsilon: its exact law, what rounding may do, and what floats may not tell.

The noise cannot be seeded. Every test of a law rejects a sound sampler with probability below 1e-6; noise
whose scale is 5% off, or whose direction is another law's, must be rejected by the same test.

The norm of a law, in units of its axes over epsilon, is gamma(m) whatever the norm is.
"""

import functools
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpstats.curator import knorm
from dpstats.curator.knorm import draw, pure
from dpstats.curator.law import Law
from dpstats.curator.mechanisms import SecureNoise
from dpstats.testing import SeededNoise
from tests.privacy.test_floating_point import fine_bits

pytestmark = pytest.mark.long

ALPHA = 1e-6
NORMS = {"laplace": 1, "linf": math.inf, "spherical": 2}
LAWS = ["cylinder", "laplace", "linf", "spherical"]
SIZES = {"cylinder": 4, "laplace": 8, "linf": 8, "spherical": 4}
COUNT = 44_000  # numbers; see test_five_percent_would_be_seen
SMALL = [("cylinder", 2), ("cylinder", 3), *((law, m) for law in sorted(NORMS) for m in (1, 2))]
AXIS, EPSILON = 0.3, 0.7


def norms(sample, law):
    if law == "cylinder":
        return np.maximum(np.linalg.norm(sample[:, :-1], axis=1), np.abs(sample[:, -1]))
    return np.linalg.norm(sample, NORMS[law], axis=1)


def units(law, m):
    """Axes as unequal as the law allows."""
    equal = {"spherical": m, "cylinder": m - 1}.get(law, 1)
    return AXIS * np.append(np.ones(equal), np.arange(2, m - equal + 2))


def sampled(source, law, count):
    """Noise in units of axes over epsilon, shape (count, m)."""
    m = SIZES[law]
    axes = units(law, m)
    draws = np.array([source.pure(np.zeros(m), law, axes, EPSILON) for _ in range(count)])
    return draws * EPSILON / axes


@pytest.fixture(scope="module")
def draws():
    return {law: sampled(SecureNoise(), law, COUNT // SIZES[law]) for law in LAWS}


def accepts_norms(sample, law):
    return stats.kstest(norms(sample, law), "gamma", args=(sample.shape[1],)).pvalue > ALPHA


def accepts_scale(sample, law):
    """The norms add up to a gamma of all coordinates."""
    tail = stats.gamma.cdf(norms(sample, law).sum(), sample.size)
    return min(tail, 1 - tail) > ALPHA / 2


def accepts_directions(sample, law):
    """Uniform on the unit sphere of the norm and independent of it; Bonferroni over the tests."""
    m, size = sample.shape[1], norms(sample, law)
    direction = sample / size[:, None]
    if law == "laplace":  # sizes uniform on the simplex
        tests = [stats.kstest(np.abs(column), "beta", args=(1, m - 1)).pvalue for column in direction.T]
    elif law == "linf":  # a face, and a place on it
        tests = [stats.chisquare(np.bincount(np.abs(direction).argmax(axis=1), minlength=m)).pvalue]
        inside = direction[np.abs(direction) < 1]
        tests += [stats.kstest(inside, "uniform", args=(-1, 2)).pvalue]
    elif law == "cylinder":  # the ends or the side, a place on the side, and an angle
        side = np.abs(direction[:, -1]) < 1
        tests = [stats.binomtest(int((~side).sum()), len(side), 1 / m).pvalue]
        tests += [stats.kstest(direction[side, -1], "uniform", args=(-1, 2)).pvalue]
        angles = direction[:, :-1] / np.linalg.norm(direction[:, :-1], axis=1)[:, None]
        tests += [stats.kstest((a + 1) / 2, "beta", args=(m / 2 - 1, m / 2 - 1)).pvalue for a in angles.T]
    else:
        half = (m - 1) / 2
        tests = [stats.kstest((column + 1) / 2, "beta", args=(half, half)).pvalue for column in direction.T]
    positive = (sample > 0).sum(axis=0)
    tests += [stats.binomtest(int(count), len(sample)).pvalue for count in positive]
    tests += [stats.spearmanr(size, np.abs(column)).pvalue for column in direction.T]
    pairs = stats.spearmanr(np.sign(sample)).pvalue[np.triu_indices(m, 1)]
    return min([*tests, *pairs]) > ALPHA / (3 * m + m * m / 2)


ACCEPTS = [accepts_norms, accepts_scale, accepts_directions]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("accepts", ACCEPTS)
def test_the_law_of_the_noise(accepts, law, draws):
    assert accepts(draws[law], law)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_five_percent_would_be_seen(law, factor, draws):
    """The sum is off by 10.5 of its relative sd, COUNT^(-1/2), of which 4.9 are accepted: the rest is not
    made up for by chance but once in 10^7 runs.
    """
    assert not accepts_scale(draws[law] * factor, law)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("other", LAWS)
def test_another_direction_would_be_seen(law, other, draws):
    if law != other:
        m = min(SIZES[law], SIZES[other])
        assert not accepts_directions(draws[other][:, -m:], law)


@pytest.mark.parametrize("law", LAWS)
def test_declared_sds_are_those_of_the_law(law, draws):
    """Six standard errors: the kurtosis of a coordinate is at most 6 in all four laws."""
    m, count = draws[law].shape[1], len(draws[law])
    declared = Law(law, np.ones(m), 1.0).sds
    assert draws[law].std(axis=0) == pytest.approx(declared, rel=6 * math.sqrt((6 + 2) / 4 / count))


@pytest.mark.parametrize("law", LAWS)
def test_seeded_noise_has_the_same_law(law):
    sample = sampled(SeededNoise(1), law, 40_000 // SIZES[law])
    assert all(accepts(sample, law) for accepts in ACCEPTS)


def log_weights(law, points, rate):
    """log P(z) of integer vectors, up to a constant: -rate |z|, or for balls what `_in_balls` says."""
    if law in NORMS and law != "spherical":
        return -float(rate) * norms(points, law)
    k, longest = points.shape[1] - (law == "cylinder"), int(norms(points, law).max()) + 2
    x = np.arange(-40 * longest, 40 * longest + 1)
    size = np.arange(1.0, longest + 60 / float(rate))
    theta = np.array([np.exp(-(x**2) * k / 2 / s**2).sum() for s in size])
    terms = np.exp(-float(rate) * size) * (np.sqrt(2 * np.pi / k) * size / theta) ** k
    sums = np.cumsum(terms[::-1])[::-1]
    return np.log(sums[np.maximum(np.ceil(norms(points, law) - 1e-9).astype(int), 1) - 1])


def exact_law(law, m, rate, reach):
    """Integer vectors with |z_j| <= reach, and their probabilities among all integer vectors."""
    points = np.array(list(product(range(-reach, reach + 1), repeat=m)))
    weights = np.exp(log_weights(law, points, rate))
    return points, weights / weights.sum()


@pytest.mark.parametrize(("law", "m"), SMALL)
def test_small_integers_have_their_exact_probabilities(law, m, monkeypatch):
    """Coarse enough that every integer counts."""
    monkeypatch.setattr(knorm, "_LEAST", 1)
    rate, count, reach = Fraction(3, 5), 4000, 60 if m < 3 else 45
    points, chances = exact_law(law, m, rate, reach)
    drawn = np.array([draw(law, m, rate) for _ in range(count)])
    cells = np.ravel_multi_index((drawn + reach).T, (2 * reach + 1,) * m)
    seen, expected = np.bincount(cells, minlength=len(points)), count * chances
    common = expected >= 10
    seen = np.append(seen[common], seen[~common].sum())
    expected = np.append(expected[common], expected[~common].sum())
    assert len(seen) > 10
    assert stats.chisquare(seen, expected).pvalue > ALPHA


def law_of_the_sampler(law, m, rate, points):
    """Unnormalised log probability of integer vectors by the steps that `draw` takes."""
    if law == "laplace":
        return np.sum(stats.dlaplace.logpmf(points, rate), axis=1)
    inside = from_size(m, {"linf": 0, "spherical": m, "cylinder": m - 1}[law], rate)
    return np.log(inside[np.ceil(norms(points, law) - 1e-9).astype(int)])


@functools.cache
def from_size(m, ball, rate):
    """Of a point in the cube, ball or cylinder of each size, and in no smaller one."""
    size = np.arange(300)
    weights = stats.nbinom.pmf(size, m + 1, -math.expm1(-rate))
    for i in range(1, m + 1):
        weights *= (size if i <= ball else size + 0.5) / (size + i)
    weights /= (2.0 * size + 1) ** (m - ball)
    if ball:
        weights[: LEAST + 1] = 0.0
        x = np.arange(-2000, 2001)
        theta = np.array([np.exp(-(x**2) * ball / 2 / s**2).sum() for s in size[LEAST + 1 :]])
        weights[LEAST + 1 :] /= theta**ball
    return np.cumsum(weights[::-1])[::-1]


LEAST = 8


@pytest.mark.parametrize(("law", "m"), [case for case in SMALL if case[1] < 3])
def test_exact_probabilities_of_neighbours_are_within_epsilon(law, m):
    """All pairs of integer vectors at most `distance` apart; the largest loss is epsilon, and no more."""
    distance, epsilon, reach = 5, 0.8, 15
    points = np.array(list(product(range(-reach, reach + 1), repeat=m)))
    shifts = points[norms(points, law) <= distance]
    losses = [
        law_of_the_sampler(law, m, epsilon / distance, points)
        - law_of_the_sampler(law, m, epsilon / distance, points - shift)
        for shift in shifts
    ]
    assert np.abs(losses).max() == pytest.approx(epsilon, rel=1e-9)


finite = st.floats(-1e6, 1e6)


@settings(deadline=None, max_examples=150)
@given(st.data(), st.sampled_from(LAWS), st.integers(2, 5), st.sampled_from([1e-3, 0.5, 1.0, 7.3, 400.0]))
def test_rounding_is_paid_for(data, law, m, epsilon):
    """Neighbours at distance 1, in exact arithmetic: their integers times the rate stay within epsilon."""
    vectors = st.lists(finite, min_size=m, max_size=m)
    units = data.draw(st.lists(st.floats(1e-9, 1e9), min_size=m, max_size=m))
    units = {"spherical": units[:1] * m, "cylinder": units[:1] * (m - 1) + units[-1:]}.get(law, units)
    value, shift = np.array(data.draw(vectors)), np.array(data.draw(vectors)) + 1e-3
    step = shift * units / norms(shift[None], law)
    other = value + step * data.draw(st.sampled_from([1.0, 1 - 1e-9, 2.0**-40, 1.5 * 2.0**-41]))
    between = [(Fraction(b) - Fraction(a)) / Fraction(u) for a, b, u in zip(value, other, units, strict=True)]
    scale = 2 ** (40 + max(0, math.frexp(epsilon)[1]))
    integers = [knorm._integers(vector, np.array(units), scale) for vector in (value, other)]
    apart = [b - a for a, b in zip(*integers, strict=True)]
    largest = scale + knorm._rounding(law, m)
    if square(between, law) <= 1:
        assert square(apart, law) <= largest**2
    assert square(apart, law) > 0 or square(between, law) < Fraction(1, 2**40)


def square(vector, law):
    """Square of the norm, exact."""
    sizes = [abs(x) for x in vector]
    if law == "cylinder":
        return max(sum(x * x for x in sizes[:-1]), sizes[-1] ** 2)
    return sum(x * x for x in sizes) if law == "spherical" else {"laplace": sum, "linf": max}[law](sizes) ** 2


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 700.0])
def test_the_noise_is_drawn_at_the_rate_that_pays_for_rounding(epsilon, monkeypatch):
    asked = []

    def no_noise(law, m, rate):
        asked.append((law, m, rate))
        return [0] * m

    monkeypatch.setattr(knorm, "draw", no_noise)
    for law in LAWS:
        assert pure(np.full(3, 0.25), law, np.ones(3), epsilon).tolist() == [0.25] * 3
    for (_, m, rate), c in zip(asked, (2, 3, 1, 2), strict=True):
        scale = Fraction(epsilon) / rate - c
        assert m == 3 and scale == 2 ** (scale.numerator.bit_length() - 1)
        assert min(scale, scale / Fraction(epsilon)) >= 2**40


@pytest.mark.parametrize("law", LAWS)
def test_the_precision_attack_fails(law):
    m = 400 if law in ("laplace", "linf") else 12
    for answer in (0.0, 1.0):
        value, axes = np.full(m, answer), np.ones(m)
        epsilon = float(Law(law, axes, 1.0).sds[0])  # noise of sd 1
        draws = np.concatenate([pure(value, law, axes, epsilon) for _ in range(1200 // m)])
        assert (np.abs(draws) < 0.5).sum() > 100 and fine_bits(draws) == 0


def test_the_support_attack_works_on_naive_laplace():
    """Mironov 2012: value plus the logarithm of a uniform float leaves gaps that tell the value."""
    grid = np.arange(1, 2**17) / 2.0**17  # a coarse uniform, for speed
    outputs = 0.0 - np.log(np.random.default_rng(0).choice(grid, 3000))
    told = ~np.isin(outputs, 1.0 - np.log(grid))[(outputs > 1.5) & (outputs < 6)]
    assert told.mean() > 0.4


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("axis", [1.0, 0.3, math.pi * 1e7])
def test_the_support_does_not_depend_on_the_value(law, axis):
    """Every output is a function of one integer, for values on and off the lattice."""
    for value in (0.0, 1 / 3, math.pi * 1e-9, 12345.678, axis * 2.0**-41):
        outputs = pure(np.full(10, value), law, np.full(10, axis), 2.0)
        integers = np.rint(outputs / axis * 2.0**42)
        assert (outputs == axis * (integers * 2.0**-42)).all()

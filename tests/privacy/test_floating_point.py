"""T7: attacks on floating point, each shown to work on naive noise or sums and to fail on ours.

Mironov (2012) and Haney et al. (2022) tell answers apart by the low bits of the output, Casacuberta et al.
(2022) by the rounding of sums. The first succeeds on four libraries
(docs/theory/privacy.md#noise-of-pure-epsilon).
"""

import math

import numpy as np
import pytest

from dpstats.budget import gdp
from dpstats.curator import Curator
from dpstats.curator.lattice import Factor, LatticeSum, Part, slack
from dpstats.curator.mechanisms import gaussian
from dpstats.testing import NoNoise
from tests.made import MadeDesign, MadeRows, made_columns, public_parameters, under, vector

DRAWS = 4000


def fine_bits(outputs):
    """Outputs in (-1/2, 1/2) that are no multiple of 2^-53: impossible if 1 was added to noise in floats."""
    small = outputs[np.abs(outputs) < 0.5]
    return int((small != np.rint(small * 2.0**53) * 2.0**-53).sum())


def test_the_precision_attack_tells_answers_of_naive_noise_apart():
    noise = np.random.default_rng(0).normal(size=DRAWS)
    assert fine_bits(0 + noise) > 300 and fine_bits(1 + noise) == 0


@pytest.mark.parametrize("mu", [0.01, 1.0, 30.0])
def test_the_precision_attack_fails_on_ours(mu):
    answers = [gaussian(np.full(DRAWS, answer), 1.0, mu) for answer in (0.0, 1.0)]
    assert [fine_bits(outputs) for outputs in answers] == [0, 0]


def test_the_support_does_not_depend_on_the_value():
    """Low bits of the value do not survive: values off the lattice give the same residues as values on it."""
    step = 2.0**-40
    for value in (0.0, 2.0**-45, 0.1, 1 / 3):
        outputs = gaussian(np.full(1000, value), 1.0, 1.0)
        assert (np.mod(outputs, step) == 0).all()


def lattice_total(entries, scale):
    lattice = LatticeSum([Part([1.0], [scale])])
    lattice.add([Factor(np.ones((len(entries), 1)), entries[:, None])], np.ones(len(entries), bool))
    return vector(lattice)[0]


def test_sums_that_naive_floats_swallow():
    """[2^53, 1 x 8] sums to 2^53 in floats in this order and to 2^53 + 8 in another; noise hides 2^53."""
    entries = np.array([2.0**53] + [1.0] * 8)
    naive = [float(np.add.accumulate(order)[-1]) for order in (entries, entries[::-1])]
    apart = abs(lattice_total(entries, 2.0**53) - lattice_total(entries[::-1].copy(), 2.0**53))
    allowed = slack([Part([1.0], [2.0**53])], 9)[0]
    assert naive[0] != naive[1] and apart <= allowed < 1e-8 * 2.0**53


def test_repeated_rounding_cannot_push_neighbours_apart():
    """Many entries that each round the same way: one more row moves the sum by no more than its own scale."""
    entries = np.full(8000, 0.1 + 2.0**-22)
    neighbour = entries.copy()
    neighbour[0] = -1.0
    assert abs(lattice_total(entries, 1.0) - lattice_total(neighbour, 1.0)) <= 1.1 + 2.0**-20


@pytest.mark.parametrize("size", [1e-90, 5e-8, 1.0, 2.0**60, 1e90])
def test_huge_and_tiny_scales_keep_their_relative_precision(size):
    entries = np.array([1.0, -0.5, 0.25]) * size
    assert lattice_total(entries, size) == pytest.approx(0.75 * size, rel=1e-12)


@pytest.mark.parametrize("size", [1e-200, 5e-324, 1e200, math.inf])
def test_scales_beyond_floats_are_refused_before_rows_are_read(size):
    public = public_parameters(2)["event_matrix"] | dict(radius=size, limit=size)
    with pytest.raises(ValueError, match="positive"):
        Curator(MadeRows(made_columns(3, 2)), MadeDesign(2), gdp(1)).release("event_matrix", 1.0, **public)


def test_shares_that_overshoot_in_floats_are_paid_for():
    """Ten shares that exceed the total in exact arithmetic fit: each costs a little less than it asks."""
    share = math.nextafter(math.sqrt(0.1), 1)
    spending = under(NoNoise(), MadeRows(made_columns(3, 2)), MadeDesign(2), gdp(1))
    for _ in range(10):
        release = spending.release("event_moments", share, **public_parameters(2)["event_moments"])
        assert release.sd >= release.sensitivity / share

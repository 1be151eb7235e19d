"""Sums are exact integers, whatever the blocks; rows that are not ok weigh nothing."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.curator.blocks import Scratch
from dpstats.curator.lattice import MAX_ROWS, Factor, LatticeSum, Part, slack
from dpstats.curator.law import Sensitivity
from tests.made import MadeDesign
from tests.privacy.totals import Totals

GRID = 2**20
wild = st.floats() | st.sampled_from([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e308, 5e-324])


def total(part, left, right=None, ok=None, block=MAX_ROWS):
    lattice = LatticeSum([part])
    ok = np.ones(len(left), bool) if ok is None else ok
    with np.errstate(all="ignore"):
        for start in range(0, len(left), block):
            rows = slice(start, start + block)
            lattice.add([Factor(left[rows], None if right is None else right[rows])], ok[rows])
    return lattice.vector()


def integers(entries, scale):
    return [round(max(-1, min(1, Fraction(x) / Fraction(scale))) * GRID) for x in entries.tolist()]


@given(st.integers(0, 2**32), st.integers(1, 40), st.sampled_from([1.0, 0.25, 8.0]))
def test_a_sum_is_the_sum_of_rounded_integers(seed, n, scale):
    entries = np.random.default_rng(seed).normal(size=(n, 2)) * scale
    left, right = integers(entries[:, 0], scale), integers(entries[:, 1], scale)
    expected = Fraction(sum(a * b for a, b in zip(left, right, strict=True)), GRID**2) * Fraction(scale) ** 2
    assert total(Part([scale], [scale]), entries[:, :1], entries[:, 1:])[0] == float(expected)


def test_many_full_blocks_do_not_overflow_a_limb():
    """Blocks whose sum is 2^53 each: 2000 of them exceed 2^63, which one int64 could not hold."""
    lattice, ones, ok = LatticeSum([Part([1.0])]), np.ones((MAX_ROWS, 1)), np.ones(MAX_ROWS, bool)
    for _ in range(2000):
        lattice.add([Factor(ones)], ok)
    assert lattice.vector()[0] == 2000 * MAX_ROWS


def test_negative_sums_cross_the_limbs():
    ones = np.ones((MAX_ROWS, 1))
    left, right = np.vstack([ones, ones, -ones[:3]]), np.vstack([-ones, ones, ones[:3]])
    assert total(Part([1.0], [1.0]), left, right)[0] == -3


@given(st.integers(0, 2**32), st.integers(1, 64))
def test_order_and_blocks_change_no_bit(seed, block):
    generator = np.random.default_rng(seed)
    entries = generator.normal(size=(100, 3)) * 10.0 ** generator.integers(-8, 1, (100, 3))
    part, order = Part(np.array([1.0, 2.0, 0.5])), generator.permutation(100)
    expected = total(part, entries)
    assert (total(part, entries[order], block=block) == expected).all()
    assert (total(part, np.asfortranarray(entries)) == expected).all()


@given(st.lists(st.tuples(wild, wild), min_size=1, max_size=6), st.data())
def test_rows_with_nan_and_rows_not_ok_add_zero(rows, data):
    entries = np.array(rows)
    ok = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    kept = ok & ~np.isnan(entries).any(axis=1)
    expected = total(Part([1.0, 1.0]), np.clip(entries[kept], -1, 1)) if kept.any() else np.zeros(3)
    assert (total(Part([1.0, 1.0]), entries, ok=ok) == expected).all()


def test_a_nan_in_one_part_switches_the_row_off_in_every_part():
    lattice, ok = LatticeSum([Part([1.0]), Part([1.0])]), np.ones(2, bool)
    lattice.add([Factor(np.array([[1.0], [1.0]])), Factor(np.array([[math.nan], [1.0]]))], ok)
    assert lattice.vector().tolist() == [1.0, 1.0]


@given(st.integers(0, 2**31), st.integers(0, 40))
def test_columns_that_are_numbered_are_counted_as_ones_would_be_summed(seed, n):
    rng = np.random.default_rng(seed)
    cells, left, ok = rng.integers(0, 5, n), rng.random((n, 2)) < 0.7, rng.random(n) < 0.8
    part = Part(np.ones(2), np.ones(5))
    ones = (cells[:, None] == np.arange(5)).astype(float)
    assert (total(part, left, cells, ok=ok) == total(part, left.astype(float), ones, ok=ok)).all()
    beside_nan = LatticeSum([part, Part([1.0])])
    column = np.where(rng.random((n, 1)) < 0.2, np.nan, 1.0)
    beside_nan.add([Factor(left, cells), Factor(column)], ok)
    known = ok & np.isfinite(column[:, 0])
    assert (beside_nan.vector()[:10] == total(part, left, cells, ok=known)).all()


def test_no_number_of_a_column_leads_beyond_the_last():
    """A fault of a statistic there must not let a row count where it has no sensitivity, or raise."""
    part, left = Part([1.0], np.ones(3)), np.ones((4, 1), bool)
    assert total(part, left, np.array([-7, 0, 2, 99])).tolist() == [2, 0, 2]
    for wrong in (np.ones(4), np.ones(4, bool)):
        with pytest.raises(ValueError, match="numbered by integers"):
            total(part, left, wrong)
    with pytest.raises(ValueError, match="numbered by integers"):
        total(Part([2.0], np.ones(3)), left.astype(float), np.zeros(4, int))


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_entries_of_bool_are_counted_as_numbers_would_be_summed(seed, n):
    generator = np.random.default_rng(seed)
    left, right, ok = (generator.random((n, width)) < 0.4 for width in (2, 3, 1))
    part = Part(np.ones(2), np.ones(3))
    counted = total(part, left, right, ok=ok[:, 0])
    assert (counted == total(part, left.astype(float), right.astype(float), ok=ok[:, 0])).all()
    assert (counted == ((left & ok).astype(int).T @ right).ravel()).all()


@given(st.integers(0, 2**32))
def test_coordinates_of_a_symmetric_part_have_its_frobenius_norm(seed):
    part, matrix = Part(np.ones(4)), np.random.default_rng(seed).normal(size=(4, 4))
    matrix = matrix + matrix.T
    assert np.linalg.norm(part.pack(matrix)) == pytest.approx(np.linalg.norm(matrix))
    assert part.unpack(part.pack(matrix)) == pytest.approx(matrix)
    assert part.size == 10


@given(st.integers(0, 2**32), st.integers(1, 50))
def test_rounding_moves_a_sum_by_less_than_half_the_slack(seed, n):
    """The slack pays for two rows of a pair; each moves by at most half of it, and n rows by n/2 times."""
    generator = np.random.default_rng(seed)
    scale = 10.0 ** generator.uniform(-6, 6, 3)
    left, right = generator.uniform(-1, 1, (n, 3)) * scale, generator.uniform(-1, 1, (n, 2))
    parts = [Part(scale, np.ones(2))]
    error = total(parts[0], left, right) - (left.T @ right).ravel()
    assert (np.abs(error) <= n * slack(parts, n) / 2).all()


def test_rounding_is_unbiased():
    """Truncation towards zero would lose half a grid step a row: 2^-21 on average."""
    entries = np.random.default_rng(1).uniform(0, 1, (200_000, 1))
    difference = total(Part([1.0], [1.0]), entries, np.ones_like(entries))[0] - math.fsum(entries[:, 0])
    assert abs(difference) < 5 * 2**-20 / math.sqrt(12) * math.sqrt(200_000)


def test_conversion_to_floats_is_part_of_the_slack():
    """Sums of very many rows: neighbours may round to floats that lie a whole float apart."""
    n, part, sums = 2**40, Part([1.0]), []
    for total_of in (2**80 + 2**27 + 1, 2**80 + 2**27 - 1):  # between two floats, 2^28 apart
        lattice = LatticeSum([part])
        lattice._high[0][:], lattice._low[0][:] = divmod(total_of, 2**32)
        sums.append(lattice.vector()[0])
    assert sums[0] - sums[1] == 2.0**-12
    assert 2.0**-12 <= slack([part], n)[0]


@pytest.mark.parametrize("scale", [[0.0], [-1.0], [math.nan], [math.inf], [1e-200]])
def test_scales_must_be_usable(scale):
    with pytest.raises(ValueError, match="positive numbers"):
        Part(scale)


def test_shapes_are_checked():
    lattice, ok = LatticeSum([Part([1.0])]), np.ones(2, bool)
    with pytest.raises(ValueError, match="one column for each scale"):
        lattice.add([Factor(np.ones((2, 2)))], ok)
    with pytest.raises(ValueError, match="1 for entries of bool"):
        LatticeSum([Part([2.0])]).add([Factor(np.ones((2, 1), bool))], ok)
    with pytest.raises(ValueError, match="one factor for each part"):
        lattice.add([], ok)
    with pytest.raises(ValueError, match="symmetric"):
        lattice.add([Factor(np.ones((2, 1)), np.ones((2, 1)))], ok)
    with pytest.raises(ValueError, match="8192"):
        lattice.add([Factor(np.ones((MAX_ROWS + 1, 1)))], np.ones(MAX_ROWS + 1, bool))


class Rounded(Totals):
    """Rows of +-h, h a little more than half a step of the grid, which rounding makes a whole one."""

    name = "rounded"
    HALF = 2.0**-21 * (1 + 2.0**-10)

    def __init__(self, design, **public):
        super().__init__(design, **public)
        self.sensitivity = 2 * self.HALF * math.sqrt(len(self._scale))
        self.ranges = np.full(len(self._scale), 2 * self.HALF)
        self.sensitivity_l1 = float(self.ranges.sum())

    def factors(self, block, scratch):
        (factor,) = super().factors(block, scratch)
        return (factor._replace(right=np.clip(factor.right, -self.HALF, self.HALF)),)


@pytest.mark.parametrize("max_rows", [1, 3])
def test_rounding_is_part_of_every_sensitivity(max_rows):
    """Neighbours whose real sums differ by the sensitivity have rounded ones nearly twice as far apart."""
    statistic = Rounded(MadeDesign(4), scale=np.ones(4))
    statistic.sensitivity_head = float(np.linalg.norm(statistic.ranges[:-1]))
    sums = []
    for sign in (1.0, -1.0):
        ones = np.ones(max_rows)
        read = MadeDesign(4).read({"x": np.full((max_rows, 4), sign), "time": ones, "event": ones})
        lattice = LatticeSum(statistic.parts)
        lattice.add(statistic.factors(read, Scratch()), read.ok)
        sums.append(lattice.vector())
    apart, allowed = np.abs(sums[0] - sums[1]), Sensitivity.of(statistic, max_rows, max_rows)
    assert np.linalg.norm(apart) > 1.9 * max_rows * statistic.sensitivity
    assert np.linalg.norm(apart) <= allowed.l2 and apart.sum() <= allowed.l1
    assert (apart <= allowed.ranges).all()
    assert allowed.head is not None and np.linalg.norm(apart[:-1]) <= allowed.head

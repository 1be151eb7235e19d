"""Sums lie within a proved bound of the exact ones, in any blocks; rows that are not ok weigh nothing."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.curator.lattice import MAX_ROWS, Factor, LatticeSum, Part, Total, slack
from dpstats.curator.law import Sensitivity
from tests.made import MadeDesign, vector
from tests.privacy.totals import Totals

PER_ROW = 2.0**-39 + 2.0**-47  # of a sum of products of entries of scale 1
wild = st.floats() | st.sampled_from([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e308, 5e-324])


def total(part, left, right=None, ok=None, block=MAX_ROWS):
    """The sum of rows, whose arrays are left as they are."""
    lattice = LatticeSum([part])
    ok = np.ones(len(left), bool) if ok is None else ok
    with np.errstate(all="ignore"):
        for start in range(0, len(left), block):
            rows = slice(start, start + block)
            factor = Factor(left[rows].copy(), None if right is None else right[rows].copy())
            lattice.add([factor], ok[rows])
    return vector(lattice)


def exact(left, right):
    """The sum of products as a fraction."""
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    return sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))


@given(st.integers(0, 2**32), st.integers(1, 40), st.sampled_from([1.0, 0.25, 8.0, 1e-90, 3e77]))
def test_a_sum_is_that_of_clipped_entries(seed, n, scale):
    entries = np.random.default_rng(seed).normal(size=(n, 2)) * scale
    left, right = np.clip(entries, -scale, scale).T
    found = total(Part([scale], [scale]), entries[:, :1], entries[:, 1:], block=1 + seed % 41)[0]
    assert abs(Fraction(found) - exact(left, right)) <= n * Fraction(PER_ROW) * Fraction(scale) ** 2


@pytest.mark.parametrize(("said", "each"), [(1.5, 1.0), (math.nan, 1.0), (1.0, 1.5)])
def test_entries_are_looked_at_unless_their_statistic_says_that_they_are_within_their_scale(said, each):
    """What it says is believed; the search over pairs of rows holds that it is right."""
    lattice = LatticeSum([Part([1.0])])
    lattice.add([Factor(np.array([[1.5], [-1.5]]), most=np.array([said]))], np.ones(2, bool))
    assert vector(lattice)[0] == 2 * each**2


def block_of(kind, draw, rows):
    """Entries between -1 and 1 whose sums of products are hard for floats."""
    size = 10.0 ** draw.uniform(-16, 0, rows)
    if kind == "wide":
        return draw.choice([-1.0, 1.0], rows) * size
    if kind == "alternating":
        return np.where(np.arange(rows) % 2, 1.0, -1.0) * (1 - size)
    if kind == "cancelling":
        return np.concatenate([size, -size])[draw.permutation(2 * rows)][:rows]
    if kind == "one huge":
        return np.where(np.arange(rows) == draw.integers(rows), 1.0, size * 2.0**-40)
    if kind == "constant":
        return np.full(rows, draw.uniform(0.5, 1))
    return np.sort(draw.uniform(-1, 1, rows))


KINDS = ("wide", "alternating", "cancelling", "one huge", "constant", "sorted")


@settings(max_examples=10, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from(KINDS),
    st.sampled_from(KINDS),
    st.sampled_from([3, 100, MAX_ROWS]),
    st.sampled_from([1, 2, 3, 11, 13, 40]),
)
def test_no_block_is_worse_than_the_bound(seed, one, other, rows, columns):
    """By the BLAS that is there, and all its ways: vectors, small matrices and large ones, symmetric ones."""
    draw = np.random.default_rng(seed)
    left, right = block_of(one, draw, rows), block_of(other, draw, rows)
    both = np.column_stack([left, right] * columns)
    expected = [exact(left, left), exact(left, right), exact(right, right)]
    square = Part(np.ones(2 * columns)).unpack(total(Part(np.ones(2 * columns)), both))
    cross = total(Part(np.ones(columns), [1.0]), np.column_stack([left] * columns), right[:, None])
    product = total(Part(np.ones(columns), np.ones(2 * columns)), np.column_stack([left] * columns), both)
    allowed = rows * Fraction(PER_ROW)
    for i in range(2 * columns):
        for j in range(i, 2 * columns):
            off = Fraction(1.0) if i == j else Fraction(2.0**-50)  # unpack divides by the square root of 2
            error = abs(Fraction(square[i, j]) - expected[i % 2 + j % 2])
            assert error <= allowed + off * rows
    assert max(abs(Fraction(value) - expected[1]) for value in cross) <= allowed
    for i, value in enumerate(product):
        assert abs(Fraction(value) - expected[i % 2]) <= allowed


def test_the_bound_is_attained_within_a_factor():
    """Equal entries, of which each addition loses the same: a thousandth of the bound by any BLAS known.

    A third of it by adding one row after the other, each chosen to lose nearly half of the last bit.
    """
    entries = np.full((MAX_ROWS, 1), 0.95367)
    ones = np.ones_like(entries)
    errors = []
    for value in np.linspace(0.9, 1.0, 40)[:-1]:
        entries[:] = value
        found = total(Part([1.0], [1.0]), entries, ones)[0]
        errors.append(abs(Fraction(found) - MAX_ROWS * Fraction(value)))
    assert max(errors) > MAX_ROWS * Fraction(PER_ROW) / 1000
    losing = losing_rows()
    lost = exact(losing, np.ones(MAX_ROWS)) - Fraction(float(np.add.accumulate(losing)[-1]))
    assert lost > MAX_ROWS * Fraction(PER_ROW) / 4


def losing_rows():
    """A block of rows just below 1 each of which, added to those before it, loses nearly half a last bit."""
    rows, partial = [], 0.0
    for _ in range(MAX_ROWS):
        last = math.ulp(partial)
        rows.append(1 - last / 2 - 2.0**-53 if last > 2.0**-52 else 1.0)
        partial += rows[-1]
    return np.array(rows)


def test_many_full_blocks_do_not_overflow_a_limb():
    """Blocks whose sum is 2^61 cells each: 2000 of them exceed 2^63, which one int64 could not hold."""
    lattice, ones, ok = LatticeSum([Part([1.0])]), np.ones((MAX_ROWS, 1)), np.ones(MAX_ROWS, bool)
    for _ in range(2000):
        lattice.add([Factor(ones)], ok)
    assert vector(lattice)[0] == 2000 * MAX_ROWS


def test_negative_sums_cross_the_limbs():
    ones = np.ones((MAX_ROWS, 1))
    left, right = np.vstack([ones, ones, -ones[:3]]), np.vstack([-ones, ones, ones[:3]])
    assert total(Part([1.0], [1.0]), left, right)[0] == -3


@given(st.integers(0, 2**32), st.integers(1, 64))
def test_order_and_blocks_change_a_sum_within_the_bound(seed, block):
    generator = np.random.default_rng(seed)
    entries = generator.normal(size=(100, 3)) * 10.0 ** generator.integers(-8, 1, (100, 3))
    part, order = Part(np.array([1.0, 2.0, 0.5])), generator.permutation(100)
    expected, allowed = total(part, entries), 2 * 100 * PER_ROW * part.pack(part.units)
    assert (np.abs(total(part, entries[order], block=block) - expected) <= allowed).all()
    assert (np.abs(total(part, np.asfortranarray(entries)) - expected) <= allowed).all()


@given(st.integers(0, 2**32))
def test_the_same_blocks_have_the_same_sum_in_any_order(seed):
    """Blocks are added as integers; and one way of adding the rows of a block comes again."""
    draw = np.random.default_rng(seed)
    blocks, part, ok = draw.normal(size=(7, 50, 3)), Part(np.ones(3)), np.ones(50, bool)
    sums = []
    for order in (np.arange(7), draw.permutation(7)):
        lattice = LatticeSum([part])
        for rows in blocks[order]:
            lattice.add([Factor(np.asfortranarray(rows))], ok)
        sums.append(vector(lattice))
    assert sums[0].tobytes() == sums[1].tobytes()


@given(st.lists(st.tuples(wild, wild), min_size=1, max_size=6), st.data())
def test_rows_with_nan_and_rows_not_ok_add_zero(rows, data):
    entries = np.array(rows)
    ok = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    kept = ok & ~np.isnan(entries).any(axis=1)
    expected = total(Part([1.0, 1.0]), np.clip(entries[kept], -1, 1)) if kept.any() else np.zeros(3)
    found = total(Part([1.0, 1.0]), entries, ok=ok)
    assert (np.abs(found - expected) <= 2 * len(rows) * math.sqrt(2) * PER_ROW).all()
    assert kept.any() or not found.any()


def test_a_row_that_is_switched_off_stays_on_for_the_next_statistic():
    """The flags of a block are kept between passes; a NaN of one statistic says nothing about another."""
    ok, lattice = np.ones(2, bool), LatticeSum([Part([1.0], [1.0])])
    lattice.add([Factor(ok[:, None], np.array([[math.nan], [1.0]]))], ok)
    assert vector(lattice).tolist() == [1.0] and ok.all()


def test_a_nan_in_one_part_switches_the_row_off_in_every_part():
    lattice, ok = LatticeSum([Part([1.0]), Part([1.0])]), np.ones(2, bool)
    lattice.add([Factor(np.array([[1.0], [1.0]])), Factor(np.array([[math.nan], [1.0]]))], ok)
    assert vector(lattice).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("n", [1, 2])
def test_a_nan_beside_a_zero_switches_its_row_off(n):
    """BLAS may take the product of a column and a single zero for nothing."""
    left, right, ok = np.full((n, 2), math.nan), np.zeros((n, 1)), np.ones(n, bool)
    lattice = LatticeSum([Part([1.0, 1.0], [1.0]), Part([1.0], [1.0])])
    lattice.add([Factor(left, right), Factor(np.ones((n, 1)), np.ones((n, 1)))], ok)
    assert (vector(lattice) == 0).all()


class Skipping(LatticeSum):
    """Takes a product with 0 for nothing, whatever the other number is, in any block."""

    def _product(self, part, left, right):
        if right is None:
            return super()._product(part, left, right)
        terms = ((one * other)[(one != 0) & (other != 0)] for one in left for other in right)
        return np.array([np.sum(term) for term in terms]).reshape(len(left), len(right))


def test_a_nan_is_seen_whatever_blas_makes_of_it_and_zero():
    """On either side of a product; and the row is off in the other parts."""
    for wild in (0, 1):
        sides = [np.ones((5, 2)), np.ones((5, 2))]
        sides[wild][2], sides[1 - wild][2] = math.nan, 0.0
        lattice = Skipping([Part([1.0, 1.0], [1.0, 1.0]), Part([1.0])])
        lattice.add([Factor(*sides), Factor(np.ones((5, 1)))], np.ones(5, bool))
        assert vector(lattice).tolist() == [4.0] * 5


@given(st.integers(0, 2**31), st.integers(0, 40))
def test_columns_that_are_numbered_are_counted_as_ones_would_be_summed(seed, n):
    rng = np.random.default_rng(seed)
    cells, left, ok = rng.integers(0, 5, n), rng.random((n, 2)) < 0.7, rng.random(n) < 0.8
    part = Part(np.ones(2), np.ones(5))
    ones = (cells[:, None] == np.arange(5)).astype(float)
    assert (total(part, left, cells, ok=ok) == total(part, left.astype(float), ones, ok=ok)).all()
    beside_nan = LatticeSum([part, Part([1.0])])
    column = np.where(rng.random((n, 1)) < 0.2, np.nan, 1.0)
    known = ok & np.isfinite(column[:, 0])
    beside_nan.add([Factor(left, cells), Factor(column)], ok)
    assert (vector(beside_nan)[:10] == total(part, left, cells, ok=known)).all()


@given(st.integers(0, 2**31), st.integers(0, 40))
def test_weights_in_numbered_columns_are_summed_as_beside_ones(seed, n):
    rng = np.random.default_rng(seed)
    cells, left, ok = rng.integers(0, 5, n), rng.uniform(0, 3, (n, 2)), rng.random(n) < 0.8
    part, ones = Part(np.full(2, 2.0), np.ones(5)), (cells[:, None] == np.arange(5)).astype(float)
    summed = total(part, left.copy(), cells, ok=ok)
    assert summed == pytest.approx(total(part, left.copy(), ones, ok=ok), abs=float(slack([part], n).max()))
    assert summed == pytest.approx(((np.minimum(left, 2) * ok[:, None]).T @ ones).ravel())


def test_no_number_of_a_column_leads_beyond_the_last():
    """A fault of a statistic there must not let a row count where it has no sensitivity, or raise."""
    part, left = Part([1.0], np.ones(3)), np.ones((4, 1), bool)
    assert total(part, left, np.array([-7, 0, 2, 99])).tolist() == [2, 0, 2]
    for wrong in (np.ones(4), np.ones(4, bool)):
        with pytest.raises(ValueError, match="numbered by integers"):
            total(part, left, wrong)
    with pytest.raises(ValueError, match="of scale 1"):
        total(Part([1.0], np.full(3, 2.0)), left, np.zeros(4, int))


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


def test_the_slack_pays_for_all_that_was_proved():
    """Both neighbours' blocks, lattice and conversion over all rows, and the entries of two rows."""
    for n in (1, MAX_ROWS, 10**6, 10**8):
        unit = Fraction(2) ** -53
        gamma = MAX_ROWS * unit / (1 - MAX_ROWS * unit)
        proved = 2 * n * (gamma + Fraction(2) ** -48 + 4 * unit) + 4 * Fraction(2) ** -32
        assert proved <= Fraction(float(slack([Part([1.0])], n)[0])) <= proved * Fraction(1.01)


def test_conversion_to_floats_is_part_of_the_slack():
    """Sums of very many rows: neighbours may round to floats that lie a whole float apart."""
    n, part, sums = 2**37, Part([1.0]), []
    for total_of in (2**84 + 2**31 + 1, 2**84 + 2**31 - 1):  # cells of 2^-47, between two floats, 2^32 apart
        lattice = LatticeSum([part])
        lattice.total.high[:], lattice.total.low[:] = divmod(total_of, 2**32)
        sums.append(vector(lattice)[0])
    assert sums[0] - sums[1] == 2.0**-15 and sums[1] == 2.0**37
    assert 2.0**-15 <= slack([part], n)[0]


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
    with pytest.raises(ValueError, match="16384"):
        lattice.add([Factor(np.ones((MAX_ROWS + 1, 1)))], np.ones(MAX_ROWS + 1, bool))


class Losing(LatticeSum):
    """Adds the products of a block one after the other, which no bound of a sum of floats forbids."""

    def _product(self, part, left, right):
        return np.array([[np.add.accumulate(one * other)[-1] for other in right] for one in left])


class Exact(LatticeSum):
    """Adds them without any error."""

    def _product(self, part, left, right):
        return np.array([[math.fsum((one * other).tolist()) for other in right] for one in left])


@pytest.mark.parametrize("max_rows", [1, 3])
def test_rounding_is_part_of_every_sensitivity(max_rows):
    """Sums of neighbours lie farther apart than the real ones in every norm, by more than for one block."""
    statistic, many = Totals(MadeDesign(4), scale=np.ones(4)), 64
    statistic.sensitivity_head = float(np.linalg.norm(statistic.ranges[:-1]))
    sums, ok = [], np.ones(MAX_ROWS, bool)
    losing = np.repeat(losing_rows()[:, None], 4, axis=1)
    for kind, sign in ((Losing, -1.0), (Exact, 1.0)):
        lattice, replaced = kind(statistic.parts), losing.copy()
        replaced[-max_rows:] = sign
        lattice.add([Factor(ok[:, None].astype(float), replaced)], ok)
        again = kind(statistic.parts)
        again.add([Factor(ok[:, None].astype(float), losing)], ok)
        for _ in range(many - 1):  # as if the second block came again and again
            lattice.total += again.total
        sums.append(vector(lattice))
    apart, n = np.abs(sums[0] - sums[1]), many * MAX_ROWS
    allowed = Sensitivity.of(statistic, n, max_rows)
    one_block = max_rows * (2 + 2 * MAX_ROWS * PER_ROW)
    assert (apart > one_block + 2.0**-29).all() and (apart <= allowed.ranges).all()
    assert max_rows * statistic.sensitivity < np.linalg.norm(apart) <= allowed.l2
    assert max_rows * statistic.sensitivity_l1 < apart.sum() <= allowed.l1
    assert allowed.head is not None and np.linalg.norm(apart[:-1]) <= allowed.head


@pytest.mark.parametrize("max_rows", [1, 3])
def test_rounding_is_part_of_the_sensitivity_of_eigenvalues(max_rows):
    """All entries of a matrix may be off by as much in one direction, which is an eigenvalue of it."""
    parts, n = [Part([1.0, 0.5, 2.0])], 64 * MAX_ROWS
    of_rows = dict(ranges=None, sensitivity_l1=None, sensitivity_head=None)
    statistic = SimpleNamespace(parts=parts, sensitivity=1.5, sensitivity_trace=2.0, **of_rows)
    off = np.abs(np.linalg.eigvalsh(parts[0].unpack(slack(parts, n)))).sum()
    assert off > 1e-6  # more than declared numbers are raised by
    assert max_rows * (2.0 + off) <= Sensitivity.of(statistic, n, max_rows).trace


def test_sums_of_cells_are_rounded_as_pythons_integers_are():
    rng = np.random.default_rng(5)
    high = rng.integers(-(2**52), 2**52, 4000) >> rng.integers(0, 52, 4000)
    low = rng.integers(0, 2**52, 4000) >> rng.integers(0, 52, 4000)
    exact = [float(int(above) * 2**32 + int(below)) for above, below in zip(high, low, strict=True)]
    assert Total(high, low, 1).sums(np.full(4000, -7)).tolist() == [math.ldexp(one, -7) for one in exact]

"""The chokepoint: it charges before it reads, refuses beyond its total, and lets no row out by accident."""

import math
import traceback
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.budget import gdp
from dpstats.curator import Curator, Release
from dpstats.curator.mechanisms import SecureNoise
from dpstats.errors import BudgetError
from dpstats.testing import NoNoise, Recording, Replay, SeededNoise, noise
from tests.made import MadeDesign, MadeRows, made_columns, public_parameters, under

COLUMNS = made_columns(50, 2)
PUBLIC = public_parameters(2)["event_moments"]


def curator(total=1.0, source=None):
    return under(source, MadeRows(COLUMNS), MadeDesign(2), gdp(total))


def test_a_release_says_what_is_public_about_it():
    release = curator().release("event_moments", 0.5, **PUBLIC)
    assert isinstance(release, Release)
    assert (release.name, release.cost, release.n) == ("event_moments", gdp(0.5), 50)
    assert release.adjacency == "replace one row"
    assert release.sensitivity == pytest.approx(math.sqrt(3.56 * 3 + 2.25), rel=1e-4)
    assert release.sd == pytest.approx(release.sensitivity / 0.5, rel=1e-8)
    assert [value.shape for value in release.values] == [(3,), (3,), (1,)]
    assert release.law == "gaussian"
    assert [(sd == release.sd).all() and sd.shape for sd in release.sds] == [(3,), (3,), (1,)]


def test_sensitivity_reads_no_row():
    class NoRows(MadeRows):
        def blocks(self, size=8192):
            raise AssertionError("a row was read")

    watched = Curator(NoRows(COLUMNS), MadeDesign(2), gdp(1))
    assert watched.sensitivity("event_moments", **PUBLIC) == curator().sensitivity("event_moments", **PUBLIC)


def test_what_exceeds_the_total_is_refused_before_a_row_is_read():
    small = curator(1.0)
    small.release("event_moments", 0.8, **PUBLIC)
    with pytest.raises(BudgetError, match="only mu = 0.6 is left"):
        small.release("event_moments", 0.7, **PUBLIC)
    small.release("event_moments", 0.6, **PUBLIC)


MATRIX = public_parameters(2)["event_matrix"]


def test_releases_by_one_pass_are_those_of_one_pass_each():
    """To the bit, under the same noise, and rows are read once."""

    class Counted(MadeRows):
        passes = 0

        def blocks(self, size=8192):
            self.passes += 1
            return super().blocks(size)

    def seeded():
        rows, recording = Counted(COLUMNS), Recording(SeededNoise(1))
        made = under(recording, rows, MadeDesign(2), gdp(2), 7)
        made._blocks._keep = False
        return rows, made, recording

    (rows, together, recording), (alone, each, other) = seeded(), seeded()
    found = together.release_together(("event_moments", 0.5, PUBLIC), ("event_matrix", 0.9, MATRIX))
    expected = each.release("event_moments", 0.5, **PUBLIC), each.release("event_matrix", 0.9, **MATRIX)
    assert (rows.passes, alone.passes) == (1, 2)
    for one, single in zip(found, expected, strict=True):
        assert (one.name, one.sd, one.sensitivity, one.cost) == (
            single.name,
            single.sd,
            single.sensitivity,
            single.cost,
        )
        assert all((a == b).all() for a, b in zip(one.values, single.values, strict=True))
    for one, single in zip(recording.records, other.records, strict=True):
        assert one.name == single.name and (one.exact == single.exact).all() and one.cost == single.cost


def test_releases_by_one_pass_are_spent_together_or_not_at_all():
    small = curator(1.0)
    with pytest.raises(BudgetError, match="'event_matrix' costs mu = 0.9, but only mu = 0.6 is left"):
        small.release_together(("event_moments", 0.8, PUBLIC), ("event_matrix", 0.9, MATRIX))
    small.release_together(("event_moments", 0.8, PUBLIC), ("event_matrix", 0.6, MATRIX))
    with pytest.raises(BudgetError, match="left"):
        small.release("event_moments", 1e-3, **PUBLIC)


@given(st.lists(st.floats(1e-3, 1), min_size=1, max_size=25), st.floats(1e-3, 50))
def test_shares_of_the_total_fit_and_never_overspend(weights, total):
    """Splits that overshoot in floats fit: each release is noised for a little less than its share."""
    spent = []

    class Spy(NoNoise):
        def gaussian(self, value, sensitivity, mu):
            spent.append(Fraction(mu) ** 2)
            return super().gaussian(value, sensitivity, mu)

    spending = under(Spy(), MadeRows(made_columns(1, 2)), MadeDesign(2), gdp(total))
    for weight in weights:
        spending.release("event_moments", total * math.sqrt(weight / math.fsum(weights)), **PUBLIC)
    assert sum(spent) <= Fraction(total) ** 2
    with pytest.raises(BudgetError):
        spending.release("event_moments", total * 1e-4, **PUBLIC)


@pytest.mark.parametrize("mu", [0.0, -1.0, math.nan, math.inf])
def test_costs_must_be_positive(mu):
    with pytest.raises(BudgetError, match="positive and finite"):
        curator().release("event_moments", mu, **PUBLIC)
    with pytest.raises(BudgetError, match="positive and finite"):
        curator().noise("event_moments", mu, **PUBLIC)


def test_a_total_is_a_budget():
    with pytest.raises(BudgetError, match="budget must be a budget"):
        Curator(MadeRows(COLUMNS), MadeDesign(2), 1.0)


def test_unknown_statistics_and_blocks_are_refused():
    with pytest.raises(ValueError, match="there are .*event_matrix, event_moments"):
        curator().release("mean", 0.1)


class Quieter(SecureNoise):
    """Secure noise of a tenth: what a class derives from says nothing of what it draws."""

    def gaussian(self, value, sensitivity, mu):
        return super().gaussian(value, sensitivity / 10, mu)


def test_only_secure_noise_without_a_recorder_is_private():
    assert not curator().not_private
    for source in (NoNoise(), Quieter(), SeededNoise(1), Replay([]), Recording(NoNoise())):
        with noise(source):
            assert curator().not_private
    with noise(SecureNoise(), lambda *_: None):
        assert curator().not_private
    assert not curator().not_private


def test_private_noise_differs_each_time_and_seeded_noise_does_not():
    def value(source=None):
        return curator(source=source).release("event_moments", 0.5, **PUBLIC).values[0]

    assert (value() != value()).all()
    assert (value(SeededNoise(3)) == value(SeededNoise(3))).all()


class Failing(MadeDesign):
    error: BaseException = ValueError("row 7 holds 8.25")

    def read(self, block, memory=None):
        secret = np.array(block["time"])
        assert len(secret)
        raise self.error


def failure(error, source=None):
    design = Failing(2)
    design.error = error
    failing = under(source, MadeRows(COLUMNS), design, gdp(1))
    with pytest.raises(type(error) if not isinstance(error, Exception) else RuntimeError) as caught:
        failing.release("event_moments", 0.9, **PUBLIC)
    return failing, caught.value


class Cancelled(BaseException):
    """As of a library for tasks: it cannot be made without its argument."""

    def __init__(self, why):
        super().__init__(why)


ERRORS = (ValueError, KeyError, KeyboardInterrupt, SystemExit, Cancelled)


@pytest.mark.parametrize("error", [kind("row 7 holds 8.25") for kind in ERRORS])
def test_an_exception_from_rows_is_replaced(error):
    failing, seen = failure(error)
    assert seen.__cause__ is None and seen.__context__ is None
    assert "8.25" not in "".join(traceback.format_exception(seen))
    for frame, _ in traceback.walk_tb(seen.__traceback__):
        if "dpstats" in frame.f_code.co_filename and "test_" not in frame.f_code.co_filename:
            assert not [name for name, held in frame.f_locals.items() if holds_array(held)]
    with pytest.raises(BudgetError, match="left"):  # the cost is not refunded
        failing.release("event_moments", 0.9, **PUBLIC)


def holds_array(held, depth=4):
    """Whether an array of rows can be reached, other than through the curator's own data."""
    if isinstance(held, np.ndarray):
        return held.size >= 50
    if isinstance(held, Curator) or depth == 0:
        return False
    inside = list(getattr(held, "__dict__", {}).values())
    if isinstance(held, dict | list | tuple):
        inside += held.values() if isinstance(held, dict) else held
    return any(holds_array(item, depth - 1) for item in inside)


def test_without_privacy_the_cause_is_shown():
    with noise(NoNoise()), pytest.raises(ValueError, match="row 7"):
        Curator(MadeRows(COLUMNS), Failing(2), gdp(1)).release("event_moments", 0.9, **PUBLIC)


def test_rows_that_change_while_they_are_read_fail_closed():
    class Growing(MadeRows):
        @property
        def n(self):
            return 49

    with pytest.raises(RuntimeError, match="failed while rows were read"):
        Curator(Growing(COLUMNS), MadeDesign(2), gdp(1)).release("event_moments", 0.5, **PUBLIC)

"""Failures between two times, and before one: what each row is taken to say."""

import numpy as np
import pytest

from dpstats.errors import FormulaError
from dpstats.formula import IntervalResponse, build_design
from dpstats.rows import open_rows
from dpstats.schema import Schema, bounded, event, flag

NAN, INF = np.nan, np.inf
SCHEMA = Schema(
    lo=bounded(2, 100),
    hi=bounded(4, 200),
    zero=bounded(0, 100),
    place=bounded(-50, 50),
    other=bounded(-40, 60),
    dead=event(failed=2, censored=1),
    gone=flag(),
    x=bounded(-1, 1),
)
BETWEEN = "Surv(lo, hi, type='interval2') ~ x"


def read(formula, **columns):
    design = build_design(formula, SCHEMA)
    size = len(next(iter(columns.values())))
    table = {"x": [0.0] * size} | columns
    return design, design.read(next(open_rows(table, SCHEMA, design.variables).blocks()))


def ends(block):
    return [tuple(map(float, pair)) for pair in zip(*block.ends, strict=True)]


def test_rows_of_every_kind():
    design, block = read(BETWEEN, lo=[10.0, 10, NAN, 10, -INF, 20], hi=[30.0, NAN, 30, 10, 30, INF])
    assert design.intervals and isinstance(design.response, IntervalResponse) and not design.delayed
    assert design.response.time_bounds == (2, 200) and design.variables == ("lo", "hi", "x")
    assert ends(block) == [(10, 30), (10, INF), (-INF, 30), (10, 10), (-INF, 30), (20, INF)]
    assert block.event.tolist() == [1, 0, 1, 1, 1, 0] and block.ok.all()
    np.testing.assert_allclose(block.time, [np.sqrt(300), 10, 30, 10, 30, 20], rtol=1e-15)
    assert "between 2 and 200, seen or known to lie between" in repr(design)


def test_an_end_out_of_bounds_stays_where_it_is():
    """Only the point of the first stage is moved: an interval that were cut off or opened would be biased."""
    lower, upper = [1.0, 150, 1, 150, 3, 250], [30.0, 300, 3, 180, 3, NAN]
    _, block = read(BETWEEN, lo=lower, hi=upper)
    assert ends(block) == [(1, 30), (150, 300), (1, 3), (150, 180), (3, 3), (250, INF)] and block.ok.all()
    np.testing.assert_allclose(block.time, [np.sqrt(30), 200, 2, np.sqrt(150 * 180), 3, 200], rtol=1e-15)


def test_rows_of_which_nothing_is_known_weigh_nothing():
    """Both ends open, in the wrong order, or no time between them."""
    lower, upper = (
        [NAN, 40.0, 0, 90, -INF, INF, INF, INF, NAN, NAN, -5],
        [NAN, 30, NAN, 3, INF, 5, NAN, INF, 0, -INF, -2],
    )
    _, block = read(BETWEEN, lo=lower, hi=upper)
    assert np.isfinite(block.time).all()
    assert not block.ok.any() and not block.exog.any()
    _, block = read(BETWEEN, lo=[10.0, 10], hi=[30.0, 30], x=[NAN, 0])
    assert block.ok.tolist() == [False, True]


def test_a_lower_end_of_zero_is_open_where_times_are_positive():
    design, block = read("Surv(zero, hi, type='interval2') ~ x", zero=[0.0, 0.5, -3], hi=[30.0, 30, 30])
    assert design.response.time_bounds == (4, 200)
    assert ends(block) == [(-INF, 30), (0.5, 30), (-INF, 30)] and block.ok.all()
    assert block.time[0] == 30 and block.time[1] == 4
    _, block = read("Surv(place, other, type='interval2') ~ x", place=[-10.0, 0], other=[0.0, 10])
    assert ends(block) == [(-10, 0), (0, 10)] and block.time.tolist() == [-5, 5]


def test_a_missing_end_that_is_a_covariate_too_switches_off():
    formula = "Surv(lo, hi, type='interval2') ~ x + lo"
    _, block = read(formula, lo=[NAN, 10.0], hi=[30.0, 30])
    assert block.ok.tolist() == [False, True]


def test_ends_are_expressions():
    _, block = read("Surv(lo, lo + 24, type='interval2') ~ x", lo=[10.0, NAN])
    assert ends(block)[0] == (10, 34) and block.ok.tolist() == [True, False]
    _, block = read("Surv(np.log(lo), np.log(hi), type='interval2') ~ x", lo=[10.0, 0], hi=[30.0, 30])
    assert ends(block) == [(np.log(10), np.log(30)), (-INF, np.log(30))] and block.ok.all()


def test_left_censoring():
    """Seen, before, missing, unknown, and out of bounds both ways."""
    times, failed = [10.0, 10, NAN, 10, 150, 150, 1, 1], [2, 1, 2, 3, 2, 1, 2, 1]
    design, block = read("Surv(lo, dead, type='left') ~ x", lo=times, dead=failed)
    assert design.response.left and design.response.time_bounds == (2, 100)
    assert block.ok.tolist() == [True, True, False, False, True, True, True, True]
    assert [pair for pair, ok in zip(ends(block), block.ok, strict=True) if ok] == [
        (10, 10),
        (-INF, 10),
        (150, 150),
        (-INF, 150),
        (1, 1),
        (-INF, 1),
    ]
    _, other = read("Surv(lo, censored=gone, type='left') ~ x", lo=[10.0, 10], gone=[0, 1])
    assert ends(other) == [(10, 10), (-INF, 10)]


def test_right_censoring_by_its_name_is_what_it_was():
    plain = build_design("Surv(lo, dead) ~ x", SCHEMA)
    named = build_design("Surv(lo, dead, type='right') ~ x", SCHEMA)
    assert type(plain.response) is type(named.response) and not named.intervals
    assert build_design("Surv(zero, lo, dead, type='counting') ~ x", SCHEMA).delayed


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ("Surv(lo, hi, type='interval') ~ x", "write Surv(lower, upper, type='interval2')"),
        ("Surv(lo, hi, type=kind) ~ x", "'right', 'counting', 'left' or 'interval2'"),
        ("Surv(lo, hi, dead, type='interval2') ~ x", "too many arguments"),
        ("Surv(lo, type='interval2') ~ x", "lacks its argument upper"),
        ("Surv(lo, type='left') ~ x", "write Surv(time, event, type='left')"),
        ("Surv(zero, lo, dead, type='left') ~ x", "without an entry"),
        ("Surv(1, 2, type='interval2') ~ x", "a time that depends on a variable"),
        ("Surv(lo + 300, hi, type='interval2') ~ x", "no row failed between"),
        ("Surv(dead, hi, type='interval2') ~ x", "stands for a time"),
        ("Surv(lo, hi) ~ x", "Surv(lower, upper, type='interval2')"),
    ],
)
def test_refusals_name_what_to_write(formula, says):
    with pytest.raises(FormulaError, match="(?s)" + says.replace("(", r"\(").replace(")", r"\)")):
        build_design(formula, SCHEMA)


@pytest.mark.parametrize("seed", range(20))
def test_a_record_decides_about_its_own_row_alone(seed):
    """Wild cells, in any order and beside any others."""
    draw = np.random.default_rng(seed)
    wild = np.array([NAN, INF, -INF, 0.0, -1.0, 1e308, 5e-324, 2.0, 4.0, 30.0, 100.0, 200.0, 250.0])
    columns = {name: draw.choice(wild, 40) for name in ("lo", "hi")}
    _, block = read(BETWEEN, **columns)
    order = draw.permutation(40)
    _, other = read(BETWEEN, **{name: values[order] for name, values in columns.items()})
    for name in ("ok", "time", "event"):
        np.testing.assert_array_equal(getattr(block, name)[order], getattr(other, name))
    lower, upper = block.ends
    assert (lower <= upper)[block.ok].all() and np.isfinite(block.time).all()
    assert (np.isfinite(lower) | np.isfinite(upper))[block.ok].all()

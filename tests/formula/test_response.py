"""The left side: survival times with administrative censoring, and bounded numbers."""

import numpy as np
import pytest

from dpstats.errors import FormulaError
from dpstats.formula import NumericResponse, SurvResponse, build_design, read_response, unit_of
from dpstats.rows import open_rows
from dpstats.schema import Schema, bounded, event, flag

SCHEMA = Schema(
    time=bounded(10, 400, unit="h"),
    start=bounded(0, 5),
    dead=event(failed=2, censored=1),
    gone=flag(),
    y=bounded(1, 100),
    x=bounded(-1, 1),
)
TABLE = {
    "time": [5.0, 10, 100, 400, 400.5, 1e300, 50, np.nan, np.inf, 50],
    "start": [0.0, 1, 2, 3, 4, 5, 9, 1, 1, 1],
    "dead": [2, 2, 1, 2, 2, 1, 2, 2, 2, 3],
    "gone": [0, 0, 1, 0, 0, 1, 0, 0, 0, 0],
    "y": [0.0, 1, 50, 200, 5, 5, 5, 5, 5, 5],
    "x": [0.0] * 10,
}
USABLE = slice(0, 7)


def read(formula):
    design = build_design(formula, SCHEMA)
    return design, design.read(next(open_rows(TABLE, SCHEMA, design.variables).blocks()))


def test_a_time_beyond_the_horizon_is_censored_there_and_an_early_one_is_moved_up():
    design, block = read("Surv(time, dead) ~ x")
    assert isinstance(design.response, SurvResponse) and design.response.time_bounds == (10, 400)
    assert design.response.text == "Surv(time, dead)" and design.variables == ("time", "dead", "x")
    assert block.time[USABLE].tolist() == [10, 10, 100, 400, 400, 400, 50]
    assert block.event[USABLE].tolist() == [1, 1, 0, 1, 0, 0, 1]
    assert block.ok.tolist() == [True] * 7 + [False] * 3
    assert np.all((block.time >= 10) & (block.time <= 400)) and block.endog is block.time


def test_censored_names_the_opposite_indicator():
    _, failed = read("Surv(time, dead) ~ x")
    _, censored = read("Surv(time, censored=gone) ~ x")
    np.testing.assert_array_equal(failed.event[USABLE], censored.event[USABLE])
    _, plain = read("Surv(time, gone) ~ x")
    assert plain.event[USABLE].tolist() == [0, 0, 1, 0, 0, 0, 0]


def test_without_an_indicator_every_row_is_a_failure():
    design, block = read("Surv(time) ~ x")
    assert design.response.all_failed and design.variables == ("time", "x")
    assert block.time[USABLE].tolist() == [10, 10, 100, 400, 400, 400, 50]
    assert block.event[USABLE].tolist() == [1, 1, 1, 1, 0, 0, 1]
    assert block.ok.tolist() == [True] * 7 + [False, False, True]
    assert "every row is a failure" in repr(design)
    assert not read("Surv(time, dead) ~ x")[0].response.all_failed


def test_the_time_goes_through_the_same_walk_as_a_covariate():
    design, block = read("Surv(time / 24, dead) ~ x")
    assert design.response.time_bounds == (10 / 24, 400 / 24)
    np.testing.assert_allclose(block.time[USABLE], np.array([10, 10, 100, 400, 400, 400, 50]) / 24)
    assert block.event[USABLE].tolist() == [1, 1, 0, 1, 0, 0, 1]


def test_whatever_shortens_a_time_censors_it():
    """In time - start a late start moved down to its bound makes the time longer, so that event stays."""
    design, block = read("Surv(time - start, dead) ~ x")
    assert design.response.time_bounds == (5, 400)
    assert block.time[USABLE].tolist() == [10, 9, 98, 397, 396, 395, 45]
    assert block.event[USABLE].tolist() == [1, 1, 0, 1, 0, 0, 1]
    _, falling = read("Surv(1000 / time, dead) ~ x")
    assert falling.event[USABLE].tolist() == [0, 1, 0, 1, 1, 0, 1]


def test_a_number_is_moved_into_its_bounds():
    design, block = read("np.log(y) ~ x")
    assert isinstance(design.response, NumericResponse)
    np.testing.assert_allclose(design.response.bounds, (0, np.log(100)), atol=1e-15)
    np.testing.assert_allclose(block.endog[:4], np.log([1, 1, 50, 100]))
    assert block.event.tolist() == [1] * 10 and block.ok.all()


LATE = Schema(
    start=bounded(2, 300),
    time=bounded(10, 400),
    dead=event(failed=2, censored=1),
    gone=flag(),
    x=bounded(-1, 1),
)
# usable; no number; entry moved up; both moved up; entry beyond its bounds; after the end; at the end; in the
# wrong order before both were moved; missing; time beyond the horizon
WATCHED = {
    "start": [50.0, -np.inf, 1, 8, 301, 60, 50, 9, np.nan, 100],
    "time": [100.0, 100, 100, 9, 390, 50, 50, 8, 50, 500],
    "dead": [2.0, 2, 1, 2, 2, 2, 2, 2, 2, 2],
    "gone": [0] * 10,
    "x": [0.0] * 10,
}
SEEN = [True, False, True, True, False, False, False, False, False, True]


def watched(formula):
    design = build_design(formula, LATE)
    return design, design.read(next(open_rows(WATCHED, LATE, design.variables).blocks()))


def test_a_row_is_watched_from_its_entry_on():
    design, block = watched("Surv(start, time, dead) ~ x")
    assert design.delayed and design.response.entry_bounds == (2, 300)
    assert design.variables == ("start", "time", "dead", "x") and design.covariates == ("x",)
    assert block.ok.tolist() == SEEN
    assert block.entry[block.ok].tolist() == [50, 2, 8, 100]
    assert block.time[block.ok].tolist() == [100, 100, 10, 400]
    assert block.event[block.ok].tolist() == [1, 0, 1, 0]
    assert np.all((block.entry >= 2) & (block.entry <= 300))
    assert "Surv(start, time, dead), entry between 2 and 300, time between 10 and 400" in repr(design)


def test_without_an_entry_all_are_watched_from_the_start():
    for formula in ("Surv(time, dead) ~ x", "time ~ x"):
        design, block = watched(formula)
        assert not design.delayed and np.all(block.entry == -np.inf) and block.ok.sum() == 10


@pytest.mark.parametrize(
    "left",
    [
        "Surv(time, dead, entry=start)",
        "Surv(entry=start, time=time, event=dead)",
        "Surv(start, time, censored=gone)",
        "Surv(1 * start, time, dead)",
    ],
)
def test_ways_to_write_an_entry(left):
    _, block = watched(f"{left} ~ x")
    assert block.ok.tolist() == SEEN and block.entry[0] == 50
    assert block.event[0] == 1


def test_an_entry_may_be_one_number_or_an_expression():
    _, block = watched("Surv(95, time, dead) ~ x")
    assert block.ok.tolist() == [True] * 3 + [False, True] + [False] * 4 + [True]
    assert np.all(block.entry == 95)
    _, block = watched("Surv(np.log(start), np.log(time), dead) ~ x")
    np.testing.assert_allclose(block.entry[block.ok], np.log([50, 2, 8, 100]))
    # the logarithm of a time before all bounds is taken after the time was moved up
    assert block.ok.tolist() == SEEN


def test_new_data_need_no_entry():
    design, _ = watched("Surv(start, time, dead) ~ x")
    found = design.new_rows({"x": [0.5, 2.0]}, clip=True)
    exog, clipped = found.exog, int(found.outside.sum())
    assert exog[:, 1].tolist() == [0.5, 1.0] and clipped == 1


def test_every_row_may_be_a_failure_since_its_entry():
    design, block = watched("Surv(time, entry=start) ~ x")
    assert design.delayed and design.response.all_failed and block.ok.tolist() == SEEN
    assert block.event[block.ok].tolist() == [1, 1, 1, 0] and block.entry[0] == 50


UNITS = Schema(
    start=bounded(0, 100, unit="days"),
    time=bounded(1, 9000, unit="h"),
    ended=bounded(1, 9000, unit="h"),
    dead=event(),
)


@pytest.mark.parametrize("left", ["Surv(start, time, dead)", "Surv(start, time, type='interval2')"])
def test_two_times_of_different_units_are_refused(left):
    with pytest.raises(FormulaError, match="'start' is declared in days and 'time' in h"):
        read_response(left, UNITS)


@pytest.mark.parametrize("left", ["Surv(time, ended / 24, dead)", "Surv(time / 24, ended, type='interval2')"])
def test_two_times_of_one_unit_are_not_converted_apart(left):
    """Ages in hours beside lives in days were fitted without a word."""
    with pytest.raises(FormulaError, match="are of variables in h, and one of them is converted alone"):
        read_response(left, UNITS)
    for both in ("Surv(time / 24, ended / 24, dead)", "Surv(time, time + ended, dead)"):
        read_response(both, UNITS)


@pytest.mark.parametrize(
    ("left", "unit"),
    [
        ("Surv(time, dead)", "h"),
        ("Surv(start * 24, time, dead)", "h"),
        ("Surv(time, ended, type='interval2')", "h"),
        ("Surv(time / 24, dead)", ""),
        ("Surv(np.log(time), dead)", ""),
    ],
)
def test_a_time_has_its_unit_unless_the_formula_makes_another_of_it(left, unit):
    assert unit_of(read_response(left, UNITS).measured, UNITS) == unit

"""The left side: survival times with administrative censoring, and bounded numbers."""

import numpy as np
import pytest

from dpstats.formula import NumericResponse, SurvResponse, build_design
from dpstats.rows import open_rows
from dpstats.schema import Schema, bounded, event, flag

SCHEMA = Schema(time=bounded(10, 400, unit="h"), start=bounded(0, 5), dead=event(failed=2, censored=1),
                gone=flag(), y=bounded(1, 100), x=bounded(-1, 1))  # fmt: skip
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


@pytest.mark.parametrize("formula", ["Surv(time, dead) ~ time + x", "time ~ time", "I(time) ~ np.log(time)"])
def test_a_variable_may_stand_on_both_sides(formula):
    _, block = read(formula)
    np.testing.assert_array_equal(block.endog[:4], [10, 10, 100, 400])
    assert block.exog[2, 1] in (100, np.log(100)) and not np.any(block.exog[7:9])

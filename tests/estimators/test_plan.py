"""How a fit spends: the squares of its costs add up to the budget, whatever the number of steps."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.budget import pure
from dpstats.estimators.gram import make_plan as linear_plan
from dpstats.estimators.location_scale import after_columns, make_plan
from dpstats.estimators.location_scale.plan import (
    EARLY_STEPS,
    LOCATION_STEPS,
    SIGN_STEPS,
    TAIL_STEPS,
    in_fewer_steps,
    make_pure_plan,
    make_sign_plan,
    with_few_failures,
)
from dpstats.estimators.newton import count_steps
from dpstats.estimators.newton import make_plan as newton_plan


@given(st.floats(1e-6, 1e6), st.integers(1, 60), st.integers(2, 20), st.booleans(), st.floats(1.0, 1e9))
def test_costs_add_up_to_the_budget(mu: float, early: int, tail: int, intervals: bool, signal: float) -> None:
    plan = make_plan(mu, early, tail, intervals, signal)
    parts = [cost for stage in plan.stages if intervals or stage != "inspections" for cost in plan[stage]]
    assert min(parts) > 0 and (intervals or not any(plan["inspections"]))
    assert math.hypot(*parts) == pytest.approx(mu, rel=1e-12)
    assert (len(plan["early"]), len(plan["tail"])) == (early, tail)
    assert plan.cost("tail") == pytest.approx(math.hypot(*plan["tail"]))


def test_a_fit_has_a_fixed_number_of_steps_and_later_early_ones_get_no_less() -> None:
    plan = make_plan(1.0)
    steps = tuple(len(plan[stage]) for stage in ("location", "early", "tail"))
    assert steps == (LOCATION_STEPS, EARLY_STEPS, TAIL_STEPS)
    assert (np.diff(plan["early"]) >= 0).all()


def test_fewer_steps_cost_the_same() -> None:
    plan = make_plan(1.0)
    fewer = in_fewer_steps(plan)
    assert (len(fewer["early"]), len(fewer["tail"])) == (6, 6)
    assert (np.diff(fewer["early"]) >= 0).all()
    assert fewer.costs == pytest.approx(plan.costs, rel=1e-12)


@given(st.floats(1e-6, 1e6), st.integers(1, 10**8), st.integers(1, 60))
def test_few_failures_change_what_follows_the_columns_alone(epsilon: float, n: int, k: int) -> None:
    plan = make_pure_plan(epsilon, n, k)
    few = with_few_failures(plan)
    parts = [cost for stage in few.stages for cost in few[stage]]
    assert min(parts) >= 0
    assert sum(parts) == pytest.approx(epsilon, rel=1e-12)
    same = ("columns", "location", "spread", "check", "bend")
    assert [few[stage] for stage in same] == [plan[stage] for stage in same]
    assert after_columns(few) == pytest.approx(epsilon - few.cost("columns"), rel=1e-12)
    assert few.cost("matrix") > plan.cost("matrix") and len(few["early"]) == len(few["sizes"]) == 2


@given(st.floats(1e-6, 1e6), st.integers(2, 60), st.booleans())
def test_costs_by_signs_add_up_to_what_the_columns_leave(mu: float, k: int, skewed: bool) -> None:
    before = make_plan(mu)
    plan = make_sign_plan(after_columns(before), k, skewed)
    assert ("bend" in plan.stages) == skewed
    parts = [cost for stage in plan.stages for cost in plan[stage]]
    assert min(parts) > 0
    assert math.hypot(before.cost("columns"), *parts) == pytest.approx(mu, rel=1e-12)
    steps = tuple(len(plan[stage]) for stage in ("start", "early", "last", "level"))
    assert steps == (LOCATION_STEPS, SIGN_STEPS, TAIL_STEPS, LOCATION_STEPS)


def test_the_more_slopes_the_larger_their_share() -> None:
    few, many = (make_sign_plan(1.0, k) for k in (2, 40))
    for stage in ("early", "last"):
        assert min(many[stage]) > max(few[stage])
        assert max(many[f"{stage}_level"]) < min(few[f"{stage}_level"])


@pytest.mark.parametrize(("rows", "steps"), [(1_000, (8, 8)), (10_000, (6, 4)), (10_000_000, (6, 3))])
def test_newton_steps_fall_with_the_rows_and_cost_the_same(rows: int, steps: tuple[int, int]) -> None:
    plan = newton_plan(1.0, *count_steps(rows, 1.0, 10))
    assert (len(plan["early"]), len(plan["tail"])) == steps
    assert plan.costs == pytest.approx(newton_plan(1.0).costs, rel=1e-12)


def test_newton_steps_are_few_only_where_one_row_in_a_unit_says_little() -> None:
    assert count_steps(100_000, 1.0, 10) != count_steps(100_000, 0.01, 10)
    assert count_steps(100_000, 1.0, 10) != count_steps(100_000, 1.0, 40)


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("k", [2, 5, 6, 40])
def test_a_linear_fit_under_pure_epsilon_spends_all_and_less_on_a_matrix_that_is_clear(
    k: int, public: bool
) -> None:
    plan = linear_plan(pure(2.0), 20_000, k, public)
    assert math.fsum(plan.costs.values()) == pytest.approx(2.0)
    clear = 20_000 * 2.0 >= 1600 * k**2
    if not public:
        assert plan.cost("matrix") == pytest.approx(0.28 if clear else 0.42)
        assert plan.cost("final") == pytest.approx(0.58 if clear else 0.44)

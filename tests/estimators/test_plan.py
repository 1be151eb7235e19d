"""How a fit spends: the squares of its costs add up to the budget, whatever the number of steps."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.estimators.location_scale import make_plan
from dpstats.estimators.location_scale.plan import EARLY_STEPS, LOCATION_STEPS, TAIL_STEPS


@given(st.floats(1e-6, 1e6), st.integers(1, 60), st.integers(2, 20))
def test_costs_add_up_to_the_budget(mu: float, early: int, tail: int) -> None:
    plan = make_plan(mu, early, tail)
    parts = (plan.moments, plan.matrix, plan.check, *plan.location, *plan.early, *plan.tail)
    assert min(parts) > 0
    assert math.hypot(*parts) == pytest.approx(mu, rel=1e-12)
    assert (len(plan.early), len(plan.tail)) == (early, tail)
    assert plan.tail_total == pytest.approx(math.hypot(*plan.tail))


def test_a_fit_has_a_fixed_number_of_steps_and_later_early_ones_get_no_less() -> None:
    plan = make_plan(1.0)
    assert (len(plan.location), len(plan.early), len(plan.tail)) == (LOCATION_STEPS, EARLY_STEPS, TAIL_STEPS)
    assert (np.diff(plan.early) >= 0).all()

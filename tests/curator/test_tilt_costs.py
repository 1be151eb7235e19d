"""What tilt, slack and the noise on an inexact minimum cost together is no more than what is paid."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dpstats as dps
from dpstats.curator.objective import Objective
from dpstats.curator.tilt import gaussian, split
from dpstats.errors import BudgetError
from dpstats.families import LOGISTIC_LOSS, huber_hinge
from tests.margin import Labelled, unit_map


@example(2857.0, 1.2e-8, 1, False)  # as far off as an inverse of Phi was seen to be
@given(st.floats(0.01, 50) | st.floats(50, 1e12), st.floats(1e-9, 10), st.integers(1, 9), st.booleans())
def test_what_a_cost_pays_for_is_no_more_than_it(cost: float, slack: float, rows: int, pure: bool) -> None:
    """The theorems of `tilt`, read backwards: each of `rows` rows costs tilt and slack, or twice its mu."""
    try:
        paid = split(cost, slack, rows, pure)
    except BudgetError:
        return
    assert paid.tilt > 0 and paid.rest > 0
    if pure:
        whole = rows * (paid.tilt + slack) + paid.rest
    else:
        whole = math.hypot(2 * rows * gaussian(paid.tilt, slack), paid.rest)
    assert whole <= cost
    assert whole >= cost * (1 - 1e-3) or slack > 0.01 * cost, "and nothing is given away"


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("loss", [LOGISTIC_LOSS, huber_hinge(0.5)], ids=["logistic", "hinge"])
def test_two_answers_as_far_apart_as_allowed_are_hidden(loss: object, rows: int, pure: bool) -> None:
    """Answers for neighbours lie within tau / ridge of the same exact minimum, on opposite sides of it."""
    for tilted in (True, False):
        asked = Objective(Labelled(3), loss=loss, ridge=20.0, tilted=tilted, **unit_map(3))
        planned = asked.planned(dps.pure(9) if pure else dps.gdp(9), 100, rows)
        apart = 2 * asked.tau(100, planned.tilt) + (0.0 if tilted else 2 * rows)
        for direction in (np.eye(3)[0], -np.ones(3) / math.sqrt(3)):
            assert planned.rest.distance(direction * apart / asked.ridge) <= 1

"""The budget and the rows that a plan names are the least with which intervals are as short as is asked.

Fits follow a law that is known here, so that the least is known too, and nothing is fitted.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import Budget, measure
from dpstats.planning.fit_plan import FitPlan
from dpstats.planning.trials import Z95, Outlook

ROWS, SAMPLING, NOISE = 10_000, 10.0, 3000.0  # an error of .1 without noise, and of .3 by noise of mu = 1
FITS = 12
ANY = 7.65
FREE = 1000.0  # a mu at which noise is nothing


@dataclass
class Told:
    """What fits come to: errors sqrt(SAMPLING^2 / n + (NOISE / (n mu))^2).

    Below n mu = `gone` all fits lose the coefficient, and at `losing` times that a quarter of them still do.
    Below `untold` it is not told, and its error is `ANY`, that of noise of some size, at any budget.
    A few fits without noise add `doubted` to their error, as if it were noise.
    """

    gone: float = 0.0
    losing: float = 1.0
    untold: float = 0.0
    doubted: float = 0.0
    runs: int = 0

    def run(self, budget: Budget, n: int, quick: bool = False) -> Outlook:
        size = n * measure(budget)
        sampling, noise = (0.0, ANY) if size < self.untold else (SAMPLING / n**0.5, NOISE / size)
        noise += self.doubted if quick and measure(budget) >= FREE else 0.0
        errors, one = np.full((FITS, 1), np.hypot(sampling, noise)), np.ones(1)
        errors[: FITS if size < self.gone else FITS // 4 if size < self.gone * self.losing else 0] = np.inf
        self.runs += not quick
        share = noise**2 / (sampling**2 + noise**2)
        return Outlook(errors, share * one, one, np.eye(1), 1.0)


@cache
def any_plan() -> FitPlan:
    schema = dps.Schema(x=dps.bounded(0, 1), y=dps.bounded(0, 1))
    model = dps.ols("y ~ 0 + x", None, schema)
    return dps.plan(model, dps.gdp(10), 500, covariates={"x": (0.5, 0.2)}, scale=0.1)


def planned(told: Told, budget: Budget) -> FitPlan:
    law: Any = told
    return replace(any_plan(), budget=budget, n=ROWS, _trial=law, _found=told.run(budget, ROWS))


def reaches(told: Told, budget: Budget, n: int, width: float) -> bool:
    return bool(told.run(budget, n).half_width[0] <= width * 1.001)


LAWS = {
    "none lost": {},
    "all lost below": {"gone": 30_000.0},
    "all lost far below": {"gone": 2000.0},
    "some lost": {"gone": 20_000.0, "losing": 1.5},
    "not told": {"untold": 8000.0},
    "not told for long": {"untold": 40_000.0},
}


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("begun", [0.02, 0.3, 1.0, 8.0, 60.0])
@pytest.mark.parametrize("error", [0.105, 0.15, 0.4, 3.0])
def test_the_least_budget_is_found_from_wherever_a_plan_begins(law: str, begun: float, error: float) -> None:
    told = Told(**LAWS[law])
    budget, width = dps.gdp(begun), error * Z95
    found = planned(told, budget).budget_for({"x": width})
    assert reaches(told, found, ROWS, width)
    assert told.runs < (4 if law == "none lost" else 20)
    slack = 1.12 if law == "none lost" else 1.4  # two digits are up to a tenth more
    assert not reaches(told, dps.gdp(found.mu / slack), ROWS, width)


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("begun", [0.3, 1.0, 8.0])
@pytest.mark.parametrize("error", [0.02, 0.1, 0.4])
def test_the_fewest_rows_are_found_from_wherever_a_plan_begins(law: str, begun: float, error: float) -> None:
    told = Told(**LAWS[law])
    budget, width = dps.gdp(begun), error * Z95
    found = planned(told, budget).n_for({"x": width})
    assert reaches(told, budget, found, width)
    slack = 1.12 if law == "none lost" else 1.4
    assert not reaches(told, budget, int(found / slack), width)


def test_a_width_below_what_is_left_without_noise_takes_rows_and_no_budget_is_named() -> None:
    ahead = planned(Told(), dps.gdp(1))
    with pytest.raises(dps.BudgetError, match=r"without noise it is 1\.05 times as wide"):
        ahead.budget_for({"x": 0.1 * Z95 / 1.05})
    rows = ahead.n_for({"x": 0.1 * Z95 / 1.05})
    assert rows > ROWS


def test_what_fits_that_doubt_their_model_add_is_not_left_without_noise() -> None:
    """Many rows are told by fewer, whose intervals are longer where they doubt their model, at any budget."""
    told, width = Told(doubted=0.3), 0.15 * Z95
    ahead = planned(told, dps.gdp(1))
    assert reaches(told, ahead.budget_for({"x": width}), ROWS, width)
    floor = ahead.plot().lines[1].get_ydata()
    np.testing.assert_allclose(floor, SAMPLING / ROWS**0.5 * Z95)


def test_no_budget_is_named_that_promises_nothing() -> None:
    """Where all fits lose the coefficient below a mu of 150, which leaks everything, there is none."""
    with pytest.raises(dps.BudgetError, match="no budget reaches .* above 100 would, which promises nothing"):
        planned(Told(gone=150 * ROWS), dps.gdp(1)).budget_for({"x": 1.0})

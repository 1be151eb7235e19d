"""Times in another unit than their bounds: the table says so, and says nothing of it where they are right."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.results.survival import SurvivalFit
from dpstats.testing import SeededNoise, noise

SCHEMA = dps.Schema(hours=dps.bounded(1, 9000), failed=dps.event(), temp=dps.bounded(0, 60))
BUDGETS = [dps.approx(1, 1e-6), dps.pure(1)]


def fitted(per_hour: float, budget: Budget, formula: str, schema: dps.Schema = SCHEMA) -> SurvivalFit:
    draw = np.random.default_rng(3)
    temp, seen = draw.normal(30, 6, 6000), draw.uniform(500, 9000, 6000)
    life = np.exp(8.5 - 0.03 * (temp - 30) + 0.6 * np.log(draw.exponential(size=6000)))
    rows = {"hours": per_hour * np.minimum(life, seen), "failed": life <= seen, "temp": temp}
    with noise(SeededNoise(3)):
        return dps.survreg(formula, rows, schema).fit(budget)


@pytest.mark.parametrize("budget", BUDGETS)
def test_below_the_bounds(budget: Budget) -> None:
    fit = fitted(1e-6, budget, "Surv(hours, failed) ~ temp")
    assert "far too wide" in dict(fit.flags)["constant"]


@pytest.mark.parametrize("budget", BUDGETS)
def test_above_the_bounds(budget: Budget) -> None:
    text = " ".join(str(fitted(1e6, budget, "Surv(hours, failed) ~ temp").summary()).split())
    assert "There may be no failure at all" in text and "Failures noise hides how many: at most" in text


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("longest", [9000, 1e9])
def test_nothing_is_said_of_times_within_their_bounds(budget: Budget, longest: float) -> None:
    schema = dps.Schema({**SCHEMA, "hours": dps.bounded(1, longest)})
    fit = fitted(1, budget, "Surv(hours, failed) ~ temp", schema)
    text = str(fit.summary())
    assert (
        "constant" not in dict(fit.flags)
        and "every row for a failure" not in text
        and "no failure" not in text
    )


def test_that_every_row_counts_as_a_failure_stands_in_the_table() -> None:
    with pytest.warns(UserWarning, match="takes every row for a failure"):
        fit = fitted(1, BUDGETS[0], "Surv(hours) ~ temp")
    assert "Surv(hours) takes every row for a failure" in " ".join(str(fit.summary()).split())


@pytest.mark.parametrize("fits", [10, pytest.param(30, marks=pytest.mark.long)])
@pytest.mark.parametrize("epsilon", [0.7, 1.0])
def test_times_that_spread_as_usual_are_not_taken_for_one(epsilon: float, fits: int) -> None:
    """Few failures are seen in one cell, which is wide: it is the budget that is too small."""
    schema = dps.Schema(hours=dps.bounded(2, 600), failed=dps.event(), x=dps.bounded(-8, 8))
    for seed in range(fits):
        draw = np.random.default_rng(seed)
        x, life = draw.normal(size=1500).clip(-4, 4), 100 * draw.exponential(size=1500) ** 0.4
        rows = {"hours": np.minimum(life, 60), "failed": life <= 60, "x": x}
        with noise(SeededNoise(seed)):
            fit = dps.survreg("Surv(hours, failed) ~ x", rows, schema).fit(dps.approx(epsilon, 1e-6))
        assert "constant" not in dict(fit.flags)

"""A reference level that no row has: the others' columns add up to the intercept, and neither is known."""

from typing import Any

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.testing import SeededNoise, noise

ROWS = 20_000


def fitted(levels: tuple[str, ...], right: str, budget: Budget, model: Any = dps.survreg) -> Any:
    """Rows of the levels b, c and d, of which those of d live longer."""
    rng = np.random.default_rng(3)
    temp, stand = rng.normal(40, 8, ROWS).clip(0, 100), rng.choice(["p", "q"], ROWS)
    maker = rng.choice(["b", "c", "d"], ROWS, p=[0.5, 0.3, 0.2])
    lives = np.exp(1 - 0.02 * (temp - 40) + 0.5 * (maker == "d")) * rng.exponential(size=ROWS) ** 0.6
    watched = rng.uniform(0, 8, ROWS)
    data = dict(time=np.minimum(lives, watched), failed=lives <= watched, temp=temp, maker=maker, stand=stand)
    schema = dps.Schema(
        time=dps.bounded(0.001, 50),
        failed=dps.event(),
        temp=dps.bounded(0, 100),
        maker=dps.levels(*levels),
        stand=dps.levels("p", "q"),
    )
    with noise(SeededNoise(5)):
        return model(f"Surv(time, failed) ~ temp + {right}", data, schema).fit(budget)


@pytest.mark.parametrize(
    "right, budget",
    [
        ("maker", dps.approx(3, 1e-6)),
        ("maker", dps.pure(3)),
        ("C(maker, Sum)", dps.approx(3, 1e-6)),
        ("maker + stand + strata(stand)", dps.approx(3, 1e-6)),
    ],
)
def test_what_is_told_against_a_level_without_rows_is_not_estimable(right: str, budget: Budget) -> None:
    """Intervals of 1.4 to 13 log times on either side, a guess of what noise hides, had no caution."""
    fit = fitted(("a", "b", "c", "d"), right, budget)
    lost = set(fit.bse.index[np.isinf(fit.bse)])
    assert lost == {"Intercept", *(name for name in fit.bse.index if "maker" in name)}
    assert "not_estimable" in [code for code, _ in fit.flags]
    assert abs(fit.params["temp"] + 0.02) < 3 * fit.bse["temp"] < 0.02


@pytest.mark.parametrize("budget", [dps.approx(3, 1e-6), dps.pure(3)])
def test_against_a_level_with_rows_all_are(budget: Budget) -> None:
    fit = fitted(("b", "c", "d"), "maker", budget)
    assert np.isfinite(fit.bse).all() and not fit.flags
    assert abs(fit.params["maker[T.d]"] - 0.5) < 3 * fit.bse["maker[T.d]"] < 0.3


def test_a_level_without_rows_that_is_no_reference_is_lost_alone() -> None:
    fit = fitted(("b", "c", "a", "d"), "maker", dps.approx(3, 1e-6))
    assert set(fit.bse.index[np.isinf(fit.bse)]) == {"maker[T.a]"}


def test_a_level_without_rows_says_nothing_of_the_budget_of_the_others() -> None:
    """All intervals of hazards were said to be widened and rough, which those of the others are not."""
    fit = fitted(("b", "c", "a", "d"), "maker", dps.approx(3, 1e-6), dps.coxph)
    assert set(fit.bse.index[np.isinf(fit.bse)]) == {"maker[T.a]"}
    assert [code for code, _ in fit.flags] == ["not_estimable"]
    assert abs(fit.params["temp"] - 0.02 / 0.6) < 3 * fit.bse["temp"] < 0.02

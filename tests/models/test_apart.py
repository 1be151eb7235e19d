"""A few rows far from all others, such as codes of 9999: a line does not follow them, and says so."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.curator.noise import NoiseSource
from dpstats.testing import Recording, SeededNoise, noise

N = 5000
BUDGETS = {"mu": dps.approx(2, 1e-6), "epsilon": dps.pure(6)}


def rows(law: str = "normal") -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    drawn = {"normal": rng.normal(size=N), "t": rng.standard_t(3, N), "lognormal": rng.lognormal(size=N)}
    x, error = drawn[law], rng.permutation(drawn[law])
    return {"x": 45 + 15 * x, "y": 20 + 3 * x + 3 * error}


def fitted(data: dict[str, np.ndarray], budget: Budget, top: float, drawn: NoiseSource) -> dps.Fit:
    schema = dps.Schema(x=dps.bounded(-top, top), y=dps.bounded(-top, top))
    with noise(drawn):
        return dps.ols("y ~ x", data, schema).fit(budget)


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("column", ["x", "y"])
def test_codes_are_told_and_the_line_is_that_of_the_others(column: str, budget: Budget) -> None:
    """One row in a hundred has a code in the place of a value: the line of all rows is that of these."""
    data, told = rows(), 0
    data[column][::100] = 9999.0
    truth = np.polyfit(data["x"], data["y"], 1)[0]
    for seed in range(4):
        fit = fitted(data, budget, 9999.0, SeededNoise(seed))
        low, high = fit.conf_int().loc["x"]
        assert "apart" in dict(fit.flags) or low < truth < high
        told += "apart" in dict(fit.flags)
        most = f"rows 30 sds from the others (at most {fit.record.settings['apart']}) count little"
        assert most in " ".join(str(fit.summary()).split())
    assert told >= 2


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("law", ["normal", "t", "lognormal"])
def test_long_tails_in_wide_bounds_are_not_rows_apart(law: str, budget: Budget) -> None:
    for seed in range(3):
        fit = fitted(rows(law), budget, 9999.0, SeededNoise(seed))
        assert "apart" not in dict(fit.flags) and fit.record.settings["apart"] < 80


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
def test_bounds_too_near_for_rows_apart_leave_their_share_to_the_last_release(budget: Budget) -> None:
    last = []
    for top in (80.0, 9999.0):
        recording = Recording(SeededNoise(0))
        fit = fitted(rows(), budget, top, recording)
        costs = [(record.name, record.law.cost) for record in recording.records]
        assert ("rows_apart" in dict(costs)) == ("apart" in fit.record.settings) == (top > 80)
        last.append(next(cost for name, cost in reversed(costs) if name.startswith("residual")))
    assert last[0] > last[1]

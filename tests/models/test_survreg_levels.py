"""Categories: of many levels, which are correlated, and of a level that has no failure."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.families import SEV
from dpstats.testing import SeededNoise, noise

LEVELS, ROWS = 30, 20_000


@pytest.mark.parametrize("fits", [4, pytest.param(8, marks=pytest.mark.long)])
def test_no_fit_of_many_levels_is_wrong_without_a_caution(fits: int) -> None:
    """At this budget noise can make the direction of the reference level look well seen."""
    names = [f"l{i:02d}" for i in range(LEVELS)]
    schema = dps.Schema(time=dps.bounded(np.exp(-6), np.exp(6)), maker=dps.levels(*names))
    held, told = [], []
    for seed in range(fits):
        draw = np.random.default_rng(1000 + seed)
        level, effects = draw.integers(LEVELS, size=ROWS), np.append(0.0, draw.normal(0, 0.5, LEVELS - 1))
        time = np.exp(effects[level] + 0.5 * SEV.quantile(draw.random(ROWS)))
        model = dps.survreg("Surv(time) ~ maker", {"time": time, "maker": np.array(names)[level]}, schema)
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(1, 1e-6))
        lower, upper = fit.conf_int().to_numpy()[0]
        held.append(lower <= 0 <= upper)
        told.append(bool(fit.flags))
    assert np.all(np.logical_or(held, told)) and np.mean(held) >= 0.85


@pytest.mark.parametrize("budget", [dps.approx(3, 1e-6), dps.pure(5)])
@pytest.mark.parametrize("dist", ["weibull", "lognormal"])
def test_a_level_without_a_failure_has_an_interval_as_wide_as_levels_go(budget: Budget, dist: str) -> None:
    """A tenth of the rows leave before any of them fails; all others have their intervals."""
    draw, n = np.random.default_rng(3), 20_000
    spare, x = draw.random(n) < 0.1, draw.normal(size=n).clip(-4, 4)
    life = np.exp(0.5 * x + 0.5 * SEV.quantile(draw.random(n)))
    end = np.where(spare, 1e-3, draw.uniform(0.5, 3.0, n))
    rows = {
        "time": np.maximum(np.minimum(life, end), 1e-3),
        "failed": (life <= end) & ~spare,
        "x": x,
        "kind": np.where(spare, "spare", "used"),
    }
    schema = dps.Schema(
        time=dps.bounded(1e-3, 10), failed=dps.event(), x=dps.bounded(-4, 4), kind=dps.levels("used", "spare")
    )
    with noise(SeededNoise(5)):
        fit = dps.survreg("Surv(time, failed) ~ x + kind", rows, schema, dist=dist).fit(budget)
    low, high = fit.conf_int().loc["kind[T.spare]"] / np.exp(fit.params["Log(scale)"])
    assert low < -7 and high > 7 and high - low < 60
    assert (fit.bse.drop("kind[T.spare]") < 0.5).all() and "not_estimable" not in dict(fit.flags)

"""Do intervals contain what they say? A slice of benchmarks/, with error bars that the fits allow (T11)."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpstats as dps
from dpstats.testing import SeededNoise, noise

RUNS, N = 75, 1000
TRUTH, SIGMA = np.array([2.0, 1.0, -0.5, 0.8]), 1.5
SCHEMA = dps.Schema(y=dps.bounded(-20, 20), a=dps.bounded(-4, 4), b=dps.bounded(-4, 4), f=dps.flag())
# a sound test fails this rarely
SURE = 1 / 2000
BUDGETS = {"mu": dps.gdp(1), "epsilon": dps.pure(6)}


def sample(seed: int) -> dict[str, Any]:
    """Two correlated covariates and a flag of one in five; normal errors."""
    generator = np.random.default_rng(5000 + seed)
    a, other = generator.normal(size=(2, N))
    columns = {"a": a, "b": 0.5 * a + np.sqrt(0.75) * other, "f": (generator.uniform(size=N) < 0.2) * 1.0}
    x = np.column_stack([np.ones(N), *columns.values()])
    return {name: np.clip(column, -4, 4) for name, column in columns.items()} | {
        "y": x @ TRUTH + SIGMA * generator.normal(size=N)
    }


# variance of x'b: a and b are correlated .5, f is 1 in a fifth of the rows
EXPLAINED = 1 + 0.25 + 2 * 1 * -0.5 * 0.5 + 0.64 * 0.16
RSQUARED = EXPLAINED / (EXPLAINED + SIGMA**2)


@pytest.fixture(scope="module", params=BUDGETS)
def fits(request: pytest.FixtureRequest) -> list[dps.Fit]:
    made = []
    for seed in range(RUNS):
        with noise(SeededNoise(seed)):
            made.append(dps.ols("y ~ a + b + f", sample(seed), SCHEMA).fit(BUDGETS[request.param]))
    assert made[0].names == ("Intercept", "a", "b", "f")
    return made


def at_least(intervals: int) -> int:
    """Fewest hits that sound 95% intervals have, but for bad luck."""
    return int(stats.binom.ppf(SURE, intervals, 0.95))


def test_intervals_of_coefficients_cover(fits: list[dps.Fit]) -> None:
    limits = np.array([fit.conf_int().to_numpy() for fit in fits])
    hits = (limits[:, :, 0] <= TRUTH) & (TRUTH <= limits[:, :, 1])
    assert (hits.sum(axis=0) >= at_least(RUNS)).all()
    assert hits.sum() >= at_least(4 * RUNS)


def test_intervals_of_sigma_cover(fits: list[dps.Fit]) -> None:
    assert sum(fit.sigma.conf_low <= SIGMA <= fit.sigma.conf_high for fit in fits) >= at_least(RUNS)


def test_intervals_of_rsquared_cover(fits: list[dps.Fit]) -> None:
    values = [fit.rsquared for fit in fits]
    assert sum(value.conf_low <= RSQUARED <= value.conf_high for value in values) >= at_least(RUNS)


def test_standard_errors_are_the_scatter_of_estimates(fits: list[dps.Fit]) -> None:
    """Not boastful: the size of errors in standard errors; nor wide, though what is weak is widened."""
    errors = np.array([(fit.params.to_numpy() - TRUTH) / fit.bse.to_numpy() for fit in fits])
    size = np.sqrt(np.mean(errors**2))
    # errors of four coefficients of a fit are correlated: as good as two
    assert 0.7 < size < np.sqrt(stats.chi2.isf(SURE, 2 * RUNS) / (2 * RUNS))
    assert 0.1 < np.nanmean([fit.privacy_share for fit in fits]) < 0.9


@pytest.mark.parametrize("law", ["normal", pytest.param("exponential", marks=pytest.mark.long), "lognormal"])
def test_intercepts_hold_where_errors_are_skewed(law: str) -> None:
    """Clipping moves them; a normal error's are not widened for it."""
    n, held, width = 10_000, [], []
    schema = dps.Schema(y=dps.bounded(-10, 30), x=dps.bounded(-4, 4))
    for seed in range(25):
        rng = np.random.default_rng([seed, 5])
        error = {
            "normal": rng.normal(size=n),
            "exponential": rng.exponential(size=n) - 1,
            "lognormal": (np.exp(rng.normal(size=n)) - np.exp(0.5)) / 2.16,
        }[law]
        x = np.clip(rng.normal(size=n), -4, 4)
        with noise(SeededNoise(seed)):
            fit = dps.ols("y ~ x", {"x": x, "y": 1 + x + error}, schema).fit(dps.approx(1, 1e-6))
        held.append(abs(fit.params["Intercept"] - 1) < 1.96 * fit.bse["Intercept"])
        width.append(fit.bse["Intercept"] / fit.bse["x"])
    assert np.mean(held) >= 0.8  # 20 of 25; with .95 fewer come once in ten thousand times
    if law == "normal":
        assert np.median(width) < 1.3

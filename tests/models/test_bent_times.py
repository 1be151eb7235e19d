"""Times that follow the logarithm of a skewed covariate, written as a line: the slope is that of all rows."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import optimize

import dpstats as dps
from dpstats.budget import Budget
from dpstats.testing import SeededNoise, noise

N = 3000


def made(seed: int, log: bool, n: int = N) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    income = np.clip(np.exp(draw.normal(0, 1.2, n)), 0, 60).round(2)
    effect = np.log1p(income) if log else income
    line = 7 - 0.3 * (effect - effect.mean()) / effect.std()
    other = np.clip(draw.normal(size=n), -5, 5)
    life = np.exp(line - 0.1 * other + 0.6 * np.log(draw.exponential(size=n)))
    end = np.minimum(4000, draw.uniform(100, 8000, n))
    time = np.clip(np.minimum(life, end), 0.01, 4000)
    return pd.DataFrame(dict(income=income, other=other, time=time, failed=(life <= end).astype(int)))


def weibull(data: pd.DataFrame) -> float:
    """Slope along the income by maximum likelihood."""
    x = sm.add_constant(data[["income", "other"]].to_numpy())
    y, event = np.log(data["time"].to_numpy()), data["failed"].to_numpy()

    def loss(at: np.ndarray) -> float:
        z = (y - x @ at[:3]) / np.exp(at[3])
        return float(-np.mean(event * (z - at[3]) - np.exp(np.minimum(z, 50))))

    return float(optimize.minimize(loss, [7, 0, 0, -0.5], method="BFGS").x[1])


def cox(data: pd.DataFrame) -> float:
    x, event = (data.sort_values("time")[names].to_numpy() for names in (["income", "other"], "failed"))

    def loss(at: np.ndarray) -> float:
        line = x @ at
        return -float(np.mean(event * (line - np.log(np.cumsum(np.exp(line[::-1]))[::-1]))))

    return float(optimize.minimize(loss, [0, 0], method="BFGS").x[0])


SCHEMA = dps.Schema(
    income=dps.bounded(0, 60), other=dps.bounded(-5, 5), time=dps.bounded(0.01, 4000), failed=dps.event()
)


def looked(model: str, data: pd.DataFrame, seed: int, budget: Budget) -> tuple[float, float, list[str]]:
    """Slope along the income, length of its interval, and words of bends."""
    with noise(SeededNoise(seed)):
        fit = getattr(dps, model)("Surv(time, failed) ~ income + other", data, SCHEMA).fit(budget)
    low, high = fit.conf_int().loc["income"]
    told = [words for code, words in fit.flags if code == "bends"]
    assert all("along income:" in words for words in told)
    return fit.params["income"], high - low, told


@pytest.mark.parametrize(("model", "whole"), [("survreg", weibull), ("coxph", cox)])
def test_what_bends_along_a_skewed_column_is_told_and_its_slope_is_that_of_all_rows(model, whole):
    found = []
    for seed in range(3):
        for log in (True, False):
            data = made(seed, log)
            slope, length, told = looked(model, data, seed, dps.approx(8, 1e-6))
            assert abs(slope - whole(data)) < length
            found.append(len(told))
    assert found == [1, 0] * 3


def test_under_pure_epsilon_bends_are_told_and_their_slopes_held() -> None:
    found = []
    for seed in range(3):
        for log in (True, False):
            data = made(seed, log, 4 * N)
            slope, length, told = looked("survreg", data, seed, dps.pure(8))
            assert abs(slope - weibull(data)) < length
            found.append(len(told))
    assert found == [1, 0] * 3

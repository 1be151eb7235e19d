"""A small group along which a covariate spreads more and acts otherwise, with no product in the formula."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.testing import SeededNoise, noise

SCHEMA = dps.Schema(
    time=dps.bounded(0.001, 400),
    failed=dps.event(),
    g=dps.flag(),
    x=dps.bounded(-60, 60),
    other=dps.bounded(-60, 60),
)


def made(seed: int, otherwise: bool) -> pd.DataFrame:
    """In one row of twenty x is four times as spread; there it may not act."""
    draw = np.random.default_rng(seed)
    g = draw.random(8000) < 0.05
    x, other = draw.normal(0, np.where(g, 4, 1)), draw.standard_t(4, 8000)
    line = 4 + np.where(g & otherwise, 0.0, 0.4) * x + 0.3 * g + 0.1 * other
    life, end = np.exp(line + 0.6 * np.log(draw.exponential(size=8000))), draw.uniform(10, 200, 8000)
    time = np.minimum(life, end).clip(0.001, 400)
    return pd.DataFrame(dict(time=time, failed=1 * (life <= end), g=1 * g, x=x, other=other))


def fitted(model: str, formula: str, data: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
    """Interval of x, and words of bends."""
    with noise(SeededNoise(3)):
        fit = getattr(dps, model)(f"Surv(time, failed) ~ {formula}", data, SCHEMA).fit(dps.approx(4, 1e-6))
    return fit.conf_int().loc["x"].to_numpy(), [words for code, words in fit.flags if code == "bends"]


# by maximum likelihood, of 48,000 rows
@pytest.mark.parametrize(("model", "whole"), [("survreg", 0.235), ("coxph", -0.357)])
def test_the_slope_of_a_group_that_is_far_out_is_in_the_interval(model: str, whole: float) -> None:
    (low, high), words = fitted(model, "x + g + other", made(1, True))
    assert low < whole < high and len(words) == 1 and "along x:" in words[0]
    product, none = fitted(model, "x * g + other", made(1, True))
    right, same = fitted(model, "x + g + other", made(1, False))
    assert not none and not same
    # as long as what the look cannot exclude of other effects that end far out
    assert max(np.ptp(product), np.ptp(right)) < 0.6 * (high - low)


def levelled(seed: int, model: str, epsilon: float, effect: str) -> np.ndarray:
    """Intervals of x, along which an effect ends on both sides or few rows say nothing, and of a flag."""
    draw, n = np.random.default_rng(seed), 8000
    g = draw.random(n) < 0.3
    if effect == "ends":
        x = np.clip(draw.standard_t(3, n), -20, 20)
        line = 0.6 * np.tanh(x / 2)
    else:
        junk, true = draw.random(n) < 0.04, draw.normal(size=n)
        x, line = np.where(junk, draw.normal(0, 4, n), true), np.where(junk, 0, 0.5 * true)
    life = np.exp(3 + line + 0.3 * g + 0.5 * np.log(draw.exponential(size=n)))
    end = draw.uniform(5, 60, n)
    data = pd.DataFrame(dict(time=np.minimum(life, end), failed=1 * (life <= end), g=1 * g, x=x, other=0.0))
    with noise(SeededNoise(seed)):
        fit = getattr(dps, model)("Surv(time, failed) ~ x + g", data, SCHEMA).fit(dps.approx(epsilon, 1e-6))
    return fit.conf_int().loc[["x", "g"]].to_numpy()


# by maximum likelihood, of 200,000 rows
@pytest.mark.parametrize(("model", "whole"), [("survreg", 0.125), ("coxph", -0.236)])
def test_an_effect_that_ends_on_both_sides_is_hardly_ever_missed_where_noise_hides_that(
    model: str, whole: float
) -> None:
    """Of these eight fits six and five were more than two half-lengths off."""
    limits = np.array([levelled(seed, model, 0.7, "ends")[0] for seed in range(8)])
    off = np.abs(limits.mean(axis=1) - whole) / (np.ptp(limits, axis=1) / 2)
    assert (off > 2).sum() <= 1


def test_other_slopes_of_hazards_are_those_about_the_line_of_all_rows() -> None:
    """A line from which hazards of many rows lie far makes them smaller, as it makes a sigma larger."""
    for seed in range(3):
        low, high = levelled(seed, "coxph", 4, "junk")[1]
        assert low < -0.464 < high


def test_a_steep_line_is_told_though_effects_that_end_far_out_would_move_it_by_much() -> None:
    """They are less likely than what an interval may miss; by variance it was 10 to 20 times too long."""
    for seed in range(2):
        draw = np.random.default_rng(seed)
        x = draw.standard_t(6, 8000)
        life, end = np.exp(3 + 2 * x + 0.3 * np.log(draw.exponential(size=8000))), draw.uniform(5, 3000, 8000)
        times = np.minimum(life, end).clip(1e-9)
        schema = dps.Schema(time=dps.bounded(1e-9, 1e4), failed=dps.event(), x=dps.bounded(-60, 100))
        data = pd.DataFrame(dict(time=times, failed=1 * (life <= end), x=x))
        with noise(SeededNoise(seed)):
            fit = dps.survreg("Surv(time, failed) ~ x", data, schema).fit(dps.approx(2, 1e-6))
        assert fit.conf_int().loc["x"][0] < 2 < fit.conf_int().loc["x"][1]
        assert fit.bse["x"] < 0.01 and not fit.flags

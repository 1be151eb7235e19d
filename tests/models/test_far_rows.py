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
    assert max(np.ptp(product), np.ptp(right)) < (high - low) / 4

"""A yes or no of which one answer is rare, and lies where a covariate is far from its middle."""

import numpy as np
import pytest
from scipy.special import ndtr

import dpstats as dps
from dpstats.testing import Recording, SeededNoise, noise
from tests.luck import fewest

SCHEMA = dps.Schema(x=dps.bounded(-4, 4), y=dps.flag())


@pytest.mark.long
def test_intervals_hold_a_slope_where_noise_of_a_step_hides_all_rare_answers() -> None:
    """109 of 20,000 say no, of a probit: 39 of 60 slopes were held, and 52 are.

    Four averaged steps began at the line without an effect, and fell short of the root.
    """
    held = []
    for seed in range(60):
        draw = np.random.default_rng([seed, 31])
        x = draw.normal(size=20_000).clip(-4, 4)
        y = (draw.random(len(x)) < ndtr(3.6 - x)) * 1
        with noise(SeededNoise(seed)):
            fit = dps.glm("y ~ x", dict(x=x, y=y), SCHEMA, "binomial", link="probit").fit(dps.approx(1, 1e-6))
        low, high = np.asarray(fit.conf_int())[1]
        held.append(low <= -1 <= high)
    assert sum(held) >= fewest(60, 0.9)


@pytest.mark.parametrize(
    ("share", "columns", "steps"), [(0.4, 1, 10), (0.01, 1, 16), (0.15, 10, 10), (0.02, 10, 16)]
)
def test_a_rare_answer_has_as_many_steps_as_few_rows(share: float, columns: int, steps: int) -> None:
    """Noise of a step grows with the columns, and hides more of the rarer answers; others are not rare."""
    draw, names = np.random.default_rng(1), [f"x{j}" for j in range(columns)]
    data = {name: draw.uniform(-1, 1, 20_000) for name in names}
    data["y"] = (draw.random(20_000) < share) * 1
    schema = dps.Schema(y=dps.flag(), **dict.fromkeys(names, dps.bounded(-1, 1)))
    recording = Recording(SeededNoise(1))
    with noise(recording):
        dps.logit("y ~ " + " + ".join(names), data, schema).fit(dps.gdp(0.3))
    assert sum(record.name == "logistic_score" for record in recording.records) == steps

"""How many times as large all effects on a yes or no may be: what scores along the estimate say of it."""

import math

import numpy as np
import pytest
from scipy.special import expit, ndtri

import dpstats as dps
from dpstats.estimators.newton.ray import Ray
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import BINOMIAL
from dpstats.families.quantiles import even_shares
from dpstats.testing import SeededNoise, noise

SCORE = BoundedScore.unclipped(BINOMIAL)
NORMAL = ndtri(even_shares(500))
MOST = 50.0


@pytest.mark.parametrize("error", [0.05, 0.1, 0.2])
def test_the_longest_multiple_of_a_line_that_few_rows_contradict_has_a_closed_form(error: float) -> None:
    """Of rows that are spread evenly a score is half of 1 - 1 / t^2 Newton steps."""
    ray = Ray(np.ones(1), 0.0, error**2, 0.0)
    even = np.linspace(-60, 60, 6001)
    assert ray.longest(SCORE, even, MOST) == pytest.approx((1 - 2 * 1.96 * error) ** -0.5, rel=0.02)


def test_a_multiple_has_no_end_where_noise_is_more_than_all_that_scores_can_say() -> None:
    ray = Ray(np.ones(1), 0.0, 0.3**2, 0.0)
    assert ray.longest(SCORE, 12 * NORMAL, MOST) == MOST


def test_sampling_alone_leaves_no_multiple_open() -> None:
    """Where rows are predicted with certainty scores do not scatter."""
    ray = Ray(np.ones(1), 0.0, 0.0, 0.3**2)
    assert ray.longest(SCORE, 12 * NORMAL, MOST) < 3


def test_the_longest_multiple_of_a_gentle_line_is_that_of_its_interval() -> None:
    ray = Ray(np.ones(1), 0.0, 0.2**2, 0.0)
    assert ray.longest(SCORE, 0.1 * NORMAL, MOST) == pytest.approx(ray.usual, rel=0.02)


def test_points_that_have_not_arrived_leave_less_that_scores_can_say() -> None:
    """Information is more there, so that steps by it are shorter."""
    arrived, short = (Ray(np.array([at]), 1 - at, 0.12**2, 0.0) for at in (1.0, 0.8))
    near, far = (ray.longest(SCORE, 12 * NORMAL, MOST) for ray in (arrived, short))
    assert near < 2
    assert far == MOST


def fits(sd: float, seeds: range) -> tuple[float, int]:
    """Share of the slopes of three columns that are held, and how many fits are `separated`."""
    held, separated = [], 0
    for seed in seeds:
        generator, n = np.random.default_rng([seed, 9]), 2_000
        x, slopes = generator.normal(size=(n, 3)).clip(-5, 5), sd * np.array([0.6, 0.6, -math.sqrt(0.28)])
        y = generator.random(n) < expit(x @ slopes)
        schema = dps.Schema(y=dps.flag(), **{name: dps.bounded(-5, 5) for name in "abc"})
        model = dps.logit("y ~ a + b + c", dict(zip("abcy", (*x.T, y * 1), strict=True)), schema)
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(1.5, 1e-6))
        low, high = fit.conf_int().to_numpy()[1:].T
        held += list((low <= slopes) & (slopes <= high))
        separated += "separated" in dict(fit.flags)
    return float(np.mean(held)), separated


def test_slopes_of_rows_that_are_predicted_with_near_certainty_are_held() -> None:
    """Noise hides that scores are not 0: slopes were a third as large, and one in ten was held."""
    held, _ = fits(30.0, range(20))
    assert held > 0.9


def test_a_line_that_rows_contradict_is_as_it_was() -> None:
    held, separated = fits(1.5, range(10))
    assert held > 0.85 and separated == 0

"""How many times as large all effects on a yes or no may be: what scores along the estimate say of it."""

import math

import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri

import dpstats as dps
from dpstats.budget import Budget
from dpstats.estimators.engine.finish import Estimate
from dpstats.estimators.newton.check import Left, Read
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.newton.ray import Along, Ray, reaches
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import BINOMIAL
from dpstats.families.quantiles import even_shares
from dpstats.testing import SeededNoise, noise

SCORE = BoundedScore.unclipped(BINOMIAL)
NORMAL = ndtri(even_shares(500))
MOST, BUDGET = 50.0, dps.approx(1.5, 1e-6)


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


LINKS = {"logit": expit, "probit": ndtr, "cloglog": lambda eta: -np.expm1(-np.exp(np.minimum(eta, 30.0)))}


def fits(sd: float, seeds: range, link: str, budget: Budget) -> tuple[float, int]:
    """Share of the slopes of three columns that are held, and how many fits are `separated`."""
    held, separated = [], 0
    for seed in seeds:
        generator, n = np.random.default_rng([seed, 9]), 2_000
        slopes = sd * np.array([0.6, 0.6, -math.sqrt(0.28)])
        x = generator.normal(size=(n, 3)).clip(-5, 5)
        y = generator.random(n) < LINKS[link](x @ slopes)
        schema = dps.Schema(y=dps.flag(), **{name: dps.bounded(-5, 5) for name in "abc"})
        data = dict(zip("abcy", (*x.T, y * 1), strict=True))
        model = dps.glm("y ~ a + b + c", data, schema, family="binomial", link=link)
        with noise(SeededNoise(seed)):
            fit = model.fit(budget)
        low, high = fit.conf_int().to_numpy()[1:].T
        held += list((low <= slopes) & (slopes <= high))
        separated += "separated" in dict(fit.flags)
    return float(np.mean(held)), separated


@pytest.mark.parametrize(
    ("link", "budget"), [("logit", BUDGET), ("probit", BUDGET), ("cloglog", BUDGET), ("logit", dps.pure(3.0))]
)
def test_slopes_of_rows_that_are_predicted_with_near_certainty_are_held(link: str, budget: Budget) -> None:
    """Noise hides that scores are not 0: slopes were a third as large, and of logits one in ten was held."""
    held, _ = fits(30.0, range(16), link, budget)
    assert held > 0.85


@pytest.mark.parametrize(
    ("link", "budget"), [("logit", BUDGET), ("probit", BUDGET), ("cloglog", BUDGET), ("logit", dps.pure(3.0))]
)
def test_a_line_that_rows_contradict_is_as_it_was(link: str, budget: Budget) -> None:
    held, separated = fits(1.5 if link == "logit" else 0.9, range(10), link, budget)
    assert held > 0.85 and separated == 0


def test_an_effect_so_large_that_no_information_is_seen_is_kept() -> None:
    """The slope of 20 a sd is 2 or more in all fits, where it was next to nothing in a third of them."""
    slopes = []
    for seed in range(12):
        generator, n = np.random.default_rng([seed, 10]), 4_000
        x = generator.normal(size=(n, 4)).clip(-5, 5)
        schema = dps.Schema(y=dps.flag(), **{name: dps.bounded(-40, 40) for name in "abcd"})
        data = dict(zip("abcdy", (*x.T, (generator.random(n) < ndtr(20 * x[:, 0])) * 1), strict=True))
        with noise(SeededNoise(seed)):
            fit = dps.glm("y ~ a + b + c + d", data, schema, family="binomial", link="probit").fit(
                dps.approx(0.7, 1e-6)
            )
        slopes.append(fit.params["a"])
    assert np.sort(slopes)[2] > 1.2


def reached(share: float, sd: float = 0.01, error: float = 0.2, spread: float = 4.0) -> float:
    """How much longer an interval is of a logit that leaves such a share of the log-likelihood."""
    one = np.ones(2)
    problem = Problem(BINOMIAL, -5 * one[1:], 5 * one[1:], (0.0, 1.0))
    located = Located(0 * one, one, 0 * one, -5 * one, 5 * one, one, (), 0.5, 0.5, 0.0, 1e-3, one, one < 0)
    cov = np.diag([1.0, (error * spread) ** 2])
    found = Estimate(np.array([0.0, spread]), cov, cov)
    along = Along(found.params[None], 0 * one, np.eye(2), lambda _: 0.0)
    read = Read(np.eye(2), 0.0)
    longer, _ = reaches(problem, located, along, read, 2_000, found, Left(share, sd))
    return math.sqrt(1 + float(longer[1, 1]) / cov[1, 1])


def test_only_of_a_line_that_leaves_little_of_the_log_likelihood_all_multiples_are_asked() -> None:
    """A line of an ordinary logit leaves .4 of it and more, however large its sd is by far rows."""
    assert reached(0.3) > 2
    assert reached(0.4) == 1
    assert reached(0.4, sd=0.1) > 2  # which noise may make of .3
    assert reached(0.4, sd=0.1, error=1.1) == 1  # of a line that may be none
    assert reached(0.4, sd=0.1, spread=1.0) == 1  # of a gentle line
    assert reached(0.2, sd=0.1, error=1.1) > 2  # surely

"""A level that noise hides has a wide interval, and no other coefficient is lost with it."""

import numpy as np
import pytest
from scipy import stats

import dpstats as dps
from dpstats.budget import Budget
from dpstats.estimators.engine.finish import Estimate, guessed
from dpstats.testing import SeededNoise, noise

BEFORE, FOUND = np.diag([4.0, 4.0, 20.0]), Estimate(np.zeros(3), np.eye(3), np.eye(3))


@pytest.mark.parametrize("guess, lost", [([0.1, 0.02, 19.0], []), ([3e3, 0.5, 1e13], [0, 2])])
def test_only_what_nothing_bounds_is_lost(guess: list[float], lost: list[int]) -> None:
    found = guessed(FOUND, np.diag(guess), BEFORE, constant=True)
    assert list(np.flatnonzero(np.isinf(np.diag(found.cov)))) == lost
    assert found.problems == tuple(f"not_estimable:{j}" for j in lost)


@pytest.mark.parametrize("k", [1, 3])
def test_nothing_is_told_where_noise_hides_every_slope(k: int) -> None:
    """Of the intercept, too, if it hides that or there is nothing else."""
    guess = np.array([3.0, 3.0, 15.0])[:k]
    found = Estimate(np.zeros(k), np.eye(k), np.eye(k))
    assert guessed(found, np.diag(guess), BEFORE[:k, :k], constant=True).problems == ("hopeless",)
    guess[0] = 0.1
    found = guessed(found, np.diag(guess), BEFORE[:k, :k], constant=True)
    assert np.isinf(np.diag(found.cov)).tolist() == [False] + [True] * (k - 1)


def surveyed(seed: int) -> tuple[list[str], np.ndarray]:
    """Coefficients without an interval, and how many half-lengths the others are off."""
    g, n = np.random.default_rng(seed), 15_000
    names = ["none", "school", "college", "phd"]
    age, edu = g.uniform(18, 90, n), g.choice(4, n, p=[0.3, 0.45, 0.2445, 0.0055])
    truth = np.array([-1.0, 0.3, 0.6, 0.9, 0.01])  # intercept, levels, age
    eta = truth[0] + np.append(0, truth[1:4])[edu] + truth[4] * age
    data = dict(y=(g.normal(size=n) < eta) * 1, age=age, edu=np.array(names)[edu])
    schema = dps.Schema(y=dps.flag(), age=dps.bounded(18, 90), edu=dps.levels(*names))
    with noise(SeededNoise(seed)):
        fit = dps.glm("y ~ age + edu", data, schema, family="binomial", link="probit").fit(
            dps.approx(1, 1e-6)
        )
    half = stats.norm.ppf(0.975) * fit.bse.to_numpy()
    known = np.isfinite(half)
    return list(fit.params.index[~known]), np.abs(fit.params.to_numpy() - truth)[known] / half[known]


def test_a_level_of_half_a_percent_takes_no_other_coefficient_with_it() -> None:
    """Half of such fits lost others, 6 of 20 the intercept."""
    fits = [surveyed(seed) for seed in range(10)]
    assert not any(lost for lost, _ in fits)
    off = np.concatenate([distances for _, distances in fits])
    assert np.sum(off > 1) <= 3
    assert np.all(off < 2)


@pytest.mark.parametrize("budget", [dps.approx(4, 1e-6), dps.pure(3)])
@pytest.mark.parametrize("always", [0, 1])
def test_a_reference_level_that_always_says_the_same_leaves_intercept_and_contrasts_open(
    budget: Budget, always: int
) -> None:
    """All husbands are men: they were confidently 5 log odds from other men and women, of any number."""
    g, n = np.random.default_rng(3), 20_000
    kin, age = g.choice(3, n, p=[0.4, 0.35, 0.25]), g.uniform(18, 90, n)
    odds = np.array([0.0, -0.2, 0.4])[kin] + 0.02 * (age - 50)
    y = np.where(kin == 0, always, g.random(n) < 1 / (1 + np.exp(-odds)))
    data = dict(y=y, age=age, kin=np.array(["husband", "child", "other"])[kin])
    schema = dps.Schema(y=dps.flag(), age=dps.bounded(0, 100), kin=dps.levels("husband", "child", "other"))
    with noise(SeededNoise(4)):
        fit = dps.logit("y ~ age + kin", data, schema).fit(budget)
    half = stats.norm.ppf(0.975) * fit.bse
    assert np.all(half.drop("age") > 14) and half["age"] < 0.01
    apart = np.array([0.0, -1.0, 1.0, 0.0])  # of levels that say both
    sd = np.sqrt(apart @ fit.cov_params().to_numpy() @ apart)
    assert sd < 0.05 and abs(apart @ fit.params.to_numpy() - 0.6) < 3 * sd

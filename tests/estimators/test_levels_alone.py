"""A level that noise hides has a wide interval, and no other coefficient is lost with it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import dpstats as dps
from dpstats.budget import Budget
from dpstats.estimators.engine.finish import Estimate, guessed, told_beside
from dpstats.estimators.level_scores import END, OPEN, REACH, Z95, LevelScores
from dpstats.estimators.newton.level_coefficients import moved_alone, read_levels
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.families import FAMILIES
from dpstats.testing import SeededNoise, noise

BEFORE, FOUND = np.diag([4.0, 4.0, 20.0]), Estimate(np.zeros(3), np.eye(3), np.eye(3))


@pytest.mark.parametrize("guess, lost", [([0.1, 0.02, 19.0], []), ([3e3, 0.5, 1e13], [0, 2])])
def test_only_what_nothing_bounds_is_lost(guess: list[float], lost: list[int]) -> None:
    found = guessed(FOUND, np.diag(guess), BEFORE, True, False)
    assert list(np.flatnonzero(np.isinf(np.diag(found.cov)))) == lost
    assert found.problems == tuple(f"not_estimable:{j}" for j in lost)


@pytest.mark.parametrize("k", [1, 3])
def test_nothing_is_told_where_noise_hides_every_slope(k: int) -> None:
    """Of the intercept, too, if it hides that or there is nothing else."""
    guess = np.array([3.0, 3.0, 15.0])[:k]
    found = Estimate(np.zeros(k), np.eye(k), np.eye(k))
    assert guessed(found, np.diag(guess), BEFORE[:k, :k], True, False).problems == ("hopeless",)
    guess[0] = 0.1
    found = guessed(found, np.diag(guess), BEFORE[:k, :k], True, False)
    assert np.isinf(np.diag(found.cov)).tolist() == [False] + [True] * (k - 1)


def test_one_direction_that_noise_hides_in_every_slope_takes_none_with_it() -> None:
    """As the line of a rare reference level is: what slopes differ by is known."""
    guess = np.outer([1.0, -1.0, -1.0], [1.0, -1.0, -1.0])
    before = np.eye(3)
    assert guessed(FOUND, guess, before, True, True).problems == ()
    assert guessed(FOUND, guess + 0.6 * np.eye(3), before, True, True).problems == ("hopeless",)
    assert guessed(FOUND, guess, before, True, False).problems == ("hopeless",)


def test_what_is_told_beside_a_line_has_none_of_it() -> None:
    """Of two lines in four numbers: neither is left, and what they do not tell of stays as it is."""
    draw = np.random.default_rng(1)
    ways, rows = draw.normal(size=(4, 2)), draw.normal(size=(4, 2))
    left = told_beside(ways, rows)
    np.testing.assert_allclose(left @ ways, 0, atol=1e-12)
    np.testing.assert_allclose(left @ left, left, atol=1e-12)
    other = np.linalg.svd(rows.T)[2][2]
    np.testing.assert_allclose(left @ other, other)
    np.testing.assert_array_equal(told_beside(ways[:, :0], rows[:, :0]), np.eye(4))


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


LINES, SLOPE, MEAN = np.array([-2.8, -2.6, -3.1]), 0.3, 40.0  # of three levels, and of a number of this mean
CATEGORY = Problem(
    FAMILIES["poisson"],
    lower=np.zeros(3),
    upper=np.array([1.0, 1.0, 80.0]),
    response=(0.0, 50.0),
    coded=np.array([True, True, False]),
    categories=(np.array([1, 2]),),
)
COLUMNS = Located(
    center=np.array([0.0, 0.4, 0.3, MEAN]),
    scale=np.ones(4),
    least=np.zeros(4),
    lower=np.zeros(4),
    upper=np.ones(4),
    squares=np.ones(4),
    rare=(),
    mean=1.0,
    sd=1.0,
    offset=0.0,
    noise=0.0,
    prior=np.ones(4),
    dim=np.zeros(4, dtype=bool),
)
ROWS = np.outer([1.0, 0.4, 0.3, MEAN], [1.0, 0.4, 0.3, MEAN]) + np.diag([0.0, 0.2, 0.2, 9.0])


@pytest.mark.parametrize("hidden", [0, 1, 2])
@pytest.mark.parametrize("away", [-600.0, 600.0, 3.0])
def test_a_level_that_steps_ran_away_with_lies_within_reach_of_the_others(hidden: int, away: float) -> None:
    """A reference level was at log means of -600, with an interval of 470 about it."""
    lines, sds = LINES + away * (np.arange(3) == hidden), np.where(np.arange(3) == hidden, 240.0, 0.05)
    back = np.array([row for row, _ in moved_alone(CATEGORY, ROWS)] + [np.eye(4)[3]])
    to_user = np.linalg.inv(back)
    params = to_user @ np.append(lines, SLOPE)
    cov = to_user @ np.diag(np.append(sds, 0.01) ** 2) @ to_user.T
    scores = LevelScores(params[None], np.zeros(4), cov, cov / 4, moments=ROWS)
    guess = np.diag([20.0, 0.0, 0.0, 0.0])
    found = Estimate(params, cov + guess, cov * 3 / 4 + guess)
    found.cov[3, 3] = math.inf  # of a number that is lost
    found = read_levels(CATEGORY, COLUMNS, found, scores)
    others = np.arange(3) != hidden
    assert found.params[3] == SLOPE and found.cov[3, 3] == math.inf
    found.cov[3, 3] = cov[3, 3]
    seen, shown = back @ found.params, back @ (found.cov - guess) @ back.T
    assert seen[:3][others] == pytest.approx(lines[others])
    assert abs(seen[hidden] - lines[others].mean()) <= REACH + 0.01
    assert abs(away) > END or seen[hidden] == pytest.approx(lines[hidden])
    assert shown[hidden, hidden] == pytest.approx(OPEN)
    assert np.sqrt(np.diag(shown)[:3][others]) == pytest.approx(sds[others], rel=0.01)
    by_sampling = np.diag(back @ (found.cov - found.cov_privacy) @ back.T)[:3]
    assert by_sampling == pytest.approx(np.where(others, sds, 0.0) ** 2 / 4, abs=1e-8)


@pytest.mark.parametrize(("sd", "open_ended"), [(0.2, False), (0.8, True)])
def test_rows_without_a_flag_gain_no_more_events_than_rows_with_it_had(sd: float, open_ended: bool) -> None:
    """Noise of a sd of .8 hid all events of three rows in ten, and the interval of the flag ended at -2."""
    flags, cov = replace(CATEGORY, categories=()), sd**2 * np.eye(4)
    scores = LevelScores(np.zeros((1, 4)), np.zeros(4), cov, 0 * cov, moments=np.eye(4))
    found = read_levels(flags, COLUMNS, Estimate(np.zeros(4), cov, cov), scores)
    assert (math.sqrt(found.cov[2, 2]) > 0.99 * END / Z95) == open_ended


@pytest.mark.parametrize(
    ("sd", "step", "open_ended"), [(0.45, 0.0, True), (0.35, 0.0, False), (0.35, -0.3, True)]
)
@pytest.mark.parametrize("categories", [(), CATEGORY.categories])
def test_rarer_answers_of_a_level_or_a_flag_that_noise_may_make_up_leave_an_end_open(
    categories: tuple[np.ndarray, ...], sd: float, step: float, open_ended: bool
) -> None:
    """Of 20 rows that say yes 9 are noise at a sd of .45; at one of .35 they are 7, and scores take 6 off."""
    family = FAMILIES["binomial"]
    levels = replace(CATEGORY, categories=categories, family=family)
    points, steps = np.array([0.0, -3.0, 0.0, 0.0]), np.array([0.0, step, 0.0, 0.0])
    cov = np.diag([1e-4, sd**2, 1e-4, 1e-4])

    def curvature(way: np.ndarray) -> tuple[float, float]:
        return (20.0, 2.0) if way[1] == 1 else (1000.0, 2.0)

    scores = LevelScores(points[None], steps, cov, 0 * cov, curvature, np.eye(4))
    found = read_levels(levels, COLUMNS, Estimate(points + steps, cov, cov), scores)
    assert (math.sqrt(found.cov[1, 1]) > 0.99 * END / Z95) == open_ended


def claimed(family: str, share: float, epsilon: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Contrasts with a rare reference level, and how many half-lengths they are off."""
    g, n = np.random.default_rng(seed), 19_000
    region, x = g.choice(4, n, p=[share, 0.4, 0.3, 0.3 - share]), g.normal(size=n).clip(-4, 4)
    mean = np.exp(-3 + 0.3 * x + 0.1 * region)
    y = g.poisson(mean).clip(0, 20) if family == "poisson" else (mean * g.gamma(2, 0.5, n)).clip(1e-6, 20)
    response = dps.count(20) if family == "poisson" else dps.bounded(1e-6, 20)
    schema = dps.Schema(y=response, x=dps.bounded(-4, 4), region=dps.levels(*"abcd"))
    data = dict(y=y, x=x, region=np.array(list("abcd"))[region])
    with noise(SeededNoise(seed)):
        fit = dps.glm("y ~ region + x", data, schema, family=family).fit(dps.approx(epsilon, 1e-6))
    half = stats.norm.ppf(0.975) * fit.bse.to_numpy()[1:4]
    contrasts = fit.params.to_numpy()[1:4]
    return contrasts, np.abs(contrasts - 0.1 * np.arange(1, 4)) / half


@pytest.mark.long
@pytest.mark.parametrize(("family", "share", "epsilon"), [("poisson", 0.005, 4), ("gamma", 0.005, 2)])
def test_contrasts_with_a_reference_level_that_noise_hides_hold(
    family: str, share: float, epsilon: float
) -> None:
    """Half of them were beyond 15, as far as -600, and one in ten missed."""
    fits = [claimed(family, share, epsilon, seed) for seed in range(300, 315)]
    assert np.max([np.abs(contrasts) for contrasts, _ in fits]) < END
    off = np.array([distances for _, distances in fits])
    assert np.mean(off.max(axis=1) <= 1) >= 0.9
    assert off.max() < 2


@pytest.mark.parametrize(("family", "always"), [("poisson", 0), ("binomial", 0), ("binomial", 1)])
def test_where_rows_without_a_flag_always_say_the_same_their_line_is_open_and_the_other_is_not(
    family: str, always: int
) -> None:
    """The intercept of claims against whether there was any had an interval of its own, silently wrong."""
    response = dps.count(9) if family == "poisson" else dps.flag()
    schema = dps.Schema(y=response, flag=dps.flag(), x=dps.bounded(-4, 4))
    known = []
    for seed in range(6):
        g, n = np.random.default_rng(seed), 20_000
        flag, x = g.random(n) < 0.5, g.normal(size=n).clip(-4, 4)
        mean = np.exp(0.3 * x)
        y = g.poisson(mean).clip(0, 9) if family == "poisson" else 1 * (g.random(n) < mean / (1 + mean))
        data = dict(y=np.where(flag, y, always), flag=1 * flag, x=x)
        with noise(SeededNoise(seed)):
            fit = dps.glm("y ~ flag + x", data, schema, family=family).fit(dps.approx(3, 1e-6))
        assert (fit.bse[["Intercept", "flag"]] > 0.9 * END / Z95).all()
        found = fit.t_test("Intercept + flag")
        assert abs(found.effect) < 4 * found.sd
        known.append(max(fit.bse["x"], *found.sd))
    assert np.median(known) < 0.1

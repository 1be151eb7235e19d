"""0/1 columns that few rows have: what is known of their information, and what their scores can tell."""

import math
from dataclasses import replace

import numpy as np
import pytest

import dpstats as dps
from dpstats.budget import Budget
from dpstats.estimators.engine.finish import Estimate
from dpstats.estimators.level_scores import FARTHEST, SHIFTS, LevelScores, level
from dpstats.estimators.location_scale import level_lines
from dpstats.estimators.location_scale.events import Events, events_of, in_full, levels_in_full
from dpstats.estimators.location_scale.information import SEEN, floored
from dpstats.estimators.location_scale.level_lines import level_curve
from dpstats.estimators.newton.level_coefficients import read_levels
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.row_scale import RowScale
from dpstats.families import DISTS, FAMILIES, SEV, Family
from dpstats.families.martingale import taper
from dpstats.families.tapers import Taper
from dpstats.testing import SeededNoise, noise

pytestmark = pytest.mark.long

EXPONENTIAL = np.exp(SHIFTS) - 1  # what a level of exponential lives, of gamma responses or of counts says
ONE = np.zeros(1)


def test_a_direction_that_is_seen_is_not_raised_by_the_error_of_others() -> None:
    """It made intervals of rare flags a third of their length, and steps towards their effect as short."""
    values, error = np.array([1.0, 1.0, 0.04]), np.diag([0.3, 0.3, 0.01])
    found = floored(np.diag(values), error, np.eye(3), np.ones(3))
    assert sorted(found.used) == pytest.approx(sorted(values))
    assert found.seen == pytest.approx(np.ones(3))


def test_a_direction_below_its_error_is_raised_to_it_and_not_seen() -> None:
    found = floored(np.diag([1.0, 0.01]), np.diag([0.1, 0.05]), np.eye(2), np.ones(2))
    assert min(found.used) == pytest.approx(SEEN[0] * 0.05)
    assert found.part(np.array([3.0, 2.0]), found.seen < 0.5) == pytest.approx([0.0, 2.0])


def flagged(share: float, width: int = 4, n: int = 40_000) -> tuple[np.ndarray, RowScale]:
    """Rows (1, flag, covariates of sd 1), the flag on a scale longer than its sd, as it is if rare."""
    generator = np.random.default_rng(7)
    flag, size = (np.arange(n) < share * n) * 1.0, max(math.sqrt(share * (1 - share)), 0.27)
    x = generator.normal(size=(n, width))
    x[:, 0] = (flag - share) / size
    ends = np.array([np.append(-share / size, [-9.0] * width), np.append((1 - share) / size, [9.0] * width)])
    return np.column_stack([np.ones(n), x]), RowScale(
        center=np.zeros(width),
        scale=np.ones(width),
        y_center=0.0,
        y_scale=1.0,
        log=False,
        fraction=1.0,
        fraction_sd=1e-3,
        binary=np.arange(width) == 0,
        lower=ends[0],
        upper=ends[1],
        ratio=np.append(share * (1 - share) / size**2, np.ones(width - 1)),
        error=np.full(width, 0.3),
        shares=np.zeros((width, 0)),
        places=np.zeros((width, 0)),
    )


def shortened_to(square: float, x: np.ndarray, scale: RowScale) -> Events:
    """What a release without noise says of these rows, none longer than the root of `square`."""
    short = x * np.minimum(1, math.sqrt(square) / np.linalg.norm(x, axis=1))[:, None]
    moments = np.zeros((len(x.T) + 1, len(x.T) + 1))
    moments[:-1, :-1], moments[-1, -1] = short.T @ short / len(x), 1.0
    return events_of(moments, 1e-6, scale, len(x))


@pytest.mark.parametrize("share", [0.003, 0.01, 0.05, 0.3])
def test_rows_of_a_rare_flag_count_in_full_however_long_they_are(share: float) -> None:
    """Shortened as their release has it, they said a quarter of what they say."""
    x, scale = flagged(share)
    square = len(x.T)
    events = shortened_to(square, x, scale)
    found = in_full(events, scale, np.ones(square - 1, dtype=bool), square)
    truth = float(np.mean(x[:, 1] ** 2))
    assert found.square[1, 1] == pytest.approx(truth, rel=0.1)
    assert share > 0.05 or events.square[1, 1] < 0.6 * truth
    assert found.square[2:, 2:] == pytest.approx(events.square[2:, 2:], abs=0.01)
    of_category = in_full(events, scale, np.zeros(square - 1, dtype=bool), square)
    assert of_category.square == pytest.approx(events.square)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.15])
def test_a_number_that_repeats_a_rare_flag_is_not_told_apart_from_it(share: float) -> None:
    """Of a dose that is 0 but for the treated, only they tell the slope beside the effect of treatment."""
    x, scale = flagged(share)
    rng = np.random.default_rng(7)
    x[:, 2] = x[:, 1] + 0.1 * rng.normal(size=len(x)) * (x[:, 1] > 0) * scale.upper[0]
    square, apart = len(x.T), np.array([0.0, 1.0, -1.0] + [0.0] * (len(x.T) - 3))
    short = shortened_to(square, x, scale)
    found = in_full(short, scale, np.ones(square - 1, dtype=bool), square)
    truth = x.T @ x / len(x)
    assert 1.5 * short.square[1, 2] < found.square[1, 2] < 1.05 * truth[1, 2]
    assert apart @ found.square @ apart < 1.05 * apart @ truth @ apart


@pytest.mark.parametrize("shares", [(0.6, 0.37, 0.03), (0.1, 0.89, 0.01), (0.2, 0.3, 0.5)])
def test_rows_of_a_rare_level_count_in_full_however_long_they_are(shares: tuple[float, ...]) -> None:
    """Shortened, they said so little that Newton's steps went to and fro."""
    x, scale = flagged(0.3)
    coded = (np.searchsorted(np.cumsum(shares) * len(x), np.arange(len(x))) == [[1], [2]]).T * 1.0
    center, size = np.array(shares[1:]), np.sqrt(np.array(shares[1:]) * (1 - np.array(shares[1:])))
    x[:, 1:3] = (coded - center) / size
    levels = np.full((3, 4), np.nan)
    levels[:, :2] = (np.array([[0, 0], [1, 0], [0, 1]]) - center) / size
    short = shortened_to(4.0, x, scale)
    found = levels_in_full(short, scale, levels, 4.0)
    back = np.linalg.inv(np.column_stack([np.ones(3), levels[:, :2]])).T
    counted, before = (np.diag(back @ each.square[:3, :3] @ back.T) for each in (found, short))
    assert counted == pytest.approx(shares, rel=0.15)
    assert min(shares) > 0.1 or min(before) < 0.2 * min(shares)
    assert found.square[3:, 3:] == pytest.approx(short.square[3:, 3:])
    # as noisy as they were stretched
    rng = np.random.default_rng(4)
    errors = rng.normal(0, 1e-3 / math.sqrt(2), (2000, 5, 5))
    errors = (errors + errors.swapaxes(1, 2)) / math.sqrt(2)
    noisy = [levels_in_full(replace(short, square=short.square + e), scale, levels, 4.0) for e in errors]
    sds = np.std([np.diag(each.square) for each in noisy], axis=0)
    assert sds / 1e-3 == pytest.approx(np.sum(found.way**2, axis=1), rel=0.1)


@pytest.mark.parametrize("noise_sd", [0.15, 0.3, 0.4])
def test_an_interval_of_a_level_covers_where_one_by_the_slope_does_not(noise_sd: float) -> None:
    """Lives of a level against what noise leaves of their number; read at the root, where the step is 0."""
    draws = np.random.default_rng(3).normal(size=200_000) * noise_sd
    errors = -np.log1p(-draws[draws < 1])  # of the root, and none where no number of events is left
    found = level(EXPONENTIAL, 0.01, ONE, 0.0, noise_sd)
    reach, lost = 1.96 * noise_sd, np.mean(draws >= 1)
    assert np.mean(np.abs(errors) <= found.factor * reach) == pytest.approx(0.95, abs=0.015 + lost)
    assert noise_sd < 0.3 or np.mean(np.abs(errors) <= reach) < 0.93


@pytest.mark.parametrize(
    ("truth", "sampling", "noise_sd"), [(-1.2, 0.1, 0.1), (-0.5, 0.1, 0.1), (0.0, 0.2, 0.05)]
)
def test_an_interval_of_a_level_covers_where_the_last_points_have_not_arrived(
    truth: float, sampling: float, noise_sd: float
) -> None:
    """What noise makes of a coefficient is more where its score is flat, and what sampling makes is not.

    The whole factor was divided by that of sampling: 84 and 87 % of intervals held in the place of 96 and 97.
    """
    draws, sd = np.random.default_rng(5).normal(size=(2000, 2)), math.hypot(sampling, noise_sd)
    steps = np.expm1(truth) + draws @ [math.exp(truth) * sampling, noise_sd]
    found = [level(EXPONENTIAL, 0.01, ONE, step, sd, sampling) for step in steps]
    held = [abs(each.shift - truth) <= each.factor * 1.96 * sd for each in found]
    assert 0.93 < np.mean(held) < 0.985


def test_a_level_of_which_all_events_may_be_noise_is_not_estimable() -> None:
    assert math.isinf(level(EXPONENTIAL, 0.01, ONE, 0.0, 0.6).factor)
    assert math.isfinite(level(EXPONENTIAL, 0.01, ONE, 0.0, 0.45).factor)
    assert math.isinf(level(np.full(len(SHIFTS), 0.9) * np.tanh(SHIFTS), 0.01, ONE, 2.0, 0.1).factor)


def test_a_common_level_is_as_it_is_by_its_slope() -> None:
    found = level(EXPONENTIAL, 0.5, ONE, 0.1, 0.05)
    assert found.shift == pytest.approx(0.1, abs=2e-3)
    assert found.factor == pytest.approx(1.0, abs=5e-3)


@pytest.mark.parametrize("truth", [-1.0, -0.3, 0.4, 1.0])
def test_a_level_is_found_from_points_around_it(truth: float) -> None:
    """Mean Newton step of Weibull lives at points that scatter; a straight line is off by their variance."""
    points = np.array([-0.8, 0.5, 0.1, 0.2])
    step = float(np.mean(np.exp(truth - points) - 1))
    assert points.mean() + level(EXPONENTIAL, 0.0, points, step, 0.05).shift == pytest.approx(truth, abs=0.01)
    assert abs(points.mean() + step - truth) > 0.05


@pytest.mark.parametrize("dist", ["weibull", "loglogistic", "lognormal"])
@pytest.mark.parametrize(
    ("c", "floor", "fraction"), [(1.6, -1.5, 0.999), (1.6, -9.0, 0.999), (8.0, -9.0, 0.5)]
)
def test_the_curve_is_that_of_the_scores(dist: str, c: float, floor: float, fraction: float) -> None:
    """Against scores of made-up rows whose lives are longer than predicted."""
    family = DISTS[dist].family
    end = round(float(family.quantile(fraction)) / 0.1) * 0.1
    lives = family.quantile((np.arange(200_000) + 0.5) / 200_000)
    cut = taper(family, c, floor)
    curve = level_curve(family, cut, fraction, 0.0)

    def score(shift: float) -> tuple[float, float, float]:
        z = np.minimum(lives + shift, end)
        event = lives + shift < end
        psi = cut.integrals(z).location - event * cut.at(z).g * cut.at(z).slope
        kept = event * cut.at(z).g * cut.at(z).slope ** 2 if family.bounded else np.zeros(1)
        own = event * family.log_hazard_slope(z - shift) ** 2
        return float(np.mean(psi)), float(np.mean(own)), float(np.mean(kept))

    left = (score(0.05)[0] - score(-0.05)[0]) / 0.1 / score(0.0)[1]
    for shift in (-1.5, -0.5, 0.5, 1.5):
        said, events, kept = score(shift)
        known = max(events * left, kept)
        assert np.interp(shift, SHIFTS, curve) == pytest.approx(said / known, rel=0.05, abs=0.02)
    assert FARTHEST == SHIFTS[-1]


@pytest.mark.parametrize("dist", ["weibull", "loglogistic"])
@pytest.mark.parametrize("c", [0.6, 1.6, 8.0])
def test_rows_that_fail_far_too_early_make_no_step_of_more_than_one(dist: str, c: float) -> None:
    """Their failures count in full, which the cut shortens where rows are well predicted: it said -1.24."""
    family = DISTS[dist].family
    assert -1.02 < level_curve(family, taper(family, c), 0.999, 0.0)[0] < -0.9


def test_rows_that_fail_before_the_floor_of_scores_make_no_longer_step_for_it() -> None:
    """Without it they seemed to grow with each sigma, and an interval ended where they no longer did."""
    family = DISTS["lognormal"].family
    frozen, free = (level_curve(family, taper(family, 1.6, floor), 0.999, 0.0) for floor in (-1.5, -9.0))
    early = SHIFTS <= -2
    assert np.ptp(frozen[early]) < 0.3 < 1 < np.ptp(free[early])


@pytest.mark.parametrize("budget", [dps.approx(6, 1e-6), dps.pure(6)], ids=["approx", "pure"])
def test_flags_are_read_by_the_cut_and_the_floor_of_the_scores(
    budget: Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = []

    def spy(family: Family, cut: Taper, fraction: float, slope: float) -> np.ndarray:
        used.append((cut.c, cut.floor))
        return level_curve(family, cut, fraction, slope)

    monkeypatch.setattr(level_lines, "level_curve", spy)
    rows = dict(life=np.exp(np.random.default_rng(1).normal(size=4000)), a=np.arange(4000) % 3 == 0)
    schema = dps.Schema(life=dps.bounded(1e-3, 1e3), a=dps.flag())
    with noise(SeededNoise(1)):
        fit = dps.survreg("Surv(life) ~ a", rows, schema, dist="lognormal").fit(budget)
    assert used and set(used) == {(fit.settings["cut c"], fit.settings["floor"])}
    assert fit.settings["floor"] > -9


def test_weibull_lives_say_the_same_however_they_are_censored() -> None:
    assert level_curve(SEV, taper(SEV, 64.0), 0.2, 0.7) == pytest.approx(EXPONENTIAL, rel=0.03, abs=0.01)


PROBLEM = dict(lower=np.zeros(2), upper=np.ones(2), response=(0.0, 50.0), coded=np.array([True, False]))
LOCATED = Located(
    center=np.array([0.0, 0.01, 0.01]),
    scale=np.ones(3),
    least=np.zeros(3),
    lower=np.zeros(3),
    upper=np.ones(3),
    squares=np.ones(3),
    rare=(),
    mean=1.0,
    sd=1.0,
    offset=0.0,
    noise=0.0,
    prior=np.ones(3),
    dim=np.zeros(3, dtype=bool),
)
POINTS = np.array([[0.3, -0.9, 0.2], [0.1, -0.5, 0.2]])


def read(family: str, sd: float, step: float = 0.0, sampling: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Of a model with an intercept, a rare flag and a column that is none: coefficients and their sds."""
    problem, ones, axes = Problem(FAMILIES[family], **PROBLEM), np.ones(3), np.eye(3)
    found = Estimate(POINTS.mean(axis=0) + step, sd**2 * axes, sd**2 * axes)
    scores = LevelScores(POINTS, step * ones, sd**2 * axes, sampling**2 * axes, moments=axes)
    found = read_levels(problem, LOCATED, found, scores)
    assert {*found.problems} <= {"open:1"}  # a note of an end that noise leaves open
    return found.params, np.sqrt(np.diag(found.cov))


@pytest.mark.parametrize("family", ["poisson", "gamma", "binomial"])
def test_the_interval_of_a_flag_that_noise_may_hide_has_no_end_that_matters(family: str) -> None:
    """And other columns keep theirs."""
    sds = read(family, 1.0)[1]
    assert 1.96 * sds[1] == pytest.approx(15, rel=1e-3)
    assert sds[[0, 2]] == pytest.approx(1.0)
    assert 1.01 < read(family, 0.35)[1][1] / 0.35 < 2.0
    assert np.all(read(family, 1e6)[1][[0, 2]] > 0.99e6)
    assert read("gaussian", 1.0)[1] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("family", ["poisson", "gamma", "binomial"])
def test_without_noise_an_interval_is_that_of_wald(family: str) -> None:
    assert read(family, 0.3, sampling=0.3)[1] == pytest.approx(0.3, rel=0.02)


def test_a_gamma_flag_is_found_where_its_scores_bend() -> None:
    """Their curvature is the same at all points, and told of no bend: effects were too near to 0."""
    truth = -1.3
    step = float(np.mean(np.exp(truth - POINTS[:, 1]) - 1))
    assert read("gamma", 0.1, step)[0][1] == pytest.approx(truth, abs=0.02)
    assert read("poisson", 0.1, step)[0] == pytest.approx(POINTS.mean(axis=0) + step)


def test_what_a_step_lacks_by_the_bend_of_scores_is_uncertain() -> None:
    """A level of counts whose averaged steps still led down was 7 standard errors off."""
    step = -0.55
    assert read("poisson", 0.1, step)[1][1] > abs(math.log1p(step) - step)
    # of a gamma response only noise, by the slope of the scores where they end
    assert read("gamma", 0.1, step)[1][1] == pytest.approx(0.1 / (1 + step), rel=0.05)


def counted(family: str, seed: int) -> tuple[bool, float]:
    """Whether a fit is flagged, and how many half-lengths the effect of a flag of 1 % is off."""
    g, n, effect = np.random.default_rng(seed), 5_000, -1.6
    x, rare, common = g.uniform(-1, 1, n), (g.random(n) < 0.01) * 1, (g.random(n) < 0.4) * 1
    mean = np.exp(0.3 + 0.3 * x + effect * rare + 0.3 * common)
    y = g.poisson(mean) if family == "poisson" else np.clip(mean * g.exponential(size=n), 1e-4, 100)
    response = dps.count(100) if family == "poisson" else dps.bounded(1e-4, 100)
    schema = dps.Schema(y=response, x=dps.bounded(-2, 2), rare=dps.flag(), common=dps.flag())
    data = dict(y=y, x=x, rare=rare, common=common)
    with noise(SeededNoise(seed)):
        fit = dps.glm("y ~ x + rare + common", data, schema, family=family).fit(dps.approx(3, 1e-6))
    low, high = fit.conf_int().loc["rare"]
    return bool(fit.flags), abs(fit.params["rare"] - effect) / ((high - low) / 2)


@pytest.mark.parametrize("family", ["poisson", "gamma"])
def test_the_effect_of_a_rare_flag_on_a_mean_holds_or_is_flagged(family: str) -> None:
    """Of 60 fits of counts 2 miss, by 1.9 and 2.2 half-lengths; intervals of 56 are open at an end."""
    fits = [counted(family, seed) for seed in range(25)]
    off = np.array([distance for told, distance in fits if not told])
    assert np.sum(off > 1) <= 2
    assert np.sum(off > 2) <= 1 and np.all(off < 2.5)


@pytest.mark.parametrize("slope", [-40.0, 0.0, 40.0])
@pytest.mark.parametrize("dist", ["weibull", "loglogistic", "lognormal"])
@pytest.mark.parametrize("fraction", [1e-4, 1.0])
def test_whatever_noise_makes_of_a_coefficient_its_curve_has_numbers(
    dist: str, fraction: float, slope: float
) -> None:
    family = DISTS[dist].family
    curve = level_curve(family, taper(family, 1.34, -9.0), fraction, slope)
    assert np.isfinite(curve).all()
    assert np.all(np.diff(curve) >= 0)
    assert curve[0] < 0 < curve[-1]


@pytest.mark.parametrize("family", list(FAMILIES))
@pytest.mark.parametrize("point", [-60.0, 60.0])
def test_a_coefficient_that_noise_put_anywhere_is_a_number(family: str, point: float) -> None:
    problem, ones, axes = Problem(FAMILIES[family], **PROBLEM), np.ones(3), np.eye(3)
    found = Estimate(0 * ones, axes, axes)
    found = read_levels(
        problem, LOCATED, found, LevelScores(point * np.ones((1, 3)), ones, axes, 0.01 * axes, moments=axes)
    )
    assert np.isfinite(found.params).all() and np.isfinite(found.cov).all()
    assert np.all(np.diag(found.cov) >= 1)


def refurbished(budget: Budget, seed: int) -> tuple[bool, float]:
    """Whether a fit is flagged, and how many half-lengths the effect of a flag of 1 % is off."""
    g, n = np.random.default_rng(seed), 10_000
    x, rare, common = g.integers(-9, 12, n), (g.random(n) < 0.01) * 1, (g.random(n) < 0.4) * 1
    time = np.exp(3.3 + 0.03 * x - 0.8 * rare + 0.25 * common + 0.65 * np.log(g.exponential(size=n)))
    data, flags = dict(time=time, x=x, rare=rare, common=common), dict(rare=dps.flag(), common=dps.flag())
    schema = dps.Schema(time=dps.bounded(0.03, 1000), x=dps.bounded(-20, 20), **flags)
    with noise(SeededNoise(seed)):
        fit = dps.survreg("Surv(time) ~ x + rare + common", data, schema).fit(budget)
    low, high = fit.conf_int().loc["rare"]
    return bool(fit.flags), abs(fit.params["rare"] + 0.8) / ((high - low) / 2)


@pytest.mark.parametrize("budget", [dps.approx(1, 1e-6), dps.pure(3)])
def test_the_effect_of_a_rare_flag_holds_or_is_flagged(budget: Budget) -> None:
    """Nine in ten unflagged intervals missed at approx(1), the worst by four of their half-lengths."""
    fits = [refurbished(budget, seed) for seed in range(20, 40)]  # one of 200 is 2.2 half-lengths off
    off = np.array([distance for told, distance in fits if not told])
    assert len(off) >= 3
    assert np.mean(off <= 1) >= 0.8
    assert off.max() < 2


def outlived(column: str, seed: int) -> np.ndarray:
    """How many half-lengths coefficients are off where a reference of no failures lives 12 sigmas longer.

    Of two other levels one fails as little.
    """
    g, n = np.random.default_rng(seed), 9_000
    level = np.searchsorted([0.23, 0.96], g.random(n)) if column == "level" else 1 * (g.random(n) < 0.2)
    life = 7.5 - 4.5 * (level == 1) + 0.37 * g.logistic(size=n)
    rows = {"time": np.exp(np.minimum(life, 3.2)), "failed": 1 * (life < 3.2), column: level}
    declared = {"level": dps.levels(0, 1, 2), "flag": dps.flag()}[column]
    schema = dps.Schema(time=dps.bounded(1, 60), failed=dps.event(), **{column: declared})
    with noise(SeededNoise(seed)):
        fit = dps.survreg(f"Surv(time, failed) ~ {column}", rows, schema, dist="loglogistic").fit(
            dps.approx(1, 1e-6)
        )
    low, high = fit.conf_int().to_numpy().T
    truth = np.array([7.5, -4.5, *[0.0] * (len(low) - 3), math.log(0.37)])
    return np.abs(fit.params.to_numpy() - truth) / ((high - low) / 2)


@pytest.mark.parametrize("column", ["flag", "level"])
def test_a_reference_without_failures_is_open_as_far_as_the_others_are_known(column: str) -> None:
    """Its intercept had an interval of its own, whatever was known of the contrast with it."""
    off = np.array([outlived(column, seed) for seed in range(12)])
    assert (off <= 1).mean() >= 0.9
    assert off.max() < 2


def test_a_flag_of_which_signs_see_hardly_a_row_is_open() -> None:
    """Its failures are those that the first stage counted, and not what was expected for them again."""
    held = []
    for seed in range(20):
        g, n = np.random.default_rng(seed), 660
        x, rare = g.uniform(-1, 1, n), 1 * (g.random(n) < 0.016)
        time = np.exp(4 - 2 * x - 11.5 * rare + 1.1 * g.normal(size=n))
        schema = dps.Schema(time=dps.bounded(1e-7, 1e4), x=dps.bounded(-1, 8), rare=dps.flag())
        rows = dict(time=time, x=x, rare=rare)
        with noise(SeededNoise(seed)):
            fit = dps.survreg("Surv(time) ~ x + rare", rows, schema, dist="lognormal").fit(
                dps.approx(2, 1e-6)
            )
        assert "slopes" in fit.settings
        low, high = fit.conf_int().loc["rare"]
        held.append(not low > -11.5 and not high < -11.5)
    assert np.mean(held) >= 0.85


def test_a_level_that_noise_hides_does_not_run_away() -> None:
    """Noise took a level of a thirtieth of the rows to log odds of -50, and predictions with it."""
    table = dps.datasets.load("adult")
    formula = "income ~ age + education_num + hours_per_week + sex + marital_status"
    with noise(SeededNoise(4)):
        fit = dps.logit(formula, table.data, table.schema).fit(dps.approx(0.3, 1e-6))
    levels = [name for name in fit.names if "[T." in name]
    wide = [name for name in levels if 7.5 < fit.bse[name] < math.inf]
    assert wide
    assert fit.params[wide].abs().max() <= 2 * FARTHEST

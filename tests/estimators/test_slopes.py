"""Slopes of numbers of a yes or no, and of doses that few rows have: what all scores may say of them."""

import numpy as np
import pytest
from scipy.special import expit, ndtr

import dpstats as dps
from dpstats.estimators.engine.information import Accumulator
from dpstats.estimators.level_scores import SHIFTS, slope_in_middle
from dpstats.estimators.newton.slopes import (
    Doubt,
    _limits,
    _near,
    _reaching,
    _told,
    leaning,
    placed,
    said,
    sides_of_most,
)
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import CLOGLOG, PROBIT
from dpstats.testing import SeededNoise, noise
from tests.estimators.test_rare_levels import LOCATED
from tests.luck import fewest

OCTAVES = 2.6 * 2.0 ** -np.arange(8)  # root mean squares of distances, up to 3.4


def fitted(
    x: np.ndarray,
    upper: float,
    line: tuple[float, float],
    epsilon: float,
    seed: int,
    link: str = "cloglog",
    lower: float | None = None,
) -> dps.Fit:
    generator, eta = np.random.default_rng(seed), line[0] + line[1] * x
    laws = {"probit": ndtr, "logit": expit, "cloglog": lambda eta: -np.expm1(-np.exp(eta))}
    y = generator.random(len(x)) < laws[link](eta)
    lower = min(float(x.min()), 0.0) if lower is None else lower
    schema = dps.Schema(x=dps.bounded(lower, upper), y=dps.flag())
    model = dps.glm("y ~ x", dict(x=x, y=y * 1), schema, family="binomial", link=link)
    with noise(SeededNoise(seed)):
        return model.fit(dps.approx(epsilon, 1e-6))


@pytest.mark.long
def test_a_slope_that_nothing_bounds_has_no_short_interval() -> None:
    """No row with x of 1 or more says no: steps stopped short, by up to six half-lengths in 8 of 24 fits."""
    far = []
    for seed in range(12):
        draw = np.random.default_rng(100 + seed)
        for line, epsilon, x in (
            ((1.68, 1.08), 10, draw.poisson(0.3, 20_000) * 1.0),
            ((1.68, 1.08), 10, draw.exponential(size=20_000)),
        ):
            fit = fitted(x, 200.0, line, epsilon, seed)
            if np.isfinite(fit.bse).all():
                far.append(np.abs(fit.params.to_numpy() - line) > np.ptp(np.asarray(fit.conf_int()), axis=1))
    assert len(far) > 12 and np.mean(far) < 0.05


@pytest.mark.long
def test_a_slope_that_rows_bound_keeps_its_interval() -> None:
    """Where a number lies on both sides of its mean, rows that say no are on one of them."""
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=20_000).clip(-8, 8)
        fit = fitted(x, 8.0, (1.3, 0.4), 4, seed)
        assert fit.bse["x"] < 0.1


@pytest.mark.long
def test_a_slope_of_a_dose_that_few_rows_have_has_no_short_interval() -> None:
    """A dose of 0 in most rows: 25 of 57 probit fits were more than two half-lengths off, and 2 are.

    Rows that have it say nearly all the same.
    """
    far = []
    for seed in range(12):
        draw = np.random.default_rng(700 + seed)
        for share, line, n, upper, epsilon in (
            (0.87, (1.45, 1.5), 10_000, 20.0, 1.0),
            (0.7, (-1.7, -1.7), 20_000, 20.0, 0.5),
            (0.65, (-0.9, -2.4), 5_000, 20.0, 1.0),
        ):
            dose = np.where(draw.random(n) < share, 0.0, draw.uniform(0.1, 2, n))
            fit = fitted(dose, upper, line, epsilon, seed, "probit")
            if np.isfinite(fit.bse["x"]):
                limits = np.asarray(fit.conf_int())[1]
                far.append(abs(fit.params["x"] - line[1]) > np.ptp(limits))
    assert len(far) > 15 and np.mean(far) < 0.2


@pytest.mark.parametrize("most, sides", [(0.51, 1), (0.5, 0)])
def test_only_a_number_with_most_rows_in_one_octave_may_be_a_dose_that_few_have(
    most: float, sides: int
) -> None:
    """Noise leaves what scores say of a steeper slope open for others, too, but their intervals hold."""
    shares = np.zeros(len(OCTAVES))
    shares[[2, 4, 6]] = 0.3, 0.7 - most, most
    assert len(sides_of_most(shares, OCTAVES, 0.1, 3.0)) == sides


@pytest.mark.parametrize("family", ["poisson", "negativebinomial", "gamma"])
def test_a_slope_of_a_dose_that_steps_do_not_arrive_at_has_no_short_interval(family: str) -> None:
    """Noise hid the first steps, and one from no effect falls short: by 6.6, 6.6 and 4.9 standard errors."""
    draw, n = np.random.default_rng(1), 6000
    age = draw.normal(60, 20, n).clip(18, 100).round()
    dose = np.where(draw.random(n) < 0.06, draw.uniform(1, 4, n).round(1), 0)
    line = 0.01 * (age - 60) - 0.5 * dose
    y = np.exp(6 + line + 0.7 * draw.normal(size=n)).clip(1, 1e5)
    counted = family != "gamma"
    y = draw.poisson(np.exp(1 + line)) if counted else y
    response = dps.count(100) if counted else dps.bounded(1, 1e5)
    schema = dps.Schema(age=dps.bounded(18, 100), dose=dps.bounded(0, 10), y=response)
    with noise(SeededNoise(201)):
        fit = dps.glm("y ~ age + dose", dict(age=age, dose=dose, y=y), schema, family).fit(
            dps.approx(1, 1e-6)
        )
    assert abs(fit.params["dose"] + 0.5) < 2 * fit.bse["dose"] < np.inf


@pytest.mark.long
def test_a_slope_of_a_dose_under_a_logit_has_no_short_interval_where_noise_hides_who_contradicts_it() -> None:
    """Rows that have a dose hardly ever say yes: 10 of 31 intervals missed, 5 by half-lengths, and none does.

    Declared ends allow doses on both sides of 0, which are on one. Where noise hides all that bounds a slope,
    an interval is no longer than effects of a usual size make it, and not 15 on the linear predictor.
    """
    missed, halves = [], []
    for seed in range(16):
        draw = np.random.default_rng(700 + seed)
        for line, upper, epsilon in (((-3.7, -5.0), 60.0, 1.5), ((-3.0, -5.0), 40.0, 3.0)):
            dose = np.where(draw.random(60_000) < 0.8, 0.0, draw.exponential(size=60_000))
            fit = fitted(dose, upper, line, epsilon, seed, "logit", -upper)
            if np.isfinite(fit.bse["x"]):
                low, high = np.asarray(fit.conf_int())[1]
                missed.append(not low <= line[1] <= high)
                halves.append((high - low) / 2 * np.sqrt(2))  # of the line of rows with a dose, at its rms
    assert len(missed) > 20 and np.mean(missed) < 0.12
    assert np.median(halves) < 12


def test_a_slope_of_a_dose_under_a_logit_that_rows_bound_keeps_its_interval() -> None:
    for seed in range(4):
        draw = np.random.default_rng(800 + seed)
        dose = np.where(draw.random(50_000) < 0.7, 0.0, draw.exponential(size=50_000))
        fit = fitted(dose, 30.0, (-1.5, -0.5), 4.0, seed, "logit", -30.0)
        assert fit.bse["x"] < 0.1


def test_limits_lie_where_error_moves_the_score_and_no_farther_than_slopes_of_a_usual_size() -> None:
    slopes = np.linspace(-4.0, 4.0, 161)
    assert _limits(slopes, slopes, 0.5, 0.5, 0.3) == pytest.approx([0.5 - 0.98, 0.5 + 0.98], abs=1e-3)
    levels_off = 1 - np.exp(-slopes)
    assert _limits(levels_off, slopes, 0.5, 0.3, 0.0) == pytest.approx([-np.log(1.088), 4.0], abs=0.01)
    # where rows say half as much, their sampling makes half the error
    root = np.log(2)
    found = _limits(levels_off, slopes, 1 - np.exp(-root), 0.2, 0.2)
    assert found == pytest.approx(-np.log(0.5 + np.array([0.196, -0.196])), abs=0.02)


@pytest.mark.parametrize(
    ("bent", "sd", "asked"), [(0.01, 0.1, [15]), (3.0, 0.1, [15, 161]), (3.0, 9.0, [161] * 2)]
)
def test_all_slopes_are_asked_where_those_near_do_not_tell_the_limits(
    bent: float, sd: float, asked: list[int]
) -> None:
    """Limits are the same by few slopes as by all."""
    slopes, point, sizes = np.linspace(-4.0, 4.0, 161), 0.2, []

    def curved(shifts: np.ndarray) -> np.ndarray:
        return (1 - np.exp(-bent * shifts)) / bent

    def of_shifts(shifts: np.ndarray) -> tuple[np.ndarray, float]:
        sizes.append(len(shifts))
        return curved(shifts), 0.7

    found, middle = _told(of_shifts, slopes, _near(slopes, 0.3, sd), point, 0.1, sd, sd / 2)
    assert found == pytest.approx(_limits(curved(slopes - point), slopes, 0.1, sd, sd / 2), abs=1e-12)
    assert middle == 0.7 and sizes == asked


def test_an_interval_reaches_a_limit_where_scores_level_off_and_one_by_their_bend_that_is_far_off() -> None:
    assert _reaching(np.array([-0.2, 4.0]), 0.5, 1.0, 4.0) == pytest.approx(3.5 / 1.96, rel=1e-3)
    assert _reaching(np.array([-4.0, 0.9]), 0.5, 1.0, 4.0) == pytest.approx(4.5 / 1.96, rel=1e-3)
    assert _reaching(np.array([-0.2, 4.0]), 0.5, 2.0, 4.0) == 2.0
    assert _reaching(np.array([-0.2, 4.0]), 0.5, 1.0, 4.0, opened=False) == 1.0
    assert _reaching(np.array([-0.2, 3.0]), 0.5, 1.0, 4.0) == 1.0
    assert _reaching(np.array([-0.2, 3.9]), 0.5, 0.5, 4.0) == pytest.approx(3.4 / 1.96, rel=1e-3)
    assert _reaching(np.array([-0.2, 3.9]), 0.5, np.inf, 4.0) == np.inf


def test_rows_beyond_a_value_that_most_have_may_be_on_either_side_that_is_wide_enough() -> None:
    shares = np.array([0.03, 0.0, 0.07, 0.9, 0, 0, 0, 0])
    near = OCTAVES[3]
    assert sides_of_most(shares, OCTAVES, 9.0, 8.0) == [(near, 8.0), (9.0, near)]
    assert sides_of_most(shares, OCTAVES, 0.5, 8.0) == [(near, 8.0)]
    assert sides_of_most(shares, OCTAVES, 9.0, 0.1) == [(9.0, 0.1)]
    assert not sides_of_most(shares[::-1], OCTAVES, 9.0, 9.0)
    assert not sides_of_most(np.array([0.3, 0.4, 0.3, 0, 0, 0, 0, 0]), OCTAVES, 9.0, 9.0)


def test_rows_are_placed_by_octaves_and_declared_ends() -> None:
    """Counts of 0 in most rows lie below their mean, and those of a bell on both sides."""
    shares = np.array([0.03, 0.23, 0.74, 0, 0, 0, 0, 0])
    places, found = placed(shares, OCTAVES, 0.6, 90.0)
    assert found[places < 0] == pytest.approx([0, 0, 0.74, 0, 0, 0, 0, 0])
    assert places.min() == -0.6 and found.sum() == pytest.approx(1)
    for ends in ((9.0, 9.0), (0.9, 90.0), (90.0, 0.9)):
        places, found = placed(np.array([0.08, 0.3, 0.3, 0.17, 0.09, 0.04, 0.02, 0]), OCTAVES, *ends)
        assert found.sum() == pytest.approx(1)
        assert places @ found == pytest.approx(0, abs=0.02)


@pytest.mark.long
def test_a_slope_of_a_dose_whose_rows_nearly_all_say_no_by_other_columns_has_no_short_interval() -> None:
    """Those that may say yes lie at the edge of those with a dose: of 40 slopes 26 were held."""
    bounds = dict(dose=dps.bounded(0, 500), x=dps.bounded(-75, 15), z=dps.bounded(0, 50))
    schema, held = dps.Schema(**bounds, y=dps.flag()), []
    for seed in range(5):
        rng, n = np.random.default_rng([seed, 46]), 27_000
        ill = rng.normal(size=n)
        old = 0.95 * ill + 0.31 * rng.normal(size=n)
        x, dose = (
            np.sign(old) * np.abs(old) ** 1.8,
            np.where(ill > 1, 10 * np.exp(0.7 * rng.normal(size=n)), 0),
        )
        z = np.round(4 * ndtr(0.95 * old + 0.31 * rng.normal(size=n))) + 1
        chance = ndtr(2.05 * z - 7.1 - 0.32 * dose - 3.7 * x)
        data = dict(dose=dose, x=x, z=z, y=(rng.random(n) < chance) * 1.0)
        model = dps.glm("y ~ dose + x + z", data, schema, "binomial", link="probit")
        for own in range(8):
            with noise(SeededNoise(100 * seed + own)):
                fit = model.fit(dps.approx(1, 1e-6))
            held.append(abs(fit.params["dose"] + 0.32) < 1.96 * fit.bse["dose"])
    assert sum(held) >= fewest(40, 0.95)


def test_columns_lean_to_where_their_product_with_all_others_surely_is() -> None:
    """Of three that go with each other by .4 and .1, where the noise of a product is .08."""
    moments = np.eye(4) + np.diag([0, 0.4, 0.1], 1) + np.diag([0, 0.4, 0.1], -1)
    first, line = Accumulator(), np.array([-2.0, 1.0, -1.0, 1.0])
    first.add(moments, 0.08, np.eye(4))
    assert leaning(first, np.eye(4), line, True).tolist() == [0, -1, 1, 0]
    assert leaning(first, np.eye(4), -line, True).tolist() == [0, 1, -1, 0]
    assert not leaning(first, np.eye(4), line, False).any()
    assert not leaning(Accumulator(), np.eye(4), line, True).any()


@pytest.mark.parametrize("lean", [-1.0, 1.0])
def test_scores_of_rows_that_lie_on_one_side_by_other_columns_level_off_there(lean: float) -> None:
    """Towards that side: rows that all say no hold no slope, and others bend as those about the middle do."""
    rows, params = (np.array([-0.5, 2.0]), np.array([0.8, 0.2])), np.array([0.0, 0.1, 4.0])
    score = BoundedScore(PROBIT, 2.0, 0.6366)
    evenly, _ = said(1, rows, LOCATED, params, score, SHIFTS)
    beside, _ = said(1, rows, LOCATED, params, score, SHIFTS, Doubt(lean))
    far, near = (0, -1) if lean < 0 else (-1, 0)
    assert abs(beside[far]) < 0.5 * abs(evenly[far])
    assert abs(beside[near]) > abs(evenly[near])
    assert slope_in_middle(beside) == pytest.approx(1, abs=0.1)


def test_what_scores_say_levels_off_where_all_rows_far_away_say_yes() -> None:
    """Of two values, 1 / exp(eta) of the far rows is left to their linear predictor, and the slope is 1."""
    rows, slope = (np.array([-0.5, 2.0]), np.array([0.8, 0.2])), 0.2
    curve, heart = said(
        1, rows, LOCATED, np.array([1.2, slope, 0.0]), BoundedScore(CLOGLOG, 36.0, 0.6477), SHIFTS
    )
    information = rows[1] * CLOGLOG.curvature(1.2 + slope * rows[0])
    assert heart == pytest.approx(rows[0] @ information / information.sum(), abs=0.01)
    assert slope_in_middle(curve) == pytest.approx(1, abs=0.03)
    assert (np.diff(curve) > -1e-6).all() and len(curve) == len(SHIFTS)
    assert curve[-1] < 2 * np.exp(-1.2 - 2 * slope) / 2.5

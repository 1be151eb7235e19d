"""What the averaged steps of a location-scale fit say of themselves: scatter, drift, noise, long columns."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.location_scale.bounds import Choice
from dpstats.estimators.location_scale.estimate import (
    COUNT_USABLE,
    HOPELESS,
    OF_LOG_SIGMA,
    USABLE,
    LastSteps,
    Steps,
    SurvivalEstimate,
    averaged,
    estimate,
    ranged,
    step_to_params,
)
from dpstats.estimators.location_scale.information import floored
from tests.estimators.test_delayed_expectations import POINT, bounding

WIDTH, STEPS, SD, RADIUS = 4, 8, 0.02, 3.0
ALTERNATING = np.outer(np.tile([1.0, -1.0], STEPS // 2), np.ones(WIDTH))
TIME = np.arange(STEPS) - (STEPS - 1) / 2
TREND = np.outer(TIME / np.sqrt(np.mean(TIME**2)), np.ones(WIDTH))


def released(scores: np.ndarray, error: float = 1e-9, capped: int = 0) -> LastSteps:
    """Scores at one point, in noise sds, and an information of 1/2 with its relative error.

    The last `capped` steps were cut short.
    """
    information = floored(
        np.eye(WIDTH) / 2, np.full((WIDTH, WIDTH), error / 2), np.eye(WIDTH), np.full(WIDTH, np.sqrt(0.5))
    )
    points = np.tile(POINT, (STEPS, 1))
    to_params = step_to_params(POINT, bounding("sev").placement.pivot(POINT), np.eye(WIDTH - 1))
    short = np.arange(STEPS) >= STEPS - capped
    steps = Steps(points, SD * scores, np.full((STEPS, WIDTH), SD), short, information)
    return averaged(steps, to_params)


def fitted(
    steps: LastSteps, noise: float = 0.0, log_sigma_noise: float = 0.0, **scale: object
) -> SurvivalEstimate:
    """At a given noise of the bounds, in sampling sds, and with the rows' scale changed."""
    place = bounding("sev")
    changed = replace(place.placement, scale=replace(place.placement.scale, **scale))
    choice = Choice(1.6, RADIUS, -9.0, 4.0, noise, log_sigma_noise)
    return estimate(steps, replace(place, placement=changed), choice, np.eye(WIDTH - 1))


USUAL = fitted(released(ALTERNATING))


def test_steps_that_scatter_as_their_noise_does_are_settled() -> None:
    assert USUAL.problems == ()


def test_steps_that_scatter_beyond_their_noise_widen_intervals_and_say_so() -> None:
    found = fitted(released(3 * ALTERNATING))
    assert found.problems == ("unsettled",)
    assert found.cov == pytest.approx(9 * USUAL.cov)


def test_chance_makes_no_caution_of_a_few_steps_of_a_few_numbers() -> None:
    """Noise scattered one such fit in 150 by twice its variance, in each part of the steps."""
    few, unsettled = 4, 0
    information, to_params = released(ALTERNATING).information, np.eye(WIDTH)
    for seed in range(1000):
        scores = SD * np.random.default_rng(seed).normal(size=(few, WIDTH))
        sds, capped = np.full((few, WIDTH), SD), np.zeros(few, dtype=bool)
        steps = Steps(np.tile(POINT, (few, 1)), scores, sds, capped, information)
        unsettled += averaged(steps, to_params).unsettled
    assert unsettled <= 1


def test_steps_that_still_move_say_so() -> None:
    """Of 2.35 the last four scatter no further than noise may: their way alone tells."""
    for size in (2.35, 3.0):
        assert fitted(released(size * TREND)).problems == ("unsettled",)


def test_a_long_step_by_an_uncertain_matrix_is_priced() -> None:
    """Steps of rare flags went the wrong part of a long way, and intervals said nothing of it."""
    near, far = (fitted(released(ALTERNATING + length, error=0.1)) for length in (0.0, 20.0))
    step = 20 * SD / 0.5
    across = (WIDTH - 1) / 2  # all other directions go as far
    by_noise = SD**2 / STEPS / 0.5**2 + 1 / bounding("sev").n / 0.5
    of_spread = (WIDTH * (step**2 - by_noise) / 2) ** 2  # half the square of the step
    priced = far.cov[-1, -1] - near.cov[-1, -1] - of_spread
    assert priced == pytest.approx((2**2 + across) * (0.1 * step) ** 2, rel=0.02)


def test_a_step_that_was_cut_short_is_told() -> None:
    assert fitted(released(ALTERNATING, capped=1)).problems == ("unsettled",)


def test_steps_on_the_way_are_left_out() -> None:
    """The first of ten designs in a hundred were still arriving, and made intervals of the others long."""
    far = ALTERNATING.copy()
    far[:3] -= [[40.0], [20.0], [10.0]]
    found = released(far)
    assert (len(found.points), found.unsettled) == (STEPS - 3, False)
    assert found.step == pytest.approx(np.mean(far[3:], axis=0) * SD / 0.5)
    assert found.noise == pytest.approx(np.full(WIDTH, SD**2 / (STEPS - 3)))


def test_no_more_than_half_of_the_steps_are_left_out() -> None:
    far = ALTERNATING.copy()
    far[: STEPS // 2 + 1] += 40 * np.arange(STEPS // 2 + 1, 0, -1)[:, None]
    found = released(far)
    assert (len(found.points), found.unsettled) == (STEPS, True)


@pytest.mark.parametrize(
    ("need", "how"),
    [
        (1.5, {"noise": 1.5 * USABLE}),
        (1.5, {"log_sigma_noise": 1.5 * USABLE * OF_LOG_SIGMA}),
        (1.5, {"fraction_sd": 1.5 * COUNT_USABLE * 0.7}),
    ],
)
def test_noise_beyond_what_is_usable_widens_intervals_with_its_cube(need: float, how: dict) -> None:
    found = fitted(released(ALTERNATING), **how)
    assert found.problems == ()
    assert found.cov == pytest.approx(need**3 * USUAL.cov)


@pytest.mark.parametrize("how", [{"noise": 1.01 * HOPELESS}, {"fraction_sd": 2 * COUNT_USABLE * 0.7}])
def test_what_noise_outweighs_is_not_estimable(how: dict) -> None:
    found = fitted(released(ALTERNATING), **how)
    assert found.problems == ("hopeless",) and np.isinf(np.diag(found.cov)).all()


def test_a_direction_that_noise_hides_may_have_any_effect_that_is_plausible() -> None:
    """A slope may explain the whole response, a level and the location reach as far as any do."""
    found = fitted(released(ALTERNATING, error=1.0), binary=np.array([False, True]))
    scale = bounding("sev").placement.scale
    assert np.sqrt(found.cov_privacy[1, 1]) * scale.scale[0] / scale.y_scale > 1
    assert found.problems == ()


@pytest.mark.parametrize(
    ("places", "said"), [((20.0, 1.0), True), ((-20.0, 1.0), True), ((20.0, -20.0), False)]
)
def test_a_column_that_is_long_on_one_side_is_named(places: tuple[float, float], said: bool) -> None:
    """One row in a hundred is far longer than the row norm."""
    shares = np.array([[0.01, 0.01], [0.5, 0.5]])
    long = dict(shares=shares, places=np.array([places, (0.5, -0.5)]))
    found, place = fitted(released(ALTERNATING), **long), bounding("sev")
    assert found.problems == ()  # of a fit that looks for a bend
    scale = replace(place.placement.scale, **long)
    place = replace(place, placement=replace(place.placement, scale=scale))
    found = ranged(found, place, Choice(1.6, RADIUS, -9.0, 4.0, 0.0, 0.0))
    assert found.problems == (("range:1",) if said else ())


def test_a_way_along_one_direction_errs_in_others_by_the_error_of_the_matrix() -> None:
    rng, sizes, sds, way = np.random.default_rng(3), np.array([0.5, 1.0, 2.0]), 0.01, np.array([1.5, 0, 0])
    known = floored(np.diag(sizes), np.full((3, 3), sds), np.eye(3), np.ones(3))
    errors = rng.normal(0, sds / np.sqrt(2), (4000, 3, 3))
    errors = (errors + errors.swapaxes(1, 2)) / np.sqrt(2)
    off = np.linalg.solve(np.diag(sizes) + errors, np.diag(sizes) @ way) - way
    priced = known.error_across(way)
    assert np.var(off[:, 1:], axis=0) == pytest.approx(np.diag(priced)[1:], rel=0.1)
    assert priced[0] == pytest.approx(0)

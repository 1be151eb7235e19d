"""What all iterations share: plans, steps, scatter, an uncertain information, and how intervals widen."""

import math

import numpy as np
import pytest

from dpstats.estimators.engine.average import scatter
from dpstats.estimators.engine.finish import Estimate, to_user, weak
from dpstats.estimators.engine.information import Information
from dpstats.estimators.engine.plan import Plan, Stage, alike, growing
from dpstats.estimators.engine.route import capped
from dpstats.estimators.matrices import conjugate_gradients, inverted

ESTIMATE = Estimate(np.arange(3.0), 4 * np.eye(3) + 1, np.eye(3), ("budget", "weak:1", "weak:2"))


def known(values: list[float], sds: list[float], seen: list[float]) -> Information:
    """On the axes, in units of 1 and 2."""
    return Information(
        np.array(values), np.eye(2), np.array(values), np.array(sds), np.array(seen), np.array([1.0, 2.0])
    )


def test_a_step_is_as_long_as_scores_leave_it_at_the_least_information_that_may_be_there() -> None:
    """Two sds below .4 is .2, half of it, and nothing below .1: a root may then be anywhere."""
    left = known([0.4, 0.1], [0.1, 0.1], [1.0, 0.0]).at_least(np.diag([3.0, 5.0]))
    assert left == pytest.approx([12.0, math.inf])


def test_a_direction_of_no_information_seems_to_have_two_sds_of_it_no_more_often_than_one_number() -> None:
    """Whatever else has information: the least eigenvalue is no more than what noise makes along it."""
    draw, more = np.random.default_rng(31), 0
    for _ in range(2_000):
        noise = 0.1 * draw.normal(size=(6, 6))
        more += np.linalg.eigvalsh(np.diag([0.0, 1, 1, 1, 2, 2]) + (noise + noise.T) / math.sqrt(4))[0] > 0.2
    assert more <= 0.0228 * 2_000


def test_an_inverse_that_is_asked_for_again_is_found_once_and_nobody_changes_it() -> None:
    matrix = np.array([[2.0, 1.0], [0.0, 4.0]])
    found = inverted(matrix)
    assert inverted(matrix.copy(order="F")) is found and (found == np.linalg.inv(matrix)).all()
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = 0
    assert (inverted(matrix.T) == np.linalg.inv(matrix.T)).all()


def test_longer_intervals_are_so_in_all_that_a_covariance_says() -> None:
    found = ESTIMATE.wider(np.array([1.0, 2.0, 3.0]))
    assert np.sqrt(np.diag(found.cov)) == pytest.approx(math.sqrt(5) * np.array([1, 2, 3]))
    assert found.cov[1, 2] == 6 * ESTIMATE.cov[1, 2] and found.cov_privacy[2, 2] == 9
    assert found.problems == ESTIMATE.problems and (found.params == ESTIMATE.params).all()


def test_a_coefficient_that_is_lost_is_no_longer_weak_and_leaves_the_others() -> None:
    found = ESTIMATE.wider(np.array([1.0, np.inf, 1.0]))
    assert found.problems == ("budget", "weak:2", "not_estimable:1")
    assert np.isinf([found.cov[1, 1], found.cov_privacy[1, 1]]).all()
    assert found.cov[2, 2] == 5 and np.isfinite(found.cov[0, 1])
    lost = ESTIMATE.lost(np.array([1]))
    assert lost.problems == found.problems == lost.lost(np.array([1])).problems
    assert np.isinf([lost.cov[1, 1], lost.cov_privacy[1, 1]]).all()
    assert np.diag(ESTIMATE.cov) == pytest.approx([5, 5, 5])


def test_nothing_is_told_of_a_hopeless_fit_but_that() -> None:
    found = ESTIMATE.hopeless()
    assert found.problems == ("hopeless",)
    assert np.isinf(np.diag(found.cov)).all() and found.cov[0, 1] == 0


def test_doubt_adds_to_all_uncertainty_and_not_to_that_of_noise() -> None:
    found = ESTIMATE.doubted(np.eye(3), "law")
    assert found.problems[-1] == "law"
    assert np.diag(found.cov) == pytest.approx([6, 6, 6])
    assert found.cov_privacy is ESTIMATE.cov_privacy
    turn = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert found.possible_bias.tolist() == [1, 1, 1] and ESTIMATE.possible_bias.tolist() == [0, 0, 0]
    assert found.through(turn).possible_bias.tolist() == [5, 1, 1]
    assert found.wider(np.array([1.0, 2.0, 3.0])).possible_bias.tolist() == [1, 4, 9]


def test_a_coefficient_is_weak_where_more_than_half_of_its_variance_is_a_guess() -> None:
    assert list(weak(np.diag([0.4, 0.6, 0.5]), np.eye(3))) == [1]


def test_coefficients_of_standardised_columns_are_those_of_the_same_line() -> None:
    rows = np.random.default_rng(1).normal(size=(5, 2))
    center, scale = np.array([3.0, -1.0]), np.array([2.0, 5.0])
    beta = np.array([1.0, 2.0, 3.0])
    user = to_user(center, scale, True, 4.0) @ beta
    assert user[0] + rows @ user[1:] == pytest.approx(4.0 * (beta[0] + (rows - center) / scale @ beta[1:]))
    assert to_user(center, scale, False) == pytest.approx(np.diag(1 / scale))


def test_a_long_step_is_cut_short_and_a_short_one_is_as_it_is() -> None:
    assert capped(np.array([0.3, 0.4]), 1.0) == (pytest.approx([0.3, 0.4]), False)
    assert capped(np.array([3.0, 4.0]), 1.0) == (pytest.approx([0.6, 0.8]), True)
    assert capped(np.zeros(2), 1.0) == (pytest.approx([0.0, 0.0]), False)


def test_scores_on_the_line_that_points_predict_do_not_scatter() -> None:
    points, matrix, axes = np.random.default_rng(2).normal(size=(8, 2)), np.diag([1.0, 3.0]), 2 * np.eye(2)
    line = -(points / 2) @ matrix
    assert scatter(points, line, 0.1, matrix, axes)[1] == 1.0
    off = np.outer(np.tile([0.3, -0.3], 4), [1.0, 1.0])
    rest, spread = scatter(points, line + off, 0.1, matrix, axes)
    assert rest == pytest.approx(off)
    assert spread == pytest.approx(9 * 8 / 7)


def test_an_error_of_the_information_widens_along_its_direction() -> None:
    found = known([1.0, 0.5], [0.5, 0.0], [1.0, 1.0])
    assert found.matrix == pytest.approx(np.diag([1.0, 0.5 * 4]))
    assert np.diag(found.inflation) ** 2 == pytest.approx([2.0, 1.0])
    assert found.error_of(np.array([3.0, 3.0])) == pytest.approx(np.diag([9.0, 0.0]))


def test_what_is_not_seen_gets_no_step_and_the_variance_of_a_guess() -> None:
    found = known([1.0, 0.5], [0.1, 0.1], [1.0, 0.0])
    assert found.blind(0.25) == pytest.approx(np.diag([0.0, 0.25]))
    assert found.solve(np.array([2.0, 2.0])) == pytest.approx([2.0, 0.0])
    assert found.part(np.array([2.0, 2.0]), 1 - found.seen) == pytest.approx([0.0, 2.0])


@pytest.mark.parametrize("sds", [3.5, 4.5])
def test_a_column_of_unknown_spread_is_seen_by_more_than_noise_makes_in_octaves(sds: float) -> None:
    """Rare columns that noise hid had intervals about 0 by 3 sds, 2 to 134 half-lengths off."""
    found = Information.of(np.array([sds, 100.0]), np.eye(2), np.ones(2))
    assert found.seen == pytest.approx([1.0, 1.0])
    lost = np.diag(found.unbounded(np.eye(2), np.array([True, True]))) > 0
    assert list(lost) == [sds < 4, False]
    assert not found.unbounded(np.eye(2), np.array([False, False])).any()


def test_a_step_that_noise_alone_makes_is_not_taken() -> None:
    found = known([1.0, 1.0], [0.1, 0.1], [1.0, 1.0])
    assert found.shrunk(np.array([0.1, 0.2]), np.array([1.0, 1.0])) == pytest.approx([0.0, 0.0])
    assert found.shrunk(np.array([0.1, 0.2]), np.zeros(2)) == pytest.approx([0.1, 0.05])


@pytest.mark.parametrize("pure", [True, False])
def test_costs_of_a_plan_add_up_by_stage_by_kind_and_in_all(pure: bool) -> None:
    stages = dict(
        columns=Stage(0.1, "columns"),
        early=Stage(0.3, "score", growing(6)),
        tail=Stage(0.6, "score", alike(3)),
        check=Stage(0.0, "check"),
    )
    plan = Plan(2.0, pure, stages)
    total = sum if pure else lambda costs: math.hypot(*costs)
    assert total(cost for stage in stages for cost in plan[stage]) == pytest.approx(2.0)
    assert list(plan.costs) == ["columns", "score"]
    assert plan.costs["score"] == pytest.approx(plan.cost("early", "tail"))
    assert total(plan.columns.costs.values()) == pytest.approx(plan.cost("columns"))
    power = 1 if pure else 2
    assert (np.array(plan["early"]) / plan["early"][0]) ** power == pytest.approx([1, 1, 2, 2, 3, 3])
    assert len(set(plan["tail"])) == 1


def test_an_eigenvalue_is_believed_by_the_noise_along_its_own_direction() -> None:
    """However many others there are, of which noise would make one as large somewhere."""
    values = np.append(np.full(15, 100.0), [3.2, 1.8])
    found = Information.of(values, np.eye(17), np.ones(17))
    np.testing.assert_allclose(found.seen, np.append(np.ones(16), 0.0))
    np.testing.assert_allclose(found.used, np.append(values[:-1], 1.875))


def test_conjugate_gradients_to_nothing_are_nothing() -> None:
    """Where what is asked for cancels to 0, no rest is small next to it, and steps were quotients of 0."""
    metric = np.diag([1.0, 1e-3, 7.0])
    assert not conjugate_gradients(lambda x: metric @ x, np.zeros(3), np.array([1.0, -2.0, 1e-9])).any()

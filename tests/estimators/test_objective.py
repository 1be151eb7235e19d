"""Fits of losses of a margin: numbers of the page, limits without noise, and what the noise is said to do."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import special

import dpstats as dps
from dpstats.curator import Curator, Minimum
from dpstats.estimators.known.unrelated import NoiseLeft
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.objective import (
    MarginEstimate,
    UnitBall,
    fit_debiased,
    fit_penalised,
    make_debiased_plan,
    make_plan,
)
from dpstats.estimators.objective.bounds import Cut
from dpstats.estimators.objective.debiased import Matrices, _farther, _scores, without_penalty
from dpstats.estimators.objective.plan import least_ridge
from dpstats.estimators.objective.tuning import TUNING, Tuning
from dpstats.families import LOGISTIC_LOSS, huber_hinge
from dpstats.families.glm import BINOMIAL
from dpstats.formula import build_design
from dpstats.moments.mixture import Tails
from dpstats.moments.solution import believed
from dpstats.rows import open_rows
from dpstats.testing import NoNoise, SeededNoise, noise

Array = np.ndarray
Drawn = tuple[dict[str, Array], Array]  # columns, and the true coefficients

SCHEMA = dps.Schema(a=dps.bounded(-1, 3), b=dps.bounded(10, 20), y=dps.flag())
DESIGN = build_design("y ~ a + b", SCHEMA)
TRUE = np.array([-4.0, 0.8, 0.2])


def made(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-1, 3, n), rng.uniform(10, 20, n)
    eta = TRUE[0] + TRUE[1] * a + TRUE[2] * b
    return dict(a=a, b=b, y=(rng.uniform(size=n) < special.expit(eta)).astype(int))


def curator(n: int, budget: object, seed: int = 0) -> Curator:
    return Curator(open_rows(made(n, seed), SCHEMA, DESIGN.variables), DESIGN, budget)


BALL = UnitBall.of_box(DESIGN.bounds, True)
PROBLEM = Problem(BINOMIAL, *DESIGN.bounds[1:].T, (0.0, 1.0))


@pytest.mark.parametrize(
    ("p", "expected"),
    [(1, 2.99573227), (2, 3.60337864), (3, 4.11300328), (5, 4.968596), (11, 6.91319341), (21, 9.28441969)],
)
def test_quantiles_of_spherical_noise(p, expected):
    """gamma = 1, so that a coordinate has variance p + 1."""
    tails = Tails("spherical", p, np.array([p + 1.0]))
    assert tails.half_widths(0.95, np.array([[p + 1.0]]))[0] == pytest.approx(expected, abs=6e-9)
    assert tails.two_sided(np.array([expected]), np.array([[p + 1.0]]))[0] == pytest.approx(0.05, abs=1e-9)


def test_quantile_of_a_sum_with_a_normal():
    part = 2 * 6 / 0.25
    found = Tails("spherical", 5, np.array([part])).half_widths(0.95, np.array([[4 + part]]))
    assert found[0] == pytest.approx(14.54161492, abs=6e-9)


@pytest.mark.parametrize("law", ["laplace", "linf", "spherical"])
@pytest.mark.parametrize("m", [1, 3, 12, 40])
def test_intervals_hold_what_they_say(law, m):
    """Drawn noise, one direction with equal parts of all coordinates and one along an axis."""
    draws = np.array([SeededNoise(seed).pure(np.zeros(m), law, np.ones(m), 1.0) for seed in range(4000)])
    for direction in (np.ones(m) / np.sqrt(m), np.eye(m)[0]):
        projected = draws @ direction
        tails = Tails(law, m, np.array([projected.var()]))
        half = tails.half_widths(0.95, np.array([[projected.var()]]))[0]
        share = np.mean(np.abs(projected) <= half)
        assert share >= 0.935 and (law != "spherical" or share <= 0.965)


def test_the_map_to_users_and_back():
    exog = np.column_stack([np.ones(5), np.linspace(-1, 3, 5), np.linspace(20, 10, 5)])
    params = np.array([0.3, -1.0, 2.0])
    unit = (exog - BALL.center) / (BALL.scale * BALL.radius)
    assert exog @ (BALL.to_user @ params) == pytest.approx(unit @ params)
    assert np.linalg.norm(unit, axis=1).max() == pytest.approx(1.0)
    assert (np.abs(unit) <= BALL.reach * (1 + 1e-12)).all()
    turned = replace(BALL, whitening=np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.5], [0.0, 0.5, 1.0]]))
    assert exog @ (turned.to_user @ params) == pytest.approx(unit @ turned.turned.T @ params)


def debiased(n: int, epsilon: float, seed: int = 0, robust: bool = False) -> MarginEstimate:
    budget = dps.pure(epsilon)
    private = curator(n, budget, seed)
    return fit_debiased(private, PROBLEM, make_debiased_plan(budget.epsilon, robust), robust)


def slope_at(slack: float) -> float:
    tuning = replace(TUNING, slack=slack, kept=1.0)  # with the curvature of all rows
    with noise(NoNoise()):
        plan = make_debiased_plan(1.0, tuning=tuning)
        return float(fit_debiased(curator(4000, dps.pure(1.0)), PROBLEM, plan, tuning=tuning).params[1])


def test_what_the_penalty_leaves_falls_with_its_square():
    """Twice the slack is half of the penalty, of which the correction leaves about a quarter."""
    least = slope_at(0.5)  # what is left there is that of the weights of long rows
    left = [abs(slope_at(slack) - least) for slack in (0.05, 0.1, TUNING.slack)]
    assert left[0] > 3 * left[1] > 9 * left[2] > 0


def test_without_noise_and_penalty_it_is_maximum_likelihood():
    data = made(40000)
    exog = np.column_stack([np.ones(40000), data["a"], data["b"]])
    reference = sm.Logit(data["y"], exog).fit(disp=0)
    robust = sm.Logit(data["y"], exog).fit(disp=0, cov_type="HC0")
    for kind, expected in ((False, reference), (True, robust)):
        with noise(NoNoise()):
            fit = debiased(40000, 1e4, robust=kind)
        assert fit.params == pytest.approx(expected.params, abs=1e-3)
        assert np.sqrt(np.diag(fit.cov)) == pytest.approx(expected.bse, rel=1e-3)


def test_the_bias_of_the_penalty_is_taken_off():
    budget, data = dps.pure(1), made(4000)
    exog = np.column_stack([np.ones(4000), data["a"], data["b"]])
    target = sm.Logit(data["y"], exog).fit(disp=0).params
    with noise(NoNoise()):
        corrected = debiased(4000, 1.0).params
        plan = make_plan(budget)
        ridge = least_ridge(LOGISTIC_LOSS, 1.0, plan.minimum.amount)
        penalised = fit_penalised(curator(4000, budget), BALL, LOGISTIC_LOSS, ridge, plan).params
    assert np.abs(corrected - target).max() < 0.2 * np.abs(penalised - target).max()


@pytest.mark.parametrize("loss", [LOGISTIC_LOSS, huber_hinge(0.5)], ids=lambda loss: loss.name)
@pytest.mark.parametrize("budget", [dps.pure(1), dps.gdp(0.5)], ids=str)
@pytest.mark.parametrize("tilted", [True, False])
def test_the_noise_is_as_large_as_it_is_said_to_be(loss, budget, tilted):
    """Same rows, other noise: the scatter of params is what cov_privacy says."""
    plan, n, found = make_plan(budget), 3000, []
    ridge = 2 * n * 0.01
    for seed in range(60):
        with noise(SeededNoise(seed)):
            private = curator(n, budget)
        found.append(fit_penalised(private, BALL, loss, ridge, plan, tilted))
    scatter = np.array([fit.params for fit in found]).var(axis=0)
    claimed = np.median([np.diag(fit.cov_privacy) for fit in found], axis=0)
    assert 0.55 < np.min(scatter / claimed) and np.max(scatter / claimed) < 1.7  # 60 draws, heavy tails


def test_little_budget_says_nothing_of_any_coefficient_and_much_of_all():
    with noise(SeededNoise(0)):
        few, many = debiased(300, 0.1), debiased(30000, 1.0)
    assert few.problems == ("hopeless",) and np.isinf(np.diag(few.cov)).all()
    assert many.problems == () and np.max(np.diag(many.cov)) < 1


def covered(schema: dps.Schema, draw: Callable[[np.random.Generator], Drawn], epsilon: float) -> Array:
    """Shares of 40 fits by coefficient: unflagged, and of those, within the interval."""
    found = []
    for seed in range(40):
        data, truth = draw(np.random.default_rng(seed))
        with noise(SeededNoise(seed)):
            fit = dps.logit("y ~ " + " + ".join(name for name in data if name != "y"), data, schema).fit(
                dps.pure(epsilon)
            )
        low, high = fit.conf_int().to_numpy().T
        found.append([not fit.flags, *((low <= truth) & (truth <= high))])
    return np.mean(found, axis=0)


def two(generator: np.random.Generator, slopes: tuple[float, float]) -> Drawn:
    """10,000 rows, two normal covariates."""
    x = np.clip(generator.normal(size=(10_000, 2)), -4, 4)
    y = (generator.uniform(size=10_000) < special.expit(-0.5 + x @ slopes)).astype(int)
    return dict(a=x[:, 0], b=x[:, 1], y=y), np.array([-0.5, *slopes])


@pytest.mark.parametrize(
    ("bounds", "slopes"),
    [((-4, 4), (0.6, -0.4)), ((-30, 170), (0.6, -0.4)), ((-4, 4), (3.0, -2.0))],
    ids=["plain", "one column a hundred sds wide", "strong slopes"],
)
def test_intervals_hold_where_nothing_is_flagged(bounds, slopes):
    """Covered in .00 to .08 of fits, without a caution, when bounds were taken for where columns are."""
    schema = dps.Schema(a=dps.bounded(-4, 4), b=dps.bounded(*bounds), y=dps.flag())
    unflagged, *inside = covered(schema, lambda generator: two(generator, slopes), 3.0)
    assert unflagged > 0.9 and min(inside) > 0.8 and np.mean(inside) > 0.89  # 40 fits of 3


def test_slopes_of_columns_that_repeat_each_other_are_not_estimable():
    """A correlation of .999 at epsilon 1: noise hides the difference of the slopes, of any size.

    The intercept, where both are 0, goes with them, as with all numbers that are not estimable.
    """
    generator = np.random.default_rng(5)
    a = generator.normal(size=10_000)
    b = 0.999 * a + np.sqrt(1 - 0.999**2) * generator.normal(size=10_000)
    y = (generator.uniform(size=10_000) < special.expit(a)).astype(int)
    schema = dps.Schema(a=dps.bounded(-5, 5), b=dps.bounded(-5, 5), y=dps.flag())
    with noise(SeededNoise(0)):
        fit = dps.logit("y ~ a + b", dict(a=a, b=b, y=y), schema).fit(dps.pure(1))
    assert np.isinf(fit.bse).all()


CURVATURE, RIDGE, ROWS = 0.2 * np.eye(2), 200.0, 10_000


def corrected(
    curvature: Array = CURVATURE,
    sd: float = 1e-6,
    moved: float = 0.0,
    prior: float = 1.0,
    tuning: Tuning = TUNING,
) -> MarginEstimate:
    """A minimum that lies so far from where the penalty leads, and its curvature."""
    one = np.ones(2)
    ball = UnitBall(np.zeros(2), one, one, 1.0, 1.0, True)
    located = Located(np.zeros(2), one, one, -one, one, 1.0, (), 0.5, 0.5, 0.0, 1e-3, prior * one, one < 0)
    # its noise is 0.25 in each coefficient, so that no part below rules
    minimum = Minimum(
        np.array([0.0, moved]), RIDGE, "spherical", 500 * one, "none", 0 * one, dps.pure(1), ROWS
    )
    problem = Problem(BINOMIAL, np.array([-1.0]), np.array([1.0]), (0.0, 1.0))
    left = NoiseLeft(np.ones((2, 2)), None)
    matrices = Matrices(curvature, "spherical", np.full((2, 2), sd), None, left)
    return without_penalty(ball, problem, located, minimum, matrices, tuning)


def test_what_a_correction_may_lack_is_uncertain():
    """By a share of itself that is the change of the log odds on its way, here the same number."""
    still, moved = corrected(), corrected(moved=2.0)
    correction = RIDGE / ROWS * 2.0 / CURVATURE[1, 1]
    more = np.diag(moved.cov_privacy - still.cov_privacy)
    assert moved.params[1] == pytest.approx(2 + correction, rel=1e-3)
    assert more == pytest.approx([0.0, correction**4], abs=1e-9)


def test_noise_of_the_curvature_is_noise_of_the_correction():
    """And what the inverse of the curvature has made of all other errors is as uncertain as that is."""
    sd, moved = 1e-3, 2.0
    fits = corrected(sd=sd, moved=moved), corrected(moved=moved)
    more = np.diag(fits[0].cov_privacy - fits[1].cov_privacy)
    ratio, inverse = RIDGE / ROWS, 1 / CURVATURE[1, 1]
    own = (ratio * inverse**2 * moved * sd) ** 2
    # of sampling, and of noise of the minimum, which the inverse has carried
    known = inverse / ROWS + (500 * inverse / ROWS) ** 2
    assert more == pytest.approx(np.array([0.5, 1.0]) * own + known * (2 * sd * inverse) ** 2, rel=1e-3)


def test_what_noise_hides_of_the_curvature_is_as_uncertain_as_before():
    """Of a direction that is half seen, half; what it lacks is an error of both by noise of the curvature."""
    half = float(believed(np.array([1e-2]))[0])
    small, large = (corrected(np.diag([0.2, half]), 1e-2, prior=prior) for prior in (20.0, 60.0))
    more = np.diag(large.cov_privacy - small.cov_privacy)
    lacking = (60 - 20) / 4
    assert more == pytest.approx(
        [lacking * (1e-2 / 0.2) ** 2 / 2, lacking * (1 + 0.5 * (1e-2 / half) ** 2)], rel=0.02
    )


def test_rare_answers_have_their_curvature_cut_where_noise_is_worth_it():
    """Of even odds hardly, and not at all where noise is next to nothing."""
    one = np.ones(3)
    located = Located(np.zeros(3), one, one, -one, one, one, (), 0.01, 0.1, 0.0, 1e-3, one, one < 0)
    rare, even = np.array([-4.6, 0.4, 0.0]), np.array([0.0, 0.4, 0.0])
    cut = Cut.of(PROBLEM, located, rare, 1.0, TUNING)
    assert 0.01 < cut.steepest < 0.03 and TUNING.kept <= cut.kept < 1
    assert Cut.of(PROBLEM, located, even, 1.0, TUNING).steepest > 0.2
    assert Cut.of(PROBLEM, located, rare, 1e-3, TUNING) == Cut()
    assert Cut.of(replace(PROBLEM, offset=(-1.0, 1.0)), located, rare, 1.0, TUNING) == Cut()


def test_of_rare_answers_that_are_told_well_a_line_may_lie_far_beyond_its_errors():
    """Two roots of the sum of squares reach where scores of normal log odds say, hardly farther if small."""
    near, far = np.array([-4.0, 0.5]), np.array([-5.9, 1.9])
    any_chance = np.array([0.0, 1.0])
    less = _farther(near, near, np.diag([0.01, 0.01]), np.zeros(2), 1.0, any_chance)
    assert (np.hypot(0.1, less) - 0.1).max() < 0.01
    cov = np.array([[0.5, -0.45], [-0.45, 0.5]])
    more = _farther(far, far, cov, np.zeros(2), 1.0, any_chance)
    assert more[0] < -0.3 and more[1] > 0.1
    sd = np.sqrt(0.95)
    most, size = 2 * sd * np.array([-1, 1]) / np.sqrt(2), np.linalg.norm(more)
    scores, steep = _scores(far)
    lacking = more / size * (np.hypot(sd, size) - sd)
    assert _scores(far + most + 2 * lacking)[0] == pytest.approx(scores + steep @ most, abs=1e-9)


@pytest.mark.parametrize("middle", [3.5, -3.5])
def test_a_middle_that_is_known_badly_lies_no_farther_than_the_share_of_yes_allows(middle):
    """Two standard errors of it would ask for a share beyond 1, and no log odds have that."""
    at, share, both = np.array([middle, 0.7]), 1 / (1 + np.exp(-middle)), np.sign(middle) * 0.18
    cov, side = np.array([[0.6, both], [both, 0.11]]), np.array([-1.0, 1.0])
    unknown, known = (_farther(at, at, cov, np.zeros(2), 1.0, share + error * side) for error in (1.0, 0.01))
    assert np.linalg.norm(unknown) > 5 > 1 > np.linalg.norm(known)

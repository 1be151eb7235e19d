"""The minimum of a tilted objective is exact to a proved tolerance, on any data."""

import functools
import itertools
import math
import operator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import dpstats as dps
from dpstats.curator import Curator
from dpstats.curator.blocks import Blocks, Scratch
from dpstats.curator.law import Law
from dpstats.curator.objective import Objective
from dpstats.curator.statistics import REGISTRY
from dpstats.curator.unit_rows import UnitRows
from dpstats.errors import BudgetError
from dpstats.families import LOGISTIC_LOSS, huber_hinge
from dpstats.schema import Unit
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.margin import TINY, Labelled, labelled, slopes_of, unit_map

HUBER = huber_hinge(1.0)
LOSSES = [LOGISTIC_LOSS, HUBER, huber_hinge(0.1)]


class Tilted(NoNoise):
    """Answers the first question, for the tilt, with a given vector, and the others with the truth."""

    def __init__(self, tilt: list[float]) -> None:
        self._tilt = np.array(tilt)

    def pure(self, value, law, axes, epsilon):
        return value.copy() if value.any() else self._tilt


def curator(x=TINY[0], y=TINY[1], budget=None) -> Curator:
    return Curator(labelled(x, y), Labelled(x.shape[1]), budget or dps.pure(10))


@pytest.mark.parametrize(
    ("loss", "tilt", "expected"),
    [
        (LOGISTIC_LOSS, [0.0, 0.0], [-1.1326600323, 1.3467452748]),
        (LOGISTIC_LOSS, [1.0, -2.0], [-12.4959796915, 18.7560811439]),
        (HUBER, [0.0, 0.0], [-1.3050847458, 1.947740113]),
        (HUBER, [1.0, -2.0], [-12.5, 18.75]),
    ],
)
def test_minima_of_the_page(loss, tilt, expected):
    with noise(Tilted(tilt)):
        minimum = curator().minimise(9.0, loss=loss, ridge=2 * 0.01 * 4, **unit_map(2))
    assert minimum.params == pytest.approx(expected, abs=5e-11)


def test_derivatives_of_the_page():
    params, c = np.array([0.5, -1.0]), 0.01
    for loss, mean, curvature, scores in (
        (
            LOGISTIC_LOSS,
            [0.1198061024, -0.1607128417],
            [[0.10512143412, 0.02124021617], [0.02124021617, 0.08156863169]],
            [[0.14068278929, 0.03463083585], [0.03463083585, 0.08658657674]],
        ),
        (HUBER, [0.185, -0.22625], [[0.02, 0], [0, 0.05125]], [[0.3624, 0.0902], [0.0902, 0.23475625]]),
    ):
        problem = Objective(Labelled(2), loss=loss, ridge=2 * c * 4, **unit_map(2))
        point = problem.at(slopes_of(problem, labelled(*TINY)), params, np.zeros(2))
        assert point.gradient / 4 == pytest.approx(mean, abs=5e-11)
        assert point.hessian.ravel() / 4 == pytest.approx(np.ravel(curvature), abs=5e-11)
        with noise(NoNoise()):
            release = curator().release("margin_scores", 1.0, loss=loss, params=params, **unit_map(2))
            both = curator().release("margin_sandwich", 1.0, loss=loss, params=params, **unit_map(2))
        sigma = release.values[0] / 4 - 4 * c**2 * np.outer(params, params)
        assert sigma.ravel() == pytest.approx(np.ravel(scores), abs=1e-5)  # rows rounded to 2^-20
        assert both.values[0] == pytest.approx(release.values[0], abs=1e-5)
        plain = both.values[1] / loss.together / 4 + 2 * c * np.eye(2)
        assert plain.ravel() == pytest.approx(np.ravel(curvature), abs=1e-5)


def wild(n: int, d: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(3)
    x, y = draw.uniform(-1, 1, (n, d)) / math.sqrt(d), np.sign(draw.normal(size=n))
    if kind == "separable":
        y = np.sign(x[:, 0])
    elif kind == "short":
        x, y = x * 1e-3, np.sign(x[:, 0])
    elif kind == "one row":
        x[:], y[:] = x[0], 1.0
    elif kind == "collinear":
        x[:, 1] = x[:, 0] * (1 + 1e-9)
    elif kind == "sorted":
        order = np.argsort(x[:, 0])
        x, y = x[order], np.where(np.arange(n) < n / 2, 1.0, -1.0)
    return x, y


KINDS = ["random", "separable", "short", "one row", "collinear", "sorted"]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name}{loss.steepest:g}")
@pytest.mark.parametrize("kind", KINDS)
def test_wild_data_are_solved_and_rounding_is_bounded(kind, loss):
    x, y = wild(3000, 4, kind)
    for ridge in (1e-4, 0.5, 50.0):
        problem = Objective(Labelled(4), loss=loss, ridge=ridge, **unit_map(4))
        tolerance = problem.tolerance(len(x))
        slopes = slopes_of(problem, labelled(x, y), 2500)
        for tilt in (np.zeros(4), np.array([200.0, -5, 0.1, 30]), np.array([3e9, 1.0, 0, -4e9])):
            found = problem.minimum(slopes, len(x), tilt, math.inf)
            allowed = tolerance.rounding(found)
            signed = (x * y[:, None]).astype(np.longdouble)
            margin = signed @ found.astype(np.longdouble)
            slope = 1 / (1 + np.exp(margin)) if loss is LOGISTIC_LOSS else loss.derivatives(margin)[0]
            exact = found * np.longdouble(ridge) + tilt - slope @ signed
            computed = problem.at(slopes, found, tilt).gradient
            assert np.linalg.norm((computed - exact).astype(float)) <= allowed
            assert np.linalg.norm(exact.astype(float)) <= 5 * allowed


@settings(max_examples=60, deadline=None)
@given(data=st.data(), kind=st.sampled_from(KINDS), loss=st.sampled_from(LOSSES))
def test_the_gradient_is_within_the_proved_rounding_however_rows_are_parted(data, kind, loss):
    x, y = wild(400, 4, kind)
    problem = Objective(Labelled(4), loss=loss, ridge=0.5, **unit_map(4))
    params, tilt = np.array([1e3, -2.0, 0.5, 7.0]), np.array([200.0, -5, 0.1, 30])
    places = st.lists(st.integers(1, 399), max_size=63, unique=True)
    cuts = [0, *sorted(data.draw(places)), 400]
    order = data.draw(st.permutations(range(len(cuts) - 1)))

    def parted(params, order=order):
        parts = [labelled(x[a:b], y[a:b]).blocks() for a, b in itertools.pairwise(cuts)]
        found = [problem.slope(params, map(Labelled(4).read, part)) for part in parts]
        total = functools.reduce(operator.add, (found[place] for place in order))
        assert total.count == 400
        return total

    signed = (x * y[:, None]).astype(np.longdouble)
    margin = signed @ params.astype(np.longdouble)
    slope = 1 / (1 + np.exp(margin)) if loss is LOGISTIC_LOSS else loss.derivatives(margin)[0]
    exact = params * np.longdouble(0.5) + tilt - slope @ signed
    point = problem.at(parted, params, tilt)
    again = problem.at(lambda params: parted(params, sorted(order)), params, tilt)
    allowed = problem.tolerance(400).rounding(params)
    assert np.linalg.norm((point.gradient - exact).astype(float)) <= allowed
    assert (again.hessian == point.hessian).all() and (again.gradient == point.gradient).all()
    whole = problem.at(slopes_of(problem, labelled(x, y)), params, tilt)
    np.testing.assert_allclose(point.hessian, whole.hessian, rtol=0, atol=1e-10)


def test_a_penalty_too_small_for_the_budget_is_refused_before_rows_are_read():
    tight = curator(budget=dps.pure(1))
    with pytest.raises(BudgetError, match="penalty is too small"):
        tight.minimise(0.5, loss=LOGISTIC_LOSS, ridge=0.1, **unit_map(2))
    tight.minimise(1.0, loss=LOGISTIC_LOSS, ridge=10, **unit_map(2))  # nothing was spent


def test_costs_add_up_and_are_spent_first():
    tight = curator(budget=dps.zcdp(0.5))
    tight.minimise(0.8, loss=LOGISTIC_LOSS, ridge=10, **unit_map(2))
    tight.minimise(dps.pure(0.6), loss=LOGISTIC_LOSS, ridge=10, **unit_map(2))
    with pytest.raises(BudgetError, match="left"):
        tight.minimise(0.1, loss=LOGISTIC_LOSS, ridge=10, **unit_map(2))


def test_noise_on_the_minimum_is_that_of_output_perturbation():
    """sd 1 / (n c mu) for mu, length by epsilon n c (Algorithm 4), but for what certification adds."""
    n, c = 4, 0.01
    problem = dict(loss=LOGISTIC_LOSS, ridge=2 * n * c, tilted=False, **unit_map(2))
    assert curator(budget=dps.gdp(1)).minimise(1.0, **problem).sds == pytest.approx(1 / (n * c), rel=1e-6)
    found = curator().minimise(1.0, spherical=True, **problem)
    assert found.law == "spherical" and found.sds == pytest.approx(math.sqrt(3) / (n * c), rel=1e-6)


def test_an_answer_tells_which_tilt_it_needed():
    """What the recorder of a tilted minimum gets: the gradient of the data at the answer."""
    recording = Recording(SeededNoise(5))
    with noise(recording):
        minimum = curator().minimise(2.0, loss=LOGISTIC_LOSS, ridge=8.0, **unit_map(2))
    assert recording.records[0].exact == pytest.approx(recording.answers[0], abs=1e-6)
    assert (recording.answers[1] == minimum.params).all()


def apart(name: str, rows: list[list[float]], params: list[float], loss, **more) -> tuple[float, float]:
    """Distance of what two rows (x1, x2, y) give, and the declared bound."""
    statistic = REGISTRY[name](Labelled(2), loss=loss, params=np.array(params), **more, **unit_map(2))
    values = []
    for x1, x2, y in rows:
        (block,) = Blocks(labelled(np.array([[x1, x2]]), np.array([y])), Labelled(2), 1)
        values.append(
            np.concatenate(
                [
                    part.pack(left.T @ (left if right is None else right))
                    for part, (left, right, _) in zip(
                        statistic.parts, statistic.factors(block, Scratch()), strict=True
                    )
                ]
            )
        )
    return float(np.linalg.norm(values[0] - values[1])), statistic.sensitivity


def test_sensitivities_of_the_page_are_attained():
    crossed = [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    for name, params, loss, expected in (
        ("margin_curvature", [0.0, 0.0], LOGISTIC_LOSS, 0.3535533906),
        ("margin_curvature", [1.0, 1.0], HUBER, 0.7071067812),
        ("margin_scores", [-1.0, -1.0], HUBER, 1.4142135624),
        ("margin_sandwich", [-0.175194] * 2, LOGISTIC_LOSS, 1.4142135624),  # a slope of .5437
        ("margin_sandwich", [1e-9, 1e-9], HUBER, 2.0),
    ):
        distance, bound = apart(name, crossed, params, loss)
        assert bound == pytest.approx(expected, rel=1e-9) and distance == pytest.approx(bound, rel=1e-6)


def test_what_groups_have_lost_of_their_slopes_costs_nothing_beside_curvature_and_scores():
    """Attained by a row of each of two groups, next to where slopes end."""
    crossed, loss = [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], huber_hinge(0.5)
    distance, bound = apart("margin_sandwich", crossed, [1.5 - 1e-9] * 2, loss, groups=np.eye(2))
    assert bound == pytest.approx(2.0, rel=1e-9) and distance == pytest.approx(bound, rel=1e-6)
    alone, _ = apart("margin_sandwich", crossed, [1.5 - 1e-9] * 2, loss)
    assert alone == pytest.approx(math.sqrt(2), rel=1e-6)
    with pytest.raises(ValueError, match="straight"):
        apart("margin_sandwich", crossed, [0.0] * 2, HUBER, groups=np.eye(2))


@pytest.mark.parametrize(
    ("k", "paper", "tight"),
    [(2, 1.11803, 0.70711), (6, 3.04138, 1.65831), (11, 5.52268, 2.89396), (21, 10.5119, 5.38516)],
)
def test_spherical_noise_of_the_curvature(k, paper, tight):
    """sd on the diagonal times n epsilon, as published and with symmetric noise of tight size."""
    for published, expected in ((True, paper), (False, tight)):
        statistic = REGISTRY["margin_curvature"](
            Labelled(k), loss=LOGISTIC_LOSS, params=np.zeros(k), published=published, **unit_map(k)
        )
        m = sum(part.size for part in statistic.parts)
        law = Law("spherical", np.full(m, statistic.sensitivity), 1.0)  # without what rounding adds
        assert statistic.unpack(law.sds)[0][0, 0] == pytest.approx(expected, abs=6e-6)


def test_bounds_of_scores_follow_released_params():
    """Lemma 2 at |params| = 3: the paper 1.8147949342, tight 1.2832538044; the largest there is, 1.1501."""
    bounds = []
    for published in (True, False):
        statistic = REGISTRY["margin_scores"](
            Labelled(2), loss=LOGISTIC_LOSS, params=np.array([3.0, 0.0]), published=published, **unit_map(2)
        )
        bounds.append(statistic.sensitivity)
    assert bounds == pytest.approx([1.8147949342, 1.2832538044], rel=1e-9)
    angles = np.linspace(0, np.pi, 181)
    sizes = special.expit(3 * np.cos(angles)) ** 2
    along = np.cos(angles[:, None] + angles) ** 2  # rows on either side of the params
    worst = np.sqrt((sizes**2)[:, None] + sizes**2 - 2 * np.outer(sizes, sizes) * along).max()
    assert worst == pytest.approx(1.1501, abs=2e-3) and worst <= bounds[1]


@pytest.mark.parametrize("budget", [dps.pure(4), dps.gdp(4)], ids=str)
def test_a_unit_of_several_rows_gets_the_noise_of_as_many_replacements(budget):
    one, rows = curator(budget=budget), labelled(*TINY)
    three = Curator(replace(rows, unit=Unit("person", 3)), Labelled(2), budget)
    for tilted in (True, False):
        problem = dict(loss=LOGISTIC_LOSS, ridge=1e4, tilted=tilted, **unit_map(2))  # hardly any slack
        first, second = (each.minimise(1.9, **problem) for each in (one, three))
        sds = (first.tilt_sds, second.tilt_sds) if tilted else (first.sds, second.sds)
        assert sds[1] == pytest.approx(3 * sds[0], rel=1e-3)


@pytest.mark.parametrize("origin", [[0.5, -3.0], [-20.0, 4.0]])
def test_an_origin_moves_the_tilt_and_nothing_else(origin):
    ridge, tilt = 0.8, np.array([1.0, -2.0])
    found = []
    for asked, term in ((dict(origin=origin), tilt), ({}, tilt - ridge * np.array(origin))):
        with noise(Tilted(list(term))):
            found.append(curator().minimise(9.0, loss=LOGISTIC_LOSS, ridge=ridge, **unit_map(2), **asked))
    first, second = found
    assert first.params == pytest.approx(second.params, abs=1e-10)
    assert first.tilt_sds == pytest.approx(second.tilt_sds) and (first.sds >= second.sds).all()


def test_an_origin_must_be_public_numbers():
    with pytest.raises(ValueError, match="origin must be 2 finite numbers"):
        curator().minimise(9.0, loss=LOGISTIC_LOSS, ridge=1.0, origin=[np.nan, 0.0], **unit_map(2))


def test_an_offset_pulls_at_a_row_as_far_as_its_public_bounds_let_it():
    design = SimpleNamespace(names=("a",), offset_bounds=(-1.0, 2.0))
    rows = UnitRows(design, center=[0.0], scale=[1.0], radius=1.0, longest=1.0, reach=[1.0])
    assert rows.pulled(LOGISTIC_LOSS, np.zeros(1)) == pytest.approx(1 / (1 + math.exp(-2.0)))

"""Minima are found and certified on any data and for any tilt, or refused from public numbers."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.curator import Curator
from dpstats.curator.objective import MOST_CONDITION, Objective
from dpstats.curator.solver import TRIALS, Point, Tolerance, solve
from dpstats.errors import BudgetError
from dpstats.families import LOGISTIC_LOSS, MarginLoss, huber_hinge
from dpstats.testing import NoNoise, noise
from tests.margin import Labelled, labelled, slopes_of, unit_map

Array = np.ndarray
LOSSES = [LOGISTIC_LOSS, huber_hinge(0.01), huber_hinge(0.1), huber_hinge(1.0)]


def separated(n: int, d: int, seed: int, wrong: float = -1.0) -> tuple[Array, Array]:
    """Rows that a plane separates, but for the label of the first."""
    x = np.random.default_rng(seed).uniform(-1, 1, (n, d)) / math.sqrt(d)
    y = np.sign(x[:, 0])
    y[0] *= wrong
    return x, y


def counted(problem: Objective, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows of passes, one entry for each."""
    at, passes = problem.at, []

    def counting(*given: Array) -> Point:
        passes.append(1)
        return at(*given)

    monkeypatch.setattr(problem, "at", counting)
    return passes


def most_passes(problem: Objective, n: int, tilt: float = 0.0) -> float:
    """The bound of the module."""
    kappa = problem.smooth(n) / problem.ridge
    levels = 1 + math.log10((n + tilt) / (3 * problem.tolerance(n).fixed))
    return levels * (1 + 4 * kappa * math.log(290 * kappa)) * (1 + TRIALS)


@pytest.mark.parametrize("wrong", [-1.0, 1.0])
@pytest.mark.parametrize("d", [4, 8])
def test_no_mark_of_failure_tells_neighbours_apart(d: int, wrong: float) -> None:
    """h = .1, c = 5e-9, output perturbation: 2000 passes of Newton's method were not enough on the first of
    these neighbours, which the fit then said."""
    n, loss = 1000, huber_hinge(0.1)
    problem = Objective(Labelled(d), loss=loss, ridge=2 * n * 5e-9, tilted=False, **unit_map(d))
    x, y = separated(n, d, 0, wrong)
    found = problem.minimum(slopes_of(problem, labelled(x, y)), n, np.zeros(d), math.inf)
    assert np.linalg.norm(gradient(problem, x, y, found, np.zeros(d))) <= problem.tau(n, None)


def gradient(problem: Objective, x: Array, y: Array, params: Array, tilt: Array) -> Array:
    """In extended precision."""
    signed = (x * y[:, None]).astype(np.longdouble)
    margin = signed @ params.astype(np.longdouble)
    if problem.loss is LOGISTIC_LOSS:
        slope = 1 / (1 + np.exp(np.minimum(margin, 11000)))
    else:
        slope = problem.loss.derivatives(margin)[0]
    return (params * np.longdouble(problem.ridge) + tilt - slope @ signed).astype(float)


ENTRY = st.sampled_from([0.0, 0.5, -0.5, 1e-9, -1e-9, 1e-160, 0.25]) | st.floats(-0.5, 0.5)
ROW = st.tuples(ENTRY, ENTRY, st.sampled_from([-1.0, 1.0]), st.integers(1, 30))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(ROW, min_size=1, max_size=12),
    st.sampled_from(LOSSES),
    st.floats(-4, 4),
    st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
    st.floats(-2, 9),
)
def test_every_answer_is_certified(
    drawn: list[tuple[float, float, float, int]],
    loss: MarginLoss,
    ridge: float,
    tilt: tuple[float, float],
    size: float,
) -> None:
    """Separable, repeated, tiny and empty rows, and tilts of any length."""
    table = np.array([row[:3] for row in drawn for _ in range(row[3])])
    x, y, b = table[:, :2], table[:, 2], np.array(tilt) * 10**size
    problem = Objective(Labelled(2), loss=loss, ridge=10**ridge, **unit_map(2))
    found = problem.minimum(slopes_of(problem, labelled(x, y)), len(x), b, math.inf)
    allowed = problem.tolerance(len(x)).of_answer(float(np.linalg.norm(found)))
    assert np.linalg.norm(gradient(problem, x, y, found, b)) <= allowed


def test_passes_stay_within_the_proved_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for loss in LOSSES:
        for c in (1e-7, 1e-5, 1e-3):
            problem = Objective(Labelled(3), loss=loss, ridge=2 * 500 * c, **unit_map(3))
            passes = counted(problem, monkeypatch)
            slopes = slopes_of(problem, labelled(*separated(500, 3, 1)))
            problem.minimum(slopes, 500, np.ones(3), math.inf)
            assert 10 <= len(passes) <= min(2000, most_passes(problem, 500, 2.0))


def spoilt(how: str) -> Callable[[Array], Array]:
    return {
        "singular": lambda hessian: np.zeros_like(hessian),
        "nan": lambda hessian: np.full_like(hessian, np.nan),
        "uphill": lambda hessian: -hessian,
        "huge": lambda hessian: hessian * 1e-30,
        "tiny": lambda hessian: hessian * 1e30,
    }[how]


@pytest.mark.parametrize("how", ["singular", "nan", "uphill", "huge", "tiny"])
def test_no_factorisation_is_needed(how: str) -> None:
    """Steps of gradients get there alone, within the bound of the proof."""
    n, spoil = 40, spoilt(how)
    problem = Objective(Labelled(2), loss=LOGISTIC_LOSS, ridge=4.0, **unit_map(2))
    slopes, passes = slopes_of(problem, labelled(*separated(n, 2, 0))), []

    def at(params: Array) -> Point:
        passes.append(1)
        point = problem.at(slopes, params, np.ones(2))
        return point._replace(hessian=spoil(point.hessian))

    found = solve(at, 2, problem.tolerance(n), problem.smooth(n))
    assert problem.tolerance(n).reached(problem.at(slopes, found, np.ones(2)))
    assert len(passes) <= most_passes(problem, n, 2.0)


def test_rounding_at_its_limit_does_not_hold_the_solver_up() -> None:
    """A gradient that is wrong by as much as is declared, against the step each time."""
    h, wrong = np.diag([1.0, 1e3]), 1e-6
    for seed in range(20):
        draw = np.random.default_rng(seed)
        passes = []

        def at(t: Array, draw: np.random.Generator = draw, passes: list[int] = passes) -> Point:
            passes.append(1)
            error = draw.normal(size=2)
            return Point(t, h @ (t - 1) + wrong * error / np.linalg.norm(error), h)

        found = solve(at, 2, Tolerance(wrong + 1e-10, 1e-12), 1e3)
        assert np.linalg.norm(h @ (found - 1)) <= 5.01 * wrong and len(passes) < 200


@pytest.mark.parametrize("size", [1.0, 1e2, 1e5, 1e9, 1e15, 1e100])
def test_no_tilt_is_too_long(size: float) -> None:
    """What a tilt of any length leads to, brought back to the public ball, errs by no more than is hidden."""
    x, y = separated(50, 1, 0)
    for loss in LOSSES:
        problem = Objective(Labelled(1), loss=loss, ridge=0.7, **unit_map(1))
        planned = problem.planned(dps.pure(9), 50, 1)
        farthest = problem.farthest(50, planned.tilt)
        slopes = slopes_of(problem, labelled(x, y))
        for b in (size, -size):
            answer = planned.exact(slopes, np.array([b]))
            low, high = (np.longdouble(sign * (size + 60) / 0.7) for sign in (-1, 1))
            for _ in range(400):
                middle = (low + high) / 2
                up = gradient_1d(problem, x, y, middle, b) > 0
                low, high = (low, middle) if up else (middle, high)
            exact = np.clip(low, -farthest, farthest)
            assert abs(float(answer[0] - exact)) <= problem.tau(50, planned.tilt) / 0.7
            assert abs(answer[0]) <= farthest * (1 + 1e-15)


def gradient_1d(problem: Objective, x: Array, y: Array, t: np.longdouble, b: float) -> np.longdouble:
    signed = (x[:, 0] * y).astype(np.longdouble)
    margin = signed * t
    if problem.loss is LOGISTIC_LOSS:
        slope = 1 / (1 + np.exp(np.clip(margin, -11000, 11000)))
    else:
        slope = problem.loss.derivatives(margin)[0]
    return np.longdouble(problem.ridge) * t + np.longdouble(b) - (slope * signed).sum()


def test_what_floats_cannot_certify_is_refused_before_anything_is_spent() -> None:
    x, y = separated(1000, 2, 0)
    curator = Curator(labelled(x, y), Labelled(2), dps.pure(1))
    problem = dict(loss=huber_hinge(0.1), tilted=False, **unit_map(2))
    least = 1000 * 5.0 / MOST_CONDITION
    with pytest.raises(BudgetError, match="penalty is too small for 1000 rows"):
        curator.minimise(1.0, ridge=0.99 * least, **problem)
    with pytest.raises(BudgetError, match="offset"):
        far = Labelled(2)
        far.offset_bounds = (0.0, 1e30)
        Objective(far, ridge=2.0, **problem).planned(dps.pure(1), 1000, 1)
    with noise(NoNoise()):
        Curator(labelled(x, y), Labelled(2), dps.pure(1)).minimise(1.0, ridge=1.01 * least, **problem)
    curator.minimise(1.0, ridge=1.0, **problem)  # nothing was spent

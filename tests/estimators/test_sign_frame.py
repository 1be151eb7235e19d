"""What a fit by signs takes for known before its steps, and what it makes of them."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpstats as dps
from dpstats.curator import Curator
from dpstats.estimators.columns import find_columns
from dpstats.estimators.engine.plan import first_stage
from dpstats.estimators.location_scale import SurvivalProblem, sign_frame
from dpstats.estimators.location_scale.intercept_scale import LevelRelease
from dpstats.estimators.location_scale.plan import make_sign_plan
from dpstats.estimators.location_scale.sign_frame import SignFrame, framed, sized
from dpstats.estimators.location_scale.signs import Average, Step, average, by_selection, combined
from dpstats.estimators.row_scale import Box
from dpstats.families import SEV
from dpstats.families.signs import signs
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import NoNoise
from tests.made import under

ROWS, D = 20_000, 4
NAMES = [f"x{j}" for j in range(D)]
DESIGN = build_design(
    "Surv(y) ~ " + " + ".join(NAMES),
    dps.Schema({name: dps.bounded(-4, 4) for name in NAMES}, y=dps.bounded(-10, 10)),
)
BOUNDS = np.vstack([DESIGN.bounds[1:], [[-10.0, 10.0]]])
PROBLEM = SurvivalProblem(SEV, False, Box(*BOUNDS.T))


def rows(correlation: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The last two covariates are correlated; the response follows none of them."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(ROWS, D))
    x[:, 3] = correlation * x[:, 2] + math.sqrt(1 - correlation**2) * x[:, 3]
    return np.clip(x, -4, 4), SEV.quantile(generator.uniform(size=ROWS))


def frame(mu: float, correlation: float = 0.0) -> tuple[SignFrame, Curator]:
    """Noise is not drawn, but reckoned with at this budget."""
    x, y = rows(correlation)
    data = {name: x[:, j] for j, name in enumerate(NAMES)} | {"y": y}
    opened = open_rows(data, DESIGN.schema, DESIGN.variables)
    curator = under(NoNoise(), opened, DESIGN, dps.gdp(10 * mu))
    scale = find_columns(curator, first_stage(mu, False), PROBLEM.box, False)
    return framed(curator, PROBLEM, make_sign_plan(mu, D + 1), scale), curator


def covariance(found: SignFrame) -> np.ndarray:
    """Of whitened rows."""
    x, _ = rows(0.9)
    scale = found.bounding.placement.scale
    return np.cov((x - scale.center) / scale.scale @ found.whitening[:, 1:].T, rowvar=False)


def test_a_correlation_that_stands_out_is_whitened() -> None:
    """Rows shortened to one length show less of it than there is: of 0.9 a quarter stays."""
    found, _ = frame(1.0, 0.9)
    assert found.shape.structured
    left = covariance(found)
    assert 0 < left[2, 3] < 0.25
    left[[2, 3], [3, 2]] = 0
    assert left == pytest.approx(np.eye(D), abs=0.1)


def test_a_correlation_that_noise_could_have_made_is_not() -> None:
    """And then the covariates are as released, each alone."""
    found, _ = frame(0.005, 0.9)
    assert not found.shape.structured
    assert found.whitening == pytest.approx(np.eye(D, D + 1, 1))
    assert covariance(found)[2, 3] > 0.5


@pytest.mark.parametrize("correlation", [0.3, 0.87, 0.95])
def test_hidden_correlations_shorten_standard_errors_by_no_more_than_is_told(correlation: float) -> None:
    """Of random correlations within t of none; two columns attain the bound, which is 2 at t^2 = 3/4."""
    generator = np.random.default_rng(1)
    for _ in range(200):
        factors = generator.normal(size=(D, D + 2))
        factors /= np.linalg.norm(factors, axis=1, keepdims=True)
        mixed = np.eye(D) + generator.uniform() * (factors @ factors.T - np.eye(D))
        hidden = np.abs(np.linalg.eigvalsh(mixed - np.eye(D))).max()
        assert hidden >= 1 or np.diag(np.linalg.inv(mixed)).max() <= 1 / (1 - hidden**2) + 1e-9
    pair = np.array([[1.0, correlation], [correlation, 1.0]])
    assert np.diag(np.linalg.inv(pair)) == pytest.approx(np.full(2, 1 / (1 - correlation**2)))
    assert (np.linalg.inv(pair)[0, 0] > 4) == (correlation**2 > 0.75)


def test_columns_of_uneven_spread_are_not_taken_for_correlated() -> None:
    """Whatever noise does to the diagonal, as of .5 and 2 here; nothing off it stands out."""

    matrix, (found, _) = np.diag([1, 0.3, 0.5, 1.0, 2.2, 1]), frame(1.0)
    release = SimpleNamespace(values=ROWS * matrix[None], sd=0.15 * ROWS, n=ROWS)
    curator: Any = SimpleNamespace(release=lambda *cost, **public: release)
    assert not sign_frame._shape(curator, 1.0, found.bounding.placement.scale).structured


def test_a_matrix_that_may_be_wrong_is_an_error_of_the_way_that_steps_went() -> None:
    """None where scores were read at the estimate."""
    found, _ = frame(0.05)
    where = found.bounding.truncation(found.choice, np.zeros(D + 2))
    level = LevelRelease(np.zeros(2), np.full(2, 0.01), np.diag([0.2, 0.2]), where, 0.0)
    still = Average(np.zeros(D), 0.01, 1.0, np.zeros(D))
    moved = replace(still, moved=np.array([0.5, 0, 0, 0]))
    one, other = (combined(each, found, [level], np.zeros(2))[0].noise for each in (still, moved))
    assert other[1] > 2 * one[1] and np.delete(other, 1) == pytest.approx(np.delete(one, 1))


@pytest.mark.parametrize(("mu", "from_rows"), [(10.0, True), (1e-5, False)])
def test_sizes_are_those_of_the_rows_or_of_the_family(mu: float, from_rows: bool) -> None:
    """Rows are longer than normal ones here, which the family cannot know."""
    before, curator = frame(10.0)
    point = np.append(np.zeros(D + 1), -0.5 * math.log(before.residual_square))
    point[0] = 0.3
    after = sized(curator, mu, before, point)
    x, y = rows(0.0)
    scale = before.bounding.placement.scale
    z = ((y - scale.y_center) / scale.y_scale - point[0]) / math.exp(point[-1])
    found = signs(SEV, z, np.ones(ROWS))
    length = np.linalg.norm((x - scale.center) / scale.scale @ before.whitening[:, 1:].T, axis=1)
    kept, h = np.minimum(length, before.radius), found.integrand
    slope = np.mean(h * SEV.log_hazard_slope(z) * kept * length) / D
    square = np.mean((h * kept) ** 2) / D
    assert abs(slope / before.slope - 1) > 0.05
    if from_rows:
        assert (after.slope, after.square) == pytest.approx((slope, square), rel=0.01)
    else:
        assert (after.slope, after.square) == pytest.approx((before.slope, before.square), rel=0.01)


def test_steps_are_averaged_by_precision_and_their_scatter_is_that_of_noise() -> None:
    """Scores on a line in the slopes, with noise of two sizes: each step says where the root is."""
    found, _ = frame(1.0, 0.9)
    generator, sigma, root = np.random.default_rng(3), 0.7, np.array([0.4, -0.2, 0.1, 0.3])
    spreads, errors = [], []
    for _ in range(400):
        steps = []
        for noise in (0.04, 0.04, 0.04, 0.01, 0.01, 0.01):
            point = np.concatenate([[0.0], root + generator.normal(0, 0.1, D), [math.log(sigma)]])
            scores = found.slope * (root - point[1:-1]) @ found.back / sigma
            steps.append(Step(point, scores + generator.normal(0, noise, D), noise, found.slope))
        mean = average(steps, found, np.full(6, sigma))
        errors.append((mean.slopes - root) @ found.back / mean.noise)
        spreads.append(mean.spread)
    assert np.mean(spreads) == pytest.approx(1, abs=0.05)
    assert np.mean(np.square(errors)) == pytest.approx(1, abs=0.12)  # 1600 squares: 3.4 sds
    assert mean.noise == pytest.approx(sigma / found.slope / math.sqrt(3 / 0.04**2 + 3 / 0.01**2))


def test_a_step_that_noise_explains_is_none() -> None:
    point = np.zeros(D + 2)
    assert (Step(point, np.full(D, 0.1), 0.1, 0.5).shrunk == 0).all()
    assert Step(point, np.full(D, 0.1), 1e-6, 0.5).shrunk == pytest.approx(np.full(D, 0.2))
    assert Step(point, np.full(D, 0.2), 0.1, 0.5).shrunk == pytest.approx(np.full(D, 0.3))


@pytest.mark.parametrize("fraction", [0.3, 0.7])
def test_events_lose_half_of_what_a_time_of_censoring_takes_along_the_slopes_alone(fraction: float) -> None:
    """Predictions and errors are normal here, so that predictions of events are normal and truncated."""
    found, _ = frame(0.3)
    found = replace(found, shape=replace(found.shape, fraction=fraction), whitening=np.eye(D + 1)[1:])
    slopes, sigma = np.array([0.6, 0.0, 0.0, -0.8]), 0.5
    left = by_selection(found, slopes, sigma)
    share = 1 / (1 + sigma**2 * math.pi**2 / 6)
    variance = 1 - share * (1 - stats.truncnorm(-np.inf, stats.norm.ppf(fraction)).var())
    assert slopes @ left @ slopes == pytest.approx((1 + variance) / 2, rel=1e-6)
    assert left @ [0.8, 0.0, 0.0, 0.6] == pytest.approx(np.array([0.8, 0.0, 0.0, 0.6]))


def test_without_censoring_or_slopes_nothing_is_selected() -> None:
    found, _ = frame(0.3)
    assert by_selection(found, np.zeros(D), 0.5) == pytest.approx(np.eye(D))
    assert by_selection(found, np.ones(D), 0.5) == pytest.approx(np.eye(D), abs=1e-6)

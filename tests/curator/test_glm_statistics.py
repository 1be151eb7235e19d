"""Statistics of generalised linear models: the test numbers of the specification, and exact sums."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpstats.budget import gdp
from dpstats.curator import blocks
from dpstats.curator.blocks import Scratch
from dpstats.curator.statistics import REGISTRY
from dpstats.curator.statistics.columns import ColumnMeans
from dpstats.families.bounded_score import BoundedScore, logistic_information_weight, square_weight
from dpstats.families.glm import CLOGLOG, POISSON, PROBIT, GlmFamily, Of, negative_binomial
from dpstats.testing import NoNoise
from tests.made import MadeBlock, MadeDesign, MadeRows, made_columns, under

X = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, -1.0], [1.0, 2.0]])
Y = np.array([0.0, 1.0, 0.0, 1.0])
ROW = dict(center=np.zeros(2), scale=np.ones(2), beta=np.array([0.2, -0.1]), whitening=np.eye(2))


def sums(name: str, y: np.ndarray, **public: object) -> list[np.ndarray]:
    """Real-valued sums of each part over the rows of the specification."""
    statistic = REGISTRY[name](MadeDesign(1), **public)
    block = MadeBlock(np.asfortranarray(X), y, np.zeros(4), np.ones(4, dtype=bool))
    factors = statistic.factors(block, Scratch())
    return [left.T @ (left if right is None else right) for left, right, _ in factors]


def test_logistic_numbers_of_the_specification():
    score, information = sums("logistic_score", Y, radius=math.sqrt(2), **ROW)
    tau = logistic_information_weight(math.sqrt(2))
    np.testing.assert_allclose(-score.ravel() / 4, [0.1123139254, -0.3623658323], atol=5e-11)
    expected = [[0.2103377311, 0.0512294321], [0.0512294321, 0.223458588]]
    np.testing.assert_allclose(information / tau / 4, expected, atol=5e-11)


def test_noise_of_the_logistic_step():
    """n = 1000, mu = .5, R^2 = 2: sd .00566 of a score and .00163 of the information, per row."""
    curator = under(NoNoise(), MadeRows(made_columns(1000, 1)), MadeDesign(1), gdp(1.0))
    release = curator.release("logistic_score", 0.5, radius=math.sqrt(2), **ROW)
    assert release.sd / 1000 == pytest.approx(0.0056568542, rel=1e-4)
    tau = logistic_information_weight(math.sqrt(2))
    assert release.sd / 1000 / tau == pytest.approx(0.0016329932, rel=1e-4)


def test_a_general_score_is_the_logistic_formula_with_another_score():
    bounded = BoundedScore(POISSON, 2.0, 3.0)
    y = np.array([0.0, 1.0, 7.0, 2.0])
    score, information, variability = sums("glm_score", y, radius=math.sqrt(2), score=bounded, **ROW)
    tau, kappa = bounded.matrix_weights(math.sqrt(2))
    weight = np.array([1.0, 1.0, 1.0, 0.4])
    psi, curvature = bounded(y, X @ ROW["beta"])
    contributions = X * (weight * psi)[:, None]
    np.testing.assert_allclose(score.ravel(), contributions.sum(axis=0))
    np.testing.assert_allclose(information / tau, (X * (weight * curvature)[:, None]).T @ X)
    np.testing.assert_allclose(variability / kappa, contributions.T @ contributions)


def test_scores_of_what_long_rows_have_lost():
    """Of lengths 1, 1.4, 1.4 and 2.2 with a radius of 1.2: shortened to a reach of .4, or not."""
    bounded, y = BoundedScore(POISSON, 2.0, 3.0), np.array([0.0, 1.0, 7.0, 2.0])
    vector, square = sums("far_scores", y, radius=1.2, reach=0.4, score=bounded, **ROW)
    lengths = np.linalg.norm(X, axis=1)
    lost = np.array([0.0, 1 - 1.44 / 2, 1 - 1.44 / 2, 0.4 / lengths[3]])
    assert (bounded.weight(X @ ROW["beta"]) == 1).all()
    psi, _ = bounded(y, X @ ROW["beta"])
    each = X * (np.minimum(lost, 0.4 / lengths) * psi)[:, None]
    np.testing.assert_allclose(vector.ravel(), each.sum(axis=0))
    apart, squares = sums("far_scores", y, radius=1.2, reach=0.4, ends=(0.0, 2.0), score=bounded, **ROW)
    np.testing.assert_allclose(apart.T, [each[:3].sum(axis=0), each[3]])
    ends = np.array([(each[:3] ** 2).sum(), (each[3] ** 2).sum()])
    np.testing.assert_allclose(squares.ravel(), ends / (0.4 * 2.0))
    np.testing.assert_allclose(square.item(), math.sqrt(11) / (2 * 0.4 * 2.0) * (each**2).sum())


@pytest.mark.parametrize(
    "family", [CLOGLOG, PROBIT, POISSON, negative_binomial(0.1)], ids=lambda family: family.name
)
def test_rows_have_lost_what_weights_of_their_means_take_too(family: GlmFamily):
    """Under a link that stalls, and of counts whose curvature grows without end."""
    bounded, y = BoundedScore(family, 0.8, 0.3), np.array([0.0, 1.0, 1.0, 0.0])
    vector, _ = sums("far_scores", y, radius=1.2, reach=0.4, score=bounded, **ROW)
    eta, lengths = X @ ROW["beta"], np.linalg.norm(X, axis=1)
    kept = np.minimum(1, 1.44 / lengths**2) * (bounded.weight(eta) if family in (CLOGLOG, POISSON) else 1)
    assert (bounded.weight(eta) < 0.95).all()
    each = X * (np.minimum(1 - kept, 0.4 / lengths) * bounded(y, eta)[0])[:, None]
    np.testing.assert_allclose(vector.ravel(), each.sum(axis=0))


def test_scores_against_the_square_of_the_predictor():
    """v = psi (t^2 - 2) with t clipped at 2, and its square times kappa."""
    bounded, y = BoundedScore(POISSON, 2.0, 3.0), np.array([0.0, 1.0, 7.0, 2.0])
    public = dict(ROW, score=bounded, middle=0.1, spread=0.2, edge=2.0)
    found = sums("predictor_bend", y, **{key: public[key] for key in public if key != "whitening"})[0].ravel()
    eta = X @ ROW["beta"]
    v = bounded(y, eta)[0] * (np.clip((eta - 0.1) / 0.2, -2, 2) ** 2 - 2)
    np.testing.assert_allclose(found, [v.sum(), math.sqrt(11) / 8 * (v**2).sum()])


def test_the_squares_beside_the_bend_are_as_heavy_as_they_may_be():
    """(1 - x)^2 (1 + K x^2) stays below 1 for K = 11 and passes it for 11.2."""
    x = np.linspace(0, 1, 100_001)
    assert ((1 - x) ** 2 * (1 + (2 * square_weight(1.0)) ** 2 * x**2)).max() == 1
    assert ((1 - x) ** 2 * (1 + 11.2 * x**2)).max() > 1


def test_columns_are_located_in_their_boxes():
    columns = made_columns(5000, 3)
    curator = under(NoNoise(), MadeRows(columns), MadeDesign(3), gdp(2.0))
    box = dict(center=np.array([0, 0, 0, 50.5]), half=np.array([1, 1, 1, 49.5]))
    means = curator.release("column_means", 1.0, **box).values[0] / 5000
    rows = np.column_stack([np.clip(columns["x"], -1, 1), np.clip(columns["time"], 1, 100)])
    boxed = (rows - box["center"]) / box["half"]
    np.testing.assert_allclose(means, boxed.mean(axis=0), atol=1e-6)

    origin = np.array([0.0, 0.5, -1.0, -1.0])
    public = dict(box, log=False, apart=True, chosen=np.array([True, False, True]), cells=12, together=True)
    counts = curator.release("reach_counts", 1.0, origin=origin[[0, 2, 3]], **public).values[0]
    assert (counts.sum(axis=1) == [5000, 5000, columns["event"].sum()]).all()
    distance, told = (
        np.abs(boxed - origin)[:, [0, 2, 3]],
        np.column_stack([np.ones((5000, 2)), columns["event"]]),
    )
    edges = np.r_[0.0, 2.0 ** np.arange(-10, 1.0), np.nextafter(2.0, 3.0)]
    for column, rows, count in zip(distance.T, told.T, counts, strict=True):
        np.testing.assert_allclose(count, np.histogram(column, edges, weights=rows)[0])


def test_weights_and_their_squares_are_summed_beside_the_columns():
    weight = np.array([0.25, 1.0, 0.5, 0.0])
    block = MadeBlock(np.asfortranarray(X), Y, np.zeros(4), np.ones(4, dtype=bool), weight=weight)
    statistic = ColumnMeans(
        MadeDesign(1, weights="q"), center=np.zeros(2), half=np.array([2.0, 1.0]), weights=True
    )
    ((left, right, _),) = statistic.factors(block, Scratch())
    np.testing.assert_allclose((left.T @ right).ravel(), [1.0, 2.0, 1.75, 1.3125])


def test_means_of_levels_that_exclude_each_other_are_not_shortened():
    """Other rows add no more than one level does."""
    levels = np.eye(3)[np.arange(3000) % 3]
    columns = made_columns(3000, 4) | {"x": np.column_stack([levels, np.full(3000, 0.5)])}
    box = dict(center=np.array([0.5, 0.5, 0.5, 0, 50]), half=np.array([0.5, 0.5, 0.5, 1, 50]))
    curator = under(NoNoise(), MadeRows(columns), MadeDesign(4), gdp(2.0))
    means = curator.release("column_means", 1.0, levels=[np.arange(3)], **box).values[0] / 3000
    np.testing.assert_allclose(means[:4], [2 / 3, 2 / 3, 2 / 3, 0.5], atol=1e-6)
    columns["x"][:, :3] = 1.0
    curator = under(NoNoise(), MadeRows(columns), MadeDesign(4), gdp(2.0))
    means = curator.release("column_means", 1.0, levels=[np.arange(3)], **box).values[0] / 3000
    np.testing.assert_allclose(means[:4], [2 / 3, 2 / 3, 2 / 3, 0.5], atol=1e-6)


@pytest.mark.parametrize("levels", [[[0, 0]], [[0, 1], [1, 2]], [[3]], [[-1]]])
def test_levels_are_covariates_each_once(levels):
    statistic = partial(ColumnMeans, MadeDesign(3), center=np.zeros(4), half=np.ones(4))
    with pytest.raises(ValueError, match="numbers of covariates, each once"):
        statistic(levels=levels)


@pytest.mark.parametrize("room", [0, blocks._KEPT_BYTES])
def test_statistics_about_one_line_work_out_its_means_once(monkeypatch, room):
    """Of each of three blocks, which stay or are read again; each releases what it does alone."""
    monkeypatch.setattr(blocks, "_KEPT_BYTES", room)
    asked = 0

    def mean(eta):
        nonlocal asked
        asked += len(eta) > 1  # bounds ask for that of one row
        return np.exp(eta)

    family = replace(
        POISSON,
        score=Of(mean, lambda y, mean: y - mean, 1),
        curvature=Of(mean, lambda mean: mean),
        score_variance=Of(mean, lambda mean, dispersion: mean),
    )
    score = BoundedScore(family, 2.0, 3.0, 3.0)
    line = {name: ROW[name] for name in ("center", "scale", "beta")}
    tails = dict(line, score=score, wider=replace(score, limit=16.0, spread=24.0))
    bend = dict(line, score=replace(score, limit=1.0, spread=1.5), middle=0.1, spread=1.0, edge=2.0)
    together = ("score_tails", 1.0, tails), ("predictor_bend", 1.0, bend)
    columns = made_columns(50, 1)
    curator = under(NoNoise(), MadeRows(columns), MadeDesign(1), gdp(9.0), 20)
    alone = [curator.release(name, cost, **public) for name, cost, public in together]
    asked = 0
    found = curator.release_together(*together)
    assert asked == 3
    for one, other in zip(alone, found, strict=True):
        assert (one.values[0] == other.values[0]).all()

"""Moments of pairs that may have no correlation: their posterior, and what is left of the noise."""

import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import dpstats as dps
from dpstats.estimators.known import structure
from dpstats.estimators.known.structure import Left, Structure
from dpstats.estimators.known.unrelated import Known, NoiseLeft, pairs, shrunk
from dpstats.estimators.objective.debiased import Matrices
from dpstats.testing import SeededNoise, noise

LEVELS = np.array([[0, 1, 2, 3], [1, 1, -1, 4], [2, -1, 2, 5], [3, 4, 5, 6]])


def symmetric(draw: np.random.Generator, k: int) -> np.ndarray:
    """Noise of sd 1 along any direction."""
    found = draw.normal(size=(k, k))
    return (found + found.T) / 2


@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_variances_of_entries_are_what_they_err_by(share: float) -> None:
    """Or more, where most are none, whose sizes few pairs cannot tell; and less than noise."""
    draw, squares, claimed = np.random.default_rng(0), [], []
    for _ in range(200):
        truth = draw.normal(size=60) * 4 * (draw.uniform(size=60) < share)
        found, left = shrunk(truth + draw.normal(size=60), 1.0, 100.0)
        squares.append(np.mean((found - truth) ** 2))
        claimed.append(np.mean(left))
    assert 0.9 * np.mean(squares) < np.mean(claimed) < np.mean(squares) + 0.25 * (1 - share)
    assert np.mean(squares) < 0.2 + 0.8 * share**0.5


def test_one_correlation_among_many_pairs_is_not_shrunk_with_them() -> None:
    """Shrunk by what all pairs together say, it was next to none, and its columns seemed to be apart."""
    draw = np.random.default_rng(1)
    found, left = shrunk(np.append(8.0, draw.normal(size=299)), 1.0, 100.0)
    assert found[0] > 7 and left[0] > 0.7 and np.mean(left[1:]) < 0.3


def test_no_moment_is_more_than_its_columns_allow() -> None:
    found, left = shrunk(np.array([3.0]), 1.0, 0.5)
    assert abs(found[0]) < 0.7 and left[0] < 0.25


@pytest.mark.parametrize("public", [None, Structure(LEVELS)])
def test_what_is_left_of_noise_is_what_simulations_have(public: Structure | None) -> None:
    draw, k = np.random.default_rng(2), 4
    way = np.eye(k) + 0.2 * draw.normal(size=(k, k))
    known = Known([], 1.0, public, way)
    one, other = draw.normal(size=(2, k))
    left = known.read(np.eye(k), 1.0)[1]
    kept = np.array([[1.0, 0.2, 1.0, 1.0], [0.2, 1.0, 0.5, 1.0], [1.0, 0.5, 1.0, 0.1], [1.0, 1.0, 0.1, 1.0]])
    left = replace(left, kept=kept)
    errors = []
    for _ in range(8_000):
        error = symmetric(draw, k) if public is None else public.nearest(symmetric(draw, k), way)
        errors.append(error)
    drawn = np.sqrt(kept) * np.array(errors)
    assert left.along(one[:, None])[0] == pytest.approx(np.var(one @ drawn @ one), rel=0.08)
    moved = np.einsum("tij,j->ti", drawn, other)
    expected = moved.T @ moved / len(moved)
    assert left.of_product(np.outer(other, other)) == pytest.approx(
        expected, abs=0.08 * np.abs(expected).max()
    )


def test_noise_that_is_taken_off_does_not_count() -> None:
    """Of twelve columns without correlations the noise along a direction is half of what was released."""
    draw, k, errors, claimed = np.random.default_rng(4), 12, [], []
    known = Known(pairs(0, np.arange(k), [], None), 5.0)
    for _ in range(200):
        found, left = known.read(5 * np.eye(k) + symmetric(draw, k), 1.0)
        way = draw.normal(size=k)
        way /= np.linalg.norm(way)
        errors.append((way @ found @ way - 5) ** 2)
        claimed.append(left.along(way[:, None])[0])
    assert np.mean(errors) < np.mean(claimed) < 0.6


def test_pairs_are_those_of_which_nothing_is_public() -> None:
    """Not a constant with a level, whose moment is that of the level; nor two levels of one category."""
    found = [
        {tuple(sorted(pair)) for pair in zip(*each, strict=True)}
        for each in pairs(1, np.array([3]), [np.array([1, 2])], LEVELS)
    ]
    assert found == [{(0, 3)}, {(1, 3), (2, 3)}]
    plain = pairs(1, np.array([1, 2]), [], None)
    assert [each[0].tolist() for each in plain] == [[1], [0, 0]]


def test_an_eigenvalue_that_noise_alone_has_made_is_seldom_believed() -> None:
    """Of columns that say the same, whether one direction or three of ten have nothing."""
    draw, k, sd = np.random.default_rng(3), 10, 0.1
    for none in (1, 3):
        believed = []
        for _ in range(400):
            truth = np.diag(np.where(np.arange(k) < none, 0.0, 2.0))
            turn = np.linalg.qr(draw.normal(size=(k, k)))[0]
            found = turn @ truth @ turn.T + sd * symmetric(draw, k)
            sds = np.full((k, k), sd / math.sqrt(2)) + np.diag(np.full(k, sd * (1 - 1 / math.sqrt(2))))
            matrices = Matrices(found, "gaussian", sds, None, NoiseLeft(np.ones((k, k)), None))
            seen = matrices.information
            believed.append(seen.seen[:none].max() > 0.5)
            assert (seen.seen[none:] == 1).all()
        assert np.mean(believed) < 0.025


def test_many_columns_without_correlations_have_intervals() -> None:
    """Noise of the curvature hid directions of 20 independent columns, and of guesses of these
    half-lengths of slopes were .23 in the geometric mean."""
    names, halves, held = [f"x{j}" for j in range(20)], [], []
    schema = dps.Schema(y=dps.flag(), **dict.fromkeys(names, dps.bounded(-4, 4)))
    for seed in range(4):
        draw = np.random.default_rng(seed)
        x = draw.normal(size=(20_000, 20)).clip(-4, 4)
        slopes = np.resize([0.3, -0.3, 0.0], 20)
        y = draw.uniform(size=20_000) < 1 / (1 + np.exp(1 - x @ slopes))
        data = dict(zip(names, x.T, strict=True)) | dict(y=y.astype(int))
        with noise(SeededNoise(seed)):
            fit = dps.logit("y ~ " + " + ".join(names), data, schema).fit(dps.pure(1.5))
        low, high = fit.conf_int().iloc[1:].to_numpy().T
        halves.append(np.log((high - low) / 2).mean())
        held.append((low <= slopes) & (slopes <= high))

    assert np.exp(np.mean(halves)) < 0.13
    assert np.mean(held) > 0.9


FLAGS = np.array([[0, 1, 2, 3, 4], [1, 1, -1, 5, 6], [2, -1, 2, 7, 8], [3, 5, 7, 3, 9], [4, 6, 8, 9, 10]])


@pytest.mark.parametrize("alike", [LEVELS, FLAGS], ids=["by numbers", "by differences"])
@pytest.mark.parametrize("most", [4000, 2], ids=["all", "too many"])
def test_noise_that_conditions_leave_is_that_of_the_projection(
    alike: np.ndarray, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number that stands alone in its row is beside the conditions; too many count in part."""
    monkeypatch.setattr(structure, "_MOST", most)
    draw, k = np.random.default_rng(5), len(alike)
    way = np.eye(k) + 0.2 * draw.normal(size=(k, k))
    public = Structure(alike)
    left = Left(public, way)
    entries = [np.outer(one, other) for one in np.eye(k) for other in np.eye(k)]
    told = np.array([public.nearest((one + one.T) / 2, way).ravel() for one in entries])
    vectors, other = np.linalg.qr(draw.normal(size=(k, k)))[0], draw.normal(size=k)
    along = np.array([np.sum((np.outer(one, one).ravel() @ told) ** 2) for one in vectors.T])
    product = np.array([np.outer(one, other).ravel() @ told for one in np.eye(k)])
    found = left.of_product(np.outer(other, other))
    if most == 2:
        assert (left.along(vectors) > along - 1e-7).all() and (left.along(vectors) < 1).any()
        assert np.linalg.eigvalsh(found - product @ product.T).min() > -1e-7
        return
    assert left.along(vectors) == pytest.approx(along, rel=1e-7)
    assert found == pytest.approx(product @ product.T, abs=1e-7)


def test_noise_of_many_columns_takes_a_few_matrices_of_their_order() -> None:
    """Of 300 columns, conditions or none: a matrix of all pairs of their moments would have 16 GB."""
    k = 300
    alike = np.arange(k * k).reshape(k, k)
    alike = np.minimum(alike, alike.T)
    alike[1, 1], alike[1, 2], alike[2, 1], alike[2, 2] = alike[0, 1], -1, -1, alike[0, 2]
    alike = np.unique(alike, return_inverse=True)[1].reshape(k, k) - 1
    vectors = np.linalg.qr(np.random.default_rng(6).normal(size=(k, k)))[0]
    for public in (None, Structure(alike)):
        tracemalloc.start()
        left = NoiseLeft(np.ones((k, k)), None) if public is None else Left(public, np.eye(k))
        assert (left.along(vectors) <= 1 + 1e-9).all()
        assert np.trace(left.of_product(np.outer(vectors[0], vectors[0]))) < 1 + k
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 40 * 8 * k**2

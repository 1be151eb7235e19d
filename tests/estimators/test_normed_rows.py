"""A declared norm in linear fits: how long rows can be, and what knowing it brings."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import dpstats as dps
from dpstats.estimators.columns import _normed
from dpstats.estimators.row_scale import Box, RowScale, longest_square
from dpstats.testing import SeededNoise, noise

NAMES = [f"x{j}" for j in range(6)]
PLAIN = dps.Schema(y=dps.bounded(-1, 1), **{name: dps.bounded(-1, 1) for name in NAMES})
NORMED = PLAIN.norm(*NAMES, radius=1)


def scale(constant: bool, radius: float) -> RowScale:
    """Six columns, five of them of a norm, on the scale of its rows."""
    size = np.array([radius / np.sqrt(5)] * 5 + [0.7])
    middle = np.array([0.0] * 5 + [0.4])
    lower, upper = np.append((-1 - middle) / size, -1.0), np.append((1 - middle) / size, 1.0)
    nothing = np.zeros((6, 1))
    return RowScale(
        center=middle,
        scale=size,
        y_center=0.0,
        y_scale=1.0,
        log=False,
        fraction=1.0,
        fraction_sd=0.0,
        binary=np.zeros(6, dtype=bool),
        lower=lower,
        upper=upper,
        ratio=np.ones(6),
        error=np.zeros(6),
        shares=nothing,
        places=nothing,
        constant=constant,
        norms=(([0, 1, 2, 3, 4], np.sqrt(5)),),
    )


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("radius", [0.3, 1.0, 2.0])
def test_no_whitened_row_within_bounds_and_norm_is_longer(constant: bool, radius: float) -> None:
    rng = np.random.default_rng(0)
    where = scale(constant, radius)
    for _ in range(20):
        whitening = rng.normal(size=(6 + constant,) * 2)
        whitening = whitening @ whitening.T
        rows = rng.choice([-1.0, 1.0, 0.3], size=(2000, 6)) * rng.uniform(size=(2000, 6)) ** 0.2
        length = np.linalg.norm(rows[:, :5], axis=1, keepdims=True)
        rows[:, :5] *= np.minimum(radius / length, 1.0)
        x = (rows - where.center) / where.scale
        x = np.column_stack([np.ones(len(x)), x]) if constant else x
        found = np.linalg.norm(x @ whitening, axis=1).max() ** 2
        assert found <= longest_square(whitening, where) * (1 + 1e-12)


def test_the_longest_row_is_attained_and_shorter_than_the_bounds_allow() -> None:
    where = scale(False, 1.0)
    assert longest_square(np.diag([1.0] * 5 + [1e-9]), where) == pytest.approx(5.0, rel=1e-6)
    wide = Box(where.lower[:-1], where.upper[:-1])
    assert float(np.sum(wide.half[:5] ** 2)) > 20


def test_only_a_norm_that_is_shorter_than_the_box_is_used() -> None:
    lower, upper = -np.ones(7), np.ones(7)
    group = tuple(range(6))
    assert Box(lower, upper, norms=((group, 1.0),)).tight == (([*group], 1.0),)
    assert Box(lower, upper, norms=((group, 2.4),)).tight == ()


def test_variances_are_told_on_the_scale_of_the_norm_and_are_1_where_noise_hides_them() -> None:
    lower, upper = -np.ones(7), np.ones(7)
    box = Box(lower, upper, norms=((tuple(range(5)), 1.0),))
    seen = replace(
        scale(True, 1.0),
        scale=np.full(6, 0.4),
        ratio=np.array([0.8, 0.8, 0.02, 0.02, 1.0, 0.3]),
        error=np.array([1e-3, 1.0, 1e-3, 1e6, 1e12, 0.1]),
        norms=(),
    )
    found = _normed(seen, box)
    assert_allclose(found.scale, [0.2**0.5] * 5 + [0.4])
    assert_allclose(found.ratio, [0.64, 0.7446, 0.016, 1, 1, 0.3], 1e-3)
    assert_allclose(found.error, [1e-3, 1 / np.hypot(1, 1 / 0.64) / found.ratio[1], 1e-3, 1, 1, 0.1], 1e-3)


def test_a_declared_norm_makes_a_better_line() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(3000, 6))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    line = np.array([0.4, -0.3, 0.2, 0.0, 0.1, -0.2])
    data = dict(zip(NAMES, rows.T, strict=True), y=np.clip(rows @ line + 0.1 * rng.normal(size=3000), -1, 1))
    errors = {}
    for schema in (PLAIN, NORMED):
        model, found = dps.ols("y ~ 0 + " + " + ".join(NAMES), data, schema), []
        for seed in range(48):
            with noise(SeededNoise(seed)):
                found.append(np.sum((model.fit(dps.gdp(0.05)).params.to_numpy() - line) ** 2))
        errors[len(schema.norms)] = np.mean(found)
    assert errors[1] < 0.9 * errors[0] and errors[1] < line @ line

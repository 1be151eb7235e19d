"""Rows beyond the limit of residuals, as a release tells how many there are and where they lie."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.estimators.gram.bounds import FOURTH, MEAT, SPREAD, Bounds
from dpstats.estimators.gram.far import KEPT, FarRows
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import NoNoise, SeededNoise
from tests.made import under

SCHEMA = dps.Schema(u=dps.bounded(-1, 1), x=dps.bounded(-2, 2), y=dps.bounded(-50, 50))
BOUNDS = Bounds(1.5, 4.0, 3.0)
N = 400
GENERATOR = np.random.default_rng(0)
ROWS = {
    "u": np.ones(N),
    "x": GENERATOR.normal(size=N).clip(-1, 1),
    "y": np.where(np.arange(N) < 30, 9.0, np.where(np.arange(N) < 40, -9.0, GENERATOR.uniform(-1, 1, N))),
}


def told(mu: float, source: NoNoise | SeededNoise) -> FarRows:
    design = build_design("y ~ 0 + u + x", SCHEMA)
    curator = under(source, open_rows(ROWS, SCHEMA, design.variables), design, dps.gdp(mu))
    extra = dict(meat=MEAT, meat_limit=BOUNDS.meat_limit, fourth=FOURTH, spread=SPREAD, kept=KEPT)
    row = dict(center=[0, 0], scale=[1, 1], y_center=0, y_scale=1, log=False, constant=False)
    place = dict(whitening=np.eye(2), line=np.zeros(2), sigma=1.0, radius=BOUNDS.radius, limit=BOUNDS.limit)
    return FarRows.of(curator.release("residual_moments", mu, **extra, **row, **place), BOUNDS, N)


def test_far_rows_and_their_sides_are_those_of_the_table() -> None:
    found, side = told(1e4, NoNoise()), np.where(np.arange(N) < 30, 1, -1)[:40]
    assert found.share == pytest.approx(0.1, rel=1e-3)
    expected = side @ np.column_stack([ROWS["u"], ROWS["x"]])[:40] / N
    np.testing.assert_allclose(found.sides, expected, rtol=1e-3)


def test_what_is_told_of_them_has_the_noise_that_is_said() -> None:
    found = [told(2.0, SeededNoise(seed)) for seed in range(300)]
    spread = np.std([one.sides for one in found], axis=0)
    np.testing.assert_allclose(spread / found[0].sides_sd, 1, atol=0.2)
    assert np.std([one.share for one in found]) / np.mean([one.share_sd for one in found]) == pytest.approx(
        1, abs=0.2
    )

"""Rows beyond the limit of residuals, as a release tells how many there are, where they lie, and how far."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.estimators.gram.bounds import FOURTH, MEAT, SPREAD, Bounds
from dpstats.estimators.gram.far import KEPT, Distances, FarRows
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import NoNoise, SeededNoise
from tests.estimators.plain import plain_moments
from tests.made import under

SCHEMA = dps.Schema(u=dps.bounded(-1, 1), x=dps.bounded(-2, 2), y=dps.bounded(-64, 64))
BOUNDS = Bounds(1.5, 4.0, 3.0)
DISTANCES = Distances.within(16.0)
N = 400
GENERATOR = np.random.default_rng(0)
ROWS = {
    "u": np.ones(N),
    "x": GENERATOR.normal(size=N).clip(-1, 1),
    "y": np.where(np.arange(N) < 30, 7.0, np.where(np.arange(N) < 40, -40.0, GENERATOR.uniform(-1, 1, N))),
}


def told(mu: float, source: NoNoise | SeededNoise) -> FarRows:
    design = build_design("y ~ 0 + u + x", SCHEMA)
    curator = under(source, open_rows(ROWS, SCHEMA, design.variables), design, dps.gdp(mu))
    extra = dict(meat=MEAT, meat_limit=BOUNDS.meat_limit, fourth=FOURTH, spread=SPREAD, kept=KEPT)
    row = dict(center=[0, 0], scale=[1, 1], y_center=0, y_scale=1, log=False, constant=False)
    place = dict(whitening=np.eye(2), line=np.zeros(2), sigma=1.0, radius=BOUNDS.radius, limit=BOUNDS.limit)
    public = extra | row | place | DISTANCES.public(BOUNDS.limit)
    return FarRows.of(curator.release("residual_moments", mu, **public), BOUNDS, N, DISTANCES)


def test_far_rows_and_their_sides_are_those_of_the_table() -> None:
    """30 at 1.75 limits, 10 on the other side at 10, which is 4.6 of the 5 half octaves from 2 limits on."""
    found, a = told(1e4, NoNoise()), np.column_stack([ROWS["u"], ROWS["x"]])
    assert len(DISTANCES.edges) == 6
    way = np.array([np.cos(0.4 * np.pi), np.sin(0.4 * np.pi)])
    np.testing.assert_allclose(found.shares, [30 / N, *(10 / N * way)], rtol=1e-3)
    np.testing.assert_allclose(found.sides[:, 0], a[:30].sum(axis=0) / N, rtol=1e-3)
    np.testing.assert_allclose(found.sides[:, 1:], np.outer(-a[30:40].sum(axis=0) / N, way), rtol=1e-3)


def test_what_is_told_of_them_has_the_noise_that_is_said() -> None:
    found = [told(2.0, SeededNoise(seed)) for seed in range(300)]
    for what, sd in (("sides", found[0].sides_sd), ("shares", found[0].share_sd)):
        spread = np.std([getattr(one, what) for one in found], axis=0)
        np.testing.assert_allclose(spread / sd, 1, atol=0.2)


@pytest.mark.parametrize("widest", [1.01, 2.0, 2.5, 2.9, 1e9])
def test_distances_are_told_as_far_as_bounds_allow(widest: float) -> None:
    """Each cell by a vector of length 1, which no other cell has; no sum is of no row."""
    edges, code = Distances.within(widest)
    assert len(code) == 1 + len(edges) and (code.max(axis=0) > 0).all() and (code >= 0).all()
    np.testing.assert_allclose(np.sum(code**2, axis=1), 1)
    assert len(np.unique(code.round(6), axis=0)) == len(code)
    assert not len(edges) or edges[-1] < widest <= edges[-1] * np.sqrt(2) * (1 + 1e-9)


def heard(distance: float, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """How far 2 % of rows, all at (1, 1) and so many limits, move A'r; and the sds of that."""
    distances = Distances.within(1000.0)
    cell = np.searchsorted(distances.edges, distance, side="right")
    rows = FarRows(
        0.02 * distances.code[cell],
        noise,
        0.02 * np.outer(np.ones(2), distances.code[cell]),
        noise,
        distances,
    )
    found = rows.heard(plain_moments(10_000, np.eye(2), np.zeros(2), 1.0, constant=[1, 0]), 3.0)
    assert found.untold.bend is not None
    return found.released.cross, np.sqrt(np.diag(found.untold.bend))


@pytest.mark.parametrize("distance", [1.2, 2.0, 5.0, 40.0, 600.0])
def test_rows_that_noise_does_not_hide_move_a_line_by_how_far_they_lie(distance: float) -> None:
    moved, sd = heard(distance, 1e-5)
    wanted = 0.02 * (distance - KEPT) * 3.0
    assert (abs(moved - wanted) <= 1.5 * sd).all()
    assert (sd <= 0.7 * moved).all()


@pytest.mark.parametrize("distance", [1.2, 5.0, 40.0, 600.0])
def test_far_rows_that_may_be_noise_move_nothing(distance: float) -> None:
    """A bound that admits rows very far away would else make every interval as wide as it is."""
    moved, sd = heard(distance, 0.02)
    assert (moved == 0).all() and (sd < 0.02).all()


def test_near_rows_that_lean_nowhere_beyond_noise_are_likelier_on_both_sides_than_on_one() -> None:
    """Were all on one side, noise would leave .99 of its own variance of where they are."""
    distances = Distances.within(1000.0)
    shares, sides = 0.05 * distances.code[0], np.zeros((2, len(distances.code[0])))
    rows = FarRows(shares, 1e-4, sides, 0.005, distances)
    found = rows.heard(plain_moments(10**9, np.eye(2), np.zeros(2), 1.0, constant=[1, 0]), 3.0)
    assert found.untold.bend is not None
    sds = np.sqrt(np.diag(found.untold.bend)) / (3.0 * (1.3 - KEPT) * 0.005)
    assert (sds < 0.5).all() and (sds > 0.1).all()

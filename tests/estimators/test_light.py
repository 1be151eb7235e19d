"""Rows that count less than half: what a release says of them, and a line that they say is another."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.estimators.gram.bounds import FOURTH, MEAT, SPREAD, Bounds
from dpstats.estimators.gram.far import KEPT, Distances, FarRows
from dpstats.estimators.gram.lengths import LongRows
from dpstats.estimators.gram.light import LightRows
from dpstats.formula import build_design
from dpstats.rows import open_rows
from dpstats.testing import NoNoise, SeededNoise, noise
from tests.estimators.plain import plain_moments
from tests.made import under

SCHEMA = dps.Schema(u=dps.bounded(-1, 1), x=dps.bounded(-9, 9), y=dps.bounded(-64, 64))
BOUNDS, DISTANCES, N = Bounds(1.5, 4.0, 3.0), Distances.within(16.0), 400
RNG = np.random.default_rng(3)
X = np.where(np.arange(N) < 300, RNG.uniform(-1, 1, N), RNG.uniform(-8, 8, N))
ROWS = {"u": np.ones(N), "x": X, "y": RNG.normal(0, 2, N) + np.where(np.arange(N) > 390, 60.0, 0.0)}


def told(mu: float, source: NoNoise | SeededNoise, **changes: object) -> LightRows:
    design = build_design("y ~ 0 + u + x", SCHEMA)
    curator = under(source, open_rows(ROWS, SCHEMA, design.variables), design, dps.gdp(mu))
    extra = dict(meat=MEAT, meat_limit=BOUNDS.meat_limit, fourth=FOURTH, spread=SPREAD, kept=KEPT, light=True)
    row = dict(center=[0, 0], scale=[1, 1], y_center=0, y_scale=1, log=False, constant=False)
    place = dict(whitening=np.eye(2), line=np.zeros(2), sigma=1.0, radius=BOUNDS.radius, limit=BOUNDS.limit)
    public = extra | row | place | DISTANCES.public(BOUNDS.limit) | changes
    return LightRows.of(curator.release("residual_moments", mu, **public), BOUNDS, N)


def test_light_rows_are_those_of_the_table() -> None:
    """Shortened to 1.5, by more than the root of 2, whose residuals are then within the limit."""
    found, rows = told(1e4, NoNoise()), np.column_stack([ROWS["u"], X])
    shorter = np.minimum(1.5 / np.linalg.norm(rows, axis=1), 1.0)
    light = (shorter**2 < 0.5) & (np.abs(shorter * ROWS["y"]) < 4.0)
    r = np.clip(ROWS["y"], -4, 4) * light
    assert 50 < light.sum() < 100
    np.testing.assert_allclose(found.side, (rows * shorter[:, None]).T @ r / N, atol=1e-3)
    np.testing.assert_allclose(found.square, r @ r / N, atol=1e-3)


@pytest.mark.parametrize(
    "changes",
    [{"whole": False}, {"kept": 0.9}, {"fourth": 0.1, "kept": 0.1}, {"code": [[1.0]]}],
    ids=lambda changes: "-".join(changes),
)
def test_options_that_the_proof_does_not_cover_are_refused(changes: dict[str, object]) -> None:
    """With fewer rows of a code than cells a row beyond them would have ended the release."""
    with pytest.raises(ValueError, match=r"leave room for it|a row for each cell"):
        told(1.0, NoNoise(), **changes)


def test_what_is_told_of_them_has_the_noise_that_is_said() -> None:
    found = [told(2.0, SeededNoise(seed)) for seed in range(200)]
    for what in ("side", "square"):
        spread = np.std([getattr(one, what) for one in found], axis=0)
        np.testing.assert_allclose(spread / getattr(found[0], f"{what}_sd"), 1, atol=0.2)


@pytest.mark.parametrize(("size", "trust"), [(0.5, 0.0), (4.0, 15 / 16)])
def test_they_count_as_others_as_far_as_noise_does_not_explain_them(size: float, trust: float) -> None:
    before = plain_moments(10_000, np.eye(2), np.zeros(2), 1.0, constant=[1, 0])
    rows = LightRows(np.full(2, 0.01 * size), 0.01, 0.0, 0.0, "gaussian", 2.0)
    after = rows.heard(before).released
    np.testing.assert_allclose(after.cross, 0.6 * (1 - KEPT) * trust * rows.side, rtol=1e-9)
    assert after.noise_cross >= before.released.noise_cross


@pytest.mark.parametrize(
    ("square", "beyond", "unseen"),
    [
        (0.05, 0.0, 0.0),  # as of normal errors
        (0.09, 0.0, 0.0),  # as of the error of the line before
        (0.57, 0.0, 0.5),  # of .48 / 16 of the rows, of .06
        (0.09, 0.045, 0.75),
        (0.57, 0.045, 1.0),
    ],
)
def test_long_rows_at_or_beyond_the_limit_may_have_any_residual(
    square: float, beyond: float, unseen: float
) -> None:
    """Of .05 of the rows of length 2 and .01 of length 1, before whose line had an error of .1."""
    shares, at = np.array([[0.01, 0.05], [0.0, 0.01]]), np.array([0.5, 2.0])
    long = LongRows(np.eye(2), shares, at, at, 0.0, 4.0, N, 1.0, 1.0)
    far = FarRows(np.array([beyond]), 0.0, np.zeros((2, 1)), 0.0, DISTANCES)
    rows = LightRows(np.zeros(2), 0.0, square, 0.0, "gaussian", 1.0)
    found = rows.unseen(far, 4.0, long, 0.125 * np.eye(2))
    assert found == pytest.approx(unseen, abs=0.01)


def powers(seed: int) -> np.ndarray:
    """How far from least squares, in half-lengths, lines of a number and its square are that levels off."""
    rng, n = np.random.default_rng(seed), 8000
    x = np.minimum(rng.exponential(1, n), 12)
    rows = {"x": x, "y": 2 * np.minimum(x, 2) + rng.normal(0, 0.1, n)}
    with noise(SeededNoise(seed)):
        fit = dps.ols("y ~ x + I(x ** 2)", rows, dps.Schema(x=dps.bounded(0, 12), y=dps.bounded(-5, 25))).fit(
            dps.approx(4, 1e-6)
        )
    least = np.polyfit(x, rows["y"], 2)[::-1]
    return np.asarray(np.abs(fit.params - least) / (1.96 * fit.bse))


def test_intervals_of_powers_reach_least_squares_where_the_effect_levels_off() -> None:
    """Before effects levelled off along all axes together, 1 of these 24 intervals did."""
    assert np.mean([powers(seed) <= 1 for seed in range(8)]) > 0.8


def group(seed: int, slope: float) -> tuple[bool, float]:
    """Of 5 % of the rows x has a sd of 3, of others of 1, where the slope is .5.

    Whether the fit says that it bends along x, and how far it is from least squares, in half-lengths.
    """
    rng, n = np.random.default_rng([seed, 2]), 8000
    apart = rng.uniform(size=n) < 0.05
    x = rng.normal(size=n) * np.where(apart, 3.0, 1.0)
    y = 1 + np.where(apart, slope, 0.5) * x + rng.normal(size=n)
    columns = {"x": x, "y": y}
    with noise(SeededNoise(seed)):
        fit = dps.ols("y ~ x", columns, dps.Schema(x=dps.bounded(-100, 100), y=dps.bounded(-200, 200))).fit(
            dps.zcdp(0.02)
        )
    low, high = fit.conf_int().loc["x"]
    least = np.polyfit(x, y, 1)[0]
    said = any(code == "bends" and "x" in words for code, words in fit.flags)
    return said, abs(fit.params["x"] - least) / ((high - low) / 2)


def test_a_line_is_moved_to_that_of_a_group_far_out_on_both_sides() -> None:
    """Least squares has a slope of about .82; the line of weighted rows is three to six half-lengths off."""
    said, far = zip(*(group(seed, 1.5) for seed in range(8)), strict=True)
    assert sum(said) >= 6
    assert np.median(far) < 1


def test_a_line_that_is_the_same_there_is_not() -> None:
    said, far = zip(*(group(seed, 0.5) for seed in range(8)), strict=True)
    assert not any(said)
    assert np.median(far) < 1

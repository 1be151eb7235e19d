"""Rows that weigh less than normal ones would: what is seen of it, how long rows then are, what counts."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import dpstats as dps
from dpstats.estimators.gram.bending import lost_weight
from dpstats.estimators.gram.bounds import Bent, base_square, bending, choose_bounds
from dpstats.estimators.gram.coordinates import Coordinates
from dpstats.moments import LinearMoments
from dpstats.testing import NoNoise, SeededNoise, noise
from tests.estimators.test_posterior import WINE

N, K = 200_000, 6
RADIUS = np.sqrt(base_square(K))


def place(fraction: float = 1.0, fraction_sd: float = 0.0, present: float = 1.0) -> Coordinates:
    """Where the first coordinate is the constant."""
    scale = SimpleNamespace(constant=True, fraction=fraction, fraction_sd=fraction_sd, present=present)
    return Coordinates(scale, np.eye(K), np.zeros(K), 1.0, np.eye(K) / K, np.eye(K))  # type: ignore[arg-type]


def moments(rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Second moments of (1, rows) shortened to RADIUS, and how much less than 1 the mean weight is."""
    rows = np.column_stack([np.ones(len(rows)), rows])
    weight = np.minimum(1.0, RADIUS**2 / np.sum(rows**2, axis=1))
    return (rows * weight[:, None]).T @ rows / len(rows), 1 - weight.mean()


@pytest.mark.parametrize("spread", [0.7, 1.0, 1.3])
def test_normal_rows_lose_nothing_beyond_a_normal_law(spread: float) -> None:
    gram, lost = moments(spread * np.random.default_rng(1).normal(size=(N, K - 1)))
    assert lost_weight(gram, 0.0, place(), RADIUS, 0.0) < 0.01 + 0.05 * lost


def test_correlated_normal_rows_lose_no_more() -> None:
    rng = np.random.default_rng(2)
    common = rng.normal(size=(N, 1))
    gram, lost = moments(np.sqrt(0.6) * common + np.sqrt(0.4) * rng.normal(size=(N, K - 1)))
    assert lost_weight(gram, 0.0, place(), RADIUS, 0.0) < 0.01 < 0.07 < lost


def test_heavy_tails_are_seen_as_far_as_noise_allows() -> None:
    rows = np.random.default_rng(3).standard_t(2.2, size=(N, K - 1))
    gram, lost = moments(rows)
    seen = lost_weight(gram, 0.0, place(), RADIUS, 0.0)
    assert 0.03 < seen < lost
    noisy = [lost_weight(gram, sd, place(), RADIUS, 2.0) for sd in (0.005, 0.01, 1.0)]
    assert noisy == [pytest.approx(seen - 0.01), pytest.approx(seen - 0.02), 0.0]


def test_rows_that_cannot_be_used_are_not_long() -> None:
    gram, _ = moments(np.random.default_rng(4).normal(size=(N, K - 1)))
    assert lost_weight(0.5 * gram, 0.0, place(0.5), RADIUS, 0.0) < 0.01
    assert lost_weight(0.5 * gram, 0.0, place(1.0), RADIUS, 0.0) > 0.1
    assert lost_weight(0.5 * gram, 0.0, place(0.6, 0.5), RADIUS, 1.0) == 0.0
    assert lost_weight(gram, 0.0, place(0.5, 0.0, 0.5), RADIUS, 0.0) < 0.01


def test_without_an_intercept_nothing_is_told() -> None:
    gram, _ = moments(np.random.default_rng(5).standard_t(2.2, size=(N, K - 1)))
    without = place()
    without = replace(without, scale=type(without.scale)(**vars(without.scale) | {"constant": False}))
    assert lost_weight(gram, 0.0, without, RADIUS, 0.0) == 0.0


@pytest.mark.parametrize("n", [3000, 100_000])
def test_length_of_rows_weighs_noise_against_what_may_bend(n: int) -> None:
    """The sum of both is least at the radius chosen, unless another bound has a say."""
    mu, lost = 0.5, 0.02
    usual = choose_bounds(n, mu, K, (100.0, 100.0))
    chosen = choose_bounds(n, mu, K, (100.0, 100.0), Bent(lost))
    base = np.sqrt(base_square(K))
    sizes = np.linspace(1, 5, 401)
    price = (2 * base * sizes * chosen.limit / mu) ** 2 * K / n**2 + bending(lost) / sizes**2
    best = base * sizes[np.argmin(price)]
    assert usual.radius < chosen.radius <= best * 1.01
    assert chosen.radius == pytest.approx(best, rel=0.02) or n == 100_000
    assert choose_bounds(n, mu, K, (100.0, 100.0), Bent(0.0)) == usual


def test_a_line_that_bends_is_nearer_to_least_squares_and_known_to_be_off() -> None:
    """1,633 white wines, all columns, epsilon 30: excess error, .0022 where rows had the usual length."""
    data = WINE.data.iloc[::3]
    covariates = [name for name in WINE.schema if name not in ("quality", "colour")]
    model = dps.ols("quality ~ " + " + ".join(covariates), data, WINE.schema)
    rows = model.design.new_rows(data, clip=True).exog
    quality = data["quality"].to_numpy(float)
    exact = np.linalg.lstsq(rows, quality, rcond=None)[0]
    found = []
    for seed in range(20):
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(30, 1e-6))
        found.append(np.mean((rows @ (fit.params.to_numpy() - exact)) ** 2))
    assert np.mean(found) < 0.0017 * np.mean((quality - rows @ exact) ** 2)


def test_what_long_rows_of_less_weight_may_have_moved_counts() -> None:
    """A twentieth of the rows is far off, where the line bends, and noise keeps rows short."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(60_000, 2)) * np.where(rng.random(60_000) < 0.05, 9.0, 1.0)[:, None]
    columns = {"x": x[:, 0], "z": x[:, 1], "y": x[:, 0] + 0.02 * x[:, 0] ** 3 + rng.normal(size=60_000)}
    limits = {name: dps.bounded(-60, 60) for name in "xz"} | {"y": dps.bounded(-1000, 1000)}
    with noise(NoNoise()):
        moments = dps.ols("y ~ x + z", columns, dps.Schema(limits)).fit(dps.gdp(0.5)).record.linear
    assert moments.bend is not None and (np.diag(moments.bend) > 0).all()
    added = counted(moments, bend=None)
    assert (added > 0).all()
    assert (counted(replace(moments, bent=1e-4), bent=0.0) > 0).all(), "of fits that were saved before"


def counted(moments: LinearMoments, **without: object) -> np.ndarray:
    """What is in variances, and not in their privacy part, that is not there without it."""
    found, other = moments.solve(), replace(moments, **without).solve()  # type: ignore[arg-type]
    assert (np.diag(found.cov_privacy) == np.diag(other.cov_privacy)).all()
    return np.diag(found.cov) - np.diag(other.cov)

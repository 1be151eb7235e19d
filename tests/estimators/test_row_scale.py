"""The scale of rows from noisy moments; pooled, covariates lend each other what noise hides of each."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.curator import Curator, Release
from dpstats.estimators.row_scale import Box, release_moments, row_scale
from dpstats.testing import NoNoise, SeededNoise
from tests.made import MadeDesign, MadeRows

D, ROWS = 12, 4000
BOX = Box(np.append(-np.ones(D), 0.0), np.append(np.ones(D), 100.0))


def moments(mu: float, source: NoNoise | SeededNoise) -> Release:
    """Of covariates of sd 0.2, where the prior of each alone expects 1/3; no row is censored."""
    generator = np.random.default_rng(1)
    columns = {
        "x": np.clip(0.1 + 0.2 * generator.normal(size=(ROWS, D)), -1, 1),
        "time": generator.uniform(1, 100, ROWS),
        "event": np.ones(ROWS),
    }
    return release_moments(Curator(MadeRows(columns), MadeDesign(D), dps.gdp(10), source), mu, BOX, False)


@pytest.mark.parametrize("pooled", [False, True])
def test_without_noise_it_is_the_scale_of_the_rows(pooled: bool) -> None:
    found = row_scale(moments(9.0, NoNoise()), BOX, False, pooled=pooled)
    assert found.center == pytest.approx(np.full(D, 0.1), abs=0.01)
    assert found.scale == pytest.approx(np.full(D, 0.2), rel=0.03)
    assert (found.y_center, found.y_scale) == pytest.approx((50.5, 28.6), rel=0.02)


def test_pooled_scales_are_nearer_where_noise_is_large() -> None:
    """Over ten draws; the response has a prior of its own, and is as it was."""
    errors = []
    for seed in range(10):
        released = moments(0.02, SeededNoise(seed))
        alone, pooled = (row_scale(released, BOX, False, pooled=how) for how in (False, True))
        errors.append(
            [[np.log(found.scale / 0.2), (found.center - 0.1) / 0.2] for found in (alone, pooled)]
        )
        assert (alone.y_center, alone.y_scale) == (pooled.y_center, pooled.y_scale)
    (scale, center), (pooled_scale, pooled_center) = np.sqrt(np.mean(np.square(errors), axis=(0, 3)))
    assert pooled_scale < 0.8 * scale and pooled_center < 0.92 * center


@pytest.mark.parametrize("pooled", [False, True])
def test_noise_alone_gives_a_scale_within_the_box(pooled: bool) -> None:
    for seed in range(20):
        data = {"x": np.full((5, D), 1.0), "time": np.full(5, 1.0), "event": np.ones(5)}
        curator = Curator(MadeRows(data), MadeDesign(D), dps.gdp(10), SeededNoise(seed))
        found = row_scale(release_moments(curator, 1e-4, BOX, False), BOX, False, pooled=pooled)
        assert (np.abs(found.center) <= 1).all() and ((found.scale > 0) & (found.scale <= 1)).all()
        assert np.isfinite([found.y_center, found.y_scale, found.fraction, found.fraction_sd]).all()

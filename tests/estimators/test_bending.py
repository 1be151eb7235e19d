"""Lines that bend, of which long rows weigh less: how long rows then are, and what counts."""

from dataclasses import replace
from typing import Any

import numpy as np

import dpstats as dps
from dpstats.moments import LinearMoments
from dpstats.testing import NoNoise, SeededNoise, noise
from tests.estimators.test_posterior import WINE


def test_a_line_that_bends_is_nearer_to_least_squares_than_rows_of_the_usual_length_put_it() -> None:
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
    assert moments.untold.bend is not None and (np.diag(moments.untold.bend) > 0).all()
    assert (counted(moments, bend=None) > 0).all()
    saved = replace(moments, untold=replace(moments.untold, bent=1e-4))
    assert (counted(saved, bent=0.0) > 0).all(), "of fits that were saved before"


def counted(moments: LinearMoments, **without: Any) -> np.ndarray:
    """What is in variances, and not in their privacy part, that is not there without it."""
    found = moments.solve()
    other = replace(moments, untold=replace(moments.untold, **without)).solve()
    assert (np.diag(found.cov_privacy) == np.diag(other.cov_privacy)).all()
    return np.diag(found.cov) - np.diag(other.cov)

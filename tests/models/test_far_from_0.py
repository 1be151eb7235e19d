"""Columns far from 0 against their widths: sums of terms that cancel tell no error below their rounding."""

import numpy as np
import pytest

import dpstats as dps
from dpstats.estimators.bends import standardised
from dpstats.estimators.engine.finish import to_user
from dpstats.moments.design import DesignMoments
from dpstats.results import GlmFit
from dpstats.testing import SeededNoise, noise

N = 2_000


def _fit(family: str, far: float, seed: int) -> GlmFit:
    rng = np.random.default_rng(seed)
    u = rng.integers(0, 2**10, N) / 2**10  # which every float near `far` tells apart
    data = {"x": far + u, "y": rng.poisson(np.exp(1 + u)) if family != "gamma" else rng.gamma(2, np.exp(u))}
    response = dps.count(50) if family != "gamma" else dps.bounded(0.01, 30)
    schema = dps.Schema(x=dps.bounded(far, far + 1), y=response)
    with noise(SeededNoise(seed)):
        return dps.glm("y ~ x", data, schema, family).fit(dps.approx(2, 1e-6))


@pytest.mark.parametrize("family", ["poisson", "negativebinomial", "gamma"])
@pytest.mark.parametrize("far", [2.0**27, 2.0**33])
def test_a_generalised_linear_model_of_columns_far_from_0_has_honest_errors(family: str, far: float) -> None:
    for seed in range(4):
        near, fit = _fit(family, 0.0, seed), _fit(family, far, seed)
        assert fit.params["x"] == pytest.approx(near.params["x"], rel=1e-3)
        assert fit.bse["x"] == pytest.approx(near.bse["x"], rel=1e-3)
        assert fit.bse["Intercept"] == pytest.approx(far * fit.bse["x"], rel=1e-3)
        middle = [each.get_prediction({"x": [x]}).se_mean for each, x in ((near, 0.5), (fit, far + 0.5))]
        assert middle[1] >= 0.999 * middle[0]


@pytest.mark.parametrize("far", [1e3, 1e8, 1e12])
def test_variances_on_standardised_columns_are_no_less_than_they_were(far: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        root = rng.normal(size=(3, 3))
        forth = to_user(far * np.array([1.0, -1.0]), np.array([0.3, 1.7]), True)
        cov = forth @ root @ root.T @ forth.T
        found, _ = standardised(np.linalg.inv(forth), cov, cov)
        assert (np.diag(found) >= 0.999 * np.diag(root @ root.T)).all()


def test_moments_of_columns_that_cancel_are_told_by_an_upper_limit() -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(3, 3))
        cov = root @ root.T
        sd = np.sqrt(np.diag(cov))
        corr = np.clip(cov / np.outer(sd, sd) + 0.3 * rng.normal(), -1, 1)  # noisy: no positive matrix
        np.fill_diagonal(corr, 1.0)
        size = np.array([1.0, 1e7, 1e39])
        ones = np.ones((3, 3)) - np.eye(3)
        found = DesignMoments(
            "rows", 100.0, np.zeros(3), sd * size, sd * size, np.full(3, 0.05), corr, 0.3 * ones
        )
        back = np.linalg.inv(root.T) @ np.diag(1 / rng.uniform(0.5, 2, 3))
        whole = found.through(back / size[:, None], np.zeros(3))
        assert (whole.sd > 0).all() and (whole.sd_noise <= 0.5).all()
        assert np.array_equal(np.diag(whole.corr), np.ones(3))


def test_a_fit_whose_products_have_no_visible_spread_is_kept() -> None:
    rng, n = np.random.default_rng(0), 4_000
    data = dict(
        q=rng.gamma(1.3, 40, n),
        f=rng.integers(0, 2, n),
        life=300 * rng.weibull(1.4, n),
        dead=rng.integers(0, 2, n),
        g=rng.choice(["a", "b"], n),
        w=rng.integers(0, 7, n),
    )
    numbers = dict(q=dps.bounded(0, 1e10), life=dps.bounded(1, 2000), w=dps.bounded(0, 5))
    schema = dps.Schema(**numbers, f=dps.flag(), dead=dps.event(), g=dps.levels("a", "b"))
    model = dps.survreg("Surv(life, dead) ~ q:f + g + g:f", data, schema, weights="w")
    for seed in range(4):
        with noise(SeededNoise(seed)):
            fit = model.fit(dps.approx(5, 1e-6))
        assert str(fit.moments) and np.isfinite(fit.record.columns.sd).all()
